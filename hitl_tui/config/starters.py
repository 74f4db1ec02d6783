"""What is packaged with the program, starters and themes, and how a starter becomes a folder of the person's own.

A wheel carries them in `hitl_tui/_data`; a checkout has them at its root.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hitl_tui.config.atomic_files import make_private
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message

ENGLISH, KOREAN = "en", "ko"


class StarterWords(NamedTuple):
    """What a starter says in one language.

    Args:
        title: a few words.
        description: one sentence: what will happen.
        question: what is asked.
    """

    title: str
    description: str
    question: str


class Starter(NamedTuple):
    """One thing to begin with that works at once.

    Args:
        key: stable name; a packaged folder under `examples/` and the name of its copies.
        words: what it says, by language: `en` and `ko`.
        folder: the packaged workspace; it may be read-only, so work in a `new_copy`.
        language: the one that `title`, `description` and `question` are in.
    """

    key: str
    words: Mapping[str, StarterWords]
    folder: Path
    language: str = ENGLISH

    @property
    def graph(self) -> str:
        """The graph in its folder that it runs, as `attach` takes it; empty for the built-in teams."""
        return _GRAPHS.get(self.key, "")

    @property
    def title(self) -> str:
        """A few words, in its language."""
        return self.words[self.language].title

    @property
    def description(self) -> str:
        """One sentence on what will happen, in its language."""
        return self.words[self.language].description

    @property
    def question(self) -> str:
        """What is asked, in its language."""
        return self.words[self.language].question

    def in_language(self, language: str) -> Starter:
        """Return the same starter in another language; one it doesn't speak gives English."""
        return self._replace(language=language if language in self.words else ENGLISH)


_STARTERS: Mapping[str, Mapping[str, StarterWords]] = MappingProxyType(
    {
        "lease": {
            "en": StarterWords(
                "A landlord wants a higher deposit: search the law, then compute",
                "Finds the passages in a summary of Korean housing-lease law and compares the rise with the legal cap.",
                "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. "
                "How can I resolve this legally?",
            ),
            "ko": StarterWords(
                "전세금 인상 요구: 법 요약에서 찾고 계산하기",
                "주택임대차법 요약에서 근거를 찾고, 인상률을 법정 한도와 비교합니다.",
                "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘",
            ),
        },
        "ops": {
            "en": StarterWords(
                "The disk of a server is full: runbook, measure, delete, verify",
                "Follows a runbook in a small copy of a server's files; shows each file before it would go.",
                "web-1's disk is full. Find in the runbook which logs may be deleted and what must never be touched, "
                "then measure, then delete old logs, then verify.",
            ),
            "ko": StarterWords(
                "서버 디스크가 가득 참: 런북, 측정, 삭제, 확인",
                "서버 파일의 작은 사본에서 런북대로 진행하며, 삭제 전에 지울 파일을 모두 보여 줍니다.",
                "web-1 디스크가 가득 찼어. 런북에서 지워도 되는 로그와 절대 건드리면 안 되는 것을 찾아줘. "
                "그다음 디스크 사용량을 보여줘. 그다음 오래된 로그를 지워줘. 그다음 남은 용량을 보여줘.",
            ),
        },
        "cleanup": {
            "en": StarterWords(
                "10,000 duplicate records: count, back up, delete, verify",
                "Cleans up a database of 22,000 customers; nothing is deleted before there is a backup and you say so.",
                "Count the duplicate records, then back up the database, then delete the duplicate records, "
                "then verify what is left.",
            ),
            "ko": StarterWords(
                "중복 레코드 10,000건: 세기, 백업, 삭제, 확인",
                "고객 22,000건의 데이터베이스를 정리하며, 백업과 승인 없이는 아무것도 지우지 않습니다.",
                "중복 레코드 개수를 세어줘. 그다음 데이터베이스를 백업해줘. 그다음 중복 레코드를 지워줘. "
                "그다음 남은 레코드를 보여줘.",
            ),
        },
        "attach": {
            "en": StarterWords(
                "Attach a LangGraph graph: one that asks before it sends a mail",
                "Starts a short graph that knows nothing of this program; it asks before it writes the mail to a file.",
                "ann@example.com: your order 1042 leaves on Friday",
            ),
            "ko": StarterWords(
                "LangGraph 그래프 연결: 메일을 보내기 전에 묻는 그래프",
                "이 프로그램을 전혀 모르는 짧은 그래프를 시작하고 그 질문에 답합니다. 메일은 파일로만 저장됩니다.",
                "ann@example.com: 주문 1042는 금요일에 출발합니다",
            ),
        },
    }
)
"""In the order they are offered; a further one is an entry here and a folder of that name among the examples."""

_GRAPHS: Mapping[str, str] = MappingProxyType({"attach": "mail.py:graph"})
"""Starters that run a graph of their folder."""


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


def starters(language: str | None = None) -> list[Starter]:
    """Return the starters in the order they are offered.

    Args:
        language: `en` or `ko`; the environment's unless given.

    Raises:
        StorageError: the installation lacks them.
    """
    spoken = environment_language(os.environ) if language is None else language
    folder = examples_folder()
    return [Starter(key, words, folder / key).in_language(spoken) for key, words in _STARTERS.items()]


