"""Asking the store of an index: the windows that have a question's words, in order of words and meaning, and quoted."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hitl_tui.meaning.encoder import likenesses
from hitl_tui.teams.search import language
from hitl_tui.teams.search.file_rank import weight_of
from hitl_tui.teams.search.index_refresh import searched
from hitl_tui.teams.search.listing import asks_for_lines, counted_word, lines_with
from hitl_tui.teams.search.query_terms import Term, parse_question, with_near
from hitl_tui.teams.search.tokens import has_korean, index_tokens, normalise

MAX_PASSAGE_CHARS = 600
_POSTINGS = 6_000
_LISTED = 40
_CANDIDATES, _COMPARED = 300, 50
_MEANT = 0.5
_FEW = 200  # windows: among fewer, how rare a word is says little
_TITLE, _NAME = 0.5, 0.25
_ABSENT = 0.18
"""Share of a question in names that stand nowhere from which its answer isn't there either."""
_NAMED = 0.7
_SUBJECT = 0.4
"""How much a word says at least of which there is one in any question about something."""
_UNLIKE, _UNCOVERED = 0.22, 0.65
_SURE_COVERED, _FAIRLY_LIKE, _SURE_LIKE = 0.55, 0.2, 0.42
_SHORT = 60
_LONG_QUESTION, _REPEATED = 30, 0.4
"""A passage that has a whole question, word for word, asks it, too."""
_FOREIGN = 0.7
"""A passage in another language than the question's stands behind one that says as much in its own."""
_SENTENCE_END = (".", "!", "?", "。", ".`", ":")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document that answers.

    Args:
        path: file relative to the folder, forward slashes.
        line, end_line: counted from 1, inclusive (in a PDF: within the page).
        page: page of a PDF; 0 for other files.
        heading: the headings above it.
        text: the words, at most `MAX_PASSAGE_CHARS` characters.
        score: higher is better; comparable within one question.
    """

    path: str
    line: int
    end_line: int
    page: int
    heading: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchHits:
    """The answer to a question.

    Args:
        passages: best first; empty when nothing in the documents speaks of it.
        terms: the words looked for.
        missing: those of them that stand nowhere in the documents.
        searched: how many files were searched.
        weak: the passages only come near what was asked.
        counted: what was counted or listed: the words, how many lines have them, in how many files.
        nearly: words that stand nowhere, each with one of the documents that is written nearly like it.
    """

    passages: tuple[Passage, ...]
    terms: tuple[str, ...]
    missing: tuple[str, ...]
    searched: int
    weak: bool = False
    nearly: tuple[tuple[str, str], ...] = ()
    counted: tuple[str, int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, weighed against the documents.

    Args:
        text: as written.
        terms: what it looks for.
        files: where each phrase stands, by window; of some files alone where the question names them.
        windows: how many there are.
    """

    text: str
    terms: tuple[Term, ...]
    found: Mapping[str, Sequence[int]]
    windows: int

    def rarity(self, phrase: str) -> float:
        return math.log(1 + self.windows / (len(self.found[phrase]) + 1))

    def stands(self, term: Term) -> bool:
        return any(self.found[form.phrase] for form in term.forms)

    def _packaging(self, term: Term) -> bool:
        """Return whether a word is one of those in which anybody asks anything: a common one that stands nowhere."""
        return term.telling < _NAMED and not self.stands(term)

    def value(self, text: str) -> float:
        """Return how much of the question a text says."""
        tokens = f" {index_tokens(text)} "
        return sum(
            term.telling
            * max((f.weight * self.rarity(f.phrase) for f in term.forms if f" {f.phrase} " in tokens), default=0.0)
            for term in self.terms
        )

    def has_all(self, tokens: str) -> bool:
        """Return whether everything that says what is asked stands in some index tokens, in whatever words."""
        telling = [term for term in self.terms if term.telling >= _SUBJECT and not self._packaging(term)]
        return bool(telling) and all(any(f" {form.phrase} " in tokens for form in t.forms) for t in telling)

    def covered(self, tokens: str) -> float:
        """Return which share of the question stands in some index tokens, 0 to 1."""
        has = whole = 0.0
        for term in self.terms:
            if self._packaging(term):
                continue
            most = max((len(self.found[form.phrase]) for form in term.forms if form.weight >= 0.5), default=0)
            weight = term.telling**2 * math.log(1 + self.windows / (most + 1))
            whole += weight
            has += weight * max((form.weight for form in term.forms if f" {form.phrase} " in tokens), default=0.0)
        return has / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class _Window:
    id: int
    path: str
    page: int
    heading: str
    parts: tuple[tuple[int, int, str], ...]
    tokens: str
    score: float
    like: float = 0.0

    @property
    def text(self) -> str:
        return "\n".join(text for _, _, text in self.parts)


