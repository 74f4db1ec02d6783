"""The document team: writes a Markdown report into the workspace, never over another file."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import posixpath
import secrets
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from hitl_tui.config.atomic_files import publish_new
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.core.short_titles import short_title
from hitl_tui.teams.contract import (
    BRIEF,
    Brief,
    Citation,
    FilePreview,
    PreviewContext,
    Team,
    TeamContext,
    TeamFailure,
    TeamGraph,
    TeamResult,
    TeamSources,
    in_steps,
    one,
)
from hitl_tui.teams.document.report_text import compose, gather

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

IF_EXISTS = "a number is added"
MOST_NUMBERS = 10_000
_NAME_CHARACTERS = 60
_NAME_BYTES = 150
_TITLE = 80
_CITATIONS = 50
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")


class DocumentState(TypedDict, total=False):
    """State of the team's graph: the task, what earlier steps gave, the report's text, the result."""

    task: str
    material: list[dict[str, Any]]
    content: str
    result: dict[str, Any]


class DocumentTeam(Team):
    """Writes reports.

    Args:
        folder: where reports go, relative to the workspace, with forward slashes.

    Raises:
        BadInput: the folder is absolute or leaves the workspace.
    """

    def __init__(self, folder: str = "reports") -> None:
        self.folder = checked_folder(folder)
        self.name = "document_team"
        self.description = Message(
            "Writes a Markdown report of what was found into {}/; never overwrites a file.", self.folder
        )
        self.risk = Risk.HIGH
        self.timeout = 60.0
        self.needs_results = True

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`."""
        return {
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": str(Message("what the report is called"))},
                "path": {
                    "type": "string",
                    "description": str(Message("a file ending in .md; if there is one already, a number is added")),
                },
                "if_exists": {"type": "string", "enum": [IF_EXISTS], "readOnly": True},
            },
            "additionalProperties": False,
        }

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return title and path of the report.

        Args:
            text: the task; its first line is the title when none is given.
            arguments: `title` and `path`; also `date`, of earlier versions, for the name of a file without `path`.

        Raises:
            BadInput: an argument is unknown, no text, or names a place outside the reports' folder.
        """
        for key, value in arguments.items():
            if key not in ("title", "path", "date", "if_exists"):
                raise BadInput(Message('A report takes "title" and "path", not "{}".', one(str(key))))
            if not isinstance(value, str):
                raise BadInput(Message('"{}" of a report must be a text.', key))
        if arguments.get("if_exists", IF_EXISTS) != IF_EXISTS:
            raise BadInput(Message("Reports never overwrite a file; if_exists can't be changed."))
        first = next((line for line in str(arguments.get("title") or text).splitlines() if line.strip()), "")
        line = " ".join(first.split()) or "Report"
        title = line if len(line) <= _TITLE else short_title(line, _TITLE)
        path = arguments.get("path")
        if path is None:
            dated = f"{arguments['date']} {title}" if arguments.get("date") else title
            path = posixpath.join(self.folder, f"{slug(dated)}.md")
        return {"title": title, "path": self._checked(str(path)), "if_exists": IF_EXISTS}

    def _checked(self, path: str) -> str:
        folder, name = posixpath.split(path)
        if folder and posixpath.normpath(folder) != posixpath.normpath(self.folder):
            raise BadInput(Message('A report must be in {}/; "{}" isn\'t.', self.folder, one(path)))
        stem = name.removesuffix(".md")
        if stem == name or not stem or stem.startswith(".") or not _writable(stem):
            raise BadInput(
                Message('A report\'s file name ends in ".md" and has no dot before it, unlike "{}".', one(name))
            )
        return posixpath.join(self.folder, name)

    def risk_reason(self, arguments: JsonObject) -> str:
        """Return what is risky about a report."""
        return Message("writes a file")

    def writes(self, arguments: JsonObject) -> str:
        return str(arguments["path"]) if "if_exists" in arguments and arguments.get("path") else ""

    async def preview(self, arguments: JsonObject, context: PreviewContext) -> FilePreview | None:
        """Compose the report as a run would, and write nothing."""
        if not (path := self.writes(arguments)):
            return None
        inputs, title = await context.inputs(), str(arguments.get("title", ""))
        content = await asyncio.to_thread(
            lambda: compose(title, context.query, gather(inputs), posixpath.dirname(path))
        )
        free = await asyncio.to_thread(_free_path, context.workspace, path)
        return FilePreview(free, content, taken=path if free != path else "")

    def build(self) -> TeamGraph:
        """Return the graph gather → compose → write."""
        return in_steps(DocumentState, ("gather", _gather_node), ("compose", _compose_node), ("write", _write_node))


def teams(sources: TeamSources) -> list[Team]:
    """Return the document team, for the folder that a workspace declares."""
    return [DocumentTeam(sources.config.document.folder)]


async def _gather_node(state: DocumentState, runtime: Runtime[TeamContext]) -> DocumentState:
    material = gather(runtime.context.task.inputs)
    task = runtime.context.task
    count = len(material)
    korean = task.language == "ko"
    runtime.context.progress(f"앞선 결과 {count}건" if korean else f"{count} earlier result{'' if count == 1 else 's'}")
    return {"material": material}


async def _compose_node(state: DocumentState, runtime: Runtime[TeamContext]) -> DocumentState:
    task = runtime.context.task
    folder = posixpath.dirname(task.arguments["path"])
    return {
        "material": [],
        "content": compose(task.arguments["title"], task.query, state["material"], folder),
    }


async def _write_node(state: DocumentState, runtime: Runtime[TeamContext]) -> DocumentState:
    context = runtime.context
    path = str(context.task.arguments["path"])
    content = state["content"].encode("utf-8")
    sha256 = hashlib.sha256(content).hexdigest()

    async def act() -> dict[str, Json]:
        written = await _uninterrupted(lambda: write_report(context.workspace, path, content))
        return {"path": written, "bytes": len(content), "sha256": sha256}

    done = await context.effects("write", {"path": path, "sha256": sha256}, act)
    citations = list(dict.fromkeys(c for r in context.task.inputs.values() for c in r.citations))
    result = written_result(path, done, tuple(citations[:_CITATIONS]), context.task.language)
    return {"content": "", "result": result.to_dict()}


async def _uninterrupted(work: Callable[[], str]) -> str:
    """Run `work` in a thread; a cancellation that comes meanwhile is raised when it is done."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


