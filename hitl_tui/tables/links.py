"""What the words of a question may stand for in one table: its name, its columns, its values."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from hitl_tui.meaning.frequencies import frequencies, telling
from hitl_tui.meaning.sounds import english_sound, korean_sound, skeleton, sound_likeness
from hitl_tui.meaning.word_forms import is_past, lemma, same_root
from hitl_tui.tables.profile import Column, Table
from hitl_tui.tables.short_forms import short_forms_of
from hitl_tui.tables.word_meanings import Meaning, Name, meanings
from hitl_tui.tables.words import (
    SOUND,
    Token,
    compound_of,
    is_ending,
    key_of,
    lexicon,
    likeness,
    phrases,
    romanised,
    short_for,
    sounds_like,
    translated,
    words_of,
)

FUZZY = 84.0
_NAME = 0.95
"""How much a word of two syllables says at least that may be a foreign name."""
_STRANGE = 0.5
"""How much a longer word says at least that may be one."""
_FEW_VALUES = 60
"""Different values of a column that a value is known of by its beginning."""
_RARE = 0.7
"""How much letters say at least that are no word, but the first ones of several."""
_SEASON = re.compile(r"\d{4}\W\d\d")
_EACH = re.compile("(?:별로?|마다)[는은의]?$")
_TOPIC = re.compile("[은는을를]$")
_EVERY_DAY = 0.12
"""How much an English word says at least that rows are chosen by which only have it in a text."""
_MAY_MEAN, _MAY_NAME, _SECOND, CLEARLY = 0.15, 0.22, 0.5, 0.4
"""How likely a word has to mean a value or a name to stand for it, beside what is likelier, and to do so clearly."""
_FAR_APART, _NEAR_BY = 0.35, 0.3
"""From where on a word is near to a name, and how much nearer it is about that."""
_MEANT, _MEANT_LOOSELY = 0.75, 0.5
"""How likely it is then a column's name."""
NAMES = frozenset(("name", "title", "model", "place", "이름"))
"""Words of columns that say what a row is called."""
_CODES = frozenset(("id", "code", "no", "number", "key"))
CALLED = 0.9
"""How likely a word has to be a table's name for the table to be called by it."""
_SAME_PLACE = 0.75
"""How near a word is at least to the name of a place that means it."""
_ASIDE = 0.5
"""How likely the first part alone of a compound names a column."""
_MODIFIES = 0.8
"""How likely it is a table's name at most."""
_DIGITS = 3
"""Digits of a key at least that may be said without the zeros before it."""
_COMPOUND = 6
"""Letters of two words from which they may be one of a table's name."""
_HANGUL = re.compile("[가-힣]+")
_KNOWN_SOUND = 86.0
"""How much alike a name and a word that is known sound at least."""
_MANY_WORDS, _SURE_SOUND = 5000, 92.0
"""Words of values among which one may sound as any word does by chance, and how alike they have to sound then."""
_VOWEL = re.compile("[aeiouy]")
_SHORTEST, _LONGEST = 5, 20
"""Letters of a name of several words that a Korean one may sound like."""
_KINDS = frozenset("대시도군구역주섬산강호")
"""What Korean adds to a name to say of which kind it is."""
_CAPITALS = re.compile(r"[A-Z](?:\.?[A-Z]){1,4}\.?")
"""Letters that stand for the words of a name."""
_FEW_CODES, _LONGEST_CODE = 30, 4
"""Different values of a column of codes, and letters of one, at most."""
_ARTICLES = ("a", "an", "the")
_MANY_VALUES = 2000
"""Values of a column at most that initials are looked for in."""
_ASKING = frozenset(("what", "which", "how", "why"))
_indexes: OrderedDict[tuple[str, int, str], ValueIndex] = OrderedDict()


@dataclass(frozen=True, slots=True)
class ValueIndex:
    """The texts of a table: by the whole value, and by each of its words, with their columns."""

    whole: Mapping[str, Sequence[tuple[str, str]]]
    words: Mapping[str, Mapping[str, int]]


def index_of(table: Table) -> ValueIndex:
    """Return the values of a table, made once for a state of its file."""
    key = (str(table.file.absolute), table.file.mtime_ns, table.name)
    known = _indexes.get(key)
    if known is None:
        whole: dict[str, list[tuple[str, str]]] = {}
        words: dict[str, dict[str, int]] = {}
        for column in table.columns:
            for value in column.values:
                if value not in column.items:
                    for said in {key_of(value), _bare_number(value)} - {""}:
                        whole.setdefault(said, []).append((column.name, value))
                if len(value) <= 200:
                    whole_word = {lemma(value.casefold())} if value.isalpha() else set[str]()
                    for word in whole_word.union(words_of(value)):
                        counts = words.setdefault(word, {})
                        counts[column.name] = counts.get(column.name, 0) + 1
            for item in sorted(column.items):
                whole.setdefault(key_of(item), []).append((column.name, item))
        known = ValueIndex(whole, words)
        _indexes[key] = known
        while len(_indexes) > 200:
            _indexes.popitem(last=False)
    return known


def _bare_number(value: str) -> str:
    """Return a number of some digits without the zeros that it is filled up with; empty for any other value."""
    bare = value.lstrip("0") if value.startswith("0") and value.isdigit() else ""
    return bare if len(bare) >= _DIGITS else ""


