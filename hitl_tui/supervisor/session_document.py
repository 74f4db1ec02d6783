"""A session as a document for people: its answer, plan and decisions as Markdown or JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.fold_operator_events import DEFAULT_SKIP_REASON
from hitl_tui.core.input_words import in_words
from hitl_tui.core.json_text import is_structured
from hitl_tui.core.messages import Message
from hitl_tui.core.names import plain_name, step_name
from hitl_tui.core.requests import BY_RULE, Kind
from hitl_tui.core.safe_markdown import fenced, literal, tamed
from hitl_tui.core.safe_text import one_line, safe_again, safe_text, unsafe_text
from hitl_tui.core.todos import SYSTEM, Status, SupervisorTodo
from hitl_tui.core.written_language import language_of
from hitl_tui.extraction.blocks import EXPORTED
from hitl_tui.ledger.approval_log import (
    ALLOWED,
    DENIED,
    EDITED,
    FORKED,
    IMPORTED,
    REOPENED,
    RESTORED,
    LoggedDecision,
    logged_decisions,
)
from hitl_tui.supervisor.final_answer import reason
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import FINISHED, PLANNING, RUNNING, WAITING, Snapshot

_DECISION_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "approve": "approved by {who}",
            "edit": "edited and approved by {who}",
            "reject": "rejected by {who}",
            "skip": "skipped by {who}",
            "respond": "answered by {who}",
            "ignore": "ignored by {who}",
            "retry": "run again on the word of {who}",
            "stop": "stopped by {who}",
            "use_as_done": "taken as done on the word of {who}",
            "do_again": "done again on the word of {who}",
            RESTORED: "{who} went back to an earlier checkpoint",
            FORKED: "{who} forked it from another session",
            IMPORTED: "{who} imported it",
            REOPENED: "{who} wanted to be asked again",
            EDITED: "{who} wanted another input",
            "late": "nobody decided in time, so: {verdict}",
            "mode": "let run by mode {name} (nobody was asked)",
            "mode-step": "“ask every step”",
            "mode-plan": "“ask the plan, then risky steps”",
            "mode-risk": "“ask risky steps only”",
            "plan-limit": "begun by the limit of revisions (no person approved it)",
            "plan-policy": "begun by a rule of hitl.toml (nobody was asked): {name}",
            "policy": "let run by policy rule {name} of hitl.toml (nobody was asked)",
            "denied-policy": "denied by policy rule {name} of hitl.toml",
            BY_RULE: "let run by standing {name} (nobody was asked)",
            "at": " at {at}",
            "skipped": "skipped: {why}",
            "imported": "imported",
            Kind.PLAN: "the plan",
            Kind.PROPOSAL: "a proposed change of the plan",
            Kind.INTERRUPT: "asked by its team",
            Kind.FAILURE: "after it failed",
            Kind.EFFECT: "perhaps done already",
        },
        "ko": {
            "approve": "{who} 님이 승인함",
            "edit": "{who} 님이 고쳐서 승인함",
            "reject": "{who} 님이 거부함",
            "skip": "{who} 님이 건너뜀",
            "respond": "{who} 님이 답함",
            "ignore": "{who} 님이 무시함",
            "retry": "{who} 님의 결정으로 다시 실행함",
            "stop": "{who} 님이 중지함",
            "use_as_done": "{who} 님의 결정으로 완료된 것으로 봄",
            "do_again": "{who} 님의 결정으로 다시 실행함",
            RESTORED: "{who} 님이 이전 체크포인트로 복원함",
            FORKED: "{who} 님이 다른 세션에서 포크함",
            IMPORTED: "{who} 님이 가져옴",
            REOPENED: "{who} 님이 다시 묻게 함",
            EDITED: "{who} 님이 다른 입력을 요청함",
            "late": "제때 결정한 사람이 없음: {verdict}",
            "late-approve": "승인된 것으로 봄",
            "late-reject": "거부된 것으로 봄",
            "late-skip": "건너뜀",
            "late-stop": "중지함",
            "mode": "묻지 않고 모드 {name}에 따라 실행함",
            "mode-step": "‘매번 묻기’",
            "mode-plan": "‘계획과 위험한 단계만 묻기’",
            "mode-risk": "‘위험한 단계만 묻기’",
            "console": "콘솔",
            "repl": "줄 모드",
            "cli": "명령줄",
            "web": "브라우저",
            "plan-limit": "수정 횟수 한도에 이르러 시작함(승인한 사람 없음)",
            "plan-policy": "묻지 않고 hitl.toml 규칙에 따라 시작함: {name}",
            "policy": "묻지 않고 hitl.toml 정책 규칙 {name}에 따라 실행함",
            "denied-policy": "hitl.toml 정책 규칙 {name}에 따라 금지됨",
            BY_RULE: "묻지 않고 항상 허용 규칙에 따라 실행함({name})",
            "at": ", {at}",
            "skipped": "건너뜀: {why}",
            "imported": "가져옴",
            Kind.PLAN: "계획",
            Kind.PROPOSAL: "계획 변경 제안",
            Kind.INTERRUPT: "팀이 물음",
            Kind.FAILURE: "실패한 뒤",
            Kind.EFFECT: "이미 실행되었을 수 있음",
        },
    }
)


def about_plan(decided: Sequence[LoggedDecision], language: str) -> Iterator[str]:
    """Yield what was decided about the plan as a whole, a safe line each, in the order of the record.

    Args:
        decided: of the session.
        language: `ko` or `en`.
    """
    yield from (_decision_line(said, language) for said in decided if not said.todo_id)


def about_todo(todo: SupervisorTodo, decided: Sequence[LoggedDecision], language: str) -> Iterator[str]:
    """Yield who let a TODO run or kept it from running, a safe line each; of a copy's past what its state tells.

    Why it failed is what its team said, and no decision: it isn't among them. What came with an import is on no record
    here, and says so.

    Args:
        todo: as it is.
        decided: of the session.
        language: `ko` or `en`.
    """
    own = [said for said in decided if said.todo_id == todo.id]
    words = _DECISION_WORDS[language]
    # Imports of earlier versions aren't marked in the state.
    came = any(said.verdict == IMPORTED for said in decided)
    imported = came or bool((todo.approval or {}).get("imported"))
    yield from (_decision_line(said, language, imported=imported) for said in _before(todo, own))
    yield from (_decision_line(said, language) for said in own)
    ended_elsewhere = bool(todo.metadata.get("imported")) or (came and not own)
    if todo.status is Status.SKIPPED and not any(said.verdict == "skip" for said in own):
        why = todo.metadata.get("skip_reason", "")
        by = str(todo.metadata.get("skipped_by", ""))
        if by in ("", SYSTEM):
            yield safe_text(words["skipped"].format(why=reason(why, language)), multiline=False)
        else:
            skipped = LoggedDecision(Kind.TODO, todo.id, "skip", by, "", todo.completed_at, why)
            yield _decision_line(skipped, language, imported=ended_elsewhere)
    if todo.error and todo.metadata.get("rejected") and not _refused(own):
        why = reason(todo.error, language)
        yield safe_again(f"{why} ({words['imported']})" if ended_elsewhere else why, multiline=False)


def _refused(own: Sequence[LoggedDecision]) -> bool:
    return any(said.verdict in ("reject", "stop") for said in own)


def _before(todo: SupervisorTodo, own: Sequence[LoggedDecision]) -> Iterator[LoggedDecision]:
    """Yield what let a TODO run where that was put on another record: this session is a copy, or it hasn't begun."""
    approval = todo.approval or {}
    by, channel = str(approval.get("by", "")), str(approval.get("channel", ""))
    # Of several people the state has one line, the record has one each.
    if not by or any(said.by in by for said in own):
        return
    kind = ALLOWED if channel == "policy" else Kind.TODO.value
    yield LoggedDecision(kind, todo.id, "approve", by, channel, str(approval.get("at", "")))


