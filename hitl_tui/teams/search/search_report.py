"""What was found, for a person and for other teams: passages with citations, and what wasn't searched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TypedDict

from hitl_tui.core.names import clip
from hitl_tui.core.safe_markdown import literal
from hitl_tui.core.written_language import language_of
from hitl_tui.extraction.blocks import LeftOut
from hitl_tui.extraction.lists import WHOLE_CHARS
from hitl_tui.teams.contract import BRIEF, Block, Brief, Citation, TeamResult, quoted, shown_name
from hitl_tui.teams.passages import Passage
from hitl_tui.teams.search.counted_files import Counted
from hitl_tui.teams.search.passage_search import MAX_PASSAGE_CHARS, SearchHits, tongue

_NAMED, _SHORT = 5, 160
_LISTED, _LINE = 12, 160
_MOST_QUOTED, _NEARLY = 3, 0.01
_WRAPPED = 50
"""Characters of the longest line of a text whose paragraphs are broken into lines."""
_MARKDOWN = (".md", ".markdown", ".mdx")
_OWN_LINE = re.compile(r"\s{4}|\s*(?:[-*+•·|>#~`$]|\d{1,3}[.)]|제\s?\d+|(?![a-z])\w[\w ]{0,30}: |@)")
_OWN_IN_MARKDOWN = re.compile(r"\s{4}|\s*(?:[^\w\s&/=–—]\s|\||>|#{1,6}\s|`{3}|~{3}|\d{1,3}[.)]\s|제\s?\d+)")
_COLUMNS = re.compile(r"\S {3,}\S|\||\s{2}$|\\$|^\s{4}|^#{1,6}\s|^\s*(?:`{3}|~{3})|^-{3,}$")
"""What begins a line of its own; and what a line has that stands as it was typed."""
_FENCE = re.compile(r"\s*(?:`{3}|~{3})(\s*\S)?")
_CODE = re.compile(r"[{}=$]|\(\)|(?<!\S)--?\w")
_SPAN = re.compile(r"`[^`]*`")
_FIELDS = re.compile(r"\s*(?:- )?[\w-]+(?::|\s?=)(?: .*)?\n\s*[\w-]+(?::|\s?=)(?: |$)")
_FAR = 240
_ENGLISH = {
    "nearest": "No sure answer was found in the {searched} searched.",
    "nothing": "Nothing found: no passage in the {searched} searched speaks of “{query}”.",
    "no_files": "Nothing found: there is no document to search.",
    "far": "What comes nearest: `{label}` “{quote}”",
    "missing": "Not in these documents: {words}.",
    "skipped": "Not searched ({count}): {names}.",
    "notes": "Remarks: {names}.",
    "more": "and {count} more",
    "counted": "{lines} in {files} with “{word}”{where}:",
    "often": "“{word}” appears {times} on {lines} in {files}{where}:",
    "titled": "{files} with a title that begins with “{title}”{where}:",
    "placed": "{files} match `{place}`{directly}:",
    "entries": "{entries} in `{place}`{when}:",
    "directly": ", {files} of them in the folder itself",
    "nearly": "“{word}” isn't in these documents; did you mean “{near}”?",
    "unreadable": "`{path}` wasn't searched: {reason}.",
    "left_out": "Left out: {kinds}.",
    "binary": "{count:,} binary",
    "large": "{count:,} too large",
    "ignored": "{count:,} of kinds or in folders that aren't searched",
    "unread_files": "{count:,} unreadable",
    "foreign": "Found in documents in another language.",
    "release": "{count:,} release",
    "releases": "{count:,} releases",
    "question": "{count:,} question",
    "questions": "{count:,} questions",
    "function": "{count:,} function",
    "functions": "{count:,} functions",
    "folder": "{count:,} folder",
    "folders": "{count:,} folders",
    "class_definition": "{count:,} class",
    "class_definitions": "{count:,} classes",
    "time": "once",
    "times": "{count:,} times",
    "item": "{count:,} item",
    "items": "{count:,} items",
    "of": "{count} of {of:,}",
    "line": "{count:,} line",
    "lines": "{count:,} lines",
    "passage": "{count:,} passage",
    "passages": "{count:,} passages",
    "file": "{count:,} file",
    "files": "{count:,} files",
    "other": "The documents are in another language, where this may stand in other words. Ask in that language, too.",
    "unsaid": "Found in one passage, without the words: {words}.",
    "near": "What comes nearest:",
    "best": "Found, the best passage first:",
    "only": "Found in one passage:",
    "whole": "Found as a whole, in the order of the document:",
    "elsewhere": " (in another language)",
    "summary": "{passages} in {files}, best: {label}",
    "none": "nothing found in {searched}",
    "unread": ", {count} skipped",
    "indexing": "indexing {done:,} of {total:,} files",
    "indexed": "indexed {files}",
    "unchanged": ", {count:,} unchanged",
    "removed": ", {count:,} removed",
}
_KOREAN = {
    "nearest": "검색한 {searched}에서 확실한 답은 찾지 못했습니다.",
    "nothing": "찾지 못했습니다: 검색한 {searched} 어디에도 “{query}”에 관한 내용이 없습니다.",
    "no_files": "찾지 못했습니다: 검색할 문서가 없습니다.",
    "far": "가장 가까운 내용: `{label}` “{quote}”",
    "missing": "이 문서들에 없는 말: {words}.",
    "skipped": "검색하지 못한 것 ({count}): {names}.",
    "notes": "참고: {names}.",
    "more": "그 밖에 {count}개",
    "counted": "“{word}”: {files}, {lines}에 있습니다{where}.",
    "often": "“{word}”: {files}, {lines}에 모두 {times} 나옵니다{where}.",
    "titled": "제목이 이렇게 시작하는 것: “{title}”, {files}{where}.",
    "placed": "`{place}`: {files}{directly}.",
    "entries": "`{place}`: {entries}{when}.",
    "directly": ", 그중 폴더 바로 아래에 {files}개",
    "nearly": "이 문서들에 없는 말: “{word}”. 혹시 이 말인가요? “{near}”",
    "unreadable": "검색하지 못한 파일: `{path}` ({reason}).",
    "left_out": "제외한 것: {kinds}.",
    "binary": "바이너리 {count:,}개",
    "large": "너무 큰 파일 {count:,}개",
    "ignored": "검색 대상이 아닌 종류나 폴더 {count:,}개",
    "unread_files": "읽을 수 없는 것 {count:,}개",
    "foreign": "다른 언어로 쓰인 문서에서 찾았습니다.",
    "release": "릴리스 {count:,}개",
    "releases": "릴리스 {count:,}개",
    "question": "질문 {count:,}개",
    "questions": "질문 {count:,}개",
    "function": "함수 {count:,}개",
    "functions": "함수 {count:,}개",
    "folder": "폴더 {count:,}개",
    "folders": "폴더 {count:,}개",
    "class_definition": "클래스 {count:,}개",
    "class_definitions": "클래스 {count:,}개",
    "time": "{count:,}번",
    "times": "{count:,}번",
    "item": "항목 {count:,}개",
    "items": "항목 {count:,}개",
    "of": "{of:,}개 가운데 {count}",
    "line": "{count:,}줄",
    "lines": "{count:,}줄",
    "passage": "구절 {count:,}개",
    "passages": "구절 {count:,}개",
    "file": "파일 {count:,}개",
    "files": "파일 {count:,}개",
    "other": "문서가 다른 언어로 쓰여 있어 질문의 낱말로는 찾지 못했을 수 있습니다. 문서의 언어로도 물어보세요.",
    "unsaid": "한 구절에서 찾았습니다. 그 구절에 없는 말: {words}.",
    "near": "가장 가까운 내용:",
    "best": "찾았습니다. 가장 잘 맞는 구절부터:",
    "only": "한 구절에서 찾았습니다:",
    "whole": "찾았습니다. 문서의 순서대로 전체를 보여 드립니다:",
    "elsewhere": " (다른 언어)",
    "summary": "{files}에서 {passages}, 첫째: {label}",
    "none": "{searched}에서 찾지 못함",
    "unread": ", {count}개는 읽지 못함",
    "indexing": "파일 {total:,}개 중 {done:,}개 색인",
    "indexed": "{files} 색인",
    "unchanged": ", 그대로 {count:,}개",
    "removed": ", 없어진 것 {count:,}개",
}
NEARBY = (_ENGLISH["near"], _KOREAN["near"])
"""What stands above the passages of an answer that isn't sure."""