@dataclass(frozen=True, slots=True)
class ValueLink:
    """Words of a question that name values: all of a value, or words within values of a column."""

    first: int
    last: int
    column: str
    values: tuple[str, ...]
    whole: bool
    count: int = 1

    @property
    def coded(self) -> bool:
        """Whether the word stands for letters of a column that has nothing else."""
        return self.whole and all(len(value) == 1 and value.isalpha() for value in self.values)


@dataclass(slots=True)
class Links:
    """What each token may stand for; columns with how likely that is.

    Args:
        table: the table.
        named: tokens that name the table.
        columns: per token, likeness by column.
        values: the value links, longest first.
        guessed: what was read as something spelt nearly so, or that means nearly so.
        meant: tokens that stand for something by what they mean alone, and may mean something else.
        likely: how likely tokens mean what they were taken for by what they mean.
        related: how likely tokens mean the table or a column, of those that no letters link to it.
    """

    table: Table
    named: dict[int, float] = field(default_factory=dict)
    columns: list[dict[str, float]] = field(default_factory=list)
    values: list[ValueLink] = field(default_factory=list)
    guessed: dict[int, str] = field(default_factory=dict)
    meant: set[int] = field(default_factory=set)
    related: dict[int, float] = field(default_factory=dict)
    likely: dict[int, float] = field(default_factory=dict)

    @property
    def in_values(self) -> frozenset[int]:
        """The tokens that name values."""
        return frozenset(n for link in self.values for n in range(link.first, link.last + 1))

    @property
    def in_columns(self) -> frozenset[int]:
        """The tokens that name columns."""
        return frozenset(n for n, likely in enumerate(self.columns) if likely)

    def guess(self, links: Sequence[ValueLink]) -> None:
        """Add values that are said in other letters than theirs."""
        for link in links:
            self.guessed |= dict.fromkeys(range(link.first, link.last + 1), " ".join(link.values))
        self.values += links


def links(
    question: Sequence[Token],
    table: Table,
    taken: frozenset[int],
    *,
    named: bool = False,
    by_meaning: bool = False,
    glossed: frozenset[int] = frozenset(),
) -> Links:
    """Return what the tokens of a question may stand for in a table.

    Each pass looks at what those before it found, most of them at what these left alone:

    1. `_by_words`: columns, and the table, that a word alone names.
    2. `_called_together`, `_by_phrases`: the table and columns that several words name together.
    3. `_whole_values`, then `_shortened`: values that words name as a whole, in full or by initials.
    4. `_parts_of_values`: values that have a word in them, of the words that no value is named by yet.
    5. `_strange`: the words that stand for nothing by now.
    6. `_sounding`: values that these sound like.
    7. `_by_meaning`: what is left of them, and parts of texts, may mean.
    8. `_mean_or_spell`: they get what they mean, or what is spelt nearly so.
    9. `_beside_rows`: the values, without those that only say what the rows are.

    Args:
        question: its tokens.
        table: the table.
        taken: tokens that only say what is done; they may name columns, no values.
        named: the question names the table.
        by_meaning: words that stand for nothing are compared with the names of columns in meaning, too.
        glossed: tokens that the next one says again, in brackets.
    """
    made, index = Links(table), index_of(table)
    made.columns, made.named = _by_words(question, table)
    made.named |= _called_together(question, table)
    made.columns = _by_phrases(question, table, made.columns)
    made.values = _whole_values(question, index, taken, made)
    made.guess(list(_shortened(question, table, taken | made.in_values | made.named.keys() | made.in_columns)))
    covered = made.in_values
    made.values += _parts_of_values(question, index, taken | covered, table)
    strange = _strange(question, taken, made)
    made.guess(_sounding(question, strange, index))
    found = made.in_values | made.in_columns
    strange = {n: token for n, token in strange.items() if n not in found and not (n in glossed and n + 1 in found)}
    within = {one.first for one in made.values if not one.whole and _tells_rows(table.column(one.column))} - covered
    meant = _by_meaning(question, strange, within, made, named=named) if by_meaning else {}
    _mean_or_spell(question, strange, meant, index, taken, made, named=named)
    made.values = _beside_rows(made)
    return made


def _by_words(question: Sequence[Token], table: Table) -> tuple[list[dict[str, float]], dict[int, float]]:
    """Return by token the columns that it names alone, and the tokens that name the table."""
    columns, named = list[dict[str, float]](), dict[int, float]()
    label, stem = _label(table), key_of(table.stem)
    for n, token in enumerate(question):
        forms = forms_of(token)
        likely = _columns(forms, table, exact=_plain(token))
        if head := compound_of(token)[1] or _head(forms, table):  # of "최고기온" no highest price
            headed = {c.name for c in table.columns if any(likeness(head, word) for word in words_of(c.name))}
            likely = {name: rate if name in headed else min(rate, _ASIDE) for name, rate in likely.items()}
        if any(_calls_rows(token, name, question) for name in likely):
            likely, named[n] = {}, CALLED
        columns.append(likely)
        if token.kind == "year" and token.text.strip() in label:
            named[n] = 1.0
        if token.kind in ("word", "month") and not _plain(token):
            called = max((likeness(form, word) for form in forms for word in label if not word.isdigit()), default=0.0)
            spelled = any(_in_stem(term, stem) for form in forms for term in (form, *lexicon().alike.get(form, ())))
            if compound_of(token)[1]:  # the hours of staff are no staff
                whole = max((likeness(form, word) for form in token.forms for word in label), default=0.0)
                called = max(whole, min(called, _MODIFIES))
            if called >= (0.5 if token.filler else 0.75) or (spelled and not token.filler):
                named[n] = max(called, 0.8 if spelled else 0.0)
    return columns, named


