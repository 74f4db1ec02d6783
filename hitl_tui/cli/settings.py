"""Where sessions live and who decides, from options and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hitl_tui.config.paths import default_data_folder, given_path
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.policy.approver_names import checked_name
from hitl_tui.policy.operator_identity import Operator


def data_folder(given: str | None, environ: Mapping[str, str]) -> Path:
    """Return the data folder: the option, `HITL_DATA_DIR`, or the platform's place for it; always absolute.

    Raises:
        BadInput: the option is empty.
    """
    if given is not None and not given.strip():
        raise BadInput("--data needs a folder.")
    return _absolute(given or default_data_folder(environ))


def workspace_folder(given: str | None) -> Path:
    """Return the workspace: the option, or the current folder.

    Raises:
        BadInput: the option is empty, or the current folder is gone.
    """
    if given is not None and not given.strip():
        raise BadInput("--workspace needs a folder.")
    return _absolute(given or ".")


def existing_workspace(given: str | None) -> Path:
    """Return the workspace as `workspace_folder` does.

    Raises:
        BadInput: there is no such folder.
    """
    folder = workspace_folder(given)
    if not folder.is_dir():
        raise BadInput(
            Message("The workspace {} isn't a folder.", folder)
            if folder.exists()
            else Message("The workspace {} doesn't exist.", folder)
        )
    return folder


def _absolute(text: str) -> Path:
    try:
        return given_path(text).absolute()
    except FileNotFoundError as error:
        raise BadInput(Message("The current folder no longer exists; change to another.")) from error


def claimed(given: str | None, environ: Mapping[str, str]) -> str:
    """Return the name that is claimed by the option or `HITL_USER`; empty where none is.

    Raises:
        BadInput: it can't be a person's name.
    """
    if given is not None:
        return checked_name(given, "--as")
    if environ.get("HITL_USER", "").strip():
        return checked_name(environ["HITL_USER"], "HITL_USER")
    return ""


def operator_of(given: str | None, environ: Mapping[str, str], data: Path) -> Operator:
    """Return who decides: the account, with the name that is claimed by the option or `HITL_USER`.

    Raises:
        BadInput: the name can't be a person's, or is an approver's.
    """
    return Operator(data, claimed(given, environ))


def operator_name(given: str | None, environ: Mapping[str, str], data: Path) -> str:
    """Return what the record calls who acts; see `operator_of`."""
    return operator_of(given, environ, data).name
