"""Trust in workspaces: what was granted and revoked, and what follows for a folder as it is now."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.config.workspace_files import WorkspaceFiles
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.json_types import JsonObject, Stored
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Policy, Rule, Ruling
from hitl_tui.core.safe_text import one_line
from hitl_tui.policy.workspace_wants import Want, approves_in_time, wants_of


def restricted(config: WorkspaceConfig) -> WorkspaceConfig:
    """Return what is obeyed of an untrusted workspace.

    That is the documents to search, how many steps run at once, teams that are switched off, rules that deny or ask.
    A rule that allows asks instead, and a deadline that approves is none: nobody's silence counts there. The mode is
    step, unless whoever begins a session chooses another.
    """
    return WorkspaceConfig(  # a setting that isn't named here isn't obeyed
        concurrency=config.concurrency,
        policy=Policy(tuple(map(_asking, config.policy.rules))),
        search=config.search,
        disabled=config.disabled,
    )


def stricter_of(trusted: Policy, edited: Policy, digest: str) -> Policy:
    """Return what holds while a trusted workspace was edited: of the two policies, the stricter for each question.

    Args:
        trusted: the policy as it was when the folder was trusted.
        edited: as it is now.
        digest: of the edited files; what was approved under the version before is asked anew.
    """
    return Policy(edited.rules, beside=Policy(trusted.rules), seal=digest)


def _asking(rule: Rule) -> Rule:
    if approves_in_time(rule):
        rule = replace(rule, terms=replace(rule.terms, deadline=0.0, on_deadline="reject"))
    return replace(rule, decision=Ruling.ASK) if rule.decision is Ruling.ALLOW else rule


STREAM = "trust/workspaces"
"""Stream of the ledger that keeps every grant and revocation; no session can have that id."""

GRANTED, REVOKED, ONCE, RESET = "trust_granted", "trust_revoked", "trust_once", "trust_reset"
"""Kinds of its entries."""

MADE = "hitl-tui"
"""Who trusted a folder that the program made itself."""


class NeedsTrust(BadInput):
    """Something that only a trusted workspace gets; the message names the command that trusts it."""

    kind = "needs_trust"


def needs_trust(what: str, folder: str) -> NeedsTrust:
    """Return what is said where an untrusted folder is needed for more than it may.

    Args:
        what: what isn't obeyed, as the beginning of a sentence.
        folder: real path of the workspace.
    """
    return NeedsTrust(Message("{} works only once this folder is trusted: {}", what, trust_command(folder)))


def trust_command(folder: str) -> str:
    """Return the command that shows what a folder wants and trusts it."""
    return f"hitl-tui trust {one_line(shlex.quote(folder), 300)}"


def untrusted_message(trust: WorkspaceTrust, *, edited: bool = False) -> str:
    """Return what is said once of a folder that isn't trusted as it is now; it names the command that trusts it."""
    if trust.changed or edited:
        return Message(
            "The settings of this folder changed; until you trust them, the stricter rules count: {}", trust.command
        )
    return Message("This folder isn't trusted, so only search, analysis and documents work: {}", trust.command)


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """A grant, as the ledger keeps it.

    Args:
        path: real path of the folder.
        digest: of the path and the declaring files, as they were shown.
        files: SHA-256 of each file, by name.
        rules: the policy rules it had then.
        disabled: the teams that were switched off then.
        code: digest of what each preview could execute, by command; earlier versions kept SHA-256 of files by path.
        by: who trusted it.
        at: when, ISO 8601, UTC.
        how: `terminal`, `digest` or `console`.
        tools: digest of what describing each declared tool could execute, by team; None of a grant by an earlier
            version, which kept none.
        revoked: it was taken back since.
    """

    path: str
    digest: str
    files: Mapping[str, str]
    rules: tuple[Rule, ...]
    disabled: frozenset[str]
    code: Mapping[str, str]
    by: str
    at: str
    how: str
    tools: Mapping[str, str] | None = None
    revoked: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return what the ledger keeps, JSON."""
        return {
            "path": self.path,
            "digest": self.digest,
            "files": dict(self.files),
            "rules": [rule.to_dict() for rule in self.rules],
            "disabled": sorted(self.disabled),
            "code": dict(self.code),
            **({} if self.tools is None else {"tools": dict(self.tools)}),
            "by": self.by,
            "how": self.how,
        }

    @classmethod
    def from_dict(cls, data: Stored, at: str) -> TrustRecord:
        """Return the grant that an entry holds.

        Raises:
            StorageError: it isn't what `to_dict` makes.
        """
        try:
            tools = data.get("tools")
            return cls(
                path=str(data["path"]),
                digest=str(data["digest"]),
                files={str(k): str(v) for k, v in data["files"].items()},
                rules=tuple(Rule.from_dict(rule) for rule in data["rules"]),
                disabled=frozenset(map(str, data["disabled"])),
                code={str(k): str(v) for k, v in data["code"].items()},
                by=str(data["by"]),
                at=at,
                how=str(data["how"]),
                tools=None if tools is None else {str(k): str(v) for k, v in tools.items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StorageError(
                Message("The record of trust in workspaces is damaged, so no workspace is trusted.")
            ) from error


def fold_trust(entries: Iterable[tuple[str, JsonObject, str]]) -> dict[str, TrustRecord]:
    """Return the newest grant for each folder, by real path; one that was taken back says so.

    Args:
        entries: kind, data and time of the entries of `STREAM`, in order.

    Raises:
        StorageError: an entry isn't what was written.
    """
    from dataclasses import replace

    found: dict[str, TrustRecord] = {}
    for kind, data, at in entries:
        if kind == GRANTED:
            record = TrustRecord.from_dict(data, at)
            found[record.path] = record
        elif kind == REVOKED and (known := found.get(str(data.get("path", "")))) is not None:
            found[known.path] = replace(known, revoked=True)
        elif kind == RESET:
            found.clear()
    return found


@dataclass(frozen=True, slots=True)
class WorkspaceTrust:
    """A folder as it is now, and whether what it wants is obeyed.

    Args:
        files: its declaring files.
        declared: what they declare.
        record: the newest grant for its real path that wasn't taken back; None when there is none.
        by: who trusts these very files; empty when nobody does.
        wants: what it wants beyond what an untrusted folder may say.
    """

    files: WorkspaceFiles
    declared: WorkspaceConfig
    record: TrustRecord | None = None
    by: str = ""
    wants: tuple[Want, ...] = field(default=())

    @property
    def folder(self) -> str:
        """Its real path."""
        return self.files.folder

    @property
    def digest(self) -> str:
        """What trust in it as it is now is bound to."""
        return self.files.digest

    @property
    def trusted(self) -> bool:
        """What it declares is obeyed as a whole."""
        return bool(self.by)

    @property
    def words(self) -> Message:
        """Whether it is trusted, in a sentence."""
        if not self.files.digests:
            return Message("{} declares nothing that needs trust.", self.folder)
        if self.trusted:
            return Message("{} is trusted ({}).", self.folder, self.by)
        return Message("{} isn't trusted.", self.folder)

    @property
    def changed(self) -> bool:
        """It was trusted, and its files are others now."""
        return self.record is not None and not self.trusted

    @property
    def asks(self) -> bool:
        """There is something to decide: it wants more than it may say, or is no longer what was trusted."""
        return not self.trusted and bool(self.wants or self.changed)

    @property
    def config(self) -> WorkspaceConfig:
        """What is obeyed of what it declares; the policy of a folder that was edited is `stricter_of` both."""
        return self.declared if self.trusted else restricted(self.declared)

    @property
    def trusted_policy(self) -> Policy | None:
        """The policy it had when it was trusted; None when it never was or is no longer."""
        return Policy(self.record.rules) if self.record is not None else None

    @property
    def command(self) -> str:
        """The command that shows what it wants and trusts it."""
        return trust_command(self.folder)

    def to_dict(self) -> dict[str, object]:
        """Return what `trust --show --json` prints."""
        return {
            "workspace": self.folder,
            "digest": self.digest,
            "trusted": self.trusted,
            "changed": self.changed,
            "by": self.by,
            "at": self.record.at if self.record is not None else "",
            "files": dict(self.files.digests),
            "wants": [want.to_dict() for want in self.wants],
        }


def judge_trust(files: WorkspaceFiles, record: TrustRecord | None, by: str = "") -> WorkspaceTrust:
    """Return a folder's trust from its files and the newest grant for its path.

    Args:
        files: as they were read just now.
        record: the newest grant; one that was taken back counts as none.
        by: who else trusts these very files: the program that made the folder, or this one call.

    Raises:
        ConfigError: hitl.toml can't be used.
    """
    declared = files.declared()
    held = record if record is not None and not record.revoked else None
    if held is not None and held.digest == files.digest and held.path == files.folder:
        by = by or held.by
    elif held is None and not files.digests:  # there is nothing in it to obey or not to
        by = by or "nobody"
    return WorkspaceTrust(files, declared, held, by, wants_of(declared, files))
