"""Functions of a workspace as teams: what they say of themselves, what they take, and how they run."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from team_support import Progress, first, make_context, run_team

from hitl_tui.config.declared_tools import ToolDeclaration
from hitl_tui.core.errors import BadInput
from hitl_tui.core.policy import Risk
from hitl_tui.policy.executable_files import WHOLE
from hitl_tui.teams.contract import TeamFailure, TeamResult
from hitl_tui.teams.tool.calls import Descriptions
from hitl_tui.teams.tool.team import ToolTeam

pytestmark = pytest.mark.long

VAT = '''
from dataclasses import dataclass
from typing import Annotated, Literal

print("imported")

@dataclass
class Item:
    name: str
    price: float

def vat(
    amount: Annotated[float, "in won, without tax"],
    rate: float = 0.1,
    rounding: Literal["up", "down"] = "down",
    note: str | None = None,
    items: list[Item] | None = None,
) -> dict:
    """Computes the value added tax of an amount.

    Nobody reads this part.
    """
    print("computing", amount)
    total = amount + sum(item.price for item in items or ())
    return {"vat": total * rate, "rounding": rounding}

async def slowly(text: str) -> str:
    import asyncio
    await asyncio.sleep(0)
    return text.upper()

def combine(inputs, sign: str = "+") -> list:
    return [sign.join(part["text"].strip() for part in inputs.values()), inputs["todo_001"]["data"]]
'''


def team(folder: Path, source: str = VAT, name: str = "vat", **more: Any) -> ToolTeam:
    (folder / "my.py").write_text(textwrap.dedent(source), encoding="utf-8")
    given = {"risk": Risk.LOW, **more}
    made = ToolTeam(ToolDeclaration(name, "function", target=f"my.py:{name}", folder=str(folder), **given))
    made.look()
    return made


async def ran(made: ToolTeam, folder: Path, text: str = "", **more: Any) -> TeamResult:
    return await run_team(made, make_context(folder, made.bind(text, {}), **more))


# What it says of itself ------------------------------------------------------------------------------------------


def test_schema_and_description_come_from_hints_and_docstring(tmp_path: Path) -> None:
    made = team(tmp_path)
    assert made.description == "Computes the value added tax of an amount."
    fields = made.input_schema["properties"]["input"]["properties"]
    assert list(fields) == ["amount", "rate", "rounding", "note", "items"]
    assert fields["amount"]["type"] == "number"
    assert fields["amount"]["description"] == "in won, without tax"
    assert fields["rate"]["default"] == 0.1
    assert fields["rounding"]["enum"] == ["up", "down"]
    assert fields["note"]["type"] == "string"
    assert not made.reads_results


def test_nothing_is_imported_here_or_when_the_team_is_made(tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text("import pathlib\npathlib.Path('seen').touch()\ndef vat(): ...\n")
    made = ToolTeam(ToolDeclaration("vat", "function", target="my.py:vat", folder=str(tmp_path)))
    assert not (tmp_path / "seen").exists()
    made.look()
    assert (tmp_path / "seen").exists()
    assert "my" not in sys.modules


def test_a_team_that_can_not_be_described_says_why_until_it_can(tmp_path: Path) -> None:
    made = ToolTeam(ToolDeclaration("vat", "function", target="my.py:vat", folder=str(tmp_path)))
    (tmp_path / "my.py").write_text("import nothing_of_this_name\ndef vat(): ...\n")
    made.look()
    assert "nothing_of_this_name" in made.problem
    (tmp_path / "my.py").write_text("def vat(): ...\n")
    made.look()
    assert not made.problem


def test_it_is_read_once_as_long_as_its_files_stay_the_same(tmp_path: Path) -> None:
    log = tmp_path / "log"
    source = f"import helper\nopen({str(log)!r}, 'a').write('x')\ndef vat(amount: int): ...\n"
    (tmp_path / "helper.py").write_text("")
    for _ in range(2):
        again = ToolTeam(
            ToolDeclaration("vat", "function", target="my.py:vat", folder=str(tmp_path)),
            descriptions=Descriptions(tmp_path / "cache"),
        )
        (tmp_path / "my.py").write_text(source)
        again.look()
    assert log.read_text() == "x"
    (tmp_path / "helper.py").write_text("x = 1")
    again.look()
    assert log.read_text() == "xx"


def test_modules_of_packages_and_of_src_are_found(tmp_path: Path) -> None:
    package = tmp_path / "src" / "firm" / "tax"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "rates.py").write_text("from .. import tax\ndef vat(amount: int) -> int:\n    return amount\n")
    for target in ("firm.tax.rates:vat", "src/firm/tax/rates.py:vat"):
        made = ToolTeam(ToolDeclaration("vat", "function", target=target, folder=str(tmp_path), risk=Risk.LOW))
        assert made.bind("5", {})["input"] == {"amount": 5}
        assert "src/firm/tax/rates.py" in made.programs({})


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def vat(:\n", r"my.py line 1 raised SyntaxError"),
        ("1 / 0\n", r"my.py line 1 raised ZeroDivisionError: division by zero\."),
        ("raise SystemExit(3)\n", r"my.py line 1 raised SystemExit: 3\."),
        ("import nowhere_at_all\n", r'my.py line 1 needs the module "nowhere_at_all"'),
        ("def tva(): ...\n", r'my.py has no "vat"; it has tva\.'),
        ("vat = 3\n", r"can't be called: it is a int"),
        ("class vat: ...\n", r"can't be called: it is a type"),
        ("def vat(a, /): ...\n", r'parameter "a" of vat can\'t be given by name'),
        ("def vat(*a): ...\n", r'parameter "a" of vat can\'t be given by name'),
        ("import threading\ndef vat(a: threading.Lock): ...\n", r"A parameter of vat can't be written as JSON"),
        ("def vat(a: 'Missing'): ...\n", r"type hints of vat can't be read: name 'Missing' is not defined"),
        ("import os\nos._exit(7)\n", r"vat ended its process \(exit code 7\)"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(tmp_path: Path, source: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as error:
        team(tmp_path, source).bind("", {})
    assert "\n" not in error.value.message
    assert "Traceback" not in error.value.message


# What it takes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["amount=50000", "50000", '{"amount": 50000}'])
def test_words_pairs_and_json_give_its_arguments(tmp_path: Path, text: str) -> None:
    bound = team(tmp_path).bind(text, {})
    assert bound["input"] == {"amount": 50000, "rate": 0.1, "rounding": "down"}
    assert bound["calls"] == "my.py:vat"
    assert list(bound["programs"]) == ["my.py"]


def test_what_it_bound_it_binds_again_and_parameters_win_over_words(tmp_path: Path) -> None:
    made = team(tmp_path)
    bound = made.bind("Compute the VAT", {"amount": "50,000".replace(",", ""), "items": [{"name": "a", "price": 1}]})
    assert bound["input"]["amount"] == 50000
    assert made.bind("Compute the VAT", bound) == bound


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, r'vat needs the parameter "amount" \(a number\)'),
        ({"amount": "much"}, r'vat: amount must be a number, but it is the text "much"'),
        ({"amount": 1, "rate": "low"}, "vat: rate must be a number"),
        ({"amount": 1, "rounding": "left"}, r"vat: rounding must be one of .*up.*down"),
        ({"amount": 1, "amont": 2}, r'vat has no parameter "amont"; did you mean "amount"'),
        ({"amount": 1, "items": [{"name": "a"}]}, "items"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        team(tmp_path).bind("Compute it", given) if given else team(tmp_path).bind("", given)


def test_a_parameter_may_be_called_input_or_command(tmp_path: Path) -> None:
    made = team(tmp_path, "def vat(input: dict, command: str = 'x') -> str:\n    return command + str(input)\n")
    bound = made.bind("", {"input": {"a": 1}})
    assert bound["input"] == {"input": {"a": 1}, "command": "x"}
    assert made.bind("", bound) == bound


def test_other_keywords_are_taken_where_the_function_takes_them(tmp_path: Path) -> None:
    made = team(tmp_path, "def vat(a: int = 1, **more: int) -> int:\n    return a + sum(more.values())\n")
    assert made.bind("b=2", {})["input"]["b"] == 2


# How it runs -----------------------------------------------------------------------------------------------------


async def test_a_function_is_called_and_what_it_prints_is_streamed(tmp_path: Path) -> None:
    progress = Progress()
    result = await ran(team(tmp_path), tmp_path, "amount=50000 rate=0.2", progress=progress)
    assert result.data == {"vat": 10000.0, "rounding": "down"}
    assert '"vat": 10000.0' in result.text
    assert result.summary.startswith("vat: {")
    assert progress.lines == ["imported", "computing 50000.0"]


async def test_models_of_its_parameters_are_made(tmp_path: Path) -> None:
    made = team(tmp_path)
    bound = made.bind("", {"amount": 1, "items": [{"name": "a", "price": 9}]})
    result = await run_team(made, make_context(tmp_path, bound))
    assert result.data["vat"] == 1.0


async def test_asynchronous_functions_run_too(tmp_path: Path) -> None:
    result = await ran(team(tmp_path, name="slowly"), tmp_path, "some words")
    assert (result.text, result.data) == ("SOME WORDS\n", {"value": "SOME WORDS"})


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("returns", "text", "data"),
    [
        ("5000", "5000\n", {"value": 5000}),
        ("True", "true\n", {"value": True}),
        ("'# Title'", "# Title\n", {"value": "# Title"}),
        ("[1, (2, 3)]", "```text\n[\n  1,\n  [\n    2,\n    3\n  ]\n]\n```\n", {"value": [1, [2, 3]]}),
        ("M(name='한국')", '```text\n{\n  "name": "한국"\n}\n```\n', {"name": "한국"}),
        ("D('x')", '```text\n{\n  "name": "x"\n}\n```\n', {"name": "x"}),
        ("None", "It ended and returned nothing.\n", {}),
    ],
)
async def test_whatever_json_can_say_is_a_result(tmp_path: Path, returns: str, text: str, data: object) -> None:
    source = (
        "from dataclasses import dataclass\nfrom pydantic import BaseModel\n"
        "class M(BaseModel):\n    name: str\n@dataclass\nclass D:\n    name: str\n"
        f"def vat():\n    return {returns}\n"
    )
    result = await ran(team(tmp_path, source), tmp_path)
    assert (result.text, result.data, result.found) == (text, data, True)


async def test_it_gets_the_results_that_it_depends_on(tmp_path: Path) -> None:
    made = team(tmp_path, name="combine")
    assert made.reads_results
    assert list(made.input_schema["properties"]["input"]["properties"]) == ["sign"]
    earlier = {"todo_001": TeamResult("one\n", {"n": 1}), "todo_002": TeamResult("two\n")}
    result = await ran(made, tmp_path, inputs=earlier)
    assert result.data == {"value": ["one+two", {"n": 1}]}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('amount is negative')", r"my.py line 2 raised ValueError: amount is negative\."),
        ("raise SystemExit('bye')", r"my.py line 2 raised SystemExit: bye\."),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", r"vat was ended by SIGKILL\."),
        ("import os; os._exit(4)", r"vat ended its process \(exit code 4\) and returned nothing\."),
        ("return object()", r"vat returned a object, which JSON has no form for\."),
        ("return float('nan')", r"vat returned a float, which JSON has no form for\."),
        ("return 'x' * 2_000_000", r"vat returned more than 1,000,000 bytes"),
    ],
)
async def test_a_failure_is_one_sentence(
    tmp_path: Path, body: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    progress = Progress()
    with pytest.raises(TeamFailure, match=said):
        await ran(team(tmp_path, f"def vat():\n    {body}\n"), tmp_path, progress=progress)
    assert not any("Traceback" in line for line in progress.lines)
    assert ("Traceback" in caplog.text) == ("raise " in body)


async def test_what_only_its_own_checks_refuse_is_refused_before_the_function_runs(tmp_path: Path) -> None:
    source = (
        "from typing import Annotated\nfrom pydantic import AfterValidator\n"
        "def even(value):\n    if value % 2:\n        raise ValueError('must be even')\n    return value\n"
        "def vat(n: Annotated[int, AfterValidator(even)]):\n    open('ran', 'w')\n"
    )
    with pytest.raises(BadInput, match=r'vat can\'t use "n": Value error, must be even\.'):
        await ran(team(tmp_path, source), tmp_path, "n=3")
    assert not (tmp_path / "ran").exists()


async def test_secrets_are_in_its_environment_and_masked_in_what_comes_out(tmp_path: Path) -> None:
    source = "import os\ndef vat(key: str):\n    print(key)\n    return [key, os.environ['API_KEY']]\n"
    progress = Progress()
    made = team(tmp_path, source)
    result = await ran(made, tmp_path, "key=‹API_KEY›", secrets={"API_KEY": "s3cr3t-value"}, progress=progress)
    assert result.data == {"value": ["‹API_KEY›", "‹API_KEY›"]}
    assert progress.lines == ["‹API_KEY›"]


async def test_a_function_that_reads_standard_input_finds_it_empty(tmp_path: Path) -> None:
    result = await ran(team(tmp_path, "import sys\ndef vat():\n    return sys.stdin.read() + '!'\n"), tmp_path)
    assert result.text == "!\n"


async def test_its_time_is_limited(tmp_path: Path) -> None:
    made = team(tmp_path, "import time\ndef vat():\n    time.sleep(300)\n", timeout=0.8)
    with pytest.raises(TeamFailure, match=r"vat was stopped because its time, 0\.8 s, was up\."):
        await ran(made, tmp_path)


SLEEPS = """
import os, subprocess, time
def vat():
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    print(os.getpid(), child.pid)
    time.sleep(300)
