"""Parsing of answers: what a person writes after `/answer`, by the form of the question."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.field_text import form_schema, json_value, typed_value, written_value
from hitl_tui.core.interrupts.shape import (
    APPROVE,
    EACH,
    EDIT,
    IGNORE,
    REJECT,
    RESPOND,
    STEP,
    Action,
    Form,
    Option,
    Shape,
    ShapeKind,
    check_types,
    same,
)
from hitl_tui.core.json_text import json_fault
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.shell_words import shell_words

_WORDS: Mapping[str, str] = {
    "approve": APPROVE,
    "accept": APPROVE,
    "yes": APPROVE,
    "y": APPROVE,
    "예": APPROVE,
    "네": APPROVE,
    "edit": EDIT,
    "fill": EDIT,
    "reject": REJECT,
    "decline": REJECT,
    "no": REJECT,
    "n": REJECT,
    "아니오": REJECT,
    "아니요": REJECT,
    "ignore": IGNORE,
    "cancel": IGNORE,
    "respond": RESPOND,
    "response": RESPOND,
}
_OWN_WORDS: Mapping[ShapeKind, Mapping[str, str]] = {
    ShapeKind.REVIEW: {"keep": APPROVE},
    ShapeKind.TOOL_BATCH: {"each": EACH},
    ShapeKind.AGENT_INBOX: {"each": EACH},
    ShapeKind.BREAKPOINT: {"continue": APPROVE, "step": STEP},
}
_PART = re.compile(r"(?:^|(?<=[\s,;]))(\d{1,4})[.:)]?\s+([^\W\d_]+)(?=\s|$|[,;])")
_QUOTED = re.compile(r"""(?:(?<=[\s=])|^)("(?:[^"\\]|\\.)*"|'[^']*')(?=[\s,;]|$)""")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text means.

    Args:
        action: the action's name; empty when a whole JSON answer was written.
        value: the JSON value that is sent.
        reason: words that the answer can't carry; they go on record with it.
    """

    action: str
    value: Json
    reason: str = ""


def read(shape: Shape, text: str) -> Reading:
    """Return the answer that a text gives to a question.

    An action's word comes first and says what follows (`approve`, `reject too expensive`, `edit to=a@b.c`); else it is
    the whole answer as JSON, and where no JSON is meant, text. Forms without actions of their own (prompts and the
    like) take everything as the value: there the word approve is a text.

    Raises:
        BadInput: it doesn't answer this question; one sentence says what was expected.
    """
    text = text.strip()
    if shape.parts and (pairs := _parts(shape, text)) is not None:
        return Reading(EACH, shape.answer(EACH, pairs))
    word, _, rest = _head(text)
    name = _action_named(shape, word)
    if name and not _names_option(shape, text):
        return read_as(shape, name, rest)
    plain = _plain(shape, text)
    if plain is not None:
        return plain
    return _whole(shape, text)


def read_as(shape: Shape, action: str, text: str) -> Reading:
    """Return the answer that an action gives to a question, with the text that goes with it.

    To edit several calls, or to respond to them, is to decide each. What follows that, or a response where none is
    among the actions, may be the whole answer as JSON. What follows a refusal that takes nothing is why.

    Raises:
        BadInput: it has no such action, or the text isn't what that needs.
    """
    text, action = text.strip(), EACH if shape.parts and action in (EDIT, RESPOND) else action
    found = shape.action(action)
    responds = action == RESPOND and (found is None or bool(found.why_not))
    if _braced(text) and (responds or (found is not None and found.wants.form is Form.PARTS)):
        return _whole(shape, text)
    if found is not None and found.keeps_reason:
        return Reading(action, shape.answer(action), _words(text))
    return Reading(action, shape.answer(action, _payload(shape, shape.possible(action), text)))


def stop_reason(shape: Shape, text: str, words: Sequence[str]) -> str | None:
    """Return why a step is to be stopped instead of answering what it asks; None where a text says something else.

    What the question takes as its answer is that, whatever it begins with.

    Args:
        shape: the form.
        text: what was written.
        words: what stops it, where the form has no such action.
    """
    word, _, rest = _head(text.strip())
    if word.lower() not in words or shape.action(word.lower()) is not None:
        return None
    if shape.kind is not ShapeKind.REVIEW:  # whose content a text alone replaces
        try:
            read(shape, text)
        except BadInput:
            pass
        else:
            return None
    return _words(rest)


def _head(text: str) -> tuple[str, str, str]:
    match = re.match(r"(\S+)(\s+)?(.*)", text, re.DOTALL)
    return (match.group(1), match.group(2) or "", match.group(3)) if match else ("", "", "")


def _action_named(shape: Shape, word: str) -> str:
    """Return the action that a first word names; empty when it is no action of this form."""
    if len(shape.actions) == 1 and shape.actions[0].wants.form is Form.VALUE:
        return ""
    name = {**_WORDS, **_OWN_WORDS.get(shape.kind, {})}.get(word.lower().rstrip(":,"), "")
    known = shape.action(name) is not None or (name == EDIT and bool(shape.parts))
    return name if name and known else ""


# Batches ---------------------------------------------------------------------------------------------------------


def _parts(shape: Shape, text: str) -> list[tuple[str, Json]] | None:
    """Return what `1 approve 2 reject why` says of each part; None when it isn't written like that.

    Raises:
        BadInput: a part is missing or named twice, or its decision can't be used.
    """
    count = len(shape.parts)
    quoted = [m.span() for m in _QUOTED.finditer(text)]
    found = [
        m
        for m in _PART.finditer(text)
        if m.group(2).lower() in _WORDS and not any(start < m.start() < end for start, end in quoted)
    ]
    if not found or found[0].start() != 0:
        return None
    used: set[int] = set()
    kept = []
    for match in found:
        number = int(match.group(1))
        if 1 <= number <= count and number not in used:
            used.add(number)
            kept.append(match)
        elif match is found[0]:
            raise BadInput(Message("No call {}; calls are 1 to {}.", number, count))
    missing = [str(n) for n in range(1, count + 1) if n not in used]
    if missing:
        raise BadInput(
            Message("Each of the {} calls needs a decision; none is given for {}.", count, ", ".join(missing))
        )
    given: dict[int, tuple[str, Json]] = {}
    for match, following in zip(kept, [*kept[1:], None], strict=True):
        number = int(match.group(1))
        part = shape.parts[number - 1]
        rest = text[match.end() : following.start() if following else len(text)].strip(" \t\n,;")
        name = _WORDS[match.group(2).lower()]
        try:
            given[number] = name, _payload(part, part.possible(name), rest)
        except BadInput as error:
            raise BadInput(Message("Call {}: {}", number, error.message)) from error
    return [given[n] for n in range(1, count + 1)]


# What an action needs ----------------------------------------------------------------------------------------------


def _payload(shape: Shape, action: Action, rest: str) -> Json:
    """Return what the words after an action's name give it.

    Raises:
        BadInput: they aren't what it needs.
    """
    wants = action.wants
    if wants.form is Form.NONE:
        if rest:
            raise BadInput(Message('"{}" takes nothing here, but "{}" came after it.', action.name, one_line(rest, 40)))
        return None
    if wants.form is Form.TEXT:
        return _words(rest)
    if wants.form is Form.FIELDS:
        return _fields(action, rest)
    if wants.form is Form.OPTIONS:
        return _option(action, rest)
    if wants.form is Form.PARTS:
        pairs = _parts(shape, rest)
        if pairs is None:
            raise BadInput(Message("Write a decision for each, as in: 1 approve 2 reject too expensive."))
        return [list(pair) for pair in pairs]
    if not rest and not isinstance(wants.present, Mapping):
        raise BadInput(Message('"{}" needs what to send.', action.name))
    if isinstance(wants.present, str):
        return rest  # a text is edited: `30` is the text, whatever it looks like
    if isinstance(wants.present, Mapping):
        fields = _fields(action, rest)
        if not rest.startswith("{"):
            check_types(wants.present, fields)
        return fields
    return declared_value(action, rest)


def _words(text: str) -> str:
    """Return words as they were written; what stands in quotation marks as a whole comes without them."""
    if not _QUOTED.fullmatch(text):
        return text
    return shlex.split(text)[0]


def _fields(action: Action, rest: str) -> dict[str, Json]:
    """Return the fields that `name=value …` or a JSON object gives.

    Pairs change those fields and keep the others, `+name=value` adds one; an object is all of them.

    Raises:
        BadInput: it is neither.
    """
    present = action.wants.present if isinstance(action.wants.present, Mapping) else {}
    if rest.startswith("{"):
        found = json_value(rest)
        if not isinstance(found, dict):
            said = Message('What follows "{}" must be one valid JSON object: {}.', action.name, json_fault(rest))
            raise BadInput(said)
        return found
    try:
        words = shell_words(rest)
    except ValueError as error:
        raise BadInput(Message('A quotation mark after "{}" isn\'t closed.', action.name)) from error
    if not words and not present and action.wants.schema is None:
        raise BadInput(Message('"{}" needs name=value or a JSON object.', action.name))
    changed: dict[str, Json] = {}
    for place, word in enumerate(words):
        name, mark, value = word.partition("=")
        if not mark or not name:
            if changed:
                whole = " ".join([words[place - 1], *takewhile(lambda other: "=" not in other, words[place:])])
                raise BadInput(Message("A value of several words needs quotation marks: {}.", _quoted(whole)))
            raise BadInput(Message('"{}" must be name=value, or all of it one JSON object.', one_line(word, 40)))
        known, added = _names(action), name.startswith("+")
        name = name.removeprefix("+")
        if known and name not in known and not added:
            listed, shown = ", ".join(one_line(k, 40) for k in known), one_line(name, 40)
            raise BadInput(Message('No field "{0}"; known: {1}; +{0}=… adds it.', shown, listed))
        changed[name] = written_value(form_schema(action.wants), name, present, value)
    if not changed and action.name == EDIT and present:
        raise BadInput(Message('"{}" needs the change: name=value or a JSON object.', action.name))
    return {**present, **changed}


def _quoted(pair: str) -> str:
    """Return `name=value` as it is written where the value has spaces."""
    name, __, value = pair.partition("=")
    return one_line(f"{name}={json.dumps(value, ensure_ascii=False)}", 80)


def _names(action: Action) -> list[str]:
    """Return the names that `name=value` may use: a typing error mustn't let something run unchanged."""
    schema, present = action.wants.schema, action.wants.present
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    named = list(properties) if isinstance(properties, Mapping) else []
    return list(dict.fromkeys([*named, *(present if isinstance(present, Mapping) else {})]))


