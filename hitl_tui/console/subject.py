"""What exactly would run, be written into the plan or have happened, as rows: the subject of a question. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from hitl_tui.console.rows import Row, in_line, labelled
from hitl_tui.console.words import number_of, risk_words
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _

_DERIVED = ("argv", "preview", "exit_codes", "timeout", "command", "parameters")
_LONG = 40
"""Characters from which on a value that stands in the task already isn't written there again."""


def command_line(argv: Iterable[object]) -> str:
    """Return an argument vector, quoted so that every space and empty argument is visible; no shell reads it."""
    return safe_text(shlex.join(str(part) for part in argv), multiline=False)


def input_rows(arguments: Mapping[str, Any], task: str, workspace: str) -> list[Row]:
    """Return the exact input of a step: the argument vector of a command, else task and arguments whole."""
    return [*runs(arguments, task), *limits(arguments, workspace)]


def runs(arguments: Mapping[str, Any], task: str) -> Iterable[Row]:
    """What would run."""
    if isinstance(arguments.get("argv"), list):
        yield labelled(_("runs"), command_line(arguments["argv"]), "bold", exact=True)
        arguments = {k: v for k, v in arguments.items() if k not in _DERIVED}
    elif task and task not in arguments.values():
        yield labelled(_("task"), safe_text(_without_repeats(task, arguments)), "bold")
    for key, value in arguments.items():
        yield labelled(in_line(str(key)), value_text(value), "bold" if value == task else "", exact=True)


def _without_repeats(task: str, arguments: Mapping[str, Any]) -> str:
    """Return a task in which the name of an argument stands for its value, which is shown whole by itself."""
    for key, value in arguments.items():
        if isinstance(value, str) and len(value) >= _LONG and value in task:
            task = task.replace(value, f"«{in_line(str(key))}»")
    return task


def limits(arguments: Mapping[str, Any], workspace: str) -> Iterable[Row]:
    """Where and within which limits a command would run."""
    if not isinstance(arguments.get("argv"), list):
        return
    yield labelled(_("in"), in_line(workspace))
    parameters = arguments.get("parameters") or {}
    if parameters:
        yield labelled(
            _("with"), in_line(" ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in parameters.items()))
        )
    limit = arguments.get("timeout")
    yield labelled(
        _("limits"),
        _("{limit:g} s; exit codes {value}").format(limit=limit, value=arguments.get("exit_codes"))
        if limit
        else _("no time limit"),
    )


def inputs(subject: Mapping[str, Any]) -> Iterable[Row]:
    """Which results of other steps it would get, with the beginnings of their digests."""
    if used := subject.get("inputs"):
        known = ", ".join(f"{number_of(k)} ({v[:8] if v else _('not there yet')})" for k, v in used.items())
        yield labelled(_("uses"), _("results of {known}").format(known=known))


def effect_rows(effect: Any) -> Iterable[Row]:
    """What may have happened; why it is in doubt stands above."""
    if not isinstance(effect, Mapping) or not isinstance(effect.get("subject"), Mapping):
        yield labelled(_("effect"), value_text(effect), exact=True)
    elif isinstance(argv := effect["subject"].get("argv"), list):
        yield labelled(_("ran"), command_line(argv), "bold", exact=True)
    else:
        yield from runs(effect["subject"], "")


def effect_marks(effect: Any) -> Iterable[Row]:
    """What is on record of it besides: where and how it ran, its name and key. It helps nobody decide."""
    if not isinstance(effect, Mapping) or not isinstance(effect.get("subject"), Mapping):
        return
    rest = {k: v for k, v in effect["subject"].items() if k != "argv"} if "argv" in effect["subject"] else {}
    for key, value in (*rest.items(), *((k, v) for k, v in effect.items() if k not in ("subject", "why", "options"))):
        yield labelled(in_line(str(key)), value_text(value), "$text-muted", exact=True)


def step_rows(steps: Iterable[Mapping[str, Any]]) -> Iterable[Row]:
    """The steps of a plan that waits for a word."""
    for step in steps:
        needs = " ".join(number_of(str(d)) for d in step.get("dependencies", ()))
        risk = str(step.get("risk", ""))
        arguments = step.get("arguments") or {}
        task = _without_repeats(str(step.get("task", "")), arguments)
        head = f"{in_line(str(step.get('team', '')).removesuffix('_team'))}  {safe_text(task)}"
        yield labelled(number_of(str(step.get("todo", ""))), head + (f"  ← {needs}" if needs else ""), "bold")
        if risk and risk != "low":
            yield labelled(" ", risk_words(risk), "bold $text-error")
        if isinstance(arguments.get("argv"), list):
            yield labelled(" ", command_line(arguments["argv"]), exact=True)
        elif arguments:
            yield labelled(
                " ", "  ".join(f"{in_line(str(k))}: {_plain(v)}" for k, v in arguments.items()), "$text-muted"
            )


def change_rows(proposal: Mapping[str, Any]) -> Iterable[Row]:
    """What a proposal would change in the plan."""
    for change in proposal.get("changes") or ():
        kind = str(change.get("kind", ""))
        todo = change.get("todo") or {}
        if todo:
            needs = " ".join(number_of(str(d)) for d in todo.get("dependencies", ()))
            team = in_line(str(todo.get("agent_name", "")))
            head = f"{number_of(str(todo.get('id', '')))} {team}" + (f" ← {needs}" if needs else "")
            yield labelled(in_line(kind), head, "bold")
            yield from input_rows(todo.get("arguments") or {}, str(todo.get("description", "")), "")
        else:
            rest = {k: v for k, v in change.items() if k != "kind"}
            yield labelled(in_line(kind), in_line(" ".join(f"{k}={v}" for k, v in rest.items())), "bold")
    if proposal.get("text"):
        yield labelled(_("asked for"), safe_text(str(proposal["text"])))


def value_text(value: Any) -> str:
    """Return a JSON value: text as it is when nothing about it is in doubt, else as JSON."""
    if isinstance(value, str) and value.strip() == value and value:
        return safe_text(value)
    short = json.dumps(value, ensure_ascii=False)
    return safe_text(short if len(short) <= 60 else json.dumps(value, ensure_ascii=False, indent=2))


def _plain(value: Any) -> str:
    """Return a JSON value in one line; text without quotes when nothing about it is in doubt."""
    return in_line(
        value if isinstance(value, str) and value.strip() == value else json.dumps(value, ensure_ascii=False)
    )
