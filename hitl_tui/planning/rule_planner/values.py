"""What a text gives: numbers with their units, dates, times, files, addresses, codes and quoted texts.

Everything that planning reads of such things it reads here: the arguments of a call, the quantities of a computation,
and the places of a question that another one may stand for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from hitl_tui.meaning.amounts import NUMERALS, Amount, parse_amounts
from hitl_tui.meaning.expressions import Expressions
from hitl_tui.planning.rule_planner.rule_file import lexicon, rules

Span = tuple[int, int]
"""Where something stands in a text: its start, and its end."""

_WORD = re.compile("[A-Za-z]+")
_HANGUL = re.compile("[가-힣]")
_REMEMBERED = 512
"""Texts of which it is kept what they give: hundreds of tools are tried with the same few."""
_NAME = 230
"""Characters before a word for a folder that its name stands in."""
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
PAIR = re.compile(
    r"""(?<![\w=-])(?:--)?(?P<name>[A-Za-z][\w-]{0,40})="""
    r"""(?P<value>"[^"\n]{0,400}"|'[^'\n]{0,400}'|\[[^][\n]{0,400}\](?![A-Za-z0-9*?/]|\.\w)|\S{1,400})"""
)
"""An argument by its name: `days=30`, `--dir="my logs"`, `names=["Ann", "Bob"]`."""
PARTICLE = re.compile(r"(?<=[A-Za-z0-9])(?:으로|로|을|를|은|는|이|가|와|과|이랑|랑|하고|에서|에|만|도|의)$")


@dataclass(frozen=True, slots=True)
class Given:
    """Something that a text gives.

    Args:
        kind: `number`, `percent`, `text`, `path`, `date`, `period`, `clock`, `email`, `url` or `code`.
        unit: what it is counted in; empty for none.
        measure: what such a unit measures.
        stop: where a number ends, before its unit.
    """

    kind: str
    value: float | int | str
    place: Span
    unit: str = ""
    measure: str = ""
    stop: int = 0


def overlaps(place: Span, others: Sequence[Span]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in others)


def blanked(text: str, places: Sequence[Span]) -> str:
    """Return a text with spaces for what stands at these places."""
    for start, end in places:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def given_in(text: str) -> list[Given]:
    """Return what a text gives, in order: nothing in it is given twice."""
    return [*_given_in(text)]


@lru_cache(_REMEMBERED)
def _given_in(text: str) -> tuple[Given, ...]:
    found, taken = list[Given](), bytearray(len(text))
    for one in _all_given(text, rules().written):
        here = slice(*one.place)
        if not any(taken[here]):
            found.append(one)
            taken[here] = b"x" * len(taken[here])
    return tuple(sorted(found, key=lambda g: g.place))


def counted_in(text: str) -> list[Given]:
    """Return the numbers of a text that are words before what they count: "three apples"."""
    found = rules().written.numeral.finditer(text)
    return [Given("number", NUMERALS[match[0].lower()], match.span(), stop=match.end()) for match in found]


