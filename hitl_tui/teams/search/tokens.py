"""Words of a text as index tokens: Latin words stemmed, Korean, Japanese and Chinese runs as bigrams.

The same tokens stand in the index and in a question, so that a word of a question is a run of tokens, and a
document has the word exactly where it has that run.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_CJK = "々ー\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(
    r"(?P<article>제\s?(?P<no>\d{1,4})\s?조(?:의\s?(?P<sub>\d{1,3}))?|\barticles?\s(?P<en>\d{1,4})\b)"
    rf"|(?P<number>\d+(?:[.,]\d+)*(?![^\W_{_HANGUL}{_CJK}]))"
    rf"|(?P<hangul>[{_HANGUL}]+)|(?P<cjk>[{_CJK}]+)|(?P<word>[^\W_{_HANGUL}{_CJK}]+)",
    re.IGNORECASE,
)
_ASCII_TOKEN = re.compile(r"\barticles?\s\d{1,4}\b|\d+(?:[.,]\d+)*(?![A-Za-z0-9])|[A-Za-z0-9]+", re.IGNORECASE)
"""What `_TOKEN` finds in a text of ASCII alone, without groups: most text is, and is read several times as fast."""
_SHORT = re.compile(r"(?<![가-힣])[가-힣]{2}(?![가-힣])")
_CLITIC = re.compile(r"(?<=[A-Za-z])['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MARKS = re.compile(r"[\u0300-\u036f]")
_UP_TO = re.compile(
    r"\bup\sto\s(?:an?\s)?(?:(?:about|maximum|max|total|of)\s){0,3}(?:[A-Z]{2,4}\s?)?[$€£₩¥]?\s?\d", re.IGNORECASE
)
_LIMIT = "upto"
_ONE_SYLLABLE_PARTICLES = frozenset("은는이가을를의에도로와과만")
_MAX_WORD = 64
_REMEMBERED = 65_536
_TARGET = re.compile(
    r"(?<=\])\([^()\n]{0,600}\)|<https?://[^<>\s]{0,600}>"
    r"|</?(?:a|b|br|center|code|div|em|h[1-6]|hr|i|img|kbd|li|ol|p|pre|span|strong|su[bp]|t[dhr]|table|tbody|thead|ul)\b"
    r"[^<>\n]{0,600}>",
    re.IGNORECASE,
)


class Kind(StrEnum):
    """What sort of word a unit is."""

    WORD = "word"
    HANGUL = "hangul"
    CJK = "cjk"
    NUMBER = "number"
    ARTICLE = "article"


@dataclass(frozen=True, slots=True)
class Unit:
    """One word of a text.

    Args:
        kind: what sort of word.
        surface: as written, in composed form.
        start, end: where in the normalised text.
    """

    kind: Kind
    surface: str
    start: int
    end: int


def normalise(text: str) -> str:
    """Return text in one composed form, without accents on Latin letters and without `'s` and its like."""
    if not text.isascii():
        # The Korean middle dot counts as a letter otherwise, and would join the words at either side.
        text = text.replace("ㆍ", " ")
        bare = _MARKS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", bare)
    return _CLITIC.sub("", text) if "'" in text or "’" in text else text


def units(text: str) -> Iterator[Unit]:
    """Yield the words of a normalised text in order."""
    for match in _TOKEN.finditer(text):
        yield Unit(Kind(_kind(match)), match.group(), match.start(), match.end())


def _kind(match: re.Match[str]) -> str:
    last = match.lastgroup or "word"
    return last if last in ("number", "hangul", "cjk", "word") else "article"


def index_tokens(text: str) -> str:
    """Return the tokens of a text, joined by spaces, as they are indexed.

    Single syllables before a particle (`법은`) follow at the end, so that they don't part what stands side by side;
    so does one token for a limit that is given by its amount (`up to 180 USD`).
    """
    clean = normalise(text)
    phrase = phrase_tokens(clean)
    extra: list[str] = []
    if not clean.isascii():
        extra += [match.group()[0] for match in _SHORT.finditer(clean) if match.group()[1:] in _ONE_SYLLABLE_PARTICLES]
    extra += [_LIMIT] if "up to" in phrase and _UP_TO.search(clean) else []
    return f"{phrase} {' '.join(extra)}" if extra else phrase


def readable(text: str) -> str:
    """Return a text as a reader sees it: without the targets of links and the tags of HTML within it."""
    return _TARGET.sub(" ", text) if "](" in text or "<" in text else text


def phrase_tokens(text: str) -> str:
    """Return the tokens of a normalised text in order, joined by spaces, as they are looked for side by side."""
    if text.isascii():
        return " ".join([_ascii_tokens[surface] for surface in _ASCII_TOKEN.findall(text)])
    out: list[str] = []
    for match in _TOKEN.finditer(text):
        kind = _kind(match)
        surface = match.group()
        if kind == "word":
            out.extend(word_tokens(surface))
        elif kind in ("hangul", "cjk"):
            out.extend(run_tokens(surface))
        elif kind == "number":
            out.extend(number_tokens(surface))
        else:
            out.extend(article_tokens(surface))
    return " ".join(out)


class _AsciiTokens(dict[str, str]):
    """The tokens of words, numbers and articles written in ASCII, joined by spaces; found at the first asking."""

    def __missing__(self, surface: str) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        if not surface.isalnum() and not surface[0].isdigit():
            found = article_tokens(surface)
        elif surface[0].isdigit() and surface.replace(",", "").replace(".", "").isdigit():
            found = number_tokens(surface)
        else:
            found = word_tokens(surface)
        self[surface] = tokens = " ".join(found)
        return tokens


_ascii_tokens = _AsciiTokens()


def run_tokens(run: str) -> tuple[str, ...]:
    """Return the overlapping pairs of a run of syllables or ideographs; a single one stands for itself."""
    if len(run) == 1:
        return (run,)
    return tuple(run[at : at + 2] for at in range(len(run) - 1))


def number_tokens(number: str) -> tuple[str, ...]:
    """Return a number's parts: thousands joined, the fraction apart (`1,234.5` is `1234`, `5`)."""
    return tuple(part.lstrip("0") or "0" for part in number.replace(",", "").split(".") if part)


