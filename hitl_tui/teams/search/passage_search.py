"""Asking the store of an index: what answers a question, quoted, and how sure that is."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any

from hitl_tui.core.written_language import language_of
from hitl_tui.extraction.lists import WHOLE_CHARS, List
from hitl_tui.meaning.frequencies import telling
from hitl_tui.meaning.sounds import korean_sound, skeleton, sound_likeness
from hitl_tui.meaning.word_forms import ends_as_predicate
from hitl_tui.tables.files import SUFFIXES
from hitl_tui.tables.words import is_worked_out, lexicon
from hitl_tui.teams.passages import Passage
from hitl_tui.teams.search.counted_entries import entries_in
from hitl_tui.teams.search.counted_files import Counted, all_but, files_in
from hitl_tui.teams.search.index_refresh import searched
from hitl_tui.teams.search.query_terms import TASKS, Term, parse_question, whole_term, whole_words, with_near
from hitl_tui.teams.search.ranking import FEW, Asked, Near, Window, file_title, likely, ranked
from hitl_tui.teams.search.tokens import has_korean, normalise, padded_tokens, phrase_tokens, units
from hitl_tui.teams.search.whole_lists import ALL, blocks_of, lists_for

MAX_PASSAGE_CHARS = 1_050
_POSTINGS = 6_000
_LISTED = 40
_COMPARED = 50
_NAMED, _SUBJECT = 0.7, 0.4
"""How much a word says at least that is a name, and of which there is one in any question about something."""
_CARRIES = 0.39
"""How much a word says at least that has to stand in the only passage there is, or is named: "pay"."""
_FAR, _NEAR, _SURE, _TOGETHER, _CERTAIN = -2.5, -0.5, 1.0, 1.5, 2.5
"""From where on, in log-odds that there is an answer, something is called the nearest, is shown, is an answer, and is
one even where what is asked stands apart or isn't all in the only passage, or a part of it nowhere."""
_NEAR_IN_FEW, _SURE_IN_FEW = -1.0, -0.2
"""The same where there are few windows: they are read quickly, and few are mistaken for an answer."""
_FEW_SUBJECTS, _MEANT_SO = 3, 0.55
"""Words that say what is asked, up to which all of them have to stand together, unless a sentence is so like it."""
_MOST_FAR = 2
_ALL_NEAR, _ALL_LIKELY, _ALL_SURE = -3.2, -1.0, 0.7
"""From where on, in log-odds that it is meant, a list is shown, is shown whatever passages say, and is an answer."""
_BESIDE, _SHOWN, _ABOUT_AS_LIKELY = 2, 3, 1.5
"""Lists that are shown beside passages that answer, and beside others, and how much less likely others may be; where
only a number is asked for, a passage may say it, and one list is shown."""
_WORTH, _AS_WELL, _ENOUGH = 0.003, 0.4, 3
"""How well a passage answers beside the best one to be shown at all, and in the question's own language to come before
it; and how many of those there are that need no others after them."""
_HOW = re.compile(
    r"\b(?:how (?:can|could|do|must|shall|should|to|would)|what (?:can|must|shall|should) (?:i|one|we)|what to do"
    r"|ways? (?:of|to)|steps? (?:for|of|to)|procedure)\b|어떻게|어떡|방법|절차|순서|단계|대처|하는 법|하려면",
    re.IGNORECASE,
)
_STEP = re.compile(r"\s*(?:step\s*\d|제?\s?\d{1,2}\s?(?:단계|[.):]))", re.IGNORECASE)
"""What asks how something is done, or tells it as a heading; and how a heading begins that is a step of it."""
_HALF, _ALL = 0.5, 0.8
"""How much of that such a heading says at least, and any other."""
_MOSTLY = 0.75
_SAMPLED, _HARDLY = 100, 0.05
"""Windows of which the language is looked at, and the share of them that counts as none."""
_NEARLY = 0.6
_SYLLABLES = 3
"""Of a Korean word that may be misspelt, at least."""
_RUN = re.compile("[가-힣]+")
_SOUNDING, _EVERY_DAY = 3, 0.3
"""Words that a Korean word may be at most, and what one says at most that it can't be."""
_PROSE = 0.2
"""The share of everyday words in a text, above which it is English and no code or table."""
_UNLIKE = 0.05
"""Where even the best is less like a question than this, meaning tells little."""
_LEADS = re.compile(r"[:：]\s*\Z|\A.{0,40}: .{0,40}\Z")
"""What is followed by what it is about: `Default: 180`, or what announces a list."""
_ITEM = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)])\s")
_CLAUSE = re.compile("(?:(?<![화측도표냉수반])면|니까|아서|어서|여서|해서|는데|지만)$")
"""How the verb of a Korean clause ends; no screen, side or plan."""
_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)")
_ASKS = 0.5
"""A sentence that asks answers nothing."""


