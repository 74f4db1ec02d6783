"""The final answer, composed from what the teams handed back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.todos import Status, SupervisorTodo, clip

DONE, PARTIAL, FAILED = "done", "partial", "failed"

_WORDS = {
    "en": {
        "answer": "Answer",
        "sources": "Sources",
        "open": "Not done",
        "files": "Files written",
        "nothing": "Nothing was carried out, so there is no answer.",
        "none_found": "Nothing was found for this question.",
        "skipped": "skipped",
        "failed": "failed",
        "blocked": "not run, because what it needs failed",
        "by_hand": "done by hand",
    },
    "ko": {
        "answer": "답변",
        "sources": "출처",
        "open": "하지 않은 일",
        "files": "작성한 파일",
        "nothing": "실행된 일이 없어 답변이 없습니다.",
        "none_found": "이 질문에 대해 찾은 것이 없습니다.",
        "skipped": "건너뜀",
        "failed": "실패",
        "blocked": "필요한 단계가 실패하여 실행하지 않음",
        "by_hand": "직접 처리함",
    },
}


@dataclass(frozen=True, slots=True)
class Response:
    """The final answer of a session.

    Args:
        text: Markdown.
        summary: one line.
        citations: `{"path", "line", "end_line", "quote", "page"}`, without repetition, best first.
        files: workspace-relative paths written by teams.
        outcome: `done`, `partial` (something was rejected, skipped or blocked) or `failed`.
    """

    text: str
    summary: str
    citations: tuple[Mapping[str, Any], ...] = ()
    files: tuple[str, ...] = ()
    outcome: str = DONE

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "summary": self.summary,
            "citations": [dict(c) for c in self.citations],
            "files": list(self.files),
            "outcome": self.outcome,
        }


def compose(
    query: str,
    language: str,
    todos: Sequence[SupervisorTodo],
    results: Mapping[str, Mapping[str, Any]],
    errors: Sequence[str] = (),
) -> Response:
    """Return the answer: what the last steps concluded first, then what it rests on, then what was not done.

    Args:
        query: what was asked.
        language: `ko` or `en`; others get English headings.
        todos: in plan order.
        results: `TeamResult` dicts by TODO id.
        errors: why no plan could be made.
    """
    words = _WORDS.get(language, _WORDS["en"])
    if errors:
        return Response(text=" ".join(errors), summary=errors[0], outcome=FAILED)
    done = [t for t in todos if t.status is Status.COMPLETED]
    used = {d for t in done for d in t.dependencies}
    leaves = [t for t in done if t.id not in used]
    behind = [t for t in done if t.id in used]
    parts: list[str] = []
    for todo in [*leaves, *reversed(behind)]:
        result = results.get(todo.id)
        text = _body(str(result.get("text", ""))) if result else words["by_hand"]
        parts.append(f"## {todo.name}\n\n{text}")
    citations = _citations([results[t.id] for t in [*leaves, *behind] if t.id in results])
    if citations:
        lines = [f"{n}. {_label(c)}" for n, c in enumerate(citations, start=1)]
        parts.append(f"## {words['sources']}\n\n" + "\n".join(lines))
    files = tuple(dict.fromkeys(f for r in results.values() for f in r.get("files", ())))
    if files:
        parts.append(f"## {words['files']}\n\n" + "\n".join(f"- {f}" for f in files))
    undone = [t for t in todos if t.status in (Status.SKIPPED, Status.FAILED, Status.BLOCKED)]
    if undone:
        parts.append(f"## {words['open']}\n\n" + "\n".join(_undone(t, words) for t in undone))
    if not done:
        parts.insert(0, words["nothing"])
    return Response(
        text="\n\n".join(parts) + "\n",
        summary=_summary(leaves, results, words),
        citations=citations,
        files=files,
        outcome=_outcome(todos),
    )


def _body(text: str) -> str:
    """Return a team's text without a heading at its start: the TODO's name stands there already."""
    first, _, rest = text.strip().partition("\n")
    return rest.strip() if first.startswith("#") and rest.strip() else text.strip()


def _outcome(todos: Sequence[SupervisorTodo]) -> str:
    broken = [t for t in todos if t.status is Status.FAILED and not t.metadata.get("rejected")]
    if broken:
        return FAILED
    return PARTIAL if any(t.status is not Status.COMPLETED for t in todos) else DONE


def _citations(results: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    found: dict[tuple[str, int, int], Mapping[str, Any]] = {}
    for result in results:
        for citation in result.get("citations", ()):
            found.setdefault((citation["path"], citation.get("page", 0), citation["line"]), citation)
    return tuple(found.values())


def _label(citation: Mapping[str, Any]) -> str:
    page = f" p.{citation['page']}" if citation.get("page") else ""
    quote = clip(" ".join(str(citation.get("quote", "")).split()), 160)
    return f"{citation['path']}{page}:{citation['line']}" + (f" — {quote}" if quote else "")


def _undone(todo: SupervisorTodo, words: Mapping[str, str]) -> str:
    why = todo.error or str(todo.metadata.get("skip_reason", ""))
    state = words.get(todo.status.value, todo.status.value)
    return f"- {todo.id} {todo.name}: {state}" + (f" ({clip(why, 200)})" if why else "")


def _summary(
    leaves: Sequence[SupervisorTodo], results: Mapping[str, Mapping[str, Any]], words: Mapping[str, str]
) -> str:
    said = [str(results[t.id].get("summary", "")) for t in leaves if t.id in results]
    said = [text for text in said if text]
    return clip(" · ".join(said), 300) if said else words["nothing"]
