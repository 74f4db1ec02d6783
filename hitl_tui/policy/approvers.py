"""Approvers: who counts where several people or a level are demanded, and how they are identified."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.core.errors import BadInput, ConfigError, HitlError, Refused
from hitl_tui.core.identity import Identity, Proof, claimed_name
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, person
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import REFUSING, Decision, needs_verified
from hitl_tui.core.safe_text import one_line
from hitl_tui.policy.accounts import account_name, owner_of
from hitl_tui.policy.approver_names import alike, checked_name

# Who decides is found out before the console's first frame: what only a list of approvers or a token needs is imported
# where it is used.
if TYPE_CHECKING:
    from hitl_tui.config.problems import Place

FILE_NAME = "approvers.toml"
STREAM = "policy/approvers"
"""Where the ledger keeps every change; no session can have this name."""
HIGHEST_LEVEL = 100
_LARGEST = 1_000_000
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_KEYS = ("name", "account", "token", "level")


@dataclass(frozen=True, slots=True)
class Approver:
    """One person whose decisions count.

    Args:
        name: who; no other approver's name looks like it.
        account: their operating system account; empty for none.
        token: hash of their token; empty for none.
        level: their level.
    """

    name: str
    account: str = ""
    token: str = ""
    level: int = 0

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON values; of a token only that there is one."""
        return {"name": self.name, "account": self.account, "token": bool(self.token), "level": self.level}


@dataclass(frozen=True, slots=True)
class Approvers:
    """Everybody who is verified here: the approvers, and the account that owns the data folder.

    Args:
        owner: that account.
        listed: the approvers.
        problem: why the file can't be used; empty where it can. Then nobody counts.
        elsewhere: other machines, which decide about the same sessions, have lists of their own.
    """

    owner: str
    listed: tuple[Approver, ...] = ()
    problem: str = ""
    elsewhere: bool = False

    @property
    def people(self) -> tuple[Approver, ...]:
        """Everybody who counts; the owner with level 0 unless they are listed."""
        if self.problem:
            return ()
        known = any(person(self.owner) in (person(a.account), person(a.name)) for a in self.listed)
        return self.listed if known else (Approver(self.owner, self.owner), *self.listed)

    def named(self, name: str) -> Approver | None:
        """Return the approver of this name."""
        return next((a for a in self.listed if person(a.name) == person(name)), None)

    def of_account(self, account: str) -> Approver | None:
        """Return whom an account proves; None for one that doesn't count here."""
        if self.problem:
            return None
        found = next((a for a in self.listed if a.account and a.account == account), None)
        if found is None and account == self.owner:
            same = self.named(account)  # known by their token: one person, whose account alone has no level
            return Approver(same.name if same else account, account)
        return found

    def able(self, terms: Terms, requester: str = "") -> tuple[str, ...]:
        """Return the names of those who can approve under these terms; `requester` asked, and so can't."""
        return tuple(a.name for a in self.people if a.level >= terms.level and person(a.name) != person(requester))

    def without(self, votes: Iterable[Decision], terms: Terms) -> tuple[str, ...]:
        """Return the persons among those who voted that wouldn't count now: no approvers any more, or of too low level.

        Args:
            votes: what was said of a question.
            terms: what it takes to decide it; where one person of any level is enough, nobody is left out.
        """
        if self.problem or self.elsewhere or not needs_verified(terms):
            return ()
        gone = (vote.person for vote in votes if vote.person and not self._counts(vote, terms))
        return tuple(dict.fromkeys(gone))

    def _counts(self, vote: Decision, terms: Terms) -> bool:
        by_account = self.of_account(vote.account) if vote.proof == Proof.ACCOUNT else None
        found = by_account or next((a for a in self.people if person(a.name) == person(vote.person)), None)
        refuses = vote.verdict in REFUSING and terms.veto
        return found is not None and (refuses or found.level >= terms.level)

    def shortfall(self, terms: Terms, requester: str = "") -> str:
        """Return why nobody can satisfy these terms, one sentence with what helps; empty when they can be.

        Args:
            terms: what it takes.
            requester: who asked, and so can't decide.
        """
        if terms.quorum <= 1 and terms.level <= 0:
            return ""
        if self.problem:
            return Message("Nobody can approve this: {}", self.problem)
        there = len(self.able(terms, requester))
        if there >= terms.quorum:
            return ""
        if not terms.level:
            return Message(
                "Nobody can approve this: it takes {} approvers; known here: {}. Add one with: hitl-tui "
                "approver add NAME",
                terms.quorum,
                there,
            )
        if terms.quorum <= 1:
            return Message(
                "Nobody can approve this: it takes an approver of level {0}. Add one with: hitl-tui "
                "approver add NAME --level {0}",
                terms.level,
            )
        return Message(
            "Nobody can approve this: it takes {0} approvers of level {1}; known here: {2}. Add one "
            "with: hitl-tui approver add NAME --level {1}",
            terms.quorum,
            terms.level,
            there,
        )


