"""A question in words becomes the terms to look for, by lists of stop words, endings, units and words alike."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from itertools import pairwise

from hitl_tui.teams.search.tokens import (
    Kind,
    Unit,
    article_tokens,
    normalise,
    number_tokens,
    phrase_tokens,
    run_tokens,
    stem,
    units,
    word_tokens,
)


@dataclass(frozen=True, slots=True)
class Alike:
    """A word (or a few side by side) of a group of words that stand for one another.

    Args:
        text: as in the list, composed form.
        phrase: its index tokens, joined by spaces.
        korean: written in Hangul.
    """

    text: str
    phrase: str
    korean: bool


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is known about words; made once from the two data files.

    Args:
        stop: words dropped from a question, lower case.
        weak: words that count little.
        weak_stems: their stems, for other forms of them.
        stop_tokens: index tokens of the stop words.
        endings: Korean particles and verb endings, longest first.
        verbal: Korean verb endings that make a weak word of a single syllable before them.
        units: what after a number makes it an amount.
        groups: words alike.
        roles: the index tokens of words that say who rather than what.
        same_language, other_language: weights of a match by a word alike, 0 to 1.
    """

    stop: frozenset[str]
    weak: frozenset[str]
    weak_stems: frozenset[str]
    stop_tokens: frozenset[str]
    endings: tuple[str, ...]
    verbal: tuple[str, ...]
    units: frozenset[str]
    groups: tuple[tuple[Alike, ...], ...]
    roles: frozenset[str]
    same_language: float
    other_language: float


@cache
def load_lexicon() -> Lexicon:
    """Return the packaged word lists (read once, never changed)."""
    folder = resources.files("hitl_tui.teams.search")
    words = tomllib.loads(folder.joinpath("stopwords.toml").read_text(encoding="utf-8"))
    alike = tomllib.loads(folder.joinpath("synonyms.toml").read_text(encoding="utf-8"))
    weak = frozenset(f"{words['english']['weak']} {words['korean']['weak']}".split())
    stop = frozenset(f"{words['english']['stop']} {words['korean']['stop']}".split())
    return Lexicon(
        stop=stop,
        weak=weak,
        stop_tokens=frozenset(phrase_tokens(normalise(word)) for word in stop),
        weak_stems=frozenset(stem(word) for word in weak),
        endings=tuple(sorted(set(words["korean"]["endings"].split()), key=lambda ending: (-len(ending), ending))),
        verbal=tuple(words["korean"]["verbal"].split()),
        units=frozenset(words["amounts"]["units"].split()),
        groups=_groups(alike["groups"]),
        roles=frozenset(
            phrase_tokens(normalise(word)) for name in alike["roles"]["groups"] for word in alike["groups"][name]
        ),
        same_language=float(alike["weights"]["same_language"]),
        other_language=float(alike["weights"]["other_language"]),
    )


def _groups(groups: Mapping[str, list[str]]) -> tuple[tuple[Alike, ...], ...]:
    return tuple(
        tuple(Alike(text, phrase_tokens(normalise(text)), not text.isascii()) for text in members)
        for members in groups.values()
    )


MAX_TERMS = 24
MAX_QUESTION = 20_000
_AFTER_NUMBER = re.compile(r"\s?([^\W\d_]+|%|㎡|°)")
_MONEY_SIGN = re.compile(r"[$€£₩¥]\s?$")
_SCRIPTS = re.compile("[々\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+|[\u30a0-\u30ff]+")
_JOINED = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{1,40}(?:[-_.][A-Za-z0-9]{1,40}){1,4}(?![A-Za-z0-9])")
_HOW_LONG = re.compile(r"(?<![a-z])how\smany\s(days|weeks|months|years|hours|minutes)(?![a-z])", re.IGNORECASE)
_COMPOUND = 0.8
_PREFIX = 0.35
_INSIDE = 0.85


class Weight(StrEnum):
    """How much a term counts: amounts and numbers must not decide what a question is about."""

    STRONG = "strong"
    ROLE = "role"
    WEAK = "weak"
    NUMBER = "number"
    AMOUNT = "amount"


