"""A question in words becomes the terms to look for: each with the ways it may stand in a document, and its weight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise

from hitl_tui.meaning.expressions import word_file
from hitl_tui.meaning.frequencies import frequencies, telling
from hitl_tui.meaning.glossary import translations
from hitl_tui.meaning.word_forms import is_question_word, lemma
from hitl_tui.teams.search.tokens import (
    Kind,
    Unit,
    article_tokens,
    normalise,
    number_tokens,
    phrase_tokens,
    run_tokens,
    stem,
    units,
    word_tokens,
)

MAX_TERMS = 24
MAX_QUESTION = 20_000
_SAYS = 0.12
"""Words that say less than this of what is asked aren't looked for, unless there are no others."""
_ALIKE, _SYLLABLE = 0.7, 0.35
_TRANSLATIONS = 4
"""What a word is called in the other language is looked for in so many words at most."""
_NUMBER, _VERSION, _NAME = 0.5, 1.0, 0.75
_UNKNOWN, _LISTED, _SPLIT, _LONE, _PARTICLE = 3.5, 5.5, 2.2, 1.0, 6.0
_MOST_SYLLABLES = 8
TASKS = frozenset(
    {"summarise", "summarize", "summary", "report", "briefly", "overview", "draft", "explain", "describe", "search"}
    | {"요약", "정리", "보고서", "리포트", "설명", "작성", "검색", "조회", "조사", "찾아", "찾기"}
    | {"알려", "알려줘", "보여", "써줘"}
)
"""Words that say what is to be done with an answer, not what is asked."""

Sounding = Callable[[str], Sequence[tuple[str, float]]]
"""Returns the words of the documents that a Korean word sounds like, with how much."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way a term can stand in a document: index tokens side by side, and how well that is the term, 0 to 1."""

    phrase: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for.

    Args:
        surface: the word of the question.
        telling: how much it says of what is asked, 0 to 1.
        forms: the ways it can stand, the word itself first.
        korean: written in Hangul.
        part: it goes on from another in one run of syllables, so that it may be the end of a word and no word.
    """

    surface: str
    telling: float
    forms: tuple[Form, ...]
    korean: bool = False
    part: bool = False


@lru_cache(maxsize=4096)
def segments(run: str) -> tuple[str, ...]:
    """Return the words, particles and endings that a run of Korean syllables most likely consists of."""
    common, known = frequencies("ko"), _groups()
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        choices = []
        for start in range(max(0, end - _MOST_SYLLABLES), end):
            word = run[start:end]
            size = end - start
            if word in common:
                cost = 8 - common[word] + (_LONE if size == 1 and common[word] < _PARTICLE else 0)
            elif size > 1 and word in known:
                cost = _LISTED
            else:
                cost = _UNKNOWN + 3.2 * size
            choices.append((best[start][0] + cost + _SPLIT, start))
        best.append(min(choices))
    cuts, at = [], len(run)
    while at:
        cuts.append((best[at][1], at))
        at = best[at][1]
    return tuple(run[start:end] for start, end in reversed(cuts))


@cache
def _groups() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for group in word_file("hitl_tui.teams.search", "synonyms.toml")["groups"].values():
        for word in group:
            found[stem(word)] += [other for other in group if other != word]
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


def alike(word: str) -> tuple[str, ...]:
    """Return words that stand for a word: of law, offices and computing by a list, and in the other language."""
    folded = word.casefold()
    called = [one for one in translations(folded) or translations(lemma(folded)) if one.isascii() != word.isascii()]
    return tuple(dict.fromkeys((*_groups().get(stem(folded), ()), *called[:_TRANSLATIONS])))


def parse_question(
    text: str, sounding: Sounding = lambda word: (), written: Callable[[str], bool] = lambda word: False
) -> tuple[Term, ...]:
    """Return what a question looks for, in its order, without repetitions.

    Args:
        text: the question, Korean or English (other languages work, with less knowledge of their words).
        sounding: finds what a Korean word sounds like.
        written: returns whether the documents have a Korean word in one piece.
    """
    clean = normalise(text[:MAX_QUESTION].encode("utf-8", "replace").decode("utf-8"))
    terms: dict[str, Term] = {}
    for term in _terms(clean, sounding, written):
        known = terms.get(term.forms[0].phrase)
        if known is None or known.telling < term.telling:
            terms[term.forms[0].phrase] = term
    asked = [t for t in terms.values() if t.surface.casefold() not in TASKS and not is_question_word(t.surface)]
    telling = [term for term in asked if term.telling >= _SAYS] or asked or list(terms.values())
    chosen = sorted(telling, key=lambda term: -term.telling)[:MAX_TERMS]
    return tuple(term for term in telling if term in chosen)


def whole_words(text: str) -> dict[str, float]:
    """Return the words of a question, in one piece without Korean particles and endings, with how much each says."""
    return {unit.surface: says for unit, says in bare_words(normalise(text))}


def bare_words(text: str) -> Iterator[tuple[Unit, float]]:
    """Yield the words of a normalised text, in one piece without Korean particles and endings, with what each says."""
    for unit in units(text):
        parts = list(segments(unit.surface)) if unit.kind is Kind.HANGUL else []
        while len(parts) > 1 and telling(parts[-1], "ko") < _SAYS:
            parts.pop()
        word = "".join(parts) or unit.surface
        unknown = len(word) > 1 and len(parts) == len(word)  # it consists of no words
        says = 1.0 if unknown else max((telling(part, "ko") for part in parts), default=0.0)
        yield (
            replace(unit, surface=word, end=unit.start + len(word)),
            says if parts else _word(word, named=len(word) > 2 and _is_name(text, unit)).telling,
        )


def _terms(text: str, sounding: Sounding, written: Callable[[str], bool]) -> Iterator[Term]:
    found = list(units(text))
    for unit in found:
        match unit.kind:
            case Kind.NUMBER:
                says = _VERSION if unit.surface.count(".") > 1 else _NUMBER
                yield Term(unit.surface, says, (Form(" ".join(number_tokens(unit.surface))),))
            case Kind.ARTICLE:
                yield Term(unit.surface, 1.0, (Form(article_tokens(unit.surface)[0]),))
            case Kind.CJK:
                yield Term(unit.surface, 1.0, (Form(" ".join(run_tokens(unit.surface))),))
            case Kind.HANGUL:
                yield from _korean(unit.surface, sounding, written)
            case _:
                yield _word(unit.surface, named=len(unit.surface) > 2 and _is_name(text, unit))
    for first, second in pairwise(found):
        if second.start == first.end + 1 and text[first.end] in "-_./:":
            yield _joined(text, first, second)


def _is_name(text: str, unit: Unit) -> bool:
    """Whether a word has a capital though it doesn't begin a sentence."""
    before = text[: unit.start].rstrip()
    return bool(before) and before[-1] not in ".!?:" and unit.surface[0].isupper()


