"""A session in plain lines: for terminals without a screen, for screen readers, for pipes and logs (C9, D7).

Pure text, no cursor movement, no colour, no meaning by layout alone. Whatever we did not write is made harmless
here, where it leaves for a terminal (C10).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TextIO

from hitl_tui.commands.results import CommandResult
from hitl_tui.core.interrupts.shape import label_line
from hitl_tui.core.names import plain_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Kind, Verdict, expiry_verdict
from hitl_tui.core.safe_text import cell_width, one_line, safe_text
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.language import mark, render
from hitl_tui.supervisor.snapshot import FAILED, FINISHED, RUNNING, WAITING, Question, Snapshot
from hitl_tui.terminal.ascii_signs import _, clipped, ngettext, signs
from hitl_tui.wording.interrupt_lines import inner_lines, meaning_lines
from hitl_tui.wording.status_words import PlanRow, approval_words, plan_rows, ran_words
from hitl_tui.wording.times import day_words, local_times, padded
from hitl_tui.wording.trust_rows import want_rows

_DEEPER = 2
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


SHOWN_DIGITS = 12
"""How much of a digest is shown: enough for `--digest`."""

_WIDEST = 1_000_000

_ASKS: Mapping[Kind, str] = {
    Kind.TODO: mark("may it run?"),
    Kind.FAILURE: mark("it failed: try again, skip or stop?"),
    Kind.EFFECT: mark("it may have happened already: use as done, do again or reject?"),
    Kind.INTERRUPT: mark("its team asks"),
    Kind.PLAN: mark("may this plan begin?"),
    Kind.PROPOSAL: mark("may the plan change like this?"),
    Kind.EXTERNAL: mark("may this go on?"),
}

_VERDICTS: Mapping[str, str] = {
    Verdict.USE_AS_DONE: mark("use as done"),
    Verdict.DO_AGAIN: mark("do it again"),
}

_BOOKKEEPING = ("session", "todo", "asked", "run", "policy")
"""Parts of a subject that say where it belongs; shown too, in one line."""

_PLACES = (
    *(mark("REASON"), mark("FEEDBACK"), mark("TEXT"), mark("NAME")),
    *(mark("VALUE"), mark("OPTION"), mark("DECISION")),
)

_RISKS: Mapping[str, str] = {"low": mark("low risk"), "medium": mark("medium risk"), "high": mark("HIGH RISK")}


def shown(text: str) -> str:
    """Return text harmless for a terminal, line feeds kept; glyphs of text that was made safe before stay."""
    return "\n".join(inline(line) for line in text.split("\n"))


def inline(text: str) -> str:
    """Return text harmless within a line; glyphs of text that was made safe before stay."""
    return one_line(text, _WIDEST)


def exact(text: str) -> str:
    """Return raw text harmless and reversible, line feeds kept."""
    return safe_text(text)


def plan_lines(snapshot: Snapshot) -> list[str]:
    """Return the plan, a TODO a line: glyph and word, id, team, name, what it waits for, what became of it."""
    rows = plan_rows(snapshot, datetime.now(UTC))
    return [_todo_line(todo, row) for todo, row in zip(snapshot.todos, rows, strict=True)]


def _todo_line(todo: SupervisorTodo, row: PlanRow) -> str:
    head = f"{padded(f'{row.glyph} {row.word}', 10)} {todo.id}  {padded(row.team, 8)} {row.title}"
    time = row.time if todo.duration is None else ran_words(todo)
    parts = [head, time, row.attempts, row.needs]
    if todo.approval is not None:
        parts.append(f"{_('approved')} {approval_words(todo.approval, day_words)}")
    if todo.error:
        parts.append(clipped(local_times(render(todo.error)), 200))
    return "  ".join(filter(None, parts))


def question_lines(
    question: Question, place: str, give: Callable[[str], str], *, bound: bool = False, digests: bool | None = None
) -> list[str]:
    """Return a question whole: what is asked, exactly what would run, evidence, and what answers it (D7).

    Args:
        question: the question.
        place: `1 of 2`.
        give: turns a chat command into what a person types here.
        bound: name the request by its id in the commands, for whoever sends them later or twice (T1).
        digests: print its digest, which a terminal doesn't need (T2); None for as `bound` says.
    """
    request, about = question.view.request, question.view.request.about
    head = [
        _("QUESTION {place}").format(place=place),
        inline(question.name),
        inline(request.source),
        _(_ASKS[question.kind]),
    ]
    inner = question.shape.risk if question.shape is not None else ""
    if inner or about.get("risk"):
        risk = inner or str(about["risk"])
        head.append(_(_RISKS[risk]) if risk in _RISKS else inline(risk))
    lines = [signs(" · ").join(head)]
    lines += [f"  {text}" for text in _about(about)]
    shape = question.shape
    if shape is not None:
        lines += [f"  {line}" for line in inner_lines(question, shape)]
    else:
        lines += [f"  {_('Again: {line}').format(line=inline(render(line)))}" for line in question.again]
        lines.append(_("  Exactly this:"))
        lines += [f"    {line}" for line in _subject(request.subject)]
    lines += _evidence(question.view.evidence)
    lines += [f"  {text}" for text in _terms(question)]
    if bound if digests is None else digests:
        lines.append(f"  {_('Digest {digest}').format(digest=request.digest[:SHOWN_DIGITS])}")
    lines.append(_("  Answer with:"))
    commands = question.bound_commands if bound else question.commands
    width = max((cell_width(_verdict(v)) for v in commands), default=0)
    answers = {verdict: give(filled(command)) for verdict, command in commands.items()}
    lines += [Whole(f"    {padded(_verdict(v), width)}  {command}") for v, command in answers.items()]
    lines += [f"      {line}" for line in meaning_lines(shape)] if shape is not None else []
    return lines


def filled(command: str) -> str:
    """Return a command with what a person puts in its place, such as REASON, named in their language."""
    return re.sub(rf"\b(?:{'|'.join(_PLACES)})\b", lambda found: _(found[0]), command)


def _verdict(verdict: str) -> str:
    """Return a verdict, or what else answers a question, in words."""
    return _(_VERDICTS[verdict]) if verdict in _VERDICTS else render(str(verdict))


def _about(about: Mapping[str, Any]) -> Iterator[str]:
    title = str(about.get("title", ""))
    if title not in ("", "plan", "proposal"):
        yield inline(title)
    for key, label in (
        ("text", _("You wrote")),
        ("reason", _("Why")),
        ("purpose", _("Purpose")),
        ("error", _("Error")),
    ):
        if about.get(key):
            said = str(about[key])
            yield f"{label}: {inline(said if key in ('text', 'reason') else render(said))}"
    if about.get("changed"):
        names = inline(render(", ".join(map(str, about["changed"]))))
        yield _("CHANGED since it was asked before: {names}").format(names=names)
    for note in about.get("notes") or ():
        yield _("NOTE: {note}").format(note=inline(render(str(note))))
    if about.get("why"):
        yield _("In doubt: {why}").format(why=inline(render(str(about["why"]))))
    if about.get("priority"):
        yield _("Priority: {priority}").format(priority=inline(render(str(about["priority"]))))
    after = [f"{d['id']} ({render(str(d['status']))})" for d in about.get("dependencies", ())]
    if after:
        yield _("After: {after}").format(after=", ".join(after))
    if about.get("missing"):
        missing = inline(", ".join(map(str, about["missing"])))
        yield _("INPUT MISSING: {missing} was skipped").format(missing=missing)
    ran = about.get("ran_before") or {}
    if ran:
        status = render(str(ran.get("status")))
        said = _("RAN BEFORE on branch {branch} ({status}): what it did to the world stays")
        yield said.format(branch=ran.get("branch"), status=status)
    if about.get("ahead"):
        yield _("Asked ahead: its input isn't known yet")


def _subject(subject: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is hashed, most important first; what is empty is left out, and nothing else is."""
    given = _pruned(subject)
    first = [k for k in ("team", "task", "arguments") if k in given]
    last = [k for k in _BOOKKEEPING if k in given]
    middle = [k for k in given if k not in first and k not in last]
    yield from _fields({k: given[k] for k in (*first, *middle)})
    yield ", ".join(f"{k}: {_quoted(given[k])}" for k in last)


