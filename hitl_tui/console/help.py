"""The help screen's text: all keys, from the key map, and all commands, from the command table."""

from __future__ import annotations

from textual.content import Content

from hitl_tui.commands.spec import help_table
from hitl_tui.console import keys
from hitl_tui.console.asking import Row, text_row


def help_rows() -> list[Row]:
    """Return all keys, from the key map, and all commands, from the command table."""
    rows: list[Row] = []
    for where, title in keys.TITLES.items():
        rows.append(text_row(title, "bold $text-primary"))
        rows += [Row(f"  {spec.shown:<12}", Content(spec.help)) for spec in keys.of(where)]
        rows.append(text_row(""))
    rows.append(text_row("Commands", "bold $text-primary"))
    for usage, summary in help_table():
        rows += [text_row(f"  {usage}", "bold"), text_row(f"      {summary}", "$text-muted")]
    return rows