class Looked(TypedDict):
    """What was searched, as it is kept in state.

    `searched` counts files; `skipped` is the first of what wasn't, with reasons, `skipped_count` and `left_out` (by
    kind) count it all, `unread` are those that the question names, `notes` remarks on files.
    """

    searched: int
    skipped: Sequence[dict[str, str]]
    skipped_count: int
    left_out: Mapping[str, int]
    unread: Sequence[dict[str, str]]
    notes: Sequence[dict[str, str]]


NOTHING: Looked = {"searched": 0, "skipped": [], "skipped_count": 0, "left_out": {}, "unread": [], "notes": []}


@dataclass(frozen=True, slots=True)
class _Found:
    """A question, what was found and what was searched, and the sentences in its language."""

    query: str
    hits: SearchHits
    looked: Looked
    words: Mapping[str, str]

    @property
    def language(self) -> str:
        return "ko" if self.words is _KOREAN else "en"

    @property
    def files(self) -> str:
        """How many files were searched, in words."""
        return _count(self.words, self.looked["searched"], "file")


def make_report(query: str, hits: SearchHits, looked: Looked, asked: str = "") -> TeamResult:
    """Return the team's result; its sentences are in the question's language.

    Args:
        query: the question.
        hits: what was found.
        looked: what was searched.
        asked: the session's question, which tells the language where the search is a bare name.
    """
    words = words_for(query, asked)
    found = _Found(query, hits, looked, words)
    citations = tuple(_citation(passage) for passage in hits.passages)
    cited = list(zip(hits.passages, citations, strict=True))
    brief = Brief(
        answer=_answer(found, cited),
        evidence=tuple(Block(_shown(found, passage, passage.heading), c.label) for passage, c in cited),
        absent=tuple(_absent(found)),
        quoted=tuple(citation.label for citation in citations[: _quoted(hits)]),
    )
    parts = [brief.answer, *(block.text for block in brief.evidence if block.label not in brief.quoted), *brief.absent]
    if looked["left_out"]:
        parts.append(words["left_out"].format(kinds=", ".join(_kinds(words, looked["left_out"]))))
    if looked["notes"]:
        parts.append(words["notes"].format(names=_names(words, looked["notes"], len(looked["notes"]))))
    return TeamResult(
        text="\n\n".join(filter(None, parts)),
        data={
            "query": query,
            "hits": len(citations),
            "passages": [asdict(passage) for passage in hits.passages],
            "missing": list(hits.missing),
            "weak": hits.weak,
            "searched": looked["searched"],
            "skipped": [dict(item) for item in looked["skipped"]],
            "skipped_count": looked["skipped_count"],
            "left_out": dict(looked["left_out"]),
            "notes": [dict(item) for item in looked["notes"]],
            BRIEF: brief.to_dict(),
        },
        citations=citations,
        summary=_summary(found, citations)[:200],
        found=bool(citations),
    )