@dataclass(frozen=True, slots=True)
class SearchHits:
    """The answer to a question.

    Args:
        passages: best first; empty when nothing in the documents speaks of it.
        missing: words looked for that stand nowhere in the documents.
        searched: how many files were searched.
        weak: the passages only come near what was asked.
        counted: what was counted or listed.
        nearly: words that stand nowhere, each with one of the documents that is written nearly like it.
        far: what comes nearest where nothing speaks of it.
        foreign: nothing sure was found, and the documents are in another language than the question.
        unsaid: words that say what is asked and that the only passage doesn't have.
        whole: how many of the first passages are a section as a whole, in its order: it tells how to do what is asked.
    """

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]
    searched: int
    weak: bool = False
    nearly: tuple[tuple[str, str], ...] = ()
    counted: Counted | None = None
    far: tuple[Passage, ...] = ()
    foreign: bool = False
    unsaid: tuple[str, ...] = ()
    whole: int = 0

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> SearchHits:
        """Return what `asdict` made JSON of, also by a version that kept more."""
        some: dict[str, Any] = {key: tuple(Passage(**passage) for passage in kept[key]) for key in ("passages", "far")}
        known = {key: value for key, value in kept.items() if key in cls.__slots__}
        return cls(**{**known, **some, "counted": Counted(**kept["counted"]) if kept["counted"] else None})


