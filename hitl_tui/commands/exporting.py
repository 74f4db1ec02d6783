"""What a person takes out of a session to read or to work on: its answer and plan as Markdown or JSON (C8).

Nothing in them acts on whoever opens them in a terminal: control and reordering characters are visible signs in
Markdown and escapes in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.supervisor.snapshot import FINISHED, PLANNING, RUNNING, WAITING, Snapshot
from hitl_tui.teams.brief import EXPORTED, language_of

MARKDOWN, JSON = ".md", ".json"
SESSION = ".hitl"
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "plan": "Plan",
            "unfinished": "Not finished: {status}.",
            "approved": "approved by {by} at {at}",
            "place": "Session {session}, checkpoint {checkpoint}.",
        },
        "ko": {
            "plan": "계획",
            "unfinished": "끝나지 않았습니다: {status}.",
            "approved": "승인: {by}, {at}",
            "place": "세션 {session}, 체크포인트 {checkpoint}.",
            Status.PENDING: "대기",
            Status.IN_PROGRESS: "실행 중",
            Status.COMPLETED: "완료",
            Status.FAILED: "실패",
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


def write_for_reading(snapshot: Snapshot, path: Path) -> Path:
    """Write the answer with its plan as Markdown or JSON, by the end of the file's name; return the absolute path.

    Raises:
        BadInput: the file is there already, or its folder isn't.
        StorageError: it can't be written.
    """
    target = path.absolute()
    text = as_markdown(snapshot) if path.suffix.lower() == MARKDOWN else as_json(snapshot)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise BadInput(f"{target} exists already; choose another name.") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInput(f"The folder {target.parent} doesn't exist.") from error
    except OSError as error:
        raise StorageError(f"{target} can't be written: {error.strerror}.") from error
    return target


def as_json(snapshot: Snapshot) -> str:
    """Return a session as one JSON document, in ASCII."""
    return json.dumps({**snapshot.to_dict(), "response": snapshot.response}, ensure_ascii=True, indent=2) + "\n"


def as_markdown(snapshot: Snapshot) -> str:
    """Return question, answer and plan, with who decided, as Markdown in the language of the question.

    Its last line, which a reader of rendered Markdown doesn't see, keeps it from being evidence for another answer.
    """
    words = _WORDS[language_of(snapshot.query)]
    answer = str((snapshot.response or {}).get("text", "")).strip()
    lines = [f"# {_line(snapshot.query.split(chr(10))[0])}", ""]
    if "\n" in snapshot.query.strip():
        lines += [*(f"> {safe_text(row)}" for row in snapshot.query.strip().split("\n")), ""]
    unfinished = words["unfinished"].format(status=words.get(snapshot.status, snapshot.status))
    lines += [safe_text(answer) if answer else f"*{unfinished}*", "", f"## {words['plan']}", ""]
    for todo in snapshot.todos:
        lines += _todo(todo, words)
    session, checkpoint = _line(snapshot.session_id), _line(snapshot.checkpoint_id)
    lines += ["", words["place"].format(session=session, checkpoint=checkpoint), "", EXPORTED]
    return "\n".join(lines) + "\n"


def _todo(todo: SupervisorTodo, words: Mapping[str, str]) -> Iterator[str]:
    status = words.get(todo.status, str(todo.status))
    yield f"- **{todo.id}** {_line(todo.name)} ({_line(todo.agent_name)}): {status}"
    approval = todo.approval or {}
    if approval.get("by"):
        by, at = _line(str(approval["by"])), _line(str(approval.get("at", "")))
        yield "  - " + words["approved"].format(by=by, at=at)
    if todo.error:
        yield f"  - {_line(todo.error)}"
    if todo.result and todo.result.get("summary"):
        yield f"  - {_line(str(todo.result['summary']))}"


def _line(text: str) -> str:
    return safe_text(text, multiline=False)