def ask(db: sqlite3.Connection, question: str, limit: int, named: Sequence[int] = ()) -> SearchHits:
    """Return the passages that answer a question; the caller holds a read transaction.

    Args:
        db: the store.
        question: the question, as written.
        limit: how many passages at most.
        named: ids of the files that the question names: only they are searched.
    """
    terms = parse_question(question, lambda word: _sounding(db, word))
    if (literal := counted_word(question, terms)) and (lines := list(lines_with(db, literal, named))):
        files = len({path for path, _, _ in lines})
        shown = (
            lines
            if asks_for_lines(question)
            else list({path: (path, n, t) for path, n, t in reversed(lines)}.values())[::-1]
        )
        found = [Passage(path, line, line, 0, "", _cut(text), 1.0) for path, line, text in shown[:_LISTED]]
        return SearchHits(tuple(found), (literal,), (), searched(db), counted=(literal, len(lines), files))
    windows = max(_FEW, int(db.execute("SELECT count(*) FROM windows").fetchone()[0]))
    asked = _Asked(question, terms, _found(db, terms, named), windows)
    absent = [term for term in terms if not asked.stands(term) and term.telling >= _NAMED]
    nearly = [(t.surface, near) for t in absent if not t.korean and (near := _written_like(db, t.surface))]
    if nearly:
        terms = tuple(with_near(term, [near for word, near in nearly if word == term.surface]) for term in terms)
        asked = replace(asked, terms=terms, found=_found(db, terms, named))
    absent = [term for term in terms if not asked.stands(term) and term.telling >= _NAMED]
    hits = SearchHits((), tuple(t.surface for t in terms), (), searched(db), nearly=tuple(nearly))
    hits = replace(hits, missing=tuple(term.surface for term in absent))
    if not named and all(term.telling < _SUBJECT for term in terms):
        return hits
    ranked = _ranked(db, asked)
    if not ranked:
        return hits
    names = sum(term.telling for term in absent if not term.korean and not term.surface[0].isdigit())
    best = ranked[:3]
    covered = max(asked.covered(w.tokens) for w in best)
    like = max(w.like for w in best)
    if (
        not named
        and not any(asked.has_all(window.tokens) for window in best)
        and (names > _ABSENT * sum(term.telling for term in terms) or like < _UNLIKE)
        and covered < _UNCOVERED
    ):
        return hits
    sure = ((covered >= _SURE_COVERED and like >= _FAIRLY_LIKE) or like >= _SURE_LIKE) and not names
    passages = [_quote(db, asked, window) for window in _different(ranked, limit)]
    return replace(hits, passages=tuple(passages), weak=not sure)


def opening(db: sqlite3.Connection, file: int) -> SearchHits:
    """Return how a file begins, for a question that says no more than its name; the caller holds a read transaction."""
    row = db.execute(
        "SELECT path, page, heading, parts FROM windows JOIN files ON files.id = windows.file"
        " WHERE files.id = ? ORDER BY windows.id LIMIT 1",
        (file,),
    ).fetchone()
    if row is None:
        return SearchHits((), (), (), searched(db))
    path, page, heading, parts = row
    line, end, text = json.loads(parts)[0]
    return SearchHits((Passage(path, line, end, page, heading, _cut(text), 0.0),), (), (), searched(db), weak=True)


def _sounding(db: sqlite3.Connection, word: str) -> list[tuple[str, float]]:
    sound = language.skeleton(language.korean_sound(word))
    if not sound:
        return []
    rows = db.execute("SELECT word FROM spellings WHERE sound = ?", (sound,))
    least = (85, 65, 55)[min(len(sound), 3) - 1]
    return language.best_sounding(word, [row[0] for row in rows], least=least)


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


def _ranked(db: sqlite3.Connection, asked: _Asked) -> list[_Window]:
    """Return the windows that have words of a question, best first, by words and by meaning."""
    sums: Counter[int] = Counter()
    for term in asked.terms:
        own: dict[int, float] = {}
        for form in term.forms:
            value = form.weight * term.telling * asked.rarity(form.phrase)
            for window in asked.found[form.phrase]:
                own[window] = max(own.get(window, 0.0), value)
        sums.update(own)
    chosen = [window for window, _ in sums.most_common(_CANDIDATES)]
    rows = db.execute(
        "SELECT windows.id, path, page, heading, parts, body, title, name FROM windows"
        " JOIN files ON files.id = windows.file JOIN words ON words.rowid = windows.id"
        " WHERE windows.id IN (SELECT value FROM json_each(?))",
        (json.dumps(chosen),),
    )
    scored = []
    for id_, path, page, heading, parts, body, title, name in rows:
        score = _score(asked, f" {body} ", f" {title} ", f" {name} ")
        blocks = tuple(piece for first, last, text in json.loads(parts) for piece in _sentences(first, last, text))
        scored.append(_Window(id_, path, page, heading, blocks, f" {body} {title} {name} ", score))
    scored.sort(key=lambda window: (-window.score, window.id))
    scored = scored[:_COMPARED]
    if not scored:
        return []
    best = scored[0].score or 1.0
    texts = [f"{window.heading.rpartition(' > ')[2]}: {window.text}" for window in scored]
    likes = likenesses(asked.text, texts)
    return sorted(
        (
            replace(
                window,
                score=((1 - _MEANT) * window.score / best + _MEANT * like) * _weight(window, asked.text),
                like=like,
            )
            for window, like in zip(scored, likes, strict=True)
        ),
        key=lambda window: (-window.score, window.id),
    )


