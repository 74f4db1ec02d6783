"""What was found out before a decision, as rows: a command's preview, or what is unsafe in a graph. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from hitl_tui.core.safe_text import safe_text, text_lines
from hitl_tui.language import safe_message, translate
from hitl_tui.supervisor.snapshot import has_preview
from hitl_tui.terminal.ascii_signs import _, ngettext
from hitl_tui.wording.rows import Row, in_line, joined, labelled, text_row
from hitl_tui.wording.status_words import number_of
from hitl_tui.wording.subject_rows import deletes
from hitl_tui.wording.times import second_words

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question


_FEW = 3


def awaits_preview(question: Question) -> bool:
    """Return whether a question's preview is still being made."""
    return not question.view.evidence and has_preview(question.view.request)


def evidence_rows(question: Question, most: int | None, key: str) -> Iterable[Row]:
    """Return what was found out about a question; nothing when nothing was looked for.

    Args:
        question: the question.
        most: lines of a preview, or findings; None for all.
        key: how the key for the details reads.
    """
    evidence = question.view.evidence
    if not evidence:
        if awaits_preview(question):
            yield labelled(_("preview"), _("being worked out"), "$text-warning")
        return
    if evidence.get("findings"):
        yield from findings_rows(evidence, most, key)
        return
    if "queries" in evidence:
        yield from query_rows(evidence["queries"])
        if more := int(evidence.get("more", 0)):
            said = ngettext("{n} more step asks tables", "{n} more steps ask tables", more)
            yield text_row(said.format(n=more), "$text-warning")
        return
    if evidence.get("before"):
        yield from _before(evidence["before"], most, key)
        return
    yield from preview_rows(evidence, most, key, (question.view.request.subject.get("arguments") or {}).get("argv"))


def query_rows(queries: Iterable[Mapping[str, Any]]) -> Iterable[Row]:
    """Return the queries that steps would run: of which tables, what in plain words, and as SQL."""
    for query in queries:
        label = _("runs") if not query.get("todo") else _("{name} runs").format(name=number_of(str(query["todo"])))
        if query["words"]:
            yield labelled(label, in_line(str(query["words"])), "bold")
            yield labelled("SQL", safe_text(str(query["sql"])), "$text-muted", exact=True)
            if len(query["tables"]) > 1:
                yield labelled(_("tables"), in_line(", ".join(map(str, query["tables"]))))
            if query["others"]:
                said = _("asked instead where it has no such row: {tables}")
                yield labelled(
                    _("or"), said.format(tables=in_line(", ".join(map(str, query["others"])))), "$text-muted"
                )
        if query["awaits"]:
            text = (
                _("the limit is read in documents first") if query["words"] else _("worked out from an earlier result")
            )
            yield labelled("" if query["words"] else label, text, "$text-muted")
        elif query["choices"]:
            yield labelled(label, _("nothing yet: you are asked which of these is meant"), "bold")
            yield from (text_row(f"  │ {in_line(str(words))}", "$text-muted") for words in query["choices"])
        elif not query["words"]:
            yield labelled(label, _("nothing: no table fits this question"), "bold $text-warning")


def _before(run: Mapping[str, Any], most: int | None, key: str) -> Iterable[Row]:
    """The run of which nobody knows how it ended: when it began, what it had put out, how it ended if that is known."""
    yield labelled(_("began"), second_words(str(run["began"])))
    if not run.get("known", True):
        if run["place"]:
            yield labelled(_("put out"), _("not known here: see {place}").format(place=in_line(run["place"])))
        return
    if run.get("ended"):
        at = second_words(str(run["ended_at"])) if run.get("ended_at") else ""
        yield labelled(_("ended"), joined(at, in_line(_(translate(run["ended"])))), "bold")
    lines, count = list(run["lines"]), int(run["count"])
    if not lines:
        yield labelled(_("put out"), _("nothing until then"), "$text-muted")
        return
    shown = lines if most is None else lines[-most:]
    said = ngettext("{n:,} line until then", "{n:,} lines until then", count).format(n=count)
    yield labelled(_("put out"), said + (_(", the last of them:") if len(shown) < count else ":"))
    for line in shown:
        yield text_row(f"  │ {in_line(str(line))}", "$text-muted")
    if len(shown) < len(lines):
        yield text_row(
            _("  │ … {n:,} more lines: {key} Details").format(n=len(lines) - len(shown), key=key), "$text-muted"
        )


