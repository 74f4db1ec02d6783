"""Plan templates: plans that are kept as readable files, with parameters, and run again (D16)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from hitl_tui.config.atomic_files import make_private, write_new
from hitl_tui.config.problems import first_problem, key_places
from hitl_tui.config.schema import problems_in
from hitl_tui.core.errors import BadInput, StorageError, UnknownName
from hitl_tui.core.interrupts.field_text import typed_value, written_value
from hitl_tui.core.interrupts.json_schema import check_against
from hitl_tui.core.interrupts.shape import same
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Intent
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.shell_words import shell_words
from hitl_tui.core.todos import Priority, SupervisorTodo
from hitl_tui.core.written_language import language_of
from hitl_tui.planning.agent import PlannerAround
from hitl_tui.planning.proposals import Planned

CALL = "template:"
"""How a first question begins that names a template."""
FOLDER = "templates"
"""Of the data folder: a person's own templates, one file each."""
_STEM = re.compile(r"\w[\w-]{0,63}")
_PARAMETER = "[a-z][a-z0-9_]{0,39}"
_HOLE = re.compile(rf"\{{({_PARAMETER})\}}")
_LARGEST = 200_000
FOUND = ("programs", "argv", "preview", "calls", "timeout", "exit_codes", "if_exists", "tools", "today")
"""What of an input only follows from it."""
_PRIORITIES = {Priority.CRITICAL: 0, Priority.HIGH: 0, Priority.MEDIUM: 1, Priority.LOW: 2}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _text(value: object) -> object:
    return value if value is None else str(value)


class TemplateParameter(_Part):
    """What a template is filled with; where it has no default it has to be given.

    An input that is a parameter and nothing else gets a value of its type.
    """

    default: Annotated[str | None, BeforeValidator(_text)] = None
    description: str = ""
    type: Literal["string", "integer", "number", "boolean", "array", "object"] = "string"


class TemplateStep(_Part):
    """A step as somebody writes it down: a person in a file, or a model in its form."""

    agent: str
    task: str
    id: str = ""
    title: str = ""
    input: dict[str, Any] = Field({}, description="exactly as the agent's schema says")
    after: list[str] = Field([], description="ids of steps it needs")
    priority: int = Field(1, description="0 high, 1 medium, 2 low")
    optional: bool = Field(False, description="the rest goes on without it")
    conditions: list[str] = Field([], description="what has to hold for it, asked about with it, as nothing checks it")

    def step(self) -> ExecutionStep:
        """Return the step of a plan."""
        after = tuple(dict.fromkeys(self.after))
        step = ExecutionStep(self.agent, self.task, self.title, self.id, after, self.priority, optional=self.optional)
        return replace(step, input_mapping=self.input, conditions=tuple(self.conditions))


class TemplateFile(_Part):
    """A template as its file has it; the name is empty where that of the file does."""

    name: str = ""
    description: str = ""
    parameters: dict[Annotated[str, StringConstraints(pattern=f"^{_PARAMETER}$")], TemplateParameter] = {}
    steps: list[TemplateStep] = Field(min_length=1, max_length=100)


@dataclass(frozen=True, slots=True)
class PlanTemplate:
    """A plan with holes; its key is the name of its file, and it is a person's own or one that ships."""

    key: str
    text: str
    file: TemplateFile
    own: bool = False

    @property
    def name(self) -> str:
        """What people call it."""
        return self.file.name or self.key

    def filled(self, given: Mapping[str, str]) -> tuple[ExecutionStep, ...]:
        """Return its steps with values at the places of its parameters, if each has one and there are no others."""
        parameters = self.file.parameters
        if unknown := sorted(given.keys() - parameters.keys()):
            known = ", ".join(parameters) or Message("none")
            raise BadInput(Message('The template {} has no parameter "{}"; it has {}.', self.key, unknown[0], known))
        values = {name: given.get(name, parameter.default) for name, parameter in parameters.items()}
        if lacking := [name for name, value in values.items() if value is None]:
            raise BadInput(
                Message('The template {} needs "{}".', self.key, lacking[0]),
                help=Message("For example: /template run {} {}", self.key, f'{lacking[0]}="…"'),
            )
        typed = {name: _typed(name, parameter.type, str(values[name])) for name, parameter in parameters.items()}
        return tuple(_filled_step(step, values, typed).step() for step in self.file.steps)

    def to_dict(self) -> dict[str, Json]:
        """Return what is shown of it."""
        shown = {"key": self.key, "name": self.name, "steps": len(self.file.steps), "own": self.own}
        return {**self.file.model_dump(include={"description", "parameters"}), **shown}


def _typed(name: str, kind: str, text: str) -> Json:
    """Return the value of a parameter's type that a text stands for; a `BadInput` says that it isn't one."""
    found = written_value({"properties": {name: {"type": kind}}}, name, {}, text)
    check_against({"type": kind}, found, Message('"{}"', name))
    return found