def ask(
    db: sqlite3.Connection,
    question: str,
    limit: int,
    named: Sequence[int] = (),
    *,
    part: bool = False,
    near: Near = (),
) -> SearchHits:
    """Return the passages that answer a question; the caller holds a read transaction.

    Args:
        db: the store.
        question: the question, as written.
        limit: how many passages at most.
        named: ids of the files that the question names: only they are searched.
        part: it is only some words of a question: what merely comes near these answers nothing.
        near: paths and lines that answered what was asked before, best first.
    """
    whole, (question, but) = question, all_but(question)
    asked, misspelt = asked_of(db, question, named)
    asked = replace(asked, near=near)
    terms = asked.terms
    if listed := entries_in(db, question, named, but) or files_in(db, question, named, but):
        counted, lines = listed
        shown = [Passage(path, line, line, _cut(text), score=1.0) for path, line, text in lines[:_LISTED]]
        return SearchHits(tuple(shown), (), searched(db), counted=counted)
    absent = [t for t in terms if not asked.stands(t) and t.telling >= _NAMED and not _is_predicate(t, question)]
    absent = [t for t in absent if not _HOW.search(t.surface)]
    spelt = [(t.surface, _written_like(db, t.surface)) for t in absent if not t.korean]
    nearly = misspelt | {word: near for word, near in spelt if near and near != word.casefold()}
    gone = [t for t in absent if not _is_stem(t)]
    missing = tuple(term.surface for term in gone if term.surface not in nearly and not term.part)
    hits = SearchHits((), missing, searched(db), nearly=tuple(nearly.items()))
    if not (named or near) and all(term.telling < _SUBJECT for term in terms):
        return hits
    if nearly:
        asked = _with_nearly(db, asked, nearly, named)
    best = ranked(db, asked, named)
    if not best:
        return _elsewhere(db, whole, limit, part=part) if named else hits
    odds = likely(asked, best)
    # Words to look for, rather than a question or what is left of one.
    bare = not part and "?" not in question and len(terms) == len(list(units(normalise(question))))
    if bare and any(_has_all(asked, window) for window in best):
        odds = max(odds, _SURE, _SURE_IN_FEW)
    least, sure = (_NEAR, _SURE) if asked.windows > FEW else (_NEAR_IN_FEW, _SURE_IN_FEW)
    lists = [one for one in lists_for(db, asked, best, named, but) if one.odds >= _ALL_NEAR]
    told_all = lists[0].odds if lists else _FAR
    odds = max(odds, least) if told_all >= _ALL_LIKELY else odds
    if odds < least:
        if named:
            return _elsewhere(db, whole, limit, part=part)
        far = [_quote(asked, window) for window in _different(best, _MOST_FAR)]
        return replace(hits, far=tuple(far) if odds >= _FAR else ())
    korean, same = has_korean(question), has_korean(question) == has_korean(best[0].text)
    found = [_quote(asked, window) for window in _chosen(best, limit, language_of(question))]
    passages = _newest_first(asked, found)
    rows = PurePosixPath(passages[0].path).suffix.lower() in SUFFIXES and is_worked_out(question)
    # What a question of the documents' own language is about has to stand in them, and together.
    missed, apart = missing and odds < _CERTAIN, odds < _TOGETHER and _apart(asked, best[:3])
    unsaid = _unsaid(asked, passages[0]) if same and len(passages) == 1 else ()
    weak = rows or odds < sure or (same and bool(missed or apart)) or (bool(unsaid) and odds < _TOGETHER)
    # Of many rows a few say no total, and no question is answered of a thing whose name stands nowhere.
    lacks = "?" in question and any(_is_name(word, question) for word in missing)
    if weak and (part or (lacks and same) or (rows and not named and asked.windows > FEW)):
        return replace(hits, far=tuple(passages[:_MOST_FAR]))
    if has_korean(passages[0].text) != korean:  # found by what it means: there are other words for it
        missing = tuple(t.surface for t in gone if korean and not t.korean and t.surface in missing)
    unsaid = tuple(word for word in unsaid if word not in missing)
    told = _told_whole(db, asked, passages, limit)
    within = {(one.path, one.page, line) for one in told for line in range(one.line, one.end_line + 1)}
    passages = [*told, *(one for one in passages if (one.path, one.page, one.line) not in within)][:limit]
    hits = replace(hits, weak=weak, missing=missing, unsaid=unsaid, whole=len(told))
    if told:
        return replace(hits, passages=tuple(passages))
    hits = replace(hits, weak=weak and told_all < _ALL_SURE)
    most = 1 if not ALL.search(asked.text) else _SHOWN if weak else _BESIDE
    likely_lists = [one for one in lists if one.odds >= told_all - _ABOUT_AS_LIKELY][:most]
    return replace(hits, passages=tuple(_with_lists(likely_lists, passages, first=told_all >= _ALL_SURE)[:limit]))


def asked_of(db: sqlite3.Connection, question: str, named: Sequence[int]) -> tuple[Asked, dict[str, str]]:
    """Return a question, weighed against the documents, and its Korean words that are written nearly like theirs."""
    terms = parse_question(question, lambda word: _sounding(db, word), lambda word: _written(db, word))
    terms, misspelt = _misspelt(db, question, terms)
    windows = max(FEW, int(db.execute("SELECT count(*) FROM windows").fetchone()[0]))
    return Asked(question, terms, _found(db, terms, named), windows), misspelt


def _is_name(word: str, question: str) -> bool:
    """Return whether a word is written as a name within a sentence: Snowflake."""
    return word.istitle() and re.search(rf"[\w,)]\s{re.escape(word)}\b", question) is not None


