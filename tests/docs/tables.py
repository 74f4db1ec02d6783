"""The tables in docs/ that are made from the code: `uv run python tests/docs/tables.py` writes them into their pages.

Each stands between `<!-- table: NAME … -->` and `<!-- /table -->`; a test compares them with the code.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from inspect import isclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from hitl_tui.channels.metrics import METRICS
from hitl_tui.channels.runtime.events import EVENTS, keys
from hitl_tui.cli.fast_args import CONSOLE
from hitl_tui.cli.subcommands import SUBCOMMANDS, Parser
from hitl_tui.commands.spec import help_table
from hitl_tui.config.plan_settings import VARIABLES, PlanSettings
from hitl_tui.config.schema import _File, _OwnTeam
from hitl_tui.console.keymap import TITLES, Keymap
from hitl_tui.language import using
from hitl_tui.lint.rules import RULES

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS.parent / ".env.example"
MARKED = re.compile(r"(<!-- table: ([a-z-]+)[^>]*-->\n).*?(<!-- /table -->)", re.DOTALL)

SETTINGS = {
    "defaults.mode": "`step`, `plan` or `risk`: when you are asked",
    "defaults.concurrency": "TODOs that may run at once, 1 to 64",
    "teams.search_team.enabled": "false: never planned; every team takes it",
    "teams.search_team.documents": "files, folders or patterns to search, relative to the workspace",
    "teams.analysis_team.enabled": "as above",
    "teams.document_team.enabled": "as above",
    "teams.document_team.folder": "folder that reports are written into",
    "teams.command_team.enabled": "as above",
    "teams.command_team.commands.NAME.run": (
        "argument vector; `{parameter}` is filled in, `{{` and `}}` stand for braces. There is no shell"
    ),
    "teams.command_team.commands.NAME.preview": "a read-only argument vector, whose output is shown with the question",
    "teams.command_team.commands.NAME.description": "for people, and for the planner",
    "teams.command_team.commands.NAME.parameters.NAME.type": (
        "`string`, `integer`, `number`, `boolean`, `path` (within the workspace) or `choice`"
    ),
    "teams.command_team.commands.NAME.parameters.NAME.default": "used when it is left out; without one it is required",
    "teams.command_team.commands.NAME.parameters.NAME.minimum": "least value of an integer or number",
    "teams.command_team.commands.NAME.parameters.NAME.maximum": "greatest value of an integer or number",
    "teams.command_team.commands.NAME.parameters.NAME.choices": "the values of a `choice`",
    "teams.command_team.commands.NAME.parameters.NAME.description": "for people, and for the planner",
    "teams.command_team.commands.NAME.parameters.NAME.descriptions": (
        'what people read instead, by language: `descriptions.ko = "…"`'
    ),
    "teams.command_team.commands.NAME.titles": 'what its steps are called: `titles.ko = "…"`; else its name',
    "teams.command_team.commands.NAME.risk": "`low` (it changes nothing), `medium` or `high`",
    "teams.command_team.commands.NAME.timeout": "a duration such as `10m`, or seconds; at most 365 days",
    "teams.command_team.commands.NAME.retries": (
        "how often a failure is tried again by itself, 0 to 10; only at low risk or where `idempotent`"
    ),
    "teams.command_team.commands.NAME.idempotent": "running it twice does no more than running it once",
    "teams.command_team.commands.NAME.optional": "true: a failure skips the step, and what depends on it goes on",
    "teams.command_team.commands.NAME.exit_codes": "exit codes that count as success",
    "teams.command_team.commands.NAME.expect": (
        'limits of figures that it prints: `expect.total = "< 3.5M"` ([below](#what-a-command-is-expected-to-print))'
    ),
    "teams.command_team.commands.NAME.pins.exclude": "as `pins.exclude`, for this command alone",
    "teams.table_team.enabled": "as above",
    "teams.NAME.kind": (
        "`function`, `tool` (LangChain), `mcp`, `graph` (LangGraph), `remote` or `agent` ([below](#agents))"
    ),
    "teams.NAME.function": "of kind `function`: `file.py:name` of the workspace, or `package.module:name`",
    "teams.NAME.tool": "of kind `tool`: the same; of kind `mcp`: the tool's name on its server",
    "teams.NAME.server": "of kind `mcp`: the argument vector that starts the server, or its address",
    "teams.NAME.graph": "of kind `graph`: `module:attribute` or `path.py:attribute`",
    "teams.NAME.url": (
        "of kind `remote`: the LangGraph server that runs the graph "
        "([more](interrupts.md#graphs-on-a-langgraph-server))"
    ),
    "teams.NAME.assistant": "of kind `remote`: its name or id, or its graph's; not needed where there is one",
    "teams.NAME.header_env": "of kind `remote`: variables that hold headers for the server, by the header's name",
    "teams.NAME.inbox": "of kind `remote`: threads of it that wait stand in the inbox, whoever began them",
    "teams.NAME.description": "for people, and for the planner; without it the tool's own, such as a docstring",
    "teams.NAME.risk": "`low`, `medium` or `high`; low: a crash within it isn't asked about",
    "teams.NAME.timeout": "how long one attempt may take; `10m` for all but graphs",
    "teams.NAME.retries": (
        "how often a failure is tried again by itself, 0 to 10; only at low risk or where `idempotent`. Not for graphs"
    ),
    "teams.NAME.idempotent": "doing it twice does no more than doing it once. Not for graphs",
    "teams.NAME.optional": "true: a failure skips the step, and what depends on it goes on",
    "teams.NAME.config": "of a graph: RunnableConfig entries, such as `config.configurable.model`",
    "teams.NAME.context": "the graph's runtime context",
    "teams.NAME.state_types": "`module:Class` of types that its state holds in untyped fields",
    "teams.NAME.saver": "SQLite path or PostgreSQL URI of a store that has its threads; else the session's own",
    "teams.NAME.prompt": "of kind `agent`: what the model is told to be and to do",
    "teams.NAME.tools": "of kind `agent`: teams and declared commands that it may call, and `run_python`",
    "teams.NAME.most_calls": "of kind `agent`: calls of tools that one attempt may make",
    "teams.NAME.pins.exclude": "as `pins.exclude`, for this team alone",
    "teams.NAME.enabled": "as above",
    "[[policy]].name": "what people call the rule, up to 80 characters",
    "[[policy]].team": "the rule is for this team",
    "[[policy]].command": "… for this declared command",
    "[[policy]].tool": "… for calls of this tool, which a graph asks about from inside",
    "[[policy]].arguments": (
        "… where its arguments fit this JSON Schema: those that people give to a tool, team, command or step, such as "
        "`amount` in `pay amount=20`. What isn't known, isn't "
        "there though the schema restricts it and has no `required`, or is of another type than it speaks about "
        "(`5000` as text), falls under a rule that asks or denies, never under one that allows"
    ),
    "[[policy]].agent": "… for steps of this agent outside of sessions (task-checkpoints.md); `*` is any text",
    "[[policy]].action": "… for such steps whose action fits this pattern",
    "[[policy]].request": (
        "`plan`: … for the question whether a plan may begin (mode `plan`); `proposal`: … whether it shall change"
    ),
    "[[policy]].risk": "… for this class of risk",
    "[[policy]].decision": (
        "`allow`, `ask` or `deny`; for a tool `ask` or `deny`. `allow` for an agent or action lets calls of "
        "`hitl-tui hook` pass"
    ),
    "[[policy]].quorum": "how many distinct people must approve, 1 to 100; more than one takes verified approvers",
    "[[policy]].level": "lowest level of an approver that counts, 0 to 100; above 0 takes verified approvers",
    "[[policy]].deadline": "how long the question waits",
    "[[policy]].on_deadline": (
        "`reject` (without one) or `approve`: never for high risk, and its time begins when the question is shown"
    ),
    "[[policy]].veto": "true: one verified person of any level may refuse",
    "secrets.names": "environment variables whose values are kept and shown as `‹NAME›`",
    "notify.targets": "addresses that requests are told to, as Apprise takes them; `${NAME}` stands for a variable",
    "notify.on": "of what: `opened`, `half_time` (of a deadline), `decided`; all of them without it",
    "notify.arguments": "true: also tell what a call would run with",
    "pins.exclude": "patterns of files that no step executes: they may change while a step of high risk waits",
    "model.name": (
        '`provider:model`, such as `openai:gpt-5-mini`, or `none`; `model = "…"` says the same in short. '
        "`HITL_MODEL` in the environment stands above it"
    ),
    "model.base_url": "address of a server that speaks the provider's protocol; `HITL_MODEL_BASE_URL` stands above it",
    "model.timeout": "how long one answer may take",
    "model.retries": "how often a call is tried again where the server is busy or away, 0 to 10",
    "model.requests_per_minute": "most calls in a minute; 0: no limit",
    "model.longest_answer": "most tokens of one answer",
    "model.budget": (
        "dollars that a session may spend; a call that could pass it isn't made, nor any while no price is known. "
        "0: no limit"
    ),
    "model.token_budget": "the same in tokens",
    "model.prices": "`{ input = 0.25, output = 2.0 }`: dollars for a million tokens, of a model that isn't known",
    "model.proposals": "false: the model isn't asked after each step whether the plan should change",
    "model.answers": "false: the answer isn't written up by the model",
    "review.runtime": (
        "a runtime elsewhere whose plans and steps stand in the inbox: `http://HOST:PORT`, `s3://BUCKET[/PREFIX]` or a "
        "folder, or a list of them; `HITL_REVIEW_RUNTIME`, with commas between several, stands above it"
    ),
}
"""What each key of hitl.toml takes and does."""


PLAN_SETTINGS = {
    "MAX_PLAN_REVISIONS": (
        "how often a plan is revised, 1 to 100; after the last revision it goes ahead, and each risky step still asks"
    ),
    "PLAN_FEEDBACK_TIMEOUT": "seconds that a runtime without a terminal waits for an answer to a published plan",
    "PLAN_FEEDBACK_POLL_INTERVAL": "seconds between its looks at where feedback is put",
    "PLAN_FEEDBACK_ON_TIMEOUT": "`approve` or `reject`: what it means that nobody answered in time",
}
"""What each variable of the review of plans sets."""


def cell(text: str) -> str:
    """Return a text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def chat_commands() -> str:
    """Return usage and summary of each chat command."""
    rows = [(f"`{cell(usage)}`", cell(summary)) for usage, summary in help_table()]
    return table(("command", "what it does"), rows)


