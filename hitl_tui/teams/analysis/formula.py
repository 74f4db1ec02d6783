"""Amounts computed with: each formula is amounts with signs between them, and says what it gives with its unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_tui.teams.analysis.analysis_model import QUERY, Source, Step
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.number_format import exact, number, percent


def formula(
    what: str, amounts: Sequence[Amount], signs: str, language: str, sources: Sequence[Source] = (QUERY,)
) -> Step | None:
    """Return what amounts give with signs (`+−×÷`) between them; None where their units don't go together."""
    terms, names = list(amounts), list(signs)
    said = shown_amount(terms[0], language)
    said += "".join(f" {n} {shown_amount(a, language)}" for n, a in zip(names, terms[1:], strict=True))
    for level in ("×÷", "+−"):
        index = 0
        while index < len(names):
            if names[index] not in level:
                index += 1
                continue
            joined = _joined(terms[index], names[index], terms[index + 1])
            if joined is None:
                return None
            terms[index : index + 2] = [joined]
            del names[index]
    result = shown_amount(terms[0], language)
    return Step(what, f"{said} = {result}", result, exact(terms[0].value), tuple(sources))


def share(what: str, part: Amount, whole: Amount, language: str, sources: Sequence[Source] = (QUERY,)) -> Step:
    """Return which part one amount is of another, in percent."""
    ratio = part.value * 100 / whole.value
    said = f"{shown_amount(part, language)} ÷ {shown_amount(whole, language)} × 100"
    return Step(what, f"{said} = {percent(ratio)}", percent(ratio), exact(ratio), tuple(sources))


def growth(what: str, before: Amount, after: Amount, language: str, sources: Sequence[Source] = (QUERY,)) -> Step:
    """Return by how many percent an amount became another."""
    ratio = (after.value - before.value) * 100 / before.value
    old, new = shown_amount(before, language), shown_amount(after, language)
    said = f"({new} − {old}) ÷ {old} × 100 = {percent(ratio)}"
    return Step(what, said, percent(ratio), exact(ratio), tuple(sources))


def raised(
    what: str, before: Amount, by: Amount, direction: int, language: str, sources: Sequence[Source] = (QUERY,)
) -> tuple[Step, Amount]:
    """Return what an amount becomes when it rises (1) or falls (-1) by a share or by another amount."""
    sign, old = "+" if direction > 0 else "−", shown_amount(before, language)
    size = before.value * by.value / 100 if by.kind == "percent" else by.value
    after = replace(before, value=before.value + direction * size, scale=max(before.scale, by.scale), text="")
    new = shown_amount(after, language)
    said = f"(1 {sign} {number(by.value, 4)} ÷ 100)" if by.kind == "percent" else shown_amount(by, language)
    said = f"{old} {'×' if by.kind == 'percent' else sign} {said} = {new}"
    return Step(what, said, new, exact(after.value), tuple(sources)), after


def _joined(left: Amount, sign: str, right: Amount) -> Amount | None:
    """Return two amounts computed with; None where their units don't go together."""
    scale, same = max(left.scale, right.scale), (left.kind, left.unit) == (right.kind, right.unit)
    if sign in "+−":
        value = left.value + right.value if sign == "+" else left.value - right.value
        kind = "points" if left.kind == "percent" and sign == "−" else left.kind
        return Amount(kind, value, left.unit, "", 0, 0, scale) if same else None
    a, b = (Amount("count", x.value / 100, "", "", 0, 0) if x.kind == "percent" else x for x in (left, right))
    if sign == "×":
        whole = a if a.unit and (not b.unit or a.kind == "money") else b
        return Amount(whole.kind, a.value * b.value, whole.unit, "", 0, 0, scale)
    if not b.value or (b.unit and b.kind != "count" and not same):
        return None
    kind, unit = ("count", "") if same else (a.kind, a.unit)
    return Amount(kind, a.value / b.value, unit, "", 0, 0, scale)