def preview_rows(evidence: Mapping[str, Any], most: int | None, key: str, argv: object = None) -> Iterable[Row]:
    """Return what a step would do, by its preview: how much where that is known, then what the preview showed.

    Args:
        evidence: what the preview printed, and how it ended.
        most: lines of it; None for all.
        key: how the key for the details reads.
        argv: what would run, where that is known.
    """
    if evidence.get("error"):
        error = safe_message(evidence["error"], multiline=False)
        yield labelled(_("preview"), _("failed: {error}").format(error=error), "$text-warning")
        return
    text = str(evidence.get("text", ""))
    lines = text_lines(text) if text else []
    if (wrong := _what_went_wrong(evidence, len(lines))) or "files" not in evidence:
        if not wrong and not lines and deletes(argv) and _lists_what_goes(evidence, lines, argv):
            yield text_row(_("would delete nothing"), "bold")
            return
        if not wrong and len(lines) <= 1:
            yield labelled(_("preview"), in_line(lines[0]) if lines else _("nothing is listed"), "bold")
            return
        yield labelled(_("preview"), wrong, "bold $text-warning" if wrong else "bold")
    else:
        files, size = int(evidence["files"]), size_words(int(evidence["bytes"]))
        if deletes(argv) and _lists_what_goes(evidence, lines, argv):
            said = ngettext("would delete {n:,} file, {size}", "would delete {n:,} files, {size}", files)
            yield text_row(said.format(n=files, size=size), "bold $text-error")
        elif deletes(argv):
            said = ngettext("lists {n:,} file, {size}", "lists {n:,} files, {size}", files)
            more = _("more may be deleted than it lists")
            yield labelled(_("preview"), joined(said.format(n=files, size=size), more), "bold $text-error")
        else:
            said = ngettext("{n:,} file, {size}", "{n:,} files, {size}", files)
            yield labelled(_("preview"), said.format(n=files, size=size), "bold")
    if most is not None and len(lines) <= most + _FEW:
        most = None  # a few lines more are as soon read as where they stand
    for line in lines[:most]:
        yield text_row(f"  │ {in_line(line)}", "$text-muted")
    if most is not None and len(lines) > most:
        yield text_row(_("  │ … {n:,} more lines: {key} Details").format(n=len(lines) - most, key=key), "$text-muted")
    elif evidence.get("truncated"):
        yield text_row(_("  │ … the rest was not kept"), "$text-muted")


_DELETES = frozenset({"-delete", "-print"})
"""What a `find` does with what it found, where it only deletes that."""
_ACTIONS = (*_DELETES, "-exec", "-execdir", "-ls", "-print0", "-printf")
"""What it does in a command or its preview."""


def _lists_what_goes(evidence: Mapping[str, Any], lines: Sequence[str], argv: object) -> bool:
    """Return whether a preview lists exactly what a command deletes: the same `find`, or the files that `rm` names."""
    ran = [str(word) for word in argv] if isinstance(argv, list) else []
    looked = [str(word) for word in evidence.get("argv") or ()]
    if not ran or not looked:
        return False
    name = ran[0].rpartition("/")[2]
    if name == "find":
        tests = [list(takewhile(lambda word: word not in _ACTIONS, words)) for words in (ran, looked)]
        return tests[0] == tests[1] and _DELETES.issuperset(ran[len(tests[0]) :])
    options = [word for word in ran[1:] if word.startswith("-")]
    recursive = any("recursive" in word or (word[:2] != "--" and {"r", "R"} & set(word)) for word in options)
    return name in ("rm", "unlink") and not recursive and {*ran[1:]} - {*options} == {*lines}


def _what_went_wrong(evidence: Mapping[str, Any], kept: int) -> str:
    """Return how a preview ended and how much it printed where it didn't end well; empty where it did."""
    code = evidence.get("exit_code", 0)
    if not code and code is not None and not evidence.get("timed_out"):
        return ""
    count = int(evidence.get("lines", kept) or 0)
    state = _("timed out") if evidence.get("timed_out") else _("exit code {code}").format(code=code)
    return ngettext("{n:,} line, {state}", "{n:,} lines, {state}", count).format(n=count, state=state)


_UNITS = ("KB", "MB", "GB", "TB")


def size_words(size: int) -> str:
    """Return a number of bytes as people say it: `3.2 MB`."""
    if size < 1000:
        return ngettext("{n} byte", "{n} bytes", size).format(n=size)
    value, unit = size / 1000, 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if value < 9.95 else f"{value:.0f} {_UNITS[unit]}"


def findings_rows(found: Mapping[str, Any], most: int | None = None, key: str = "") -> Iterable[Row]:
    """Return what the rules of safe interrupts found in a graph; no rows where nothing was. See `evidence_rows`."""
    findings = found.get("findings") or []
    if not findings:
        return
    head = ngettext("{n} finding: {command}", "{n} findings: {command}", len(findings))
    yield labelled(
        _("check"), head.format(n=len(findings), command=in_line(str(found["command"]))), "bold $text-warning"
    )
    for one in findings[:most]:
        place = f"{in_line(str(one['file']))}:{one['line']} {one['rule']}"
        yield text_row(f"  │ {place} {safe_message(one['message'], multiline=False)}", "$text-muted")
    if most is not None and len(findings) > most:
        yield text_row(
            _("  │ … {n:,} more lines: {key} Details").format(n=len(findings) - most, key=key), "$text-muted"
        )