def _all_given(text: str, written: Expressions) -> Iterator[Given]:
    for match in written.quoted.finditer(text):
        yield Given("text", next(part for part in match.groups() if part), match.span())
    for kind, expression in (("url", written.url), ("email", written.email)):
        for match in expression.finditer(text):
            yield Given(kind, match.group().rstrip(".,;"), match.span())
    for match in written.date.finditer(text):
        year = int(match["y"] or match["y2"] or match["y3"])
        month = int(match["m"] or 0) or _MONTHS.index((match["mon"] or match["mon3"])[:3].lower()) + 1
        day = int(match["d"] or match["d2"] or match["d3"])
        yield Given("date", f"{year:04d}-{month:02d}-{day:02d}", match.span())
    for match in written.period.finditer(text):
        yield Given("period", match.group(), match.span())
    for match in written.version.finditer(text):
        yield Given("code", match.group(), match.span())
    for match in written.clock.finditer(text):
        hour = int(match["h"] or match["h2"] or match["h3"])
        afternoon = match["half"] == "오후" or (match["half2"] or "").lower() == "p"
        hour = (hour % 12 + 12 * afternoon) if match["half"] or match["half2"] else hour
        yield Given("clock", f"{hour:02d}:{int(match['m'] or match['m2'] or match['m3'] or 0):02d}", match.span())
    amounts = [_amount(amount, text, written) for amount in parse_amounts(text)]
    yield from (one for one in amounts if not text[one.place[0]].isdecimal())  # a word is no name of a file
    for match in written.path.finditer(text):
        said = match.group()
        value = said if set(said) <= {"."} else PARTICLE.sub("", said).rstrip(".")
        if value and not value.replace(".", "").isdigit():
            yield Given("path", value.rstrip("/") or value, (match.start(), match.start() + len(value)))
    for match in written.code.finditer(text):
        # What is written in one with digits and is no number in its unit names something: "KA-4417", "010-1234".
        said = re.sub(r"(?<=[A-Za-z0-9])[가-힣]+$", "", match.group()).rstrip("-")
        place = (match.start(), match.start() + len(said))
        counted = any(n.place[0] <= place[0] and n.place[1] >= place[1] for n in amounts)
        if len(said) > 1 and not said.isdigit() and not counted:
            yield Given("code", said, place)
    yield from amounts
    for match in written.number.finditer(text):
        bare = Fraction(match.group().replace(",", ""))
        yield Given("number", _plain(bare), match.span(), stop=match.end())
    yield from _named_folders(text)
    for match in rules().commands.slashed.finditer(text):
        yield Given("path", match["slash"].rstrip("."), match.span("slash"))


def _named_folders(text: str) -> Iterator[Given]:
    """Yield what a word for a folder is the name of, before it or behind it: "the logs folder", "the folder logs"."""
    words = rules().commands
    for match in words.folder.finditer(text):
        korean, start = bool(_HANGUL.match(match[0])), max(0, match.start() - _NAME)
        before, behind = (
            words.named_before.search(text, start, match.start()),
            words.named_behind.match(text, match.end()),
        )
        group = "ko" if korean else "en"
        if before and before[group] and _is_name(before[group]):
            yield Given("path", before[group].rstrip("."), before.span(group))
        elif behind and not korean and (behind["said"] or _names_folder(text[start : match.start()], behind["name"])):
            yield Given("path", behind["name"].rstrip("."), behind.span("name"))
        elif behind and korean and (name := PARTICLE.sub("", behind["name"])).isascii() and _is_name(name):
            yield Given("path", name, (behind.start("name"), behind.start("name") + len(name)))


def _is_name(word: str) -> bool:
    """Whether a word beside one for a folder can be its name: no article, no pronoun, nothing that says which."""
    words, plain = rules().commands, word.lower()
    if words.no_name.fullmatch(plain) or words.modifiers.fullmatch(plain):
        return False
    if word.isascii():
        return plain not in lexicon().empty
    which = words.adnominal.search(word) or rules().says.verbal.search(word)
    return not which and lexicon().bare(word) == word


def _names_folder(before: str, word: str) -> bool:
    """Whether a word behind one for a folder is its name: a verb only where another one says what to do."""
    return _is_name(word) and (not lexicon().is_verb(word) or any(map(lexicon().is_verb, _WORD.findall(before))))


def _amount(amount: Amount, text: str, written: Expressions) -> Given:
    kind, measure = "percent" if amount.kind == "percent" else "number", amount.kind if amount.unit else ""
    unit, end = amount.unit, amount.end
    if not unit and (counted := written.counted.match(text, end)):
        unit, measure, end = counted.group().strip(), "count", counted.end()
    return Given(kind, _plain(amount.value), (amount.start, end), unit, measure, amount.stop)


def _plain(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else float(value)