def is_own_source(folder: Path) -> bool:
    """Return whether a folder is the source of this program: a project of its name, as its pyproject.toml says."""
    import tomllib

    try:
        with (folder / "pyproject.toml").open("rb") as file:
            name = tomllib.load(file).get("project", {}).get("name", "")
    except (OSError, ValueError, AttributeError, RecursionError):
        return False
    return re.sub(r"[-_.]+", "_", str(name)).lower() == __name__.partition(".")[0]


def environment_language(environ: Mapping[str, str]) -> str:
    """Return `ko` where the environment's locale is Korean, else `en`.

    Args:
        environ: the environment's variables.
    """
    chosen = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return KOREAN if chosen.lower().replace("-", "_").partition("_")[0].partition(".")[0] == KOREAN else ENGLISH


def new_copy(starter: Starter, data: Path) -> Path:
    """Return a new writable workspace with what a starter has: `<data>/starters/<key>`, then `<key>-2` and so on.

    Each start has its own, so that what an earlier one changed or deleted is there again. A crash leaves either nothing
    or the whole. A sandbox that the folder declares is made in the copy.

    Args:
        starter: what to copy.
        data: the data folder.

    Raises:
        StorageError: it can't be written.
    """
    parent = data / "starters"
    with _made(starter.folder, parent) as whole:
        return _settle(whole, parent / starter.folder.name)


@contextmanager
def _made(packaged: Path, parent: Path) -> Iterator[Path]:
    """Make what a starter has beside the copies; what is left of it at the end goes."""
    from hitl_tui.config.sandbox import make_sandbox

    try:
        make_private(parent)
        scratch = Path(tempfile.mkdtemp(dir=parent, prefix=".new-"))
        try:
            _copy(packaged, scratch / "whole")
            make_sandbox(scratch / "whole")
            yield scratch / "whole"
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except (OSError, shutil.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise StorageError(Message("The example can't be copied to {}: {}.", parent, why)) from error


def is_copy(folder: Path, data: Path) -> bool:
    """Return whether a folder is one that `new_copy` made, by its name and place."""
    ours = os.path.realpath(folder.parent) == os.path.realpath(data / "starters")
    return ours and starter_of(folder) in _STARTERS and not folder.is_symlink()


def reset_copy(folder: Path, data: Path) -> None:
    """Give a copy of a starter the files back that it began with; whatever else came to be in it goes.

    The folder itself stays. Where it ends on the way, another reset completes it.

    Raises:
        BadInput: it is no copy of a starter.
        StorageError: it can't be written.
    """
    if not is_copy(folder, data):
        raise BadInput(Message("{} isn't a starter's copy: only a starter can be reset.", folder))
    with _made(examples_folder() / starter_of(folder), folder.parent) as whole:
        for place, folders, files in os.walk(folder, topdown=False):
            here = Path(place)
            for name in files:
                if not _stands(whole / (here / name).relative_to(folder), folder=False):
                    (here / name).unlink()
            for name in folders:
                path = here / name
                if path.is_symlink():
                    path.unlink()
                elif not _stands(whole / path.relative_to(folder), folder=True):
                    path.rmdir()
        for path in sorted(whole.rglob("*")):
            target = folder / path.relative_to(whole)
            if path.is_dir():
                target.mkdir(exist_ok=True)
            else:
                path.replace(target)


def _stands(path: Path, *, folder: bool) -> bool:
    return path.is_dir() if folder else path.is_file()


def starter_of(folder: Path) -> str:
    """Return the key of the starter that a folder would be a copy of by its name: `cleanup` for `cleanup-2`."""
    return re.sub(r"-\d+$", "", folder.name)


def remove_copy(folder: Path, data: Path) -> None:
    """Remove a workspace that `new_copy` made; any other folder stays.

    Raises:
        StorageError: it can't be removed.
    """
    if not is_copy(folder, data):
        return
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(Message("{} can't be removed: {}.", folder, error.strerror)) from error


def _copy(source: Path, target: Path) -> None:
    """Copy contents without modes: what is packaged may be read-only, and a person is to change the copy."""
    target.mkdir()
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir()
        else:
            shutil.copyfile(path, copy)


def _settle(whole: Path, first: Path) -> Path:
    """Give a copy the first name that is free, also while other processes do the same."""
    target, number = first, 1
    while True:
        try:
            if not target.exists():
                whole.rename(target)
                return target
        except OSError:
            if not target.exists():  # otherwise another process was faster
                raise
        number += 1
        target = first.with_name(f"{first.name}-{number}")


def _packaged(name: str) -> Path:
    package = Path(__file__).resolve().parents[1]
    inside = package / "_data" / name
    if inside.is_dir():
        return inside
    checkout = package.parent / name
    if checkout.is_dir():
        return checkout
    raise StorageError(Message("This installation lacks its {}; reinstall hitl-tui.", name))
