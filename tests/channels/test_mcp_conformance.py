"""The public conformance suite of MCP against the server over HTTP, and which of its scenarios fail as expected."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, ClientTimeout, web
from mcp_support import AGENTS, Place, serving

ROOT = Path(__file__).parents[2]
PACKAGES = ("@modelcontextprotocol/conformance@0.1.16", "node@22")
_OWN_TOOL = "calls a tool of the suite's own example server, which ours doesn't have"
_OWN_RESOURCE = "reads a resource of the suite's own example server, which ours doesn't have"
_NO_PROMPTS = "the server has no prompts"
EXPECTED = {
    "completion-complete": "the server has nothing to complete",
    "tools-call-simple-text": _OWN_TOOL,
    "tools-call-image": _OWN_TOOL,
    "tools-call-audio": _OWN_TOOL,
    "tools-call-embedded-resource": _OWN_TOOL,
    "tools-call-mixed-content": _OWN_TOOL,
    "tools-call-with-logging": _OWN_TOOL,
    "tools-call-error": _OWN_TOOL,
    "tools-call-with-progress": _OWN_TOOL,
    "tools-call-sampling": _OWN_TOOL,
    "tools-call-elicitation": _OWN_TOOL,
    "elicitation-sep1034-defaults": _OWN_TOOL,
    "elicitation-sep1330-enums": _OWN_TOOL,
    "resources-read-text": _OWN_RESOURCE,
    "resources-read-binary": _OWN_RESOURCE,
    "resources-templates-read": _OWN_RESOURCE,
    "resources-subscribe": _OWN_RESOURCE,
    "resources-unsubscribe": _OWN_RESOURCE,
    "prompts-list": _NO_PROMPTS,
    "prompts-get-simple": _NO_PROMPTS,
    "prompts-get-with-args": _NO_PROMPTS,
    "prompts-get-embedded-resource": _NO_PROMPTS,
    "prompts-get-with-image": _NO_PROMPTS,
}
"""The scenarios that fail, and why."""


@asynccontextmanager
async def with_token(address: str) -> AsyncIterator[str]:
    """Put a server before another that adds the agents' token to every request: the suite can't send one."""
    target = address.split("/")[2]

    async def passed_on(request: web.Request) -> web.StreamResponse:
        headers = {**request.headers, "Authorization": f"Bearer {AGENTS}"}
        for name in ("Host", "Origin"):
            if name in headers:
                headers[name] = headers[name].replace(own, target)
        async with (
            ClientSession(timeout=ClientTimeout(None)) as client,
            client.request(request.method, address, headers=headers, data=await request.read()) as answer,
        ):
            kept = {k: v for k, v in answer.headers.items() if k.lower() in ("content-type", "mcp-session-id")}
            response = web.StreamResponse(status=answer.status, headers=kept)
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            return response

    application = web.Application()
    application.router.add_route("*", "/mcp", passed_on)
    runner = web.AppRunner(application, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    own = f"127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield f"http://{own}/mcp"
    finally:
        await runner.cleanup()


async def _output(*command: str, cwd: Path) -> tuple[int, str]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode(errors="replace")


@pytest.mark.long
@pytest.mark.slow
async def test_the_public_suite_passes_but_for_what_the_server_does_not_have(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the conformance suite of MCP needs npm")
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "package.json").write_text('{"private": true}')
    code, said = await _output(npm, "install", "--no-audit", "--no-fund", *PACKAGES, cwd=suite)
    programs = suite / "node_modules" / ".bin"
    if code or not (programs / "node").exists():
        pytest.skip(f"npm can't install the conformance suite of MCP: {said[-300:]}")
    async with serving(Place(tmp_path)) as (address, _), with_token(address) as reachable:
        command = (str(programs / "node"), str(programs / "conformance"), "server", "--url", reachable)
        _, said = await _output(*command, cwd=suite)
    results = {name: sign for sign, name in re.findall(r"^([✓✗]) ([\w-]+): \d+ passed", said, re.M)}
    assert len(results) == 30, said
    assert {name for name, sign in results.items() if sign == "✗"} == set(EXPECTED), said


def test_the_page_names_what_fails() -> None:
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    listed = page.partition("all others of its active suite pass:")[2]
    assert set(re.findall(r"`([\w-]+)`", listed)) == set(EXPECTED)
