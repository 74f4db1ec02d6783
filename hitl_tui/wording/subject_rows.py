"""What exactly would run, be written into the plan or have happened, as rows: the subject of a question. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from hitl_tui.core.given_values import given_values, is_held
from hitl_tui.core.interrupts.shape import label_line
from hitl_tui.core.json_text import is_json, texts_in
from hitl_tui.core.json_types import Json, JsonObject, StepNamed
from hitl_tui.core.names import plain_name, step_name
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.todos import Priority
from hitl_tui.language import mark, safe_message
from hitl_tui.terminal.ascii_signs import _, signs
from hitl_tui.wording.markdown_text import is_markdown, rendered_markdown
from hitl_tui.wording.rows import Row, in_line, joined, labelled, short
from hitl_tui.wording.status_words import number_of, risk_words

_DERIVED = ("argv", "preview", "exit_codes", "timeout", "command", "parameters", "programs")
_BESIDE = ("context", "config")
"""What a graph gets beside its input."""
_SHOWN_HASH = 12
_PATH = re.compile(r"[\w./-]+")
_ESCAPED = re.compile(r"\\r\\n|\\.")
DOCUMENTS, WHOLE_FOLDER = "documents", mark("the whole folder")
"""The argument that names what is searched, and how all of it reads."""
_RELATIVE = (DOCUMENTS, "path")
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
    if arguments.keys() == {"command", "parameters"} and isinstance(arguments["parameters"], Mapping):  # not yet whole
        yield labelled(_("runs"), in_line(str(arguments["command"])), "bold", exact=True)
        yield from argument_rows(arguments["parameters"])
        return
    if is_call(arguments):
        yield labelled(_("calls"), in_line(str(arguments["calls"])), "bold", exact=True)
        yield from argument_rows(arguments["input"])
        return
    if _programs(arguments):
        arguments = {k: v for k, v in arguments.items() if k != "programs"}
    own = {k: v for k, v in arguments.items() if settings is None or k not in settings}
    told = not task or _given(task, arguments.values()) or (settings is not None and any(texts_in(own)))
    if not told:  # else the arguments say it, and exactly
        yield labelled(_("task"), safe_text(task), "bold")
    whole = own.get("input")
    beside = {k: v for k, v in own.items() if k in _BESIDE and "input" in own}
    if settings is not None and len(own) == 1 + len(beside) and isinstance(whole, Mapping) and whole:
        yield from argument_rows({str(name): value for name, value in whole.items()}, task, own=True)
        yield from argument_rows(beside)
        return
    yield from argument_rows(own, task)


_ARGUMENTS: Mapping[str, str] = {
    "query": mark("query"),
    "analysis_type": mark("analysis"),
    "today": mark("as of"),
    "documents": mark("documents"),
    "limit": mark("limit"),
    "title": mark("title"),
    "path": mark("path"),
    "if_exists": mark("if it exists"),
    "input": mark("input"),
    "thread": mark("goes on from"),
    "context": mark("context"),
    "config": mark("config"),
}
"""Arguments of the teams that come with the program, in words; others are called as their team calls them."""
_KEPT_VALUES = frozenset({mark("a number is added")})
"""Values that a team of ours puts, in words of ours; `_` translates them."""
_ANALYSES: Mapping[str, str] = {
    "comprehensive": mark("whatever can be computed"),
    "change": mark("changes only"),
    "limits": mark("limits only"),
    "tables": mark("a query of the tables"),
}
"""Types of an analysis, in words."""


def argument_rows(arguments: Mapping[str, Any], task: str = "", *, own: bool = False) -> Iterable[Row]:
    """Return a row for each argument, the one that is the task itself in bold.

    Args:
        arguments: by name.
        task: what the step is to do, in words.
        own: they are fields of somebody's graph, which names them.
    """
    for key, value in arguments.items():
        label = own_label(str(key)) if own else argument_label(str(key))
        if key in _RELATIVE:
            yield labelled(label, _paths(value), exact=True)
        elif not own and isinstance(value, str) and value in _KEPT_VALUES:
            yield labelled(label, _(value))
        elif not own and isinstance(value, str) and (said := value_words(str(key), value)) != value:
            yield labelled(label, said)
        else:
            yield value_row(label, value, value_text(value), "bold" if value == task else "")


def value_words(name: str, value: str) -> str:
    """Return what one of the values that an argument of a team of ours may have is called; others stay as they are."""
    if name == "thread":
        return in_line(step_name(value))
    return _(_ANALYSES[value]) if name == "analysis_type" and value in _ANALYSES else value


def argument_label(name: str) -> str:
    """Return what an argument is called; a name that reads like one of our words stands in quotation marks."""
    if name in _ARGUMENTS:
        return _(_ARGUMENTS[name])
    label = own_label(name)
    return json_of(label) if label in map(_, _ARGUMENTS.values()) else label


_COMMON = frozenset(
    {
        *(mark("service"), mark("days"), mark("hours"), mark("count"), mark("amount"), mark("date"), mark("name")),
        *(mark("request"), mark("action"), mark("to"), mark("subject"), mark("text"), mark("body"), mark("message")),
        *(mark("file"), mark("folder"), mark("user"), mark("reason"), mark("price"), mark("id"), mark("at_most")),
    }
)
"""Names that parameters and fields of others often have."""


def own_label(name: str) -> str:
    """Return what a parameter or field of somebody else is called: its own name, with a word of the person's language
    before a common one."""
    label, word = label_line(name), _(name) if name in _COMMON else name
    return label if word == name else f"{word} ({label})"


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


def risk_of_run(risk: str, argv: object, reason: str = "") -> str:
    """Return a class of risk in words, and what is risky about a run where that can be told.

    Args:
        risk: the class.
        argv: what would run.
        reason: why it is of that class, as its team says.
    """
    if risk == "high" and deletes(argv):
        return _("RISKY: deletes files")
    words = in_line(risk_words(risk))
    return f"{words.partition(':')[0]}: {safe_message(reason, multiline=False)}" if reason and risk != "low" else words


def _paths(value: Any) -> str:
    """Return paths as people write them where none of them needs quotation marks; `.` is the folder itself."""
    if value == ["."]:
        return _(WHOLE_FOLDER)
    if value == _(WHOLE_FOLDER):
        return json_of(value)
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
    known = "argv" in arguments or is_call(arguments)
    return "input" in arguments and not known and isinstance(arguments.get("programs"), Mapping)


def is_call(arguments: Mapping[str, object]) -> bool:
    """Return whether these are the arguments of a step that calls a function or tool which somebody else wrote."""
    return isinstance(arguments.get("calls"), str) and isinstance(arguments.get("input"), Mapping)


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


def limits(arguments: Mapping[str, Any], workspace: str, *, digests: bool = True) -> Iterable[Row]:
    """In which folder a step would work, and within which limits a command would run.

    Args:
        arguments: of the step.
        workspace: the folder.
        digests: files that an approval binds stand there with the beginnings of their digests.
    """
    command = isinstance(arguments.get("argv"), list)
    if workspace and (command or any(name in arguments for name in _RELATIVE)):
        yield labelled(_("in"), in_line(workspace))
    for path, known in _programs(arguments).items():
        name = _("all files of the folder") if path == "." else in_line(path)
        said = _("{files} as it is now") if path != "." else _("{files} as they are now")
        known = f"sha256 {known[:_SHOWN_HASH]}" if digests else ""
        yield labelled(_("holds for"), joined(said.format(files=name), known), exact=True)
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
        _("stopped after {limit:g} s; done if its exit code is {value}").format(
            limit=limit, value=_codes(arguments.get("exit_codes"))
        )
        if limit
        else _("no time limit"),
    )


def _codes(codes: Json) -> str:
    return ", ".join(map(str, codes)) if isinstance(codes, list | tuple) else in_line(str(codes))


def state_rows(subject: Mapping[str, Any]) -> Iterable[Row]:
    """Return what a person changed in the state that a step goes on with, whole, and who that was."""
    if not (said := state_changes(subject)):
        return
    yield labelled(_("changes"), "\n".join(said), "bold", exact=True)
    if by := (subject.get("from_step") or {}).get("by"):
        yield labelled(_("changed by"), in_line(plain_name(str(by))))


def state_changes(subject: Mapping[str, Any]) -> list[str]:
    """Return what becomes of the state that a step goes on with, a safe line for each value: `amount: 5 → 82000`."""
    step = subject.get("from_step") or {}
    values = step.get("values") or {}
    changes = step.get("changes") or [{"name": name, "after": value} for name, value in values.items()]
    return [change_line(change, was="changes" in step) for change in changes]


def change_line(change: Mapping[str, Any], *, was: bool = True) -> str:
    """Return what becomes of a value of a state, in a safe line; `was`: what it was before is known."""
    name, nothing = label_line(str(change["name"])), _("nothing")
    before, after = (_whole(change[side]) if side in change else nothing for side in ("before", "after"))
    line = f"{name}: {before} → {after}" if was else f"{name}: {after}"
    if change.get("reduced"):
        kept = "before" in change and change["before"] == change.get("after")
        how = _("the field's reducer keeps it") if kept else _("the field's reducer makes this of what was given")
        return f"{line} ({how})"
    return line


def _whole(value: Json) -> str:
    return safe_text(json.dumps(value, ensure_ascii=False), multiline=False)


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
        yield from _segment_rows(effect["subject"], effect)
    elif isinstance(argv := effect["subject"].get("argv"), list):
        yield labelled(_("ran"), command_line(argv), "bold", exact=True)
    else:
        yield from runs(effect["subject"], "")


def _segment_rows(subject: JsonObject, effect: Mapping[str, Any]) -> Iterable[Row]:
    """A run of an attached graph, from its start or from the questions that were answered, and how far it is known."""
    yield labelled(_("ran"), in_line(str(subject.get("graph", ""))), "bold")
    answered, began = subject.get("answers"), str(subject["stretch"]).startswith("start ")
    place = _("what it asked, once that was answered") if answered else _("its start") if began else _("where it stood")
    yield labelled(_("from"), place)
    for answer in effect.get("answers") or ():
        yield labelled(_("answered"), value_text(answer), "bold", exact=True)
    if nodes := effect.get("nodes"):
        yield labelled(_("cut off in"), in_line(", ".join(map(str, nodes))), "bold")


def effect_line(subject: object) -> str:
    """Return what an effect did, in one safe line: a command line, the graph that ran, else each value by its name."""
    if not isinstance(subject, Mapping):
        return short(subject)
    if isinstance(argv := subject.get("argv"), list):
        return one_line(command_line(argv), _LINE)
    if "stretch" in subject:
        return one_line(in_line(str(subject.get("graph", "")).rpartition("/")[2]), _LINE)
    return one_line(joined(*(f"{argument_label(str(k))} {in_line(value_text(v))}" for k, v in subject.items())), _LINE)


_LINE = 300
"""Cells of an effect in a list."""


_SHOWN_OF_EFFECT = frozenset({"subject", "why", "options", "answers", "nodes"})


def effect_marks(effect: object) -> Iterable[Row]:
    """What is on record of it besides: where and how it ran, its name and key. It helps nobody decide."""
    if not isinstance(effect, Mapping) or not isinstance(effect.get("subject"), Mapping):
        return
    rest = {k: v for k, v in effect["subject"].items() if k != "argv"} if "argv" in effect["subject"] else {}
    for key, value in (*rest.items(), *((k, v) for k, v in effect.items() if k not in _SHOWN_OF_EFFECT)):
        yield labelled(label_line(str(key)), value_text(value), "$text-muted", exact=True)


_CHANGES: Mapping[str, str] = {
    "add": mark("add"),
    "skip": mark("skip"),
    "remove": mark("remove"),
    "priority": mark("priority"),
    "edit": mark("change"),
    "after": mark("move"),
}
"""What a proposal may do to a plan, in words."""
_LONGEST_STEP, _FEW_STEPS = 28, 3
"""Cells of a step's title where the whole plan stands in a row."""
_PRIORITIES = tuple(priority.value for priority in Priority)


