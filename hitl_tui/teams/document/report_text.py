"""The text of a report: earlier results as Markdown, without a model."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.names import clip
from hitl_tui.core.safe_markdown import fenced, literal, tamed
from hitl_tui.core.safe_text import safe_text
from hitl_tui.core.written_language import language_of
from hitl_tui.teams.contract import Citation, TeamResult, brief_of

TEXT_LIMIT = 200_000
PASSAGE_LIMIT = 4_000
LIST_LIMIT = 100
_HIGHEST = 4
"""Level of the highest heading in a team's own text, which stands under one of the third."""

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "question": "Question",
        "findings": "Findings",
        "sources": "Sources",
        "missing": "What was not found",
        "made": "How this was made",
        "statement": (
            "This report was composed without a model: it puts together the results of earlier steps, passages "
            "found and arithmetic done, as they are. It is neither an opinion nor advice."
        ),
        "steps": "Arithmetic",
        "no_inputs": "No earlier step gave a result.",
        "no_findings": "No step found anything to report.",
        "no_sources": "No document was cited.",
        "nothing_missing": "Every step that was used found something.",
        "unsure": "{asked} (no sure answer; nearest: {place})",
        "not_read": "not read",
        "more": "and {count} more",
        "files": "Files written",
    },
    "ko": {
        "question": "질문",
        "findings": "확인한 내용",
        "sources": "출처",
        "missing": "찾지 못한 것",
        "made": "작성 방법",
        "statement": (
            "이 보고서는 언어 모델 없이 작성되었습니다. 앞선 단계의 결과, 곧 문서에서 찾은 구절과 계산을 그대로 모은 "
            "것이며 의견이나 조언이 아닙니다."
        ),
        "steps": "계산",
        "no_inputs": "앞선 단계의 결과가 없습니다.",
        "no_findings": "보고할 내용을 찾은 단계가 없습니다.",
        "no_sources": "인용한 문서가 없습니다.",
        "nothing_missing": "사용한 모든 단계에서 내용을 찾았습니다.",
        "unsure": "{asked} (확실한 답 없음. 가장 가까운 곳: {place})",
        "not_read": "읽지 못함",
        "more": "그 밖에 {count}건",
        "files": "만든 파일",
    },
}


def gather(inputs: Mapping[str, TeamResult]) -> list[dict[str, Json]]:
    """Return what a report needs of earlier results as JSON, bounded, in plan order.

    All of it was written by others, so it passes `safe_text` here, once.
    """
    return [_gathered(todo_id, result) for todo_id, result in inputs.items()]


def _gathered(todo_id: str, result: TeamResult) -> dict[str, Json]:
    data = result.data
    passages = [p for p in _list(data.get("passages")) if isinstance(p, Mapping) and p.get("path")]
    asked, brief = data.get("query"), brief_of({"data": data})
    answer, cited = "", result.citations
    if brief and brief.answer and passages:  # it quotes what answers; the others only came near
        answer, passages = brief.answer, []
        cited = tuple(one for one in cited if one.label in brief.quoted) or cited
    return {
        "todo_id": todo_id,
        "asked": _line(asked, 300) if isinstance(asked, str) else "",
        "summary": _line(result.summary, 300),
        "answer": safe_text(answer, limit=TEXT_LIMIT),
        "text": safe_text(result.text, limit=TEXT_LIMIT),
        "found": result.found,
        "unsure": bool(data.get("weak")),
        "passages": [_place(p, str(p.get("text", ""))) for p in passages[:LIST_LIMIT]],
        "citations": [_place(c.to_dict(), c.quote) for c in cited[:LIST_LIMIT]],
        "steps": [_step(s) for s in _list(data.get("steps"))[:LIST_LIMIT]],
        "skipped": [_skipped(s) for s in _list(data.get("skipped"))],
        "not_computed": [_line(reason, 500) for reason in _list(data.get("not_computed"))[:LIST_LIMIT]],
        "files": [_line(name, 500) for name in result.files[:LIST_LIMIT]],
    }