def _names(words: Mapping[str, str], items: Sequence[dict[str, str]], count: int) -> str:
    names = [f"{shown_name(item['path'])} ({item['reason']})" for item in items[:_NAMED]]
    if count > len(names):
        names.append(words["more"].format(count=count - len(names)))
    return "; ".join(names)


def _kinds(words: Mapping[str, str], left_out: Mapping[str, int]) -> list[str]:
    names = {kind: kind for kind in LeftOut} | {LeftOut.UNREADABLE: "unread_files"}
    return [words[name].format(count=left_out[kind]) for kind, name in names.items() if left_out.get(kind)]


def words_for(query: str, asked: str = "") -> Mapping[str, str]:
    """Return the sentences in the language of the search, or of the session's question where only that tells it."""
    return _KOREAN if language_of(query, asked) == "ko" else _ENGLISH


def indexed(words: Mapping[str, str], files: int, unchanged: int, removed: int) -> str:
    """Return what was read into the index, in a few words."""
    said = words["indexed"].format(files=_count(words, files, "file"))
    said += words["unchanged"].format(count=unchanged) if unchanged else ""
    return said + (words["removed"].format(count=removed) if removed else "")


def _unread(found: _Found) -> list[str]:
    unread = found.looked["unread"]
    return [found.words["unreadable"].format(path=shown_name(i["path"]), reason=i["reason"]) for i in unread]


def _absent(found: _Found) -> list[str]:
    words, looked, hits, said = found.words, found.looked, found.hits, []
    if not hits.passages:
        kind = "nothing" if looked["searched"] else "no_files"
        query = clip(" ".join(found.query.split()), _SHORT)
        said.append(words[kind].format(query=query, searched=found.files))
        said += [words["other"]] if hits.foreign else []
    said += _unread(found)
    for passage in hits.far:
        quote = clip(" ".join(passage.text.split()), _FAR)
        said.append(words["far"].format(label=_citation(passage).label, quote=literal(quote)))
    if hits.missing and not hits.weak:
        said.append(_missing(found))
    if count := looked["skipped_count"]:
        said.append(words["skipped"].format(count=count, names=_names(words, looked["skipped"], count)))
    return said


def _summary(found: _Found, citations: Sequence[Citation]) -> str:
    words, skipped = found.words, found.looked["skipped_count"]
    if not citations:
        return words["none"].format(searched=found.files) + (words["unread"].format(count=skipped) if skipped else "")
    return words["summary"].format(
        passages=_count(words, len(citations), "passage"),
        files=_count(words, len({citation.path for citation in citations}), "file"),
        label=citations[0].label,
    )


def _citation(passage: Passage) -> Citation:
    return Citation.from_dict({**asdict(passage), "quote": passage.text})