def step_rows(
    steps: Iterable[Mapping[str, Any]], shown: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
) -> Iterable[Row]:
    """The steps of a plan that waits for a word.

    Args:
        steps: as its subject has them.
        shown: what each is called and which of its arguments are settings, by id.
    """
    for step in steps:
        todo_id = str(step.get("todo", ""))
        yield from _step_rows(number_of(todo_id), step, shown.get(todo_id, {}))


def _step_rows(label: str, step: Mapping[str, Any], shown: Mapping[str, Any]) -> Iterable[Row]:
    arguments, task = step.get("arguments") or {}, str(step.get("task", ""))
    argv = arguments.get("argv")
    title = in_line(str(shown.get("title", "")))
    for value in arguments.values():  # what it is asked stands below, whole
        title = title.removesuffix(f": {value}")
    needs = " ".join(number_of(str(d)) for d in step.get("dependencies", ()))
    team = in_line(str(step.get("team", "")).removesuffix("_team")) + (signs(" ← ") + needs if needs else "")
    yield labelled(label, f"{team}  {title or safe_text(task)}", "bold")
    if (risk := str(step.get("risk", ""))) and risk != "low":
        yield labelled(" ", risk_of_run(risk, argv), "bold $text-error")
    for row in runs(arguments, task if title and not isinstance(argv, list) else "", shown.get("settings")):
        yield Row(f"  {row.label}", row.text, exact=row.exact)