def _list(value: object) -> list[object]:
    """Return a list of what may be a list, one thing, or nothing."""
    if isinstance(value, list | tuple):
        return list(value)
    return [value] if value else []


def _line(value: object, limit: int) -> str:
    return safe_text(" ".join(str(value).split()), multiline=False, limit=limit)


def _place(data: JsonObject, text: str) -> dict[str, Json]:
    line, end, page = (_number(data.get(key)) for key in ("line", "end_line", "page"))
    return {
        "path": str(data["path"]).encode("utf-8", "replace").decode("utf-8"),
        "line": line,
        "end_line": max(line, end),
        "page": page,
        "heading": _line(data.get("heading") or "", 300),
        "text": safe_text(text.strip("\n"), limit=PASSAGE_LIMIT),
    }


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0


def _step(step: object) -> list[str]:
    """Return one step of arithmetic as a line, whatever of it is given, and what tells it from others."""
    if not isinstance(step, Mapping):
        return [_line(step, 1_000)] * 2
    what, formula, value = (_line(step.get(key) or "", 500) for key in ("what", "formula", "value"))
    tail = value if value and value not in formula else ""
    computed = " = ".join(part for part in (formula, tail) if part)
    return [": ".join(part for part in (what, computed) if part), formula or value or what]


def _skipped(item: object) -> str:
    if isinstance(item, Mapping):
        item = [item.get("path", ""), item.get("reason", "")]
    parts = item if isinstance(item, list | tuple) else [item]
    return ": ".join(_line(part, 300) for part in parts if part)


@dataclass(slots=True)
class _Notes:
    """Footnotes, numbered as they are first used.

    Args:
        folder: the report's folder, which links start from.
    """

    folder: str
    _numbers: dict[tuple[str, int, int, int], int] = field(default_factory=dict)
    _quotes: dict[int, str] = field(default_factory=dict)

    def mark(self, place: Mapping[str, Any]) -> str:
        key = (place["path"], place["line"], place["end_line"], place["page"])
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        self._quotes.setdefault(number, place["text"])
        return f"[^{number}]"

    def link(self, path: str, line: int, page: int) -> str:
        """Return a link to a line of a file, or its words where no relative link can reach it."""
        label = literal(safe_text(Citation(path, line, line, "", page).label, multiline=False))
        if path.startswith("/") or ":" in path.split("/")[0]:
            return label
        place = posixpath.relpath(path, self.folder or ".")
        # Letters of any language stay readable; Markdown takes them as they are.
        target = "".join(c if c.isalnum() else quote(c, safe="/.-_~", errors="replace") for c in place)
        fragment = f"#page={page}" if page else f"#L{line}" if line else ""
        return f"[{label}]({target}{fragment})"

    def footnotes(self) -> Iterator[str]:
        for (path, line, _, page), number in self._numbers.items():
            words = literal(clip(" ".join(self._quotes[number].split()).lstrip("-*+• "), 200))
            yield f"[^{number}]: {self.link(path, line, page)}" + (f" “{words}”" if words else "")

    def sources(self) -> Iterator[str]:
        places: dict[str, list[tuple[int, int]]] = {}
        for path, line, _, page in self._numbers:
            places.setdefault(path, []).append((page, line))
        for path, lines in places.items():
            links = ", ".join(self.link(path, line, page) for page, line in sorted(set(lines)))
            yield f"- {links}"


