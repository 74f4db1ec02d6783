"""What is packaged with the program: starters and themes.

A wheel carries them in `hitl_tui/_data`; a checkout has them at its root.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from hitl_tui.core.errors import StorageError


@dataclass(frozen=True, slots=True)
class Starter:
    """One thing to begin with that works at once (C1).

    Args:
        key: stable name.
        title: one line.
        question: what is asked.
        folder: the packaged workspace; it may be read-only, so `materialise` it first.
    """

    key: str
    title: str
    question: str
    folder: Path


def examples_folder() -> Path:
    """Return the folder of the packaged example workspaces.

    Raises:
        StorageError: the installation lacks it.
    """
    return _packaged("examples")


def themes_folder() -> Path:
    """Return the folder of the packaged theme files.

    Raises:
        StorageError: the installation lacks it.
    """
    return _packaged("themes")


def starters() -> list[Starter]:
    """Return the starters in the order they are offered.

    Raises:
        StorageError: the installation lacks them.
    """
    lease = examples_folder() / "lease"
    return [
        Starter(
            "lease-ko",
            "전세금 인상 요구: 법 요약에서 찾고 계산하기",
            "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘",
            lease,
        ),
        Starter(
            "lease-en",
            "A landlord wants a higher deposit: search the law, then compute",
            "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. "
            "How can I resolve this legally?",
            lease,
        ),
    ]


def materialise(starter: Starter, data: Path) -> Path:
    """Return a starter's own writable workspace, `<data>/starters/<folder>`, made at the first call.

    What is there already is never written to, so changes stay. A crash leaves either nothing or the whole.

    Args:
        starter: what to copy; starters that share a folder share the copy.
        data: the data folder.

    Raises:
        StorageError: it can't be written.
    """
    target = data / "starters" / starter.folder.name
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=".new-"))
        try:
            _copy(starter.folder, scratch / "whole")
            _settle(scratch / "whole", target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except (OSError, shutil.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise StorageError(f"The example can't be copied to {target}: {why}.") from error
    return target


def _copy(source: Path, target: Path) -> None:
    """Copy contents without modes: what is packaged may be read-only, and a person is to change the copy."""
    target.mkdir()
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir()
        else:
            shutil.copyfile(path, copy)


def _settle(whole: Path, target: Path) -> None:
    try:
        whole.rename(target)
    except OSError:
        if not target.is_dir():  # otherwise another process was faster, and its copy is as good
            raise


def _packaged(name: str) -> Path:
    inside = files("hitl_tui") / "_data" / name
    if isinstance(inside, Path) and inside.is_dir():
        return inside
    checkout = Path(__file__).resolve().parent.parent / name
    if checkout.is_dir():
        return checkout
    raise StorageError(f"This installation lacks its {name}; install hitl-tui again.")