def lint_rules() -> str:
    """Return the rules of `hitl-tui lint`."""
    rows = [(f"`{rule.id}`", str(rule.what), str(rule.meaning), str(rule.remedy)) for rule in RULES.values()]
    return table(("rule", "what is found", "why it matters", "how to mend it"), rows)


def key_map() -> str:
    """Return every key by part of the console, with the id that keys.toml knows it by."""
    keymap = Keymap()
    parts = []
    for where, title in TITLES.items():
        rows = [(cell(spec.shown), cell(keymap.named(spec.help)), f"`{spec.id}`") for spec in keymap.of(where)]
        parts.append(f"### {keymap.named(title)}\n\n{table(('keys', 'what they do', 'id'), rows)}")
    return "\n".join(parts)


def declared_keys() -> Iterator[tuple[str, str]]:
    """Yield each key of hitl.toml with its default, in the order of the schema."""
    yield from _keys("", _File)


def _keys(before: str, form: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for name, field in form.model_fields.items():
        kind = field.annotation
        inner = _form_in(kind)
        path = f"{before}{name}"
        if inner is None:
            yield path, _default(field.get_default(call_default_factory=True), required=field.is_required())
        elif isclass(kind):
            yield from _keys(f"{path}.", inner)
        elif name == "policy":
            yield from _keys(f"[[{path}]].", inner)
        else:
            yield from _keys(f"{path}.NAME.", inner)
        if path == "teams":
            yield from _keys("teams.NAME.", _OwnTeam)


def _form_in(kind: Any) -> type[BaseModel] | None:
    """Return the form that a field, a list's items or a table's values have; None for a plain value."""
    for candidate in (kind, *get_args(kind)[-1:]):
        if isclass(candidate) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _default(value: object, *, required: bool) -> str:
    if required:
        return "required"
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`'
    if isinstance(value, list):
        return f"`{str(value).replace(chr(39), chr(34))}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def settings() -> str:
    """Return the keys of hitl.toml."""
    rows = [(f"`{key}`", default, cell(SETTINGS.get(key, "?"))) for key, default in declared_keys()]
    return table(("key", "default", "what it takes and does"), rows)


def plan_settings() -> str:
    """Return the variables of the review of plans."""
    rows = [(f"`{name}`", f"`{_plan_default(name)}`", cell(PLAN_SETTINGS[name])) for name in VARIABLES]
    return table(("variable", "default", "what it sets"), rows)


def _plan_default(name: str) -> str:
    value = getattr(PlanSettings(), VARIABLES[name][0])
    return f"{value:g}" if isinstance(value, float) else str(value)


def env_example() -> str:
    """Return `.env.example`: each of these variables with its default, not set."""
    lines = [
        "# Settings of the review of plans. In a trusted workspace a file .env is read; the environment is above it.",
        "# docs/configuration.md has the table. Take the # away to set one.",
    ]
    for name in VARIABLES:
        lines += ["", f"# {PLAN_SETTINGS[name].replace('`', '')}", f"#{name}={_plan_default(name)}"]
    return "\n".join(lines) + "\n"


def command_line() -> str:
    """Return usage, arguments and options of each subcommand."""
    parts = []
    for name in SUBCOMMANDS:
        parser = Parser(name)
        title = "hitl-tui" if name == CONSOLE else f"hitl-tui {name}"
        about = "" if name == CONSOLE else f"{(parser.description or '').strip()}\n\n"
        usage = re.sub(r"\s+", " ", parser.usage or "")
        rows = [
            (_names(action), cell(action.help or ""))
            for action in parser._actions
            if name == CONSOLE or not {"--help", "--data", "--lang"} & set(action.option_strings)
        ]
        more = f"```\n{parser.epilog.strip()}\n```\n\n" if parser.epilog and name != CONSOLE else ""
        more = "" if "HITL_DATA_DIR" in more else more
        takes = table(("argument", "what it is"), rows) if rows else ""
        about = f"```\n{about.strip()}\n```\n\n" if "\n" in about.strip() else about
        parts.append(f"### `{title}`\n\n`{usage}`\n\n{about}{takes}\n{more}".rstrip() + "\n")
    return "\n".join(parts)


def _names(action: argparse.Action) -> str:
    metavar = action.metavar or ("|".join(action.choices) if action.choices else "")
    value = f" {metavar}" if metavar and action.option_strings else str(metavar)
    return f"`{cell(', '.join(action.option_strings) + value)}`"


def events() -> str:
    """Return the events of a runtime, with their own keys."""
    common = {"job_id", "session_id"}
    found = list(keys())
    rows = []
    for event in EVENTS:
        own = [f"`{key}` ({kind}): {cell(about)}" for of, key, kind, about in found if of == event.kind]
        named = [text for text in own if not any(text.startswith(f"`{key}`") for key in common)]
        rows.append((f"`{event.kind}`", cell(event.about), "<br>".join(named)))
    return table(("type", "what happened", "keys"), rows)


def metrics() -> str:
    """The figures that Prometheus gets."""
    return table(("figure", "what it tells"), [(f"`{name}`", cell(said)) for name, said in METRICS.items()])


def import_order() -> str:
    """Return which packages may import which, from the import contracts."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    lines = []
    for contract in contracts:
        if contract["type"] == "layers":
            order = "\n".join(layer.replace("hitl_tui.", "") for layer in contract["layers"])
            lines.append(f"{contract['name']}:\n\n```\n{order}\n```\n")
        elif contract["type"] == "independence":
            lines.append(f"**{contract['name']}**: {_packages(contract['modules'])}.\n")
        else:
            sources, kept = (_packages(contract[key]) for key in ("source_modules", "forbidden_modules"))
            lines.append(f"**{contract['name']}**: {sources} may not import {kept}.\n")
    return "\n".join(lines)


def _packages(names: Iterable[str]) -> str:
    return ", ".join(f"`{name.removeprefix('hitl_tui.')}`" for name in names)


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "commands": ("commands.md", chat_commands),
    "events": ("runtime.md", events),
    "command-line": ("command-line.md", command_line),
    "imports": ("architecture.md", import_order),
    "keys": ("keys.md", key_map),
    "lint-rules": ("lint-rules.md", lint_rules),
    "metrics": ("scale.md", metrics),
    "plan-settings": ("configuration.md", plan_settings),
    "settings": ("configuration.md", settings),
}
"""Page and maker of each table by name."""


def written(page: str) -> str:
    """Return a page with its tables as the code has them now."""

    def made(found: re.Match[str]) -> str:
        with using("en"):
            return f"{found[1]}\n{TABLES[found[2]][1]()}\n{found[3]}"

    return MARKED.sub(made, page)


if __name__ == "__main__":
    for name in sorted({page for page, _make in TABLES.values()}):
        path = DOCS / name
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
    EXAMPLE.write_text(env_example(), encoding="utf-8")