def _weight(window: _Window, question: str) -> float:
    repeats = " ".join(question.casefold().split()) in " ".join(window.text.casefold().split())
    weight = weight_of(window.path, question) * (_REPEATED if repeats and len(question) > _LONG_QUESTION else 1.0)
    return weight * (1.0 if has_korean(question) == has_korean(window.text) else _FOREIGN)


def _score(asked: _Asked, body: str, title: str, name: str) -> float:
    length = 0.8 * (0.4 + 0.6 * body.count(" ") / 120)
    total = 0.0
    for term in asked.terms:
        best = 0.0
        for form in term.forms:
            if not asked.found[form.phrase]:
                continue
            phrase = f" {form.phrase} "
            times = body.count(phrase)
            value = 2.0 * times / (times + length)
            if phrase in title:
                value = max(value, 0.9) + _TITLE
            if phrase in name:
                value = max(value, 0.6) + _NAME
            best = max(best, form.weight * asked.rarity(form.phrase) * value)
        total += best * term.telling
    return total


def _different(ranked: Sequence[_Window], limit: int) -> list[_Window]:
    """Return the best windows without those that say the same again."""
    chosen: list[_Window] = []
    bags: list[frozenset[str]] = []
    for window in ranked:
        if len(chosen) >= limit or window.score < ranked[0].score * 0.5:
            break
        bag = frozenset(window.tokens.split())
        if not any(len(bag & other) >= 0.85 * len(bag | other) for other in bags):
            chosen.append(window)
            bags.append(bag)
    return chosen


def _quote(db: sqlite3.Connection, asked: _Asked, window: _Window) -> Passage:
    """Return the part of a window that says most of what was asked, with what follows it as far as there is room."""
    values = [asked.value(text) / math.sqrt(1 + len(text) / 400) for _, _, text in window.parts]
    first = max(range(len(values)), key=lambda at: (values[at], -at))
    line, end, words = window.parts[first]
    before = window.parts[first - 1] if first else (0, 0, "")
    if before[2] and (before[2].rstrip().endswith((":", "：")) or (len(before[2]) < _SHORT and ":" in before[2])):
        # `Default: 180`, or what announces a list.
        line, words = before[0], before[2] + _gap(before[1], line) + words
    follows = list(window.parts[first + 1 :])
    if len(words) + sum(len(text) for _, _, text in follows) < MAX_PASSAGE_CHARS:
        follows += _next(db, window)
    for next_line, next_end, text in follows:
        if len(words) + len(text) >= MAX_PASSAGE_CHARS:
            break
        words, end = words + _gap(end, next_line) + text, next_end
    return Passage(window.path, line, end, window.page, window.heading, _cut(words, asked), round(window.score, 4))


def _next(db: sqlite3.Connection, window: _Window) -> list[tuple[int, int, str]]:
    """Return what follows a window that ends with an announcement (`The keys are:`)."""
    if not window.text.rstrip().endswith((":", "：")):
        return []
    row = db.execute(
        "SELECT next.parts FROM windows AS own JOIN windows AS next ON next.id = own.id + 1 AND next.file = own.file"
        " AND next.page = own.page AND next.heading = own.heading WHERE own.id = ?",
        (window.id,),
    ).fetchone()
    return [] if row is None else [(first, last, text) for first, last, text in json.loads(row[0])]


def _sentences(first: int, last: int, text: str) -> list[tuple[int, int, str]]:
    """Return a block in pieces of a few lines that end with a sentence, so that a place is where the words stand."""
    lines = text.split("\n")
    if len(lines) != last - first + 1:
        return [(first, last, text)]
    pieces: list[tuple[int, int, str]] = []
    begin = 0
    for at, line in enumerate(lines):
        if at == len(lines) - 1 or (line.rstrip().endswith(_SENTENCE_END) and len(lines) - at > 1):
            pieces.append((first + begin, first + at, "\n".join(lines[begin : at + 1])))
            begin = at + 1
    return pieces


def _gap(last: int, first: int) -> str:
    """The line ends between two parts, so that lines within the joined text stay countable."""
    return "\n" * max(1, first - last)


def _cut(text: str, asked: _Asked | None = None) -> str:
    """Return a text, or of a long one the stretch that says most of what was asked."""
    if len(text) <= MAX_PASSAGE_CHARS:
        return text
    size = MAX_PASSAGE_CHARS - 2
    starts = range(0, len(text) - size + 100, 100) if asked is not None else (0,)
    start = max(starts, key=lambda at: (asked.value(text[at : at + size]) if asked is not None else 0, -at))
    return f"{'…' if start else ''}{text[start : start + size]}{'…' if start + size < len(text) else ''}"


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'


def says_nothing(question: str) -> bool:
    """Return whether a question has no word that says what is asked."""
    return not any(term.telling >= 0.3 for term in parse_question(normalise(question)))
