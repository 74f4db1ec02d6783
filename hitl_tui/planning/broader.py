"""Broader searches: fewer words, and more common ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hitl_tui.planning.reading import entities_of, shown, terms_of
from hitl_tui.planning.ruleset import Rules


def broader_query(query: str, rules: Rules, missing: Iterable[str] = ()) -> str:
    """Return a query of fewer words, and words that mean the same; empty when there is nothing broader.

    Amounts, dates and numbered articles go first: they are what documents word differently. Words with synonyms
    stay, because they are the ones documents are likely to use.

    Args:
        query: what was searched for.
        rules: what means the same, and how long the result may be.
        missing: words of the query that no document has; only their synonyms stay.
    """
    text = shown(query, rules.limits)
    absent = {word.lower() for word in missing}
    terms = [t for t in terms_of(text, rules.words, entities_of(text, rules)[1]) if not any(c.isdigit() for c in t)]
    terms = [t for t in terms if t.lower() not in absent or synonyms_of(t, rules)]
    common = [t for t in terms if synonyms_of(t, rules)]
    kept = (common + [t for t in terms if t not in common])[: max(1, rules.limits.broader_words // 2)]
    words = [t for t in kept if t.lower() not in absent]
    words += [w for t in kept for w in synonyms_of(t, rules) if w.lower() not in absent]
    broader = list(dict.fromkeys(words))[: rules.limits.broader_words]
    return "" if {w.lower() for w in broader} == {w.lower() for w in text.split()} else " ".join(broader)


def lacks_the_point(query: str, missing: Sequence[str], rules: Rules) -> bool:
    """Whether a content word of a query that nothing else can stand for is in no document.

    Args:
        query: what was searched for.
        missing: words of the query that no document has.
        rules: what carries no content, and what means the same.
    """
    text = shown(query, rules.limits)
    terms = [t.lower() for t in terms_of(text, rules.words, entities_of(text, rules)[1])]
    # Search and planning cut Korean endings differently, so one of the two may be the longer.
    absent = [t for t in terms if any(t.startswith(w) or w.startswith(t) for w in map(str.lower, missing) if w)]
    return any(not synonyms_of(t, rules) for t in absent)


def has_it_all(query: str, passages: Iterable[str], rules: Rules) -> bool:
    """Whether one passage has every content word of a query, or a word that means the same.

    Args:
        query: what was searched for.
        passages: the passages found.
        rules: what carries no content, and what means the same.
    """
    text = shown(query, rules.limits)
    terms = terms_of(text, rules.words, entities_of(text, rules)[1])
    wanted = [[_stem(word) for word in (term, *synonyms_of(term, rules))] for term in terms]
    if not wanted:
        return False
    return any(all(any(word in passage for word in words) for words in wanted) for passage in map(str.lower, passages))


def _stem(word: str) -> str:
    """Return a word without what may be an ending: of a long Latin one the first letters."""
    word = word.lower()
    return word[: max(4, len(word) - 3)] if word.isascii() else word


def synonyms_of(term: str, rules: Rules) -> list[str]:
    """Return the words that mean the same, without the term."""
    lower = term.lower()
    return [word for group in rules.synonyms if lower in group for word in group if word != lower]
