"""What a person takes out of a session to read or to work on: its answer and plan as Markdown or JSON (C8).

Nothing in them acts on whoever opens them: control and reordering characters are visible signs in Markdown and escapes
in JSON, and HTML, images and links that others wrote are text in Markdown.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from hitl_tui.commands.decided import about_plan, about_todo
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.safe_markdown import fenced, literal, tamed
from hitl_tui.core.safe_text import one_line, safe_text, unsafe_text
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.graph_input import in_words, is_structured
from hitl_tui.supervisor.face import SessionFace
from hitl_tui.supervisor.snapshot import FINISHED, PLANNING, RUNNING, WAITING, Snapshot
from hitl_tui.supervisor.verdicts import Said, verdicts_of
from hitl_tui.teams.contract import EXPORTED, language_of

MARKDOWN, JSON = ".md", ".json"
SESSION = ".hitl"
REJECTED = "rejected"
"""What a TODO is called that failed because somebody or a rule refused it."""
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "plan": "Plan",
            "unfinished": "Not finished: {status}.",
            "place": "Session {session}, checkpoint {checkpoint}.",
            REJECTED: "rejected",
            Status.IN_PROGRESS: "in progress",
            Status.WAITING_APPROVAL: "waiting for approval",
        },
        "ko": {
            "plan": "계획",
            "unfinished": "끝나지 않았습니다: {status}.",
            "place": "세션 {session}, 체크포인트 {checkpoint}.",
            Status.PENDING: "대기",
            Status.IN_PROGRESS: "실행 중",
            Status.COMPLETED: "완료",
            Status.FAILED: "실패",
            REJECTED: "거부됨",
            Status.SKIPPED: "건너뜀",
            Status.BLOCKED: "막힘",
            Status.WAITING_APPROVAL: "승인 대기",
            PLANNING: "계획 중",
            WAITING: "결정 대기",
            RUNNING: "실행 중",
            FINISHED: "완료",
        },
    }
)


def is_for_reading(path: Path) -> bool:
    """Return whether a file's name asks for Markdown or JSON, and not for the whole session.

    Raises:
        BadInput: it asks for neither: a session in a file called `x.pdf` would be opened as what it isn't.
    """
    suffix = path.suffix.lower()
    if suffix in (MARKDOWN, JSON):
        return True
    if suffix not in (SESSION, ""):
        raise BadInput(
            f'"{one_line(path.name, 60)}" isn\'t written: a name ends with .hitl, or has no ending, for the whole '
            "session, and with .md or .json for its answer and plan."
        )
    return False


async def export_for_reading(face: SessionFace, path: Path) -> Path:
    """Write a session's answer, its plan and who decided what; see `write_for_reading`.

    Raises:
        BadInput: the file is there already, or its folder isn't.
        StorageError: it can't be written, or the record can't be read.
    """
    snapshot = face.snapshot
    decided = await verdicts_of(face.desk.ledger, face.id)
    return await asyncio.to_thread(write_for_reading, snapshot, path, decided)


def write_for_reading(snapshot: Snapshot, path: Path, decided: Sequence[Said] = ()) -> Path:
    """Write the answer with its plan as Markdown or JSON, by the end of the file's name; return the absolute path.

    Args:
        snapshot: the session.
        path: where; nothing is written over.
        decided: what its record tells of decisions.

    Raises:
        BadInput: the file is there already, or its folder isn't.
        StorageError: it can't be written.
    """
    target = path.absolute()
    text = (as_markdown if path.suffix.lower() == MARKDOWN else as_json)(snapshot, decided)
    try:
        _write_new(target, text)
    except FileExistsError as error:
        raise BadInput(f"{target} exists already; choose another name.") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInput(f"The folder {target.parent} doesn't exist.") from error
    except OSError as error:
        raise StorageError(f"{target} can't be written: {error.strerror}.") from error
    return target


def _write_new(target: Path, text: str) -> None:
    with target.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:  # on a full disk half a file would stand in the way of the next try
            target.unlink(missing_ok=True)
            raise


def as_json(snapshot: Snapshot, decided: Sequence[Said] = ()) -> str:
    """Return a session as one JSON document, in ASCII."""
    document = {
        **snapshot.to_dict(),
        "response": snapshot.response,
        "decisions": [said.to_dict() for said in decided],
    }
    return json.dumps(document, ensure_ascii=True, indent=2) + "\n"


def as_markdown(snapshot: Snapshot, decided: Sequence[Said] = ()) -> str:
    """Return question, answer and plan, with who or what let each step run, in the language of the question.

    Its last line, which a reader of rendered Markdown doesn't see, keeps it from being evidence for another answer.
    """
    language = language_of(snapshot.query)
    words = _WORDS[language]
    answer = str((snapshot.response or {}).get("text", "")).strip()
    structured = is_structured(snapshot.query)
    heading = _told(in_words(snapshot.query)) if structured else _line(snapshot.query.split("\n")[0])
    lines = [f"# {heading}", ""]
    if structured:
        lines += [fenced(safe_text(snapshot.query.strip())), ""]
    elif "\n" in snapshot.query.strip():
        lines += [*(f"> {_line(row)}".rstrip() for row in snapshot.query.strip().split("\n")), ""]
    unfinished = words["unfinished"].format(status=words.get(snapshot.status, snapshot.status))
    lines += [tamed(safe_text(unsafe_text(answer))) if answer else f"*{unfinished}*", "", f"## {words['plan']}", ""]
    if whole := [f"- {literal(line)}" for line in about_plan(decided, language)]:
        lines += [*whole, ""]
    for todo in snapshot.todos:
        lines += _todo(todo, decided, language)
    session, checkpoint = _line(snapshot.session_id), _line(snapshot.checkpoint_id)
    lines += ["", words["place"].format(session=session, checkpoint=checkpoint), "", EXPORTED]
    return "\n".join(lines) + "\n"


def _todo(todo: SupervisorTodo, decided: Sequence[Said], language: str) -> Iterator[str]:
    words = _WORDS[language]
    refused = todo.status is Status.FAILED and todo.metadata.get("rejected")
    status = words[REJECTED] if refused else words.get(todo.status, str(todo.status))
    yield f"- **{todo.id}** {_line(todo.name)} ({_line(todo.agent_name)}): {status}"
    yield from (f"  - {literal(line)}" for line in about_todo(todo, decided, language))
    if todo.result and todo.result.get("summary"):
        yield f"  - {_told(str(todo.result['summary']))}"


def _line(text: str) -> str:
    """Return what somebody wrote as one line without markup."""
    return literal(safe_text(text, multiline=False))


def _told(text: str) -> str:
    """Return what a team told, which is safe text already, as one line without markup."""
    return _line(unsafe_text(text))
