"""What tests of questions about tables share."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path


def shared(folder: Path) -> Path:
    """Return a folder beside a test's own that holds the same files: one for all tests that ask of them.

    What is known of a table is kept as long as its file stays as it is, so that it isn't found out for each question.
    """
    held = sha256()
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        held.update(
            f"{path.relative_to(folder)}\0{path.is_file()}\0{len(content)}\0".encode("utf-8", "surrogateescape")
        )
        held.update(content)
    copy = folder.parent / f"tables-{held.hexdigest()[:20]}"
    if not copy.exists():
        shutil.copytree(folder, copy, symlinks=True)
    return copy
