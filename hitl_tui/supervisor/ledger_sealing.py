"""What signs and anchors the record of a data folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hitl_tui.core.errors import StorageError
from hitl_tui.ledger.anchors import anchor_file
from hitl_tui.ledger.sealing import Sealing
from hitl_tui.ledger.signatures import ENVIRONMENT, KnownSignatures, Signer
from hitl_tui.supervisor.storage import DataFolder


def sealing_of(data: DataFolder, environ: Mapping[str, str], tell: Callable[[str], None]) -> Sealing | None:
    """Return what signs and anchors what is written; None where nothing can be written.

    Args:
        data: the data folder.
        environ: may hold the key.
        tell: is told when signing or anchoring fails.

    Raises:
        BadInput: the key in the environment is none.
        ConfigError: settings.toml can't be used.
    """
    if data.read_only:
        return None
    # Whoever shares a record signs it with the key that they share; a key of this machine would be unknown to others.
    signs = isinstance(data.place, Path) or environ.get(ENVIRONMENT, "").strip()
    return Sealing(data.place, Signer(environ) if signs else None, anchor_file(data.root, data.place), tell)


def known_signatures(environ: Mapping[str, str]) -> KnownSignatures:
    """Return what is known of signatures here; nothing where the key can't be read, of which there is a warning."""
    try:
        return Signer(environ).known()
    except StorageError:
        return KnownSignatures()
