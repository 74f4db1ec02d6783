"""Amounts computed with: a formula is amounts with signs between them, and its outcome has their unit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hitl_tui.teams.analysis.analysis_model import Step
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.number_format import exact


def step(what: str, said: str, amount: Amount, language: str) -> Step:
    """Return a computation by its formula in words and what it gives."""
    result = shown_amount(amount, language)
    return Step(what, f"{said} = {result}", result, exact(amount.value))


def formula(what: str, amounts: Sequence[Amount], signs: str, language: str) -> Step | None:
    """Return what amounts give with signs (`+−×÷`) between them; None where their units don't go together."""
    terms, names = list(amounts), list(signs)
    said = shown_amount(terms[0], language)
    said += "".join(f" {n} {shown_amount(a, language)}" for n, a in zip(names, terms[1:], strict=True))
    for level in ("×÷", "+−"):
        while (index := next((n for n, name in enumerate(names) if name in level), None)) is not None:
            joined = _joined(terms[index], names.pop(index), terms.pop(index + 1))
            if joined is None:
                return None
            terms[index] = joined
    return step(what, said, terms[0], language)


def part(share: Fraction) -> Amount:
    """Return a fraction as a percentage."""
    return Amount("percent", share * 100, "%", "", 0, 0)


def _joined(left: Amount, sign: str, right: Amount) -> Amount | None:
    scale, same = max(left.scale, right.scale), (left.kind, left.unit) == (right.kind, right.unit)
    if sign in "+−":
        value = left.value + right.value if sign == "+" else left.value - right.value
        kind = "points" if left.kind == "percent" and sign == "−" else left.kind
        return Amount(kind, value, left.unit, "", 0, 0, scale) if same else None
    a, b = (Amount("count", x.value / 100, "", "", 0, 0) if x.kind == "percent" else x for x in (left, right))
    if sign == "×":
        whole = b if b.kind == "money" or not a.unit else a
        return Amount(whole.kind, a.value * b.value, whole.unit, "", 0, 0, scale)
    kind, unit = ("count", "") if same else (a.kind, a.unit)
    return Amount(kind, a.value / b.value, unit, "", 0, 0, scale) if b.value and (same or not b.unit) else None
