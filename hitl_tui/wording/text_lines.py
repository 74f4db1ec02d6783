"""Rows as plain lines, wrapped to a width: for terminals without a screen, screen readers, pipes and logs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from hitl_tui.commands.results import CommandResult
from hitl_tui.core.interrupts.shape import RESPOND
from hitl_tui.core.json_types import JsonObject, TodoState
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import cell_width, one_line
from hitl_tui.core.tally import all_done, tally_message
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.language import mark, translate
from hitl_tui.supervisor.session_summary import still_words
from hitl_tui.supervisor.snapshot import FAILED, FINISHED, KEEP, RUNNING, WAITING, Question, Snapshot
from hitl_tui.teams.contract import FilePreview
from hitl_tui.terminal.ascii_signs import _, clipped, ngettext, signs
from hitl_tui.wording.draft_rows import draft_rows, unknown_draft
from hitl_tui.wording.interrupt_rows import answer_rows
from hitl_tui.wording.markdown_text import rendered_markdown
from hitl_tui.wording.question_rows import heading, whole
from hitl_tui.wording.rows import BAR, Row, in_line, labelled
from hitl_tui.wording.session_rows import session_cells
from hitl_tui.wording.status_words import (
    PlanRow,
    approval_words,
    command_words,
    cut_off_row,
    of_import,
    plan_rows,
    ran_words,
)
from hitl_tui.wording.times import day_words, local_times, padded

if TYPE_CHECKING:
    from hitl_tui.supervisor.session_summary import SessionSummary

_DEEPER = 2
_HEADING = re.compile(r"#+ .+|\*\*.+\*\*")
_NARROWEST = 20
"""Cells; in fewer, the terminal breaks lines as well as we do."""
_NOT_FIRST = frozenset("、。，．：；！？）」』】〉》〕｝ーゝゞ々ぁぃぅぇぉっゃゅょァィゥェォッャュョ" + "🏻🏼🏽🏾🏿")
"""Wide characters that no line begins with."""


class Whole(str):
    """A line that is copied as it is, such as a command: the terminal breaks it, and copying gives it whole."""

    __slots__ = ()


def is_terminal(*streams: TextIO | None) -> bool:
    """Return whether all of these are a terminal's."""
    try:
        return all(stream is not None and stream.isatty() for stream in streams)
    except ValueError:  # it was closed
        return False


def terminal_width(stream: TextIO | None) -> int:
    """Return how many cells a line of a terminal has; 0 where that isn't known, and where there is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (OSError, ValueError):
        return 0


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Return lines of safe text, those that are too long broken between words, or between two wide letters.

    Args:
        lines: one each; a `Whole` one stays.
        width: cells of a line; 0 breaks nothing.
    """
    if width < _NARROWEST:
        return list(lines)
    return [part for line in lines for part in ([line] if isinstance(line, Whole) else _parts(line, width))]


class _Break(NamedTuple):
    end: int
    """Where a part ends."""
    next: int
    """Where the next one begins."""
    used: int
    """Cells of the part; what it is indented by isn't counted."""
    quoted: bool
    """The next part begins within quotes."""


def _parts(lines: str, width: int) -> Iterator[str]:
    for line in lines.split("\n"):
        if cell_width(line) <= width:
            yield line
        else:
            yield from _broken(line, width)


