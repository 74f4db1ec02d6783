"""Whether the figures that a command printed are what its declaration expects. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from hitl_tui.config.figure_limits import PERCENT, FigureLimit, figure_names, figure_value
from hitl_tui.teams.printed_figures import Figure, figures

_HOLDS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "<": "below {}",
            "<=": "at most {}",
            ">": "above {}",
            ">=": "at least {}",
            "=": "{}",
            "met": "{figure} {value}, {limit} as expected",
            "missed": "{figure} {value}, NOT {limit}",
            "apart": "{figure} {value} can't be compared with the limit: {limit} is expected",
            "absent": "no single figure {figure} in the output: {limit} is expected",
            "unknown": "{figure} isn't known: {limit} is expected",
        },
        "ko": {
            "<": "{} 미만",
            "<=": "{} 이하",
            ">": "{} 초과",
            ">=": "{} 이상",
            "=": "{}",
            "met": "{figure} {value}, 기준({limit}) 충족",
            "missed": "{figure} {value}, 기준({limit}) 미충족",
            "apart": "{figure} {value}, 기준({limit})과 단위가 달라 비교할 수 없음",
            "absent": "출력에서 수치 {figure} 하나를 찾을 수 없음, 기준은 {limit}",
            "unknown": "{figure} 알 수 없음, 기준은 {limit}",
        },
    }
)


class Expected(NamedTuple):
    """How an expectation of a figure came out, in words; `met` is None where that can't be told."""

    figure: str
    met: bool | None
    said: str


def judged(expect: Mapping[str, FigureLimit], output: str | None, language: str) -> list[Expected]:
    """Return how each expectation came out, in the order of the declaration.

    Args:
        expect: limits by the names of figures.
        output: what was printed; None where that isn't known.
        language: `ko` or `en`.
    """
    found = {name.casefold(): figure for name, figure in figures(output, 0).items()} if expect and output else {}
    return [_judged(name, limit, found, output is not None, _WORDS[language]) for name, limit in expect.items()]


def _judged(
    name: str, limit: FigureLimit, found: Mapping[str, Figure], known: bool, words: Mapping[str, str]
) -> Expected:
    names = figure_names(name)
    figure = next((found[one.casefold()] for one in names if one.casefold() in found), None)
    wanted = words[limit.sign].format(_shown(limit.amount, limit.unit))
    if figure is None:
        said = words["absent" if known else "unknown"].format(figure=names[0], limit=wanted)
        return Expected(names[0], None, said)
    value = figure_value(limit.amount, limit.unit)
    alike = _kind(figure.unit) == _kind(limit.unit) or (not value and not limit.unit)
    met = _HOLDS[limit.sign](figure.value, value) if alike else None
    said = words["apart" if met is None else "met" if met else "missed"].format(
        figure=figure.label, value=_shown(figure.number, figure.unit), limit=wanted
    )
    return Expected(figure.label, met, said)


def _kind(unit: str) -> str:
    return unit if unit in ("", PERCENT) else "data"


def _shown(number: str, unit: str) -> str:
    """Return a figure as people write it: `3.5 MB` for `3.5M`."""
    if not unit or unit == PERCENT:
        return number + unit
    return f"{number} {unit if unit.endswith('B') else f'{unit}B'}"