def _option(action: Action, text: str) -> Json:
    """Return the value of the option that a text names: its value, its words, or its number.

    Raises:
        BadInput: there is none, or the words stand for several.
    """
    options = action.wants.options
    found = _by_name(options, text)
    if len(found) > 1:
        raise BadInput(Message('"{}" is the text of several options; name its number.', one_line(text, 40)))
    if found:
        return found[0].value
    number = text.strip().removeprefix("#")
    if number.isascii() and number.isdigit() and 1 <= int(number[:6]) <= len(options):
        return options[int(number[:6]) - 1].value
    listed = ", ".join(f"{n} {one_line(o.text, 30)}" for n, o in enumerate(options[:8], start=1))
    more = ", …" if len(options) > 8 else ""
    raise BadInput(Message('No option "{}"; options: {}{}.', one_line(text, 40), listed, more))


def _by_name(options: Sequence[Option], text: str) -> list[Option]:
    """Return the options that a text names: the one that has it for its value, else those that read so."""
    given = typed_value(text)
    valued = [o for o in options if same(o.value, given) or same(o.value, text)]
    return valued[:1] or [o for o in options if o.text.strip().casefold() == text.strip().casefold()]


def _names_option(shape: Shape, text: str) -> bool:
    """Return whether a text is one of the options, all that there is to answer with, by its name."""
    wants = shape.actions[0].wants if len(shape.actions) == 1 else None
    return wants is not None and wants.form is Form.OPTIONS and bool(_by_name(wants.options, text))


