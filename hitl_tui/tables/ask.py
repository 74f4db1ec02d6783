"""Which table a question is about, its query, and what the query gives; or why there is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from hitl_tui.tables.engine import Result, TableError, engine, quote
from hitl_tui.tables.files import SUFFIXES, TableFile, table_files
from hitl_tui.tables.mapping import Mapped, Reader, before_table_noun
from hitl_tui.tables.profile import Profiles, Table, profiles
from hitl_tui.tables.query import TableQuery
from hitl_tui.tables.words import words_of

_NAMED = re.compile(
    r"[\w가-힣][\w가-힣.()-]*\.(?:" + "|".join(s[1:] for s in sorted(SUFFIXES, key=len, reverse=True)) + r")(?![a-z])",
    re.I,
)
_MAX_TABLES = 60
ENOUGH = 0.55
NEAR = 1.0
"""Score from which a question that isn't understood is told what the nearest table has."""
"""Score from which a question is about a table that it doesn't name."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question.

    Args:
        mapped: the query that was read; None where no table fits.
        result: its rows; None where it wasn't run.
        sql: what was run.
        why: why there is no result: `absent` (a file that isn't there), `unread`, `unsure`, `none`; else empty.
        named: what the question calls the table.
        choices: the nearest queries, best first.
        unread: table files that couldn't be read, and why.
        tables: all tables there are.
    """

    mapped: Mapped | None = None
    result: Result | None = None
    sql: str = ""
    why: str = ""
    named: str = ""
    choices: tuple[Mapped, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()


def read(question: str, files: Sequence[TableFile], before: TableQuery | None = None) -> Answer:
    """Return how a question reads as a query of one of some files; nothing is run.

    Args:
        question: a person's words.
        files: the tables of the workspace.
        before: the query that the question goes on from.
    """
    known = profiles(files)
    named, absent = _named(question, known, files)
    if absent:
        return Answer(why="absent", named=absent, unread=known.unread, tables=known.tables)
    bad = next(
        ((path, why) for path, why in known.unread if PurePosixPath(path).name.casefold() in question.casefold()), None
    )
    if bad:
        return Answer(why="unread", named=bad[0], unread=(bad,), tables=known.tables)
    if before is not None and not named:
        continued = _continued(question, before, known)
        if continued is not None:
            return Answer(continued, why="" if continued.sure else "unsure", tables=known.tables)
    candidates = [Reader(question, table, bool(named)).read() for table in (named or known.tables)[:_MAX_TABLES]]
    candidates = candidates if named else _weighed(candidates)
    ranked = sorted(candidates, key=lambda one: (one.score, one.sure), reverse=True)
    if not ranked or (not named and ranked[0].score < ENOUGH and not ranked[0].sure):
        return Answer(why="none", choices=tuple(ranked[:3]), unread=known.unread, tables=known.tables)
    best = ranked[0]
    rivals = [
        one for one in ranked[1:] if one.sure and one.score >= best.score - 0.05 and one.table.file != best.table.file
    ]
    if not best.sure or (not named and (rivals or best.score < ENOUGH or (not best.own and not best.query.filters))):
        return Answer(best, why="unsure", choices=(best, *ranked[1:3]), unread=known.unread, tables=known.tables)
    return Answer(best, unread=known.unread, tables=known.tables)


def ask(question: str, files: Sequence[TableFile], before: TableQuery | None = None) -> Answer:
    """Return how a question reads, and what that gives.

    Raises:
        TableError: DuckDB can't be started.
    """
    answer = read(question, files, before)
    if answer.mapped is None or answer.why:
        return answer
    return run(answer)


def run(answer: Answer) -> Answer:
    """Return an answer with the rows of its query.

    Raises:
        TableError: it can't be run.
    """
    assert answer.mapped is not None
    query, table = answer.mapped.query, answer.mapped.table
    sql = query.sql()
    with engine([table.file]) as opened:
        opened.load("source", table.file, table.sheet)
        opened.ask(f"CREATE VIEW t AS {table.sql.format(source=quote('source'))}")
        result = opened.ask(sql)
    return replace(answer, result=result, sql=sql)


def again(query: TableQuery, files: Sequence[TableFile]) -> Answer:
    """Return what a query that is known already gives.

    Raises:
        TableError: it can't be run.
    """
    known = profiles([file for file in files if file.path == query.source])
    table = next((table for table in known.tables if table.sheet == query.sheet), None)
    if table is None:
        return Answer(why="absent", named=query.source, unread=known.unread)
    return run(Answer(Mapped(query, table, 0.0), unread=known.unread, tables=known.tables))


def about_table(question: str, workspace: Path) -> bool:
    """Return whether a question is about a table of a folder: it names one, or reads as a query of one."""
    files = table_files(workspace)
    try:
        answer = read(question, files) if files else Answer(why="none")
    except TableError:
        return False
    if answer.why in ("", "absent", "unread"):
        return True
    best = answer.mapped
    return best is not None and answer.why == "unsure" and best.score >= NEAR and best.counts


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
        answer = read(question, files, before)
    except TableError:
        return False
    return (
        before is not None
        and answer.mapped is not None
        and answer.mapped.query.source == before.source
        and not answer.why
    )


def _weighed(candidates: Sequence[Mapped]) -> list[Mapped]:
    """Return what was read with less weight for what every table has."""
    positive = [{n for n, weight in one.weights.items() if weight > 0} for one in candidates]
    shared = Counter(n for one in positive for n in one)
    return [
        replace(one, score=one.score - sum(one.weights[n] * 0.6 * (1 - 1 / shared[n]) for n in mine))
        for one, mine in zip(candidates, positive, strict=True)
    ]


def _named(question: str, known: Profiles, files: Sequence[TableFile]) -> tuple[tuple[Table, ...], str]:
    """Return the tables of the file that a question names, and the name of one that isn't there."""
    said = question.casefold()
    for wanted in (lambda f: f.path, lambda f: PurePosixPath(f.path).name):
        hit = [file for file in files if wanted(file).casefold() in said]
        if hit:
            longest = max(hit, key=lambda f: len(wanted(f)))
            return tuple(t for t in known.tables if t.file == longest), ""
    missing = _NAMED.search(question)
    if missing:
        return (), missing.group()
    listed = [f for f in files if any(noun in words_of(_stem(f)) for noun in before_table_noun(question))]
    if len(listed) == 1:
        return tuple(t for t in known.tables if t.file == listed[0]), ""
    parts = [word for word in re.findall(r"[a-z0-9]+(?:[_-][a-z0-9]+)+|[a-z]+\d\w*", said) if len(word) >= 5]
    within = [f for f in files if any(_stem(f).startswith(part) for part in parts)]
    if len(within) == 1:
        return tuple(t for t in known.tables if t.file == within[0]), ""
    stems = [
        f
        for f in files
        if re.search(rf"(?<![a-z0-9_]){re.escape(_stem(f))}(?![a-z0-9_])", said)
        and re.search(r"[_\d-]|^.{7,}$", _stem(f))
    ]
    if stems:
        longest = max(stems, key=lambda f: len(_stem(f)))
        return tuple(t for t in known.tables if t.file == longest), ""
    return (), ""


def _stem(file: TableFile) -> str:
    return PurePosixPath(file.path).stem.casefold()


def _continued(question: str, before: TableQuery, known: Profiles) -> Mapped | None:
    """Return the earlier query with what a further question says put in its place; None where it stands alone."""
    table = next((t for t in known.tables if t.file.path == before.source and t.sheet == before.sheet), None)
    if table is None:
        return None
    reader = Reader(question, table, False)
    alone = reader.read()
    new = alone.query
    others = [Reader(question, other, False).read() for other in known.tables if other is not table]
    elsewhere = max((one.score for one in others if one.sure and one.own), default=0.0)
    if elsewhere > max(alone.score, 0.0) + 1.0 and elsewhere >= ENOUGH:
        return None
    replaced = {f.column for f in new.filters}
    merged = before
    if before.ends and new.filters and before.group not in replaced:
        pass
    kept = tuple(f for f in before.filters if f.column not in replaced and not _same_kind(f.column, replaced, table))
    within = before.within
    added = new.filters
    if within and any(f.column in {w.column for w in within} for f in new.filters):
        within = tuple(f for f in new.filters if f.column in {w.column for w in within})
        added = tuple(f for f in new.filters if f not in within)
    elif new.within:
        within = new.within
    merged = replace(before, filters=(*kept, *added), within=within)
    if (
        alone.missing != "measure"
        and (new.aggregate or new.order or new.shape in ("correlation", "change"))
        and alone.own
        and alone.score >= 1.5
    ):
        carried = tuple(f for f in kept if f.column not in {new.group, new.measure})
        merged = replace(new, filters=(*carried, *new.filters))
    elif (
        new.aggregate
        and new.aggregate != before.aggregate
        and before.shape in ("figure", "groups")
        and reader._aggregate() not in ("count", "")
    ):
        merged = replace(merged, aggregate=reader._aggregate())
    measure = reader.measure(replaced, again=True)
    if (
        measure
        and merged.shape != "share"
        and merged.measure != measure
        and not (merged is not before and merged.aggregate == "count" and reader.has("count"))
    ):
        reader.use_column(measure)
        aggregate = merged.aggregate
        if aggregate in ("", "count") and merged.shape != "rows":
            aggregate = "sum" if reader._additive(measure) else "average"
        columns = tuple(measure if c == before.measure else c for c in merged.columns)
        merged = replace(merged, measure=measure, aggregate=aggregate, columns=columns)
    if reader._superlative() and merged.order and not alone.query.order:
        merged = replace(merged, order="desc" if reader._descending() else "asc")
    elif reader._superlative() and merged.order:
        merged = replace(merged, order=alone.query.order)
    if new.group and merged.group != new.group:
        merged = replace(
            new,
            filters=merged.filters,
            measure=new.measure or before.measure,
            aggregate=new.aggregate if new.measure else before.aggregate or "count",
        )
    if merged.shape in ("groups", "change") and any(
        f.column == merged.group and len(f.values) == 1 and f.op in ("is", "has", "year") for f in added
    ):
        merged = replace(merged, shape="figure", group="", part="", order="", limit=0, ends=())
    if merged == before:
        return replace(alone, query=before, missing="measure") if not alone.sure else None
    return replace(reader._mapped(merged), missing="")


def _same_kind(column: str, replaced: set[str], table: Table) -> bool:
    """Whether a filter is of a time, and a new one is, too."""

    def time(name: str) -> bool:
        known = table.column(name)
        return known is not None and (known.kind == "date" or known.years)

    return time(column) and any(time(name) for name in replaced)
