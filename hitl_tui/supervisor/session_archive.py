"""The one file that a session travels in: a zip with a manifest, checked whole before anything is taken out of it.

manifest.json      format, version, the session, and size and SHA-256 of every other member
checkpoints.db     SQLite
artifacts/ab/…     results, by SHA-256
ledger.jsonl       the session's stream, one entry a line
ancestors/….jsonl  the streams of the sessions that it is a copy of
effects.json       what is known to have been done to the world
activity.log       the stream of what teams said
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypedDict

from hitl_tui.config.atomic_files import make_private, publish_new, sync_folder
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.session_staging import room_for
from hitl_tui.supervisor.storage import is_digest

FORMAT, VERSION = "hitl-tui session", 1
MANIFEST, CHECKPOINTS, LEDGER, EFFECTS, ACTIVITY = (
    "manifest.json",
    "checkpoints.db",
    "ledger.jsonl",
    "effects.json",
    "activity.log",
)
ANCESTORS, ARTIFACTS = "ancestors/", "artifacts/"

_PLAIN = frozenset({CHECKPOINTS, LEDGER, EFFECTS, ACTIVITY})
_ANCESTOR = re.compile(r"ancestors/[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.jsonl")
_LARGEST_MANIFEST = 64 * 1024 * 1024
_MOST_MEMBERS = 200_000
_HARMLESS, _MOST_TIMES = 256 * 1024 * 1024, 200
_CHUNK = 1024 * 1024
_LARGEST_DIRECTORY = 256 * 1024 * 1024
_LONGEST_END = 22 + 56 + 20 + 65_535
"""Bytes at a zip's end that may hold its last record, the two before it in a large one, and a comment."""