def _label(table: Table) -> list[str]:
    """Return the words that a table is called by: those of its file, its sheet and its folders."""
    folders = table.file.path.split("/")[:-1]
    return [word for name in (table.stem, table.sheet, *folders) for word in words_of(name)]


def _called_together(question: Sequence[Token], table: Table) -> dict[int, float]:
    """Return the tokens that name the table together: "bird strikes" are what birdstrikes.csv is about."""
    named, label, stem = dict[int, float](), _label(table), key_of(table.stem)
    for n, (one, other) in enumerate(pairwise(question)):
        joined = key_of(one.text + other.text)
        if _is_long(joined) and _joins(one, other) and (joined in stem or lemma(joined) in stem):
            named |= dict.fromkeys((n, n + 1), 1.0)
    for first, last, word in _initials(question):
        if word in label:
            named |= dict.fromkeys(range(first, last + 1), 1.0)
    return named


def _by_phrases(
    question: Sequence[Token], table: Table, columns: Sequence[Mapping[str, float]]
) -> list[dict[str, float]]:
    """Return by token the columns that it names, now also with others: those whose whole name is said before all.

    Args:
        question: its tokens.
        table: the table.
        columns: by token those that it names alone.
    """
    made = [dict(likely) for likely in columns]
    by_initials = [
        (first, last, c.name)
        for first, last, word in _initials(question)
        for c in table.columns
        if word in words_of(c.name)
    ]
    for first, last, name in (*by_initials, *_joined(question, table)):
        for n in range(first, last + 1):
            made[n][name] = max(0.95, made[n].get(name, 0.0))
    for n, in_full in _in_full(question, table).items():
        made[n] = {name: rate for name, rate in made[n].items() if name in in_full}
    return made


def _whole_values(question: Sequence[Token], index: ValueIndex, taken: frozenset[int], made: Links) -> list[ValueLink]:
    """Return the values that tokens, or several that stand beside each other, name as a whole."""
    places = ((first, last) for last in range(len(question)) for first in range(max(0, last - 4), last + 1))
    return [link for first, last in places for link in _wholes(question, first, last, index, taken, made)]


def _parts_of_values(
    question: Sequence[Token], index: ValueIndex, known: frozenset[int], table: Table
) -> list[ValueLink]:
    """Return the values that have a word in them, of the words that aren't known."""
    return [
        link
        for n, token in enumerate(question)
        if n not in known and token.kind in ("word", "number") and not token.filler and not _is_rows(token)
        for link in _within(token, n, index, table)
    ]


def _is_rows(token: Token) -> bool:
    """Whether a word calls rows of any table."""
    return not lexicon().rows.isdisjoint(token.forms)


def _strange(question: Sequence[Token], taken: frozenset[int], made: Links) -> dict[int, Token]:
    """Return the words that stand for nothing so far, without what says that something is asked for each of them."""
    found, known = dict[int, Token](), made.in_values | made.in_columns | made.named.keys()
    for n, token in enumerate(question):
        noun = _EACH.sub("", token.text)
        each = n in taken and len(noun) > 1 and noun != token.text
        said = token.filler or (n in taken and not each) or _is_rows(token) or n in known or _is_unit(question, n)
        if token.kind == "word" and not said:
            found[n] = replace(token, text=noun, forms=(noun,)) if each else token
    return found


def _sounding(question: Sequence[Token], strange: Mapping[int, Token], index: ValueIndex) -> list[ValueLink]:
    """Return the values that strange words name with a kind added to them, or sound like."""
    made = [one for n, token in strange.items() for one in _of_a_kind(n, token, index)]
    named_so = {n for one in made for n in range(one.first, one.last + 1)}
    return [*made, *_called_by_sound(question, {n: t for n, t in strange.items() if n not in named_so}, index)]


def _names_in(strange: Mapping[int, Token]) -> set[int]:
    """Return the words that are names as they are written."""
    return {n for n, token in strange.items() if token.start and token.text[0].isupper()}


def _by_meaning(
    question: Sequence[Token], strange: Mapping[int, Token], within: Collection[int], made: Links, *, named: bool
) -> dict[int, list[Meaning]]:
    """Return what strange words may mean; how likely they are the table's goes into the links.

    Args:
        question: its tokens.
        strange: words that stand for nothing.
        within: words that texts have in them, which get the kind that they mean, before these texts.
        made: the links.
        named: the question names the table.
    """
    names = _names_in(strange)
    parts = {n for n in names if {n - 1, n + 1} & names}  # of a name of two words, none means anything alone
    mean = {n: token for n, token in strange.items() if _noun(token) and n not in parts}
    loose = {n: question[n] for n in within}
    meant = meanings(mean | loose, made.table) if mean or loose else {}
    for n in loose:
        kinds = [one for one in meant.pop(n, ()) if one.name.kind == "value" and one.likely >= CLEARLY]
        kinds = [one for one in kinds if one.name.text.isascii() != question[n].text.isascii()]
        _mean(question[n], n, made, kinds, named=named)
    made.related = {n: _related(some) for n, some in meant.items()}
    return {n: [one for one in some if not _is_another_place(one, question[n])] for n, some in meant.items()}


