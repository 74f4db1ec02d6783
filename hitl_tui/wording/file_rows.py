"""Which files a step wrote and deleted, as far as its result says so, as rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hitl_tui.core.safe_text import safe_text
from hitl_tui.teams.printed_deletions import deleted, deleted_count
from hitl_tui.teams.printed_figures import run_of
from hitl_tui.terminal.ascii_signs import _, ngettext
from hitl_tui.wording.rows import Row, in_line, labelled

_MOST = 50


def file_rows(result: Mapping[str, object], name: str = "") -> list[Row]:
    """Return the files that a result says were written, and those that its command printed as deleted.

    Args:
        result: a `TeamResult` as it is kept.
        name: whose result it is, where that isn't plain.
    """
    written, run = result.get("files"), run_of("", result)
    gone = sorted(path.strip() for path in (run is not None and deleted(run)) or ())
    of = f"{in_line(name)} · " if name else ""
    rows = list(_listed(_("wrote"), of, written if isinstance(written, list | tuple) else ()))
    return [*rows, *_listed(_("deleted"), of, gone, deleted_count(run) if run is not None else 0)]


def _listed(label: str, of: str, paths: Sequence[object], known: int = 0) -> Iterator[Row]:
    if not paths:
        return
    names: list[str] = [safe_text(str(path), multiline=False) for path in paths[:_MOST]]
    total = max(known, len(paths))
    if total > len(names):
        names.append(_("… and {n:,} more").format(n=total - len(names)))
    count = ngettext("{n:,} file", "{n:,} files", total).format(n=total)
    yield labelled(label, "\n".join([f"{of}{count}", *names]))
