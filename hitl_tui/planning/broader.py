"""Broader searches: fewer words, and more common ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hitl_tui.planning.reading import entities_of, shown, terms_of
from hitl_tui.planning.ruleset import Rules


def broader_query(query: str, rules: Rules, missing: Iterable[str] = ()) -> str:
    """Return a query of fewer words, and words that mean the same; empty when there is nothing broader.

    What only asks for a measure ("how high") says nothing a document would, and what every document has tells nothing
    apart. Amounts, dates and numbered articles go first: they are what documents word differently. Words with synonyms
    stay, because they are the ones documents are likely to use.

    Args:
        query: what was searched for.
        rules: what means the same, and how long the result may be.
        missing: words of the query that no document has; only their synonyms stay.
    """
    absent = {word.lower() for word in missing}
    said = _content(query, rules)
    terms = [t for t in said if not any(c.isdigit() for c in t)]
    terms = [t for t in terms if t.lower() not in absent or synonyms_of(t, rules)]
    terms = [t for t in terms if t.lower() not in rules.broader.frequent] or terms
    common = [t for t in terms if synonyms_of(t, rules)]
    kept = (common + [t for t in terms if t not in common])[: max(1, rules.limits.broader_words // 2)]
    words = [t for t in kept if t.lower() not in absent]
    words += [w for t in kept for w in synonyms_of(t, rules) if w.lower() not in absent]
    broader = list(dict.fromkeys(words))[: rules.limits.broader_words]
    # The same words in another order would find the same again.
    return "" if {w.lower() for w in broader} == {t.lower() for t in said} else " ".join(broader)


def _content(query: str, rules: Rules) -> list[str]:
    """Return the words of a query that a document may have, each once, without its figures."""
    text = rules.broader.asking.sub(" ", shown(query, rules.limits))
    return list(terms_of(text, rules.words, entities_of(text, rules)[1]))


def lacks_the_point(query: str, missing: Sequence[str], rules: Rules) -> bool:
    """Whether a content word of a query that nothing else can stand for is in no document.

    Args:
        query: what was searched for.
        missing: words of the query that no document has.
        rules: what carries no content, and what means the same.
    """
    terms = [t.lower() for t in _content(query, rules)]
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
    terms = _content(query, rules)
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
    return [word for group in rules.broader.synonyms if lower in group for word in group if word != lower]