def _joined(text: str, first: Unit, second: Unit) -> Term:
    surface = text[first.start : second.end]
    return Term(surface, 0.6, (Form(phrase_tokens(surface)),))


def _word(surface: str, *, named: bool) -> Term:
    tokens = word_tokens(surface)
    forms = [Form(tokens[-1])]
    if len(tokens) > 1:
        forms.append(Form(" ".join(tokens[:-1])))
    says = max(telling(surface.casefold(), "en"), _NAME if named else 0.0)
    forms += [Form(_phrase(word), _ALIKE) for word in alike(surface)]
    return Term(surface, says, _distinct(forms))


def _korean(run: str, sounding: Sounding, written: Callable[[str], bool]) -> Iterator[Term]:
    parts = list(segments(run))
    at = 0
    while at < len(parts):
        for stop in range(min(len(parts), at + 3), at + 1, -1):
            whole = "".join(parts[at:stop])
            if len(whole) > 1 and (loans := sounding(whole)):
                yield Term(whole, _whole_says(parts[at:stop]), _loan_forms(whole, loans), korean=True)
                at = stop
                break
            if _one_word(parts[at:stop]) and written(whole):
                yield Term(whole, telling(whole, "ko"), (Form(_run(whole)),), korean=True)
                at = stop
                break
        else:
            if (term := _segment(parts[at], sounding)) is not None:
                yield replace(term, part=at > 0)
            at += 1


def _one_word(parts: Sequence[str]) -> bool:
    """Whether segments may be one word that general language doesn't know: one is a single syllable, none ends it."""
    return telling(parts[-1], "ko") >= _SAYS and any(len(part) == 1 for part in parts)


def _whole_says(parts: Sequence[str]) -> float:
    """Return how much some segments say together: all they can where one is no word of general language."""
    common = frequencies("ko")
    known = [telling(part, "ko") for part in parts if part in common]
    return max(known) if len(known) == len(parts) else 1.0


def _segment(word: str, sounding: Sounding) -> Term | None:
    says = telling(word, "ko")
    if says < _SAYS / 2:
        return None
    loans = sounding(word) if len(word) > 1 or says > 0.25 else ()
    forms = [Form(_run(word), 1.0 if len(word) > 1 else _SYLLABLE)]
    forms += [Form(_phrase(one), weight) for one, weight in loans]
    forms += [Form(_phrase(one), _ALIKE) for one in alike(word)]
    return Term(word, says, _distinct(forms), korean=True)


def _loan_forms(word: str, loans: Sequence[tuple[str, float]]) -> tuple[Form, ...]:
    return _distinct([Form(_run(word)), *(Form(_phrase(one), weight) for one, weight in loans)])


def _phrase(words: str) -> str:
    return phrase_tokens(normalise(words))


def _distinct(forms: Sequence[Form]) -> tuple[Form, ...]:
    best: dict[str, Form] = {}
    for form in forms:
        if form.phrase and (form.phrase not in best or best[form.phrase].weight < form.weight):
            best[form.phrase] = form
    return tuple(best.values())


def _run(text: str) -> str:
    return " ".join(run_tokens(text))


def whole_term(word: str) -> Term:
    """Return a Korean word as a term in one piece."""
    return Term(word, 1.0, (Form(_run(word)),), korean=True)


def with_near(term: Term, words: Sequence[tuple[str, float]]) -> Term:
    """Return a term with words of the documents that stand for it, each with how well."""
    return replace(term, forms=_distinct([*term.forms, *(Form(_phrase(word), weight) for word, weight in words)]))