def _has_all(asked: Asked, window: Window) -> bool:
    """Return whether everything that says what is asked stands in a window, in whatever words."""
    telling = [term for term in asked.terms if term.telling >= _SUBJECT]
    return bool(telling) and all(asked.has(window.tokens, term) for term in telling)


def _told_whole(db: sqlite3.Connection, asked: Asked, found: Sequence[Passage], limit: int) -> list[Passage]:
    """Return the section that tells how to do what is asked, in its order: by its heading, in a file of what was found.

    Empty where the question doesn't ask how, no heading says that it is told there, or it is too long.
    """
    how = [sentence for sentence in re.findall(r"[^.!?]+", normalise(asked.text)) if _HOW.search(sentence)]
    terms = tuple(term for term in asked.terms if how and not _HOW.search(term.surface))
    wanted = [replace(asked, terms=some) for some in (terms, tuple(t for t in terms if t.surface in how[-1])) if some]
    told: dict[float, list[Passage]] = {}
    for path in dict.fromkeys(one.path for one in found if wanted and tongue(one) in (language_of(asked.text), "")):
        rows = blocks_of(db, path)
        for name in dict.fromkeys(
            heading[: e.start()] for _, heading, _ in rows for e in re.finditer(" > |$", heading)
        ):
            title = name.rpartition(" > ")[2]
            said = max(one.share(padded_tokens(title)) for one in wanted)
            if said < _HALF:
                continue
            below = [row for row in rows if f"{row[1]} > ".startswith(f"{name} > ")]
            steps = [row for row in below if _STEP.match(row[1][len(name) + 3 :])]
            by_steps = len({heading for _, heading, _ in steps}) > 1
            pieces = [
                Passage(path, parts[0][0], parts[-1][1], _joined(parts), page, heading, found[0].score)
                for (page, heading), some in groupby(steps if by_steps else below, key=itemgetter(0, 1))
                if (parts := [part for *_, kept in some for part in kept])
            ]
            fits = len(pieces) <= limit and sum(len(piece.text) for piece in pieces) <= WHOLE_CHARS
            if fits and (by_steps or _HOW.search(title) or said >= _ALL):
                told.setdefault(said, pieces)
    return told[max(told)] if told else []


def _with_lists(lists: Sequence[List], passages: Sequence[Passage], *, first: bool) -> list[Passage]:
    """Return passages with the lists that have all of what is asked for before them, or after the first of them."""
    whole = [
        Passage(o.path, o.first, o.last, o.text, o.page, o.heading, passages[0].score, "", len(o.items), o.of)
        for o in lists[: 1 if first else len(lists)]
    ]
    rest = [
        p
        for p in passages
        if not any(p.path == o.path and o.line <= p.line and p.end_line <= o.end_line for o in whole)
    ]
    at = int(rest[:1] == list(passages[:1]) and not first)
    return [*rest[:at], *whole, *rest[at:]]


def _joined(parts: Sequence[tuple[int, int, str]]) -> str:
    """Return blocks as one text, as far apart as they stand."""
    gaps = ["", *("\n" * max(1, later[0] - earlier[1]) for earlier, later in pairwise(parts))]
    return "".join(gap + text for gap, (_, _, text) in zip(gaps, parts, strict=True))


def _unsaid(asked: Asked, passage: Passage) -> tuple[str, ...]:
    """Return the words that say what is asked and that a passage doesn't have; Korean verbs needn't stand there."""
    tokens = padded_tokens(f"{file_title(passage.path)} {passage.heading} {passage.full_text}")
    return tuple(
        term.surface
        for term in asked.terms
        if term.telling >= _CARRIES and not (asked.has(tokens, term) or term.part or term.surface[0].isdigit())
        if not _is_stem(term)
        if not _is_predicate(term, asked.text)
    )