def written_result(path: str, done: JsonObject, citations: tuple[Citation, ...], language: str = "en") -> TeamResult:
    """Return the team's result for what the write effect answered, its sentences in `ko` or `en`."""
    korean = language == "ko"
    if done.get("declared_done"):
        said = (
            f"{path} 보고서를 썼다고 사람이 확인했습니다. 파일이 있는지는 살펴보지 않았습니다."
            if korean
            else f"A person said that the report {path} was written; whether it is there was not looked up."
        )
        return TeamResult(text=said + "\n", data={"path": path, "declared_done": True}, summary=said)
    written = str(done["path"])
    said = f"{written} 작성 ({done['bytes']:,}바이트)." if korean else f"Wrote {written} ({done['bytes']:,} bytes)."
    if written != path:
        said += f" {path} 파일이 이미 있어 번호를 붙였습니다." if korean else f" {path} existed, so a number was added."
    return TeamResult(
        text=said + "\n",
        # The report isn't the answer: what it puts together is, and its path stands under the files written.
        data={**{key: done[key] for key in ("path", "bytes", "sha256")}, BRIEF: Brief().to_dict()},
        citations=citations,
        files=(written,),
        summary=said,
    )


def checked_folder(folder: str) -> str:
    """Return a folder within the workspace in its shortest form.

    Raises:
        BadInput: it is absolute, begins with `~`, leaves the workspace, or has characters no name should have.
    """
    plain = posixpath.normpath(folder.strip() or ".")
    if plain == ".." or plain.startswith(("/", "~", "../")) or not _writable(plain):
        raise BadInput(Message('The folder for reports must be in the workspace, unlike "{}".', one(folder)))
    return plain


def slug(title: str) -> str:
    """Return a file name's stem: letters of any script and digits kept, everything else one `-`.

    At most 60 characters and 150 bytes of UTF-8, whole words where there are some; `report` when nothing is left.
    """
    kept = "".join(_slug_characters(unicodedata.normalize("NFC", title).casefold()))
    whole = stem = "-".join(part for part in kept.split("-") if part)
    while len(stem) > _NAME_CHARACTERS or len(stem.encode("utf-8")) > _NAME_BYTES:
        stem = stem[:-1]
    if stem != whole and whole[len(stem)] != "-":
        stem = stem.rpartition("-")[0] or stem
    return stem.strip("-") or "report"


def _slug_characters(text: str) -> Iterator[str]:
    letter = False
    for character in text:
        kind = unicodedata.category(character)[0]
        if character not in _FILLERS and (kind in "LN" or (kind == "M" and letter)):
            letter = True
            yield character
        else:
            letter = False
            yield "-"


def _writable(name: str) -> bool:
    """Whether a name has no control or invisible characters, no lone surrogates and a length file systems take."""
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for character in name):
        return False
    return not _FILLERS & set(name) and "\\" not in name and len(name.encode("utf-8")) <= 200


def write_report(workspace: Path, path: str, content: bytes) -> str:
    """Write a new file, whole or not at all, and return its path relative to the workspace.

    Where `path` exists, `-2`, `-3`… is put before its ending. Folders are made. No link is followed out of the
    workspace, not even one that appears meanwhile.

    Args:
        workspace: absolute path of the folder the session works in.
        path: relative to it, with forward slashes.
        content: the bytes.

    Raises:
        BadInput: the folder leads out of the workspace.
        TeamFailure: the file system refused; there is no report then, and no part of one.
    """
    folder, name = posixpath.split(path)
    try:
        descriptor = _open_folder(workspace, folder)
        try:
            written = _write_new(descriptor, name, content)
            with contextlib.suppress(OSError):  # some file systems can't, and the report is there already
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise TeamFailure(Message("The report {} can't be written: {}.", path, reason)) from error
    return posixpath.join(folder, written)


def _open_folder(workspace: Path, folder: str) -> int:
    """Return a descriptor of the folder, made if need be, each step of the way a real folder."""
    root = Path(os.path.realpath(workspace))
    real = Path(os.path.realpath(root / folder))
    if not real.is_relative_to(root):
        raise BadInput(Message('The folder "{}" leads out of the workspace, so no report was written.', folder))
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for part in real.relative_to(root).parts:
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=descriptor)
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _write_new(folder: int, name: str, content: bytes) -> str:
    temporary = f".{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(temporary, flags, 0o666, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        for candidate in _candidates(name):
            with contextlib.suppress(FileExistsError):
                publish_new(temporary, candidate, folder)
                return candidate
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
    raise TeamFailure(Message("{} reports like {} already exist; give this one another title.", MOST_NUMBERS, name))


def _candidates(name: str) -> Iterator[str]:
    yield name
    stem, ending = posixpath.splitext(name)
    for number in range(2, MOST_NUMBERS + 1):
        yield f"{stem}-{number}{ending}"


def _free_path(workspace: Path, path: str) -> str:
    """Return the path that a file gets as things stand, see `_write_new`."""
    folder, name = posixpath.split(path)
    free = (candidate for candidate in _candidates(name) if not os.path.lexists(workspace / folder / candidate))
    return posixpath.join(folder, next(free, name))