def option_words(shape: Shape) -> list[str]:
    """Return the word that answers a question with each of its options: its number, marked where that names another."""
    options = shape.options
    return [f"{'#' if _by_name(options, str(number)) else ''}{number}" for number in range(1, len(options) + 1)]


# Without an action's word ------------------------------------------------------------------------------------------


def _plain(shape: Shape, text: str) -> Reading | None:
    """Return the answer to a form that takes one thing without a word before it; None when this one doesn't."""
    respond, edit = shape.action(RESPOND), shape.action(EDIT)
    if respond is not None and not respond.why_not and shape.kind is not ShapeKind.YES_NO:
        if respond.wants.form is Form.OPTIONS:
            return Reading(RESPOND, shape.answer(RESPOND, _option(respond, text)))
        if respond.wants.form is Form.VALUE:
            return Reading(RESPOND, shape.answer(RESPOND, declared_value(respond, text)))
    if edit is not None and edit.wants.form is Form.VALUE and isinstance(edit.wants.present, str):
        found = json_value(text) if text.startswith('"') else None
        return Reading(EDIT, shape.answer(EDIT, found if isinstance(found, str) else text))
    filled = shape.kind in (ShapeKind.SCHEMA, ShapeKind.ELICITATION)
    if filled and edit is not None and edit.wants.form is Form.FIELDS and not _braced(text) and "=" in text:
        return Reading(EDIT, shape.answer(EDIT, _fields(edit, text)))
    return None


