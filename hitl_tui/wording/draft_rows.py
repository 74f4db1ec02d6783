"""A file that a step would make, as a diff against nothing."""

from __future__ import annotations

import difflib

from hitl_tui.language import _, ngettext
from hitl_tui.teams.contract import FilePreview
from hitl_tui.wording.evidence_rows import size_words
from hitl_tui.wording.rows import Row, in_line, labelled, text_row

_HEADERS = 3
"""Lines of a unified diff that stand before what it says of a file."""


def draft_rows(file: FilePreview, *, headed: bool) -> list[Row]:
    """Return what making a file would change, as a unified diff against nothing.

    Args:
        file: the file.
        headed: begin with the lines of the diff that say which file it is.
    """
    path, content = file.path, file.content
    lines = list(difflib.unified_diff([], content.splitlines(), "/dev/null", path, lineterm="", n=0))
    added = len(content.splitlines())
    note = (_("{path} (new; {taken} stays as it is)") if file.taken else _("{path} (new)")).format(
        path=path, taken=file.taken
    )
    size = size_words(len(content.encode()))
    said = ngettext("{note}: {lines:,} line, {size}", "{note}: {lines:,} lines, {size}", added)
    rows = [labelled(_("writes"), said.format(note=in_line(note), lines=added, size=size), "bold")]
    lines = lines if headed else lines[_HEADERS:]  # the row above says which file it is
    rows += [text_row(f"  {in_line(line)}", "$text-success" if line[:1] == "+" else "$text-muted") for line in lines]
    return rows


def unknown_draft() -> Row:
    """Return what stands in place of a file whose content isn't known."""
    return text_row(_("writes    what it would hold can't be worked out"), "bold $text-warning")
