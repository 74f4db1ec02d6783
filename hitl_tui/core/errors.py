"""The one family of errors a person may see.

Every message is a single sentence that says what was expected, what was found and what to do; interfaces
print it as it is, with `exit_code`, and keep the traceback for the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class HitlError(Exception):
    """Base of all errors this project raises on purpose.

    Args:
        message: one sentence for the person who caused or meets the error.
        help: an optional second line with what would work.
    """

    exit_code = 1
    kind = "failed"

    def __init__(self, message: str, *, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def error_words(error: BaseException) -> str:
    """Return what an error of somebody's code says, on one line; of a failed validation each field and what is wrong.

    pydantic's own text goes over many lines, each field with the address of a page of its manual.
    """
    found = getattr(error, "errors", None)
    if type(error).__name__ == "ValidationError" and type(error).__module__.startswith("pydantic") and callable(found):
        faults = [(".".join(map(str, fault["loc"])), str(fault["msg"])) for fault in found(include_url=False)]
        return "; ".join(f"{at}: {said}" if at else said for at, said in faults)
    return " ".join(str(error).split())


class BadInput(HitlError):
    """Something given by a person or a file can't be used; nothing was changed."""

    exit_code = 2
    kind = "bad_input"


class ConfigError(BadInput):
    """hitl.toml (or another settings file) can't be used; the message names file and line."""


class MissingInput(BadInput):
    """Arguments lack some that have to be given.

    Args:
        message: one sentence that names the first.
        missing: the names of all.
        given: the arguments as far as they are known.
        help: an optional second line with what would work.
    """

    def __init__(self, message: str, *, missing: Sequence[str], given: Mapping[str, object], help: str = "") -> None:
        super().__init__(message, help=help)
        self.missing = tuple(missing)
        self.given = dict(given)


class UnknownName(BadInput):
    """An id, command, team or status that doesn't exist (or is ambiguous)."""


class IllegalTransition(BadInput):
    """A status change that the transition table doesn't have."""


class PlanError(BadInput):
    """A plan with a cycle, an unknown agent or a duplicate id."""


class Refused(HitlError):
    """A decision or event that can't take effect.

    Args:
        message: one sentence.
        reason: one of `late`, `repeated`, `unknown`, `stale`, `superseded`, `not_allowed`, `gone`.
    """

    exit_code = 2
    kind = "refused"

    def __init__(self, message: str, *, reason: str, help: str = "") -> None:
        super().__init__(message, help=help)
        self.reason = reason


class GivenUp(HitlError):
    """A person ended what they had begun; nothing is wrong."""


class AskedAnew(Refused):
    """A decision that isn't taken because its question is asked anew, with what is there now: nothing went wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="stale")


class MissingExtra(HitlError):
    """A package that only this needs isn't installed."""

    exit_code = 2


class SessionBusy(HitlError):
    """Another process owns the session; commands are recorded for it instead."""

    kind = "busy"


class OwnerGone(HitlError):
    """The process that owned a session is gone: whoever follows it can open it again and own it."""

    kind = "owner_gone"


class StorageError(HitlError):
    """A file that holds a session or the ledger can't be read or written."""

    kind = "storage"


class ServerAway(StorageError):
    """The server that things are kept on can't be reached now; it may be back soon."""
