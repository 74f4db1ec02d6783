"""LangChain tools, other Runnables and tools of real MCP servers as teams."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from team_support import Progress, first, make_context, run_team

from hitl_tui.config.declared_tools import ToolDeclaration
from hitl_tui.core.errors import BadInput
from hitl_tui.core.policy import Risk
from hitl_tui.teams.contract import TeamFailure, TeamResult
from hitl_tui.teams.tool.team import ToolTeam

pytestmark = pytest.mark.long

TOOLS = '''
from typing import Annotated, Type
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, ToolException, tool
from pydantic import BaseModel, Field

@tool
def vat(amount: Annotated[float, "in won"], rate: float = 0.1) -> float:
    """Computes the value added tax."""
    print("computing")
    return amount * rate

@tool
async def search(query: str) -> list[dict]:
    """Searches the price list."""
    return [{"name": query, "price": 3}]

class Given(BaseModel):
    name: str = Field(description="whose")
    times: int = Field(1, ge=1)

class Greeter(BaseTool):
    name: str = "greeter"
    description: str = "Greets somebody."
    args_schema: Type[BaseModel] = Given
    def _run(self, name: str, times: int = 1) -> str:
        if name == "nobody":
            raise ToolException("nobody is there")
        return " ".join([f"Hello {name}."] * times)

greeter = Greeter()

@tool(response_format="content_and_artifact")
def pair(n: int):
    """Gives two things."""
    return f"{n} found", {"n": n}

double = RunnableLambda(lambda n: 2 * n).with_types(input_type=int, output_type=int)
chat = FakeListChatModel(responses=["Good morning."])
'''


def team(folder: Path, name: str, kind: str = "tool") -> ToolTeam:
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    made = ToolTeam(ToolDeclaration(name, kind, target=f"tools.py:{name}", folder=str(folder), risk=Risk.LOW))
    made.look()
    return made


async def ran(made: ToolTeam, folder: Path, text: str, **more: Any) -> TeamResult:
    return await run_team(made, make_context(folder, made.bind(text, {}), **more))


@pytest.mark.parametrize("kind", ["tool", "function"])
async def test_a_langchain_tool_is_a_team(tmp_path: Path, kind: str) -> None:
    made = team(tmp_path, "vat", kind)
    assert made.description == "Computes the value added tax."
    fields = made.input_schema["properties"]["input"]["properties"]
    assert (list(fields), fields["amount"]["description"]) == (["amount", "rate"], "in won")
    progress = Progress()
    result = await ran(made, tmp_path, "amount=50000", progress=progress)
    assert (result.text, result.data) == ("5000.0\n", {"value": 5000.0})
    assert progress.lines == ["computing"]


@pytest.mark.slow
async def test_an_asynchronous_tool_and_a_class_of_ones_own(tmp_path: Path) -> None:
    found = await ran(team(tmp_path, "search"), tmp_path, "a lamp")
    assert found.data == {"value": [{"name": "a lamp", "price": 3}]}
    made = team(tmp_path, "greeter")
    assert made.description == "Greets somebody."
    assert (await ran(made, tmp_path, "name=Ann times=2")).text == "Hello Ann. Hello Ann.\n"
    with pytest.raises(BadInput, match="times"):
        made.bind("name=Ann times=0", {})
    with pytest.raises(TeamFailure, match=r"greeter failed: nobody is there\."):
        await ran(made, tmp_path, "nobody")


async def test_content_and_artifact_are_text_and_data(tmp_path: Path) -> None:
    result = await ran(team(tmp_path, "pair"), tmp_path, "7")
    assert (result.text, result.data) == ("7 found\n", {"n": 7})


async def test_another_runnable_is_one_too(tmp_path: Path) -> None:
    assert (await ran(team(tmp_path, "double"), tmp_path, "21")).data == {"value": 42}
    assert (await ran(team(tmp_path, "chat"), tmp_path, "hello")).text == "Good morning.\n"


def test_a_graph_is_declared_as_one(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from langgraph.graph import StateGraph\nbuilder = StateGraph(dict)\n"
        "builder.add_node('a', lambda s: s)\nbuilder.set_entry_point('a')\ngraph = builder.compile()\n"
    )
    for name in ("graph", "builder"):
        made = ToolTeam(ToolDeclaration("agent", "tool", target=f"agent.py:{name}", folder=str(tmp_path)))
        with pytest.raises(BadInput, match='is a graph; declare it with kind = "graph"'):
            made.bind("", {})


# MCP -------------------------------------------------------------------------------------------------------------

SERVER = '''
import os, sys
from mcp.server.fastmcp import FastMCP
from pydantic import BaseModel

server = FastMCP("shop", port=int(os.environ.get("PORT", 0)))

class Price(BaseModel):
    name: str
    price: int

@server.tool()
def price(name: str, times: int = 1) -> Price:
    """Looks a price up."""
    print("looking", name, file=sys.stderr, flush=True)
    if name == "nothing":
        raise ValueError("no such thing")
    return Price(name=name, price=3 * times)

@server.tool(structured_output=False)
def pid() -> str:
    """Tells its process and its secret."""
    return f"{os.getpid()} {os.environ.get('API_KEY')}"

@server.tool()
async def wait() -> str:
    """Waits."""
    import asyncio
    print("waiting", os.getpid(), file=sys.stderr, flush=True)
    await asyncio.sleep(300)
    return ""

if __name__ == "__main__":
    server.run(sys.argv[1] if len(sys.argv) > 1 else "stdio")
'''


def mcp_team(folder: Path, tool: str, *server: str, **more: Any) -> ToolTeam:
    declared = ToolDeclaration(
        tool, "mcp", server=server or ("python3", "shop.py"), tool=tool, folder=str(folder), risk=Risk.LOW, **more
    )
    made = ToolTeam(declared)
    made.look()
    return made


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SERVER, encoding="utf-8")
    return tmp_path


@pytest.fixture
def address(shop: Path) -> Iterator[str]:
    """A server on a free port of this machine."""
    serving = subprocess.Popen(
        [sys.executable, "-u", "-c", SERVER.split("if __name__")[0] + HTTP],
        cwd=shop,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert serving.stdout is not None
    yield f"http://127.0.0.1:{serving.stdout.readline().strip()}/mcp"
    serving.send_signal(signal.SIGKILL)
    serving.wait()
    serving.stdout.close()


HTTP = """
import socket, uvicorn
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1])
app = server.streamable_http_app()
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])
"""


async def test_a_tool_of_a_server_that_is_started(shop: Path) -> None:
    made = mcp_team(shop, "price")
    assert made.description == "Looks a price up."
    assert list(made.input_schema["properties"]["input"]["properties"]) == ["name", "times"]
    bound = made.bind("name=lamp times=2", {})
    assert bound["calls"] == "price @ python3 shop.py"
    assert list(bound["programs"]) == ["shop.py"]
    progress = Progress()
    result = await run_team(made, make_context(shop, bound, progress=progress))
    assert result.data == {"name": "lamp", "price": 6}
    assert '"price": 6' in result.text
    assert "looking lamp" in progress.lines


async def test_it_is_reached_by_http(shop: Path, address: str) -> None:
    made = mcp_team(shop, "price", address)
    bound = made.bind("lamp", {})
    assert bound == {"input": {"name": "lamp", "times": 1}, "calls": f"price @ {address}"}
    result = await run_team(made, make_context(shop, bound))
    assert result.data == {"name": "lamp", "price": 3}


async def test_its_own_failure_is_said_and_its_end_is_the_servers(shop: Path) -> None:
    with pytest.raises(TeamFailure, match=r"price failed: .*no such thing"):
        await ran(mcp_team(shop, "price"), shop, "nothing")
    result = await ran(mcp_team(shop, "pid"), shop, "", secrets={"API_KEY": "s3cr3t-value"})
    pid, secret = result.text.split()
    assert secret == "‹API_KEY›"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


async def test_cancelling_ends_its_server(shop: Path) -> None:
    waiting: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def progress(line: str, **_: object) -> None:
        if line.startswith("waiting"):
            waiting.set_result(line)

    task = asyncio.create_task(ran(mcp_team(shop, "wait"), shop, "", progress=progress))
    pid = int((await first(waiting, task)).split()[1])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("server", "tool", "said"),
    [
        (("python3", "shop.py"), "cost", r'The server of cost has no tool "cost"; it has price, pid, wait\.'),
        (("python3", "nowhere.py"), "cost", r"The server of cost can't be reached: .*nowhere\.py.*No such file"),
        (("no-such-program",), "cost", "The server of cost can't be reached: .*'no-such-program'"),
        (("http://127.0.0.1:9/mcp",), "cost", "The server of cost can't be reached: All connection attempts failed"),
    ],
)
def test_a_server_that_cannot_be_used_is_named(shop: Path, server: tuple[str, ...], tool: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as error:
        mcp_team(shop, tool, *server).bind("", {})
    assert "\n" not in error.value.message