def _mean_or_spell(
    question: Sequence[Token],
    strange: Mapping[int, Token],
    meant: Mapping[int, Sequence[Meaning]],
    index: ValueIndex,
    taken: frozenset[int],
    made: Links,
    *,
    named: bool,
) -> None:
    """Link strange words to what they mean, or to what is spelt nearly so where they mean nothing clearly."""
    names = _names_in(strange)
    for n, token in strange.items():
        may = meant.get(n, ())
        if n in names:  # a name is a value, and calls nothing else
            may = [one for one in may if one.name.kind == "value"]
        if n in taken:  # what something is asked for each of may be a column, no value
            may = [one for one in may if one.name.kind in ("column", "part")]
        elif max((one.likely for one in may), default=0.0) < CLEARLY:
            _guess(token, n, index, made)
        if n not in made.guessed and n not in made.named:
            _mean(token, n, made, may, named=named)


def _beside_rows(made: Links) -> list[ValueLink]:
    """Return the values, longest first: members of members.csv are its rows, though one may be a member, too."""
    kept = [one for one in made.values if one.first != one.last or one.coded or made.named.get(one.first, 0.0) < CALLED]
    return sorted(kept, key=lambda link: (link.whole, link.last - link.first), reverse=True)


def _is_unit(question: Sequence[Token], n: int) -> bool:
    """Whether a word says in what a number before it is counted: the grams of "12 grams of sugar"."""
    of = n + 1 < len(question) and question[n + 1].text == "of"
    return of and n > 0 and question[n - 1].kind == "number" and question[n].start - question[n - 1].end <= 1


def _calls_rows(token: Token, name: str, question: Sequence[Token]) -> bool:
    """Return whether a plural names the rows: "transactions", with no word for the flag `is_foreign_transaction`."""
    words = words_of(name)
    if (
        len(words) < 3
        or words[0] not in ("is", "has", "was")
        or token.text == words[-1]
        or words[-1] not in token.forms
    ):
        return False
    return not any(word in one.forms for word in words[1:-1] for one in question)


def _in_full(question: Sequence[Token], table: Table) -> dict[int, set[str]]:
    """Return the columns whose names of several words stand in a question whole, by the places of their words.

    A word of `Store Postcode` that is asked for so calls no `Store Manager`.
    """
    found = defaultdict[int, set[str]](set)
    for column in table.columns:
        words = words_of(column.name)
        for first in range(len(question) - len(words) + 1) if len(words) > 1 else ():
            said = question[first : first + len(words)]
            if all(word in one.forms for word, one in zip(words, said, strict=True)):
                for n in range(first, first + len(words)):
                    found[n].add(column.name)
    return found


