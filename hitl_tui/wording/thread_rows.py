"""A foreign checkpoint store in words: what a moment was, who asked, what differs. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hitl_tui.core.json_types import Json
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import mark, safe_message
from hitl_tui.terminal.ascii_signs import _, ngettext
from hitl_tui.threads.channel_values import asked_words
from hitl_tui.threads.state_diff import ABSENT
from hitl_tui.wording.difference_rows import more_rows, value_row
from hitl_tui.wording.rows import Row, in_line, joined, labelled, short, styled, text_row
from hitl_tui.wording.status_words import history_said
from hitl_tui.wording.times import clock_words, day_words, second_words

if TYPE_CHECKING:
    from hitl_tui.threads.state_diff import ValueChange
    from hitl_tui.threads.thread_model import CheckpointInfo, FullCheckpoint, Namespace, Question, TaskInfo, ThreadInfo

MOST_ROWS = 300
"""Differences, tasks or writes that are listed; the rest is counted."""
_TREE_TEXT = 4_000
_WHOLE_TEXT = 200_000
_KNOWN = frozenset({"source", "step", "parents", "counters_since_delta_snapshot"})


def name_of(info: CheckpointInfo) -> str:
    """Return a checkpoint's name among others: superstep, node, time."""
    return f"{info.step} {in_line(info.node)} {clock_words(info.timestamp)}"


def where_words(info: CheckpointInfo, number: int, total: int, *, ours: bool) -> str:
    """Return where a checkpoint is in one line."""
    parts = [
        _("{number} of {total}").format(number=number, total=total),
        _("next: {node}").format(node=in_line(info.node)) if info.node != "end" else _("end"),
        day_words(info.timestamp),
        _("on the current line") if ours else _("ON A BRANCH THAT WAS LEFT"),
    ]
    return joined(*parts)


def asked_line(moment: FullCheckpoint) -> str:
    """Return what a moment asks, in one line; what led to its end when it asks nothing."""
    broken = {t.node for t in moment.tasks if t.error}
    waiting = [q for q in moment.questions if q.pending and q.node not in broken]
    if waiting:
        more = _("  (and {n} more)").format(n=len(waiting) - 1) if len(waiting) > 1 else ""
        what = short(asked_words(waiting[0].value))
        return _("? {node} asks: {what}").format(node=in_line(waiting[0].node), what=what) + more
    if failed := [t for t in moment.tasks if t.error]:
        return _("✗ {node} failed: {why}").format(node=in_line(failed[0].node), why=short(failed[0].error))
    if moment.questions:
        return _("it asked here, and was answered")
    return _("nothing was asked here")


def moment_rows(
    info: CheckpointInfo,
    moment: FullCheckpoint,
    led: Sequence[TaskInfo],
    edited: Sequence[ValueChange],
    spaces: Sequence[Namespace],
    *,
    ours: bool,
) -> list[Row]:
    """Return what is known of a moment: questions first, then what ran to it and from it, then where it is.

    Args:
        info: the checkpoint.
        moment: all of it.
        led: what ran from the checkpoint before, and so led here.
        edited: what an edit of the checkpoint before changed, and so led here.
        spaces: subgraphs that ran from here.
        ours: the thread's head came from it.
    """
    rows = [row for question in moment.questions for row in _question_rows(question)]
    rows += [note_row(note) for note in moment.notes]
    rows += list(_task_rows(_("led here"), led))
    rows += [labelled(_("led here"), _("an edit of the state"), "bold")] if edited else []
    rows += [value_row(change, "  ") for change in edited[:MOST_ROWS]] + more_rows(len(edited), MOST_ROWS)
    rows += list(_task_rows(_("then ran"), moment.tasks))
    rows += [
        labelled(_("subgraph"), " › ".join(map(in_line, n.nodes)) + f" · {count_of(n)}") for n in spaces[:MOST_ROWS]
    ]
    rows.append(text_row(""))
    following = ", ".join(in_line(n) for n in moment.next) or _("nothing: the graph had ended")
    rows.append(labelled(_("next"), following))
    how = {"input": _("input came in"), "loop": _("a step of the graph"), "update": _("the state was edited")}
    how["fork"] = _("a copy of an earlier checkpoint")
    rows.append(labelled(_("origin"), how.get(info.source, in_line(info.source))))
    line_words = _("on the current line") if ours else _("on a branch that was left")
    superstep = _("superstep {step}").format(step=info.step)
    rows.append(labelled(_("where"), f"{day_words(moment.at)} · {superstep} · {line_words}"))
    rows.append(labelled(_("id"), in_line(info.checkpoint_id)))
    if info.parent_id:
        rows.append(labelled(_("from"), in_line(info.parent_id)))
    rows += [labelled(in_line(str(k)), short(v)) for k, v in moment.metadata.items() if k not in _KNOWN]
    return rows


def count_of(space: Namespace) -> str:
    """Return how many checkpoints a subgraph has."""
    count = space.checkpoints
    return ngettext("{n:,} checkpoint", "{n:,} checkpoints", count).format(n=count)


def note_row(note: str) -> Row:
    """Return what is to be known of a state or a store, one sentence of ours."""
    return text_row(safe_message(note, multiline=False), "$text-warning")


