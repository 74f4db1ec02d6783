"""What was found, for a person and for other teams: passages with citations, and what wasn't searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitl_tui.core.names import clip
from hitl_tui.core.safe_markdown import literal
from hitl_tui.teams.contract import BRIEF, Block, Brief, Citation, TeamResult, language_of, quoted, shown_name
from hitl_tui.teams.search.blocks import LeftOut

_NAMED = 5
_ANSWER = 600
_LISTED, _LINE = 12, 160
_MOST_QUOTED, _NEARLY = 3, 0.75
_QUOTE, _FAR = 280, 240
_ENGLISH = {
    "found": "{passages} in {files} for “{query}”, best first.",
    "weak": "No passage in the {searched} searched clearly answers “{query}”. What comes nearest:",
    "nearest": "Found something near, not a sure answer:",
    "nothing": "Nothing found: no passage in the {searched} searched speaks of “{query}”.",
    "no_files": "Nothing found: there is no document to search.",
    "far": "What comes nearest: `{label}` “{quote}”",
    "missing": "Not in these documents: {words}.",
    "skipped": "Not searched ({count}): {names}.",
    "notes": "Remarks: {names}.",
    "more": "and {count} more",
    "counted": "{lines} in {files} with “{word}”{where}:",
    "titled": "{files} with a title that begins with “{title}”{where}:",
    "placed": "{files} match `{place}`:",
    "nearly": "“{word}” isn't in these documents; did you mean “{near}”?",
    "unreadable": "`{path}` wasn't searched: {reason}.",
    "left_out": "Left out: {kinds}.",
    "binary": "{count:,} binary",
    "large": "{count:,} too large",
    "ignored": "{count:,} of kinds or in folders that aren't searched",
    "unread_files": "{count:,} unreadable",
    "foreign": "Found in documents in another language.",
    "line": "{count:,} line",
    "lines": "{count:,} lines",
    "passage": "{count:,} passage",
    "passages": "{count:,} passages",
    "file": "{count:,} file",
    "files": "{count:,} files",
    "best": "Found, the best passage first:",
    "only": "Found in one passage:",
    "summary": "{passages} in {files}, best: {label}",
    "none": "nothing found in {searched}",
    "unread": ", {count} skipped",
    "indexing": "indexing {done:,} of {total:,} files",
    "indexed": "indexed {files}",
    "unchanged": ", {count:,} unchanged",
    "removed": ", {count:,} removed",
}
_KOREAN = {
    "found": "“{query}”에 대해 {files}에서 {passages}를 찾았습니다. 관련도가 높은 순서입니다.",
    "weak": "검색한 {searched} 어디에도 “{query}”에 분명히 답하는 구절이 없습니다. 가장 가까운 내용입니다:",
    "nearest": "가까운 내용을 찾았습니다. 확실한 답은 아닙니다:",
    "nothing": "찾지 못했습니다: 검색한 {searched} 어디에도 “{query}”에 관한 내용이 없습니다.",
    "no_files": "찾지 못했습니다: 검색할 문서가 없습니다.",
    "far": "가장 가까운 내용: `{label}` “{quote}”",
    "missing": "이 문서들에 없는 말: {words}.",
    "skipped": "검색하지 못한 것 ({count}): {names}.",
    "notes": "참고: {names}.",
    "more": "그 밖에 {count}개",
    "counted": "“{word}”: {files}, {lines}에 있습니다{where}.",
    "titled": "제목이 이렇게 시작하는 것: “{title}”, {files}{where}.",
    "placed": "`{place}`: {files}.",
    "nearly": "이 문서들에 없는 말: “{word}”. 혹시 이 말인가요? “{near}”",
    "unreadable": "검색하지 못한 파일: `{path}` ({reason}).",
    "left_out": "제외한 것: {kinds}.",
    "binary": "바이너리 {count:,}개",
    "large": "너무 큰 파일 {count:,}개",
    "ignored": "검색 대상이 아닌 종류나 폴더 {count:,}개",
    "unread_files": "읽을 수 없는 것 {count:,}개",
    "foreign": "다른 언어로 쓰인 문서에서 찾았습니다.",
    "line": "{count:,}줄",
    "lines": "{count:,}줄",
    "passage": "구절 {count:,}개",
    "passages": "구절 {count:,}개",
    "file": "파일 {count:,}개",
    "files": "파일 {count:,}개",
    "best": "찾았습니다. 가장 잘 맞는 구절부터:",
    "only": "한 구절에서 찾았습니다:",
    "summary": "{files}에서 {passages}, 첫째: {label}",
    "none": "{searched}에서 찾지 못함",
    "unread": ", {count}개는 읽지 못함",
    "indexing": "파일 {total:,}개 중 {done:,}개 색인",
    "indexed": "{files} 색인",
    "unchanged": ", 그대로 {count:,}개",
    "removed": ", 없어진 것 {count:,}개",
}
NEARBY = (_ENGLISH["nearest"], _KOREAN["nearest"])
"""With what an answer begins that isn't sure."""


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
        asked: the session's question, which tells the language where the search is a bare name.
        weak: the passages only come near what was asked.
        nearly: words that stand nowhere, each with one that is written nearly like it.
        listed: what was counted or listed; see `Listed`.
        left_out: how many were left out, by kind.
        unread: path and reason of files that the question names and that weren't searched.
        far: the passages that come nearest where nothing speaks of what is asked.
    """

    query: str
    passages: Sequence[dict[str, Any]]
    missing: Sequence[str]
    searched: int
    skipped: Sequence[dict[str, str]]
    skipped_count: int
    notes: Sequence[dict[str, str]]
    asked: str = ""
    weak: bool = False
    nearly: Sequence[Sequence[str]] = ()
    listed: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    unread: Sequence[dict[str, str]] = ()
    far: Sequence[dict[str, Any]] = ()


def make_report(found: Found) -> TeamResult:
    """Return the team's result; its sentences are in the question's language."""
    query, passages, searched = found.query, found.passages, found.searched
    words = words_for(query, found.asked)
    citations = tuple(_citation(passage) for passage in passages)
    headline = _headline(words, found)
    parts = [headline]
    parts += [
        _entry(number, passage, citation)
        for number, (passage, citation) in enumerate(zip(passages, citations, strict=True), start=1)
    ]
    absent = _absent(words, found)
    parts += absent
    if found.left_out:
        parts.append(words["left_out"].format(kinds=", ".join(_kinds(words, found.left_out))))
    if found.notes:
        parts.append(words["notes"].format(names=_names(words, found.notes, len(found.notes))))
    brief = Brief(
        answer=_answer(words, found, citations),
        evidence=tuple(_block(passage, citation) for passage, citation in zip(passages, citations, strict=True)),
        absent=tuple(absent if passages and not found.weak else [headline, *absent]),
        quoted=tuple(citation.label for citation in citations[: _quoted(found)]),
    )
    return TeamResult(
        text="\n\n".join(parts),
        data={
            "query": query,
            "hits": len(passages),
            "passages": [dict(passage) for passage in passages],
            "missing": list(found.missing),
            "weak": found.weak,
            "searched": searched,
            "skipped": [dict(item) for item in found.skipped],
            "skipped_count": found.skipped_count,
            "left_out": dict(found.left_out),
            "notes": [dict(item) for item in found.notes],
            BRIEF: brief.to_dict(),
        },
        citations=citations,
        summary=_summary(words, citations, searched, found.skipped_count)[:200],
        found=bool(passages),
    )


def _names(words: Mapping[str, str], items: Sequence[dict[str, str]], count: int) -> str:
    names = [f"{shown_name(item['path'])} ({item['reason']})" for item in items[:_NAMED]]
    if count > len(names):
        names.append(words["more"].format(count=count - len(names)))
    return "; ".join(names)


def _kinds(words: Mapping[str, str], left_out: Mapping[str, int]) -> list[str]:
    names = {kind: kind for kind in LeftOut} | {LeftOut.UNREADABLE: "unread_files"}
    return [words[name].format(count=left_out[kind]) for kind, name in names.items() if left_out.get(kind)]


def _named_unread(words: Mapping[str, str], found: Found) -> list[str]:
    return [words["unreadable"].format(path=shown_name(i["path"]), reason=i["reason"]) for i in found.unread]


def words_for(query: str, asked: str = "") -> Mapping[str, str]:
    """Return the sentences in the language of the search, or of the session's question where only that tells it."""
    return _KOREAN if "ko" in (language_of(query), language_of(asked)) else _ENGLISH


