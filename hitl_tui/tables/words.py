"""The words of a question about a table: tokens, and which words are alike; the data is in words.toml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache

from hitl_tui.meaning.expressions import word_file
from hitl_tui.meaning.frequencies import frequencies, telling
from hitl_tui.meaning.glossary import translations
from hitl_tui.meaning.sounds import english_sound, korean_sound, skeleton, sound_likeness
from hitl_tui.meaning.word_forms import (
    is_past,
    is_question_word,
    lemma,
    noun_denied,
    noun_of_verb,
    same_root,
    stands_before_noun,
)
from hitl_tui.tables.short_forms import senses_of

_HANGUL = re.compile("[가-힣]")
_LETTERS = r"[\u0370-\u052f\u0590-\u06ff\u0900-\u0e7f\u3040-\u30ff\u4e00-\u9fff]+"
"""Words of other scripts."""
_UNITS = (
    "만\\s?원|원|달러|유로|파운드|엔|%|퍼센트|프로|살|세|점|킬로미터|킬로|미터|리터|kg|km2|km|cm|mm|m2|mb|gb|kb|hp|mph|g|m|년|명|건|개국|개|곳|편|대|마리|번|회|줄|행|시간|분|초(?!과)"
    "|층|평|제곱미터|도|위|dollars?|won|euros?|percent|years?|minutes?|hours?|days?|points?|people|usd|krw"
)
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|(?-i:May)|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_SEASON = "|".join(f"{year}[-/–]{(year + 1) % 100:02d}" for year in (*range(1900, 2000), *range(2012, 2100)))
"""Two years in a row, where the second can't be a month."""
_TOKEN = re.compile(
    r"(?P<day>(?:19|20)\d\d(?:[-./]\d{1,2}[-./]\d{1,2}(?!\d)|년\s?\d{1,2}월\s?\d{1,2}일))"
    r"|(?P<date>(?:1[0-2]|0?[1-9])월\s?\d{1,2}일"
    rf"|\b(?:{_MONTH})\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s(?:19|20)\d\d\b)?(?![.:,]\d)"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?(?:{_MONTH})\b(?:,?\s(?:19|20)\d\d\b)?)"
    rf"|(?P<season>(?<!\d)(?:{_SEASON})(?![\d-]))"
    r"|(?P<decade>\d{3}0(?:s\b|년대))"
    r"|(?P<ordinal>\d+(?:st|nd|rd|th)\b|\d+등[석실]?)"
    r"|(?P<month>(?<!\d)(?:1[0-2]|[1-9])월)"
    r"|(?P<number>(?:(?<!\d)[-−])?(?:[$₩€£]\s?)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)(?P<scale>\s?(?:천만|백만|만|억|조|천|thousand\b|million\b|mn\b|billion\b|bn\b|k\b|m\b(?=\s|$)))?"
    rf"\s?(?P<unit>(?:{_UNITS})(?![a-z]))?"
    r"|(?P<latin>[A-Za-zÀ-ÿ_][\w'&]*(?:[-.][A-Za-z0-9À-ÿ_]+)*)"
    r"|(?P<hangul>[가-힣]+)"
    rf"|(?P<letters>{_LETTERS})",
    re.IGNORECASE | re.ASCII,
)
_RELATIVE = re.compile(
    r"\b(?:this|last|next)\s(?:year|month)\b|올해|금년|작년|지난해|내년|이번\s?달|이달|지난\s?달|다음\s?달",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?[a-zà-ÿ]+|\d+(?:\.\d+)?(?:st|nd|rd|th)?|[가-힣]+|{_LETTERS}")
_NAMED_MONTH = re.compile(r"(?<!\d)(1[0-2]|0?[1-9])월|(?<!\d)20\d\d[-_. ]?(1[0-2]|0[1-9])(?!\d)")
_INITIALS = re.compile("[b-df-hj-np-tv-z]{3}")
SOUND = 80.0
"""How much alike, of 100, a Korean word and a name have to sound."""
_SOUND_APART, _MANY, _SOUND_ALIKE = 83.0, 3, 65.0
"""How much where consonants differ, and where all of several are the same: 아스널 is Arsenal."""
_KO_ONES = ("한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열")
_KO_NUMBERS = {word: float(n) for n, word in enumerate(_KO_ONES, start=1)} | {"백": 1e2, "천": 1e3, "만": 1e4}


_WORKED_OUT = ("sum", "average", "median", "count", "top", "bottom", "share", "change", "how_much")
_BEFORE_MONTH = frozenset(("in", "of", "and", "since", "until", "by", "from", "than", "to", "last"))
_DENIED = re.compile("(?<![가-힣])([안못])(?=([가-힣]{1,4}))")
"""What denies the verb that it is written together with: `안낸`."""
_FIRST_OF_COMPOUND = {"총": "total", "순": "net"}
"""What a syllable means before a noun."""
_HYPHENED = re.compile("((?!non-|pre-|post-|per-)[a-z]{3,})-([a-z]{3,})")
"""Two words that say one thing: a first-class ticket."""
_PER_HEAD = re.compile(r"(?:1\s?인당|1\s?명당|인당|명당)")
_OWN_WORD = 5.4
"""How common, on Zipf's scale, letters are that are a word themselves, short for none."""
_SUPERLATIVE = re.compile(r"(?<![a-z])([a-z]{3,})est(?![a-z])", re.I | re.ASCII)
_SHORT_STEM = 3
"""Letters that a priest has before "est", and that no adjective in y has alone."""
BLANK = "\x00"
"""Stands for the letters of a file's name in a question."""

_TRANSLATED, _HEAD_OF_SENSE, _PART_OF_SENSE = 0.9, 0.75, 0.6
"""How likely a word is a name in the other language, and the last or another one of several words that it is."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is known about words; read once.

    Args:
        operations, comparisons, columns, times: expressions by name.
        ways: what stands beside a place that something goes from or to, and words of the columns of such places.
        over: what asks for rows beyond a limit that is said elsewhere.
        down: what makes a superlative one of the least.
        which_way: Korean words that say which way a superlative goes, in any form.
        lost: what asks for figures below zero: who lost most has the lowest profit.
        parts: parts of dates by the words for them.
        filler: words that say nothing about rows or figures.
        tails: Korean endings of questions.
        particles: Korean particles, longest first.
        alike, loosely: for each term, the other terms that stand for the same; nearly the same.
        adjectives: words that say of what a superlative is.
        short: words by their short forms in names of columns.
        scales: factors by word.
        additive: words of figures that may be summed up.
        money, each_of: units of money; words that make a figure of money a price.
        months: number of a month by its names.
        quantities: words of columns that say how many of something a row is about.
        counts: names of columns that say how many rows were counted together.
        happenings: words that ask how often, not how many of something.
        old: what names of files have that were put aside, or copied.
        titles: what stands after a name and says who it is.
        rows: what rows are often called.
        persons: words of columns that say who.
        letters: Latin letters of initials, vowels and finals of Hangul.
        places: names of countries and cities, three letters and more.
        codes: letters that stand for words in a column that has no other values.
        pairs: what asks for a figure of two columns, and the words of the names of the two.
        signs: how arithmetic on two columns is said.
    """

    operations: Mapping[str, re.Pattern[str]]
    comparisons: Mapping[str, re.Pattern[str]]
    columns: Mapping[str, re.Pattern[str]]
    times: Mapping[str, re.Pattern[str]]
    ways: Sequence[tuple[re.Pattern[str], re.Pattern[str], frozenset[str]]]
    over: re.Pattern[str]
    down: re.Pattern[str]
    which_way: re.Pattern[str]
    lost: re.Pattern[str]
    parts: Mapping[str, str]
    filler: frozenset[str]
    tails: re.Pattern[str]
    particles: tuple[str, ...]
    alike: Mapping[str, frozenset[str]]
    loosely: Mapping[str, frozenset[str]]
    adjectives: frozenset[str]
    short: Mapping[str, str]
    scales: Mapping[str, float]
    additive: frozenset[str]
    money: frozenset[str]
    each_of: frozenset[str]
    months: Mapping[str, int]
    quantities: frozenset[str]
    counts: frozenset[str]
    happenings: frozenset[str]
    old: frozenset[str]
    titles: frozenset[str]
    rows: frozenset[str]
    persons: frozenset[str]
    letters: tuple[tuple[str, ...], ...]
    places: frozenset[str]
    codes: Sequence[Mapping[str, str]]
    pairs: Mapping[str, tuple[re.Pattern[str], tuple[str, ...], tuple[str, ...]]]
    signs: Sequence[Sign]


@dataclass(frozen=True, slots=True)
class Sign:
    """How arithmetic on two columns is said.

    Args:
        name: the sign that is shown: `×`, `÷`, `−` or `+`.
        between, behind, before: what stands between the two, behind both, as in Korean, and before both.
        sure: what means arithmetic, whatever stands beside it.
    """

    name: str
    between: re.Pattern[str]
    behind: re.Pattern[str]
    before: re.Pattern[str] | None
    sure: re.Pattern[str]


@cache
def lexicon() -> Lexicon:
    """Return the packaged words."""
    given = word_file("hitl_tui.tables", "words.toml")
    alike: dict[str, set[str]] = {}
    loosely: dict[str, set[str]] = {}
    for line in filter(None, (given["alike"]["lines"] + given["alike"]["adjectives"]).splitlines()):
        near, _, far = (part.split() for part in line.partition("~"))
        for term in near:
            alike.setdefault(term, set()).update(near)
            loosely.setdefault(term, set()).update(far)
    loosely = {term: far.union(*(alike.get(one, ()) for one in far)) for term, far in loosely.items()}
    for line in filter(None, given["alike"]["names"].splitlines()):
        names = line.split("|")
        for term in names:
            alike.setdefault(term, set()).update(names)
    places = {
        n
        for line in given["alike"]["names"].splitlines()
        for n in line.split("|")
        if len(n) > 2 or n in ("us", "uk") or not n.isascii()
    }
    filler = f"{given['filler']['en']} {given['filler']['ko']}".split()
    return Lexicon(
        operations=_expressions(given["operations"]),
        comparisons=_expressions(given["comparisons"]),
        columns=_expressions(given["columns"]),
        times=_expressions(given["times"]),
        ways=[
            (
                re.compile(way["ko"]),
                re.compile(rf"\b(?:{way['en']})(?:\sthe)?\s*$", re.I),
                frozenset(way["columns"].split()),
            )
            for way in given["ways"].values()
        ],
        over=_expressions(given["limits"])["over"],
        down=re.compile(given["directions"]["down"]),
        which_way=re.compile(f"(?:{given['directions']['down']}|{given['directions']['up']})[가-힣]{{0,3}}"),
        lost=re.compile(given["directions"]["lost"], re.I),
        parts={word: part for part, words in given["parts"].items() for word in words.split()},
        filler=frozenset(filler),
        tails=re.compile(given["filler"]["ko_tails"]),
        particles=tuple(sorted(given["filler"]["particles"], key=len, reverse=True)),
        alike={term: frozenset(terms) for term, terms in alike.items()},
        loosely={term: frozenset(terms) for term, terms in loosely.items()},
        adjectives=frozenset(
            w for line in given["alike"]["adjectives"].splitlines() for w in line.split("~")[0].split()
        ),
        short=given["short"],
        scales=given["scales"],
        additive=frozenset(given["additive"]["words"].split()),
        money=frozenset(given["money"]["units"].split()),
        each_of=frozenset(given["money"]["each"].split()),
        months={name: n for n, names in enumerate(given["months"]["names"], start=1) for name in names.split()},
        places=frozenset(places),
        codes=tuple(given["codes"].values()),
        pairs={
            name: (asked, tuple(given["pairs"][name]["more"].split()), tuple(given["pairs"][name]["less"].split()))
            for name, asked in _expressions(given["pairs"]).items()
        },
        signs=[
            Sign(
                one["sign"],
                re.compile(f"{one['between']['ko']}|{one['between']['en']}", re.I),
                re.compile(one["behind"]),
                re.compile(rf"(?<![a-z]){one['before']}", re.I) if "before" in one else None,
                re.compile(one["sure"], re.I),
            )
            for one in given["signs"].values()
        ],
        quantities=frozenset(given["quantities"]["words"].split()),
        counts=frozenset(given["quantities"]["counts"].split()),
        happenings=frozenset(given["quantities"]["times"].split()),
        old=frozenset(given["quantities"]["old"].split()),
        titles=frozenset(given["quantities"]["titles"].split()),
        rows=frozenset(given["rows"]["nouns"].split()),
        persons=frozenset(given["rows"]["persons"].split()),
        letters=tuple(
            tuple("" if letter == "-" else letter for letter in given["letters"][part].split())
            for part in ("initials", "vowels", "finals")
        ),
    )


def _expressions(given: Mapping[str, Mapping[str, str]]) -> dict[str, re.Pattern[str]]:
    made = {}
    for name, one in given.items():
        english = rf"(?<![a-z_.])(?:{one['en']})(?![a-z_])"
        made[name] = re.compile(f"{one['ko']}|{english}" if "ko" in one else english, re.IGNORECASE)
    return made


@dataclass(frozen=True, slots=True)
class Token:
    """A word or number of a question.

    Args:
        text, start, end: as written, and where.
        forms: what it may be as a word, the likeliest first, in lower case.
        number: its value; None for a word.
        unit: what stands after a number.
        kind: `word`, `number`, `year`, `decade`, `month` or `day`.
    """

    text: str
    start: int
    end: int
    forms: tuple[str, ...]
    number: float | None = None
    unit: str = ""
    kind: str = "word"

    @property
    def filler(self) -> bool:
        """Whether it says nothing of rows or figures."""
        known = lexicon()
        if self.kind != "word":
            return False
        if is_question_word(self.text):
            return True
        return self.forms[0] in known.filler or (
            bool(_HANGUL.search(self.text))
            and any(form in known.filler for form in self.forms if len(form) > 1 or len(self.text) < 3)
        )


def is_worked_out(question: str) -> bool:
    """Whether a question asks what is worked out of rows, and stands in none of them."""
    return any(lexicon().operations[name].search(question) for name in _WORKED_OUT) or bool(superlatives(question))


def parted(question: str) -> str:
    """Return a question with a space between a Korean denial and the verb that it hangs on to."""

    def apart(found: re.Match[str]) -> str:
        word = found[1] + found[2]
        denied = is_past(found[2]) or stands_before_noun(found[2])
        return found[1] + " " if denied and word not in frequencies("ko") else found[1]

    return _DENIED.sub(apart, question)


def dated(question: str, today: date, names: Iterable[str] = ()) -> str:
    """Return a question with the years and months themselves that it says of a day: `last month`, `올해`.

    Args:
        question: a person's words.
        today: the day.
        names: of files, which stay as they are.
    """
    kept = [found.span() for name in names for found in re.finditer(re.escape(name), question, re.I)]

    def meant(found: re.Match[str]) -> str:
        said = found.group()
        if any(start <= found.start() < end for start, end in kept):
            return said
        later = -1 if re.search("last|작년|지난", said, re.I) else 1 if re.search("next|내년|다음", said, re.I) else 0
        if not re.search("month|달", said, re.I):
            return f"{today.year + later}년" if _HANGUL.search(said) else str(today.year + later)
        years, month = divmod(today.month - 1 + later, 12)
        if _HANGUL.search(said):
            return f"{today.year + years}년 {month + 1}월"
        *_, name = (name for name, number in lexicon().months.items() if number == month + 1 and name.isascii())
        return f"{name.title()} {today.year + years}"

    return _RELATIVE.sub(meant, question)


def tokens(question: str) -> list[Token]:
    """Return the words and numbers of a question in order."""
    made: list[Token] = []
    for match in _TOKEN.finditer(question):
        token = _token(match)
        if _PER_HEAD.match(question, token.start):
            continue
        # A particle that hangs on to a name of other letters, or to a bracket, is no word.
        if token.start and is_ending(token.text) and (not question[token.start - 1].isspace() or len(token.text) > 1):
            continue
        if len(token.text) == 1 and re.search(r"[A-Za-z]$", question[: token.start]) and _HANGUL.match(token.text):
            continue  # so does what says of what kind it is: `R석`
        if (both := _HYPHENED.fullmatch(token.text)) and not {*both.groups()} - frequencies("en").keys():
            made += [
                Token(said, at := token.start + both.start(n), at + len(said), latin_forms(said))
                for n, said in enumerate(both.groups(), 1)
            ]
            continue
        if made and made[-1].text == "몇":  # a unit that is a word of its own: `몇 표` are votes, no table
            token = replace(token, forms=(*token.forms, *(f"몇{form}" for form in token.forms)))
        made.append(token)
    return made


def is_ending(word: str) -> bool:
    """Whether what remains of a Korean word is a particle, or the end of a question."""
    known = lexicon()
    bare = known.tails.sub("", word) or word
    return bool(_HANGUL.match(word)) and (
        word in known.particles or bare in known.particles or not known.tails.sub("", word)
    )


def _token(match: re.Match[str]) -> Token:
    said, (start, end) = match.group(), match.span()
    if match["day"]:
        parts = [int(part) for part in re.findall(r"\d+", said)]
        return Token(said, start, end, ("{:04d}-{:02d}-{:02d}".format(*parts[:3]),), None, "", "day")
    if match["date"] and (day := _day(said)):
        return Token(said, start, end, (day, said.lower()), None, "", "day")
    if match["season"]:
        return Token(said, start, end, (said,))
    if match["decade"]:
        return Token(said, start, end, (said.lower(),), float(said[:4]), "", "decade")
    if match["month"]:
        return Token(said, start, end, (said,), float(said[:-1]), "", "month")
    if match["ordinal"]:
        return Token(said, start, end, (said.lower(), f"{re.match(r'[0-9]+', said).group()}등"), None, "", "word")  # type: ignore
    if match["number"]:
        bare = re.sub(r"[^\d.]", "", match["number"])
        scale = (match["scale"] or "").strip().lower()
        unit = (match["unit"] or "").strip().lower()
        factor = lexicon().scales.get(scale, 1.0)
        if unit.startswith("만"):
            factor, unit = factor * 1e4, "원"
        value = float(bare) * factor * (-1 if match["number"][0] in "-−" else 1)
        plain = re.fullmatch(r"\d{4}", match["number"]) is not None and factor == 1
        year = plain and 1000 <= value <= 2200 and unit in ("", "년")
        return Token(said, start, end, (bare,), value, unit, "year" if year else "number")
    if match["latin"]:
        month = lexicon().months.get(said.lower())
        before = match.string[:start].rstrip().rpartition(" ")[2].lower()
        if month and (len(said) > 3 or said[0].isupper() or said not in ("may", "mar") or before in _BEFORE_MONTH):
            return Token(said, start, end, (said.lower(),), float(month), "", "month")
        return Token(said, start, end, latin_forms(said))
    return Token(said, start, end, hangul_forms(said) if match["hangul"] else (said.casefold(),))


def _day(said: str) -> str:
    """Return a day as `2026-06-05`, of a year that isn't said as `0000-06-05`."""
    numbers = [int(part) for part in re.findall(r"\d+", said)]
    if "월" in said:
        return "0000-{:02d}-{:02d}".format(*numbers)
    month = next(lexicon().months[word] for word in re.findall("[a-z]+", said.lower()) if word in lexicon().months)
    return "{:04d}-{:02d}-{:02d}".format(*numbers[1:] or [0], month, numbers[0])


@lru_cache(4096)
def latin_forms(word: str) -> tuple[str, ...]:
    """Return an English word in lower case, and its singular."""
    lower = word.lower()
    lower = re.sub(r"['’]s?$", "", lower)
    forms = [lower, lemma(lower)]
    if lower.endswith("y") and len(lower) > 4:
        bare = lower[:-1]
        forms.append(bare[:-1] if bare[-1:] == bare[-2:-1] else bare)
    known = lexicon().adjectives
    forms += [lower[:-size] for end, size in (("er", 2), ("est", 3)) if lower.endswith(end) and lower[:-size] in known]
    return tuple(dict.fromkeys(forms))


def compound_of(token: Token) -> tuple[str, str]:
    """Return the two known words that a Korean word is made of, or two empty ones: `최고기온`, `총비용`."""
    known = lexicon().alike
    for form in token.forms:
        if form in known or not _HANGUL.match(form):
            continue
        for size in range(len(form) - 2, 0, -1):
            first = _FIRST_OF_COMPOUND.get(form[:size], form[:size] if size > 1 and form[:size] in known else "")
            if first and form[size:] in known:
                return first, form[size:]
    return "", ""


@lru_cache(4096)
def hangul_forms(word: str) -> tuple[str, ...]:
    """Return a Korean word, and what remains of it without particles and endings."""
    known = lexicon()
    forms = [word]
    past = next((n for n, letter in enumerate(word, start=1) if is_past(letter)), 0)
    forms += [word[:past]] if past else []
    for form in forms:
        rest = known.tails.sub("", form)
        if rest and rest != form:
            forms.append(rest)
        for particle in known.particles:
            rest = form[: -len(particle)]
            known_word = len(rest) > 1 or rest in known.alike or rest in known.filler
            if form.endswith(particle) and rest and known_word and rest not in forms:
                forms.append(rest)
    nouns = (noun_of_verb(word), noun_denied(word))
    return tuple(dict.fromkeys([*forms[:11], *filter(None, nouns)]))


@lru_cache(65536)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case and singular: `body_mass_g`, `NumberofLocations`, `poptotal`."""
    words = [lexicon().short.get(word.lower(), word.lower()) for word in _WORD.findall(name)]
    return tuple(
        lemma(part) for word in filter(None, words) for part in _run_together(word, whole=name in (word, word.upper()))
    )


def parts_of(name: str) -> set[str]:
    """Return the words of a name, and what Korean words written together in it may be."""
    joined = [word for word in words_of(name) if _HANGUL.match(word)]
    return {
        *words_of(name),
        *(word[a:b] for word in joined for a in range(len(word)) for b in range(a + 2, len(word) + 1)),
    }


_ABBREVIATION = 0.4
"""How much two letters say at least that are a word of a name: tv."""


def _run_together(word: str, *, whole: bool) -> tuple[str, ...]:
    """Return the two known words that a name is written of, the more frequent ones; else the name alone.

    One that is a part of a name is only parted into longer words: `bikeshop_name`.
    """
    known = frequencies("en")
    if len(word) < 6 or word in known or lemma(word) in known or word in lexicon().alike or not word.isascii():
        return (word,)
    parts = [
        (word[:n], word[n:])
        for n in range(*((2, len(word) - 2) if whole else (4, len(word) - 3)))
        if n > 2 or telling(word[:n], "en") > _ABBREVIATION
    ]
    both = [(min(known[a], known[b]), a, b) for a, b in parts if a in known and b in known]
    return max(both)[1:] if both else (word,)


def months_of(name: str) -> set[int]:
    """Return the months that a name says: `fees_2026-06`, `6월`, `june`."""
    numbers = {int(found[0] or found[1]) for found in _NAMED_MONTH.findall(name)}
    return numbers | {lexicon().months[word] for word in words_of(name) if word in lexicon().months and word.isascii()}


def key_of(value: str) -> str:
    """Return a value as it is compared: lower case, without spaces and marks."""
    return re.sub(r"[\W_]+", "", value.casefold())


def number_word(word: str) -> float | None:
    """Return what a Korean numeral stands for."""
    return _KO_NUMBERS.get(word)


@lru_cache(65536)
def translated(word: str) -> frozenset[str]:
    """Return what a word is called in the other language, in lower case and the singular."""
    return frozenset(lemma(one.casefold()) for one in translations(word))


def _said_in(form: str, sense: str) -> float:
    """Return how likely a word stands for what is called so, or a part of that."""
    if form in (sense, sense.replace(" ", "")) or lemma(form) == lemma(sense):
        return _TRANSLATED
    *before, head = map(lemma, sense.split())
    if len(form) < 3 or len(before) > 2:
        return 0.0
    return _HEAD_OF_SENSE if lemma(form) == head else _PART_OF_SENSE if lemma(form) in before else 0.0


@lru_cache(65536)
def likeness(form: str, word: str) -> float:
    """Return how likely a word of a question stands for a word of a name, 0 to 1: the same, alike, short for it."""
    if form == word or lemma(form) == word:
        return 1.0
    known = lexicon()
    singular = lemma(form)
    if form in known.months and known.months[form] == known.months.get(word):
        return 1.0
    if word in known.alike.get(form, ()) or word in known.alike.get(singular, ()):
        return 0.95
    for term in known.alike.get(form, ()):
        if lemma(term) == word:
            return 0.95
    called = [_said_in(word, one) for one in (*translated(singular), *translated(form))]
    if rate := max((*called, *(_said_in(form, sense) for sense in senses_of(word))), default=0.0):
        return rate
    if form.isascii():
        if short_for(word, singular) or _stem_of(singular, word):
            return 0.8
        if same_root(singular, word):
            return 0.75
    elif _HANGUL.match(form):
        part = word.startswith(form) or word.endswith(form)
        part = part or (len(word) > 1 and (form.startswith(word) or form.endswith(word)))
        if len(form) > 1 and _HANGUL.match(word) and part:
            return 0.8
        if any(len(term) > 1 and word.startswith(term) and _HANGUL.match(term) for term in known.alike.get(form, ())):
            return 0.8
        if any(
            short_for(word, lemma(term)) or _stem_of(lemma(term), word)
            for term in known.alike.get(form, ())
            if term.isascii() and len(term) > 3
        ):
            return 0.75
        if sounds_like(form, word):
            return 0.75
    terms = (singular, *known.alike.get(form, ()))
    if len(word) >= 7 and any(term.isascii() and len(term) > 4 and word.endswith(term) for term in terms):
        return 0.75
    if len(word) <= 6 and any(_INITIALS.fullmatch(term) and word.endswith(term) for term in terms):
        return 0.75  # pcgdp is a GDP
    loosely = known.loosely.get(form, frozenset()) | known.loosely.get(singular, frozenset())
    if word in loosely or any(short_for(word, term) for term in loosely if term.isascii() and len(term) > 4):
        return 0.5
    return 0.0


def _stem_of(word: str, longer: str) -> bool:
    """Whether a name's word is a word with a little more, as another language has it (`region`, `regioni`)."""
    return len(word) >= 5 and longer.startswith(word) and len(longer) - len(word) <= 3


def short_for(short: str, word: str) -> bool:
    """Whether a name's word is an abbreviation: its beginning, or its first letter and letters in order (`ctry`)."""
    if len(short) < 2 or len(word) <= len(short) or short[0] != word[0] or not short.isascii():
        return False
    if word.startswith(short) and len(short) >= 3:
        return len(word) - len(short) <= 8
    if len(short) < 3 or len(short) > 5 or any(vowel in short[1:] for vowel in "aeiou"):
        return False
    if frequencies("en").get(short, 0.0) > _OWN_WORD:
        return False
    letters = iter(word)
    return all(letter in letters for letter in short)


@lru_cache(65536)
def sounds_like(hangul: str, latin: str) -> bool:
    """Whether a Korean word is a name of other letters, by its sound (`펭귄`) or letters (`동네`, `dongnae`)."""
    if len(hangul) < 2 or len(latin) < 4 or not latin.isascii():
        return False
    from rapidfuzz import fuzz

    korean, english = korean_sound(hangul), english_sound(latin)
    consonants = skeleton(korean)
    least = _SOUND_APART if consonants != skeleton(english) else SOUND if len(consonants) < _MANY else _SOUND_ALIKE
    same = korean[:1] == english[:1] and sound_likeness(hangul, latin) >= least
    return same or fuzz.ratio(romanised(hangul), latin.lower()) >= SOUND


@lru_cache(65536)
def romanised(hangul: str) -> str:
    """Return a Korean word in Latin letters."""
    initials, vowels, finals = lexicon().letters
    codes = [ord(letter) - 0xAC00 for letter in hangul]
    if not all(0 <= code < 11172 for code in codes):
        return ""
    return "".join(initials[code // 588] + vowels[code // 28 % 21] + finals[code % 28] for code in codes)


def found(expressions: Mapping[str, re.Pattern[str]], question: str) -> dict[str, list[tuple[int, int]]]:
    """Return where each expression matches in a question."""
    spans = {name: [m.span() for m in expression.finditer(question)] for name, expression in expressions.items()}
    return {name: places for name, places in spans.items() if places}


def superlatives(question: str) -> list[tuple[int, int]]:
    """Return where English superlatives are that no list has: "deadliest", "hardest"."""
    return [match.span() for match in _SUPERLATIVE.finditer(question) if _is_compared(match[1].lower())]


@lru_cache(4096)
def _is_compared(stem: str) -> bool:
    """Whether letters before "est" are those of an adjective: it has a comparative and an adverb; "forest" has none."""
    known = frequencies("en")
    if stem.endswith("i"):
        return len(stem) > _SHORT_STEM and stem[:-1] + "y" in known
    return (stem + "er" in known or stem + "r" in known) and (stem + "ly" in known or stem + "ely" in known)


def phrases(forms: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield what neighbouring words may be together: all as said, the last in each of its forms."""
    *first, last = forms
    before = " ".join(one[0] for one in first)
    for form in last:
        yield f"{before} {form}".strip()
