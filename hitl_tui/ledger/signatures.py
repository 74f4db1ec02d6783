"""Signing the heads of streams, with a key that doesn't lie in the data folder."""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.config.atomic_files import link_new, make_private, write_atomically, write_new
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.records import Head

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ENVIRONMENT = "HITL_AUDIT_KEY"
KEY_FILE = "audit-key"
STATE_FILE = "audit-state.json"
_DOMAIN = "hitl-tui audit head 1"
_BYTES = 32

Place = Path | str
"""What a ledger is known by: its file, or the address of its database."""


@dataclass(frozen=True, slots=True)
class KnownSignatures:
    """What this account knows of signatures, outside the data folder.

    Args:
        keys: public keys that it has signed with, as hexadecimal digits.
        ledgers: since when each ledger is signed, by its path.
        heads: the newest heads of streams that are seldom written to, by the ledger's path.
        accepted: keys of other accounts that it accepted, by the ledger's path.
    """

    keys: frozenset[str] = frozenset()
    ledgers: Mapping[str, str] = field(default_factory=dict)
    heads: Mapping[str, Mapping[str, Head]] = field(default_factory=dict)
    accepted: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def keys_of(self, ledger: Place) -> frozenset[str]:
        """Return the keys that may have signed a ledger; none where there is nothing to tell those of others by."""
        return self.keys.union(*(self.accepted.get(name, frozenset()) for name in _names(ledger)))

    def since(self, ledger: Place) -> str:
        """Return since when a ledger is signed; empty where that isn't known."""
        return next((self.ledgers[name] for name in _names(ledger) if name in self.ledgers), "")

    def heads_of(self, ledger: Place) -> Mapping[str, Head]:
        """Return the heads that a ledger had when this account last wrote to those streams."""
        return next((self.heads[name] for name in _names(ledger) if name in self.heads), {})


SHOWN_DIGITS = 16
"""Digits of a key that people are shown: 64 bits, which nobody finds another key for."""


def shown_key(key: str) -> str:
    """Return what people are shown of a public key, and accept it by."""
    return key[:SHOWN_DIGITS]


def accept_command(key: str) -> str:
    """Return the command that accepts what a key signed."""
    return f"hitl-tui audit accept {shown_key(key)}"


def _names(ledger: Place) -> tuple[str, ...]:
    """Return what a ledger is known by: its path as it is named, and with all links followed; or its address."""
    if isinstance(ledger, str):
        return (ledger,)
    return tuple(dict.fromkeys((str(ledger.absolute()), str(ledger.resolve()))))


def payload(stream: str, n: int, hashed: str) -> bytes:
    """Return what is signed of a head: the entry's hash covers everything before it."""
    return json.dumps([_DOMAIN, stream, n, hashed], ensure_ascii=True).encode()


def verifies(key: str, signature: bytes, stream: str, n: int, hashed: str) -> bool:
    """Return whether a signature is one of this key over this head."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, payload(stream, n, hashed))
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def config_folder() -> Path:
    """Return where the key lies: the platform's folder for settings of this account."""
    from platformdirs import user_config_dir

    return Path(user_config_dir("hitl-tui", appauthor=False))


def remembered_head(ledger: Place, stream: str) -> Head | None:
    """Return the head that a stream had when this account last wrote to it; None where that isn't kept."""
    return _state(config_folder()).heads_of(ledger).get(stream)