"""


async def test_cancelling_ends_it_with_all_it_started(tmp_path: Path) -> None:
    said: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    made = team(tmp_path, SLEEPS)

    def progress(line: str, **_: object) -> None:
        said.set_result(line)

    task = asyncio.create_task(ran(made, tmp_path, progress=progress))
    pids = [int(pid) for pid in (await first(said, task)).split()]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any(lives(pid) for pid in pids)


async def test_it_ends_when_this_program_is_killed(tmp_path: Path) -> None:
    team(tmp_path, SLEEPS)
    script = f"""
import asyncio, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from team_support import make_context, run_team
from pathlib import Path
from hitl_tui.config.declared_tools import ToolDeclaration
from hitl_tui.core.policy import Risk
from hitl_tui.teams.tool.team import ToolTeam
folder = Path({str(tmp_path)!r})
made = ToolTeam(ToolDeclaration("vat", "function", target="my.py:vat", folder=str(folder), risk=Risk.LOW))
progress = lambda line, **_: print(line, flush=True)
asyncio.run(run_team(made, make_context(folder, made.bind("", {{}}), progress=progress)))
"""
    ours = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=subprocess.PIPE)
    assert ours.stdout is not None
    pids = [int(pid) for pid in (await ours.stdout.readline()).split()]
    assert len(pids) == 2
    assert all(map(lives, pids))
    ours.send_signal(signal.SIGKILL)
    await ours.wait()
    watched = [os.pidfd_open(pid) for pid in pids if lives(pid)]
    for descriptor in watched:  # readable once its process has ended; the test's own limit ends a wait in vain
        await asyncio.to_thread(select.select, [descriptor], [], [])
        os.close(descriptor)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


# What is approved ------------------------------------------------------------------------------------------------


async def test_a_change_after_the_approval_is_not_run(tmp_path: Path) -> None:
    made = team(tmp_path)
    approved = made.bind("amount=1", {})
    (tmp_path / "my.py").write_text("def vat(**a):\n    open('ran', 'w')\n")
    with pytest.raises(BadInput, match=r"my\.py changed since this step was planned or approved"):
        await run_team(made, make_context(tmp_path, approved))
    assert not (tmp_path / "ran").exists()


def test_what_it_imports_and_at_high_risk_every_file_is_bound(tmp_path: Path) -> None:
    (tmp_path / "rates.py").write_text("RATE = 1")
    (tmp_path / "other.py").write_text("")
    source = "import rates\ndef vat(): ...\n"
    low = team(tmp_path, source)
    assert set(low.bind("", {})["programs"]) == {"my.py", "rates.py"}
    high = team(tmp_path, source, risk=Risk.HIGH)
    before = high.bind("", {})["programs"]
    assert set(before) == {"my.py", "rates.py", WHOLE}
    (tmp_path / "other.py").write_text("x = 1")
    assert high.changed(before, high.programs({})) == ["other.py"]


def test_only_what_may_be_done_twice_is_retried_by_itself(tmp_path: Path) -> None:
    assert team(tmp_path, retries=2).max_retries == 2
    assert team(tmp_path, retries=2, risk=Risk.HIGH).max_retries == 0
    assert team(tmp_path, retries=2, risk=Risk.HIGH, idempotent=True).max_retries == 2


def test_its_own_modules_are_not_this_programs(tmp_path: Path) -> None:
    (tmp_path / "hitl_tui.py").write_text("NAME = 'theirs'\n")
    made = team(tmp_path, "import hitl_tui\ndef vat(name: str = hitl_tui.NAME): ...\n")
    assert made.bind("", {})["input"] == {"name": "theirs"}
    assert "hitl_tui" not in os.environ