def article_tokens(article: str) -> tuple[str, ...]:
    """Return one token for an article of a law, the same in Korean and English, and its number."""
    numbers = re.findall(r"\d+", article)
    return ("article" + "x".join(str(int(number)) for number in numbers), str(int(numbers[0])))


@lru_cache(maxsize=_REMEMBERED)
def word_tokens(word: str) -> tuple[str, ...]:
    """Return a Latin (or other alphabetic) word's tokens: the parts of a camel-case name, then the whole, stemmed."""
    word = word[:_MAX_WORD]
    whole = stem(word.casefold())
    if word.isascii() and not word.islower() and not word.isupper():
        parts = _CAMEL.findall(word)
        if len(parts) > 1:
            return (*(stem(part.casefold()) for part in parts), whole)
    return (whole,)


_STEP2 = (
    ("ational", "ate"), ("tional", "tion"), ("ization", "ize"), ("isation", "ize"), ("fulness", "ful"),
    ("ousness", "ous"), ("iveness", "ive"), ("biliti", "ble"), ("aliti", "al"), ("iviti", "ive"), ("ation", "ate"),
    ("alism", "al"), ("entli", "ent"), ("ousli", "ous"), ("abli", "able"), ("alli", "al"), ("eli", "e"),
    ("izer", "ize"), ("iser", "ize"), ("ator", "ate"), ("enci", "ence"), ("anci", "ance"), ("fulli", "ful"),
)  # fmt: skip
_STEP3 = (
    ("icate", "ic"),
    ("alize", "al"),
    ("ative", ""),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
)
_STEP4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ise",
    "al", "er", "ic",
)  # fmt: skip


def _by_last(table: Sequence[tuple[str, str]]) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return suffixes by their last letter, in order: most words end in none of them."""
    return {last: [row for row in table if row[0].endswith(last)] for last in {suffix[-1] for suffix, _ in table}}


_STEPS2, _STEPS3 = _by_last(_STEP2), _by_last(_STEP3)
_STEPS4 = _by_last([(suffix, "") for suffix in _STEP4])
_IRREGULAR = {
    "children": "child", "people": "person", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "analyses": "analysis", "indices": "index", "appendices": "appendix", "matrices": "matrix",
    "vertices": "vertex", "crises": "crisis", "axes": "axis", "criteria": "criterion", "buses": "bus", "gases": "gas",
    "lenses": "lens", "quizzes": "quiz", "knives": "knife", "wives": "wife", "shelves": "shelf", "halves": "half",
    "menus": "menu", "taxis": "taxi", "paid": "pay", "sent": "send", "spent": "spend", "lent": "lend", "lost": "lose",
    "sold": "sell", "bought": "buy", "brought": "bring", "built": "build", "wrote": "write", "written": "write",
    "chose": "choose", "chosen": "choose", "broke": "break", "broken": "break", "stolen": "steal", "taught": "teach",
}  # fmt: skip
_VOWEL = re.compile(r"[aeiouy]")
_CLOSED = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$")
_MEASURE = re.compile(r"[aeiouy]+[^aeiouy]+")


def stem(word: str) -> str:
    """Return the stem of an English word in lower case (Porter's algorithm, somewhat shortened).

    Two of its rules are those of its successor, Snowball: a `y` after a vowel stays (day, days), one after two
    letters goes (try, tries). Words with other letters than a to z come back as they are.
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = _IRREGULAR.get(word, word)
    if len(word) > 3:
        word = _past(_plural(word))
    if word.endswith("y") and len(word) > 2 and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    if len(word) < 4:
        return word
    for table in (_STEPS2, _STEPS3):
        for suffix, put in table.get(word[-1], ()):
            if word.endswith(suffix):
                base = word[: -len(suffix)]
                word = base + put if _measure(base) > 0 else word
                break
    word = _residue(word)
    if word.endswith("e") and len(word) > 4 and _measure(word[:-1]) >= 1 and not _closed(word[:-1]):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _closed(base: str) -> bool:
    """Whether a base has lost an `e`: one syllable that ends with a consonant after a single vowel (fil, mov)."""
    return _measure(base) == 1 and _CLOSED.search(base) is not None


def _measure(base: str) -> int:
    return len(_MEASURE.findall(base))


def _plural(word: str) -> str:
    if word.endswith(("sses", "xes", "zzes")) or (word.endswith("ies") and len(word) > 4):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word.removesuffix(suffix)
        if base != word and _VOWEL.search(base) and len(base) > 2:
            if base.endswith(("at", "bl", "iz")):
                return base + "e"
            if len(base) > 2 and base[-1] == base[-2] and base[-1] not in "aeioulsz":
                return base[:-1]
            return base + "e" if _closed(base) else base
    return word


def _residue(word: str) -> str:
    for suffix, _ in _STEPS4.get(word[-1:], ()):
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base if _measure(base) > 1 else word
    if word.endswith("ion") and word[-4:-3] in ("s", "t") and _measure(word[:-3]) > 1:
        return word[:-3]
    return word


def has_korean(text: str) -> bool:
    """Return whether something in a text is Korean."""
    return re.search(f"[{_HANGUL}]", text) is not None