@dataclass(frozen=True, slots=True)
class Form:
    """One way a term can stand in a document.

    Args:
        phrases: runs of index tokens; the more of them a passage has, the better.
        weight: 1 for the word itself, less for words alike and parts of a compound.
    """

    phrases: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for.

    Args:
        surface: the word of the question.
        weight: how much it counts.
        forms: the ways it can stand, the word itself first.
        korean: written in Hangul.
        follows: it stands right after the term before it, with nothing between.
        content: that it stands nowhere says something; a particle or a Korean verb form says nothing by itself.
    """

    surface: str
    weight: Weight
    forms: tuple[Form, ...]
    korean: bool = False
    follows: bool = False
    content: bool = True


def parse_question(text: str, lexicon: Lexicon) -> tuple[Term, ...]:
    """Return what a question looks for, in its order, without repetitions.

    A question of nothing but stop words is looked for by those words.

    Args:
        text: the question, Korean or English (other languages work, with less knowledge of their words).
        lexicon: the word lists.
    """
    clean = normalise(text[:MAX_QUESTION].encode("utf-8", "replace").decode("utf-8"))
    whole = f" {phrase_tokens(clean)} "
    terms: dict[tuple[str, ...], Term] = {}
    dropped: dict[tuple[str, ...], Term] = {}
    follows = False
    counted = {match[1].casefold() for match in _HOW_LONG.finditer(clean)}
    for keep, term in _terms(clean, lexicon):
        if term.surface.casefold() in counted:
            # What answers may say it in another unit, or as dates; Korean has one word for both ("며칠").
            term = replace(term, weight=Weight.WEAK)
        target = terms if keep else dropped
        target.setdefault(term.forms[0].phrases, replace(term, follows=follows and keep))
        follows = keep
        if len(terms) >= MAX_TERMS:
            break
    for name in _names(clean, lexicon):
        phrase = phrase_tokens(name)
        terms.setdefault((phrase,), Term(name, Weight.STRONG, (Form((phrase,)),)))
    for phrase in _phrasal(whole, terms.values(), lexicon):
        terms.setdefault((phrase,), Term(phrase, Weight.STRONG, (Form((phrase,)),)))
    chosen = terms or dict(list(dropped.items())[:MAX_TERMS])
    return tuple(_with_alike(term, whole, lexicon) for term in chosen.values())


def _names(text: str, lexicon: Lexicon) -> list[str]:
    """Return joined names whose parts alone say nothing (`v-if`, `x.y`); the others are looked for by their parts."""
    return [
        name
        for name in _JOINED.findall(text)[:MAX_TERMS]
        if any(len(part) == 1 or part.casefold() in lexicon.stop for part in re.split(r"[-_.]", name))
        and not name[0].isdigit()
    ]


def _phrasal(whole: str, terms: Iterable[Term], lexicon: Lexicon) -> list[str]:
    """Return listed phrases that stand in a question and of which no single word says anything (`times out`)."""
    telling = {token for term in terms if term.weight is not Weight.WEAK for token in term.forms[0].phrases[0].split()}
    return [
        member.phrase
        for group in lexicon.groups
        for member in group
        if not member.korean
        and " " in member.phrase
        and f" {member.phrase} " in whole
        and telling.isdisjoint(member.phrase.split())
    ]


def pairs(terms: Sequence[Term]) -> list[str]:
    """Return the phrases that terms side by side in the question make, each for the second of the two.

    Empty where a term doesn't follow another.
    """
    phrases = [""]
    for first, second in pairwise(terms):
        joined = f"{first.forms[0].phrases[0]} {second.forms[0].phrases[0]}"
        amount = Weight.AMOUNT in (first.weight, second.weight)
        phrases.append(joined if second.follows and not amount else "")
    return phrases[: len(terms)]


def _terms(text: str, lexicon: Lexicon) -> Iterator[tuple[bool, Term]]:
    """Yield each word as a term and whether it says something."""
    before: Unit | None = None
    in_amount = False
    for unit in units(text):
        joined = before is not None and before.end == unit.start
        near = before is not None and unit.start - before.end <= 1
        if unit.kind is Kind.NUMBER:
            in_amount = _is_amount(text, unit, lexicon)
            yield True, _number(unit, in_amount)
        elif unit.kind is Kind.ARTICLE:
            yield True, Term(unit.surface, Weight.STRONG, (Form(article_tokens(unit.surface)[:1]),))
        elif in_amount and near and _is_unit(unit.surface, lexicon):
            before = unit
            continue
        elif unit.kind is Kind.HANGUL:
            particle = joined and before is not None and before.kind is not Kind.HANGUL
            if not (particle and unit.surface in lexicon.endings):
                yield _hangul(unit.surface, lexicon)
        elif unit.kind is Kind.CJK:
            for match in _SCRIPTS.finditer(unit.surface):
                yield True, _ideographs(match.group())
        else:
            yield _word(unit.surface, lexicon)
        in_amount = in_amount and unit.kind is Kind.NUMBER
        before = unit


def _is_amount(text: str, unit: Unit, lexicon: Lexicon) -> bool:
    after = _AFTER_NUMBER.match(text, unit.end)
    if _MONEY_SIGN.search(text, max(0, unit.start - 2), unit.start):
        return True
    return after is not None and (after.group(1) in "%㎡°" or _is_unit(after.group(1), lexicon))


def _is_unit(surface: str, lexicon: Lexicon) -> bool:
    word = surface.casefold()
    return word in lexicon.units or _bare(word, lexicon, keep=1) in lexicon.units


def _number(unit: Unit, amount: bool) -> Term:
    phrase = " ".join(number_tokens(unit.surface))
    return Term(unit.surface, Weight.AMOUNT if amount else Weight.NUMBER, (Form((phrase,)),))


def _word(surface: str, lexicon: Lexicon) -> tuple[bool, Term]:
    lower = surface.casefold()
    tokens = word_tokens(surface)
    forms = [Form((tokens[-1],))]
    if len(tokens) > 1:
        forms.append(Form((" ".join(tokens[:-1]),)))
    weak = lower in lexicon.weak or tokens[-1] in lexicon.weak_stems
    keep = lower not in lexicon.stop and (len(lower) > 1 or surface.isupper())
    return keep, Term(surface, Weight.WEAK if weak else Weight.STRONG, tuple(forms))


def _hangul(surface: str, lexicon: Lexicon) -> tuple[bool, Term]:
    bare = _bare(surface, lexicon)
    short = _short_stem(surface, lexicon)
    if surface in lexicon.stop or bare in lexicon.stop or short in lexicon.stop:
        return False, Term(surface, Weight.WEAK, (Form((_run(surface),)),), korean=True)
    if bare == surface and len(surface) == 2 and surface[1:] in lexicon.endings:
        # `법은` may be 법 with a particle, `회의` is a word: both are looked for.
        forms = [Form((_run(surface),)), Form((surface[0],), _PREFIX)]
    else:
        forms = [Form((_run(bare),))]
    forms += [Form(tuple(_run(part) for part in parts), _COMPOUND) for parts in _splits(bare)]
    if len(bare) == 3:
        forms.append(Form((_run(bare[:2]),), _PREFIX))
    weak = bool({bare, surface, short} & lexicon.weak) or _is_plain_verb(surface, lexicon)
    content = not (_is_particle(surface, lexicon) or _is_verb_form(bare) or _AUXILIARY.search(surface))
    return True, Term(bare, Weight.WEAK if weak else Weight.STRONG, tuple(forms), korean=True, content=content)


_VERB_FORM = re.compile(
    r".(?:니다|나요|가요|까요|세요|네요|어요|아요|해요|여요|는지|은지|을지|든지|니까|는데|은데|지만|려면|려고|어서|아서|해서|"
    r"어야|아야|여야|해야|줘야|어도|아도|해도|도록|거나|면서|어줘|아줘|해줘|달래|이고|인가|인지|이야|에요|예요)$|..면$|[했됐갔왔났졌켰렸썼였었았].{1,3}$|^줘야$"
)
"""Forms that no noun has; two syllables that a noun may end with, such as 고 or 서, tell nothing."""
_AUXILIARY = re.compile(r"(?<!해)(?:달래|달라|달라는데|줘|줘요|줄래|주세요)$")
"""What asks for something stands after a verb form, except after the 해 that makes a verb of a noun."""
_VERB_STEM_ENDS = frozenset("ㅆㄷㅈㅊㅂㅅㅌㄲㅎㅄ")
"""Final consonants that a syllable before 어 or 아 has in verbs (찼어, 받아) and hardly in nouns (언어, 육아)."""


def _is_particle(surface: str, lexicon: Lexicon) -> bool:
    """Return whether a word that stands alone is a particle or ending, such as 들, 들에서, 까지 or 하려면."""
    rest = surface.removeprefix("들")
    return (rest != surface and (not rest or rest in lexicon.endings)) or (
        len(surface) > 1 and surface in lexicon.endings
    )


def _is_verb_form(surface: str) -> bool:
    if _VERB_FORM.search(surface):
        return True
    return len(surface) > 1 and surface[-1] in "어아" and _final_consonant(surface[-2]) in _VERB_STEM_ENDS


_FINALS = "\0ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
_FIRST_SYLLABLE = 0xAC00


def _final_consonant(syllable: str) -> str:
    return _FINALS[(ord(syllable) - _FIRST_SYLLABLE) % len(_FINALS)]


def _short_stem(surface: str, lexicon: Lexicon) -> str:
    """Return the single syllable before an ending of two or more (`뜻인가요`, `뭐예요`); empty when there is none."""
    return next((surface[:1] for ending in lexicon.endings if len(ending) > 1 and surface[1:] == ending), "")


def _is_plain_verb(surface: str, lexicon: Lexicon) -> bool:
    return any(surface.endswith(ending) and len(surface) - len(ending) <= 1 for ending in lexicon.verbal)


def _splits(word: str) -> list[tuple[str, str]]:
    """Return how a Korean compound may fall apart; documents often put a space there."""
    return [(word[:at], word[at:]) for at in range(2, min(len(word) - 1, 5)) if len(word) <= 10]


def _ideographs(run: str) -> Term:
    pairs = run_tokens(run)
    forms = [Form((" ".join(pairs),))]
    if len(pairs) > 1:
        forms.append(Form(pairs, _COMPOUND))
    return Term(run, Weight.STRONG, tuple(forms))


def _run(text: str) -> str:
    return " ".join(run_tokens(text))


def _bare(word: str, lexicon: Lexicon, keep: int = 2) -> str:
    """Cut particles and verb endings from a Korean word while at least `keep` syllables stay."""
    for count in range(3):
        for ending in lexicon.endings:
            # After the first cut, short endings are as likely part of the word (전문가).
            if count and len(ending) < 2 and ending != "들":
                continue
            if word.endswith(ending) and len(word) - len(ending) >= keep:
                word = word[: -len(ending)]
                break
        else:
            break
    return word


def _with_alike(term: Term, whole: str, lexicon: Lexicon) -> Term:
    """Add the words alike; a group counts when one of its members is the term, or stands in the question at it."""
    if term.weight in (Weight.NUMBER, Weight.AMOUNT):
        return term
    own = term.forms[0].phrases[0]
    if own in lexicon.roles and term.weight is Weight.STRONG:
        term = replace(term, weight=Weight.ROLE)
    found: dict[str, float] = {}
    for group in lexicon.groups:
        nearness = max((_nearness(term, own, whole, member.phrase, member.korean) for member in group), default=0.0)
        if not nearness:
            continue
        for member in group:
            weight = lexicon.same_language if member.korean == term.korean else lexicon.other_language
            if member.phrase != own:
                found[member.phrase] = max(found.get(member.phrase, 0.0), weight * nearness)
    known = {form.phrases for form in term.forms}
    extra = tuple(Form((phrase,), weight) for phrase, weight in found.items() if (phrase,) not in known)
    return replace(term, forms=term.forms + extra)


def _nearness(term: Term, own: str, whole: str, phrase: str, korean: bool) -> float:
    if phrase == own:
        return 1.0
    if korean != term.korean:
        return 0.0
    if korean:
        return _INSIDE if len(phrase) > 1 and f" {phrase} " in f" {own} " else 0.0
    last = phrase.rpartition(" ")[2]
    return 1.0 if " " in phrase and last == own and f" {phrase} " in whole else 0.0
