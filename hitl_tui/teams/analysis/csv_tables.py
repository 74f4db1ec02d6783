"""CSV tables as they are read, and what a question asks of one besides its statistics: totals, the best value."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hitl_tui.core.messages import Message

TOTAL = re.compile(
    r"합계|총합|총액|합산|총계|(?<![가-힣])총\s?(?!무|괄|리|장|회|선|알)[가-힣]|전부\s?얼마|모두\s?(?:얼마|몇|합)|다\s?합|"
    r"(?<![a-z])(?:sums?|totals?|altogether|in\sall|add(?:ed)?\s(?:up|together))(?![a-z])",
    re.IGNORECASE,
)
MEAN = re.compile(
    r"평균|중앙값|통계|분포|시세|(?<![a-z])(?:averages?|means?|medians?|statistics|typical)(?![a-z])", re.IGNORECASE
)
_HIGH = (
    r"best|highest|most|largest|biggest|greatest|strongest|maximum|max|top|peak|longest|richest|busiest|"
    r"most\sexpensive|dearest"
)
_LOW = r"worst|lowest|least|fewest|smallest|weakest|minimum|min|slowest|cheapest|poorest|shortest"
_WHICH_EN = re.compile(
    rf"(?<![a-z])(?:which|what|on\swhich|in\swhich)\s(?P<what>(?:(?!which|what)[\w-]{{1,30}}\s){{1,3}}?)(?P<rest>(?:(?!which|what)[^.?!;\n]){{0,80}}?)"
    rf"(?<![a-z])(?:(?P<high>{_HIGH})|(?P<low>{_LOW}))(?![a-z])(?P<after>(?:(?!which|what)[^.?!;,\n]){{0,60}})",
    re.IGNORECASE,
)
_HIGH_KO = r"(?:가장|제일)\s?(?:많|높|크|큰|좋|잘|비싸|비싼|길|긴)|최고|최대|최다"
_LOW_KO = r"(?:가장|제일)\s?(?:적|낮|작|나쁘|나쁜|못|안|싸|싼|짧)|최저|최소|최악"
_WHICH_KO = re.compile(
    rf"(?:(?:어느|어떤|무슨|몇)\s?(?P<what>[가-힣A-Za-z_]{{1,20}})(?P<rest>[^.?!;\n]{{0,40}}?)(?:(?P<high>{_HIGH_KO})|(?P<low>{_LOW_KO}))[^.?!;,\n]{{0,30}}"
    rf"|(?:(?P<high2>{_HIGH_KO})|(?P<low2>{_LOW_KO}))(?P<rest2>[^.?!;\n]{{0,20}}?)\s(?P<what2>[가-힣A-Za-z_]{{1,20}}?)"
    rf"(?:은|는|이|가)?\s?(?:어느|언제|무엇|뭐|어디|누구|몇|\?|$))",
    re.IGNORECASE,
)
_WHEN_KO = re.compile(rf"언제(?P<rest>[^.?!;\n]{{0,40}}?)(?:(?P<high>{_HIGH_KO})|(?P<low>{_LOW_KO}))", re.IGNORECASE)
_PARTICLE = re.compile(r"(?<=[가-힣])(?:에서|에는|에|은|는|이|가|의|을|를|별로|별|들)$")

_SMALL = frozenset(["of", "the", "these", "those", "our", "my", "a", "an", "all", "one", "single"])
_VERBS = frozenset(
    ["is", "are", "was", "were", "be", "has", "have", "had", "did", "do", "does", "can", "would", "will", "should"]
)
_SAME: tuple[frozenset[str], ...] = (
    frozenset(["day", "date", "날", "날짜", "일자", "일", "요일"]),
    frozenset(["month", "달", "월"]),
    frozenset(["year", "해", "년", "연도"]),
    frozenset(["item", "product", "article", "품목", "상품", "제품", "물건", "메뉴"]),
    frozenset(["district", "area", "region", "구", "지역", "동네"]),
    frozenset(["customer", "client", "고객", "손님"]),
    frozenset(["name", "이름"]),
    frozenset(["shop", "store", "branch", "매장", "가게", "지점", "점포"]),
    frozenset(["category", "kind", "type", "분류", "종류", "유형"]),
    frozenset(["revenue", "sales", "turnover", "income", "매출", "매출액", "판매액"]),
    frozenset(["units", "quantity", "qty", "pieces", "수량", "판매량", "개수"]),
    frozenset(["price", "가격", "단가", "값"]),
    frozenset(["cost", "costs", "expense", "비용", "원가", "지출"]),
    frozenset(["profit", "이익", "수익"]),
    frozenset(["amount", "금액", "액수"]),
)
"""Words that a header and a question may use for the same."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A question for the value of a column that is best by another.

    Args:
        what: what is asked for, as the question calls it.
        highest: the highest is asked for, not the lowest.
        said: the words that ask it, which may name the column to judge by.
        certain: a column is surely meant, so that it is said where there is none.
    """

    what: str
    highest: bool
    said: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Best:
    """The value of a column that is best, by the sum of another over its rows.

    Args:
        asked: what the question calls the column.
        highest: the highest was asked for, not the lowest.
        said: the words that asked it.
        column: the column whose values were compared; empty where nothing could be.
        values: those that are best; several that are equal.
        by: the column that was summed.
        total: the sum, exact.
        kind, unit: of the sum.
        groups: how many values were compared.
        sums: the first of them with their sums, best first.
        missing: where nothing was compared what there isn't: `column` to compare, or `measure` to judge by.
        columns: the columns that there are instead.
    """

    asked: str
    highest: bool
    said: str
    column: str = ""
    values: tuple[str, ...] = ()
    by: str = ""
    total: str = "0"
    kind: str = "count"
    unit: str = ""
    groups: int = 0
    sums: tuple[tuple[str, str], ...] = ()
    missing: str = ""
    columns: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "asked": self.asked,
            "highest": self.highest,
            "said": self.said,
            "column": self.column,
            "values": list(self.values),
            "by": self.by,
            "total": self.total,
            "kind": self.kind,
            "unit": self.unit,
            "groups": self.groups,
            "sums": [list(pair) for pair in self.sums],
            "missing": self.missing,
            "columns": list(self.columns),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Best:
        return cls(
            asked=str(data["asked"]),
            highest=bool(data["highest"]),
            said=str(data["said"]),
            column=str(data["column"]),
            values=tuple(map(str, data["values"])),
            by=str(data["by"]),
            total=str(data["total"]),
            kind=str(data["kind"]),
            unit=str(data["unit"]),
            groups=int(data["groups"]),
            sums=tuple((str(value), str(total)) for value, total in data["sums"]),
            missing=str(data["missing"]),
            columns=tuple(map(str, data["columns"])),
        )


def rankings(query: str) -> tuple[Ranking, ...]:
    """Return the questions for what is best or worst, in order."""
    found = []
    for match in _WHICH_EN.finditer(query):
        words = [word for word in f"{match['what']}{match['rest']}".casefold().split() if word not in _SMALL]
        rest = [word for word in match["after"].casefold().split() if word not in _SMALL]
        certain = bool(words) and words[0] not in _VERBS and not match.group().casefold().startswith("what")
        what = words[0] if words and words[0] not in _VERBS else rest[0] if rest else ""
        if what:
            found.append(Ranking(what, match["high"] is not None, match.group(), certain))
    for match in _WHICH_KO.finditer(query):
        parts = match.groupdict()
        what = _PARTICLE.sub("", parts["what"] or parts["what2"])
        highest, certain = bool(parts["high"] or parts["high2"]), parts["what"] is not None
        # 가장 높은 달과 지점: each of them by itself.
        beside = [word[:-1] for word in (parts["rest2"] or "").split() if len(word) > 1 and word[-1] in "과와"]
        found += [Ranking(word, highest, match.group(), certain) for word in (*beside, what)]
    if not found:
        found = [Ranking("날", match["high"] is not None, match.group(), False) for match in _WHEN_KO.finditer(query)]
    return tuple(found)


def column_called(word: str, names: Mapping[int, str]) -> int | None:
    """Return the column that a word of a question means: by its name, its plural, or a word for the same."""
    said = _forms(word)
    for index, name in names.items():
        if said & {form for part in (name, *re.split(r"[\s_-]+", name)) for form in _forms(part)}:
            return index
    return None


def named_in(text: str, names: Mapping[int, str]) -> list[int]:
    """Return the columns that a text names, by themselves or by a word for the same."""
    asked = text.casefold()
    found = []
    for index, name in names.items():
        forms = {form for form in _forms(name) if len(form) >= 2}
        if any(_stands_in(form, asked) for form in forms):
            found.append(index)
    return found


def _stands_in(word: str, text: str) -> bool:
    if not word.isascii():
        return word in text
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None


def _forms(word: str) -> frozenset[str]:
    plain = word.casefold().strip()
    singular = plain.removesuffix("s") if len(plain) > 3 else plain
    same = (group for group in _SAME if plain in group or singular in group)
    return frozenset({plain, singular}.union(*same))


def statistics_asked(query: str) -> tuple[bool, bool]:
    """Return whether a question asks for totals, and whether for averages."""
    return TOTAL.search(query) is not None, MEAN.search(query) is not None


MAX_ROWS = 200_000
_SAMPLE = re.compile(r"(?<![a-z])sample|표본\s?자료|가상|예시|샘플", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file.

    Args:
        path: relative to the workspace.
        header: column names.
        rows: cells of the data rows, each as long as the header.
        lines: line number of each row, counted from 1.
        sample: the file says of itself that it is sample data.
    """

    path: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    sample: bool


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Statistics of one numeric column, all in `unit`.

    Args:
        column: its name without the unit.
        group: the group's value, or empty for all rows chosen.
        kind: an `Amount` kind.
        unit: an `Amount` unit.
        count: number of cells that hold a number.
        total: their sum, exact.
        low: smallest.
        high: largest.
        middle: median.
    """

    column: str
    group: str
    kind: str
    unit: str
    count: int
    total: Fraction
    low: Fraction
    high: Fraction
    middle: Fraction

    @property
    def mean(self) -> Fraction:
        """Sum through count."""
        return self.total / self.count

    def to_dict(self) -> dict[str, Any]:
        exact = {"total": self.total, "low": self.low, "high": self.high, "middle": self.middle}
        return {
            "column": self.column,
            "group": self.group,
            "kind": self.kind,
            "unit": self.unit,
            "count": self.count,
            **{name: str(value) for name, value in exact.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ColumnStats:
        return cls(
            column=str(data["column"]),
            group=str(data["group"]),
            kind=str(data["kind"]),
            unit=str(data["unit"]),
            count=int(data["count"]),
            total=Fraction(data["total"]),
            low=Fraction(data["low"]),
            high=Fraction(data["high"]),
            middle=Fraction(data["middle"]),
        )


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What a table says to a question.

    Args:
        path: the file.
        row_count: rows in the file.
        chosen: rows the question names.
        filters: the values it names, as `column = value`.
        first_line: line of the first chosen row.
        last_line: line of the last chosen row.
        grouped_by: the column the statistics are grouped by, or empty.
        stats: the statistics.
        sample: the file says that it is sample data.
        totals: the question asks for sums.
        averages: it asks for averages or gives no hint what else.
        best: what it asks to be compared.
        period: the words of a period that it asks about and no rows could be chosen by; empty where there are none.
        dated: name of the column that says when a row is; empty where none does.
    """

    path: str
    row_count: int
    chosen: int
    filters: tuple[str, ...]
    first_line: int
    last_line: int
    grouped_by: str
    stats: tuple[ColumnStats, ...]
    sample: bool
    totals: bool = False
    averages: bool = True
    best: tuple[Best, ...] = ()
    period: str = ""
    dated: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "row_count": self.row_count,
            "chosen": self.chosen,
            "filters": list(self.filters),
            "first_line": self.first_line,
            "last_line": self.last_line,
            "grouped_by": self.grouped_by,
            "stats": [stat.to_dict() for stat in self.stats],
            "sample": self.sample,
            "totals": self.totals,
            "averages": self.averages,
            "best": [best.to_dict() for best in self.best],
            "period": self.period,
            "dated": self.dated,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TableSummary:
        return cls(
            path=str(data["path"]),
            row_count=int(data["row_count"]),
            chosen=int(data["chosen"]),
            filters=tuple(str(item) for item in data["filters"]),
            first_line=int(data["first_line"]),
            last_line=int(data["last_line"]),
            grouped_by=str(data["grouped_by"]),
            stats=tuple(ColumnStats.from_dict(item) for item in data["stats"]),
            sample=bool(data["sample"]),
            totals=bool(data.get("totals", False)),
            averages=bool(data.get("averages", True)),
            best=tuple(Best.from_dict(item) for item in data.get("best", ())),
            period=str(data.get("period", "")),
            dated=str(data.get("dated", "")),
        )


def parse_table(text: str, path: str) -> Table:
    """Read a CSV text (comma, semicolon or tab); short rows are filled, long ones cut, at most 200,000 rows.

    Raises:
        ValueError: it has no header with two columns, or isn't CSV; the message names the file.
    """
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text.replace("\0", ""), newline=""), delimiter=delimiter)
    header: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    line = 1
    try:
        for cells in reader:
            begin, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = tuple(cell.strip() for cell in cells)
                continue
            rows.append(tuple(cell.strip() for cell in [*cells, *[""] * len(header)][: len(header)]))
            lines.append(begin)
            if len(rows) >= MAX_ROWS:
                break
    except csv.Error as error:
        raise ValueError(Message("{} can't be read as a table: {}.", path, error)) from error
    if len(header) < 2:
        raise ValueError(Message("{} is no table with a header of two or more columns.", path))
    head = " ".join([path, *header, *(cell for row in rows[:3] for cell in row)])
    return Table(path, header, tuple(rows), tuple(lines), bool(_SAMPLE.search(head)))
