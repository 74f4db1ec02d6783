"""What came of a session's work, kept by SHA-256: checkpoints refer to it and stay small."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from hitl_tui.config.atomic_files import sync_folder, write_atomically
from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_text import canonical
from hitl_tui.core.safe_text import mask_json


def is_digest(text: str) -> bool:
    """Tell whether a text has the form of a SHA-256, as `digest` writes it."""
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


class ArtifactStore:
    """Contents by SHA-256: JSON documents, written once, durable before their digest is used.

    Args:
        folder: where; made when missing.
        secrets: values that never reach a file, by name.
    """

    def __init__(self, folder: Path, secrets: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._secrets = dict(secrets or {})

    async def put(self, value: Mapping[str, Any]) -> str:
        """Keep a JSON object; return the SHA-256 of its canonical form.

        Raises:
            StorageError: it can't be written.
        """
        return await asyncio.to_thread(self._put, value)

    def _put(self, value: Mapping[str, Any]) -> str:
        data = canonical(mask_json(dict(value), self._secrets))
        digest = sha256(data).hexdigest()
        self._write(digest, data)
        return digest

    def _write(self, digest: str, data: bytes) -> None:
        path = self._path(digest)
        if path.exists():
            return
        try:
            if not path.parent.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                # A new folder is durable once those above it say so, and the file in it no sooner.
                sync_folder(self._folder)
                sync_folder(self._folder.parent)
            write_atomically(path, data)
        except OSError as error:
            raise StorageError(f"A result can't be written to {path.parent}: {error.strerror}.") from error

    async def get(self, digest: str) -> dict[str, Any]:
        """Return the object with this digest.

        Raises:
            StorageError: it is missing or damaged.
        """
        return await asyncio.to_thread(self._get, digest)

    def _get(self, digest: str) -> dict[str, Any]:
        data = self._read(digest)
        if sha256(data).hexdigest() != digest:
            raise StorageError(f"The result {digest[:12]} was changed on disk; its content isn't what was recorded.")
        found = json.loads(data.decode("utf-8", errors="surrogatepass"))
        return dict(found)

    def _read(self, digest: str) -> bytes:
        try:
            return self._path(digest).read_bytes()
        except OSError as error:
            # What a session and its copies did is told to all of them, and where it lies may be another's folder.
            for path in self._folder.parent.parent.glob(f"*/{self._folder.name}/{digest[:2]}/{digest}"):
                return path.read_bytes()
            raise StorageError(f"The result {digest[:12]} is missing: {error.strerror}.") from error

    async def keep(self, digest: str) -> None:
        """See that a content lies in this folder, wherever it is found now.

        Raises:
            StorageError: it is missing, or can't be written.
        """
        await asyncio.to_thread(lambda: self._write(digest, self._read(digest)))

    def files(self) -> dict[str, Path]:
        """Return where each content lies, by digest, in order."""
        found = sorted(self._folder.glob("??/*")) if self._folder.is_dir() else []
        return {path.name: path for path in found if is_digest(path.name) and path.parent.name == path.name[:2]}

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest
