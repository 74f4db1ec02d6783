"""Why a step was not done, in the language of the answer: records keep it in English."""

from __future__ import annotations

import re

_KOREAN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), said)
    for pattern, said in (
        (r"rejected by (?P<who>.+?): (?P<why>.+)", "{who} 님이 거부함: {why}"),
        (r"rejected by (?P<who>.+)", "{who} 님이 거부함"),
        (r"plan rejected by (?P<who>.+)", "{who} 님이 계획을 거부함"),
        (r"expired: (?P<why>.+)", "기한이 지남: {why}"),
        (r"expired", "기한이 지남"),
        (r"cancelled by (?P<who>.+)", "{who} 님이 취소함"),
        (r"stopped by (?P<who>.+)", "{who} 님이 중지함"),
        (r"denied by policy rule (?P<rule>.+)", "정책 규칙 {rule}에 따라 금지됨"),
        (r"it took longer than (?P<seconds>\S+) s", "{seconds}초 안에 끝나지 않음"),
        (r'The command ".+?" ended with exit code (?P<code>-?\d+): (?P<last>.+)\.', "종료 코드 {code}: {last}"),
        (r'The command ".+?" ended with exit code (?P<code>-?\d+)\.', "종료 코드 {code}"),
        (r'The command ".+?" was ended by (?P<signal>\w+): (?P<last>.+)\.', "{signal} 신호로 종료됨: {last}"),
        (r'The command ".+?" was ended by (?P<signal>\w+)\.', "{signal} 신호로 종료됨"),
        (
            r'The command ".+?" was stopped because its time, (?P<seconds>\S+) s, was up: (?P<last>.+)\.',
            "제한 시간 {seconds}초가 지나 중지됨: {last}",
        ),
        (
            r'The command ".+?" was stopped because its time, (?P<seconds>\S+) s, was up\.',
            "제한 시간 {seconds}초가 지나 중지됨",
        ),
    )
)


def reason(why: str, language: str) -> str:
    """Return why a step was not done, as the answer says it.

    Args:
        why: a TODO's error or the reason why it was skipped.
        language: `ko` or `en`; others get English. What people and commands said stays as they said it, and so does a
            reason of another kind.
    """
    if language != "ko":
        return why
    # A step that isn't needed and failed is skipped; the answer says so beside the reason.
    bare = why.removeprefix("failed: ")
    for pattern, said in _KOREAN:
        match = pattern.fullmatch(bare)
        if match is not None:
            return said.format(**match.groupdict())
    return why
