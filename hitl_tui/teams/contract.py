"""The contract of a team with the supervisor: tasks, results, effects and failures.

A team is a name, a description, an input schema, a risk class and a LangGraph graph. Its graph runs on a thread of its
own; everything it may touch reaches it through `TeamContext`, which LangGraph hands to each node as runtime context and
never stores. What a team wants said first in the final answer is a `Brief`, beside its whole text.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NotRequired, Protocol, TypeAlias, TypedDict

from hitl_tui.core.errors import BadInput, HitlError, UnknownName
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema, Stored
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.plan import Concern, Guide
from hitl_tui.core.policy import Policy, Risk
from hitl_tui.core.safe_text import safe_text
from hitl_tui.core.written_language import language_of

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk
    from langgraph.graph import StateGraph

    from hitl_tui.config.declared_commands import CommandDeclaration
    from hitl_tui.config.declared_graphs import GraphDeclaration
    from hitl_tui.config.declared_tools import ToolDeclaration
    from hitl_tui.config.workspace import WorkspaceConfig
    from hitl_tui.graphs.graph_loader import GraphFacts
    from hitl_tui.graphs.graph_source import GraphSource
    from hitl_tui.policy.executable_files import Bindings, Surroundings

TeamGraph: TypeAlias = "StateGraph[Any, Any, Any, Any]"
"""The LangGraph graph of a team; its state is the team's own."""


def in_steps(state: type[Any], *steps: tuple[str, Callable[..., Any]]) -> TeamGraph:
    """Return a graph, not compiled, whose nodes run one after the other.

    Args:
        state: its state.
        steps: name and function of each node; the names are in checkpoints.
    """
    from langgraph.graph import END, START, StateGraph

    graph: TeamGraph = StateGraph(state, context_schema=TeamContext)
    return graph.add_sequence(steps).add_edge(START, steps[0][0]).add_edge(steps[-1][0], END)


def shown_name(path: str) -> str:
    """Return a path in one line: a line feed in a file's name is seen as such; interfaces show what else is there."""
    return path.replace("\n", "␊")


def place_label(path: str, line: int, page: int = 0) -> str:
    """Return a place of a document in one line.

    Args:
        path: relative to the workspace.
        line: counted from 1; 0 for a table as a whole.
        page: of a PDF, counted from 1; 0 for other files.
    """
    if not line:
        return shown_name(path)
    return f"{shown_name(path)} p.{page}:{line}" if page else f"{shown_name(path)}:{line}"


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a statement stands.

    Args:
        path: the file, relative to the workspace, with forward slashes.
        line: first line, counted from 1 (for a PDF the page, see `page`); 0 for rows of a table, quoted as a query.
        end_line: last line, inclusive.
        quote: the words themselves, at most a few hundred characters.
        page: page of a PDF, counted from 1; 0 for other files.
    """

    path: str
    line: int
    end_line: int
    quote: str
    page: int = 0

    def to_dict(self) -> dict[str, Json]:
        """Return all fields as JSON values; `from_dict` gives back an equal citation."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Stored) -> Citation:
        """Return the citation these fields describe; a single line where no last one is given."""
        return cls(
            path=str(data["path"]),
            line=int(data["line"]),
            end_line=int(data.get("end_line", data["line"])),
            quote=str(data.get("quote", "")),
            page=int(data.get("page", 0)),
        )

    @property
    def label(self) -> str:
        """`path:line`, or `path p.N:line` for a PDF."""
        return place_label(self.path, self.line, self.page)


@dataclass(frozen=True, slots=True)
class TeamResult:
    """What a team hands back.

    Args:
        text: Markdown for a person, whole.
        data: JSON for other teams and scripts.
        citations: the passages the text rests on, best first.
        files: workspace-relative paths of files the team wrote.
        summary: one line without markup, at most some 200 characters; made from `text` when empty.
        found: False when the team looked and found nothing to say.
        missed: what came out otherwise than was expected, a line each; None where nothing was. The step is done all
            the same: the next question and the answer say it.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    citations: tuple[Citation, ...] = ()
    files: tuple[str, ...] = ()
    summary: str = ""
    found: bool = True
    missed: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return all fields as JSON values; `from_dict` gives back an equal result."""
        return {
            "text": self.text,
            "data": self.data,
            "citations": [c.to_dict() for c in self.citations],
            "files": list(self.files),
            "summary": self.summary,
            "found": self.found,
            **({} if self.missed is None else {"missed": list(self.missed)}),
        }

    @classmethod
    def from_dict(cls, data: Stored) -> TeamResult:
        """Return the result these fields describe; what is missing gets its default."""
        return cls(
            text=str(data.get("text", "")),
            data=dict(data.get("data", {})),
            citations=tuple(Citation.from_dict(c) for c in data.get("citations", ())),
            files=tuple(str(f) for f in data.get("files", ())),
            summary=str(data.get("summary", "")),
            found=bool(data.get("found", True)),
            missed=None if data.get("missed") is None else tuple(str(m) for m in data["missed"]),
        )