def _initials(question: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """Yield where names of several words stand, and their initials: New Horizons of `sell_nh`."""
    for first in range(len(question)):
        for last in range(first + 1, min(first + 4, len(question))):
            said = question[first : last + 1]
            if any(b.start - a.end != 1 for a, b in pairwise(said)):
                break
            short = "".join(one.text[0] for one in said).casefold()
            name = all(one.text[0].isupper() for one in said)  # other words may begin as any word is spelt
            rare = len(short) > 2 and telling(short, "en") >= _RARE and not any(one.filler for one in said[1:])
            if short.isascii() and short.isalpha() and (name or rare):
                yield first, last, short


def _shortened(question: Sequence[Token], table: Table, known: Set[int]) -> Iterator[ValueLink]:
    """Yield the values that unknown words say in full, or whose initials are said: PT of part-timers, D.C."""
    for column in table.columns:
        values = {value.casefold(): value for value in column.items or column.values[:_MANY_VALUES]}
        codes = {v for v in values if v.isalpha() and v.isascii() and len(v) <= _LONGEST_CODE}
        coded = 1 < len(values) <= _FEW_CODES and all(value in codes for value in values if len(value) > 1)
        full: dict[str, list[range]] = {}
        for first, last, short in _abbreviated(question) if coded else ():
            said = range(first, last + 1)
            if short in codes and known.isdisjoint(said):
                full.setdefault(short, []).append(said)
        for short, places in full.items():  # of several, the one behind an article: "how many picked a heat pump"
            marked = [said for said in places if said[0] and question[said[0] - 1].text in _ARTICLES] or places
            if len(marked) == 1:
                yield ValueLink(marked[0][0], marked[0][-1], column.name, (values[short],), True)
        for n, token in enumerate(question) if column.kind == "text" and not coded else ():
            short = token.text.replace(".", "").casefold()
            if _CAPITALS.fullmatch(token.text) and n not in known:
                whole = [value for name, value in values.items() if short in _initials_of(name)]
                if len(whole) == 1:
                    yield ValueLink(n, n, column.name, (whole[0],), True)


def _abbreviated(question: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """Yield where words stand that codes may be made of: `hp` of "heat pump", `pt` of "part-timers"."""
    for n, token in enumerate(question):
        parts = token.text.casefold().split("-")
        if len(parts) > 1 and all(part.isalpha() for part in parts):
            yield n, n, "".join(part[0] for part in parts)
        for last in range(n + 1, min(n + _LONGEST_CODE, len(question))):
            said = question[n : last + 1]
            apart = any(b.start - a.end != 1 for a, b in pairwise(said))
            if apart or any(one.kind != "word" or one.filler or not one.text.isalpha() for one in said):
                break
            yield n, last, "".join(one.text[0] for one in said).casefold()


def _initials_of(name: str) -> set[str]:
    """Return the first letters of a name's words, with and without those of small words."""
    words = [word for word in re.findall(r"[A-Za-z]+", name) if word]
    large = [word for word in words if word.casefold() not in lexicon().filler]
    return {"".join(word[0] for word in each).casefold() for each in (words, large) if len(each) > 1}


def _joined(question: Sequence[Token], table: Table) -> Iterator[tuple[int, int, str]]:
    """Yield where words stand that a column's name has as one: the bike shop of `bikeshop_name`."""
    parts = [(c.name, {key_of(c.name), *words_of(c.name)}) for c in table.columns]
    for first in range(len(question)):
        for last in range(first + 1, min(first + 4, len(question))):
            said = question[first : last + 1]
            if any(b.start - a.end != 1 or not _joins(a, b) for a, b in pairwise(said)):
                break
            before = "".join(key_of(one.text) for one in said[:-1])
            together = {before + key_of(form) for form in said[-1].forms}
            long = {one for one in together if _is_long(one)}
            yield from ((first, last, name) for name, words in parts if long & words)


def _joins(one: Token, other: Token) -> bool:
    """Whether a word goes on with another one, or with a number: `S&P 500`."""
    return one.kind == "word" and (other.kind == "word" or (other.kind == "number" and other.text.strip().isdigit()))


def _is_long(name: str) -> bool:
    """Whether letters are no part of a name by chance."""
    return len(name) >= (3 if not name.isascii() else _COMPOUND if name.isalpha() else _COMPOUND - 1)


def _plain(token: Token) -> bool:
    short = token.text.isascii() and token.text.islower() and len(token.text) <= 2
    stands = not short and any(form in lexicon().alike for form in token.forms)
    return token.kind in ("decade", "day") or (token.filler and not stands)


def forms_of(token: Token) -> tuple[str, ...]:
    """Return a token's forms, and the parts of a Korean compound that are known words (`독일차`, `생존율`)."""
    if all(both := compound_of(token)):
        return (*token.forms, *both)
    known = lexicon()
    parts = [
        form[:size]
        for form in token.forms
        if "가" <= form[0] <= "힣" and len(form) > 2
        for size in range(len(form) - 1, 1, -1)
        if form not in known.alike and form[:size] in known.alike
    ]
    return (*token.forms, *parts[:2])


def _head(forms: Sequence[str], table: Table) -> str:
    """Return the word of a column that a longer Korean word ends with: `작업시간` are times, no works."""
    words = (word for c in table.columns for word in words_of(c.name) if len(word) > 1 and "가" <= word[0] <= "힣")
    return next((word for word in words for form in forms if form != word and form.endswith(word)), "")


def columns_of(token: Token, table: Table) -> dict[str, float]:
    """Return the columns that a word may stand for by their names, and how likely."""
    return _columns(forms_of(token), table, exact=_plain(token))


def _in_stem(form: str, stem: str) -> bool:
    if "가" <= form[0] <= "힣":
        spelled = romanised(form)
        return len(form) > 1 and len(spelled) > 4 and (stem.startswith(spelled) or form in stem)
    return len(form) > 4 and form in stem


def _columns(forms: Sequence[str], table: Table, *, exact: bool) -> dict[str, float]:
    found = {}
    asking = forms[0] in _ASKING  # "what did we spend" names no column that is called What
    for column in table.columns:
        season = _SEASON.fullmatch(forms[0]) and key_of(forms[0]) in key_of(column.name)
        if season or (not asking and key_of(column.name) in (key_of(form) for form in forms)):
            found[column.name] = 1.0
        if exact or column.name in found:
            continue
        best = max((likeness(form, word) for word in words_of(column.name) for form in forms), default=0.0)
        if best:
            found[column.name] = best
    return found


def _wholes(
    question: Sequence[Token], first: int, last: int, index: ValueIndex, taken: frozenset[int], made: Links
) -> list[ValueLink]:
    """Return the values that some neighbouring tokens name as a whole."""
    said = question[first : last + 1]
    if first == last and _function_word(said[0]):  # `paid is no`: a value where it follows its column's name
        beside = {name for n in range(max(0, first - 2), first) for name in made.columns[n]}
        named = [(c, v) for c, v in index.whole.get(key_of(said[0].forms[0]), ()) if c in beside]
        return [ValueLink(first, last, column, (value,), True) for column, value in named]
    if first == last and first and question[first - 1].text.lower() == "how":
        return []  # "how high" asks for no `high`
    if first == last and (said[0].kind not in ("word", "number", "month", "day") or last in taken):
        return []
    if any(b.start - a.end > 3 for a, b in pairwise(said)):
        return []
    terms = list(phrases([forms_of(token) for token in said]))
    if first == last and said[0].kind == "month":
        terms += [name for name, month in lexicon().months.items() if month == said[0].number]
        months = {column for name in lexicon().months for column, _ in index.whole.get(name, ()) if name not in terms}
    else:
        months = {column.name for column in made.table.columns}
    terms += [term[:-1] for term in terms if term.endswith("an") and len(term) > 5]  # "South Korean" is of South Korea
    known = lexicon()
    parts = [(c.name, term.removesuffix(c.name)) for c in made.table.columns for term in terms if term.endswith(c.name)]
    named = [(c, v) for name, part in parts for c, v in index.whole.get(key_of(part), ()) if part and c == name]
    if first == last and named:  # `번역팀` of a column `팀`
        return [ValueLink(first, last, column, (value,), True) for column, value in named]
    of_compound = {*forms_of(said[-1])} - {*said[-1].forms} - known.places if first == last else set[str]()
    meant = [term for term in terms if term not in of_compound]  # the hours that staff work are no staff
    likes = {term: near for term in meant for near in known.alike.get(term, ())}
    for term in meant:
        likes |= dict.fromkeys(known.alike.get(term, ()), term)
        short = (one for one in short_forms_of(term) if len(one) > 1)  # of grams, no grade G
        likes |= {one: term for one in (*translated(term), *short) if one not in likes}
    found: dict[str, list[str]] = {}
    if first == last:
        found = {c: [letter] for c, letter in _coded({*terms, *likes}, made.table)}
    for near in dict.fromkeys([*terms, *likes]):
        for column, value in index.whole.get(key_of(near), ()):
            if column not in months:  # a code of Morocco is no March
                continue
            if len(key_of(near)) <= (2 if near.isascii() else 1) and not _exactly(
                said, value, near in terms, made.columns[first - 1 : last + 2], column
            ):
                continue
            if near in terms or column not in found:
                found.setdefault(column, []).append(value)
    written = " ".join(token.text for token in said)  # of values that differ in their case, the one as it was written
    if last > first and not found:  # "entire home" begins one value alone: entire home/apt
        starts = [key for key in map(key_of, terms) if len(key) >= _COMPOUND]
        few = {c.name for c in made.table.columns if c.distinct <= _FEW_VALUES}
        begun = [w for key in index.whole if any(map(key.startswith, starts)) for w in index.whole[key] if w[0] in few]
        found = {column: [value] for column, value in begun} if len(begun) == 1 else {}
    kept = {column: [written] if written in values else dict.fromkeys(values) for column, values in found.items()}
    return [ValueLink(first, last, column, tuple(values), True) for column, values in kept.items()]


def _noun(token: Token) -> bool:
    """Whether a word is no verb of the past, or one that is made of a noun: `승진했어`."""
    bare = token.forms[-1]
    return not is_past(token.text) or (len(bare) > 1 and token.text.startswith(bare) and not is_past(bare))


def _coded(terms: set[str], table: Table) -> Iterator[tuple[str, str]]:
    """Yield the columns of single letters, and which of them stands for a word: F for women, W for what was won."""
    for column in table.columns:
        letters = {value.casefold(): value for value in column.values if len(value) == 1 and value.isalpha()}
        if not 1 < len(letters) == column.distinct <= 3:
            continue
        for codes in lexicon().codes:
            if letters.keys() <= codes.keys():
                yield from ((column.name, letters[one]) for one in letters if codes[one] in terms)


def _exactly(
    said: Sequence[Token], value: str, as_said: bool, near: Sequence[Mapping[str, float]], column: str
) -> bool:
    """Whether a value of one or two letters is meant: written the same in capitals, or beside its column's name."""
    if not as_said:
        return max(len(token.text) for token in said) > 1 and not said[-1].filler
    beside = any(column in one for one in near)
    same = said[-1].text == value
    return (same and (value.isupper() or beside)) or (beside and not value.isdigit())


def _function_word(token: Token) -> bool:
    known = token.text.isascii() or len(token.text) < 2 or token.text in lexicon().filler
    return token.filler and known and not token.text.isupper()  # `회의` is no `회`


def _within(token: Token, n: int, index: ValueIndex, table: Table) -> list[ValueLink]:
    """Return the columns whose values have a word; one of every day stands in texts of any kind."""
    known = lexicon()
    if token.text.isascii() and token.text.islower() and telling(token.text, "en") < _EVERY_DAY:
        return []
    for form in (*token.forms, *((token.unit,) if token.unit else ())):
        other = [t for t in known.alike.get(form, ()) if len(t) > 2 and t.isascii() != form.isascii()]
        other += [t for t in translated(form) if len(t) > 2 and t not in other]
        stems = [word for word in (f"{form}n", form.removesuffix("n")) if token.text[:1].isupper() and len(form) > 4]
        names = [form, lemma(form), *other, *stems]
        for name in names:
            columns = index.words.get(lemma(name), {})
            if name in other and name not in known.places:  # of names that are each another one, none is translated
                columns = {one: n for one, n in columns.items() if not _tells_rows(table.column(one))}
            if columns and (len(name) > 1):
                return [ValueLink(n, n, column, (lemma(name),), False, columns[column]) for column in sorted(columns)]
    for form in token.forms:
        if "가" <= form[0] <= "힣" and len(form) >= 2:
            stem = form[:-1] if len(form) > 2 and form[-1] in "도시군구" else form
            for word, columns in index.words.items():
                if word.startswith(stem) and "가" <= word[0] <= "힣":
                    return [
                        ValueLink(n, n, column, (f"{stem}*",), False, columns[column]) for column in sorted(columns)
                    ]
    persons = {c.name for c in table.columns if c.kind == "text" and set(words_of(c.name)) & known.persons}
    for form in token.forms:  # a Korean name without the family's
        if len(form) == 2 and "가" <= form[0] <= "힣" and persons:
            called = [w for w in index.words if len(w) == 3 and w[1:] == form and "가" <= w[0] <= "힣"]
            columns = index.words[called[0]] if len(called) == 1 else {}
            if named := sorted(persons & columns.keys()):
                return [ValueLink(n, n, column, (called[0],), True, columns[column]) for column in named]
    for form in token.forms:  # a compound of a value and one syllable: what 회식 costs is 회식비
        columns = index.words.get(form[:-1], {}) if "가" <= form[0] <= "힣" and len(form) > 2 else {}
        if columns:
            return [ValueLink(n, n, column, (form[:-1],), False, columns[column]) for column in sorted(columns)]
    return []


def _tells_rows(column: Column | None) -> bool:
    """Whether a column has another text in almost each row."""
    return column is not None and column.distinct >= 0.9 * max(1, column.filled)


def _is_another_place(meant: Meaning, token: Token) -> bool:
    """Whether a place is only near to what a word says, as Munich is to Germany: its own name would be nearer."""
    places = (lexicon().alike[word] for word in ("city", "country", "region", "district", "county"))
    called = any(not of.isdisjoint(words_of(meant.name.column)) for of in places)
    far = meant.name.kind == "value" and meant.alike < _SAME_PLACE and called
    return far and not any(sounds_like(form, key_of(meant.name.text)) for form in token.forms)


def _related(meant: Sequence[Meaning]) -> float:
    """Return how likely a word that may mean nothing there is about the table or a column all the same, 0 to 1."""
    names = [one for one in meant if one.name.kind != "value"]
    near = (max((one.alike for one in names), default=0.0) - _FAR_APART) / _NEAR_BY
    return min(1.0, max(0.0, near, sum(one.likely for one in names)))


def _mean(token: Token, n: int, made: Links, meant: Sequence[Meaning], *, named: bool) -> None:
    """Link a word that stands for nothing to the columns, the table or the value that it may mean.

    A table that is named already is meant by no other word.
    """
    best = max((one.likely for one in meant), default=0.0)
    for one in meant:
        name = one.name
        least = _MAY_MEAN if name.kind == "value" else _MAY_NAME
        if one.likely < max(least, _SECOND * best) or (name.kind == "table" and named):
            continue
        made.likely.setdefault(n, one.likely)
        if name.kind == "table":
            made.named[n] = one.likely
        elif name.kind == "value" and _is_shared(name, meant):  # of Google Ads and TikTok Ads an ad is neither
            made.named.setdefault(n, one.likely)
        elif name.kind == "value":
            made.values.append(ValueLink(n, n, name.column, (name.text,), True))
            made.guessed[n] = name.text
        else:
            made.columns[n][name.column] = _MEANT if one.likely >= CLEARLY else _MEANT_LOOSELY
            made.guessed.setdefault(n, name.column)
            if best < CLEARLY or name.text.isascii() == token.text.isascii():
                made.meant.add(n)  # a word of the same language would be the column's own


def _is_shared(value: Name, meant: Sequence[Meaning]) -> bool:
    """Return whether what may mean a value may mean others of its column, too, by a word that they share."""
    words = {*words_of(value.text)}
    return any(
        one.name.kind == "value" and one.name != value and one.name.column == value.column
        for one in meant
        if words & {*words_of(one.name.text)}
    )


def _guess(token: Token, n: int, index: ValueIndex, made: Links) -> None:
    """Link a word that stands for nothing to what is spelt, or sounds, nearly so."""
    from rapidfuzz import fuzz, process

    if short := _abbreviation(token, index) or _letter(token, n, made.table):
        columns = dict.fromkeys(column for column, _ in index.whole[key_of(short)])
        made.values += [ValueLink(n, n, column, (short,), True) for column in columns]
        made.guessed[n] = short
        return
    word = token.forms[-1] if token.text.isascii() else token.forms[0]
    names = {w: ("column", c.name) for c in made.table.columns for w in words_of(c.name)}
    names |= {w: ("name", "") for w in (*words_of(made.table.stem), *words_of(made.table.sheet)) if w not in names}
    if not token.text.isascii():
        if sounded := _sounded(token, index):
            made.values += [ValueLink(n, n, column, (sounded,), False) for column in sorted(index.words[sounded])]
            made.guessed[n] = sounded
        return
    if len(word) < 5:
        return
    best = process.extractOne(word, list(names), scorer=fuzz.ratio, score_cutoff=FUZZY)
    begins = [one for one in islice(index.words, 40_000) if one[0] == word[0]]  # a Peacock is no Leacock
    value = process.extractOne(word, begins, scorer=fuzz.ratio, score_cutoff=FUZZY)
    if not value and (root := [w for w in islice(index.words, 40_000) if same_root(word, w)]):
        value = (root[0], FUZZY, 0) if len(root) == 1 else None
    if best and (not value or best[1] >= value[1]):
        kind, column = names[best[0]]
        made.guessed[n] = str(best[0])
        if kind == "column":
            made.columns[n][column] = 0.7
        else:
            made.named[n] = 0.7
    elif value:
        made.guessed[n] = str(value[0])
        made.values += [
            ValueLink(n, n, column, (str(value[0]),), False) for column in sorted(index.words[str(value[0])])
        ]


def _sounded(token: Token, index: ValueIndex) -> str:
    """Return the word of a value that sounds most as a foreign name of a question does; empty where none does."""
    found: list[tuple[bool, float, str]] = []
    least = _SURE_SOUND if len(index.words) > _MANY_WORDS else SOUND
    for form in token.forms:
        rare = telling(form, "ko") >= (_NAME if len(form) == 2 else _STRANGE)
        topic = _TOPIC.search(form) and (form != token.forms[-1] or len(form) < 3)
        if is_past(form) or len(form) < (3 if least > SOUND else 2) or not rare or topic:
            continue
        known = form in frequencies("ko") or least > SOUND  # a printer is no brand, though both sound alike
        for word in islice(index.words, 40_000):
            if sounds_like(form, word) and _VOWEL.search(word):
                alike = sound_likeness(form, word)
                found += [(_same_consonants(form, word), alike, word)] if alike >= least or not known else []
    return max(found)[2] if found else ""


def _same_consonants(korean: str, latin: str) -> bool:
    return skeleton(korean_sound(korean)) == skeleton(english_sound(latin))


def _called_by_sound(question: Sequence[Token], strange: Mapping[int, Token], index: ValueIndex) -> Iterator[ValueLink]:
    """Yield the names of several words that Korean ones sound like: `박정희` is Park Chung Hee."""
    bare = {n: min(token.forms, key=len) for n, token in strange.items()}
    bare = {n: form[:1] if len(form) == 2 and is_ending(form[1]) else form for n, form in bare.items()}
    spoken = [(n, n, form) for n, form in bare.items() if len(form) > 2]
    both = (n for n in bare if n + 1 in bare and question[n + 1].start - question[n].end == 1)
    spoken += [(n, n + 1, question[n].text + bare[n + 1]) for n in both]
    spoken = [one for one in spoken if _HANGUL.fullmatch(one[2])]
    names = [key for key in islice(index.whole, 20_000) if key.isascii() and _SHORTEST < len(key) <= _LONGEST]
    names = [key for key in names if key.isalpha() and len(index.whole[key][0][1].split()) in (2, 3)] if spoken else []
    found: dict[tuple[int, int], tuple[bool, float, str]] = {}
    for first, last, form in spoken:
        least = _KNOWN_SOUND if form in frequencies("ko") else SOUND
        for key in names:
            if sounds_like(form, key) and sound_likeness(form, key) >= least:
                best = found.get((first, last), (False, 0.0, ""))
                found[first, last] = max(best, (_same_consonants(form, key), sound_likeness(form, key), key))
    for (first, last), (_, _, key) in found.items():
        yield from (ValueLink(first, last, column, (value,), True) for column, value in index.whole[key])


def _of_a_kind(n: int, token: Token, index: ValueIndex) -> Iterator[ValueLink]:
    """Yield the texts with a name that a Korean word adds a kind to, and with that, if any has both: `김포공항`."""
    known = lexicon()
    for form in token.forms if _HANGUL.match(token.text) and token.text not in known.alike else ():
        for size in range(2, len(form)):
            kind = form[size:]
            if kind not in known.alike and kind not in _KINDS:
                continue
            head = next((word for word in (form[:size], romanised(form[:size])) if word in index.words), "")
            kinds = [word for word in known.alike.get(kind, ()) if word in index.words]
            if columns := index.words.get(head, {}):
                for column in sorted(columns):
                    both = next((word for word in kinds if column in index.words[word]), "")
                    words = (head, both) if both else (head,)
                    yield ValueLink(n, n, column, words, False, columns[column])
                return


def _abbreviation(token: Token, index: ValueIndex) -> str:
    """Return the one value in capitals that is short for a word: AMZN for Amazon; else nothing."""
    alike = () if token.text.isascii() else (t for form in token.forms for t in lexicon().alike.get(form, ()))
    words = {word for word in (*token.forms, *alike) if word.isascii() and len(word) > 4}
    if not words:
        return ""
    places = islice(index.whole.values(), 2000)
    capitals = {value for links in places for _, value in links if 2 < len(value) < 6 and value.isupper()}
    short = [value for value in capitals if any(_is_skeleton(value.casefold(), word) for word in words)]
    return short[0] if len(short) == 1 else ""


def _letter(token: Token, n: int, table: Table) -> str:
    """Return the letter that a name begins with where a column has nothing but capitals: K for Kellogg's."""
    if not (n and token.forms[0].isascii() and token.forms[0].isalpha() and token.text[0].isupper()):
        return ""
    coded = [{*c.values} for c in table.columns if len(c.values) > 2 and all(len(v) == 1 for v in c.values)]
    held = [letters for letters in coded if token.text[0] in letters]
    return token.text[0] if len(held) == 1 and all(map(str.isupper, held[0])) else ""


def _is_skeleton(short: str, word: str) -> bool:
    """Whether a value is short for a word by letters in order, or as much of its beginning: `usage` isn't USA."""
    return short_for(short, word) and (len(short) > 3 or not word.startswith(short))


def label_of(table: Table) -> Column | None:
    """Return the column that says what a row is: the text with most different values, a name before others."""
    texts = [c for c in table.columns if c.kind == "text" and c.filled]
    named = [c for c in texts if set(words_of(c.name)) & NAMES and "id" not in words_of(c.name) and c.distinct > 1]
    texts = [c for c in texts if c.values]  # of too many, only what is called a name is one
    wide = [c for c in texts if c.distinct >= 0.9 * c.filled and c.filled >= 0.8 * table.rows]
    first = named or wide or texts
    return max(first, key=lambda c: (c in wide, c in named, not _is_code(c), -table.columns.index(c)), default=None)


def _is_code(column: Column) -> bool:
    """Whether a column is called as what only tells rows apart."""
    return bool(_CODES.intersection(words_of(column.name))) or column.name.endswith(("번호", "코드"))