class StreamEnd(TypedDict):
    """Number and hash of a stream's last entry."""

    n: int
    hash: str


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its size in bytes and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself.

    Args:
        session: the session's `SessionInfo`, as a dict.
        checkpoint_id: the session's head; empty for one that hasn't begun.
        head: `n` and `hash` of the stream's last entry.
        members: everything else in the archive, by name.
        created: when it was made, ISO 8601.
    """

    session: Mapping[str, Json]
    checkpoint_id: str
    head: StreamEnd
    members: Mapping[str, Member]
    created: str


class ArchiveDraft:
    """An archive that is being made, under another name in its folder.

    Args:
        path: the file to make.
        file: the draft.
        parts: an empty folder beside it for what goes into it, on the disk that has to have room for both.
    """

    def __init__(self, path: Path, file: IO[bytes], parts: Path) -> None:
        self._path = path
        self._file = file
        self.parts = parts

    def write(self, members: Mapping[str, Path], about: Mapping[str, object]) -> None:
        """Write the archive: whole and durable under its name, or not at all; an existing file is never touched.

        Args:
            members: files by their name in the archive.
            about: the manifest without format, version and files.

        Raises:
            BadInput: there is such a file by now.
            StorageError: it can't be written.
        """
        with room_for(str(self._path)):
            self._file.truncate(0)  # what a process left that died here
            _write_members(self._file, members, about)
            self._file.flush()
            os.fsync(self._file.fileno())
            try:
                publish_new(_draft_of(self._path), self._path)
            except FileExistsError:
                raise _exists(self._path) from None
            sync_folder(self._path.parent)


@contextmanager
def archive_draft(path: Path) -> Iterator[ArchiveDraft]:
    """Begin an archive; what isn't written in the end leaves nothing, and what a process left that died here goes.

    Args:
        path: the file to make, see `check_target`.

    Raises:
        BadInput: another process is making it.
        StorageError: it can't be written.
    """
    draft, parts = _draft_of(path), path.with_name(f".{path.name}.parts")
    with room_for(str(path)):
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(Message("Another process is writing {} right now.", path)) from None
        try:
            with room_for(str(path)):
                shutil.rmtree(parts, ignore_errors=True)
                parts.mkdir(mode=0o700)
            yield ArchiveDraft(path, file, parts)
        finally:
            shutil.rmtree(parts, ignore_errors=True)
            draft.unlink(missing_ok=True)


def _draft_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def check_target(path: Path) -> Path:
    """Return the absolute path of a file that can be made.

    Raises:
        BadInput: it can't: there is one already, or its folder is missing.
    """
    path = path.expanduser().absolute()
    if not path.parent.is_dir():
        raise BadInput(Message("The folder {} doesn't exist.", path.parent))
    if path.is_dir():
        raise BadInput(Message("{} is a folder; name a file to write.", path))
    if os.path.lexists(path):
        raise _exists(path)
    return path


def _exists(path: Path) -> BadInput:
    return BadInput(Message("{} already exists; existing files are never overwritten.", path))


def _write_members(file: IO[bytes], members: Mapping[str, Path], about: Mapping[str, object]) -> None:
    written: dict[str, dict[str, int | str]] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in members.items():
            hashed, size = hashlib.sha256(), 0
            with path.open("rb") as source, archive.open(_entry(name), "w", force_zip64=True) as target:
                while chunk := source.read(_CHUNK):
                    hashed.update(chunk)
                    size += len(chunk)
                    target.write(chunk)
            written[name] = {"size": size, "sha256": hashed.hexdigest()}
        manifest = {"format": FORMAT, "version": VERSION, **about, "files": written}
        archive.writestr(_entry(MANIFEST), json.dumps(manifest, indent=1))


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    return entry


class SessionArchive:
    """An archive whose every member was checked. Use `open_archive`."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self._path = path
        self._archive = archive
        self.manifest = manifest

    def read(self, name: str, most: int) -> bytes:
        """Return a member's content; empty when there is none.

        Raises:
            BadInput: it has more than `most` bytes, or isn't what the manifest says any more.
        """
        found = self.manifest.members.get(name)
        if found is None:
            return b""
        if found.size > most:
            raise BadInput(Message("{}: {} is too large.", self._path, name))
        return b"".join(self._chunks(name))

    def extract(self, name: str, target: Path) -> None:
        """Write a member to a file that doesn't exist, durably.

        Raises:
            BadInput: it isn't what the manifest says any more.
            StorageError: it can't be written.
        """
        with room_for(str(target.parent)):
            make_private(target.parent)
            with target.open("xb") as file:
                for chunk in self._chunks(name):
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())

    def check(self) -> None:
        """Read every member and compare it with the manifest.

        Raises:
            BadInput: one of them isn't what the manifest says.
        """
        for name in self.manifest.members:
            for _ in self._chunks(name):
                pass

    def _chunks(self, name: str) -> Iterator[bytes]:
        expected = self.manifest.members[name]
        hashed, size = hashlib.sha256(), 0
        try:
            with self._archive.open(name) as source:
                while chunk := source.read(_CHUNK):
                    hashed.update(chunk)
                    size += len(chunk)
                    yield chunk
        except (zipfile.BadZipFile, EOFError, ValueError, OSError, _decompression()) as error:
            raise BadInput(Message("{} is damaged: {} can't be read.", self._path, name)) from error
        if (size, hashed.hexdigest()) != (expected.size, expected.sha256):
            raise BadInput(Message("{} is damaged or was changed: {} isn't what its manifest says.", self._path, name))


@contextmanager
def open_archive(path: Path) -> Iterator[SessionArchive]:
    """Open an archive and check all of it: names, links, sizes, digests, version. Nothing is written.

    Raises:
        BadInput: it is no archive of ours, damaged, changed, of a newer version or dangerous.
        StorageError: it can't be read.
    """
    with closing(_opened(path)) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError):
            raise BadInput(Message("{} isn't an export of a session.", path)) from None
        with closing(archive):
            manifest = _manifest(path, archive)
            _check_entries(path, archive, manifest, size)
            found = SessionArchive(path, archive, manifest)
            found.check()
            yield found