@dataclass(frozen=True, slots=True)
class TeamTask:
    """One TODO as its team sees it.

    Args:
        todo_id: the TODO's id.
        query: the session's question, as the person wrote it.
        task: what this TODO is to do, in words.
        arguments: the exact, approved input (matches the team's input schema).
        inputs: results of earlier TODOs this one may use, by TODO id, in plan order.
    """

    todo_id: str
    query: str
    task: str
    arguments: Mapping[str, Any]
    inputs: Mapping[str, TeamResult]

    @property
    def language(self) -> str:
        """The language that the session's question is in, `ko` or `en`."""
        return language_of(self.query or self.task)


class Effects(Protocol):
    """The door to the world outside the session; see `TeamContext.effects`."""

    async def __call__(
        self, name: str, subject: Json, act: Callable[[], Awaitable[dict[str, Json]]]
    ) -> dict[str, Json]:
        """Do something to the world at most once.

        Writes durably that it starts, calls `act`, keeps what it returned, writes that it is done. When the same
        effect (name, ordinal, subject) was done before in this run's TODO, `act` isn't called and the kept value
        comes back.

        Args:
            name: what kind of effect, for example `run` or `write`.
            subject: JSON that says exactly what is done; part of the effect's identity.
            act: does it; returns a small JSON object.

        Raises:
            EffectInDoubt: it may have happened already and a person has to say.
            RunNotCurrent: the run was stopped or its branch left; nothing was done.
        """
        ...


class TeamModel(Protocol):
    """The session's chat model as a team may use it: within the session's budget, and on record."""

    @property
    def name(self) -> str:
        """What it is called; empty for none."""
        ...

    async def converse(
        self, messages: Sequence[Any], tools: Sequence[Any], todo_id: str, on_text: Callable[[str], None]
    ) -> AIMessageChunk:
        """Return what it says to LangChain's messages, with the calls of tools that it makes.

        Raises:
            BudgetReached: the call could pass the budget; nothing was sent.
            ModelFailure: it gave no answer.
        """
        ...

    async def raise_budget(self) -> None:
        """Allow the session as much again as its settings do: a person said so."""
        ...


@dataclass(frozen=True, slots=True)
class TeamContext:
    """What a team's nodes get as `runtime.context`.

    Args:
        task: the TODO.
        workspace: absolute path of the folder the session works in.
        cache: absolute path of a folder for things that can be rebuilt (an index).
        key: idempotency key of the TODO, stable over retries and restarts.
        effects: the only way to change anything outside the session.
        progress: writes one line to the session's stream (and, with `fraction` 0..1, moves a bar).
        secrets: values of the declared secrets, for environments of subprocesses.
        lock_fd: descriptor a subprocess inherits, so that nothing starts while an orphan holds it; -1 for none.
        model: the session's chat model; None where it can't have one.
        policy: gives the rules that hold now, for what a team does by itself.
    """

    task: TeamTask
    workspace: Path
    cache: Path
    key: str
    effects: Effects
    progress: Callable[..., None]
    secrets: Mapping[str, str] = field(default_factory=dict)
    lock_fd: int = -1
    model: TeamModel | None = None
    policy: Callable[[], Policy] = Policy


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a team may use to get ready for a folder before anybody asks it anything there.

    Args:
        workspace: absolute path of the folder.
        cache: absolute path of a folder for things that can be rebuilt.
        secrets: values of the declared secrets by name.
        progress: is told how far it is, 0..1.
        large: a person wants it however large the folder is.
    """

    workspace: Path
    cache: Path
    secrets: Mapping[str, str]
    progress: Callable[[float], None]
    large: bool = False

    @property
    def holds_home(self) -> bool:
        """Whether somebody's whole home is in the folder, which is read only where a person asks about it."""
        return Path(os.path.realpath(Path.home())).is_relative_to(os.path.realpath(self.workspace))


class OutputPreview(TypedDict):
    """What a read-only program printed that shows what a step would touch.

    `lines` counts all that it printed; `exit_code` is None when a signal ended it. `files` and `bytes` count the files
    that it lists, and are there only where every line names one.
    """

    argv: list[str]
    exit_code: int | None
    text: str
    lines: int
    truncated: bool
    timed_out: bool
    files: NotRequired[int]
    bytes: NotRequired[int]


