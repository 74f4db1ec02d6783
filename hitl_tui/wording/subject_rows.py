"""What exactly would run, be written into the plan or have happened, as rows: the subject of a question. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hitl_tui.core.interrupts.shape import label_line
from hitl_tui.core.json_text import is_json
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.safe_text import safe_text
from hitl_tui.terminal.ascii_signs import _, signs
from hitl_tui.wording.markdown_text import is_markdown, rendered_markdown
from hitl_tui.wording.rows import Row, in_line, joined, labelled
from hitl_tui.wording.status_words import number_of, risk_words

_DERIVED = ("argv", "preview", "exit_codes", "timeout", "command", "parameters", "programs")
_SHOWN_HASH = 12
_PATH = re.compile(r"[\w./-]+")
_ESCAPED = re.compile(r"\\r\\n|\\.")
_RELATIVE = ("documents", "path")
"""Arguments that name files relative to the workspace."""


def command_line(argv: Iterable[object]) -> str:
    """Return an argument vector, quoted so that every space and empty argument is visible; no shell reads it."""
    return safe_text(shlex.join(str(part) for part in argv), multiline=False)


def input_rows(arguments: JsonObject, task: str, workspace: str) -> list[Row]:
    """Return the exact input of a step: the argument vector of a command, else task and arguments whole."""
    return [*runs(arguments, task), *limits(arguments, workspace)]


def runs(arguments: Mapping[str, Any], task: str, settings: Sequence[str] | None = None) -> Iterable[Row]:
    """What would run.

    Args:
        arguments: the exact input.
        task: what the step is to do, in words.
        settings: arguments that are left out, because its team would have put them so; None where that isn't known.
    """
    if isinstance(arguments.get("argv"), list):
        yield labelled(_("runs"), command_line(arguments["argv"]), "bold", exact=True)
        yield from argument_rows({k: v for k, v in arguments.items() if k not in _DERIVED})
        return
    if _programs(arguments):
        arguments = {k: v for k, v in arguments.items() if k != "programs"}
    own = {k: v for k, v in arguments.items() if settings is None or k not in settings}
    told = not task or _given(task, arguments.values()) or (settings is not None and any(texts_in(own)))
    if not told:  # else the arguments say it, and exactly
        yield labelled(_("task"), safe_text(task), "bold")
    whole = own.get("input")
    if settings is not None and len(own) == 1 and isinstance(whole, Mapping) and whole:
        own = {str(name): value for name, value in whole.items()}
    yield from argument_rows(own, task)


def argument_rows(arguments: Mapping[str, Any], task: str = "") -> Iterable[Row]:
    """Return a row for each argument, the one that is the task itself in bold."""
    for key, value in arguments.items():
        if key in _RELATIVE:
            yield labelled(label_line(str(key)), _paths(value), exact=True)
        else:
            yield value_row(label_line(str(key)), value, value_text(value), "bold" if value == task else "")


def value_row(label: str, value: object, shown: str, style: str = "") -> Row:
    """Return a row for a value, Markdown rendered.

    Args:
        label: its name.
        value: the value.
        shown: as `value_text` gives it.
        style: of it.
    """
    if isinstance(value, str) and is_markdown(value):
        return Row(label, rendered_markdown(shown), exact=True)
    return labelled(label, shown, style, exact=True)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text with something in it that a JSON value holds, its keys aside."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_in(part)


_DELETING = frozenset({"rm", "rmdir", "unlink", "shred"})


def deletes(argv: object) -> bool:
    """Return whether an argument vector is that of a program that deletes files: `rm`, or `find` with `-delete`."""
    if not isinstance(argv, list | tuple) or not argv:
        return False
    words = [str(part) for part in argv]
    program = words[0].rsplit("/", 1)[-1]
    if program != "find":
        return program in _DELETING
    run = {words[n + 1].rsplit("/", 1)[-1] for n, word in enumerate(words[:-1]) if word.startswith(("-exec", "-ok"))}
    return "-delete" in words or bool(run & _DELETING)


def _paths(value: Any) -> str:
    """Return paths as people write them where none of them needs quotation marks."""
    listed = isinstance(value, list) and value and all(isinstance(p, str) and _PATH.fullmatch(p) for p in value)
    return " ".join(value) if listed else value_text(value)


def _programs(arguments: Mapping[str, object]) -> Mapping[str, str]:
    """Return the SHA-256 of the files that a command or graph runs, by path: a row each says it in short."""
    found = arguments.get("programs")
    if not isinstance(found, Mapping) or not ("argv" in arguments or "input" in arguments):
        return {}
    return found if all(isinstance(value, str) for value in found.values()) else {}


def is_graph_input(arguments: Mapping[str, object]) -> bool:
    """Return whether these are the arguments of a step that starts a graph which somebody else wrote."""
    return "input" in arguments and "argv" not in arguments and isinstance(arguments.get("programs"), Mapping)


def _given(task: str, values: Iterable[Any]) -> bool:
    """Return whether a task stands among the arguments already, as it is or as the JSON that it spells."""
    values = list(values)
    if task in values:
        return True
    try:
        spelled = _canonical(json.loads(task))
    except (ValueError, RecursionError):
        return False
    return any(spelled == _canonical(value) for value in values if isinstance(value, dict | list))


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def limits(arguments: Mapping[str, Any], workspace: str) -> Iterable[Row]:
    """In which folder a step would work, and within which limits a command would run."""
    command = isinstance(arguments.get("argv"), list)
    if workspace and (command or any(name in arguments for name in _RELATIVE)):
        yield labelled(_("in"), in_line(workspace))
    for path, known in _programs(arguments).items():
        yield labelled(_("program"), joined(in_line(path), f"sha256 {known[:_SHOWN_HASH]}"), exact=True)
    if not command:
        return
    parameters = arguments.get("parameters") or {}
    if parameters:
        yield labelled(
            _("with"), " ".join(f"{label_line(str(k))}={_json(v)}" for k, v in parameters.items()), exact=True
        )
    limit = arguments.get("timeout")
    yield labelled(
        _("limits"),
        _("{limit:g} s; exit codes {value}").format(limit=limit, value=_codes(arguments.get("exit_codes")))
        if limit
        else _("no time limit"),
    )


def _codes(codes: Json) -> str:
    return ", ".join(map(str, codes)) if isinstance(codes, list | tuple) else in_line(str(codes))


def inputs(subject: Mapping[str, Any]) -> Iterable[Row]:
    """Which results of other steps it would get, with the beginnings of their digests."""
    # A command gets its arguments and nothing else; what it comes after stands with its dependencies.
    command = isinstance((subject.get("arguments") or {}).get("argv"), list)
    if (used := subject.get("inputs")) and not command:
        known = ", ".join(f"{number_of(k)} ({v[:8] if v else _('not there yet')})" for k, v in used.items())
        yield labelled(_("uses"), _("results of {known}").format(known=known))


def effect_rows(effect: object) -> Iterable[Row]:
    """What may have happened; why it is in doubt stands above."""
    if not isinstance(effect, Mapping) or not isinstance(effect.get("subject"), Mapping):
        yield labelled(_("effect"), value_text(effect), exact=True)
    elif "stretch" in effect["subject"]:
        yield from _stretch_rows(effect["subject"])
    elif isinstance(argv := effect["subject"].get("argv"), list):
        yield labelled(_("ran"), command_line(argv), "bold", exact=True)
    else:
        yield from runs(effect["subject"], "")


def _stretch_rows(subject: JsonObject) -> Iterable[Row]:
    """A run of an attached graph, from its start or from the questions that were answered."""
    yield labelled(_("ran"), in_line(str(subject.get("graph", ""))), "bold")
    if answers := subject.get("answers"):
        yield labelled(_("with"), value_text(answers), exact=True)
    else:
        began = str(subject["stretch"]).startswith("start ")
        yield labelled(_("from"), _("its start") if began else _("where it stood"))


def effect_marks(effect: object) -> Iterable[Row]:
    """What is on record of it besides: where and how it ran, its name and key. It helps nobody decide."""
    if not isinstance(effect, Mapping) or not isinstance(effect.get("subject"), Mapping):
        return
    rest = {k: v for k, v in effect["subject"].items() if k != "argv"} if "argv" in effect["subject"] else {}
    for key, value in (*rest.items(), *((k, v) for k, v in effect.items() if k not in ("subject", "why", "options"))):
        yield labelled(label_line(str(key)), value_text(value), "$text-muted", exact=True)


def step_rows(steps: Iterable[Mapping[str, Any]]) -> Iterable[Row]:
    """The steps of a plan that waits for a word."""
    for step in steps:
        needs = " ".join(number_of(str(d)) for d in step.get("dependencies", ()))
        risk = str(step.get("risk", ""))
        arguments = step.get("arguments") or {}
        team = in_line(str(step.get("team", "")).removesuffix("_team")) + (signs(" ← ") + needs if needs else "")
        said = f"{team}  {safe_text(str(step.get('task', '')))}"
        yield labelled(number_of(str(step.get("todo", ""))), said, "bold")
        if risk and risk != "low":
            yield labelled(" ", risk_words(risk), "bold $text-error")
        if isinstance(arguments.get("argv"), list):
            yield labelled("  " + _("runs"), command_line(arguments["argv"]), exact=True)
        elif arguments:
            yield labelled("  " + _("with"), _spelled(_json(arguments)), "$text-muted", exact=True)


def change_rows(proposal: Mapping[str, Any], workspace: str) -> Iterable[Row]:
    """What a proposal would change in the plan."""
    for change in proposal.get("changes") or ():
        kind = str(change.get("kind", ""))
        todo = change.get("todo") or {}
        if todo:
            needs = " ".join(number_of(str(d)) for d in todo.get("dependencies", ()))
            team = in_line(str(todo.get("agent_name", "")))
            head = f"{number_of(str(todo.get('id', '')))} {team}" + (signs(" ← ") + needs if needs else "")
            yield labelled(in_line(kind), head, "bold")
            yield from input_rows(todo.get("arguments") or {}, str(todo.get("description", "")), workspace)
        else:
            rest = {k: v for k, v in change.items() if k != "kind"}
            said = " ".join(f"{label_line(str(k))}={_json(v)}" for k, v in rest.items())
            yield labelled(in_line(kind), _spelled(said), "bold", exact=True)
    if proposal.get("text"):
        yield labelled(_("asked for"), safe_text(str(proposal["text"])))


def value_text(value: object) -> str:
    """Return a JSON value as a person reads it, the line breaks of its texts as such.

    A text stays as it is where it can't pass for another value; it is quoted where it could, as JSON quotes it.
    """
    if isinstance(value, str):
        text = value.replace("\r\n", "\n")
        plain = text.strip() == text if "\n" not in text else bool(text.strip())
        return safe_text(text.rstrip("\n") if plain and text and not is_json(text) else _spelled(json_of(text)))
    short = json_of(value)
    return safe_text(short if len(short) <= 60 and r"\n" not in short else _spelled(json_of(value, indent=2)))


def json_of(value: object, indent: int | None = None) -> str:
    """Return a value as JSON that reads as text does: no letter is escaped."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _spelled(written: str) -> str:
    """Return JSON with each line feed of its texts as such, the next line beneath its text."""
    return "\n".join(
        _ESCAPED.sub(partial(_broken, " " * (len(line) - len(line.lstrip()))), line) for line in written.split("\n")
    )


def _broken(indent: str, escape: re.Match[str]) -> str:
    return f"\n{indent}" if escape[0] in (r"\n", r"\r\n") else escape[0]


def _json(value: Json) -> str:
    """Return a JSON value in one safe line, every text in it in quotation marks."""
    return in_line(json.dumps(value, ensure_ascii=False))