def indexed(words: Mapping[str, str], files: int, unchanged: int, removed: int) -> str:
    """Return what was read into the index, in a few words."""
    said = words["indexed"].format(files=_count(words, files, "file"))
    said += words["unchanged"].format(count=unchanged) if unchanged else ""
    return said + (words["removed"].format(count=removed) if removed else "")


def _headline(words: Mapping[str, str], found: Found) -> str:
    short, passages, searched = " ".join(found.query.split()), found.passages, found.searched
    short = short if len(short) <= 160 else short[:159] + "…"
    if found.weak:
        return words["weak"].format(query=short, searched=_count(words, searched, "file"))
    if passages:
        files = len({passage["path"] for passage in passages})
        return words["found"].format(
            query=short, passages=_count(words, len(passages), "passage"), files=_count(words, files, "file")
        )
    if not searched:
        return words["no_files"]
    return words["nothing"].format(query=short, searched=_count(words, searched, "file"))


def _absent(words: Mapping[str, str], found: Found) -> list[str]:
    said = _named_unread(words, found)
    for passage in found.far:
        quote = clip(" ".join(str(passage["text"]).split()), _FAR)
        said.append(words["far"].format(label=_citation(passage).label, quote=literal(quote)))
    if found.missing:
        said.append(words["missing"].format(words=", ".join(found.missing)))
    if found.skipped_count:
        names = _names(words, found.skipped, found.skipped_count)
        said.append(words["skipped"].format(count=found.skipped_count, names=names))
    return said


