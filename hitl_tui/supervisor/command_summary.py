"""What declared commands did, told in the final answer from what they printed themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from hitl_tui.core.names import clip, step_name
from hitl_tui.core.safe_markdown import literal
from hitl_tui.teams.printed_deletions import deleted, deleted_count, deletion
from hitl_tui.teams.printed_figures import Difference, Figure, Run, differences, figures

Mark = Callable[[str], str]
"""How a text by others is written: as code, or plain."""

_LINE = 240
_FEW, _LAST = 3, 12
_MOST = 12
_MOST_GONE = 20
"""Names of deleted files that are listed."""

WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "done": "What was done",
            "by_hand": "a person said that it was done; its output is not known",
            "nothing": "printed nothing",
            "line": "1 line of output",
            "lines": "{count:,} lines of output",
            "span": "{count:,} lines of output: {first} … {last}",
            "total": "{count:,} lines of output: {last}",
            "compared": "compared with {before}",
            "less": "{label}: {before} before, {after} now: {apart} less",
            "greater": "{label}: {before} before, {after} now: {apart} more",
            "about": "about {apart}",
            "same": "unchanged: {labels}",
            "besides": "also printed: {labels}",
            "others": "{count:,} more figures changed",
            "gone": "and {count:,} more",
            "earlier": "{command}, before you went back",
        },
        "ko": {
            "done": "실행한 일",
            "by_hand": "사람이 완료했다고 확인함, 출력은 알 수 없음",
            "nothing": "출력 없음",
            "line": "출력 1줄",
            "lines": "출력 {count:,}줄",
            "span": "출력 {count:,}줄: {first} … {last}",
            "total": "출력 {count:,}줄: {last}",
            "compared": "{before} 때와 비교",
            "less": "{label}: 전 {before}, 후 {after}, {apart} 감소",
            "greater": "{label}: 전 {before}, 후 {after}, {apart} 증가",
            "about": "약 {apart}",
            "same": "변화 없음: {labels}",
            "besides": "그 밖의 출력: {labels}",
            "others": "그 밖에 달라진 수치 {count:,}개",
            "gone": "그 밖에 {count:,}개",
            "earlier": "{command}(복원 전)",
        },
    }
)


def worth_telling(runs: Sequence[Run]) -> bool:
    """Whether there is more to say than what one command printed."""
    return len(runs) > 1 or any(deleted(run) is not None for run in runs)


def told(runs: Sequence[Run], language: str, earlier: Collection[str] = ()) -> str:
    """Return a Markdown list of what each command did, with the differences between what they measured.

    Args:
        runs: in the order of the plan.
        language: `ko` or `en`; others get English.
        earlier: TODO ids of runs that are older than a restore: what they measured may not hold any more.
    """
    words = WORDS.get(language, WORDS["en"])
    found = differences(runs)
    lines = []
    for run in runs:
        apart = [difference for difference in found if difference.later == run.todo_id]
        said, under = _of_run(run, apart, runs, language)
        under = [*map(literal, run.met), *under]
        command = words["earlier"] if run.todo_id in earlier else "{command}"
        lines.append(f"- {command.format(command=code(run.command))}: {said}")
        lines += [f"  - {line}" for line in under]
    return f"**{words['done']}**\n\n" + "\n".join(lines)


def lines_of_run(run: Run, language: str) -> list[str]:
    """Return a Markdown list of what one command did by itself, with the names of what it deleted."""
    words = WORDS.get(language, WORDS["en"])
    said, under = _of_run(run, (), (run,), language)
    under = [*map(literal, (*run.missed, *run.met)), *under]
    gone = sorted(deleted(run) or ())
    if len(gone) > 1:
        under = [code(path) for path in gone[:_MOST_GONE]]
        if (rest := deleted_count(run) - len(under)) > 0:
            under.append(words["gone"].format(count=rest))
    return [f"- {step_name(run.todo_id)} {code(run.command)}: {said}", *(f"  - {line}" for line in under)]


def in_short(runs: Sequence[Run], language: str) -> list[str]:
    """Return what was deleted and what changed, or else what the last command printed first, without markup."""
    words = WORDS.get(language, WORDS["en"])
    said = [f"{run.command}: {text}" for run in runs for text in run.missed]
    said += [f"{run.command}: {gone}" for run in runs if (gone := deletion(run, language, plain))]
    said += [f"{run.command}: {text}" for run in runs for text in run.met]
    said += [_difference(d, words, plain) for d in differences(runs) if d.changed][:2]
    last = runs[-1]
    if not said and last.lines and not last.by_hand:
        said.append(f"{last.command}: {plain(last.lines[0])}")
    return said


def _of_run(run: Run, apart: Sequence[Difference], runs: Sequence[Run], language: str) -> tuple[str, list[str]]:
    """Return what stands beside a command's name, and the lines under it."""
    lines, words = run.lines, WORDS.get(language, WORDS["en"])
    if run.by_hand:
        return words["by_hand"], []
    if gone := deletion(run, language, code):
        return gone, []
    if apart:
        earlier = dict.fromkeys(d.earlier for d in apart)
        names = ", ".join(code(r.command) for r in runs if r.todo_id in earlier)
        told = {*run.judged, *(d.after.label for d in apart)}
        others = [_figure(one) for label, one in figures(run.output).items() if label not in told]
        besides = [words["besides"].format(labels=", ".join(others[:_MOST]))] if others else []
        return words["compared"].format(before=names), [*_differences(apart, words), *besides]
    if not lines:
        return words["nothing"], []
    count = run.line_count
    if count == 1:
        return code(lines[0]), []
    if count <= (_LAST if run is runs[-1] else _FEW):
        return words["lines"].format(count=count), [code(line) for line in lines]
    if any(d.earlier == run.todo_id for d in differences(runs)):
        return words["lines"].format(count=count), []
    total = next((line for line in reversed(lines) if line.split()[-1:] == ["total"]), "")  # as du and wc print it
    ends = {"first": code(lines[0]), "last": code(total or lines[-1])}
    return words["total" if total else "span"].format(count=count, **ends), []


def _differences(apart: Sequence[Difference], words: Mapping[str, str]) -> Iterator[str]:
    changed = [d for d in apart if d.changed]
    for difference in changed[:_MOST]:
        yield _difference(difference, words, code)
    if changed[_MOST:]:
        yield words["others"].format(count=len(changed) - _MOST)
    same = [_figure(d.after) for d in apart if not d.changed]
    if same:
        more = [f"… +{len(same) - _MOST}"] if len(same) > _MOST else []
        yield words["same"].format(labels=", ".join([*same[:_MOST], *more]))


def _figure(figure: Figure) -> str:
    return f"{code(figure.label)} ({figure.text})"


def _difference(difference: Difference, words: Mapping[str, str], shown: Mark) -> str:
    apart = difference.apart
    if difference.before.sized:
        apart = words["about"].format(apart=apart)
    less = difference.after.value < difference.before.value
    return words["less" if less else "greater"].format(
        label=shown(difference.after.label), before=difference.before.text, after=difference.after.text, apart=apart
    )


def plain(text: str) -> str:
    """Return a text on one line, bounded."""
    return clip(" ".join(text.split()), _LINE)


def code(text: str) -> str:
    """Return a text as code in a line of Markdown that nothing in it can end."""
    line = plain(text)
    ticks = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"