def identify(approvers: Approvers, claimed: str = "", account: str = "") -> Identity:
    """Return who acts from an account, under a name they may have claimed.

    Args:
        approvers: who counts.
        claimed: a name given by option or environment; empty for none.
        account: the account; empty for the one of this process.

    Raises:
        BadInput: the name is, or looks like, another approver's.
    """
    account = account or account_name()
    found = approvers.of_account(account)
    own = found.name if found else account
    verified, proof, level = (found.name, Proof.ACCOUNT.value, found.level) if found else ("", "", 0)
    if not claimed or person(claimed) in (person(own), person(account)):
        return Identity(own, verified, proof, level, account)
    _check_claim(approvers.people, claimed)
    return Identity(claimed_name(claimed, account), verified, proof, level, account, claimed)


IN_SHELL = Message("hitl-tui do … --approver NAME")
IN_HEADER = Message("it goes into the header {}", "Authorization: Bearer TOKEN")
"""Where an approver's token is given."""


def claimed_identity(approvers: Approvers, name: str, where: str = IN_SHELL) -> Identity:
    """Return somebody of whom nothing but a name is known; `where` an approver gives a token instead.

    Raises:
        BadInput: the name can't be a person's, or is, or looks like, that of somebody who was added as an approver.
    """
    name = checked_name(name, Message("The name"))
    # The owner of the data folder may sit at another machine, where nothing proves it; the record calls it a claim.
    _check_claim(approvers.listed, name, where)
    return Identity(claimed_name(name, ""), claimed=name)


def _check_claim(people: Sequence[Approver], claimed: str, where: str = IN_SHELL) -> None:
    other = next((a for a in people if alike(a.name, claimed) or (a.account and alike(a.account, claimed))), None)
    if other is not None:
        shown = one_line(clip(claimed), 80)
        if person(other.name) == person(claimed):
            raise BadInput(
                Message(
                    "{} is an approver, so the name can't only be claimed; decide with a token: {}",
                    shown,
                    where,
                )
            )
        raise BadInput(Message('"{}" can\'t be told from {}, an approver here; use another name.', shown, other.name))


def identify_by_token(approvers: Approvers, name: str, token: str, account: str = "") -> Identity:
    """Return the approver that a token proves.

    Raises:
        Refused: it isn't theirs, or there is no such approver.
    """
    import hmac
    import secrets

    found = approvers.named(name)
    expected = found.token if found and found.token and not approvers.problem else token_hash(secrets.token_hex(8))
    same = hmac.compare_digest(expected, token_hash(token.strip()))
    if found is None or not same:
        raise Refused(
            Message("This isn't the token of an approver {}.", one_line(clip(name), 80)), reason="not_allowed"
        )
    return Identity(found.name, found.name, Proof.TOKEN.value, found.level, account)


