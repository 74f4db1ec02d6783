"""What a passage's form says about it, before its words are counted: where it stands, how it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitl_tui.teams.search.query import Term, Weight
from hitl_tui.teams.search.tokens import index_tokens, normalise, phrase_tokens

_HEADING = 0.7
_HEADING_FREE = 0.3
_ALIKE = 0.6
_LINK = 0.7  # an entry of a table of contents points to the answer and isn't it
_SAME_SCRIPT = 1.25
_HAS_FIGURE = 1.15
_CODE = 0.85  # who asks in words wants to read words, unless there are none
_QUESTION = 0.8  # a list of questions has all the words and none of the answers
_DEFINITION = 1.35
_AS_WRITTEN = 0.04  # decides between passages alike: the word itself before another form of it
_HANGUL = re.compile("[가-힣]")
_ENGLISH = re.compile(r"[a-z]+", re.IGNORECASE)
_HOW_MUCH = re.compile(
    r"몇|얼마|퍼센트|비율|\bhow (?:many|much|long|often|large|big|far|old|fast|soon)\b|\bpercent|\bnumber of\b"
    r"|\bby when\b|\bwhat (?:is|are) the (?:maximum|minimum|default|limit)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|once|twice|half)\b", re.IGNORECASE
)
_LINK_ONLY = re.compile(r"\s*(?:[-*+]|\d+[.)])?\s*(?:\[[^\]]*\]\([^)]*\)|\[\[[^\]]*\]\]|:\w+:`[^`]*`)\s*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARKUP = re.compile(r"\]\([^)]*\)|\[=|=\]|\{\{|\}\}|\[\[|\]\]|:\w+:`|<[^>\n]*>")
_CODE_SIGNS = re.compile(r"[{}();=<>\[\]]|::|->")
_CODE_SHARE = 0.05
_ASKS_FOR_CODE = re.compile(
    r"\b(?:code|snippet|syntax|signature|idl|example)\b|코드|예제|문법|[{}();=<>]", re.IGNORECASE
)
_ITEM = re.compile(r"[\s>]*(?:[-*+•|]|\(?\d{1,3}[.)]|[①-⑳]|[가-하][.)])\s*\S")
_FIELD = re.compile(r"[^\w\n]{0,6}\w[\w ]{0,30}[:：]\s*\S[^\n]*$")
_MAX_FIELD = 80
_MAX_ASKING = 240
_SUBJECT = (
    re.compile(
        r"\W*(?:what(?:'s|’s| is| are| does| do)|define|explain|describe)\s+(?:an?\s+|the\s+)?"
        r"(?P<of>[^?.!,\n]{2,60}?)(?:\s+(?:mean|means|stand for|stands for))?\s*[?.!]*\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"\W*(?P<of>[^?.!,\n]{2,40}?)(?:이란|란|은|는|이|가)?\s*(?:뭐|무엇|무슨 (?:뜻|의미)|어떤 (?:것|뜻))[^\n]{0,12}$"
    ),
)
_MAX_SUBJECT_WORDS = 4
_LEAD = re.compile(r"[\s>*_`#|:.\-]*(?:(?:an?|the)\s+)?", re.IGNORECASE)
_DEFINES = re.compile(
    r"\W*(?:\([^)\n]{1,60}\)\W*)?(?:[:：=\n—–-]|(?:is|are|means?|refers? to|denotes?)\b|은\s|는\s|이란|란\s)"
)


def prior(question: str, terms: Sequence[Term], stop: frozenset[str], heading: str, text: str) -> float:
    """Return a factor for a passage by its form: its headings, its script, whether it is code, a link, a question.

    Args:
        question: the question as written.
        terms: what it looks for.
        stop: index tokens that say nothing.
        heading: the passage's headings, outermost first, joined by ` > `.
        text: its words.
    """
    factor = 1 + _HEADING * max(0.0, heading_likeness(heading, terms, stop) - _HEADING_FREE)
    if (_HANGUL.search(text) is None) == (_HANGUL.search(question) is None):
        factor *= _SAME_SCRIPT
    if _HOW_MUCH.search(question) and _FIGURE.search(text):
        factor *= _HAS_FIGURE
    if _LINK_ONLY.match(text):
        factor *= _LINK
    elif is_asking(text):
        factor *= _QUESTION
    elif is_code(text) and not _ASKS_FOR_CODE.search(question):
        factor *= _CODE
    if defines(text, subject_of(question)):
        factor *= _DEFINITION
    return factor * (1 + _AS_WRITTEN * as_written(text, terms))


def as_written(text: str, terms: Sequence[Term]) -> float:
    """Return which share of the English terms stands in a text exactly as in the question, 0 to 1."""
    wanted = [t.surface.casefold() for t in terms if t.weight is not Weight.WEAK and _ENGLISH.fullmatch(t.surface)]
    if not wanted:
        return 0.0
    words = {word.casefold() for word in _ENGLISH.findall(normalise(text))}
    return sum(word in words for word in wanted) / len(wanted)


def heading_likeness(heading: str, terms: Sequence[Term], stop: frozenset[str]) -> float:
    """How much the nearest heading, alone or with the one above it, says what the terms say, 0 to 1."""
    wanted = [term for term in terms if term.weight in (Weight.STRONG, Weight.ROLE)] or list(terms)
    parts = heading.split(" > ")
    best = 0.0
    for own in {parts[-1], " ".join(parts[-2:])}:
        tokens = [token for token in index_tokens(own).split() if token not in stop]
        if not tokens or not wanted:
            continue
        padded = f" {' '.join(tokens)} "
        standing = [
            (term, phrase)
            for term in terms
            for form in term.forms
            if form.weight >= _ALIKE
            for phrase in form.phrases
            if f" {phrase} " in padded
        ]
        found = [term for term, _ in standing]
        covered = {token for _, phrase in standing for token in phrase.split()}
        share = sum(token in covered for token in tokens) / len(tokens)
        reach = sum(term in found for term in wanted) / len(wanted)
        if share + reach:
            best = max(best, 2 * share * reach / (share + reach))
    return best


def is_code(text: str) -> bool:
    """True for a passage of program code, a declaration or data rather than sentences."""
    if _FENCE.match(text):
        return True
    bare = _MARKUP.sub("", text)
    return len(_CODE_SIGNS.findall(bare)) > max(4, _CODE_SHARE * len(bare))


def is_asking(text: str) -> bool:
    """True for a passage that only asks."""
    return len(text) <= _MAX_ASKING and text.rstrip(" \t*_`\"'”’)").endswith(("?", "？"))


def introduces(text: str) -> bool:
    """True for a passage that ends by announcing what follows it."""
    return text.rstrip(" \t*_`").endswith((":", "："))


def is_field(text: str) -> bool:
    """True for a name and its value (`Default: 180`), which belong to what is said beside them."""
    return len(text) <= _MAX_FIELD and _FIELD.match(text) is not None


def is_item(text: str) -> bool:
    """True for an entry of a list or a row of a table."""
    return _ITEM.match(text) is not None


def subject_of(question: str) -> str:
    """Return the tokens of what a question wants defined (`What is a wheel?`); empty for another question."""
    for pattern in _SUBJECT:
        if match := pattern.match(question[:200]):
            words = match.group("of").split()
            return phrase_tokens(normalise(" ".join(words))) if len(words) <= _MAX_SUBJECT_WORDS else ""
    return ""


def defines(text: str, subject: str) -> bool:
    """True when a passage begins with the subject and goes on to say what it is."""
    if not subject:
        return False
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    size = len(subject.split())
    for end in range(start + 1, min(len(text), start + 80)):
        if text[end].isalnum() and text[end - 1].isalnum():
            continue
        tokens = phrase_tokens(normalise(text[start:end]))
        if tokens == subject and _DEFINES.match(text, end):
            return True
        if tokens.count(" ") > size:
            return False
    return False