def _broken(line: str, width: int) -> Iterator[str]:
    text = line.lstrip(" ")
    begin = min(len(line) - len(text), width // 2)
    indent, start, quoted = " " * begin, 0, False
    while start < len(text):
        found = _break(text, start, width - len(indent), quoted)
        yield indent + text[start : found.end]
        indent, start, quoted = " " * (begin + _DEEPER), found.next, found.quoted


def _break(text: str, start: int, room: int, quoted: bool) -> _Break:
    """Return where to break: at the last space that has room, where it lies in the first half between wide letters.

    A word that is longer than a line stays whole, for the terminal to break.
    """
    spaced = unspaced = None
    used, at = 0, start
    while at < len(text):
        after = at + 1
        if text[at] == " ":
            while text[after : after + 1] == " ":
                after += 1
            if at > start and (after == at + 1 or not quoted):
                spaced = _Break(at, after, used, quoted)
        elif at > start and _between_wide(text, at):
            unspaced = _Break(at, at, used, quoted)
        elif text[at] == '"':
            quoted = not quoted
        elif text[at] == "\\" and quoted:
            after += 1
        cells = cell_width(text[at:after])
        if used + cells > room:
            if spaced and (unspaced is None or spaced.used > room // 2):
                return spaced
            if unspaced:
                return unspaced
        used, at = used + cells, after
    return _Break(len(text), len(text), used, quoted)


def _between_wide(text: str, at: int) -> bool:
    return (
        not (text[at].isascii() or text[at - 1].isascii())
        and cell_width(text[at]) == 2 == cell_width(text[at - 1])
        and text[at] not in _NOT_FIRST
    )


_LONG_PLAN = 40
"""Steps up to which a plan is shown whole after each command."""
_MOST_OPTIONS = 20
"""Options of a question up to which each has its own command beside it."""
_BAR = "| "
"""What each line of a text that was quoted, or takes several, begins with."""
SHOWN_DIGITS = 12
"""How much of a digest is shown: enough for `--digest`."""

_WIDEST = 1_000_000

_VERDICTS: Mapping[str, str] = {
    Verdict.USE_AS_DONE: mark("use as done"),
    Verdict.DO_AGAIN: mark("do it again"),
    KEEP: mark("in part"),
}


def shown(text: str) -> str:
    """Return text harmless for a terminal, line feeds kept; glyphs of text that was made safe before stay."""
    return "\n".join(inline(line) for line in text.split("\n"))


def inline(text: str) -> str:
    """Return text harmless within a line; glyphs of text that was made safe before stay."""
    return one_line(text, _WIDEST)


def layout(rows: Iterable[Row], indent: str = "") -> list[str]:
    """Return rows as plain lines: `label: text`; a text of several lines below its label, with a bar before each.

    Args:
        rows: the rows.
        indent: before each line.
    """
    return [line for row in rows for line in _lines_of(row, indent)]


def _lines_of(row: Row, indent: str) -> Iterator[str]:
    text, label = row.text.plain, row.label.lstrip(" ")
    indent += " " * (len(row.label) - len(label)) * (2 if not label else 1)
    if row.markdown:
        yield from text.rstrip("\n").split("\n")
    elif text.startswith(BAR):
        yield from (Whole(f"{indent}{_BAR}{line}") for line in text.removeprefix(BAR).split("\n"))
    elif "\n" not in text:
        line = f"{indent}{label}: {text}" if label else f"{indent}{text}"
        yield Whole(line) if row.exact and "  " in text else line.rstrip(" ")
    else:
        if label:
            yield f"{indent}{label}:"
        yield from (Whole(f"{indent}  {_BAR}{line}") for line in text.split("\n"))


def plan_lines(
    snapshot: Snapshot, cut_off: Collection[str] = (), before: Mapping[str, TodoState] | None = None
) -> list[str]:
    """Return the plan, a TODO a line: glyph and word, id, team, name, what it waits for, what became of it.

    Args:
        snapshot: the session.
        cut_off: ids of the TODOs whose process is gone though they count as running until the session is opened again.
        before: the TODOs as they were: of a long plan only what has changed since is shown, with what is beside it.
    """
    rows = [
        cut_off_row(row, todo) if todo.id in cut_off else row
        for todo, row in zip(snapshot.todos, plan_rows(snapshot, datetime.now(UTC)), strict=True)
    ]
    width = max((len(row.number) for row in rows), default=0)
    lines = [_todo_line(todo, row, width) for todo, row in zip(snapshot.todos, rows, strict=True)]
    if before is None or len(lines) <= _LONG_PLAN:
        return lines
    changed = (n for n, todo in enumerate(snapshot.todos) if before.get(todo.id) != snapshot.raw[todo.id])
    near = dict.fromkeys(at for n in changed for at in (n - 1, n, n + 1) if 0 <= at < len(lines))
    return list(_parts_of(lines, [*near][:_LONG_PLAN]))


def _parts_of(lines: Sequence[str], places: Iterable[int]) -> Iterator[str]:
    """Yield the lines at some places, in order, and between them how many there are."""
    next_one = 0
    for place in (*places, len(lines)):
        if left := place - next_one:
            yield ngettext("… {n} more step", "… {n} more steps", left).format(n=f"{left:,}")
        yield from lines[place : place + 1]
        next_one = place + 1


def _todo_line(todo: SupervisorTodo, row: PlanRow, width: int) -> str:
    head = f"{padded(f'{row.glyph} {row.word}', 10)} {row.number:<{width}}  {padded(row.team, 8)} {row.title}"
    time = row.time if todo.duration is None else ran_words(todo)
    parts = [head, time, row.attempts, row.needs]
    if todo.approval is not None:
        parts.append(f"{_('approved')} {approval_words(todo.approval, day_words)}")
    if todo.error:
        parts.append(clipped(local_times(of_import(todo, translate(todo.error))), 200))
    return "  ".join(filter(None, parts))


def place_of(number: int, total: int) -> str:
    """Return which of several questions one is; empty for the only one."""
    return _("{number} of {total}").format(number=number, total=total) if total > 1 else ""


def question_lines(
    question: Question,
    place: str,
    give: Callable[[str], str],
    *,
    bound: bool = False,
    digests: bool | None = None,
    keys: Mapping[str, str] = MappingProxyType({}),
    files: Mapping[str, FilePreview | None] = MappingProxyType({}),
) -> list[str]:
    """Return a question whole: what is asked, exactly what would run, evidence, and what answers it.

    Args:
        question: the question.
        place: `1 of 2`; empty for the only one.
        give: turns a chat command into what a person types here.
        bound: name the request by its id in the commands, for whoever sends them later or twice.
        digests: print its digest, which a terminal doesn't need; None for as `bound` says.
        keys: verdict → the key that, sent alone, gives it.
        files: by question the file that its step would make, see `open_questions.files_of`.
    """
    rows = _numbered(whole(question, _draft(question, files)))
    if bound if digests is None else digests:
        rows.append(labelled(_("digest"), question.digest[:SHOWN_DIGITS]))
    commands = {**(question.bound_commands if bound else question.commands)}
    if 0 < len(options := question.option_commands(bound=bound)) <= _MOST_OPTIONS:
        commands.pop(RESPOND, None)
        numbered = {f"{_('option')} {n}": command for n, command in enumerate(options, start=1)}
        commands = {**numbered, **commands}
    width = max((cell_width(_verdict(v)) for v in commands), default=0)
    answers = {verdict: give(command_words(command)) for verdict, command in commands.items()}
    answers |= {
        v: _("{key} or {command}").format(key=command_words(keys[v]), command=answers[v]) for v in keys if v in answers
    }
    return [
        heading(question, place, datetime.now(UTC)).plain,
        *layout(rows, "  "),
        f"  {_('Answer with')}:",
        *(Whole(f"    {padded(_verdict(v), width)}  {command}") for v, command in answers.items()),
        *(layout(answer_rows(question.shape), "      ") if question.shape is not None else []),
        *([f"  {_as_approver(question.able[0], give)}"] if question.able else []),
    ]


def _as_approver(name: str, give: Callable[[str], str]) -> str:
    """Return how an approver answers with a token of their own: in a shell, or where chat commands are typed."""
    if give("/help") != "/help":
        return _("with an approver's token: add --approver {name}").format(name=in_line(name))
    return _("with an approver's token: /as {name} COMMAND").format(name=in_line(name))


def asked_lines(question: Question, files: Mapping[str, FilePreview | None] = MappingProxyType({})) -> list[str]:
    """Return what has to be read before a question is decided whose first line and options stand elsewhere.

    Args:
        question: the question.
        files: by question the file that its step would make.
    """
    options = {option.text for option in question.shape.options} if question.shape is not None else set()
    rows = _numbered(whole(question, _draft(question, files)))
    if question.shape is not None:
        rows = [row for row in rows if row.label != _("asks") and row.text.plain not in options]
    return layout(rows, "  ")


def _numbered(rows: Iterable[Row]) -> list[Row]:
    """Return rows with a number at each option that can be chosen: it is what gives the option here."""
    numbers = count(1)
    return [replace(row, label=f"{row.label} {next(numbers)}") if row.label == _("option") else row for row in rows]


def _draft(question: Question, files: Mapping[str, FilePreview | None]) -> list[Row]:
    if question.id not in files:
        return []
    file = files[question.id]
    return draft_rows(file, headed=False) if file is not None else [unknown_draft()]


def _verdict(verdict: str) -> str:
    """Return a verdict, or what else answers a question, in words."""
    return _(_VERDICTS.get(verdict, verdict))


def questions_lines(
    snapshot: Snapshot,
    give: Callable[[str], str],
    *,
    bound: bool = False,
    files: Mapping[str, FilePreview | None] = MappingProxyType({}),
) -> list[str]:
    """Return all open questions, each whole, with an empty line before each; see `question_lines`.

    Args:
        snapshot: the session.
        give: turns a chat command into what a person types here.
        bound: name all requests by their ids in the commands, not only those of high risk, and print digests.
        files: by question the file that its step would make.
    """
    total = len(snapshot.questions)
    lines: list[str] = []
    for number, question in enumerate(snapshot.questions, start=1):
        place = place_of(number, total)
        named = bound or question.risk is Risk.HIGH
        lines += ["", *question_lines(question, place, give, bound=named, digests=bound, files=files)]
    return lines


def answer_of(snapshot: Snapshot) -> str:
    """Return the session's answer as Markdown once there is one to everything; empty before."""
    if not snapshot.concluded or snapshot.response is None:
        return ""
    return shown(str(snapshot.response.get("text", "")).rstrip("\n"))


def answer_lines(answer: str, *, rendered: bool = False) -> list[str]:
    """Return the lines of an answer; none for none.

    Args:
        answer: Markdown.
        rendered: without its marks, for a person at a terminal; what reads a pipe gets these.
    """
    return ["", *(rendered_markdown(answer).plain if rendered else answer).split("\n")] if answer else []


def news_of(answer: str, before: str) -> str:
    """Return what an answer says that the one before didn't, with the headings that it stands under.

    Args:
        answer: Markdown.
        before: what was shown last; empty for nothing.
    """
    blocks, known = answer.split("\n\n"), before.split("\n\n")
    match = SequenceMatcher(None, known, blocks, autojunk=False)
    same = {n for _a, begins, size in match.get_matching_blocks() for n in range(begins, begins + size)}
    kept: list[str] = []
    above: list[str] = []
    for n, block in enumerate(blocks):
        if _HEADING.fullmatch(block):
            above = [one for one in above if one.startswith("#") and not block.startswith("#")] + [block]
        elif n not in same:
            kept += [*above, block]
            above = []
    return "\n\n".join(kept)


def standing(snapshot: Snapshot, *, left: bool = False, still: Sequence[str] = ()) -> str:
    """Return one sentence on where a session stands, in English: it stands in JSON, too.

    Args:
        snapshot: of it.
        left: no process has it open, so that nothing goes on.
        still: the TODOs whose processes run on all the same.
    """
    name = snapshot.session_id
    if snapshot.status == WAITING:
        names = [step_name(q.name) for q in snapshot.questions]
        more = Message(" and {} more", len(names) - 3) if len(names) > 3 else ""
        waits = Message("{} waits for your decision: {}{}.", name, ", ".join(names[:3]), more)
        return Message("{} {}", waits, still_words(still)) if still else waits
    if snapshot.status == FINISHED:
        return (
            Message("{} is finished.", name)
            if all_done(snapshot.tally)
            else Message("{} is finished: {}.", name, tally_message(snapshot.tally))
        )
    if snapshot.status == FAILED:
        return Message("{} failed: {}", name, one_line(_why(snapshot), 300))
    if snapshot.carrier and snapshot.problem:
        return Message("{} waits: {}", name, snapshot.problem)
    if snapshot.status == RUNNING and still:
        return Message("{} was interrupted; {}", name, still_words(still))
    if snapshot.status == RUNNING:
        return Message("{} was interrupted; nothing runs now.", name) if left else Message("{} is running.", name)
    if left:
        return Message("{} was interrupted before anything was planned.", name)
    return Message("{} is being planned.", name)


def _why(snapshot: Snapshot) -> str:
    errors = [f"{step_name(t.id)}: {t.error}" for t in snapshot.todos if t.status is Status.FAILED and t.error]
    return (errors or [str((snapshot.response or {}).get("summary", ""))])[0]


def error_lines(message: str, help: str) -> list[str]:
    """Return what an error says, and below it what would help."""
    first, *more = shown(translate(message)).split("\n")
    helping = [f"  {shown(translate(help))}"] if help else []
    return [_("Error: {message}").format(message=first), *more, *helping]


def result_lines(result: CommandResult, snapshot: Snapshot | None) -> list[str]:
    """Return a command's answer: its sentence, then what it was asked to show.

    Args:
        result: the answer.
        snapshot: the session that it is about; None for none.
    """
    lines = shown(translate(result.message)).split("\n")
    if "commands" in result.data:
        lines = [signs(line) for line in lines]
    if result.failed:
        return error_lines(result.message, result.data.get("help", ""))
    if "policy" in result.data and "rules" in result.data:
        from hitl_tui.wording.rule_rows import rule_rows

        lines = [lines[0], *layout(rule_rows(result.data, snapshot.workspace if snapshot else ""))]
    if "wants" in result.data and result.status == "ok":
        from hitl_tui.wording.trust_rows import trust_rows

        lines = [*layout(trust_rows(result.data)), *lines]
    if "sessions" in result.data:
        lines += _session_lines(result.data["sessions"])
    if "todos" in result.data and snapshot is not None:
        lines += plan_lines(snapshot)
    if "checkpoints" in result.data:  # what there is more of stands last: a long list ends in sight
        lines = [*_checkpoint_lines(result.data["checkpoints"]), *lines]
    if "decisions" in result.data:
        lines = [*decision_lines(result.data["decisions"]), *lines]
    if ran := result.data.get("ran_since"):
        from hitl_tui.wording.history_rows import ran_since_lines

        lines += ran_since_lines(ran)
    if (one := result.shown) is not None:
        from hitl_tui.wording.history_rows import todo_rows

        lines += layout(todo_rows(one.todo, snapshot.workspace if snapshot else "", one.result, one.used), "  ")
    return lines


def session_lines(sessions: Iterable[SessionSummary]) -> list[str]:
    """Return sessions as aligned lines."""
    return _session_lines(session.to_dict() for session in sessions)


def _session_lines(sessions: Iterable[JsonObject]) -> list[str]:
    return table([(*known, clipped(title, 160)) for *known, title in map(session_cells, sessions)])


def _checkpoint_lines(checkpoints: Iterable[Mapping[str, Any]]) -> list[str]:
    from hitl_tui.wording.history_rows import checkpoint_cells

    return table([cells for row in checkpoints if (cells := checkpoint_cells(row)) is not None])


def decision_lines(decisions: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what was decided as aligned lines; see `decision_rows.decision_cells`."""
    from hitl_tui.wording.decision_rows import decision_cells

    return table([decision_cells(one) for one in decisions])


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with their columns aligned; the last column may be as long as it is."""
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)] if rows else []
    return ["  ".join([*(padded(c, w) for c, w in zip(r[:-1], widths, strict=False)), r[-1]]).rstrip() for r in rows]