def change_rows(
    proposal: Mapping[str, Any], shown: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
) -> Iterable[Row]:
    """What a proposal would change in the plan; see `step_rows`."""
    changes = proposal.get("changes") or ()
    for number, change in enumerate(changes, start=1):
        yield from one_change_rows(change, shown, number if len(changes) > 1 else 0)
    asked = str(proposal.get("text") or "")
    if asked and not any(asked in (change.get("todo") or {}).get("arguments", {}).values() for change in changes):
        yield labelled(_("asked for"), safe_text(asked))


def one_change_rows(
    change: Mapping[str, Any], shown: Mapping[str, Mapping[str, Any]], number: int = 0
) -> Iterable[Row]:
    """One change of a plan, with the number that `/proposal keep` takes; 0 for none."""
    kind = str(change.get("kind", ""))
    label, todo = _(_CHANGES[kind]) if kind in _CHANGES else in_line(kind), change.get("todo") or {}
    if number:
        label = f"{number}. {label}"
    if todo:
        todo_id = str(todo.get("id", ""))
        step = {**todo, "team": todo.get("agent_name", ""), "task": todo.get("description", "")}
        known = {"title": todo.get("name", ""), **shown.get(todo_id, {})}
        yield from _step_rows(f"{label} {number_of(todo_id)}", step, known)
        if fed := (todo.get("metadata") or {}).get("feeds"):
            names = " ".join(number_of(str(one)) for one in fed)
            yield labelled(" ", _("{names} will wait for it, too").format(names=names), "bold")
        return
    if kind == "after":
        needs = " ".join(number_of(str(d)) for d in change.get("after", ()))
        yield labelled(f"{label} {number_of(str(change.get('todo_id')))}", signs("← ") + (needs or "—"), "bold")
        return
    if kind == "edit" and isinstance(change.get("arguments"), Mapping):
        todo_id = str(change.get("todo_id"))
        yield from _edit_rows(f"{label} {number_of(todo_id)}", change, shown.get(todo_id, {}))
        return
    rest = {k: v for k, v in change.items() if k != "kind"}
    said = [number_of(rest.pop("todo_id"))] if _is_id(rest.get("todo_id")) else []
    if rest.get("priority") in _PRIORITIES:
        said.append(signs("→ ") + _(str(rest.pop("priority"))))
    said += [f"{label_line(str(k))}={_json(v)}" for k, v in rest.items()]
    yield labelled(label, _spelled(" ".join(said)), "bold", exact=True)


