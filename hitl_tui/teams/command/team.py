"""The command team: runs the commands that hitl.toml declares, and no others."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Required, TypedDict, cast

from hitl_tui.config.declared_commands import command_environment
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_markdown import fenced, literal
from hitl_tui.core.safe_text import mask
from hitl_tui.core.secret_names import with_values
from hitl_tui.core.shell_words import shell_words
from hitl_tui.policy.executable_files import WHOLE, Bindings, Surroundings
from hitl_tui.teams.bounded_output import NOTES
from hitl_tui.teams.command.listed_files import listed_files
from hitl_tui.teams.command.paths import refuse_outside
from hitl_tui.teams.contract import (
    BRIEF,
    PROGRAMS,
    Block,
    Brief,
    OutputPreview,
    PreviewContext,
    Team,
    TeamContext,
    TeamFailure,
    TeamGraph,
    TeamResult,
    TeamSources,
    in_steps,
    one,
    unknown_name,
)
from hitl_tui.teams.expected_figures import judged
from hitl_tui.teams.printed_deletions import deletion
from hitl_tui.teams.printed_figures import Run, lines_of_cut
from hitl_tui.teams.process import CommandOutcome, run_command

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from hitl_tui.config.declared_commands import CommandDeclaration, Value

PREVIEW_TIMEOUT = 20.0
PREVIEW_LIMIT = 64 * 1024
DEFAULT_TIMEOUT = 600.0
STOP_MARGIN = 15.0
_DERIVED = ("argv", "preview", "timeout", "exit_codes")
_FOUND = ("programs",)
"""What is found in the workspace: it is looked up anew whatever stands there."""
_SHORT_CHARS = 600
_SHORT_LINES = 12
_FEW_HEADS = 3
_SUMMARY = 120
"""Characters of what a command printed that its result's line takes."""
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "ended": "Exit code {code} after {duration:.1f} s.",
            "stdout": "Output:",
            "stderr": "Errors:",
            "nothing": "It printed nothing.",
            "declared_done": "A person said that it was done; its output is not known.",
            "by_hand": "a person said that it was done; its output is not known",
            "silent": "{name}: printed nothing",
            "said": "{name}: {said}",
            "more": "{name}: {counted}, the last: {last}",
            "code": " (exit code {code})",
            "left": "ended with it: {left} that it had left running",
            "process": "{n:,} process",
            "processes": "{n:,} processes",
            "line": "{lines:,} line",
            "lines": "{lines:,} lines",
        },
        "ko": {
            "ended": "종료 코드는 {code}이고 {duration:.1f}초 걸렸습니다.",
            "stdout": "출력:",
            "stderr": "오류 출력:",
            "nothing": "출력이 없습니다.",
            "declared_done": "완료되었다고 사람이 확인했습니다. 출력은 알 수 없습니다.",
            "by_hand": "사람이 완료했다고 확인함, 출력은 알 수 없음",
            "silent": "{name}: 출력 없음",
            "said": "{name}: {said}",
            "more": "{name}: 출력 {counted}, 마지막 줄: {last}",
            "code": " (종료 코드 {code})",
            "left": "남아서 실행 중이던 {left}도 함께 종료",
            "process": "프로세스 {n:,}개",
            "processes": "프로세스 {n:,}개",
            "line": "{lines:,}줄",
            "lines": "{lines:,}줄",
        },
    }
)