def _apart(asked: Asked, best: Sequence[Window]) -> bool:
    """Return whether the few things that a question puts together stand apart, and no sentence is much like it."""
    subjects = [term for term in asked.terms if term.telling >= _SUBJECT and asked.stands(term)]
    subjects = [term for term in subjects if not (term.korean and len(term.surface) == 1)]  # the stem of a verb, mostly
    together = any(all(asked.has(window.tokens, term) for term in subjects) for window in best)
    meant = max(max(window.likes) for window in best)
    return 1 < len(subjects) <= _FEW_SUBJECTS and not together and meant < _MEANT_SO


def _is_stem(term: Term) -> bool:
    """Return whether a Korean term is what is left of a verb, most likely."""
    return term.korean and (len(term.surface) == 1 or ends_as_predicate(term.surface))


def _is_predicate(term: Term, question: str) -> bool:
    """Tell whether a Korean sentence or clause ends with a term that is no noun: it says what is asked, not of what."""
    for sentence in re.findall(r"[^.!?]+[.!?]*", normalise(question)) if term.korean else ():
        words = [unit.surface for unit in units(sentence)]
        for word in words:
            rest = word.rpartition(term.surface)[2] if term.surface in word else ""
            ends = term.surface in word and (term.part or word == term.surface)
            if _CLAUSE.search(rest) or (ends and _CLAUSE.search(term.surface)):
                return True
        if len(words) > 1 and term.surface in words[-1]:
            return lexicon().tails.search(words[-1]) is not None or sentence.rstrip().endswith((".", "!"))
    return False


def tongue(one: Passage | Window) -> str:
    """Return the language of its prose, `ko` or `en`, or where it has none that of a Korean heading; empty for none."""
    if language_of(one.text) == "ko":
        return "ko"
    words = re.findall("[a-z]+", one.text.casefold())
    prose = sum(telling(word, "en") < _EVERY_DAY for word in words) > _PROSE * len(words)
    return "en" if prose else language_of(one.heading).replace("en", "")


def _chosen(windows: Sequence[Window], limit: int, language: str) -> list[Window]:
    """Return the windows to quote: where one in the question's language answers about as well, those come first.

    Those in another one then only fill up.
    """
    tongues = {window.id: tongue(window) for window in windows}
    if not any(tongues[w.id] == language and w.score >= _AS_WELL for w in windows):
        return _different(windows, limit)
    own = _different([window for window in windows if tongues[window.id] in (language, "")], limit)
    others = [window for window in _different(windows, limit) if tongues[window.id] not in (language, "")]
    return [*own, *others[: max(0, min(limit, _ENOUGH) - len(own))]]


def _newest_first(asked: Asked, passages: Sequence[Passage]) -> list[Passage]:
    """Return passages with what a later day wrote before what it may have overtaken: it says most of what that says."""
    made: list[Passage] = []
    figures = replace(asked, terms=tuple(term for term in asked.terms if term.surface[0].isdigit()))
    for passage in passages:
        day, text = _day(passage), passage.text
        older = (at for at, one in enumerate(made) if "" < _day(one) < day)
        older = (at for at in older if figures.said_in(made[at].text, text) == figures.said_in(made[at].text))
        overtaken = (i for i in older if asked.said_in(made[i].text, text) > _MOSTLY * asked.said_in(made[i].text))
        at = next(overtaken, len(made))
        score = max(passage.score, made[at].score) if at < len(made) else passage.score
        made.insert(at, replace(passage, score=score))
    return made


def _day(passage: Passage) -> str:
    """Return the day that a passage's file or heading is called after, ISO 8601; empty for none."""
    found = _DAY.search(f"{passage.path} {passage.heading}")
    return found[0] if found else ""


def _elsewhere(db: sqlite3.Connection, question: str, limit: int, *, part: bool) -> SearchHits:
    """Return what other files say where those that a question names don't answer it: nothing that only comes near."""
    hits = ask(db, question, limit, part=part)
    return replace(hits, passages=(), weak=False, far=hits.passages[:_MOST_FAR]) if hits.weak else hits