class Signer:
    """Signs heads. Nothing is imported, read or made before the first signature.

    Args:
        environ: may hold the key.
        folder: where the key lies else; None for the platform's place.

    Raises:
        BadInput: the key in the environment is none.
    """

    def __init__(self, environ: Mapping[str, str], folder: Path | None = None) -> None:
        given = environ.get(ENVIRONMENT, "").strip()
        self._seed = _decoded(given, ENVIRONMENT) if given else None
        self._folder = folder
        self._key: Ed25519PrivateKey | None = None
        self._public = ""

    @property
    def folder(self) -> Path:
        """Where the key and what is known of signatures lie."""
        return self._folder or config_folder()

    @property
    def public(self) -> str:
        """The public key, as hexadecimal digits.

        Raises:
            StorageError: there is no key and none can be made, or it can't be read.
        """
        self._load()
        return self._public

    @property
    def own(self) -> str:
        """The public key that there is already; empty where none was made. Raises StorageError: it can't be read."""
        return self.public if self._seed is not None or (self.folder / KEY_FILE).exists() else ""

    def sign(self, stream: str, n: int, hashed: str) -> bytes:
        """Return the signature of a head. Raises StorageError as `public` does."""
        return self._load().sign(payload(stream, n, hashed))

    def known(self) -> KnownSignatures:
        """Return what is known here; also the key there is now, without making one."""
        state = _state(self.folder)
        return replace(state, keys=state.keys | {own}) if (own := self.own) else state

    def remember(self, ledger: Place, now: str, heads: Iterable[Head] = (), accepted: Collection[str] = ()) -> None:
        """Keep in mind, outside the data folder, that a ledger is signed with this key from now on, and some heads.

        With a key from the environment there may be no place to keep anything: then nothing is kept.

        Args:
            ledger: which.
            now: when, ISO 8601, UTC.
            heads: of streams that are seldom written to.
            accepted: keys of other accounts that are known in this ledger from now on, too.
        """
        state, names, newest = _state(self.folder), _names(ledger), {head.stream: head for head in heads}
        known = {self.public, *accepted} <= state.keys_of(ledger)
        if known and all(name in state.ledgers for name in names) and not newest:
            return
        kept = {**state.heads, **{name: {**state.heads_of(ledger), **newest} for name in names if newest}}
        others = dict(state.accepted)
        others |= {name: state.accepted.get(name, frozenset()).union(accepted) for name in names if accepted}
        data = {
            "keys": sorted({*state.keys, self.public}),
            "ledgers": {**dict.fromkeys(names, now), **state.ledgers},
            "heads": {name: {h.stream: [h.n, h.hash] for h in of.values()} for name, of in kept.items()},
            "accepted": {name: sorted(keys) for name, keys in others.items()},
        }
        try:
            make_private(self.folder)
            write_atomically(self.folder / STATE_FILE, json.dumps(data, indent=2).encode())
        except OSError:
            if self._seed is None:
                raise

    def accept(self, ledger: Place, now: str, key: str) -> None:
        """Know a key of another account from now on, whatever it signs in a ledger.

        Raises:
            StorageError: that can't be kept.
        """
        self.remember(ledger, now, accepted=[key])
        if key not in _state(self.folder).keys_of(ledger):
            raise StorageError(Message("{} can't be written, so the key isn't accepted.", self.folder / STATE_FILE))

    def _load(self) -> Ed25519PrivateKey:
        if self._key is None:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            seed = self._seed if self._seed is not None else _stored(self.folder)
            self._key = Ed25519PrivateKey.from_private_bytes(seed)
            self._public = self._key.public_key().public_bytes_raw().hex()
        return self._key


def _stored(folder: Path) -> bytes:
    """Return the key of a folder, which is made when there is none."""
    path = folder / KEY_FILE
    try:
        if not path.exists():
            make_private(folder)
            with suppress(FileExistsError):  # another process may be first: then its key is the one
                write_new(path, base64.urlsafe_b64encode(secrets.token_bytes(_BYTES)) + b"\n", link_new)
        text = path.read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise StorageError(
            Message(
                "The key for signing the record, {}, can't be read or made: {}.",
                path,
                getattr(error, "strerror", None) or error,
            )
        ) from error
    try:
        return _decoded(text.strip(), str(path))
    except BadInput as error:
        raise StorageError(error.message) from error


def _decoded(text: str, where: str) -> bytes:
    try:
        seed = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        seed = b""
    if len(seed) != _BYTES:
        raise BadInput(Message("{} isn't a signing key: it takes 32 random bytes in base64 (44 characters).", where))
    return seed


def _state(folder: Path) -> KnownSignatures:
    try:
        data: Any = json.loads((folder / STATE_FILE).read_text(encoding="utf-8"))
        heads = {
            str(name): {str(s): Head(str(s), int(n), str(h)) for s, (n, h) in of.items()}
            for name, of in data.get("heads", {}).items()
        }
        accepted = {str(name): frozenset(map(str, keys)) for name, keys in data.get("accepted", {}).items()}
        since = {str(k): str(v) for k, v in data["ledgers"].items()}
        return KnownSignatures(frozenset(map(str, data["keys"])), since, heads, accepted)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return KnownSignatures()
