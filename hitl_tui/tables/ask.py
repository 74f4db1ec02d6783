"""Which table a question is about, its query, and what the query gives; or why there is none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from itertools import pairwise
from pathlib import Path, PurePosixPath

from hitl_tui.meaning.encoder import likenesses
from hitl_tui.meaning.frequencies import frequencies
from hitl_tui.meaning.word_forms import common_start, is_past
from hitl_tui.tables.descriptions import description
from hitl_tui.tables.engine import Engine, Result, TableError, engine, other_names, quote
from hitl_tui.tables.files import SUFFIXES, TableFile, table_files
from hitl_tui.tables.joins import Joined, joined
from hitl_tui.tables.links import CALLED, label_of
from hitl_tui.tables.mapping import Reader, halves
from hitl_tui.tables.profile import SOURCE, Profiles, Table, profiles
from hitl_tui.tables.query import MAX_ROWS, Filter, TableQuery
from hitl_tui.tables.query_score import CLEAR, Mapped
from hitl_tui.tables.question_in_table import before_table_noun
from hitl_tui.tables.words import dated, lexicon, likeness, tokens, words_of

_ENDINGS = (suffix[1:] for suffix in sorted(SUFFIXES, key=len, reverse=True) if suffix != ".json")
_NAMED = re.compile(rf"[\w가-힣][\w가-힣.()-]*\.(?:{'|'.join(_ENDINGS)})(?![a-z])", re.I)
"""Names a table; what ends in `.json` is mostly none."""
_MAX_TABLES = 200
_FEW_COLUMNS = 6
"""Columns of a table up to which all of the one row are shown that has most or least."""
_SHORT = 3
"""Letters of a name in a JSON object that may stand in any question."""
_COMPARED = 6
"""Tables whose columns are compared in meaning with what is left of a question."""
_TOTAL_OF, _ABOUT, _MOST_YEARS = 6, 0.015, 0.8
"""Values of which one may be the total of the others, how far it may be from that, and in which part of the years."""
_TOLD = 15
"""Columns that a table is told by."""
_SUBJECT = 10.0
"""What it weighs, where one of several tables is chosen, that a question is near in meaning to what a table is of."""
ENOUGH = 0.55
"""Score from which a question that isn't understood is told what the nearest table has."""
NEAR = 1.0
"""Score from which a question is about a table that it doesn't name."""
ASSUMED = 0.3
"""What a query assumes from which the documents are asked beside an unnamed table, for they may say it."""
_WAIT = 2.0
"""Seconds after which no other table is read to be joined with one that is named."""
_BESIDE = 0.15
"""What it costs that a query needs another table."""
_COVERS = 1.0
"""How much less a query may score that leaves no word out than one that does."""
_HALF = 0.5
"""Share of a question that a query explains from which a table that is only called by its name is asked."""
POSSIBLE = 0.2
"""Score from which an unnamed table is asked beside the documents."""
STRANGE, NARROWS = 0.7, 0.3
"""How much a word may say at most that is nothing of an unnamed table; and it, or what nobody said, of all its rows."""
_OF_ITS_NAME = 0.5
"""Score by which a table that has a column of the very name is before one that has another."""
OF_THEM = re.compile(r"(?<![a-z])(?:of|among) (?:them|these|those)(?![a-z])|[그이]\s?(?:중|가운데)", re.IGNORECASE)
"""Asks about what was just answered, whether or not the table has an answer."""
_EXPLAINED = re.compile(r"\b(?:stands? for|meaning of|does .+ mean)\b|뜻|의미", re.IGNORECASE)
"""Asks what something means, which no row says."""
_FILES = re.compile(
    r"\bhow many (?:of (?:the|these|those|my|our) )?(?:\S+ )?files\b|몇\s?개의\s?파일|파일\S?\s(?:\S+\s){0,2}몇\s?개",
    re.IGNORECASE,
)
"""Asks how many files there are, which no table has as rows."""
_GOES_ON = re.compile(r"\s*(?:and|but|so|then|also|그럼|그러면|그리고|그런데|근데|그중)\b", re.IGNORECASE)
_WHOLE = re.compile(
    r"\b(?:did|do|does|was|were|has|have|had|altogether|overall|in (?:total|all))\b|모두|전부|통틀어|합쳐",
    re.IGNORECASE,
)
"""Makes a sentence of its own, or asks for everything: nothing of the question before narrows it."""
_EVERY = re.compile(r"\b(?:all|whole|every|world|overall|altogether)\b|전체|모든|전부|모두|통틀어", re.IGNORECASE)
"""Asks for all of several tables with the same columns."""
_SAME_TIME = re.compile(
    r"\b(?:(?:in|for|during|of) )?(?:that|the same|those|these) (?:year|quarter|month|week|day|time|period)s?\b"
    r"|(?:그|같은)\s?(?:해|연도|년도|달|날|때|기간|분기)(?:에는|에|의|은|는)?(?![가-힣])",
    re.IGNORECASE,
)
"""Says that a question asks of the same time as the one before."""
_TAKES_OVER = re.compile(r"(?<=[가-힣])[은는도]\s?요\W*$")
"""Ends what goes on from a question before in Korean: `소설은요?`"""
_CODE = re.compile(r"\b(?:ids?|codes?|numbers?|no)\b|번호|코드", re.IGNORECASE)
_TIMES = ("year", "years", "month", "months", "dates", "date_lt", "date_le", "date_gt", "date_ge")
_EVERYDAY = 4.0
"""How common, on Zipf's scale, a word is that names no file where it stands alone: `projects`."""
_SAYS_ALL = 2.0
"""Score from which a question says itself all that it asks: nothing is taken from the one before."""
ALONE = 0.8
"""Share of a question that a query explains where no table is named: what is left may be what it is about."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question.

    Args:
        mapped: the query that was read; None where no table fits.
        result: its rows; None where it wasn't run.
        sql: what was run.
        why: why there is no result: `absent` (a file that isn't there), `unread`, `unsure`, `none`, `limit` (that is to
            be read in a document); else empty.
        named: what the question calls the table.
        choices: the nearest queries, best first; of one that is read, those of other tables that may have its rows.
        unread: table files that couldn't be read, and why.
        files: all tables there are, of a question that names another.
        likely: the query, unsure as it is, is worth its rows.
        versions: other tables with the same columns that the question may mean, too.
        whole: these other tables and this one are asked together.
        total: how many rows or groups there are of a list that is cut.
        beside: the row, or the group of rows, that has most or least where that is another one.
        second: what came of a second question of the same sentence, of the same rows.
        unasked: a second question that wasn't read.
    """

    mapped: Mapped | None = None
    result: Result | None = None
    sql: str = ""
    why: str = ""
    named: str = ""
    choices: tuple[Mapped, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    likely: bool = False
    versions: tuple[Mapped, ...] = ()
    whole: bool = False
    total: int = 0
    beside: Result | None = None
    second: Answer | None = None
    unasked: str = ""

    @property
    def empty(self) -> bool:
        """Whether the query found no row, or not all that a change is between."""
        if self.mapped is None or self.result is None or not self.result.rows:
            return True
        if self.mapped.query.shape == "change" and not self.mapped.query.other:
            return len(self.result.rows) < 2
        return self.mapped.query.shape == "figure" and not self.result.rows[0][-1]

    @property
    def settled(self) -> bool:
        """Whether no document answers it, where nothing came of it: it names a table, or a time beyond its rows."""
        if self.mapped is None:
            return self.why in ("absent", "unread")
        return self.mapped.named or (self.empty and self.beyond)

    @property
    def beyond(self) -> bool:
        """Whether it asks for a time before or after all that the table has."""
        return self.mapped is not None and any(
            (column := self.mapped.table.column(one.column)) is not None and one.is_beyond(column.low, column.high)
            for one in self.mapped.query.filters
        )


def read(
    question: str, files: Sequence[TableFile], before: TableQuery | None = None, today: date | None = None
) -> Answer:
    """Return how a question reads as a query of one of some files; nothing is run.

    Args:
        question: a person's words.
        files: the tables of the workspace.
        before: the query that the question goes on from.
        today: the day that it is asked on; None for this one.
    """
    question = unicodedata.normalize("NFC", question)  # a name may be pasted as macOS hands it out
    called, absent = named_files(question, files)
    question = dated(question, today or date.today(), [name for one in called for name in (one.path, one.stem)])
    known = profiles(called or (() if absent else files))
    if absent:
        return Answer(why="absent", named=absent, files=tuple(one.path for one in files))
    if called and known.unread:
        return Answer(why="unread", named=known.unread[0][0], unread=known.unread)
    named = known.tables if called else ()
    words = "".join(question.casefold().split())
    if any(len(name) > _SHORT and name.casefold() in words for one in called for name in other_names(one)):
        return Answer(why="none", unread=known.unread)  # what a JSON object has beside its lists
    if len(called) > 1:  # of files that differ, the one with the longest name is meant
        first = next((table for table in named if table.file == called[0]), None)
        named = tuple(t for t in named if first is None or t.file == first.file or _same_columns(t, first))
        for one in called:
            question = _blanked(_blanked(question, PurePosixPath(one.path).name), _stem(one))
    if before is not None and not named:
        continued = _continued(_SAME_TIME.sub(" ", question), before, known)
        if continued is not None:
            continued = replace(continued, guesswork=False)  # the table is the one that was asked before
            return Answer(
                continued, why="" if continued.sure else "unsure", versions=_versions(continued, known.tables)
            )
    tables = (named or known.tables)[:_MAX_TABLES]
    if not named:  # no key of another table is a figure
        keys = {one.place: one.keys for one in joined(tables)}
        tables = tuple(replace(one, keys=keys.get(one.place, one.keys)) for one in tables)
    readers = [Reader(question, table, bool(named)) for table in tables]
    candidates = [reader.read()[0] for reader in readers]
    subjects = {} if named or len(tables) < 2 else _subjects(question, tables)
    if not named or candidates[0].unknown:
        every = known.tables if not named else profiles(files, _WAIT).tables
        candidates += _joined_too(question, readers, every[:_MAX_TABLES])
    ranked = _called_first(_ranked(candidates, subjects), readers)
    if ranked and (ranked[0].unknown or any(one.op == "has" for one in ranked[0].query.filters)):
        again = [_by_meaning_too(question, one, bool(named)) for one in ranked[:_COMPARED]]
        ranked = _called_first(_ranked([*again, *ranked[_COMPARED:]], subjects), readers)
    several = len({table.file for table in named}) > 1
    ranked, versions = _newest(question, ranked) if ranked and (several or not named) else (ranked, ())
    if not ranked or (not named and ranked[0].score < ENOUGH and not ranked[0].sure):
        return Answer(why="none", choices=tuple(ranked[:3]), unread=known.unread)
    best = _with_whole_row(ranked[0])
    least = best.score + subjects.get(best.table.place, 0.0) - 0.05
    rivals = [
        one
        for one in ranked[1:]
        if one.sure and one.score + subjects.get(one.table.place, 0.0) >= least and one.table.file != best.table.file
    ]
    stands = best.own or best.query.filters or best.query.measure or best.query.group
    if not named and _is_of_another(best, ranked):
        return Answer(best, why="unsure", choices=tuple(ranked[:3]), unread=known.unread, versions=versions)
    elsewhere = [word for word in best.assumed if not lexicon().alike["us"].intersection(tokens(word)[0].forms)]
    if not best.sure or (
        not named
        and (elsewhere or rivals or best.score < ENOUGH or (best.share < ALONE and best.score < CLEAR) or not stands)
    ):
        others = Reader(question, best.table, bool(named)).read()[1:3] if named else ranked[1:3]
        whole = best.sure and bool(stands) and not best.undone and best.strange < STRANGE
        # Rows of a time alone are rows of anything.
        narrowed = best.query.group or any(one.op not in _TIMES for one in best.query.filters)
        # A figure of all rows that nobody named isn't one of what a word that stands for nothing would narrow it to.
        own = narrowed or (best.query.measure and (best.strange < NARROWS or best.assumes < NARROWS))
        understood = not (best.looks_up and best.unknown)  # a birthday that no column has is no other date
        understood = understood and not (best.guessed and best.unknown)
        likely = whole and bool(own) and understood and not (rivals or elsewhere) and best.score >= POSSIBLE
        return Answer(
            best, why="unsure", choices=(best, *others), unread=known.unread, likely=likely, versions=versions
        )
    if best.query.group or best.query.shape == "rows":
        best, *others = _by_names(question, (best, *versions), profiles(files, _WAIT).tables)
        versions = tuple(others)
    all_of_them = (
        several or _EVERY.search(question) or (best.query.part in ("year", "month of year") and not best.query.ends)
    )
    whole = bool(versions and (all_of_them or _one_after_another(best, versions))) and best.query.shape != "change"
    elsewhere_too = tuple(
        one for one in ranked if one.sure and one.own and one.score >= NEAR and one.table.file != best.table.file
    )
    return Answer(best, unread=known.unread, versions=versions, whole=whole, choices=elsewhere_too)


def _subjects(question: str, tables: Sequence[Table]) -> dict[tuple[str, str], float]:
    """Return by how much a table is nearer in meaning to the whole question than tables are in general."""
    called = [" ".join(words_of(table.stem)) for table in tables]
    told = [
        f"{name}: {', '.join(' '.join(words_of(c.name)) for c in t.columns[:_TOLD])}"
        for name, t in zip(called, tables, strict=True)
    ]
    told += [description(table.file) for table in tables]
    likes = likenesses(question, [*called, *told])
    every = len(tables)
    both = [likes[n] + max(likes[n + every], likes[n + 2 * every]) for n in range(every)]
    usual = sum(both) / len(both)
    return {table.place: _SUBJECT * (like - usual) for table, like in zip(tables, both, strict=True)}


def _joined_too(question: str, readers: Sequence[Reader], tables: Sequence[Table]) -> list[Mapped]:
    """Return what is read with tables beside others, where words are of the one and words are of the other.

    Args:
        question: a person's words.
        readers: what reads it in the tables that it may be about.
        tables: all tables.
    """
    read = {reader.q.table.place: reader for reader in readers}
    made, told = list[Mapped](), {place: reader.q.told for place, reader in read.items()}
    for table in joined(tables) if len(tables) > 1 else ():
        if table.place not in read or not (beside := _adding(question, table, told, read[table.place].q.named)):
            continue
        reader = Reader(question, table.only(beside), read[table.place].q.named)
        mine, columns = told[table.place], reader.q.links.columns
        named = {name for name, one in reader.q.said.items() for n in one.tokens if columns[n][name] > mine.get(n, 0.0)}
        named |= reader.q.in_formula
        for read_as in reader.read():
            query = read_as.query
            if beside & query.names & (named | {one.column for one in (*query.filters, *query.within)}):
                used = table.only(query.names).making(query.made)
                made.append(replace(read_as, score=read_as.score - _BESIDE * len(used.joins), table=used))
                break
    return made


def _adding(
    question: str, table: Joined, told: dict[tuple[str, str], Mapping[int, float]], named: bool
) -> frozenset[str]:
    """Return the columns of the tables beside one that words stand for which stand for nothing as likely in it.

    Args:
        question: a person's words.
        table: a table with all that may be beside it.
        told: what the words of the question stand for in each table; what isn't known is added.
        named: the question names the table: then none of its words has to stand for it.
    """
    for one in table.joins:
        if one.table.place not in told:
            told[one.table.place] = Reader(question, one.table, False).q.told

    def adds(less: Mapping[int, float], more: Mapping[int, float]) -> bool:
        return any(likely > less.get(n, 0.0) for n, likely in more.items())

    mine = told[table.place]
    apart = [
        one for one in table.joins if adds(mine, told[one.table.place]) and (named or adds(told[one.table.place], mine))
    ]
    return frozenset(name for one in apart for name in one.names.values())


def _one_after_another(best: Mapped, versions: Sequence[Mapped]) -> bool:
    """Return whether tables have the rows of one time after another, where the query asks for no time."""
    if any(one.op in _TIMES for one in (*best.query.filters, *best.query.within)):
        return False
    tables = [one.table for one in (best, *versions)]
    for name in (column.name for column in best.table.columns if column.kind == "date" or column.years):
        columns = [column for table in tables if (column := table.column(name)) is not None and column.filled]
        spans = sorted((str(column.low), str(column.high)) for column in columns)
        if len(spans) == len(tables) and all(earlier[1] < later[0] for earlier, later in pairwise(spans)):
            return True
    return False


def _by_names(question: str, read: tuple[Mapped, ...], tables: Sequence[Table]) -> tuple[Mapped, ...]:
    """Return queries that show, or have a figure for, each key with the names that the keys stand for elsewhere.

    Args:
        question: a person's words; one who asks for codes gets them.
        read: the query, and the same one of other versions of its table.
        tables: all tables.
    """
    if _CODE.search(question):
        return read
    made, beside = list[Mapped](), {table.place: table for table in joined(tables)}
    for one in read:
        table = beside.get(one.table.place)
        joins = table.joins if table else ()
        names = {each.key: each.names[label.name] for each in joins if (label := each.label())}
        query, other = _with_names(one.query, names), one.beside and _with_names(one.beside, names)
        if table is None or (query, other) == (one.query, one.beside):
            return read
        whole = table.only(query.names | (other.names if other else frozenset())).making(query.made)
        made.append(replace(one, query=query, beside=other, table=whole))
    return tuple(made)


def _with_names(query: TableQuery, names: Mapping[str, str]) -> TableQuery:
    """Return a query with the names beside the keys that it shows, and in the place of those that it groups by."""
    columns = dict.fromkeys(each for name in query.columns for each in (names.get(name, name), name))
    shown = tuple(columns) if query.shape == "rows" else query.columns
    measure = names.get(query.measure, query.measure) if query.shape == "rows" and not query.order else query.measure
    return replace(query, group=names.get(query.group, query.group), columns=shown, measure=measure)


def _by_meaning_too(question: str, one: Mapped, named: bool) -> Mapped:
    """Return what is read where words may be columns by what they mean; a count of all rows is none of that."""
    other = Reader(question, one.table, named, by_meaning=True).read()[0]
    bare = other.query.shape == "figure" and other.query.aggregate == "count" and not other.query.filters
    return one if other.guessed and bare else other


def _called_first(ranked: list[Mapped], readers: Sequence[Reader]) -> list[Mapped]:
    """Return what was read with the tables first that are called by a word which stands for nothing in the best one."""
    if not ranked or not ranked[0].unknown:
        return ranked
    called = {reader.q.table.place: {reader.q.tokens[n].text.strip() for n in reader.q.called} for reader in readers}
    known = [one for one in ranked if called[one.table.place].intersection(ranked[0].unknown)]
    return [*known, *(one for one in ranked if one not in known)]


def _is_of_another(best: Mapped, ranked: Sequence[Mapped]) -> bool:
    """Return whether a word that is nothing in one table is what rows of another have: it may be about that one."""
    others = (one for one in ranked if one.table.file != best.table.file and not one.table.beside)
    asked = (one for other in others for one in (*other.query.filters, *other.query.within))
    values = {one.said for one in asked if one.op == "is" and len(str(one.values[0])) > 1}  # no flag
    return not values.isdisjoint(best.unknown)


def ask(
    question: str, files: Sequence[TableFile], before: TableQuery | None = None, today: date | None = None
) -> Answer:
    """Return how a question reads, and what that gives; of two in one sentence each. See `read`.

    Raises:
        TableError: DuckDB can't be started.
    """
    answer, both = _asked(question, files, before, today), halves(question)
    if both is None or (answer.mapped and answer.result and not _leaves_out(answer.mapped.query)):
        return answer
    first = _asked(both[0], files, before, today)
    if first.mapped is None or first.empty:
        return answer
    second = _of_same_rows(both[1], first.mapped, today)
    return replace(first, second=None if second.empty else second, unasked=both[1] if second.empty else "")


def _with_whole_row(one: Mapped) -> Mapped:
    """Return a query of the one row that has most or least with what else that row has: all of a small table."""
    query, table = one.query, one.table
    if query.shape != "rows" or not query.order or query.limit != 1:
        return one
    label, every = label_of(table), [column.name for column in table.columns if column.kind != "other"]
    beside = [*([label.name] if label else []), *(every if len(every) <= _FEW_COLUMNS else every[:1])]
    return replace(one, query=replace(query, columns=tuple(dict.fromkeys((*query.columns, *beside)))))


def _leaves_out(query: TableQuery) -> bool:
    """Whether a query of a sentence with two questions, one of them for a figure of several rows, is only one."""
    return query.shape in ("rows", "groups", "figure") and not query.limit


def _of_same_rows(question: str, first: Mapped, today: date | None) -> Answer:
    """Return what comes of the second question of a sentence: what it doesn't name itself is that of the first."""
    files, before = [first.table.file], first.query
    alone = read(question, files, today=today)
    if alone.mapped is None or alone.why or alone.mapped.query.filters:
        return _asked(question, files, before, today)
    query = replace(alone.mapped.query, filters=before.filters)
    if before.aggregate and before.measure and query.group and not query.measure:
        figure = Reader(question, first.table, False).measures.figure_of(before.measure)
        query = replace(query, measure=before.measure, aggregate=figure)
    return _with_rows(replace(alone, mapped=replace(alone.mapped, query=query)))


def _asked(question: str, files: Sequence[TableFile], before: TableQuery | None, today: date | None) -> Answer:
    answer = read(question, files, before, today)
    if answer.mapped is None or (answer.why and not answer.likely):
        return answer
    if answer.mapped.query.limited:
        return replace(answer, why="limit")
    return replace(_with_rows(replace(answer, why="", choices=() if answer.why else answer.choices)), choices=())


def _with_rows(answer: Answer) -> Answer:
    """Return what a question gives; where its rows are those of another time, from the version that has them."""
    first, best = run(answer), answer.mapped
    assert best is not None
    short = first.result is None or len(first.result.rows) < len(best.query.ends)
    if best.named or not (first.empty or short):
        return first
    if short and (joined := _joined(first)):
        return joined
    if not first.empty:
        return first
    for one in answer.versions:
        others = tuple(other for other in (best, *answer.versions) if other is not one)
        other = run(replace(answer, mapped=one, versions=others)) if one.sure else first
        if not other.empty:
            return other
    for one in answer.choices:
        other = run(replace(answer, mapped=one, versions=(), whole=False))
        if not other.empty:
            return other
    return first


def _joined(answer: Answer) -> Answer | None:
    """Return a query between ends that are rows of different versions of a table, such as one for each month."""
    assert answer.mapped is not None and answer.result is not None
    rows, asked = {row[0]: row for row in answer.result.rows}, [answer] if answer.result.rows else []
    for one in answer.versions:
        other = run(replace(answer, mapped=one))
        new = [row for row in other.result.rows if row[0] not in rows] if other.result else []
        rows |= {row[0]: row for row in new}
        asked += [other] if new else []
    if len(rows) < len(answer.mapped.query.ends):
        return None
    used = [one.mapped for one in asked if one.mapped]
    table = replace(used[0].table, rows=sum(one.table.rows for one in used))
    file = replace(table.file, path=_pattern([one.table.file.path for one in used]))
    sql = ";\n".join(f"-- {one.table.file.path}\n{each.sql}" for one, each in zip(used, asked, strict=True))
    found = replace(answer.result, rows=tuple(rows[key] for key in sorted(rows, key=str)))
    versions = tuple(one for one in answer.versions if one not in used)
    return replace(
        answer, mapped=replace(used[0], table=replace(table, file=file)), result=found, sql=sql, versions=versions
    )


def run(answer: Answer) -> Answer:
    """Return an answer with the rows of its query.

    Raises:
        TableError: it can't be run.
    """
    assert answer.mapped is not None
    mapped = answer.mapped
    query, table = mapped.query, mapped.table
    tables = [table, *(one.table for one in answer.versions)] if answer.whole else [table]
    if len(tables) > 1:
        file = replace(table.file, path=_pattern([one.file.path for one in tables]))
        every = replace(table, file=file, rows=sum(one.rows for one in tables))
        mapped = replace(mapped, table=every)
        answer = replace(answer, mapped=mapped, versions=())
    with engine([file for one in tables for file in one.files]) as opened:
        for n, one in enumerate(tables):
            opened.load(f"source/{n}", one.file, one.sheet)
        rows = (one.sql.replace(SOURCE, quote(f"source/{n}")) for n, one in enumerate(tables))
        opened.ask(f"CREATE VIEW t AS {' UNION ALL BY NAME '.join(rows)}")
        table.load_beside(opened)
        if total_row := _total_row(opened, query, table):
            query = replace(query, filters=(*query.filters, total_row))
            answer = replace(answer, mapped=replace(mapped, query=query))
        sql = query.sql(table.source)
        result = opened.ask(sql)
        total = 0
        if query.shape in ("rows", "groups") and not query.limit and len(result.rows) == MAX_ROWS:
            total = int(opened.ask(f"SELECT count(*) FROM ({sql.removesuffix(f' LIMIT {MAX_ROWS}')})").rows[0][0])
        beside = opened.ask(mapped.beside.sql(table.source)) if mapped.beside else None
    if beside and [row[0] for row in beside.rows] == [row[0] for row in result.rows]:
        beside = None
    return replace(answer, result=result, sql=sql, total=total, beside=beside)


def _pattern(paths: Sequence[str]) -> str:
    """Return what some paths have in common, with a star for the rest."""
    first = common_start(paths)
    last = common_start([path[len(first) :][::-1] for path in paths])[::-1]
    return f"{first}*{last}"


def _total_row(opened: Engine, query: TableQuery, table: Table) -> Filter | None:
    """Return the rows of the value, if there is one, that has as much as all others of its column in almost each year.

    A sum is of these alone; where it is made for each value of the column, of all others.
    """
    year = next((column.name for column in table.columns if column.years), "")
    if query.aggregate != "sum" or not (query.measure and year) or query.shape not in ("figure", "groups", "change"):
        return None
    fixed = {one.column for one in query.filters}
    rows = " AND ".join(one.sql() for one in query.filters if one.column != year) or "TRUE"
    for column in table.columns:
        if column.kind != "text" or column.distinct < _TOTAL_OF or column.name in fixed or not column.values:
            continue
        value, figure = quote(column.name), quote(query.measure)
        source = query.rows_of(table.source)
        each = f"SELECT {quote(year)} y, {value} v, sum({figure}) s FROM {source} WHERE {rows}"
        years = f"SELECT arg_max(v, s) v, max(s) most, sum(s) s, count(*) n FROM ({each} GROUP BY 1, 2) GROUP BY y"
        half = f"abs(2 * most - s) <= {_ABOUT} * s AND n >= {_TOTAL_OF}"
        counted = (
            f"SELECT v, count(*) FILTER ({half}) c, sum(count(*)) OVER () FROM ({years}) GROUP BY 1 ORDER BY 2 DESC"
        )
        for total, found, all_years in opened.ask(f"{counted} LIMIT 1").rows:
            if total is not None and found > 1 and found >= _MOST_YEARS * int(all_years):
                return Filter(column.name, "not" if query.group == column.name else "is", (str(total),))
    return None


def again(query: TableQuery, files: Sequence[TableFile]) -> Answer:
    """Return what a query that is known already gives.

    Raises:
        TableError: it can't be run.
    """
    known = profiles([file for file in files if file.path == query.source])
    table = _table_of(query, known.tables)
    if table is not None and not all(map(table.column, query.names)):
        table = _table_of(query, profiles(files).tables)
    if table is None:
        return Answer(why="absent", named=query.source, unread=known.unread)
    return run(Answer(Mapped(query, table, 0.0), unread=known.unread))


def _table_of(query: TableQuery, tables: Sequence[Table]) -> Table | None:
    """Return the table that a query is of, with those beside it whose columns it has."""
    place = (query.source, query.sheet)
    table = next((one for one in tables if one.place == place), None)
    if table is not None and not all(map(table.column, query.names)):
        table = next((one.only(query.names) for one in joined(tables) if one.place == place), table)
    return table.making(query.made) if table else None


class About(StrEnum):
    """What a question is about."""

    TABLE = "table"
    BOTH = "both"
    LIMIT = "limit"
    TEXT = "text"


def about(question: str, workspace: Path) -> About:
    """Return whether a question names a table of a folder or reads as a query of one, may be one, or is none.

    One for rows beyond a limit is about a table and a document.
    """
    files = table_files(workspace)
    try:
        answer = read(question, files) if files else Answer(why="none")
    except TableError:
        return About.TEXT
    best = answer.mapped
    if answer.why in ("absent", "unread"):
        return About.TABLE
    if best is not None and answer.why and not best.query.limited:
        if _is_written(best.table.file, question):
            return About.TABLE if best.own or best.counts or best.exact else About.BOTH
        if best.named and best.counts and best.own and best.share >= _HALF:
            return About.TABLE
    if best is None or (not best.named and (best.undone or best.strange >= STRANGE)):
        return About.TEXT
    if (_EXPLAINED.search(question) and not best.counts) or (_FILES.search(question) and not best.named):
        return About.TEXT
    cell = best.query.measure and not best.unknown and len({one.column for one in best.query.filters}) > 1
    if not (best.named or best.counts or best.looks_up or best.exact or cell) and best.query.shape == "rows":
        return About.TEXT  # nothing is worked out, and no row or column is called what is looked for
    if best.query.limited and (not answer.why or answer.likely):
        return About.LIMIT
    if not answer.why:
        return About.TABLE if best.named or best.assumes < ASSUMED else About.BOTH
    if answer.why == "unsure" and best.counts and best.score >= NEAR and best.share >= ALONE and not best.guesswork:
        return About.TABLE
    return About.BOTH if answer.likely and (best.counts or best.looks_up) else About.TEXT


def continues(question: str, earlier: Sequence[str], workspace: Path) -> bool:
    """Return whether a question goes on from others about tables of a folder.

    Args:
        question: a person's words.
        earlier: what was asked before, the first question first.
        workspace: the folder.
    """
    files = table_files(workspace)
    before: TableQuery | None = None
    try:
        for said in earlier:
            answer = read(said, files, before)
            before = answer.mapped.query if answer.mapped and not answer.why else before
        answer, alone = read(question, files, before), read(question, files)
    except TableError:
        return False
    if before is None or answer.mapped is None or answer.why:
        return False
    if before.source not in {one.query.source for one in (answer.mapped, *answer.versions)}:
        return False
    if answer.mapped.strange >= NARROWS:
        return False  # it is about something that the table doesn't have
    # One that says the same by itself is a question of its own.
    return bool(alone.why) or alone.mapped is None or alone.mapped.query != answer.mapped.query


def _ranked(candidates: Sequence[Mapped], subjects: Mapping[tuple[str, str], float]) -> list[Mapped]:
    """Return what was read, the best first; what has a column by its name is before what has one that means it.

    Args:
        candidates: what was read.
        subjects: what it adds where one of several tables is chosen that the question is near to what a table is of.
    """

    def rank(one: Mapped) -> float:
        return one.score + subjects.get(one.table.place, 0.0)

    def over(one: Mapped) -> float:
        better = (o for o in candidates if one.near & o.exact and one.exact <= o.exact and o.share >= one.share)
        return max([0.0, *(rank(one) - rank(other) + _OF_ITS_NAME for other in better)])

    ranked = [replace(one, score=one.score - over(one)) for one in candidates]
    ranked.sort(key=lambda one: (rank(one), one.sure), reverse=True)
    if ranked and ranked[0].unknown and not ranked[0].sure:  # what leaves no word out goes first
        least = rank(ranked[0]) - _COVERS
        ranked.sort(key=lambda one: one.sure and not one.unknown and rank(one) >= least, reverse=True)
    return ranked


def _newest(question: str, ranked: Sequence[Mapped]) -> tuple[list[Mapped], tuple[Mapped, ...]]:
    """Return what was read with one table for all versions of it, and the other versions of the best one.

    Tables with the same columns are versions of one another; the question means the one whose name it has more of,
    else one that isn't called old or a copy, else the one of the latest time.
    """
    said = set(words_of(question)) | {form for token in tokens(question) for form in token.forms}
    best = ranked[0]
    alike = [one for one in ranked if one.sure == best.sure and _same_columns(one.table, best.table)]
    family = [one for one in alike if {*one.unknown} <= {*best.unknown}]  # nothing that the best one has is lost
    if len(family) < 2:
        return list(ranked), ()

    def fits(one: Mapped) -> tuple[object, ...]:
        words = words_of(one.table.name)
        old = sum(word in lexicon().old for word in words)
        numbers = tuple(float(word) for word in re.findall(r"\d+", one.table.stem))
        return (sum(word in said for word in set(words)), -old, numbers)

    newest = max(family, key=fits)
    rest = [one for one in ranked if one not in family]
    return [newest, *rest], tuple(one for one in family if one is not newest)


def _versions(one: Mapped, tables: Sequence[Table]) -> tuple[Mapped, ...]:
    """Return the same query of the other tables with the columns that it uses and nearly all others."""
    beside = [t.only(one.query.names) for t in joined(tables)] if isinstance(one.table, Joined) else tables
    others = [t.making(one.query.made) for t in beside if t.place != one.table.place and _same_columns(t, one.table)]
    return tuple(
        replace(one, query=replace(one.query, source=other.file.path, sheet=other.sheet), table=other)
        for other in others
        if all(map(other.column, one.query.names))
    )


def _same_columns(one: Table, other: Table) -> bool:
    if isinstance(one, Joined) != isinstance(other, Joined):
        return False
    mine, its = ({column.name.casefold() for column in table.columns} for table in (one, other))
    return 3 * len(mine & its) >= 2 * max(len(mine), len(its)) and len(mine & its) > 1


def named_files(question: str, files: Sequence[TableFile]) -> tuple[list[TableFile], str]:
    """Return the files that a question names, the longest name first, or the name of one that isn't there."""
    said = question.casefold()
    for name in (lambda f: f.path, lambda f: PurePosixPath(f.path).name):
        if hit := _named_in(said, {name(f).casefold(): f for f in reversed(files)}):
            return hit, ""
    if missing := _NAMED.search(question):
        return [], missing.group()
    nouns = before_table_noun(question)
    parts = [word for word in re.findall(r"[a-z0-9]+(?:[_-][a-z0-9]+)+|[a-z]+\d\w*", said) if len(word) >= 5]
    listed = [f for f in files if any(likeness(n, word) >= 0.75 for n in nouns for word in words_of(_stem(f)))]
    begun = [f for f in files if any(_stem(f).startswith(part) for part in parts)]
    for few in (listed, begun):
        if len(few) == 1:
            return few, ""
    spoken = {_stem(f): f for f in reversed(files) if _spoken(_stem(f), said)}
    return _named_in(said, spoken) or [spoken[name] for name in sorted(spoken, key=len)[-1:]], ""


def _named_in(said: str, names: Mapping[str, TableFile]) -> list[TableFile]:
    """Return the files whose names stand in a text, other than within the name of another one."""
    found = []
    for name in sorted(names, key=len, reverse=True):
        if name in said:
            found.append(names[name])
            said = said.replace(name, " " * len(name))
    return found


def _blanked(question: str, name: str) -> str:
    """Return a question with a name blanked, so that its words aren't read as anything else."""
    return re.sub(re.escape(name), lambda found: " " * len(found[0]), question, flags=re.IGNORECASE)


def _is_written(file: TableFile, question: str) -> bool:
    """Whether a question has the name of a file with its ending."""
    return PurePosixPath(file.path).name.casefold() in question.casefold()


def _spoken(stem: str, question: str) -> bool:
    """Whether a question has a file's name without its ending: as written, or all its words in a row."""
    words = words_of(stem)
    in_words = len(words) > 1 and len(stem) > 8 and f" {' '.join(words)} " in f" {' '.join(words_of(question))} "
    written = re.search(rf"(?<![a-z0-9_]){re.escape(stem)}(?![a-z0-9_])", question)
    told = re.search(r"[_\d-]", stem) or (len(stem) > 6 and frequencies("en").get(stem, 0.0) < _EVERYDAY)
    return in_words or bool(written and told)


def _stem(file: TableFile) -> str:
    return file.stem.casefold()


def _continued(question: str, before: TableQuery, known: Profiles) -> Mapped | None:
    """Return the earlier query with what a further question says put in its place; None where it stands alone."""
    table = _table_of(before, known.tables)
    if table is None:
        return None
    reader = Reader(question, table, False)
    for one in _versions(Mapped(before, table, NEAR, own=True), known.tables):
        other = Reader(question, one.table, False)
        if any(likely >= CALLED and n not in reader.q.links.named for n, likely in other.q.links.named.items()):
            anew = [other.rating.rated(made) for made in other.continued(one.query)]
            return max(anew, key=lambda made: made.score, default=one)
    alone = reader.read()[0]
    others = [Reader(question, other, False).read()[0] for other in known.tables if other.place != table.place]
    elsewhere = max((one.score for one in others if one.sure and one.own), default=0.0)
    merged = [reader.rating.rated(one) for one in reader.continued(before)]
    for wide in (one for one in joined(known.tables) if one.place == table.place):
        if beside := _adding(question, wide, {table.place: reader.q.told}, True):
            other = Reader(question, wide.only(beside | before.names).making(before.made), False)
            anew = [other.rating.rated(one) for one in other.continued(before)]
            used = (replace(one, table=wide.only(one.query.names).making(one.query.made)) for one in anew)
            merged += [one for one in used if beside & one.query.names]
    best = max(merged, key=lambda one: one.score, default=None)
    names = any(not token.filler and n not in reader.q.operators for n, token in enumerate(reader.q.tokens))
    if names and elsewhere > max(alone.score, best.score if best else 0.0, 0.0) + 1.0 and elsewhere >= ENOUGH:
        return None
    if names and alone.sure and not (_GOES_ON.match(question) or _TAKES_OVER.search(question)):
        if reader.q.says_what_of(alone.query) and not OF_THEM.search(question):
            return None
        whole = _WHOLE.search(question) or any(is_past(word) for word in question.split())
        if alone.score >= _SAYS_ALL or (whole and alone.own and alone.counts and not OF_THEM.search(question)):
            return None
    if best is None or best.query == before:
        return replace(alone, query=before, missing="measure") if not alone.sure else None
    return best
