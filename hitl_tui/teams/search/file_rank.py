"""In which order the files of a folder of source code are searched: what is written for people comes first."""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import PurePosixPath


class FileRank(IntEnum):
    """What a file is for, by its path."""

    PROSE = 0
    SOURCE = 1
    TEST = 2
    GENERATED = 3


CODE_SHARE = 0.2
"""Share of source among the files of a folder from which it counts as one of source code."""
_SOURCE = frozenset({".py", ".js", ".ts", ".sh", ".sql", ".json", ".jsonl", ".yaml", ".yml"})
_PROGRAMS = frozenset({".py", ".js", ".ts", ".sh", ".sql"})
_TESTS = frozenset(
    {"test", "tests", "testing", "testdata", "test_data", "__tests__", "spec", "specs", "e2e", "fixture", "fixtures"}
)
_MADE = frozenset(
    {"dist", "build", "out", "target", "generated", "_generated", "vendor", "third_party", "snapshots"}
    | {"__snapshots__", "pictures", "images", "img", "screenshots", "coverage", "htmlcov", "locales"}
)
_TEST_NAME = re.compile(r"(?:test_.*|.*[._-](?:test|spec)|conftest)\.\w+$", re.IGNORECASE)
_MADE_NAME = re.compile(r".*(?:\.min|[.-]lock|[._]generated|_pb2|_pb2_grpc)\.\w+$", re.IGNORECASE)
_ABOUT_CODE = re.compile(
    r"`[^`]+`|\w\(\)|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w*|\b(?:[A-Z][a-z0-9]+){2,}\b"
    r"|(?i:\b(?:code|function|class|method|module|variable|parameter|import|implement(?:ed|ation)?)s?\b)"
    r"|코드|함수|클래스|메서드|모듈|변수|매개변수|구현"
)
_ABOUT_TESTS = re.compile(r"(?i:\b(?:tests?|tested|testing|fixtures?|coverage)\b)|테스트")


def rank_of(path: str) -> FileRank:
    """Return what a file is for.

    Args:
        path: relative to the folder, forward slashes.
    """
    *folders, name = PurePosixPath(path.lower()).parts
    if _MADE_NAME.match(name) or not _MADE.isdisjoint(folders):
        return FileRank.GENERATED
    if _TEST_NAME.match(name) or not _TESTS.isdisjoint(folders):
        return FileRank.TEST
    return FileRank.SOURCE if PurePosixPath(name).suffix in _SOURCE else FileRank.PROSE


def is_program(path: str) -> bool:
    """Return whether a file is source code."""
    return PurePosixPath(path).suffix.lower() in _PROGRAMS


def ranks_asked(question: str) -> tuple[frozenset[FileRank], ...]:
    """Return which files of a folder of source code are searched for a question, one group after the other.

    A group is searched where those before it have no answer; source fills up what prose leaves.

    Args:
        question: as written.
    """
    first = {FileRank.PROSE, FileRank.SOURCE} if _ABOUT_CODE.search(question) else {FileRank.PROSE}
    if _ABOUT_TESTS.search(question):
        first |= {FileRank.SOURCE, FileRank.TEST}
    groups = [frozenset(first), *(frozenset({rank}) for rank in FileRank if rank not in first)]
    return tuple(groups)