def _edit_rows(label: str, change: Mapping[str, Any], shown: Mapping[str, Any]) -> Iterable[Row]:
    """Another input of a step: what becomes of each value that people give of it, and what it would run."""
    arguments, before = change["arguments"], shown.get("before")
    now, named = given_values(arguments), own_label if is_held(arguments) else argument_label
    said = list[str]()
    for name in {**before, **now} if before is not None else ():
        sides = {side: of[name] for side, of in (("before", before or {}), ("after", now)) if name in of}
        if sides.get("before") != sides.get("after") or len(sides) == 1:
            said.append(change_line({"name": named(name), **sides}))
    yield labelled(label, "\n".join(said) or in_line(str(shown.get("title", ""))), "bold", exact=True)
    argv = arguments.get("argv")
    if (risk := str(change.get("risk", ""))) and risk != "low":
        yield labelled(" ", risk_of_run(risk, argv), "bold $text-error")
    if not said or isinstance(argv, list):
        for row in runs(arguments, "", shown.get("settings")):
            yield Row(f"  {row.label}", row.text, exact=row.exact)


def plan_change_rows(plan: Sequence[StepNamed], then: Sequence[StepNamed]) -> Iterable[Row]:
    """The plan before and after a proposal, a row each; none where every step stays where it is.

    Of many steps that stay as they are before the first change, the numbers are enough.
    """
    before, after = ([step["id"] for step in steps] for steps in (plan, then))
    if not plan or before == after:
        return
    kept = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))))
    if kept == len(plan):  # what is added comes last, and stands above
        yield labelled(_("plan then"), joined(_span(plan), *(number_of(step["id"]) for step in then[kept:])))
        return
    yield labelled(_("plan now"), _steps_named(plan, kept))
    yield labelled(_("plan then"), _steps_named(then, kept) or _("no step"))


def _steps_named(steps: Sequence[StepNamed], kept: int) -> str:
    far = kept - 1 if kept > _FEW_STEPS else 0  # the last one that stays says where it goes on
    numbers = [_span(steps[:far])] if far else []
    named = (f"{number_of(step['id'])} {one_line(in_line(step['title']), _LONGEST_STEP)}" for step in steps[far:])
    return joined(*numbers, *named)


def _span(steps: Sequence[StepNamed]) -> str:
    """Return the numbers of steps that stand one after the other: of the first and of the last."""
    return "–".join(dict.fromkeys(number_of(steps[place]["id"]) for place in (0, -1)))


def _is_id(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"todo_[0-9]{3,}", value) is not None


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
