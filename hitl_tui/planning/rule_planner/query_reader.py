"""What a query says: its language, what it needs, its figures and its clauses. Pure; a long text is read in part."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import Strategy
from hitl_tui.core.written_language import language_of
from hitl_tui.planning.rule_planner.rule_file import Need, lexicon, rules
from hitl_tui.planning.rule_planner.values import PAIR, Span, given_in, overlaps

_HANGUL = re.compile("[가-힣]")
_JAMO = re.compile("[ᄀ-ᇿ㄰-㆏]")
WORD = re.compile(r"\w+(?:[-'.]\w+)*")
WHOLE_WORD = re.compile(rf"[a-z]+[ -]up(?![a-z])|{WORD.pattern}", re.IGNORECASE)
"""A word, or a verb with its particle: "back up"."""
_ALPHABETIC = re.compile(r"[^\W\d_]+")
_REFERS = re.compile(
    r"(?<![a-z])(?:it|that|this|these|those|they|them|there|results?)(?![a-z])|[그이](?:것|거|건|걸)|그중|그러|결과",
    re.IGNORECASE,
)
_HEAD, _TAIL = 6000, 2000
"""Characters of a text that are looked at, from its start and, when it is longer than both, from its end."""
_ENTITIES, _CLAUSES = 8, 64
_LARGE = 10_000
"""A number from which on it is an amount, whatever it counts."""

EXAMPLE = Message('For example: "What is the cap on a rent increase?"')


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words of a query say.

    Args:
        text: the part that was looked at, in normal form.
        strategy: what they say about order; `pipeline` for nothing.
    """

    text: str
    language: str
    strategy: Strategy

    @property
    def needs(self) -> set[Need]:
        """The needs that it speaks loudly enough for."""
        return {need for need in rules().needs if wants(self.text, need)}


def shown(query: str) -> str:
    """Return the part of a text that is looked at: all of it, or its head and its tail; in normal form."""
    if len(query) > _HEAD + _TAIL:
        query = query[:_HEAD] + "\n" + query[-_TAIL:]
    # A few characters become many in normal form, which is no reason to look at more.
    return unicodedata.normalize("NFKC", query)[: _HEAD + _TAIL + 1]


def cut(text: str, length: int) -> str:
    """Return the text on one line, at most `length` characters."""
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length else line[: length - 1] + "…"


def read(query: str) -> Reading:
    text = shown(query)
    if not text.strip():
        raise BadInput(Message("The query is empty; write a question or a task."), help=EXAMPLE)
    words = _ALPHABETIC.findall(text)
    # A lone letter and the jamo of a laugh say nothing; a name of letters and digits does.
    named = any(_HANGUL.search(w) or (len(w) > 1 and not _JAMO.search(w)) for w in words)
    named = named or any(any(map(str.isalpha, w)) and any(map(str.isdigit, w)) for w in WORD.findall(text))
    if not named or all(word.lower() in lexicon().chatter for word in words):
        raise BadInput(Message('"{}" asks for nothing; write a question or a task.', cut(query, 40)), help=EXAMPLE)
    strategies = (Strategy(name) for name, expression in rules().strategy.items() if expression.search(text))
    return Reading(text, language_of(text), next(strategies, Strategy.PIPELINE))


def score_of(text: str, need: Need) -> float:
    """Return how much the words of a text speak for a need."""
    return sum(weight for weight, expression in rules().needs[need] if expression.search(text))


def wants(text: str, need: Need) -> bool:
    """Whether the words of a text speak loudly enough for a need."""
    return score_of(text, need) >= rules().threshold[need]


def entities_in(text: str) -> dict[str, list[str]]:
    """Return the amounts, percentages and dates of a text."""
    found: dict[str, list[str]] = {}
    for one in given_in(text):
        large = one.measure in ("", "count") and one.kind == "number" and float(one.value) >= _LARGE
        amount = one.measure == "money" or large
        kind = "amount" if amount else {"percent": "percent", "date": "date", "period": "date"}.get(one.kind, "")
        if kind and len(found.setdefault(kind, [])) < _ENTITIES:
            found[kind].append(text[slice(*one.place)].strip())
    return found