def _summary(words: Mapping[str, str], citations: Sequence[Citation], searched: int, skipped: int) -> str:
    if citations:
        files = len({citation.path for citation in citations})
        return words["summary"].format(
            passages=_count(words, len(citations), "passage"),
            files=_count(words, files, "file"),
            label=citations[0].label,
        )
    left_out = words["unread"].format(count=skipped) if skipped else ""
    return words["none"].format(searched=_count(words, searched, "file")) + left_out


def _citation(passage: dict[str, Any]) -> Citation:
    return Citation.from_dict({**passage, "quote": passage["text"]})


def _answer(words: Mapping[str, str], found: Found, citations: Sequence[Citation]) -> str:
    passages = found.passages
    if not passages:
        return ""
    if found.listed:
        head = _counted(words, found.listed)
        shown = [
            f"- `{c.label}` {' '.join(str(p['text']).split())[:_LINE]}"
            for p, c in zip(passages, citations, strict=True)
        ]
        return "\n".join([head, "", *shown[:_LISTED]])
    said = _named_unread(words, found)
    said += [words["nearly"].format(word=word, near=near) for word, near in found.nearly]
    if _foreign(found):
        said.append(words["foreign"])
    said.append(words["nearest" if found.weak else "best" if len(passages) > 1 else "only"])
    for passage, citation in list(zip(passages, citations, strict=True))[: _quoted(found)]:
        said.append(f"{_place(passage, citation)}\n\n{quoted(str(passage['text']), _ANSWER)}")
    return "\n\n".join(said)


def _counted(words: Mapping[str, str], listed: Mapping[str, Any]) -> str:
    kind = "counted" if listed["word"] else "titled" if listed["title"] else "placed"
    return words[kind].format(
        word=listed["word"],
        title=listed["title"],
        place=listed["place"],
        where=f" (`{listed['place']}`)" if listed["place"] else "",
        lines=_count(words, listed["lines"], "line"),
        files=_count(words, listed["files"], "file"),
    )


def _foreign(found: Found) -> bool:
    """Return whether a Korean question is answered from a text in another language."""
    return "ko" in language_of(found.query) and "ko" not in language_of(str(found.passages[0]["text"]))


def _quoted(found: Found) -> int:
    """Return how many passages the answer quotes: where one is sure, those that are nearly as good; else several."""
    if found.weak:
        return _MOST_QUOTED
    return sum(p["score"] >= _NEARLY * found.passages[0]["score"] for p in found.passages[:_MOST_QUOTED])


def _place(passage: dict[str, Any], citation: Citation) -> str:
    heading = passage["heading"].rpartition(" > ")[2]
    return f"`{citation.label}`" + (f" {heading}" if heading else "")


def _block(passage: dict[str, Any], citation: Citation) -> Block:
    heading = f" {passage['heading']}" if passage["heading"] else ""
    return Block(f"`{citation.label}`{heading}\n\n{quoted(str(passage['text']), _QUOTE)}", citation.label)


def _entry(number: int, passage: dict[str, Any], citation: Citation) -> str:
    heading = f" {passage['heading']}" if passage["heading"] else ""
    quote = "\n".join(f"   > {line}" for line in str(passage["text"]).split("\n"))
    return f"{number}. `{citation.label}`{heading}\n\n{quote}"


def _count(words: Mapping[str, str], number: int, noun: str) -> str:
    return words[noun if number == 1 else f"{noun}s"].format(count=number)
