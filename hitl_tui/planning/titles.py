"""Titles: of steps the words of a question as they were asked, of reports what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hitl_tui.core.safe_text import ELLIPSIS, cell_width, clip
from hitl_tui.planning.reading import cut, entities_of, language_of, shown, term_of
from hitl_tui.planning.ruleset import Rules

_ASIDE = re.compile(r"\([^()\n]{0,200}\)?|\[[^\[\]\n]{0,200}\]?|\{[^{}\n]{0,200}\}?")
_QUOTES = re.compile("[\"“”„«»‘`]|(?<![\\w])['’]|['’](?![\\w])")
_BRACKETS = re.compile(r"[()\[\]{}]")
_PIECE = re.compile(r"(?:[^\s,;:?!]|(?<=\d),(?=\d)|:(?=[^\s]))+|[,;:?!]")
_LATIN = re.compile(r"^(?P<stem>[A-Za-z][\w.-]*?)(?P<tail>[가-힣]{1,4})$")
_EDGE = " .,;:?!-–—/…·"
_ENDS = " .,;:-–—/…·"
_KOREAN_WORD = re.compile(r"\w+(?:[-'.]\w+)*")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"), ("«", "»"), ("‘", "’"))
_CLITIC = re.compile(r"['’](?:s|re|m|d|ll|ve)$", re.IGNORECASE)


def title_of(text: str, rules: Rules) -> str:
    """Return a title for a step about a text: its words as they were asked, on one line, cut at the end.

    Args:
        text: a question or a subject.
        rules: how wide a title may be, in terminal cells.
    """
    line = " ".join(shown(text, rules.limits).split())
    width = rules.limits.title
    if cell_width(line) <= width:
        return line.strip(_ENDS) or line
    head = clip(line, width).removesuffix(ELLIPSIS)
    if not line[len(head)].isspace():
        whole = head.rpartition(" ")[0]
        # A word as long as half the title is cut rather than left out.
        head = whole if cell_width(whole) * 2 >= width else head
    return f"{_closed(head).strip(_ENDS) or head}{ELLIPSIS}"


def _closed(head: str) -> str:
    """Return a text that was cut without what it opens and doesn't close any more."""
    for left, right in _PAIRS:
        opened = head.rfind(left)
        if opened > 0 and right not in head[opened:]:
            head = head[:opened]
    return head


def subject_of(text: str, rules: Rules) -> str:
    """Return what a text is about, as a report is called; never empty for a text that isn't.

    Args:
        text: a question or a task; its first sentences count.
        rules: what carries no content, and how long a title may be.
    """
    text = shown(text, rules.limits)
    plain = _BRACKETS.sub(" ", _QUOTES.sub("", _ASIDE.sub("", text)))
    said = _korean(plain, rules) if language_of(plain, rules.words) == "ko" else _english(plain, rules)
    fallback = (" ".join(piece.split()).strip(_EDGE) for piece in (plain, _BRACKETS.sub(" ", text), text))
    return said or cut(next((piece for piece in (*fallback, text.strip()) if piece), ""), rules.limits.title)


def _english(text: str, rules: Rules) -> str:
    """Return the first run of words with something in it, small words inside it kept, none at its ends."""
    for sentence in rules.titles.sentence.split(text):
        if rules.titles.question.match(sentence):
            # Without its question word a question is no phrase: "high is the penalty".
            return title_of(sentence, rules)
        kept = _run(sentence, rules)
        while kept and (len(" ".join(kept)) > rules.limits.title or _dangling(kept[-1], rules)):
            kept.pop()
        if kept:
            return " ".join(kept).strip(_EDGE)
    return ""


def _run(sentence: str, rules: Rules) -> list[str]:
    amounts = entities_of(sentence, rules)[1]
    ends = [m.start() for m in rules.titles.clause.finditer(sentence)]
    kept: list[str] = []
    content = begin = 0
    last: tuple[int, int] | None = None
    for match in _PIECE.finditer(sentence):
        piece = match.group().strip(_EDGE)
        figure = next((span for span in amounts if span[0] <= match.start() < span[1]), None)
        if content and (any(begin < end <= match.start() for end in ends) or (not piece and content >= 2)):
            break
        if not piece or (not kept and (_small(piece, rules) or rules.titles.opening.fullmatch(piece))):
            continue
        if figure is None and not _small(piece, rules):
            if content == rules.limits.title_words:
                break
            content += 1
        begin = begin if kept else match.start()
        if kept and figure is not None and figure == last:
            # An amount stays whole, or goes whole.
            kept[-1] += f" {piece}"
        else:
            kept.append(piece)
        last = figure
    return kept if content else []


def _dangling(word: str, rules: Rules) -> bool:
    """Whether nothing may end with a word; a lone capital is a name (`plan A`)."""
    return not (len(word) == 1 and word.isupper()) and rules.titles.dangling.fullmatch(word) is not None


def _small(word: str, rules: Rules) -> bool:
    lower = word.lower()
    return any(w in rules.words.stop or w in rules.words.requests for w in (lower, _CLITIC.sub("", lower)))


def _korean(text: str, rules: Rules) -> str:
    """Return the content words, verbs made of a noun as that noun."""
    spans = entities_of(text, rules)[1]
    found = dict.fromkeys(word for word in _nouns(text, spans, rules) if word)
    words = [word for word in found if not any(word != other and other.startswith(word) for other in found)]
    return cut(" ".join(words[: rules.limits.title_words]), rules.limits.title)


def _nouns(text: str, spans: list[tuple[int, int]], rules: Rules) -> Iterator[str]:
    for match in _KOREAN_WORD.finditer(text):
        word = match.group()
        if word[0].isdigit() or any(start < match.end() and match.start() < end for start, end in spans):
            continue
        # A topic ("올려", raising) comes first: it is a verb that has a noun of its own.
        if any(topic.expression.search(word) for topic in rules.words.topics):
            yield term_of(word, rules.words)
        elif not rules.titles.empty.search(word):
            made = rules.titles.made.match(word)
            yield term_of(made["noun"] if made else _without_particle(word, rules), rules.words)


def _without_particle(word: str, rules: Rules) -> str:
    """Return a Latin name without the Korean particle that hangs on to it; other words as they are."""
    latin = _LATIN.match(word)
    return latin["stem"] if latin and latin["tail"] in (*rules.words.particles, "나") else word
