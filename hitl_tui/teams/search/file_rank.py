"""What a file is for, by its path: what is written for people comes before source, tests and what once changed."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_SOURCE = frozenset({".py", ".js", ".ts", ".sh", ".sql", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".cfg", ".ini"})
_TESTS = frozenset(
    {"test", "tests", "testing", "testdata", "test_data", "__tests__", "spec", "specs", "e2e", "fixture", "fixtures"}
)
_MADE = frozenset(
    {"dist", "build", "out", "target", "generated", "_generated", "vendor", "third_party", "snapshots"}
    | {"__snapshots__", "pictures", "images", "img", "screenshots", "coverage", "htmlcov", "locales"}
)
_TEST_NAME = re.compile(r"(?:test_.*|.*[._-](?:test|spec)|conftest)\.\w+$", re.IGNORECASE)
_MADE_NAME = re.compile(r".*(?:\.min|[.-]lock|[._]generated|_pb2|_pb2_grpc)\.\w+$", re.IGNORECASE)
_RECORD_NAME = re.compile(
    r".*(?:change(?:log|s)|history|whats.?new|release.?notes?|news|archive|minutes|변경|이력|회의록).*", re.IGNORECASE
)
_ABOUT_FOLDER = re.compile(r"(?:readme|contributing)(?:\.\w+)*$")
_ABOUT_TESTS = re.compile(r"(?i:\b(?:tests?|tested|testing|fixtures?|coverage)\b)|테스트")
_ABOUT_CODE = re.compile(
    r"`[^`]+`|\w\(\)|\b[a-z]+_[a-z_]+\b|(?i:\b(?:code|functions?|class(?:es)?|methods?|modules?|source)\b)|코드|함수|클래스|메서드"
)
_ABOUT_RECORDS = re.compile(
    r"(?i:\b(?:versions?|releases?|released|changelog|upgrade\w*|since|news|history)\b)|버전|릴리스|변경|업그레이드"
)


def weight_of(path: str, question: str) -> float:
    """Return how much a passage of a file counts, 0 to 1.

    Args:
        path: relative to the folder, forward slashes.
        question: what was asked, which may be about tests or former versions.
    """
    *folders, name = PurePosixPath(path.lower()).parts
    if _MADE_NAME.match(name) or not _MADE.isdisjoint(folders):
        return 0.45
    if (_TEST_NAME.match(name) or not _TESTS.isdisjoint(folders)) and not _ABOUT_TESTS.search(question):
        return 0.6
    if _ABOUT_FOLDER.match(name):
        return 0.85
    if _RECORD_NAME.match(name) and not _ABOUT_RECORDS.search(question):
        return 0.75
    return 0.75 if PurePosixPath(name).suffix in _SOURCE and not _ABOUT_CODE.search(question) else 1.0
