"""The steps of a table: totals first where they are asked for, what is best, and plain statistics."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hitl_tui.teams.analysis.analysis_model import Step
from hitl_tui.teams.analysis.calendar_dates import relative
from hitl_tui.teams.analysis.computation_steps import say
from hitl_tui.teams.analysis.csv_tables import Best, ColumnStats, TableSummary
from hitl_tui.teams.contract import Citation
from hitl_tui.teams.number_format import exact, number, shown
from hitl_tui.teams.printed_figures import Run, differences

_MEASURED = 12
"""Figures measured before and after that an analysis shows."""


def table_steps(summary: TableSummary, language: str) -> list[Step]:
    """Return one step for each figure a question asks of a table.

    Sums come first where they are asked for, all rows together and each group by itself; then what is best; then the
    statistics of each column, where the question asks for an average or says nothing else.
    """
    source = Citation(summary.path, summary.first_line, summary.last_line, "; ".join(summary.filters))
    together, groups = ([s for s in summary.stats if bool(s.group) is grouped] for grouped in (False, True))
    best = [_best(one, summary, source, language) for one in summary.best if one.column]
    steps = []
    if summary.totals:
        steps = [_total(stat, summary, source, language) for stat in together]
        parts = [_total(stat, summary, source, language) for stat in groups]
        # Many parts would push what is best out of the answer.
        steps += [*parts, *best] if len(parts) <= 3 else [*best, *parts]
    else:
        steps = best
    if summary.averages:
        two = _two(groups)
        # What two things have in common says nothing of how they differ.
        stats = [s for s in together if s.column not in two or s.count > 2] + groups if two else summary.stats
        steps += [_statistics(stat, summary, source, language) for stat in stats]
        steps += [step for pair in two.values() for step in _apart(*pair, source, language)]
    return steps


def _two(groups: Sequence[ColumnStats]) -> dict[str, tuple[ColumnStats, ColumnStats]]:
    """Return the figures of the two groups, by column; empty where there are more or fewer."""
    names = tuple(dict.fromkeys(stat.group for stat in groups))
    if len(names) != 2:
        return {}
    found = {column: [s for s in groups if s.column == column] for column in dict.fromkeys(s.column for s in groups)}
    return {column: (pair[0], pair[1]) for column, pair in found.items() if len(pair) == 2}


def _apart(one: ColumnStats, other: ColumnStats, source: Citation, language: str) -> list[Step]:
    """Return how far two groups are apart in a column: by their values, or by their means where they have several."""
    low, high = sorted((one, other), key=lambda stat: stat.mean)
    single = one.count == other.count == 1
    name = one.column if single else say(language, f"{one.column} 평균", f"mean of {one.column}")
    pair = f"{high.group} − {low.group}"

    def text(value: Fraction, kind: str, unit: str) -> str:
        return shown(value, kind, unit, language)

    kind, unit = ("points", "%p") if one.kind == "percent" else (one.kind, one.unit)
    old, new = (text(stat.mean, stat.kind, stat.unit) for stat in (low, high))
    difference = high.mean - low.mean
    value = text(difference, kind, unit)
    what = say(language, f"{name}의 차이, {pair}", f"Difference in {name}, {pair}")
    steps = [Step(what, f"{new} − {old} = {value}", value, exact(difference), (source,))]
    if low.mean > 0 and difference:
        ratio = high.mean / low.mean
        times = number(ratio) + say(language, "배", " times")
        pair = f"{high.group} ÷ {low.group}"
        what = say(language, f"{name}의 배율, {pair}", f"Ratio of {name}, {pair}")
        steps.append(Step(what, f"{new} ÷ {old} = {times}", times, exact(ratio), (source,)))
    return steps


def measured_steps(runs: Sequence[Run], language: str) -> list[Step]:
    """Return one step for each figure that commands printed before and after, and that is another now.

    Args:
        runs: in the order of the plan.
        language: `ko` or `en`.
    """
    steps: list[Step] = []
    for found in differences(runs):
        if not found.changed or len(steps) == _MEASURED:
            continue
        low, high = sorted((found.before, found.after), key=lambda figure: figure.value)
        about = say(language, "약 ", "about ") if found.before.sized else ""
        less = found.after.value < found.before.value
        side = say(language, "감소", "less") if less else say(language, "증가", "more")
        what = say(language, f"{found.after.label}, 전후 차이", f"{found.after.label}, before and after")
        formula = f"{high.text} − {low.text} = {about}{found.apart}"
        value = f"{about}{found.apart} {side} ({found.before.text} → {found.after.text})"
        sources = (found.earlier, found.later)
        steps.append(Step(what, formula, value, exact(found.after.value - found.before.value), sources))
    return steps


def not_compared(summaries: Sequence[TableSummary], language: str) -> list[str]:
    """Return a sentence for each question of what is best that no table answers, and for each period none has."""
    answered = {(one.asked, one.highest) for summary in summaries for one in summary.best if one.column}
    said: dict[tuple[str, bool], str] = {}
    for summary in summaries:
        for one in summary.best:
            if not one.column and (one.asked, one.highest) not in answered:
                said.setdefault((one.asked, one.highest), _why(one, summary.path, language))
    return [*_out_of_time(summaries, language), *said.values()]


def _out_of_time(summaries: Sequence[TableSummary], language: str) -> list[str]:
    """Return a sentence for each period that is asked about and that rows could not be chosen by."""
    said = []
    for summary in summaries:
        path, period, column = summary.path, summary.period, summary.dated
        if period and column and relative(period) == period:
            text = say(
                language,
                f'계산하지 않음: "{period}"의 연도와 월을 알 수 없습니다. {path}의 {column} 열에 있는 대로 쓰세요.',
                f'Not computed: it isn\'t known when "{period}" is; ask by a year and month as {column} in {path} has.',
            )
        elif period and column:
            text = say(
                language,
                f'계산하지 않음: {path}에 "{period}"에 해당하는 행이 없습니다({column} 열 기준).',
                f'Not computed: {path} has no row of "{period}" by its column {column}.',
            )
        elif period and summary.stats:
            text = say(
                language,
                f'{path}에 날짜 열이 없어 "{period}"만 고르지 못했습니다. 수치는 표의 모든 기간을 합친 것입니다.',
                f'{path} has no column of dates, so "{period}" could not be chosen: its figures are of all rows.',
            )
        else:
            continue
        said.append(text)
    return said


def _why(one: Best, path: str, language: str) -> str:
    columns = ", ".join(one.columns)
    if one.missing == "column":
        why = say(
            language,
            f'{path}에 "{one.asked}" 열이 없습니다. 있는 열: {columns}.',
            f'{path} has no column "{one.asked}"; it has {columns}.',
        )
    elif columns:
        why = say(
            language,
            f"무엇을 기준으로 할지 질문에 없습니다. {path}에 있는 수치: {columns}.",
            f"the question doesn't say by what; {path} has {columns}.",
        )
    else:
        why = say(language, f"{path}에 비교할 수치가 없습니다.", f"{path} has no figures to compare.")
    return say(language, f'계산하지 않음: "{one.said}". {why}', f'Not computed: "{one.said}": {why}')


def _side(one: Best, language: str) -> str:
    return say(language, "가장 높은", "highest") if one.highest else say(language, "가장 낮은", "lowest")


def _rows(stat: ColumnStats, summary: TableSummary, language: str) -> str:
    """Return which rows a figure is of, and how many."""
    rows = stat.group or _chosen(summary) or say(language, "모든 행", "all rows")
    sample = say(language, ", 표본 자료", ", sample data") if summary.sample else ""
    counted = "1 row" if stat.count == 1 else f"{stat.count} rows"
    return say(language, f"{rows}({stat.count}행{sample})", f"{rows} ({counted}{sample})")


def _chosen(summary: TableSummary) -> str:
    return ", ".join(item.split(" = ", 1)[1] for item in summary.filters)


def _total(stat: ColumnStats, summary: TableSummary, source: Citation, language: str) -> Step:
    total = shown(stat.total, stat.kind, stat.unit, language)
    rows = _rows(stat, summary, language)
    what = say(language, f"{stat.column} 합계, {rows}", f"Total of {stat.column}, {rows}")
    counted = "1 value" if stat.count == 1 else f"{stat.count} values"
    formula = say(language, f"값 {stat.count}개의 합 = {total}", f"sum of {counted} = {total}")
    return Step(what, formula, total, exact(stat.total), (source,))


def _best(one: Best, summary: TableSummary, source: Citation, language: str) -> Step:
    total = shown(Fraction(one.total), one.kind, one.unit, language)
    side = _side(one, language)
    rows = _chosen(summary)
    sample = say(language, "표본 자료", "sample data") if summary.sample else ""
    of = ", ".join(part for part in (rows, sample) if part)
    of = f" ({of})" if of else ""
    what = say(language, f"{one.by} 합계가 {side} {one.column}{of}", f"{one.column} with the {side} {one.by}{of}")
    sums = "; ".join(f"{value}: {shown(Fraction(sum_), one.kind, one.unit, language)}" for value, sum_ in one.sums)
    more = one.groups - len(one.sums)
    formula = sums + (say(language, f"; 그 밖에 {more}개", f"; and {more} more") if more else "")
    return Step(what, formula, f"{', '.join(one.values)} ({total})", one.total, (source,))


def _statistics(stat: ColumnStats, summary: TableSummary, source: Citation, language: str) -> Step:
    def text(value: Fraction) -> str:
        return shown(value, stat.kind, stat.unit, language)

    mean = text(stat.mean)
    rows = _rows(stat, summary, language)
    if stat.count == 1:
        # The mean of one value is no news.
        return Step(f"{stat.column}, {rows}", mean, mean, exact(stat.mean), (source,))
    formula = say(language, "평균", "mean") + f" = {text(stat.total)} ÷ {stat.count} = {mean}"
    value = say(
        language,
        f"평균 {mean}, 중앙값 {text(stat.middle)}, 최소 {text(stat.low)}, 최대 {text(stat.high)}",
        f"mean {mean}, median {text(stat.middle)}, lowest {text(stat.low)}, highest {text(stat.high)}",
    )
    return Step(f"{stat.column}, {rows}", formula, value, exact(stat.mean), (source,))
