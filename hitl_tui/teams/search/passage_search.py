"""Asking the store of an index: counting words, finding candidates, choosing passages by their words and their form."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hitl_tui.teams.search.file_rank import CODE_SHARE, FileRank, ranks_asked
from hitl_tui.teams.search.index_refresh import searched
from hitl_tui.teams.search.query_terms import Term, Weight, pairs
from hitl_tui.teams.search.ranking import (
    MAX_PASSAGE_CHARS,
    Candidate,
    Passage,
    Scored,
    Weighed,
    answers,
    choose,
    focus,
    score,
    weigh,
    with_neighbours,
)
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


_CANDIDATES = 300
_LOOKED_AT = 80
_COUNTED = 4_000
_MATCHED = 25_000
_FOLLOWING = 12
_APART = 3
_WORDS = (Weight.STRONG, Weight.ROLE, Weight.WEAK)


@dataclass(frozen=True, slots=True)
class SearchHits:
    """The answer to a question.

    Args:
        passages: best first; empty when nothing in the documents speaks of it.
        terms: the words looked for.
        missing: those of them that stand nowhere in the documents.
        searched: how many files were searched.
        weak: no passage speaks of what was asked; the one there is comes nearest, in a file that the question names.
    """

    passages: tuple[Passage, ...]
    terms: tuple[str, ...]
    missing: tuple[str, ...]
    searched: int
    weak: bool = False


def ask(
    db: sqlite3.Connection,
    question: str,
    terms: tuple[Term, ...],
    limit: int,
    stop: frozenset[str] = frozenset(),
    named: Sequence[int] = (),
) -> SearchHits:
    """Return the passages that answer a question; the caller holds a read transaction.

    Args:
        db: the store.
        question: the question, as written.
        terms: what it looks for.
        limit: how many passages at most.
        stop: index tokens that say nothing in a heading.
        named: ids of the files that the question names; what they say comes first.
    """
    everything = _Part.of(db, terms)
    weighed = everything.weighed
    missing = tuple(
        item.term.surface
        for item in weighed
        if not item.known and item.term.content and item.term.weight in (Weight.STRONG, Weight.ROLE)
    )
    hits = SearchHits((), tuple(term.surface for term in terms), missing, searched(db))

    def passages(part: _Part, most: int, files: Sequence[int] = (), *, any_match: bool = False) -> tuple[Passage, ...]:
        candidates = _candidates(db, part, files)
        scored = score(candidates, part.weighed)[:_LOOKED_AT]
        if not scored or not (any_match or answers(scored, part.weighed)):
            return ()
        scored = with_neighbours(scored, part.weighed, _around(db, scored))
        return _passages(db, question, terms, stop, scored, part.weighed, most)

    def in_order() -> tuple[Passage, ...]:
        if not _of_source_code(db):
            return passages(everything, limit)
        found: tuple[Passage, ...] = ()
        for ranks in ranks_asked(question):
            if len(found) >= limit or (found and FileRank.SOURCE not in ranks):
                break
            # As if there were nothing else: what the tests of a program say tells nothing of its documents.
            found += passages(_Part.of(db, terms, ranks), limit - len(found))
        return found

    first = passages(everything, limit, named) if named else ()
    places = {(one.path, one.line) for one in first}
    found = (*first, *(one for one in in_order() if (one.path, one.line) not in places))
    if found:
        return replace(hits, passages=found[:limit])
    said_nowhere = tuple(
        item.term.surface for item in weighed if not item.known and item.term.content and item.term.weight in _WORDS
    )
    nearest = passages(everything, 1, named, any_match=True) if named else ()
    return replace(hits, passages=nearest, missing=said_nowhere, weak=bool(nearest))


def opening(db: sqlite3.Connection, file: int) -> SearchHits:
    """Return how a file begins, for a question that says no more than its name; the caller holds a read transaction."""
    row = db.execute(
        "SELECT path, line, end_line, page, heading, text FROM blocks JOIN files ON files.id = blocks.file"
        " WHERE files.id = ? ORDER BY blocks.id LIMIT 1",
        (file,),
    ).fetchone()
    if row is None:
        return SearchHits((), (), (), searched(db))
    path, line, end_line, page, heading, text = row
    first, last, words = focus(text, line, end_line, ())
    return SearchHits((Passage(path, first, last, page, heading, words, 0.0),), (), (), searched(db), weak=True)


def _of_source_code(db: sqlite3.Connection) -> bool:
    files, programs = db.execute("SELECT count(*), coalesce(sum(program), 0) FROM files WHERE reason = ''").fetchone()
    return bool(programs) and programs >= CODE_SHARE * files


@dataclass(frozen=True, slots=True)
class _Part:
    """What of an index is searched, and what the words of a question weigh there.

    Args:
        ranks: JSON of the ranks of its files.
        counts: in how many blocks each phrase stands, up to a limit.
        weighed: the terms.
    """

    ranks: str
    counts: Mapping[str, int]
    weighed: tuple[Weighed, ...]

    @classmethod
    def of(cls, db: sqlite3.Connection, terms: Sequence[Term], ranks: Collection[FileRank] = tuple(FileRank)) -> _Part:
        """Return the files of some ranks, of all unless given, as a part."""
        phrases = {phrase for term in terms for form in term.forms for phrase in form.phrases}
        phrases.update(phrase for phrase in pairs(terms) if phrase)
        chosen = json.dumps(sorted(ranks))
        blocks, korean = db.execute(
            "SELECT coalesce(sum(blocks), 0), coalesce(1.0 * sum(hangul * blocks) / max(1, sum(blocks)), 0) FROM files"
            " WHERE rank IN (SELECT value FROM json_each(?))",
            (chosen,),
        ).fetchone()
        part = cls(chosen, {}, ())
        counts = {
            phrase: int(
                db.execute(
                    f"SELECT count(*) FROM (SELECT 1 FROM {part.source} LIMIT ?)",  # noqa: S608 - constants
                    (*part.matching(_quoted(phrase)), _COUNTED),
                ).fetchone()[0]
            )
            for phrase in phrases
        }
        return cls(chosen, counts, weigh(terms, counts, blocks, korean))

    @property
    def whole(self) -> bool:
        """It is all of the index."""
        return self.ranks == _ALL

    @property
    def source(self) -> str:
        """What follows FROM: its blocks that match; `matching` has the values."""
        if self.whole:
            return "words WHERE words MATCH ?"
        return (
            "words JOIN blocks ON blocks.id = words.rowid JOIN files ON files.id = blocks.file"
            " WHERE words MATCH ? AND files.rank IN (SELECT value FROM json_each(?))"
        )

    def matching(self, expression: str) -> tuple[str, ...]:
        return (expression,) if self.whole else (expression, self.ranks)


_ALL = json.dumps(sorted(FileRank))


def _candidates(db: sqlite3.Connection, part: _Part, files: Sequence[int] = ()) -> list[Candidate]:
    """Return the blocks of a part that have words of the question, best first; of some files alone where given."""
    wanted = sorted((count, phrase) for phrase, count in part.counts.items() if count)
    chosen: list[str] = []
    reach = 0
    for count, phrase in wanted:
        # Words that stand nearly everywhere cost most and tell least; the rare ones come first.
        if chosen and (reach + count > _MATCHED or count >= _COUNTED):
            break
        chosen.append(phrase)
        reach += count
    if not chosen:
        return []
    rows = db.execute(
        f"SELECT words.rowid, body, title, name, words.rank FROM {part.source}"  # noqa: S608 - constants
        " AND (? OR words.rowid IN (SELECT id FROM blocks WHERE file IN (SELECT value FROM json_each(?))))"
        " ORDER BY words.rank LIMIT ?",
        (
            *part.matching(" OR ".join(_quoted(phrase) for phrase in chosen)),
            not files,
            json.dumps(list(files)),
            _CANDIDATES,
        ),
    )
    return [Candidate(*row) for row in rows]


def _around(db: sqlite3.Connection, scored: Sequence[Scored]) -> dict[int, str]:
    around: dict[int, str] = {}
    for item in scored:
        rows = db.execute(
            "SELECT words.body FROM blocks JOIN words ON words.rowid = blocks.id WHERE blocks.id IN (?, ?)"
            " AND blocks.file = (SELECT file FROM blocks WHERE id = ?)",
            (item.candidate.id - 1, item.candidate.id + 1, item.candidate.id),
        )
        around[item.candidate.id] = " ".join(row[0] for row in rows)
    return around


def _passages(
    db: sqlite3.Connection,
    question: str,
    terms: Sequence[Term],
    stop: frozenset[str],
    scored: Sequence[Scored],
    weighed: Sequence[Weighed],
    limit: int,
) -> tuple[Passage, ...]:
    marks = ", ".join("?" * len(scored))
    rows = db.execute(
        "SELECT blocks.id, files.id, path, line, end_line, page, heading, text FROM blocks"  # noqa: S608
        f" JOIN files ON files.id = blocks.file WHERE blocks.id IN ({marks})",
        [item.candidate.id for item in scored],
    )
    details = {row[0]: row[1:] for row in rows}
    ordered = sorted(
        (
            replace(item, score=item.score * prior(question, terms, stop, *details[item.candidate.id][5:]))
            for item in scored
        ),
        key=lambda item: -item.score,
    )
    passages = []
    shown: set[int] = set()
    for item in choose(ordered, {row: detail[0] for row, detail in details.items()}, limit):
        row = item.candidate.id
        if row in shown:
            continue
        shown.add(row)
        _, path, line, end_line, page, heading, text = details[row]
        first, last, words = focus(text, line, end_line, weighed)
        if last == end_line and introduces(words):
            last, words = _with_list(db, row, last, words, shown)
        if first == line:
            first, words = _with_lead(db, row, first, words, shown)
        passages.append(Passage(path, first, last, page, heading, words, round(item.score, 4)))
    return tuple(passages)


def _with_list(db: sqlite3.Connection, row: int, last: int, words: str, shown: set[int]) -> tuple[int, str]:
    """Add what follows a passage that introduces it (`The keys are:`), as far as there is room.

    Args:
        row: the passage's block; `shown` gets the blocks added.
        last: its last line.
        words: its text.
    """
    rows = db.execute(
        "SELECT next.id, next.line, next.end_line, next.text FROM blocks AS own JOIN blocks AS next"
        " ON next.file = own.file AND next.page = own.page AND next.id > own.id AND next.id <= own.id + ?"
        " AND (next.heading = own.heading OR substr(next.heading, 1, length(own.heading) + 3) = own.heading || ' > ')"
        " WHERE own.id = ? ORDER BY next.id",
        (_FOLLOWING, row),
    )
    follows, before = row, ""
    for number, line, end_line, text in rows:
        apart = number != follows + 1 or line - last > _APART
        if follows != row and not (is_item(text) and is_item(before)):
            break
        if apart or number in shown or len(words) + len(text) >= MAX_PASSAGE_CHARS:
            break
        words, last, follows, before = words + _gap(last, line) + text, end_line, number, text
        shown.add(number)
    return last, words


def _with_lead(db: sqlite3.Connection, row: int, first: int, words: str, shown: set[int]) -> tuple[int, str]:
    """Put the line before a passage in front of it when it belongs to it: `Default: 180`, or what introduces an entry.

    Args:
        row: the passage's block; `shown` gets the block added.
        first: its first line.
        words: its text.
    """
    lead = db.execute(
        "SELECT lead.id, lead.line, lead.end_line, lead.text FROM blocks AS own JOIN blocks AS lead"
        " ON lead.id = own.id - 1 AND lead.file = own.file AND lead.page = own.page AND lead.heading = own.heading"
        " WHERE own.id = ?",
        (row,),
    ).fetchone()
    if lead is None or lead[0] in shown or first - lead[2] > _APART or len(lead[3]) + len(words) >= MAX_PASSAGE_CHARS:
        return first, words
    if not (introduces(lead[3]) and is_item(words)) and not is_field(lead[3]):
        return first, words
    shown.add(lead[0])
    return lead[1], lead[3] + _gap(lead[2], first) + words


def _gap(last: int, first: int) -> str:
    """The line ends between two passages, so that lines within the joined text stay countable."""
    return "\n" * max(1, first - last)


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'