def _filled_step(step: TemplateStep, values: Mapping[str, str | None], typed: JsonObject) -> TemplateStep:
    """Return a step with values at the places of its parameters, of their types where one is a whole input."""

    def filled(text: str) -> str:
        return _HOLE.sub(lambda found: str(values.get(found[1], found[0])), text)

    def given(value: Json) -> Json:
        if not isinstance(value, str):
            return value
        whole = _HOLE.fullmatch(value)
        return typed[whole[1]] if whole and whole[1] in typed else filled(value)

    texts = _mapped(
        step.model_dump(exclude={"input"}), lambda value: filled(value) if isinstance(value, str) else value
    )
    return TemplateStep.model_validate({**texts, "input": _mapped(step.input, given)})


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a JSON value with each value in it changed, and without null, which TOML doesn't have."""
    if isinstance(value, Mapping):
        return {key: _mapped(part, change) for key, part in value.items() if part is not None}
    if isinstance(value, list | tuple):
        return [_mapped(part, change) for part in value if part is not None]
    return change(value)


# Files -----------------------------------------------------------------------------------------------------------


def read_template(text: str, key: str, *, own: bool = False) -> PlanTemplate:
    """Return the template that a TOML text is; a `BadInput` says why it is none."""
    try:
        file = TemplateFile.model_validate(tomllib.loads(text))
    except ValidationError as error:
        line, said = first_problem(list(problems_in(error, TemplateFile, TemplateParameter)), key_places(text))
        raise BadInput(Message("The template {}, line {}: {}", key, line, said)) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(Message("The template {} isn't valid TOML: {}.", key, one_line(str(error), 160))) from error
    names = {name for step in file.steps for name in (step.id, step.agent) if name}
    for number, step in enumerate(file.steps, start=1):
        for hole in _HOLE.findall(json.dumps([step.task, step.title, step.input], ensure_ascii=False)):
            if hole not in file.parameters:
                raise BadInput(Message('Step {} of the template {} has no parameter "{}".', number, key, hole))
        if astray := [name for name in step.after if name not in names]:
            said = Message(
                'Step {} of the template {} waits for "{}", which is none of its steps.', number, key, astray[0]
            )
            raise BadInput(said)
    return PlanTemplate(key, text, file, own)


@dataclass(frozen=True, slots=True)
class FaultyTemplate:
    """A person's own template whose file can't be used, and why."""

    key: str
    file: Path
    why: str

    @property
    def message(self) -> str:
        """Why it can't be used, and where that is mended."""
        return joined([self.why, Message("Correct its file: {}", self.file)])

    def to_dict(self) -> dict[str, Json]:
        """Return what is shown of it."""
        return {"key": self.key, "file": str(self.file), "error": self.why}


@dataclass(frozen=True, slots=True)
class TemplateShelf:
    """The templates there are: a person's own, in their data folder, and those that ship.

    One's own stands in the place of one that ships under the same key, also where it can't be used.
    """

    data: Path

    def all(self) -> list[PlanTemplate]:
        """Return all that can be used."""
        return self.listed()[0]

    def listed(self) -> tuple[list[PlanTemplate], list[FaultyTemplate]]:
        """Return all that can be used, a person's own first, and those of their own that can't be."""
        usable = {template.key: template for template in _shipped()}
        faulty = list[FaultyTemplate]()
        for file in sorted((self.data / FOLDER).glob("*.toml")):
            usable.pop(file.stem, None)
            try:
                usable[file.stem] = _own(file)
            except BadInput as error:
                faulty.append(FaultyTemplate(file.stem, file, error.message))
        return sorted(usable.values(), key=lambda template: (not template.own, template.key)), faulty

    def get(self, name: str) -> PlanTemplate:
        """Return the template that a key or a name means; `UnknownName` or `BadInput` where none can be used."""
        usable, faulty = self.listed()
        for template in usable:
            if name in (template.key, template.name):
                return template
        for one in faulty:
            if one.key == name:
                raise BadInput(one.message)
        known = ", ".join(template.key for template in usable)
        raise UnknownName(Message('No template "{}"; known: {}.', one_line(name, 60), known))

    def split(self, words: str) -> tuple[PlanTemplate, str]:
        """Return the template that a text begins with, by key or name, and the rest of the text; see `get`."""
        words = words.strip()
        names = [(name, template) for template in self.all() for name in (template.key, template.name)]
        for name, template in sorted(names, key=lambda pair: -len(pair[0])):
            if words == name or words.startswith(f"{name} "):
                return template, words[len(name) :].strip()
        return self.get(words.partition(" ")[0]), ""

    def save(self, key: str, text: str) -> Path:
        """Write a template of one's own; `BadInput` where its name can't be one or is taken."""
        if not _STEM.fullmatch(key):
            raise BadInput(
                Message('A template is named with letters, digits, "-" and "_", not "{}".', one_line(key, 60))
            )
        read_template(text, key)
        path = self.data / FOLDER / f"{key}.toml"
        try:
            make_private(path.parent)
            write_new(path, text.encode())
        except FileExistsError as error:
            taken = Message("The template {} exists already; choose another name, or delete {}.", key, path)
            raise BadInput(taken) from error
        except OSError as error:
            raise StorageError(Message("{} can't be written: {}.", path, error.strerror or error)) from error
        return path


