"""Who let each step run or kept it from running, in words for a file that somebody reads later (C8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from hitl_tui.core.fold_operator_events import DEFAULT_SKIP_REASON
from hitl_tui.core.names import plain_name
from hitl_tui.core.requests import BY_RULE, Kind
from hitl_tui.core.safe_text import safe_text, unsafe_text
from hitl_tui.core.todos import SYSTEM, Status, SupervisorTodo
from hitl_tui.supervisor.allowing import ALLOWED
from hitl_tui.supervisor.reasons import reason
from hitl_tui.supervisor.verdicts import RESTORED, Said

_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
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
            "late": "nobody decided in time, so: {verdict}",
            "mode": "let run by mode {name} (nobody was asked)",
            "policy": "let run by policy rule {name} of hitl.toml (nobody was asked)",
            BY_RULE: "let run by standing {name} (nobody was asked)",
            "at": " at {at}",
            "skipped": "skipped: {why}",
            "unsaid": DEFAULT_SKIP_REASON,
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
            RESTORED: "{who} 님이 이전 체크포인트로 돌아감",
            "late": "제때 결정한 사람이 없음: {verdict}",
            "late-approve": "승인된 것으로 봄",
            "late-reject": "거부된 것으로 봄",
            "late-skip": "건너뜀",
            "late-stop": "중지함",
            "mode": "묻지 않고 모드 {name}에 따라 실행함",
            "policy": "묻지 않고 hitl.toml 정책 규칙 {name}에 따라 실행함",
            BY_RULE: "묻지 않고 항상 허용 규칙에 따라 실행함({name})",
            "at": ", {at}",
            "skipped": "건너뜀: {why}",
            "unsaid": "사용자가 건너뜀",
            Kind.PLAN: "계획",
            Kind.PROPOSAL: "계획 변경 제안",
            Kind.INTERRUPT: "팀이 물음",
            Kind.FAILURE: "실패한 뒤",
            Kind.EFFECT: "이미 실행되었을 수 있음",
        },
    }
)


def about_plan(decided: Sequence[Said], language: str) -> Iterator[str]:
    """Yield what was decided about the plan as a whole, a safe line each, in the order of the record.

    Args:
        decided: of the session.
        language: `ko` or `en`.
    """
    yield from (_line(said, language) for said in decided if not said.todo_id)


def about_todo(todo: SupervisorTodo, decided: Sequence[Said], language: str) -> Iterator[str]:
    """Yield who let a TODO run or kept it from running, a safe line each; of a copy's past what its state tells.

    Args:
        todo: as it is.
        decided: of the session.
        language: `ko` or `en`.
    """
    own = [said for said in decided if said.todo_id == todo.id]
    before = _before(todo, own)
    yield from (_line(said, language) for said in (*before, *own))
    words = _WORDS[language]
    if todo.status is Status.SKIPPED and not any(said.verdict == "skip" for said in own):
        why = str(todo.metadata.get("skip_reason", ""))
        by = str(todo.metadata.get("skipped_by", ""))
        if by in ("", SYSTEM):
            yield safe_text(words["skipped"].format(why=reason(why, language)), multiline=False)
        else:
            yield _line(Said(Kind.TODO, todo.id, "skip", by, "", todo.completed_at, why), language)
    if todo.error and not (todo.metadata.get("rejected") and _refused(own)):
        yield safe_text(unsafe_text(reason(todo.error, language)), multiline=False)  # it is safe text already


def _refused(own: Sequence[Said]) -> bool:
    return any(said.verdict in ("reject", "stop") for said in own)


def _before(todo: SupervisorTodo, own: Sequence[Said]) -> Iterator[Said]:
    """Yield what let a TODO run where that was put on another record: this session is a copy, or it hasn't begun."""
    approval = todo.approval or {}
    by, channel = str(approval.get("by", "")), str(approval.get("channel", ""))
    # Of several people the state has one line, the record has one each.
    if not by or any(said.by in by for said in own):
        return
    kind = ALLOWED if channel == "policy" else Kind.TODO.value
    yield Said(kind, todo.id, "approve", by, channel, str(approval.get("at", "")))


def _line(said: Said, language: str) -> str:
    words = _WORDS[language]
    text = _what(said, words)
    if said.at:
        text += words["at"].format(at=_moment(said.at))
    if said.reason and said.channel != BY_RULE:
        why = words["unsaid"] if said.reason == DEFAULT_SKIP_REASON else said.reason
        text += f": “{why}”"
    # What a TODO's own question was is plain from where the line stands.
    about = words.get(said.asked, "") if said.asked != RESTORED else ""
    return safe_text(f"{about}: {text}" if about else text, multiline=False)


def _what(said: Said, words: Mapping[str, str]) -> str:
    if said.asked == ALLOWED:
        mode = said.by.startswith("mode ")
        return words["mode" if mode else "policy"].format(name=said.by.rpartition(" ")[2])
    if said.channel == BY_RULE:
        return words[BY_RULE].format(name=said.by)
    if said.channel == "deadline":
        return words["late"].format(verdict=words.get(f"late-{said.verdict}", said.verdict))
    who = plain_name(said.by) + (f" ({said.channel})" if said.channel and said.channel != said.by else "")
    return words[said.verdict].format(who=who) if said.verdict in words else f"{said.verdict}: {who}"


def _moment(at: str) -> str:
    """Return a time to the second: `2026-03-01 14:03:09 UTC`; another zone's stays as it is."""
    utc = at.endswith(("+00:00", "Z"))
    return f"{at[:19].replace('T', ' ')} UTC" if utc else at