# --------------------------------------------------------------------------------------------------------------- words


def terms_of(text: str) -> tuple[str, ...]:
    """Return the content words of a text, each once, Korean particles stripped."""
    return tuple(dict.fromkeys(term for m in WORD.finditer(text) if (term := term_of(m.group()))))


def term_of(word: str) -> str:
    """Return a word without its particle; empty when it carries no content."""
    if _empty(word) or not any(c.isalnum() for c in word):
        return ""
    if not _HANGUL.search(word[-1]):
        return word if len(word) > 1 else ""
    if rules().says.verbal.search(word) and word not in lexicon().whole:
        return ""
    word = lexicon().bare(word)
    return "" if _empty(word) else word


def _empty(word: str) -> bool:
    plain = word.lower().removesuffix("'s")
    return any(one in lexicon().empty or one in lexicon().requests for one in (word.lower(), plain))


def unread(text: str, used: Sequence[Span]) -> tuple[str, ...]:
    """Return the parts of a clause that have content and that nothing was made of, as they were written."""
    groups: list[list[Span]] = [[]]
    for match in WORD.finditer(text):
        word = match.group()
        if overlaps(match.span(), used):
            groups.append([])
        elif term_of(word) and not (_is_told(word) or rules().commands.request.search(word)):
            groups[-1].append(match.span())
    parts = (text[group[0][0] : group[-1][1]] for group in groups if group)
    # One Korean syllable by itself ("건", "때") is no part that says something.
    return tuple(part for part in parts if not _SYLLABLE.fullmatch(part))


def _is_told(word: str) -> bool:
    """Whether a word only tells that something is to be done, an English verb with "-ing", too."""
    stem = word.removesuffix("ing") if word.isascii() else word
    forms = {word, stem, f"{stem}e", stem[:-1]} if stem != word else {word}
    return any(rules().commands.told.fullmatch(form) for form in forms)


def report_subject(text: str) -> str:
    """Return what a text wants a report on; empty where it names nothing, or what was found already."""
    match = rules().revise.about.search(text)
    named = rules().revise.then.sub("", match[match.lastgroup or 0]).strip() if match else ""
    known = refers(named) or rules().revise.found.search(named) or not terms_of(named)
    return "" if known else named


def report_file(text: str) -> tuple[str, str]:
    """Return the file that a text wants a report to be, empty where it names none, and the text without it."""
    match = rules().revise.file.search(text)
    if match is None or not wants(text, Need.WRITE):
        return "", text
    return match["en"] or match["ko"], f"{text[: match.start()]}{match['lead'] or ''}{text[match.end() :]}"


def refers(text: str) -> bool:
    """Whether a text means something that was found before."""
    return _REFERS.search(text) is not None


# ------------------------------------------------------------------------------------------------------------- clauses

_SYLLABLE = re.compile("[가-힣]")
_BEFORE = 80  # characters before a name that are looked at for what joins it to the one before


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a text that asks for one thing, and where it stands."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def split(text: str, named: Sequence[Span]) -> list[Clause]:
    """Return the clauses of a text, up to a bound.

    A name that something joins to what was before begins one, but not where it only continues a list of names.
    """
    gaps = [(one[1], other[0]) for one, other in pairwise(named) if listed(text[one[1] : other[0]])]
    joints = (rules().commands.joint.search(text, max(0, at - _BEFORE), at) for at, _ in named[:_CLAUSES])
    borders = [m.span() for m in rules().commands.clause.finditer(text)] + [m.span("joint") for m in joints if m]
    borders = [border for border in borders if not overlaps(border, gaps)]
    found, at = [], 0
    for start, end in sorted(borders)[:_CLAUSES]:
        if start >= at:
            found.append(Clause(at, text[at:start]))
        at = max(at, end)
    found.append(Clause(at, text[at:]))
    return [clause for clause in found if clause.text.strip()]


def listed(between: str) -> bool:
    """Whether what stands between two names makes them a list."""
    return rules().commands.listing.fullmatch(PAIR.sub("", between)) is not None