def _pruned(value: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is empty, but nothing of the arguments: there an empty text is an input too."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, Mapping) and key != "arguments":
            item = _pruned(item)
        elif isinstance(item, list | tuple):
            item = [_pruned(entry) if isinstance(entry, Mapping) else entry for entry in item]
        if not _empty(item):
            found[key] = item
    return found


def _empty(value: Any) -> bool:
    return value is None or value in ("", [], {}, ())


def _fields(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield a JSON object as indented lines; every text is quoted, so that its spaces and ends can be seen."""
    for key, item in value.items():
        name = label_line(str(key))
        if isinstance(item, Mapping) and item:
            yield f"{name}:"
            yield from (f"  {line}" for line in _fields(item))
        elif isinstance(item, list | tuple) and any(isinstance(entry, Mapping) for entry in item):
            yield f"{name}:"
            for entry in item:
                yield from _entry(entry)
        else:
            yield f"{name}: {_quoted(item)}"


def _entry(entry: Any) -> Iterator[str]:
    lines = list(_fields(entry) if isinstance(entry, Mapping) else ())
    for number, line in enumerate(lines or [_quoted(entry)]):
        yield f"  {'-' if number == 0 else ' '} {line}"


def _quoted(value: Any) -> str:
    return exact(json.dumps(value, ensure_ascii=False))


def _evidence(evidence: Mapping[str, Any]) -> Iterator[str]:
    if evidence.get("findings"):
        yield from (f"  {line}" for line in findings_lines(evidence))
        return
    if not evidence:
        return
    yield _("  Preview (nothing was changed):")
    for key, value in evidence.items():
        if isinstance(value, str) and "\n" in value.rstrip("\n"):
            yield f"    {inline(str(key))}:"
            yield from (Whole(f"      | {line}") for line in shown(value.rstrip("\n")).split("\n"))
        else:
            text = value.rstrip("\n") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"    {inline(str(key))}: {inline(text)}"


def findings_lines(found: Mapping[str, Any]) -> list[str]:
    """Return what the rules of safe interrupts found in a graph: one line, and one for each finding (I6)."""
    findings = found.get("findings") or []
    if not findings:
        return []
    head = ngettext("{n} finding: {command}", "{n} findings: {command}", len(findings))
    return [
        head.format(n=len(findings), command=inline(str(found.get("command", "")))),
        *(f"  {inline(str(f['file']))}:{f['line']} {f['rule']} {inline(render(str(f['message'])))}" for f in findings),
    ]


def _terms(question: Question) -> Iterator[str]:
    request = question.view.request
    if request.terms.quorum > 1:
        yield _("Needs {quorum} people").format(quorum=request.terms.quorum)
    if question.obstacle:
        yield inline(render(question.obstacle))
    for decision in question.view.decisions:
        who = inline(plain_name(decision.by))
        yield _("Said so far: {by} {verdict}").format(by=who, verdict=_verdict(decision.said))
    if request.expires_at:
        verdict = render(str(expiry_verdict(request)))
        yield _("Expires at {deadline}, then: {verdict}").format(deadline=request.expires_at, verdict=verdict)


def questions_lines(
    snapshot: Snapshot, give: Callable[[str], str], *, bound: bool = False, away: bool = False
) -> list[str]:
    """Return all open questions, each whole, with an empty line before each; see `question_lines`.

    Args:
        snapshot: the session.
        give: turns a chat command into what a person types here.
        bound: name the requests by their ids in the commands, and print digests.
        away: name so what is of high risk at least: from here, the name isn't enough (T2).
    """
    total = len(snapshot.questions)
    lines: list[str] = []
    for number, question in enumerate(snapshot.questions, start=1):
        place = _("{number} of {total}").format(number=number, total=total)
        named = bound or (away and question.risk is Risk.HIGH)
        lines += ["", *question_lines(question, place, give, bound=named, digests=bound)]
    return lines


def answer_lines(snapshot: Snapshot) -> list[str]:
    """Return the session's answer once there is one to everything; empty before."""
    if not snapshot.concluded or snapshot.response is None:
        return []
    return ["", *shown(str(snapshot.response.get("text", "")).rstrip("\n")).split("\n")]


def standing(snapshot: Snapshot) -> str:
    """Return one sentence on where a session stands, in English: it stands in JSON, too."""
    name = snapshot.session_id
    if snapshot.status == WAITING:
        names = [q.name for q in snapshot.questions]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"{name} waits for your decision: {', '.join(names[:3])}{more}."
    if snapshot.status == FINISHED:
        outcome = (snapshot.response or {}).get("outcome")
        return f"{name} is finished." if outcome == "done" else f"{name} is finished; not everything was done."
    if snapshot.status == FAILED:
        return f"{name} failed: {one_line(_why(snapshot), 300)}"
    return f"{name} is running." if snapshot.status == RUNNING else f"{name} is being planned."


def _why(snapshot: Snapshot) -> str:
    errors = [f"{t.id}: {t.error}" for t in snapshot.todos if t.status is Status.FAILED and t.error]
    return (errors or [str((snapshot.response or {}).get("summary", ""))])[0]


def result_lines(result: CommandResult, snapshot: Snapshot | None) -> list[str]:
    """Return a command's answer: its sentence, then what it was asked to show.

    Args:
        result: the answer.
        snapshot: the session that it is about; None for none.
    """
    lines = shown(render(result.message)).split("\n")
    if "commands" in result.data:
        lines = [signs(line) for line in lines]
    if result.failed:
        lines = [_("Error: {message}").format(message=lines[0]), *lines[1:]]
        return [*lines, *([f"  {shown(render(str(result.data['help'])))}"] if result.data.get("help") else [])]
    if "wants" in result.data and result.status == "ok":
        lines = [*wanted_lines(result.data), *lines]
    if "sessions" in result.data:
        lines += session_rows(result.data["sessions"])
    if "todos" in result.data and snapshot is not None:
        lines += plan_lines(snapshot)
    if "checkpoints" in result.data:
        lines += [_checkpoint_line(c) for c in result.data["checkpoints"]]
    if "todo" in result.data and result.status == "ok":
        lines += [f"  {line}" for line in _fields(_pruned(result.data["todo"]))]
        text = str(result.data.get("result", {}).get("text", "")).rstrip("\n")
        lines += ["", *shown(text).split("\n")] if text else []
    return lines


def wanted_lines(trust: Mapping[str, Any]) -> list[str]:
    """Return what a folder wants to run, as `WorkspaceTrust.to_dict` gives it, as lines, the riskiest first."""
    rows = want_rows(trust["wants"])
    head = _("{folder} wants:") if rows else _("{folder} wants nothing beyond search, analysis and documents.")
    changed = [_("Its settings changed since you trusted it.")] if trust["changed"] else []
    return [*changed, head.format(folder=shown(str(trust["workspace"]))), *table(rows)]


def _checkpoint_line(info: Mapping[str, Any]) -> str:
    parts = [
        str(info["checkpoint_id"]),
        str(info["timestamp"])[:19].replace("T", " "),
        _("branch {branch}").format(branch=info["branch"]),
        f"{info['node']:<17}",
        _("{todos_completed} completed").format(todos_completed=info["todos_completed"]),
    ]
    if info["waiting"]:
        parts.append(_("waiting"))
    return inline("  ".join([*parts, *([render(str(info["message"]))] if info["message"] else [])]))


def session_rows(sessions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return sessions, as `SessionSummary.to_dict` gives them, as aligned lines."""
    rows = []
    for item in sessions:
        status = render(str(item["session_status"]))
        asks = _("{n} for you").format(n=item["questions"]) if item["questions"] else ""
        state = _("{status}, open").format(status=status) if item["owned"] else status
        title = clipped(str(item["title"]) or render(str(item["message"])), 100)
        rows.append((str(item["session_id"]), state, asks, str(item["updated"])[:16].replace("T", " "), title))
    return table(rows)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with their columns aligned; the last column may be as long as it is."""
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)] if rows else []
    return ["  ".join([*(padded(c, w) for c, w in zip(r[:-1], widths, strict=False)), r[-1]]).rstrip() for r in rows]