def declared_value(action: Action, text: str) -> Json:
    """Return a typed value; where the schema wants a text, what isn't a quoted text is one as it stands.

    Raises:
        BadInput: it is meant as JSON and isn't any.
    """
    found = typed_value(text)
    trimmed = text.strip()
    if isinstance(found, str) and found == text and _braced(trimmed):
        fault = json_fault(text)
        if not _takes_text(action):
            raise BadInput(Message("That isn't valid JSON: {}.", fault))
        if trimmed[:1] + trimmed[-1:] in ("{}", "[]"):
            said = Message("That isn't valid JSON: {}; to send it as a text, put it in quotation marks.", fault)
            raise BadInput(said)
    if action.wants.schema is not None and action.wants.schema.get("type") == "string" and not isinstance(found, str):
        return text
    return found


def _takes_text(action: Action) -> bool:
    """Return whether a text may be the value that an action sends."""
    kinds = action.wants.schema.get("type", "string") if action.wants.schema is not None else "string"
    present = action.wants.present
    return (present is None or isinstance(present, str)) and "string" in ([kinds] if isinstance(kinds, str) else kinds)


def _braced(text: str) -> bool:
    return text[:1] in ("{", "[")


def _whole(shape: Shape, text: str) -> Reading:
    """Return a whole answer written as JSON.

    Raises:
        BadInput: it isn't any, or doesn't fit.
    """
    found = json_value(text)
    if found is None and text != "null":
        if _braced(text):
            raise BadInput(Message("The answer isn't valid JSON: {}.", json_fault(text)))
        if shape.kind in (ShapeKind.REVIEW, ShapeKind.SCHEMA):
            shape.check(text)
            return Reading("", text)
        yes_no = {APPROVE: "yes", REJECT: "no"} if shape.kind is ShapeKind.YES_NO else {}
        ways = ", ".join(yes_no.get(a.name, a.name) for a in shape.actions if not a.why_not)
        raise BadInput(
            Message('"{}" doesn\'t answer this; it takes {}, or the answer as JSON.', one_line(text, 40), ways)
        )
    if shape.parts and isinstance(found, list) and shape.kind is ShapeKind.TOOL_BATCH:
        found = {"decisions": found}
    shape.check(found)
    return Reading("", found)
