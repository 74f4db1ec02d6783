"""Broader searches: fewer words, and more common ones."""

from __future__ import annotations

from collections.abc import Iterable

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


def synonyms_of(term: str, rules: Rules) -> list[str]:
    """Return the words that mean the same, without the term."""
    lower = term.lower()
    return [word for group in rules.synonyms if lower in group for word in group if word != lower]
