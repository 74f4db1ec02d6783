"""What commands say that they deleted, told in a few words."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from hitl_tui.teams.printed_figures import Run

_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "file": "deleted 1 file: {where}",
            "files": "deleted {count:,} files in {where}",
            "entry": "deleted 1 entry: {where}",
            "entries": "deleted {count:,} entries in {where}",
            "none": "deleted nothing",
        },
        "ko": {
            "file": "파일 1개 삭제: {where}",
            "files": "{where}에서 파일 {count:,}개 삭제",
            "entry": "항목 1개 삭제: {where}",
            "entries": "{where}에서 항목 {count:,}개 삭제",
            "none": "삭제한 것 없음",
        },
    }
)


def deleted(run: Run) -> list[str] | None:
    """Return the paths that a run printed as deleted, as far as its output was kept.

    None where its command line doesn't say that they are.
    """
    if run.program == "find" and "-delete" in run.argv and run.argv[-2:] == ("-print", "-delete"):
        return run.lines
    if run.program == "rm" and {"-v", "--verbose", "-rv", "-fv", "-rfv", "-vf", "-vr"} & set(run.argv[1:]):
        removed = (re.fullmatch(r"removed (?:directory )?['‘](.+)['’]", line.strip()) for line in run.lines)
        return [match[1] for match in removed if match]
    return None


def deleted_count(run: Run) -> int:
    """Return how many paths a run printed as deleted, those that weren't kept included."""
    return run.all_lines or len(deleted(run) or ())


def deletion(run: Run, language: str, shown: Callable[[str], str]) -> str:
    """Return in words what a run deleted: how many files, and where; empty where it isn't known to delete.

    Args:
        run: the run.
        language: `ko` or `en`; others get English.
        shown: how a path is written.
    """
    gone = deleted(run)
    if gone is None:
        return ""
    words = _WORDS.get(language, _WORDS["en"])
    if not gone:
        return words["none"]
    files = any(pair == ("-type", "f") for pair in zip(run.argv, run.argv[1:], strict=False))
    if deleted_count(run) == 1:
        return words["file" if files else "entry"].format(where=shown(gone[0]))
    where = posixpath.commonpath([posixpath.dirname(path) or "." for path in gone]) if _one_kind(gone) else "."
    return words["files" if files else "entries"].format(count=deleted_count(run), where=shown(where or "."))


def _one_kind(paths: Sequence[str]) -> bool:
    return len({path.startswith("/") for path in paths}) == 1