def opening(db: sqlite3.Connection, file: int) -> SearchHits:
    """Return how a file begins, for a question that says no more than its name; the caller holds a read transaction."""
    row = db.execute(
        "SELECT path, page, heading, parts FROM windows JOIN files ON files.id = windows.file"
        " WHERE files.id = ? ORDER BY windows.id LIMIT 1",
        (file,),
    ).fetchone()
    if row is None:
        return SearchHits((), (), searched(db))
    path, page, heading, parts = row
    line, end, text = json.loads(parts)[0]
    return SearchHits((Passage(path, line, end, _cut(text), page, heading),), (), searched(db), weak=True)


def _sounding(db: sqlite3.Connection, word: str) -> list[tuple[str, float]]:
    """Return the words of the documents that a Korean word sounds like, with how much."""
    sound = skeleton(korean_sound(word))
    if not sound:
        return []
    found = [row[0] for row in db.execute("SELECT word FROM spellings WHERE sound = ?", (sound,))]
    rated = [(sound_likeness(word, one), one) for one in found if telling(one, "en") > _EVERY_DAY]
    least = (85, 65, 55)[min(len(sound), 3) - 1]
    return [(one, rate / 100) for rate, one in sorted(rated, key=lambda item: -item[0])[:_SOUNDING] if rate >= least]


def _written(db: sqlite3.Connection, word: str) -> bool:
    """Return whether the documents have a word's syllables side by side."""
    phrase = _quoted(phrase_tokens(word))
    return bool(db.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (phrase,)).fetchone())


def _written_like(db: sqlite3.Connection, word: str) -> str:
    """Return the word of the documents that is written nearly like one that isn't there; empty if none."""
    from rapidfuzz import fuzz, process

    word = word.casefold()
    if len(word) < 5 or not word.isalpha():
        return ""
    rows = db.execute(
        "SELECT word FROM spellings WHERE word LIKE ? AND length(word) BETWEEN ? AND ?",
        (word[0] + "%", len(word) - 2, len(word) + 2),
    )
    near = process.extractOne(word, [row[0] for row in rows], scorer=fuzz.ratio, score_cutoff=86)
    return near[0] if near else ""


def _misspelt(
    db: sqlite3.Connection, question: str, terms: tuple[Term, ...]
) -> tuple[tuple[Term, ...], dict[str, str]]:
    """Return the terms with Korean words in one piece where the documents have one that is written nearly like it."""
    nearly: dict[str, str] = {}
    for word in whole_words(question):
        if len(word) < _SYLLABLES or not has_korean(word) or word in TASKS or _written(db, word):
            continue
        rows = db.execute(
            "SELECT parts FROM windows WHERE id IN (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)",
            (_quoted(phrase_tokens(word[:2])), _COMPARED),
        )
        said = {run[: len(word)] for (parts,) in rows for run in _RUN.findall(parts) if run.startswith(word[:2])}
        if near := next((one for one in sorted(said) if _one_letter_apart(word, one)), ""):
            nearly[word] = near
            terms = (*(t for t in terms if not (t.korean and t.surface in word)), whole_term(word))
    return terms, nearly


def _one_letter_apart(word: str, other: str) -> bool:
    one, two = (unicodedata.normalize("NFD", text) for text in (word, other))
    return len(one) == len(two) and sum(a != b for a, b in zip(one, two, strict=True)) == 1


def _with_nearly(db: sqlite3.Connection, asked: Asked, nearly: Mapping[str, str], named: Sequence[int]) -> Asked:
    """Return what is asked with the words that are written nearly like those that don't stand in the documents."""
    terms = tuple(with_near(t, [(nearly[t.surface], _NEARLY)]) if t.surface in nearly else t for t in asked.terms)
    return replace(asked, terms=terms, found=_found(db, terms, named))


