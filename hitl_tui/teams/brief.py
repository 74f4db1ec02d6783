"""What a team wants said first: its part of the final answer, beside its whole text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BRIEF = "brief"
EXPORTED = "<!-- exported by hitl-tui -->"
"""Last line of an answer that was written into a file: no evidence for another one."""
_WORD = re.compile(r"[^\W\d_]+")
_HANGUL = re.compile("[가-힣]")
_FUNCTION_WORDS = frozenset(
    ["the", "a", "an", "is", "are", "was", "of", "in", "for", "to", "what", "how", "why", "when", "where", "which",
     "who", "does", "do", "please", "and", "with", "by", "from", "can", "should", "this", "that", "find", "about"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of evidence.

    Args:
        text: Markdown.
        label: the place it quotes (`file:line`), empty for what quotes none; a place is shown once.
    """

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """A team's part of the final answer; kept in `TeamResult.data` under `BRIEF`.

    Args:
        answer: Markdown, a few lines with the places they rest on; empty when there is nothing to answer with.
        evidence: what the answer rests on, most important first.
        absent: sentences on what was looked for and isn't there.
        quoted: the places that `answer` quotes in full.
    """

    answer: str = ""
    evidence: tuple[Block, ...] = ()
    absent: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "evidence": [{"text": block.text, "label": block.label} for block in self.evidence],
            "absent": list(self.absent),
            "quoted": list(self.quoted),
        }


def brief_of(result: Mapping[str, Any]) -> Brief | None:
    """Return the brief in a `TeamResult` dict; None where its team gave none, or something else of that name."""
    data = result.get("data")
    item = data.get(BRIEF) if isinstance(data, Mapping) else None
    if not isinstance(item, Mapping):
        return None
    blocks = [block for block in _list(item.get("evidence")) if isinstance(block, Mapping)]
    return Brief(
        answer=str(item.get("answer") or ""),
        evidence=tuple(Block(str(b.get("text") or ""), str(b.get("label") or "")) for b in blocks),
        absent=tuple(str(said) for said in _list(item.get("absent"))),
        quoted=tuple(str(label) for label in _list(item.get("quoted"))),
    )


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def language_of(text: str) -> str:
    """Return `ko` or `en`: what a person writes in, whatever names and terms of the other stand between."""
    words = _WORD.findall(text)
    korean = sum(_HANGUL.search(word) is not None for word in words)
    if not korean:
        return "en"
    english = [word for word in words if word.isascii()]
    return "en" if korean <= len(english) and _FUNCTION_WORDS & {w.lower() for w in english} else "ko"


def quoted(text: str, limit: int) -> str:
    """Return a quotation as Markdown, at most `limit` characters of it, its lines kept."""
    text = text.strip("\n")
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
