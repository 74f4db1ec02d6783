"""What was found, for a person and for other teams: passages with citations, and what wasn't searched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hitl_tui.teams.contract import Citation, TeamResult

_HANGUL = re.compile("[가-힣]")
_NAMED = 5
_ENGLISH = {
    "found": "{passages} in {files} for “{query}”, best first.",
    "nothing": "Nothing found: no passage in the {searched} searched speaks of “{query}”.",
    "no_files": "Nothing found: there is no document to search.",
    "missing": "Not in these documents: {words}.",
    "skipped": "Not searched ({count}): {names}.",
    "notes": "Remarks: {names}.",
    "more": "and {count} more",
}
_KOREAN = {
    "found": "“{query}”에 대해 {files}에서 {passages}을 찾았습니다. 관련도가 높은 순서입니다.",
    "nothing": "찾지 못했습니다: 검색한 {searched} 어디에도 “{query}”에 관한 내용이 없습니다.",
    "no_files": "찾지 못했습니다: 검색할 문서가 없습니다.",
    "missing": "이 문서들에 없는 말: {words}.",
    "skipped": "검색하지 못한 것 ({count}): {names}.",
    "notes": "참고: {names}.",
    "more": "그 밖에 {count}개",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a search gave, as it is kept in state.

    Args:
        query: the question.
        passages: path, line, end_line, page, heading, text and score of each, best first.
        missing: words of the question that stand nowhere in the documents.
        searched: how many files were searched.
        skipped: path and reason of what wasn't, the first of them.
        skipped_count: how many weren't in all.
        notes: path and remark of files that were read otherwise than they should be.
    """

    query: str
    passages: Sequence[dict[str, Any]]
    missing: Sequence[str]
    searched: int
    skipped: Sequence[dict[str, str]]
    skipped_count: int
    notes: Sequence[dict[str, str]]


def make_report(found: Found) -> TeamResult:
    """Return the team's result; its sentences are in the question's language."""
    query, passages, searched = found.query, found.passages, found.searched
    korean = _HANGUL.search(query) is not None
    words = _KOREAN if korean else _ENGLISH
    citations = tuple(_citation(passage) for passage in passages)
    parts = [_headline(words, korean, query, passages, searched)]
    parts += [
        _entry(number, passage, citation)
        for number, (passage, citation) in enumerate(zip(passages, citations, strict=True), start=1)
    ]
    if found.missing:
        parts.append(words["missing"].format(words=", ".join(found.missing)))
    if found.skipped_count:
        names = _names(words, found.skipped, found.skipped_count)
        parts.append(words["skipped"].format(count=found.skipped_count, names=names))
    if found.notes:
        parts.append(words["notes"].format(names=_names(words, found.notes, len(found.notes))))
    return TeamResult(
        text="\n\n".join(parts),
        data={
            "query": query,
            "hits": len(passages),
            "passages": [dict(passage) for passage in passages],
            "missing": list(found.missing),
            "searched": searched,
            "skipped": [dict(item) for item in found.skipped],
            "skipped_count": found.skipped_count,
            "notes": [dict(item) for item in found.notes],
        },
        citations=citations,
        summary=_summary(citations, searched, found.skipped_count)[:200],
        found=bool(passages),
    )


def _names(words: dict[str, str], items: Sequence[dict[str, str]], count: int) -> str:
    names = [f"{item['path']} ({item['reason']})" for item in items[:_NAMED]]
    if count > len(names):
        names.append(words["more"].format(count=count - len(names)))
    return "; ".join(names)


def _headline(
    words: dict[str, str], korean: bool, query: str, passages: Sequence[dict[str, Any]], searched: int
) -> str:
    short = " ".join(query.split())
    short = short if len(short) <= 160 else short[:159] + "…"
    if passages:
        files = len({passage["path"] for passage in passages})
        return words["found"].format(
            query=short,
            passages=f"구절 {len(passages)}개" if korean else _count(len(passages), "passage"),
            files=f"파일 {files}개" if korean else _count(files, "file"),
        )
    if not searched:
        return words["no_files"]
    return words["nothing"].format(query=short, searched=f"파일 {searched}개" if korean else _count(searched, "file"))


def _summary(citations: Sequence[Citation], searched: int, skipped: int) -> str:
    if citations:
        files = len({citation.path for citation in citations})
        return f"{_count(len(citations), 'passage')} in {_count(files, 'file')}, best: {citations[0].label}"
    left_out = f", {skipped} skipped" if skipped else ""
    return f"nothing found in {_count(searched, 'file')}{left_out}"


def _citation(passage: dict[str, Any]) -> Citation:
    return Citation.from_dict({**passage, "quote": passage["text"]})


def _entry(number: int, passage: dict[str, Any], citation: Citation) -> str:
    heading = f" {passage['heading']}" if passage["heading"] else ""
    quote = "\n".join(f"   > {line}" for line in str(passage["text"]).split("\n"))
    return f"{number}. `{citation.label}`{heading}\n\n{quote}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
