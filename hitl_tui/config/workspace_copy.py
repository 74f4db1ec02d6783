"""`WorkspaceCopy`: a workspace by name and declared content, wherever a machine has a copy of it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from hitl_tui.config.declared_graphs import LANGGRAPH_FILE
from hitl_tui.config.loader import FILE_NAME
from hitl_tui.config.workspace_files import read_files, real_path
from hitl_tui.core.errors import ConfigError
from hitl_tui.core.json_text import digest
from hitl_tui.core.names import clip

_SHOWN = 8
_SLUG = 16


@dataclass(frozen=True, slots=True)
class WorkspaceCopy:
    """A folder of this machine, and what makes it the same workspace as a folder of another one.

    Args:
        name: what it is called: the folder's own name unless another was given.
        digest: SHA-256 over its hitl.toml and langgraph.json, which say what its teams are and what they may do.
        folder: real path.
    """

    name: str
    digest: str
    folder: Path

    @property
    def queue(self) -> str:
        """The queue of those who can carry it: short, for a channel is called after it."""
        return queue_of(self.name, self.digest)

    @property
    def shown(self) -> str:
        """How people tell it from another content of the same name."""
        return workspace_label(self.name, self.digest)


def queue_of(name: str, content: str) -> str:
    """Return the name of the queue of a workspace."""
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in name)[:_SLUG]
    return f"{slug}-{sha256(f'{name} {content}'.encode(errors='surrogatepass')).hexdigest()[:12]}"


def workspace_label(name: str, content: str) -> str:
    """Return how people are told of a workspace with a content."""
    return f"{clip(name)} ({content[:_SHOWN]})"


def workspace_copy(folder: Path, name: str = "") -> WorkspaceCopy:
    """Return a folder as a copy of a workspace.

    Args:
        folder: where it is; it need not be there.
        name: what it is called; empty for the folder's own name.
    """
    real = real_path(folder)
    try:
        found = read_files(real).digests
    except ConfigError:  # who opens it says so
        found = {}
    content = digest({file: found[file] for file in (FILE_NAME, LANGGRAPH_FILE) if file in found})
    return WorkspaceCopy(name or real.name, content, real)
