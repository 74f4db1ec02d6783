"""Words of a text as index tokens: Latin words stemmed, Korean, Japanese and Chinese runs as bigrams.

The same tokens stand in the index and in a question, so that a word of a question is a run of tokens, and a
document has the word exactly where it has that run.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from hitl_tui.meaning.stems import english_stem

_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_CJK = "々ー\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(
    r"(?P<article>제\s?(?P<no>\d{1,4})\s?조(?:의\s?(?P<sub>\d{1,3}))?|\barticles?\s(?P<en>\d{1,4})\b)"
    rf"|(?P<number>\d+(?:[.,]\d+)*(?![^\W_{_HANGUL}{_CJK}]))"
    rf"|(?P<hangul>[{_HANGUL}]+)|(?P<cjk>[{_CJK}]+)|(?P<word>[^\W_{_HANGUL}{_CJK}]+)",
    re.IGNORECASE,
)
_SHORT = re.compile(r"(?<![가-힣])[가-힣][은는이가을를의에도로와과만](?![가-힣])")
_CLITIC = re.compile(r"(?<=[A-Za-z])(?:(?<!ca)(?<!wo)n['’]t|['’](?:s|t|re|ve|ll|d|m))\b", re.IGNORECASE)
_PLURAL = re.compile("[A-Z]{2,}s")
"""An acronym of several: `CVEs`."""
_CAMEL = re.compile(rf"{_PLURAL.pattern}(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MARKS = re.compile(r"[\u0300-\u036f]")
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
    """Return text in one composed form, without accents on Latin letters and without `'s`, `n't` and their like."""
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

    Single syllables before a particle (`법은`) follow at the end, so that they don't part what stands side by side.
    """
    clean = normalise(text)
    short = [match.group()[0] for match in _SHORT.finditer(clean)] if not clean.isascii() else []
    return " ".join([phrase_tokens(clean), *short])


def padded_tokens(text: str) -> str:
    """Return the index tokens of a text between spaces, among which a phrase is looked for."""
    return f" {index_tokens(text)} "


def readable(text: str) -> str:
    """Return a text as a reader sees it: without the targets of links and the tags of HTML within it."""
    return _TARGET.sub(" ", text) if "](" in text or "<" in text else text


def phrase_tokens(text: str) -> str:
    """Return the tokens of a normalised text in order, joined by spaces, as they are looked for side by side."""
    return " ".join([_tokens_of(_kind(match), match.group()) for match in _TOKEN.finditer(text)])


@lru_cache(maxsize=_REMEMBERED)
def _tokens_of(kind: str, surface: str) -> str:
    read = {"word": word_tokens, "number": number_tokens, "article": article_tokens}
    return " ".join(read.get(kind, run_tokens)(surface))


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


def word_tokens(word: str) -> tuple[str, ...]:
    """Return a Latin (or other alphabetic) word's tokens: the parts of a camel-case name, then the whole, stemmed."""
    word = word[:_MAX_WORD]
    if _PLURAL.fullmatch(word):
        word = word[:-1]
    whole = stem(word.casefold())
    if word.isascii() and not word.islower() and not word.isupper():
        parts = _CAMEL.findall(word)
        if len(parts) > 1:
            return (*(stem(part.casefold()) for part in parts), whole)
    return (whole,)


_IRREGULAR = {
    "children": "child", "people": "person", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "analyses": "analysis", "indices": "index", "appendices": "appendix", "matrices": "matrix",
    "vertices": "vertex", "crises": "crisis", "axes": "axis", "criteria": "criterion", "buses": "bus", "gases": "gas",
    "lenses": "lens", "quizzes": "quiz", "knives": "knife", "wives": "wife", "shelves": "shelf", "halves": "half",
    "menus": "menu", "taxis": "taxi", "paid": "pay", "sent": "send", "spent": "spend", "lent": "lend", "lost": "lose",
    "sold": "sell", "bought": "buy", "brought": "bring", "built": "build", "wrote": "write", "written": "write",
    "chose": "choose", "chosen": "choose", "broke": "break", "broken": "break", "stolen": "steal", "taught": "teach",
}  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of an English word in lower case; words with other letters than a to z come back as they are."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    return english_stem(_IRREGULAR.get(word, word))


def has_korean(text: str) -> bool:
    """Return whether something in a text is Korean."""
    return re.search(f"[{_HANGUL}]", text) is not None