def _question_rows(question: Question) -> Iterator[Row]:
    asks = _("? asks") if question.pending else _("asked")
    who = in_line(question.node)
    what = short(asked_words(question.value))
    yield labelled(asks, f"{who}: {what}" if who else what, "bold $text-warning")
    if isinstance(question.value, (Mapping, list)):
        text = json.dumps(question.value, ensure_ascii=False, indent=2)
        yield Row("", styled(safe_text(text, limit=_TREE_TEXT)), exact=True)
    own = () if question.pending else question.answers[-1:]
    for answer in question.answers[: len(question.answers) - len(own)]:
        yield labelled(_("before"), _("it was answered {answer}").format(answer=short(answer)), "$text-muted")
    for answer in own:
        yield labelled(_("answer"), short(answer))
    if question.id:
        yield labelled(_("interrupt"), in_line(question.id), "$text-muted")


def _task_rows(label: str, tasks: Sequence[TaskInfo]) -> Iterator[Row]:
    count = 0
    for task in tasks:
        shown = [(c, v) for c, v in task.writes if not c.startswith(("branch:", "__", "join:"))]
        if not (shown or task.error or task.node):
            continue
        count += 1
        if count > MOST_ROWS:
            yield from more_rows(len(tasks), MOST_ROWS)
            return
        yield labelled(label, in_line(task.node) or _("from outside"), "bold")
        if task.error:
            yield text_row("  " + _("✗ failed: {why}").format(why=short(task.error)), "$text-error")
        for channel, value in shown[:MOST_ROWS]:
            yield text_row(f"  {in_line(channel)} ← {short(value)}")


def difference_rows(found: Sequence[ValueChange]) -> list[Row]:
    """Return what differs, each with a glyph: put in, taken away, another one."""
    if not found:
        return [text_row(_("Nothing differs in the state."))]
    rows = [
        text_row(ngettext("{n:,} difference", "{n:,} differences", len(found)).format(n=len(found)), "bold"),
        *(value_row(change) for change in found[:MOST_ROWS]),
    ]
    return rows + more_rows(len(found), MOST_ROWS)


THREAD_TITLES = ("", mark("Thread"), mark("About"), mark("Steps"), mark("Last"))
CHECKPOINT_TITLES = (mark("Checkpoint"), mark("Superstep"), mark("Next"), mark("Source"), mark("Time"), "")


def thread_cells(thread: ThreadInfo) -> tuple[str, ...]:
    """Return whether a thread asks, its id, what it is about, how many checkpoints it has, and when it was written."""
    return (
        _("? asks") if thread.waiting else "",
        safe_text(thread.thread_id, multiline=False, limit=200),
        safe_text(thread.title, multiline=False, limit=400),
        f"{thread.checkpoints:,}",
        day_words(thread.at),
    )


def checkpoint_cells(info: CheckpointInfo) -> tuple[str, ...]:
    """Return id, superstep, node, source and time of a checkpoint, and what happened there."""
    said = " ".join(history_said(info).split())
    known = (info.checkpoint_id, str(info.step), info.node, info.source, second_words(info.timestamp), said)
    return tuple(map(in_line, known))


def tree_of(moment: FullCheckpoint) -> dict[str, Json]:
    """Return a moment's state for the tree: long texts cut, control channels last under a name of their own."""
    found = {str(k): trimmed(v) for k, v in moment.values.items()}
    if moment.internal:
        found[_("(control)")] = trimmed(dict(moment.internal))
    return found


def trimmed(value: Json) -> Json:
    """Return a value with long texts cut and what was left out counted."""
    if isinstance(value, str):
        return value if len(value) <= _TREE_TEXT else f"{value[:_TREE_TEXT]}… (+{len(value) - _TREE_TEXT:,})"
    if isinstance(value, Mapping):
        return {str(k): trimmed(v) for k, v in value.items()}
    return [trimmed(v) for v in value] if isinstance(value, list) else value


def fork_words(info: CheckpointInfo, graph: str, *, at_end: bool) -> str:
    """Return what going on in a copy means, for the dialog that asks.

    Args:
        info: where the copy ends.
        graph: the graph that goes on, safe.
        at_end: nothing came after it.
    """
    lines = [
        _("{graph} continues from {name} in a session of its own.").format(graph=graph, name=name_of(info)),
        _("+ The thread is copied up to here, and nothing else of the store."),
    ]
    if at_end:
        lines.append(_("? What it asks here is asked there."))
    else:
        lines.append(_("? What ran from here is not copied: it runs, and asks, again."))
        lines.append(_("! Its side effects since then are NOT undone: the graph may repeat them."))
    return "\n".join([*lines, _("The store itself isn't written. Nothing runs there until you approve it.")])


def value_at(moment: FullCheckpoint, path: Sequence[str]) -> Any:
    """Return the value that a path of the tree leads to, whole; `ABSENT` when there is none."""
    value: Any = {**moment.values, _("(control)"): moment.internal}
    for name in path:
        if isinstance(value, Mapping):
            value = next((v for k, v in value.items() if str(k) == name), ABSENT)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ABSENT
    return value


def value_rows(value: Json) -> list[Row]:
    """Return a value whole, as it is read on a screen of its own."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return [Row("", styled(safe_text(text, limit=_WHOLE_TEXT)), exact=True)]