def _decision_line(said: LoggedDecision, language: str, *, imported: bool = False) -> str:
    words = _DECISION_WORDS[language]
    text = _what(said, words, words["imported"] if imported else "")
    if said.at:
        text += words["at"].format(at=_moment(said.at))
    if said.answer:
        text += f": {said.answer}"
    why = "" if said.reason == DEFAULT_SKIP_REASON else said.reason
    if why and why not in said.answer and said.channel != BY_RULE:
        text += f": “{why}”"
    # What a TODO's own question was is plain from where the line stands.
    about = words.get(said.asked, "") if said.asked != said.verdict else ""
    return safe_text(f"{about}: {text}" if about else text, multiline=False)


def _what(said: LoggedDecision, words: Mapping[str, str], beside: str) -> str:
    """Return what was decided, in words; `beside` stands with who did, or what let it run."""
    whole = f" ({beside})" if beside else ""
    if said.asked == ALLOWED:
        mode = said.by.startswith("mode ")
        name = said.by.removeprefix("mode ").removeprefix("policy rule ")
        found = (
            words["mode"].format(name=words.get(f"mode-{name}", name)) if mode else words["policy"].format(name=name)
        )
        return found + whole
    if said.asked == DENIED:
        return words["denied-policy"].format(name=said.by.removeprefix("policy rule "))
    if said.channel == BY_RULE:
        return words[BY_RULE].format(name=said.by) + whole
    if said.asked == Kind.PLAN and said.channel in ("limit", "policy"):
        return words[f"plan-{said.channel}"].format(name=said.by)
    if said.channel == "deadline":
        return words["late"].format(verdict=words.get(f"late-{said.verdict}", said.verdict)) + whole
    channel = words.get(said.channel, said.channel) if said.channel != said.by else ""
    told = ", ".join(filter(None, (channel, beside)))
    who = plain_name(said.by) + (f" ({told})" if told else "")
    return words[said.verdict].format(who=who) if said.verdict in words else f"{said.verdict}: {who}"


def _moment(at: str) -> str:
    """Return a time to the second: `2026-03-01 14:03:09 UTC`; another zone's stays as it is."""
    utc = at.endswith(("+00:00", "Z"))
    return f"{at[:19].replace('T', ' ')} UTC" if utc else at