class PlannedQuery(TypedDict):
    """A query that a step would run, as it reads its question before it runs.

    Args:
        tables: the files that are read, relative to the workspace.
        others: files that are asked where the first have no such rows.
        words: what is asked of them, in plain words; empty where no table fits the question.
        sql: the query; empty where none is clear.
        choices: the queries among which a person will be asked to choose, in plain words, where none is clear.
        awaits: a limit stands in documents, which is read first.
        todo: the step's id, where several steps are asked about.
    """

    tables: list[str]
    others: list[str]
    words: str
    sql: str
    choices: list[str]
    awaits: bool
    todo: NotRequired[str]


@dataclass(frozen=True, slots=True)
class QueryPreview:
    """The queries that steps would run.

    Args:
        queries: those that were worked out.
        more: how many steps more would run some.
    """

    queries: tuple[PlannedQuery, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A file that a step would write.

    Args:
        path: relative to the workspace, as the file would be called now.
        content: all of it.
        taken: the path that was asked for, where there is a file already, which stays; empty for none.
    """

    path: str
    content: str
    taken: str = ""


@dataclass(frozen=True, slots=True)
class PreviewContext:
    """What a team may look at for a preview.

    Args:
        workspace: absolute path of the folder the session works in.
        secrets: values of the declared secrets by name.
        query: the session's question.
        inputs: reads the results of earlier TODOs that the step may use, by TODO id.
    """

    workspace: Path
    secrets: Mapping[str, str]
    query: str
    inputs: Callable[[], Awaitable[Mapping[str, TeamResult]]]


class GraphSpec(Protocol):
    """A compiled graph that somebody else wrote, which the supervisor drives as it is."""

    name: str
    risk: Risk
    declaration: GraphDeclaration

    @property
    def facts(self) -> GraphFacts:
        """What is known of it without running it; imports it, anew when its code changed.

        Raises:
            GraphError: it can't be loaded.
        """
        ...

    @property
    def takes(self) -> str:
        """What its input looks like, in short."""
        ...

    def source(self) -> GraphSource:
        """Return the files that running it may run, as they are now.

        Raises:
            BadInput: there are too many.
        """
        ...

    def changed(self, approved: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
        """Return the names of the files that differ between those that were approved and those of now."""
        ...

    def check_settings(self) -> None:
        """Check its context and configuration. Raises BadInput: something is missing in them, or wrong."""
        ...

    def store_lacks(self) -> str:
        """Return what the store of its nodes can't do that is declared, in a sentence; empty for nothing."""
        ...


PROGRAMS: JsonSchema = {"type": "object", "additionalProperties": {"type": "string"}, "readOnly": True}
"""JSON Schema of the argument `programs`."""
DECLARED_RISK = Message("as hitl.toml declares")
CODE_RISK = Message("runs code of its own, as hitl.toml declares")
"""Why a risk is medium, which it is only where that is written: of an agent, and of a function or a graph."""


class Team(ABC):
    """A team: a name, a description, an input schema, a risk class and a graph that carries a TODO out.

    Attributes:
        name: what plans call it.
        description: one line, for people and planners.
        risk: risk class of whatever it does.
        max_retries: how often a failure is tried again.
        timeout: seconds one attempt may take; 0 for no limit.
        optional: a failure skips the step instead of blocking what depends on it.
        idempotent: doing its work twice does no more than doing it once, so that it may be tried again by itself.
        reads_results: it looks at what earlier TODOs found.
        needs_results: it has nothing to do where they found nothing.
        takes_question: the session's question is its task where a person gives it no other.
        keeps_input: its graph stores its input, so that no secret may be in it.
        bindings: finds what its arguments may execute, whose digests they hold as `programs`; None where they don't.
        problem: why it can't be used now, as far as `look` found out; empty for nothing.
        call_argument: the argument that holds what `call_schema` describes; empty where they all do together.
        graph: the graph of somebody else that it runs as it is; None for a team that builds one.
        commands: the declared commands that it runs, by name.
    """

    name: str
    description: str
    risk: Risk
    max_retries: int = 0
    timeout: float = 0.0
    optional: bool = False
    idempotent: bool = False
    reads_results: bool = True
    needs_results: bool = False
    takes_question: bool = True
    keeps_input: bool = False
    bindings: Bindings | None = None
    call_argument: str = ""
    problem: str = ""
    graph: GraphSpec | None = None
    commands: Mapping[str, CommandDeclaration] = MappingProxyType({})

    def concern(self, question: str) -> Concern:
        """Return how far a question that doesn't name the team is its business."""
        return Concern.NONE

    @property
    @abstractmethod
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`."""

    @abstractmethod
    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return the exact arguments for a task given in words and named parameters.

        What it returns is what is shown, approved and run, with the digests of the files that belong to it. It changes
        nothing, and takes what it returned before.

        Raises:
            BadInput: the text or a parameter can't be used; the message says what was expected.
        """

    @abstractmethod
    def build(self) -> TeamGraph:
        """Return the team's graph, not compiled.

        Its state holds `task` (text) at the start and `result` (a `TeamResult.to_dict()`) at the end.
        """

    def meet(self, teams: Mapping[str, Team]) -> None:
        """Learn of all teams there are, by name; most have nothing to do with others."""
        return

    def look(self) -> None:
        """Find out what of `description`, `reads_results` and `problem` only its own code says; it never fails.

        That may run code, which nobody was asked about: it is wanted only where something is planned for the team.
        """
        return

    def recall(self) -> None:
        """Take what of that is known from earlier; nothing is executed."""
        return

    def parameters(self) -> Mapping[str, str]:
        """Return what `name=value` may name, and what each is; nothing where that takes looking first."""
        return {}

    def guide(self) -> Guide | None:
        """Return what whoever writes its input has to know besides; None for nothing."""
        return None

    def retries_of(self, arguments: JsonObject) -> int:
        """Return how often exactly these arguments are tried again by themselves after a failure."""
        return self.max_retries

    def optional_for(self, arguments: JsonObject) -> bool:
        """Return whether a failure of exactly these arguments skips the step."""
        return self.optional

    def call_schema(self) -> JsonSchema:
        """Return the JSON Schema of the arguments that words give; empty where the words themselves are the input."""
        return {}

    def risk_of(self, arguments: JsonObject) -> Risk:
        """Return the risk class of exactly these arguments."""
        return self.risk

    def risk_reason(self, arguments: JsonObject) -> str:
        """Return in a few words why their risk is medium or high; empty where the class says it."""
        return CODE_RISK if self.bindings is not None and self.risk is Risk.MEDIUM else ""

    def declared_as(self, arguments: JsonObject) -> str:
        """Return the digest of how exact arguments are made of what people give; empty where nothing is declared."""
        return ""

    def changes_nothing(self, arguments: JsonObject) -> bool:
        """Return whether what exact arguments do is declared to change nothing, so that repeating it needs no word."""
        return False

    def programs(self, arguments: JsonObject) -> Mapping[str, str]:
        """Return the digests of what exact arguments may execute, as it is now.

        Raises:
            BadInput: it can't be found.
        """
        return {}

    def changed(self, approved: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
        """Return the names of the files that differ between `programs` that were asked about and those of now."""
        return self.bindings.changed(approved, now) if self.bindings is not None else []

    def refuse_changed(self, approved: Mapping[str, str], now: Mapping[str, str]) -> None:
        """Check that what may be executed is what it was when it was asked about.

        Raises:
            BadInput: it isn't.
        """
        if changed := self.changed(approved, now):
            raise BadInput(
                Message(
                    "{} changed since this step was planned or approved, so nothing was run; edit the step, "
                    "and it asks with what is there now.",
                    one(", ".join(changed), 200),
                )
            )

    def writes(self, arguments: JsonObject) -> str:
        """Return the file that exact arguments would make, relative to the workspace; empty for none."""
        return ""

    def previews(self, arguments: JsonObject) -> bool:
        """Return whether what exact arguments would run is worked out by `preview` and shown before it is approved."""
        return bool(arguments.get("preview"))

    async def preview(
        self, arguments: JsonObject, context: PreviewContext
    ) -> OutputPreview | QueryPreview | FilePreview | None:
        """Return what exact arguments would touch or write, without touching it; None where that isn't known before.

        Raises:
            HitlError: it can't be found out.
        """
        return None

    async def prepare(self, preparation: Preparation) -> int:
        """Make what the first task in a folder would have to wait for; nothing unless a team has such a thing.

        Returns:
            0, or the number of files of a folder so large that a person is to be asked first; nothing was made then.

        Raises:
            HitlError: it can't be made.
        """
        return 0


def nobody_trusts(tool: ToolDeclaration) -> str:
    """Return why a tool is described without secrets where nothing is known of trust."""
    return Message("nothing is known here of trust in its folder.")


@dataclass(frozen=True, slots=True)
class TeamSources:
    """What the function behind an entry point `hitl_tui.teams` makes its teams from.

    Args:
        config: what is obeyed of the workspace's settings.
        workspace: its absolute path; empty where that isn't known.
        bindings: finds what steps may execute.
        around: what of the settings says which files are code.
        cache: absolute path of a folder for things that can be rebuilt; None for nowhere.
        why_no_secrets: says why a tool is described without secrets, one sentence, empty when it gets them; see
            `TrustBook.why_no_secrets`.
    """

    config: WorkspaceConfig
    workspace: str
    bindings: Bindings
    around: Surroundings
    cache: Path | None = None
    why_no_secrets: Callable[[ToolDeclaration], str] = nobody_trusts


BRIEF = "brief"
GO_ON = "go on"
"""What is asked of a graph that goes on with a thread as it stands."""


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of evidence.

    Args:
        text: Markdown.
        label: the place it quotes (`file:line`), empty for what quotes none; a place is shown once.
    """

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """A team's part of the final answer; kept in `TeamResult.data` under `BRIEF`.

    Args:
        answer: Markdown, a few lines with the places they rest on; empty when there is nothing to answer with.
        evidence: what the answer rests on, most important first.
        absent: sentences on what was looked for and isn't there.
        quoted: the places that `answer` quotes in full.
        partial: it answers a part of the question; the rest is in what the step worked from.
    """

    answer: str = ""
    evidence: tuple[Block, ...] = ()
    absent: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    partial: bool = False

    def to_dict(self) -> dict[str, Json]:
        return {
            "answer": self.answer,
            "evidence": [{"text": block.text, "label": block.label} for block in self.evidence],
            "absent": list(self.absent),
            "quoted": list(self.quoted),
            **({"partial": True} if self.partial else {}),
        }


def brief_of(result: JsonObject) -> Brief | None:
    """Return the brief in a `TeamResult` dict; None where its team gave none, or something else of that name."""
    data = result.get("data")
    item = data.get(BRIEF) if isinstance(data, Mapping) else None
    if not isinstance(item, Mapping):
        return None
    blocks = [block for block in _list(item.get("evidence")) if isinstance(block, Mapping)]
    return Brief(
        answer=str(item.get("answer") or ""),
        evidence=tuple(Block(str(b.get("text") or ""), str(b.get("label") or "")) for b in blocks),
        absent=tuple(str(said) for said in _list(item.get("absent"))),
        quoted=tuple(str(label) for label in _list(item.get("quoted"))),
        partial=item.get("partial") is True,
    )


def _list(value: object) -> list[Json]:
    return list(value) if isinstance(value, list | tuple) else []


def quoted(text: str, limit: int) -> str:
    """Return a quotation as Markdown, its lines kept: at most `limit` characters, to a sentence's or word's end."""
    text = text.strip("\n")
    if len(text) > limit:
        text = text[: limit - 1]
        sentence, word = max(text.rfind("\n"), text.rfind(". ") + 1), text.rfind(" ")
        end = sentence if sentence > limit // 2 else word if word > limit // 2 else len(text)
        text = text[:end].rstrip() + ("\n…" if text[end : end + 1] == "\n" else " …" if end < len(text) else "…")
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


class EffectInDoubt(HitlError):
    """An effect may have happened already, and a person has to say.

    Args:
        effect: `key`, `name`, `subject`, `why`.
    """

    def __init__(self, effect: JsonObject) -> None:
        super().__init__(f"It isn't known whether this has happened already: {effect.get('why', '')}")
        self.effect = dict(effect)


class RunNotCurrent(HitlError):
    """The run was stopped or its branch left: it may do nothing more."""


class TeamFailure(HitlError):
    """A team did its work and it failed in a way that is known.

    It is known what happened, so the same work may be tried again when a person says so.

    Args:
        message: one sentence.
        data: JSON that says what is known, for example a command's exit code and output.
        help: an optional second line with what would work.
    """

    kind = "team_failure"

    def __init__(self, message: str, *, data: JsonObject | None = None, help: str = "") -> None:
        super().__init__(message, help=help)
        self.data: dict[str, Any] = dict(data or {})


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownName:
    """Return the error for a name that doesn't exist, with the nearest that does and the list of all.

    Args:
        what: the kind of thing, for example `declared command`.
        name: what was given.
        known: the names there are.
    """
    names, name = sorted(known), one(name)
    if not names:
        return UnknownName(Message('No {} "{}"; none exist.', what, name))
    if near := nearest(name, names):
        return UnknownName(Message('No {} "{}"; did you mean "{}" (of {})?', what, name, near, ", ".join(names)))
    return UnknownName(Message('No {} "{}"; known: {}.', what, name, ", ".join(names)))


def one(text: str, limit: int = 80) -> str:
    """Return somebody's text as a message names it: one line, harmless, at most `limit` characters."""
    return safe_text(" ".join(text.split()), multiline=False, limit=limit)