def _answer(found: _Found, cited: Sequence[tuple[Passage, Citation]]) -> str:
    words, hits = found.words, found.hits
    if not cited:
        return ""
    if hits.counted:
        lines = [(f"`{citation.label}`", " ".join(passage.text.split())[:_LINE]) for passage, citation in cited]
        named_first = hits.counted.entries == "folder"
        shown = [f"- {' '.join(reversed(line) if named_first else line)}".rstrip() for line in lines]
        return "\n".join([_counted(words, hits.counted), "", *shown[:_LISTED]])
    said = [*_unread(found), *(words["nearly"].format(word=word, near=near) for word, near in hits.nearly)]
    first = cited[: _quoted(hits)]
    if hits.foreign:
        said.append(words["other"])
    elif found.language not in (tongues := {tongue(passage) for passage, _ in first}) and tongues != {""}:
        said.append(words["foreign"])
    if hits.weak:
        said.append(
            " ".join([words["nearest"].format(searched=found.files), *([_missing(found)] if hits.missing else [])])
        )
    leads = {"near": hits.weak, "whole": hits.whole, "best": len(cited) > 1, "unsaid": hits.unsaid, "only": True}
    lead = next(name for name, holds in leads.items() if holds)
    said.append(words[lead].format(words=", ".join(hits.unsaid)))
    for passage, _ in first:
        heading = passage.heading.rpartition(" > ")[2]
        if passage.items:
            count = _count(words, passage.items, "item")
            count = words["of"].format(count=count, of=passage.of) if passage.items < passage.of else count
            heading = f"{heading} ({count})".strip()
        said.append(_shown(found, passage, heading, WHOLE_CHARS if hits.whole or passage.items else MAX_PASSAGE_CHARS))
    return "\n\n".join(said)


def _unwrapped(text: str, path: str) -> str:
    """Return a text with the lines of a paragraph joined: those of Markdown, and elsewhere those that are full.

    A line is full where no other word had room in it.
    """
    lines, markdown = text.split("\n"), path.lower().endswith(_MARKDOWN)
    own = _OWN_IN_MARKDOWN if markdown else _OWN_LINE
    fences = [fence for line in lines if (fence := _FENCE.match(line))]
    code = len(fences) % 2 == 1 and not fences[0][1]  # it begins within some
    width = max(map(len, lines))
    made = lines[:1]
    for line, after in pairwise(lines):
        code ^= _FENCE.match(line) is not None
        full = width >= _WRAPPED and len(line) + len(after.split(maxsplit=1)[0] if after.strip() else "") >= width
        both = f"{line}\n{after}"
        apart = code or own.match(after) or _COLUMNS.search(line) or _FIELDS.match(both)
        if (
            line.strip()
            and after.strip()
            and not apart
            and (full or (markdown and not _CODE.search(_SPAN.sub("", both))))
        ):
            made[-1] += " " + after.strip()
        else:
            made.append(after)
    return "\n".join(made)


def _missing(found: _Found) -> str:
    return found.words["missing"].format(words=", ".join(found.hits.missing))


def _counted(words: Mapping[str, str], found: Counted) -> str:
    if found.entries:
        entries, when = _count(words, found.lines, found.entries), f" ({found.when})" if found.when else ""
        return words["entries"].format(entries=entries, place=found.place, when=when)
    kind = "often" if found.times else "counted" if found.word else "titled" if found.title else "placed"
    return words[kind].format(
        word=found.word,
        title=found.title,
        place=found.place,
        where=f" (`{found.place}`)" if found.place else "",
        lines=_count(words, found.lines, "line"),
        times=_count(words, found.times, "time"),
        files=_count(words, found.files, "file"),
        directly=words["directly"].format(files=f"{found.directly:,}") if 0 < found.directly < found.files else "",
    )


def _quoted(hits: SearchHits) -> int:
    """Return how many passages the answer quotes: a whole section, or those that are nearly as good as a sure one."""
    if hits.weak or hits.whole:
        return hits.whole or _MOST_QUOTED
    good = sum(passage.score >= _NEARLY * hits.passages[0].score for passage in hits.passages[:_MOST_QUOTED])
    return max(good, *(at for at, passage in enumerate(hits.passages[:_MOST_QUOTED], 1) if passage.items), 0)


def _shown(found: _Found, passage: Passage, heading: str, most: int = MAX_PASSAGE_CHARS) -> str:
    """Return a passage below its place, which says so where others can be read and it is in another language."""
    apart = tongue(passage) not in (found.language, "") and found.language in map(tongue, found.hits.passages)
    place = f"`{_citation(passage).label}` {heading}".rstrip() + (found.words["elsewhere"] if apart else "")
    return f"{place}\n\n{quoted(_unwrapped(passage.full_text, passage.path), most)}"


def _count(words: Mapping[str, str], number: int, noun: str) -> str:
    return words[noun if number == 1 else f"{noun}s"].format(count=number)