def _shipped() -> Iterator[PlanTemplate]:
    for file in resources.files("hitl_tui.planning").joinpath(FOLDER).iterdir():
        if file.name.endswith(".toml"):
            yield read_template(file.read_text(encoding="utf-8"), file.name.removesuffix(".toml"))


def _own(file: Path) -> PlanTemplate:
    """Return the template that is kept in a file; a `BadInput` says why it is none."""
    key = one_line(file.stem, 80)
    try:
        if file.stat().st_size > _LARGEST:
            raise BadInput(Message("The template {} is larger than {} bytes.", key, f"{_LARGEST:,}"))
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(Message("The template {} can't be read: {}.", key, error.strerror or error)) from error
    except ValueError as error:
        raise BadInput(Message("The template {} isn't UTF-8 text.", key)) from error
    return read_template(text, file.stem, own=True)


def template_of(name: str, query: str, todos: Sequence[SupervisorTodo], parameters: Mapping[str, str]) -> str:
    """Return a plan as the text of a template; values that stand in its inputs become defaults of parameters.

    Where there is nothing to keep, or a value stands in no input, that is refused as `BadInput`.
    """
    import tomli_w

    if not todos:
        raise BadInput(Message("The plan has no steps to save."))
    ids = {todo.id: f"step_{number}" for number, todo in enumerate(todos, start=1)}
    kept = [_Kept.of(todo, parameters) for todo in todos]
    for parameter, value in parameters.items():
        if not re.fullmatch(_PARAMETER, parameter):
            raise BadInput(Message('A parameter is named with small letters, digits and "_", not "{}".', parameter))
        if not any(parameter in one.places for one in kept):
            raise BadInput(Message('"{}" stands in no input of the plan.', one_line(value, 60)))
    defaults = {parameter: {"default": value} for parameter, value in parameters.items()}
    for parameter, written in defaults.items():
        kinds = {kind for one in kept for kind in one.places.get(parameter, ())}
        kinds -= {"integer"} if "number" in kinds else set()
        if len(kinds) == 1 and kinds != {"string"}:  # of several types, each team reads the text as what is due
            written["type"] = kinds.pop()
    head = {"name": name, "description": one_line(query, 120), "parameters": defaults}
    steps = [one.step(todo, ids) for one, todo in zip(kept, todos, strict=True)]
    return f"{tomli_w.dumps(head)}\n{tomli_w.dumps({'steps': steps})}"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a template keeps of a step's words and input.

    Args:
        places: the parameters that the input has the value of, each with the types of the values that it is all of.
    """

    title: str
    task: str
    input: dict[str, Json]
    places: Mapping[str, set[str]]

    @classmethod
    def of(cls, todo: SupervisorTodo, parameters: Mapping[str, str]) -> _Kept:
        """Return a step with parameters in the places of their values.

        Its title and task get those alone that its input has the value of: there they say what runs, and not by chance.
        """
        given = {key: value for key, value in todo.arguments.items() if key not in FOUND}
        places: dict[str, set[str]] = {}
        holed = _with_holes(given or {"": todo.description}, parameters, places)
        own = {parameter: parameters[parameter] for parameter in places}
        title, task = (_said_with_holes(text, own) for text in (todo.name, todo.description))
        return cls(title, task, holed if given else {}, places)

    def step(self, todo: SupervisorTodo, ids: Mapping[str, str]) -> dict[str, Any]:
        """Return the step as a template has it, with the ids that steps have there; what is as usual is left out."""
        kept = {
            "id": ids[todo.id],
            "agent": str(todo.metadata.get("agent", todo.agent_name)),
            "title": self.title,
            "task": self.task,
            "after": [ids[dependency] for dependency in todo.dependencies if dependency in ids],
            "priority": _PRIORITIES[todo.priority],
            "optional": todo.optional,
            "conditions": list(todo.metadata.get("conditions", ())),
            "input": self.input,
        }
        return {key: value for key, value in kept.items() if value != TemplateStep.model_fields[key].default}


def _with_holes(given: Mapping[str, Any], parameters: Mapping[str, str], places: dict[str, set[str]]) -> dict[str, Any]:
    """Return arguments with parameters in the places of their values, and note those that were found.

    A number or truth value may be there by chance: where an argument of the parameter's name has it, that one is meant.
    """
    named = {name for name, value in parameters.items() if name in given and _is_value(given[name], value)}

    def holed(key: str, value: Json) -> Json:
        for name, said in parameters.items():
            if _is_value(value, said) and (isinstance(value, str) or name == key or name not in named):
                places.setdefault(name, set()).add(_type_of(value))
                return f"{{{name}}}"
        if isinstance(value, Mapping):
            return _with_holes(value, parameters, places)
        if isinstance(value, list | tuple):
            return [holed("", part) for part in value if part is not None]
        if not isinstance(value, str):
            return value
        spans = _places_in(value, parameters)
        for _, _, name in spans:
            places.setdefault(name, set())
        return _put(value, spans)

    return {key: holed(key, value) for key, value in given.items() if value is not None}


_Place = tuple[int, int, str]
"""Where a value stands in a text, its start and end, and the parameter that it is of."""


def _places_in(text: str, parameters: Mapping[str, str]) -> list[_Place]:
    """Return where values stand in a text, as words or numbers of their own."""
    values = sorted((value, name) for name, value in parameters.items() if value)
    if not values:
        return []
    longest = sorted(values, key=lambda pair: -len(pair[0]))
    parts = "|".join(f"({_alone(value)})" for value, _ in longest)
    found = re.finditer(parts, text)
    return [(match.start(), match.end(), longest[(match.lastindex or 1) - 1][1]) for match in found]


_LATIN = re.compile(r"[A-Za-z0-9_]")


def _alone(value: str) -> str:
    """Return the pattern of a value that is no part of another word or number; a Korean particle may follow."""
    before = r"(?<![A-Za-z0-9_])" + (r"(?<![0-9][.,])" if value[0].isdigit() else "")
    behind = r"(?![A-Za-z0-9_])" + (r"(?![.,][0-9])" if value[-1].isdigit() else "")
    return f"{before * bool(_LATIN.match(value[0]))}{re.escape(value)}{behind * bool(_LATIN.match(value[-1]))}"


def _said_with_holes(text: str, parameters: Mapping[str, str]) -> str:
    """Return words with parameters in the places of their values, also of those that are written in another way there:
    a number with commas, a date with the name of its month.

    Where a value is given by name, as in `reserve the hall room=hall`, the same word elsewhere isn't it.
    """
    from hitl_tui.planning.rule_planner.values import given_in, overlaps

    spans = _places_in(text, parameters)
    taken = [(start, end) for start, end, _ in spans]
    for one in given_in(text) if parameters else ():
        place = (one.place[0], one.stop or one.place[1])
        name = next((name for name, value in parameters.items() if _is_value(one.value, value)), "")
        if name and not overlaps(place, taken):
            spans.append((*place, name))
    by_name = {span for span in spans if text[: span[0]].rstrip("\"'").endswith("=")}
    named = {name for _, _, name in by_name}
    return _put(text, [span for span in spans if span in by_name or span[2] not in named])


def _put(text: str, spans: Sequence[_Place]) -> str:
    for start, end, name in sorted(spans, reverse=True):
        text = f"{text[:start]}{{{name}}}{text[end:]}"
    return text


def _is_value(value: Json, text: str) -> bool:
    """Return whether a text, as a person wrote it, is a value."""
    if isinstance(value, str):
        return bool(value) and value == text
    try:
        found = typed_value(text)
    except BadInput:
        return False
    if isinstance(value, float) or isinstance(found, float):
        return type(value) in (int, float) and type(found) in (int, float) and found == value
    return same(found, value)


def _type_of(value: Json) -> str:
    """Return the name that JSON Schema has for the type of a value that isn't null."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return kinds.get(type(value), "object" if isinstance(value, Mapping) else "array")


# Planning --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TemplatePlanner(PlannerAround):
    """Plans a query that names a template, `template:NAME name=value …`, from that; any other as its planner does."""

    shelf: TemplateShelf

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        if not query.strip().startswith(CALL):
            return await self.planner.plan(query, agents)
        template, rest = self.shelf.split(query.strip().removeprefix(CALL))
        steps = template.filled(values_in(rest))
        language = language_of(template.name)
        return Planned(Intent("template", 1.0, language=language), ExecutionPlan(steps))


def values_in(text: str) -> dict[str, str]:
    """Return the values in `name=value name="two words"`; a `BadInput` says how it isn't written."""
    try:
        words = shell_words(text)
    except ValueError as error:
        raise BadInput(Message("A quotation mark isn't closed in {}.", repr(text[:80]))) from error
    pairs = [word.partition("=") for word in words]
    if wrong := next((name for name, sign, _ in pairs if not sign or not name), ""):
        raise BadInput(Message("Values are written as name=value, not {}.", repr(wrong[:60])))
    return {name: value for name, _, value in pairs}
