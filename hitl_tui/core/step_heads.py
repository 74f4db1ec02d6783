"""What the titles of planned steps begin with: "Search the documents: …". Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepHead:
    """What the titles of the steps of one kind begin with.

    Args:
        team: who takes them.
        titles: the words, by language.
    """

    team: str
    titles: Mapping[str, str]


STEP_HEADS: Mapping[str, StepHead] = {
    "find": StepHead("search_team", {"en": "Search the documents", "ko": "자료 검색"}),
    "compute": StepHead("analysis_team", {"en": "Analyse", "ko": "분석"}),
    "table": StepHead("analysis_team", {"en": "Ask the table", "ko": "표 조회"}),
    "write": StepHead("document_team", {"en": "Write the report", "ko": "보고서 작성"}),
    "run": StepHead("command_team", {"en": "Run", "ko": "명령 실행"}),
}
"""By what is planned; these are all there are."""
_BY_TEAM = {
    team: {t for h in STEP_HEADS.values() if h.team == team for t in h.titles.values()}
    for team in {head.team for head in STEP_HEADS.values()}
}


def headed(kind: str, language: str, title: str) -> str:
    """Return the title of a step of a kind that is about something; the head alone where that is empty."""
    head = STEP_HEADS[kind].titles[language]
    return f"{head}: {title}" if title else head


def without_head(title: str, team: str) -> str:
    """Return a title without what those of its team begin with: the same for all of its steps."""
    head, found, rest = title.partition(": ")
    return rest if found and head in _BY_TEAM.get(team, ()) else title
