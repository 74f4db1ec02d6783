"""Texts that fill in one form, such as a folder of invoices: each file is a row, each label a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

SUFFIXES = frozenset({".txt", ".md", ".text"})
MAX_BYTES = 20_000
"""Bytes of a text that can be one filled in form: a longer one is prose."""
_SAMPLED = 3
_LINE = re.compile(
    r"[-*•>\s]*(?:\*\*)?(?P<label>[^\W\d_][^:：|=*]{0,40}?)(?:\*\*)?\s*(?::(?:\*\*)?\s+|：(?:\*\*)?\s*)(?P<value>\S.*?)\s*$"
)
_AMOUNT = re.compile(
    r"(?P<before>[^\d\s.,+-]{1,3}\s?)?(?P<number>[+-]?\d[\d,]*(?:\.\d+)?)(?:\s?(?P<after>[^\d\s.,()]{1,8}))?"
    r"(?:\s*\([^()]*\))?"
)
_WORDS = 5
_SHARED = 2
"""Labels that texts have to have in common."""


def are_forms(paths: Sequence[Path]) -> bool:
    """Return whether texts look like filled in forms; only the first few are read."""
    if len(paths) < _SHARED:
        return False
    sampled = [_fields(path) for path in paths[:_SAMPLED]]
    known = Counter(label for fields in sampled for label in fields)
    return all(sampled) and sum(count >= min(2, len(sampled)) for count in known.values()) >= _SHARED


def form_rows(paths: Sequence[Path]) -> Iterator[list[str]]:
    """Yield a header and a row for each text that is a filled in form: what stands behind each label.

    A unit that all amounts of a label have goes into the header; a label that only a few texts have is left out.
    """
    forms = {path.name: fields for path in paths if (fields := _fields(path))}
    counted = Counter(label for fields in forms.values() for label in fields)
    labels = [label for label, count in counted.items() if 2 * count >= len(forms)]
    units = {label: _unit([fields[label] for fields in forms.values() if label in fields]) for label in labels}
    yield ["file", *(f"{label} ({units[label]})" if units[label] else label for label in labels)]
    for name, fields in forms.items():
        yield [name, *(_cell(fields.get(label, ""), units[label]) for label in labels)]


def _fields(path: Path) -> Mapping[str, str]:
    """Return what stands behind the labels of a text; nothing of one that is mostly something else."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        return {}
    found: dict[str, str] = {}
    labelled = 0
    for line in lines:
        match = _LINE.match(line)
        if match and len(match["label"].split()) <= _WORDS:
            labelled += 1
            found.setdefault(" ".join(match["label"].split()), match["value"])
    filled = sum(bool(line.strip()) and not line.lstrip().startswith(("#", "|")) for line in lines)
    return found if len(found) >= _SHARED and 2 * labelled >= filled else {}


def _unit(values: Sequence[str]) -> str:
    amounts = [_AMOUNT.fullmatch(value) for value in values]
    units = {((found["before"] or found["after"] or "").strip() if found else None) for found in amounts}
    only = units.pop() if len(units) == 1 else None
    return only or ""


def _cell(value: str, unit: str) -> str:
    found = _AMOUNT.fullmatch(value) if unit else None
    return found["number"] if found else value