def _opened(path: Path) -> IO[bytes]:
    """Open a regular file, and nothing else: a device never ends, and a pipe waits for whoever writes into it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise BadInput(Message("File {} not found.", path)) from None
    except OSError as error:
        raise StorageError(Message("{} can't be read: {}.", path, error.strerror)) from error
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        if stat.S_ISDIR(found.st_mode):
            raise BadInput(Message("{} is a folder; name the file that an export wrote.", path))
        raise BadInput(Message("{} isn't a regular file; name the file that an export wrote.", path))
    file = os.fdopen(handle, "rb")
    if _directory_size(file, found.st_size) > _LARGEST_DIRECTORY:
        file.close()
        raise BadInput(Message("{} would unpack to an enormous size; it was not used.", path))
    return file


def _directory_size(file: IO[bytes], size: int) -> int:
    """Return how long a zip says that its list of members is: all of that is read into memory at once."""
    file.seek(max(0, size - _LONGEST_END))
    end = file.read(_LONGEST_END)
    file.seek(0)
    sizes = []
    for mark, place, width in ((b"PK\5\6", 12, 4), (b"PK\6\6", 40, 8)):
        at = end.rfind(mark)
        if at >= 0:
            sizes.append(int.from_bytes(end[at + place : at + place + width], "little"))
    return min(max(sizes, default=0), size)


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    no_export = BadInput(Message("{} isn't an export of a session.", path))
    entries = [e for e in archive.infolist() if e.filename == MANIFEST]
    if len(entries) != 1 or entries[0].file_size > _LARGEST_MANIFEST:
        raise no_export
    try:
        data = json.loads(archive.read(entries[0]))
        if data["format"] != FORMAT:
            raise no_export
        version = data["version"]
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, RuntimeError, OSError, _decompression()) as error:
        raise no_export from error
    if not isinstance(version, int) or version > VERSION:
        raise BadInput(
            Message(
                "{} was written by a newer version of hitl-tui (format {}, this one reads {}).",
                path,
                str(version)[:20],
                VERSION,
            )
        )
    if isinstance(version, bool) or version < 1:
        raise BadInput(Message("{} can't be used: its manifest is damaged.", path))
    try:
        members = {str(name): Member(int(m["size"]), str(m["sha256"])) for name, m in data["files"].items()}
        session = {str(key): value for key, value in data["session"].items()}
        head: StreamEnd = {"n": int(data["ledger"]["n"]), "hash": str(data["ledger"]["hash"])}
        return Manifest(session, str(data["checkpoint_id"]), head, members, str(data["created"]))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:  # Infinity is no size
        raise BadInput(Message("{} can't be used: its manifest is damaged.", path)) from error


def _check_entries(path: Path, archive: zipfile.ZipFile, manifest: Manifest, size: int) -> None:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    strange = next((name for name in names if name != MANIFEST and not _is_ours(name)), None)
    if strange is not None:
        raise BadInput(
            Message('{} holds "{}", which no export of a session does; it was not used.', path, strange[:80])
        )
    if len(set(names)) != len(names) or len(names) > _MOST_MEMBERS:
        raise BadInput(Message("{} contains the same file twice, or far too many; it was not used.", path))
    if set(names) - {MANIFEST} != manifest.members.keys() or not manifest.members.keys() >= {LEDGER, EFFECTS}:
        raise BadInput(Message("{} is damaged or was changed: it doesn't match its manifest.", path))
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or entry.flag_bits & 1:
            raise BadInput(Message('{} holds "{}" as a link or encrypted; it was not used.', path, entry.filename))
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadInput(Message("{} is packed in a way that no export is; it was not used.", path))
        if entry.filename != MANIFEST and entry.file_size != manifest.members[entry.filename].size:
            raise BadInput(
                Message("{} is damaged or was changed: {} has another size than it says.", path, entry.filename)
            )
    for name, member in manifest.members.items():
        if name.startswith(ARTIFACTS) and member.sha256 != name.rsplit("/", 1)[1]:
            raise BadInput(
                Message("{} is damaged or was changed: the result {} isn't what its name says.", path, name[-64:-52])
            )
    if sum(entry.file_size for entry in entries) > max(_HARMLESS, _MOST_TIMES * size):
        raise BadInput(Message("{} would unpack to an enormous size; it was not used.", path))


def _is_ours(name: str) -> bool:
    if name in _PLAIN or _ANCESTOR.fullmatch(name):
        return True
    folder, _, digest = name.removeprefix(ARTIFACTS).partition("/")
    return name.startswith(ARTIFACTS) and is_digest(digest) and folder == digest[:2]


def _decompression() -> type[Exception]:
    import zlib

    return zlib.error