_COMPILED_ELSEWHERE = {"PYTHONPYCACHEPREFIX": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
"""Environment of previews: compiled files that lie in the workspace are neither read nor written."""


class CommandState(TypedDict, total=False):
    """State of the team's graph: the task, what came out, the result."""

    task: str
    outcome: dict[str, Any]
    result: dict[str, Any]


class CommandArguments(TypedDict, total=False):
    """The exact input of one run of a declared command."""

    command: Required[str]
    parameters: Required[Mapping[str, Value]]
    argv: Required[list[str]]
    preview: Required[list[str] | None]
    timeout: Required[float]
    exit_codes: Required[list[int]]
    programs: Mapping[str, str]


class CommandTeam(Team):
    """Runs declared commands.

    Its `timeout` is the longest that a declaration allows and the time that stopping takes; 0 when one has no
    limit.

    Args:
        commands: the declarations by name.
        bindings: finds what they may execute.
        around: what of the workspace's settings says which files are code.
    """

    def __init__(
        self,
        commands: Mapping[str, CommandDeclaration],
        bindings: Bindings | None = None,
        around: Surroundings | None = None,
    ) -> None:
        self.bindings: Bindings = bindings or Bindings()
        self._around = around or Surroundings()
        self.commands: Mapping[str, CommandDeclaration] = MappingProxyType(dict(commands))
        self.name = "command_team"
        self.risk = Risk.HIGH
        names = ", ".join(sorted(commands)) or Message("none is declared")
        self.description = Message("Runs commands declared in hitl.toml: {}.", names)
        limits = [float(command.timeout) for command in commands.values()] or [DEFAULT_TIMEOUT]
        self.timeout = 0.0 if 0.0 in limits else max(limits) + STOP_MARGIN

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`; what follows from the declaration is read-only."""
        texts = {"type": "array", "items": {"type": "string"}}
        return {
            "type": "object",
            "properties": {
                "command": {"type": "string", "enum": sorted(self.commands)},
                "parameters": {"type": "object"},
                "argv": {**texts, "readOnly": True},
                "preview": {"type": ["array", "null"], "items": {"type": "string"}, "readOnly": True},
                "timeout": {"type": "number", "readOnly": True},
                "exit_codes": {"type": "array", "items": {"type": "integer"}, "readOnly": True},
                "programs": PROGRAMS,
            },
            "required": ["command"],
            "additionalProperties": False,
        }

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return the exact argument vector for a declared command.

        Args:
            text: `name parameter=value …` with quotes as in a shell; used where `arguments` names no command.
            arguments: `command` and `parameters`. What follows from them (`argv`, `preview`, `timeout` and
                `exit_codes`) may stand there only as it would be computed: editing it is never ignored.

        Raises:
            UnknownName: no such command is declared; the message lists those there are.
            BadInput: the text or a parameter can't be used.
        """
        for key in arguments:
            if key not in ("command", "parameters", *_DERIVED, *_FOUND):
                raise BadInput(Message('A command takes "command" and "parameters", not "{}".', one(str(key))))
        given = arguments.get("parameters") or {}
        if not isinstance(given, Mapping):
            raise BadInput(Message('"parameters" must be a table of names and values.'))
        if "command" in arguments:
            name, parameters = arguments["command"], dict(given)
        else:
            name, *words = command_words(text)
            self._declared(name)
            parameters = {**command_parameters(name, words), **given}
        bound = self._bound(self._declared(name), parameters)
        exact = cast(dict[str, Json], bound)
        for key in _DERIVED:
            if key in arguments and arguments[key] != exact[key]:
                raise BadInput(
                    Message(
                        '"{0}" follows from the declaration of "{1}" and can\'t be set; change "parameters" and '
                        'leave "{0}" out.',
                        key,
                        name,
                    )
                )
        return exact

    def programs(self, arguments: JsonObject) -> Mapping[str, str]:
        """Return what a bound command may execute, as it is now.

        Raises:
            UnknownName: it isn't declared any more; BadInput: it can't be bound or read.
        """
        given = {key: arguments[key] for key in ("command", "parameters") if key in arguments}
        return cast(CommandArguments, self.bind("", given)).get("programs", {})

    def risk_of(self, arguments: JsonObject) -> Risk:
        """Return the declared risk; high for a command that isn't declared (any more)."""
        name = arguments.get("command")
        declared = self.commands.get(name) if isinstance(name, str) else None
        return declared.risk if declared else Risk.HIGH

    def risk_reason(self, arguments: JsonObject) -> str:
        """Return what a command of declared medium risk runs."""
        declared = self.commands.get(str(arguments.get("command")))
        if declared is None or declared.risk is not Risk.MEDIUM:
            return ""
        return Message("runs {}, as hitl.toml declares", Path(declared.run[0]).name)

    def declared_as(self, arguments: JsonObject) -> str:
        """Return the digest of what a command's declaration puts around its parameters."""
        declared = self.commands.get(str(arguments.get("command")))
        return digest([list(declared.run), list(declared.preview or ())]) if declared else ""

    def retries_of(self, arguments: JsonObject) -> int:
        """Return how often a command is declared to be tried again."""
        declared = self.commands.get(str(arguments.get("command")))
        return declared.retries if declared else 0

    def optional_for(self, arguments: JsonObject) -> bool:
        """Return whether a command is declared to be optional."""
        declared = self.commands.get(str(arguments.get("command")))
        return declared is not None and declared.optional

    def changes_nothing(self, arguments: JsonObject) -> bool:
        """Return whether a command is declared to be of low risk."""
        return self.risk_of(arguments) is Risk.LOW

    async def preview(self, arguments: JsonObject, context: PreviewContext) -> OutputPreview | None:
        """Run the declared preview of bound arguments: read-only by its declaration, never an effect.

        At most 64 KiB of each stream are kept.

        Raises:
            BadInput: the declaration changed, a path leaves the workspace, or the program can't be started.
        """
        workspace, secrets = context.workspace, context.secrets
        declared = await asyncio.to_thread(self._check, arguments, workspace, secrets)
        if declared.preview is None:
            return None
        argv = list(cast(CommandArguments, arguments)["preview"] or ())
        outcome = await run_command(
            [with_values(part, secrets) for part in argv],
            workspace,
            PREVIEW_TIMEOUT,
            {**command_environment(secrets, os.environ), **_COMPILED_ELSEWHERE},
            limit=PREVIEW_LIMIT,
            secrets=secrets,
        )
        found: OutputPreview = {
            "argv": argv,
            "exit_code": outcome.exit_code,
            "text": (outcome.stdout + outcome.stderr).expandtabs(),
            "lines": outcome.stdout_lines,
            "truncated": outcome.truncated,
            "timed_out": outcome.timed_out,
        }
        if outcome.exit_code == 0 and not (outcome.truncated or outcome.timed_out or outcome.stderr):
            listed = await asyncio.to_thread(listed_files, outcome.stdout, workspace, argv)
            if listed is not None:
                found["files"], found["bytes"] = listed
        return found

    def build(self) -> TeamGraph:
        """Return the graph check → run → report."""
        return in_steps(
            CommandState, ("check", self._check_node), ("run", self._run_node), ("report", self._report_node)
        )

    async def _check_node(self, state: CommandState, runtime: Runtime[TeamContext]) -> CommandState:
        context = runtime.context
        await asyncio.to_thread(self._check, context.task.arguments, context.workspace, context.secrets)
        return {}

    async def _run_node(self, state: CommandState, runtime: Runtime[TeamContext]) -> CommandState:
        context = runtime.context
        arguments = cast(CommandArguments, context.task.arguments)
        argv = list(arguments["argv"])

        async def act() -> dict[str, Json]:
            # Once more: days may lie between the check and this, and links may have changed.
            await asyncio.to_thread(self._check, context.task.arguments, context.workspace, context.secrets)
            outcome = await run_command(
                [with_values(part, context.secrets) for part in argv],
                context.workspace,
                arguments["timeout"],
                command_environment(context.secrets, os.environ),
                on_line=lambda _, line: context.progress(line.expandtabs()),
                lock_fd=context.lock_fd,
                secrets=context.secrets,
                notes=NOTES[context.task.language],
            )
            refuse_failure(arguments, outcome, context.secrets)
            return outcome.to_dict()

        outcome = await context.effects("run", {"argv": argv, "cwd": "."}, act)
        return {"outcome": dict(outcome)}

    async def _report_node(self, state: CommandState, runtime: Runtime[TeamContext]) -> CommandState:
        context = runtime.context
        result = report(
            cast(CommandArguments, context.task.arguments),
            state["outcome"],
            context.secrets,
            context.task.language,
            self.commands,
        )
        return {"outcome": {}, "result": result.to_dict()}

    def _declared(self, name: object) -> CommandDeclaration:
        if not isinstance(name, str) or not name:
            raise BadInput(Message('"command" must be the name of a declared command.'))
        declared = self.commands.get(name)
        if declared is None:
            raise unknown_name(Message("declared command"), name, self.commands)
        return declared

    def _bound(self, declared: CommandDeclaration, parameters: JsonObject) -> CommandArguments:
        exact = self._exact(declared, parameters)
        programs = self._programs(declared, exact, Path(declared.folder)) if declared.folder else {}
        return {"programs": programs, **exact} if programs else exact

    def _programs(self, declared: CommandDeclaration, exact: CommandArguments, workspace: Path) -> dict[str, str]:
        argvs = [argv for argv in (exact["argv"], exact["preview"]) if argv]
        path = command_environment({}, os.environ)["PATH"]
        return self.bindings.command(declared, argvs, workspace, path, self._around)

    @staticmethod
    def _exact(declared: CommandDeclaration, parameters: JsonObject) -> CommandArguments:
        expanded = declared.expand(parameters)
        return {
            "command": declared.name,
            "parameters": dict(expanded.parameters),
            "argv": list(expanded.argv),
            "preview": None if expanded.preview is None else list(expanded.preview),
            "timeout": float(declared.timeout),
            "exit_codes": list(declared.exit_codes),
        }

    def _check(self, arguments: JsonObject, workspace: Path, secrets: Mapping[str, str]) -> CommandDeclaration:
        """Return the declaration when the approved arguments are still what it says.

        Raises:
            BadInput: they are not, or a path parameter leads out of the workspace.
        """
        name = arguments.get("command")
        declared = self.commands.get(name) if isinstance(name, str) else None
        if declared is None:
            raise BadInput(Message('hitl.toml no longer declares the command "{}", so it was not run.', one(str(name))))
        parameters = arguments.get("parameters") or {}
        exact = self._exact(declared, parameters if isinstance(parameters, Mapping) else {})
        if exact["argv"] != arguments.get("argv") or exact["preview"] != arguments.get("preview"):
            raise BadInput(
                Message('The declaration of "{}" changed since it was approved, so it was not run; ask again.', name)
            )
        values = {k: with_values(v, secrets) if isinstance(v, str) else v for k, v in exact["parameters"].items()}
        refuse_outside(declared, values, workspace)
        approved = cast(CommandArguments, arguments).get("programs") or {}
        now = self._programs(declared, exact, workspace)
        if not declared.folder:  # it was bound where nobody knew the workspace
            now = {path: now[path] for path in approved if path in now}
        elif WHOLE not in now:  # a file that turned into a program meanwhile is named by nobody
            now = {path: known for path, known in now.items() if path in approved}
        self.refuse_changed(approved, now)
        return declared


def teams(sources: TeamSources) -> list[Team]:
    """Return the command team, for the commands that a workspace declares."""
    return [CommandTeam(sources.config.commands, sources.bindings, sources.around)]


def _summary(language: str, name: str, outcome: Mapping[str, Any], argv: Sequence[str], expected: Sequence[str]) -> str:
    """Return what a command deleted, what of it was expected, or what it printed, in a line.

    Lines that are indented go with the one above. Of many others the last is named, which often is a total.
    """
    words, printed = _WORDS[language], str(outcome["stdout"])
    run = Run("", name, tuple(argv), printed, all_lines=lines_of_cut(outcome))
    code = words["code"].format(code=outcome["exit_code"]) if outcome["exit_code"] else ""
    code += f" ({left})" if (left := _left_words(outcome, language)) else ""
    if gone := deletion(run, language, _clipped):
        return words["said"].format(name=name, said="; ".join([gone, *expected])) + code
    if expected:
        return words["said"].format(name=name, said="; ".join(expected)) + code
    lines = [line.expandtabs() for line in run.lines]
    heads = [line.strip() for line in lines if line[:1] != " "] or [line.strip() for line in lines]
    said = "; ".join(heads)
    if len(heads) <= _FEW_HEADS and len(said) <= _SUMMARY:
        return words["said" if heads else "silent"].format(name=name, said=_clipped(said)) + code
    count = run.line_count
    counted = words["line" if count == 1 else "lines"].format(lines=count)
    return words["more"].format(name=name, counted=counted, last=_clipped(heads[-1])) + code


def _left_words(outcome: Mapping[str, Any], language: str) -> str:
    """Return what is said of processes that a command left running; empty where there were none."""
    words, n = _WORDS[language], outcome.get("left", 0)
    return words["left"].format(left=words["process" if n == 1 else "processes"].format(n=n)) if n else ""


def _clipped(text: str) -> str:
    """Return what was printed as a summary has it: in one line, bounded, and as it is."""
    return clip(" ".join(text.split()), _SUMMARY)


def command_words(text: str) -> list[str]:
    """Split `name parameter=value …` with quotes as in a shell; nothing else of a shell exists here.

    Raises:
        BadInput: a quote stays open, or there is nothing.
    """
    try:
        words = shell_words(text)
    except ValueError as error:
        raise BadInput(Message("This command line can't be read: {}.", str(error).lower())) from error
    if not words:
        raise BadInput(Message("Say which declared command to run, as in: name parameter=value."))
    return words


def command_parameters(name: str, words: Sequence[str]) -> dict[str, str]:
    """Read the `parameter=value` words that follow a command's name.

    Raises:
        BadInput: a word is something else, or a parameter comes twice.
    """
    parameters: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise BadInput(
                Message('After the command "{}" come parameters as name=value, not "{}".', one(name), one(word))
            )
        if key in parameters:
            raise BadInput(Message('The parameter "{}" is given twice.', one(key)))
        parameters[key] = value
    return parameters


def refuse_failure(arguments: CommandArguments, outcome: CommandOutcome, secrets: Mapping[str, str]) -> None:
    """Check that a command ended as declared.

    Raises:
        TeamFailure: it was stopped, a signal ended it, or its exit code doesn't count as success.
    """
    if not outcome.timed_out and outcome.exit_code in arguments["exit_codes"]:
        return
    lines = [line.strip() for line in outcome.stderr.splitlines() if line.strip()]
    name, last = arguments["command"], one(lines[-1], 200).rstrip(".") if lines else ""
    if outcome.timed_out:
        seconds = f"{arguments['timeout']:g}"
        message = (
            Message('The command "{}" was stopped because its time, {} s, was up: {}.', name, seconds, last)
            if last
            else Message('The command "{}" was stopped because its time, {} s, was up.', name, seconds)
        )
    elif outcome.signal:
        message = (
            Message('The command "{}" was ended by {}: {}.', name, outcome.signal, last)
            if last
            else Message('The command "{}" was ended by {}.', name, outcome.signal)
        )
    else:
        message = (
            Message('The command "{}" ended with exit code {}: {}.', name, outcome.exit_code, last)
            if last
            else Message('The command "{}" ended with exit code {}.', name, outcome.exit_code)
        )
    data = {"argv": [mask(part, secrets) for part in arguments["argv"]], **outcome.to_dict()}
    raise TeamFailure(message, data=data)


def report(
    arguments: CommandArguments,
    outcome: Mapping[str, Any],
    secrets: Mapping[str, str],
    language: str = "en",
    commands: Mapping[str, CommandDeclaration] = MappingProxyType({}),
) -> TeamResult:
    """Return what a person and other teams get of a command that ended well.

    Args:
        arguments: what was approved.
        outcome: as `CommandOutcome.to_dict` gives it.
        secrets: values that are masked, by name.
        language: of what a person reads, `ko` or `en`.
        commands: the declarations, which say what each is called.
    """
    name, words = arguments["command"], _WORDS[language]
    declared = commands.get(name)
    title = declared.titles.get(language, name) if declared is not None else name
    argv = [mask(part, secrets) for part in arguments["argv"]]
    line = fenced(shlex.join(argv))
    output = None if outcome.get("declared_done") else str(outcome["stdout"])
    expected = judged(declared.expect if declared is not None else {}, output, language)
    met, missed = ([one.said for one in expected if bool(one.met) is so] for so in (True, False))
    known: dict[str, Any] = {"command": name, "title": title, "argv": argv}
    known |= {"judged": [one.figure for one in expected], "met": met, "missed": missed} if expected else {}
    if outcome.get("declared_done"):
        parts = [line, words["declared_done"]]
        return TeamResult(
            text=f"{_with_list(parts, missed)}\n",
            data={**known, "declared_done": True, BRIEF: Brief(answer=_with_list(parts, ())).to_dict()},
            summary=f"{title}: {words['by_hand']}",
            missed=tuple(missed) if expected else None,
        )
    code, duration = outcome["exit_code"], outcome["duration"]
    left = _left_words(outcome, language)
    ended = words["ended"].format(code=code, duration=duration)
    parts = [line, f"{ended} {left[0].upper()}{left[1:]}." if left else ended]
    printed = {key: str(outcome[key]).expandtabs() for key in ("stdout", "stderr") if str(outcome[key]).strip()}
    parts += [f"{words[key]}\n\n{fenced(text)}" for key, text in printed.items()] or [words["nothing"]]
    # The answer says what was missed before all else; its brief doesn't repeat that.
    text, told = (_with_list(parts, said) for said in ([one.said for one in expected], met))
    summary = _summary(language, title, outcome, argv, [one.said for one in expected])
    said = "".join(printed.values())
    short = len(said) <= _SHORT_CHARS and said.count("\n") <= _SHORT_LINES
    brief = Brief(answer=told)
    if not short:
        brief = Brief(answer=_summary(language, title, outcome, argv, met), evidence=(Block(text),))
    return TeamResult(
        text=f"{text}\n",
        data={**known, **outcome, BRIEF: brief.to_dict()},
        summary=summary,
        missed=tuple(missed) if expected else None,
    )


def _with_list(parts: Sequence[str], listed: Sequence[str]) -> str:
    """Return parts of a text, the second of them followed by a list."""
    items = ["\n".join(f"- {literal(text)}" for text in listed)] if listed else []
    return "\n\n".join([*parts[:2], *items, *parts[2:]])