def approver_of_token(approvers: Approvers, token: str, account: str = "") -> Identity | None:
    """Return the approver that a token proves; None for a token that is nobody's."""
    import hmac

    given = token_hash(token.strip())
    known = () if approvers.problem else approvers.listed
    found = [one for one in known if hmac.compare_digest(one.token or "", given)]  # all of them, in the same time
    return Identity(found[0].name, found[0].name, Proof.TOKEN.value, found[0].level, account) if found else None


def new_token() -> str:
    """Return a fresh token: 256 random bits, so that a plain hash of it can be kept."""
    import secrets

    return f"hitl_{secrets.token_urlsafe(32)}"


def token_hash(token: str) -> str:
    """Return what is kept of a token."""
    import hashlib

    return f"sha256:{hashlib.sha256(token.encode(errors='surrogatepass')).hexdigest()}"


class ApproverFile:
    """`approvers.toml` of a data folder; read again when it has changed.

    Args:
        folder: the data folder.
        elsewhere: see `Approvers`.
    """

    def __init__(self, folder: Path, *, elsewhere: bool = False) -> None:
        self.path = folder / FILE_NAME
        self._folder = folder
        self._elsewhere = elsewhere
        self._stamp: tuple[int, ...] | None = None
        self._known = Approvers(owner_of(folder))

    @property
    def current(self) -> Approvers:
        """Who counts now; one who can't be read counts nobody, and says why."""
        stamp = self._written()
        if stamp != self._stamp:
            try:
                self._known = self.load()
            except HitlError as error:
                self._known = Approvers(owner_of(self._folder), problem=error.message)
            self._stamp = stamp
        return self._known

    def load(self) -> Approvers:
        """Return who counts.

        Raises:
            ConfigError: the file can't be used; one sentence with file and line.
        """
        owner = owner_of(self._folder)
        return Approvers(owner, read_approvers(self.content(), owner), elsewhere=self._elsewhere)

    def content(self) -> bytes:
        """Return the file's bytes; none where there is no file.

        Raises:
            ConfigError: it can't be read.
        """
        try:
            with self.path.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise ConfigError(Message("{} can't be read: {}.", self.path, error.strerror)) from error
        if len(content) > _LARGEST:
            raise ConfigError(
                Message("{} is larger than {} bytes, too large for a list of approvers.", self.path, f"{_LARGEST:,}")
            )
        return content

    def write(self, listed: Sequence[Approver]) -> bytes:
        """Write the file anew; return its bytes."""
        from hitl_tui.config.atomic_files import write_atomically

        content = to_toml(listed).encode()
        write_atomically(self.path, content)
        return content

    def _written(self) -> tuple[int, ...]:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return (0,)
        except OSError:
            return (-1,)
        return found.st_mtime_ns, found.st_size, found.st_ino, found.st_uid