_BELOW = 3
"""Level of the highest heading in a quotation: the document's own are of the first two."""
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
            Message(
                '"{}" can\'t be exported to: use .hitl or no ending for the whole session, .md or '
                ".json for its answer and plan.",
                one_line(path.name, 60),
            )
        )
    return False


async def export_for_reading(session: SessionView, path: Path) -> Path:
    """Write a session's answer, its plan and who decided what; see `write_for_reading`.

    Raises:
        BadInput: the file is there already, or its folder isn't.
        StorageError: it can't be written, or the record can't be read.
    """
    snapshot = session.snapshot
    decided = await logged_decisions(session.writer.ledger, session.id)
    return await asyncio.to_thread(write_for_reading, snapshot, path, decided)


def write_for_reading(snapshot: Snapshot, path: Path, decided: Sequence[LoggedDecision] = ()) -> Path:
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
        raise BadInput(Message("{} already exists; choose another name.", target)) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInput(Message("The folder {} doesn't exist.", target.parent)) from error
    except OSError as error:
        raise StorageError(Message("{} can't be written: {}.", target, error.strerror)) from error
    return target


def _write_new(target: Path, text: str) -> None:
    with target.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:  # on a full disk half a file would stand in the way of the next try
            target.unlink(missing_ok=True)
            raise


def as_json(snapshot: Snapshot, decided: Sequence[LoggedDecision] = ()) -> str:
    """Return a session as one JSON document, in ASCII."""
    document = {
        **snapshot.to_dict(),
        "response": snapshot.response,
        "decisions": [said.to_dict() for said in decided],
    }
    return json.dumps(document, ensure_ascii=True, indent=2) + "\n"


def as_markdown(snapshot: Snapshot, decided: Sequence[LoggedDecision] = ()) -> str:
    """Return question, answer and plan, with who or what let each step run, in the language of the question.

    What teams, models and graphs said, the answer as a whole, stands in quotations, so that nothing in it looks like
    the record.
    Its last line, which a reader of rendered Markdown doesn't see, keeps it from being evidence for another answer.
    """
    response, query = snapshot.response or {}, _subject(snapshot)
    language = language_of(query)
    words = _WORDS[language]
    answer = str(response.get("text", "")).strip()
    structured = is_structured(query)
    heading = _told(in_words(query)) if structured else _line(query.split("\n")[0])
    lines = [f"# {heading}", ""]
    if structured:
        lines += [fenced(safe_text(query.strip())), ""]
    elif "\n" in query.strip():
        lines += [*(f"> {_line(row)}".rstrip() for row in query.strip().split("\n")), ""]
    unfinished = words["unfinished"].format(status=words.get(snapshot.status, snapshot.status))
    lines += [_cited(answer) if answer else f"*{unfinished}*", "", f"## {words['plan']}", ""]
    if whole := [f"- {_without_links(line)}" for line in about_plan(decided, language)]:
        lines += [*whole, ""]
    for todo in snapshot.todos:
        lines += _todo(todo, decided, language)
    session, checkpoint = _line(snapshot.session_id), _line(snapshot.checkpoint_id)
    lines += ["", words["place"].format(session=session, checkpoint=checkpoint), "", EXPORTED]
    return "\n".join(lines) + "\n"


def _subject(snapshot: Snapshot) -> str:
    """Return the question that a session answers: its first; what was asked later where nothing was done for that."""
    done = [todo for todo in snapshot.todos if todo.status is Status.COMPLETED]
    later = str((snapshot.response or {}).get("question") or snapshot.query)
    return later if done and all(todo.metadata.get("manual") for todo in done) else snapshot.query


def _todo(todo: SupervisorTodo, decided: Sequence[LoggedDecision], language: str) -> Iterator[str]:
    words = _WORDS[language]
    refused = todo.status is Status.FAILED and todo.metadata.get("rejected")
    status = words[REJECTED] if refused else words.get(todo.status, str(todo.status))
    yield f"- **{step_name(todo.id)}** {_line(todo.name)} ({_line(todo.agent_name)}): {status}"
    yield from (f"  - {_without_links(line)}" for line in about_todo(todo, decided, language))
    if todo.error and not todo.metadata.get("rejected"):
        yield f"  - > {_without_links(safe_again(reason(todo.error, language), multiline=False))}"
    if todo.result and todo.result.get("summary"):
        yield f"  - > {_told(str(todo.result['summary']))}"


def _line(text: str) -> str:
    """Return what somebody wrote as one line without markup."""
    return _without_links(safe_text(text, multiline=False))


def _without_links(line: str) -> str:
    return literal(line, addresses=True)


def _cited(answer: str) -> str:
    """Return an answer as a quotation whose headings stand below those of the document."""
    return "\n".join(f"> {line}".rstrip() for line in tamed(safe_again(answer), _BELOW, addresses=True).split("\n"))


def _told(text: str) -> str:
    """Return what a team told, which is safe text already, as one line without markup."""
    return _line(unsafe_text(text))