def _found(db: sqlite3.Connection, terms: Sequence[Term], named: Sequence[int]) -> dict[str, list[int]]:
    """Return by phrase the windows that have it, up to a limit."""
    where = " AND rowid IN (SELECT id FROM windows WHERE file IN (SELECT value FROM json_each(?)))" if named else ""
    values = (json.dumps(list(named)),) if named else ()
    return {
        phrase: [
            row[0]
            for row in db.execute(
                f"SELECT rowid FROM words WHERE words MATCH ?{where} LIMIT ?",  # noqa: S608 - constants
                (_quoted(phrase), *values, _POSTINGS),
            )
        ]
        for phrase in {form.phrase for term in terms for form in term.forms}
    }


def _different(windows: Sequence[Window], limit: int) -> list[Window]:
    """Return the best windows without those that say the same again."""
    chosen: list[Window] = []
    bags: list[frozenset[str]] = []
    for window in windows:
        if len(chosen) >= limit or window.score < _WORTH:
            break
        bag = frozenset(window.tokens.split())
        if not any(len(bag & other) >= 0.85 * len(bag | other) for other in bags):
            chosen.append(window)
            bags.append(bag)
    return chosen


def _quote(asked: Asked, window: Window) -> Passage:
    """Return a window as a passage, which begins with the part that says most of what was asked."""
    values = [asked.value(text) / math.sqrt(1 + len(text) / 400) for _, _, text in window.parts]
    said, meant = max(values) or 1.0, max(max(window.likes), _UNLIKE)
    likes = [*window.likes, *[0.0] * (len(values) - len(window.likes))]
    worth = [
        (value / said + max(like, 0.0) / meant) * (_ASKS if text.rstrip().endswith(("?", "？")) else 1.0)
        for value, like, (_, _, text) in zip(values, likes, window.parts, strict=True)
    ]
    first = worth.index(max(worth))
    last, room = first + 1, MAX_PASSAGE_CHARS - len(window.parts[first][2])
    while last < len(window.parts) and (room := room - len(window.parts[last][2])) > 0:
        last += 1
    begin, alone = first, PurePosixPath(window.path).suffix.lower() in SUFFIXES  # one row says nothing of another
    while begin and not alone and (room := room - len(window.parts[begin - 1][2])) > 0:
        begin -= 1
    listed = _ITEM.match(window.parts[first][2])
    while first > begin and (_LEADS.search(lead := window.parts[first - 1][2]) or (listed and _ITEM.match(lead))):
        first -= 1
    parts = window.parts[first:last]
    words, score = _cut(_joined(parts), asked), round(window.score, 4)
    before = _joined(window.parts[begin : first + 1]).removesuffix(parts[0][2])
    return Passage(window.path, parts[0][0], parts[-1][1], words, window.page, window.heading, score, before)


def _cut(text: str, asked: Asked | None = None) -> str:
    """Return a text, or of a long one the stretch that says most of what was asked."""
    if len(text) <= MAX_PASSAGE_CHARS:
        return text
    size = MAX_PASSAGE_CHARS - 2
    starts = range(0, len(text) - size + 100, 100) if asked is not None else (0,)
    start = max(starts, key=lambda at: (asked.value(text[at : at + size]) if asked is not None else 0, -at))
    return f"{'…' if start else ''}{text[start : start + size]}{'…' if start + size < len(text) else ''}"


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'


def is_foreign(db: sqlite3.Connection, question: str) -> bool:
    """Return whether hardly any document is in the language of a question; of many windows some are looked at."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM windows").fetchone()
    rows = db.execute("SELECT parts FROM windows WHERE id % ? = 0 LIMIT ?", (last // _SAMPLED + 1, _SAMPLED)).fetchall()
    same = sum(has_korean(parts) == has_korean(question) for (parts,) in rows)
    return bool(rows) and same <= _HARDLY * len(rows)


def says_nothing(question: str) -> bool:
    """Return whether a question has no word that says what is asked."""
    return not any(term.telling >= 0.3 for term in parse_question(normalise(question)))