def read_approvers(content: bytes, owner: str = "") -> tuple[Approver, ...]:
    """Return the approvers that a file lists.

    Args:
        content: the file's bytes.
        owner: the account that owns the data folder.

    Raises:
        ConfigError: it can't be used; one sentence with file and line.
    """
    if not content.strip():
        return ()
    import tomllib

    from hitl_tui.config.problems import key_places

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            Message("{} line {}: the file must be UTF-8, but this line is not.", FILE_NAME, line)
        ) from error
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        match = re.search(r"at line (\d+)", str(error))
        line = int(match.group(1)) if match else text.rstrip().count("\n") + 1
        what = one_line(str(error).partition(" (at ")[0], 120)
        raise ConfigError(Message("{} line {}: this isn't valid TOML: {}.", FILE_NAME, line, what)) from error
    places = key_places(text)
    for key in data:
        if key != "approver":
            raise _wrong(
                places, (key,), Message('unknown key "{}"; the file lists [[approver]] tables', one_line(key, 40))
            )
    tables = data.get("approver", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _wrong(places, ("approver",), Message("approvers are written as [[approver]] tables"))
    found: list[Approver] = []
    for number, table in enumerate(tables):
        found.append(_approver(places, number, table, found, owner))
    return tuple(found)


def _approver(
    places: Mapping[Any, Place], number: int, table: Mapping[str, Any], before: Sequence[Approver], owner: str
) -> Approver:
    path = ("approver", number)
    for key, value in table.items():
        if key not in _KEYS:
            raise _wrong(
                places, (*path, key), Message('unknown key "{}"; known are {}', one_line(key, 40), ", ".join(_KEYS))
            )
        kind = int if key == "level" else str
        if not isinstance(value, kind) or isinstance(value, bool):
            raise _wrong(
                places,
                (*path, key),
                (Message('"{}" must be a number', key) if kind is int else Message('"{}" must be text', key)),
            )
    try:
        given = Approver(table.get("name", ""), table.get("account", ""), table.get("token", ""), table.get("level", 0))
        return checked_approver(given, before, owner)
    except BadInput as error:
        raise _wrong(places, path, error.message.rstrip(".")) from error


def checked_approver(approver: Approver, others: Sequence[Approver], owner: str = "") -> Approver:
    """Return an approver that can stand beside others.

    Args:
        approver: as it was given.
        others: who is there.
        owner: the account that owns the data folder, which counts without being listed.

    Raises:
        BadInput: it can't.
    """
    name = checked_name(approver.name, Message("The name of an approver"))
    shown = one_line(name, 80)
    if not 0 <= approver.level <= HIGHEST_LEVEL:
        raise BadInput(Message("The level of {} must be from 0 to {}.", shown, HIGHEST_LEVEL))
    if not approver.account and not approver.token:
        raise BadInput(Message("{} needs an account or a token, or nothing could prove who they are.", shown))
    if approver.token and not _HASH.fullmatch(approver.token):
        raise BadInput(
            Message("The token of {} must be written as its hash: sha256: and 64 hexadecimal digits.", shown)
        )
    if owner and alike(name, owner) and owner not in (name, approver.account):
        raise BadInput(
            Message('"{}" can\'t be told from {}, the account that owns this folder; use another name.', shown, owner)
        )
    for other in others:
        if person(other.name) == person(name):
            raise BadInput(Message("Approver {} already exists.", shown))
        if alike(other.name, name):
            raise BadInput(
                Message('"{}" can\'t be told from {}, an approver here; use another name.', shown, other.name)
            )
        if other.account and approver.account in (other.account, other.name):
            raise BadInput(Message("The account {} is {}'s already.", one_line(approver.account, 80), other.name))
        if approver.token and other.token == approver.token:
            raise BadInput(Message("{} has the same token as {}.", shown, other.name))
        if approver.account and alike(approver.account, other.name):
            raise BadInput(Message("The account {} can't be told from {}.", one_line(approver.account, 80), other.name))
        if other.account and alike(other.account, name):
            raise BadInput(Message('"{}" can\'t be told from the account of {}; use another name.', shown, other.name))
    return Approver(name, approver.account, approver.token, approver.level)


def to_toml(listed: Sequence[Approver]) -> str:
    """Return the text of the file."""
    import json

    lines = ["# Who counts where hitl.toml demands several people or a level. Change it with: hitl-tui approver"]
    for approver in listed:
        rows: list[tuple[str, str | int]] = [("name", approver.name), ("account", approver.account)]
        rows += [("token", approver.token), ("level", approver.level)]
        lines += [
            "",
            "[[approver]]",
            *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in rows if value),
        ]
    return "\n".join(lines) + "\n"


def _wrong(places: Mapping[Any, Place], path: tuple[str | int, ...], what: str) -> ConfigError:
    from hitl_tui.config.problems import place_of

    return ConfigError(Message("{} line {}: {}.", FILE_NAME, place_of(places, path)[0], what))