def compose(title: str, query: str, material: Sequence[Mapping[str, Any]], folder: str) -> str:
    """Return the report as Markdown; the same input gives the same bytes.

    Args:
        title: its heading.
        query: the session's question.
        material: what `gather` returned.
        folder: where the report will lie, relative to the workspace; links start there.
    """
    words = _WORDS[language_of(query if query.strip() else title)]
    notes = _Notes(folder)
    parts = [f"# {literal(_line(title, 200))}"]
    asked = {entry["asked"] for entry in material} - {""}
    begun = not asked or any(one in _line(query, PASSAGE_LIMIT) for one in asked)  # else it is on something else
    if begun and query.strip() and _line(query, 200) != _line(title, 200):
        parts += [f"## {words['question']}", fenced(safe_text(query, limit=PASSAGE_LIMIT))]
    parts.append(f"## {words['findings']}")
    found = _answered(material)
    headings = [entry["asked"] or entry["summary"] or entry["todo_id"] for entry in found]
    told = {_line(title, 300), _line(query, 300)}
    for number, (entry, heading) in enumerate(zip(found, headings, strict=True), start=1):
        heading = entry["summary"] if headings.count(heading) > 1 and entry["summary"] else heading
        parts += [] if len(found) == 1 and heading in told else [f"### {number}. {literal(heading)}"]
        parts += _finding(entry, notes, words)
    if not found:
        parts.append(words["no_findings"] if material else words["no_inputs"])
    parts += [f"## {words['sources']}", "\n".join(notes.sources()) or words["no_sources"]]
    parts += [f"## {words['missing']}", _missing(material, words)]
    parts += [f"## {words['made']}", words["statement"]]
    parts += ["\n".join(notes.footnotes())]
    return "\n\n".join(part for part in parts if part) + "\n"


def _answered(material: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return what answers something; where nothing does, what came nearest."""
    found = [entry for entry in material if entry["found"]]
    return [entry for entry in found if not entry.get("unsure")] or found


def _finding(entry: Mapping[str, Any], notes: _Notes, words: Mapping[str, str]) -> Iterable[str]:
    said = entry["answer"] or ("" if entry["passages"] else entry["text"])
    if said.strip():
        yield tamed(said.strip("\n"), _HIGHEST)
    marks = [notes.mark(place) for place in entry["citations"]] if said else []
    if marks:
        yield f"{words['sources']}: {' '.join(dict.fromkeys(marks))}"
    for place in entry["passages"]:
        heading = f" {literal(place['heading'])}" if place["heading"] else ""
        yield f"{notes.link(place['path'], place['line'], place['page'])}{heading} {notes.mark(place)}"
        yield fenced(place["text"])
    shown = " ".join(said.split())
    steps = [f"- {literal(line)}" for line, key in entry["steps"] if line and key not in shown]
    if steps:
        yield f"{words['steps']}:"
        yield "\n".join(steps)
    if entry["files"]:
        yield f"{words['files']}: {', '.join(literal(name) for name in entry['files'])}"


def _unsure(entry: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Return that a question has no sure answer, and which place comes nearest."""
    near = next((Citation(p["path"], p["line"], p["line"], "", p["page"]).label for p in entry["citations"]), "")
    asked = entry["asked"] or entry["summary"]
    return words["unsure"].format(asked=literal(asked), place=literal(near)) if near else literal(asked)


def _missing(material: Sequence[Mapping[str, Any]], words: Mapping[str, str]) -> str:
    lines = []
    answered = _answered(material)
    for entry in material:
        if entry["found"] and entry not in answered:
            lines.append(f"- {_unsure(entry, words)}")
        if not entry["found"]:
            said = entry["summary"] or _line(entry["text"], 300) or entry["todo_id"]
            lines.append(f"- {literal(said)}")
        lines += [f"- {literal(reason)}" for reason in entry["not_computed"] if reason]
        lines += [f"- {literal(name)} ({words['not_read']})" for name in entry["skipped"][:LIST_LIMIT]]
        if (more := len(entry["skipped"]) - LIST_LIMIT) > 0:
            lines.append(f"- {words['more'].format(count=more)}")
    if not lines:
        return words["nothing_missing"] if material else words["no_inputs"]
    return "\n".join(dict.fromkeys(lines))
