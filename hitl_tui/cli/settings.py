"""Where sessions live and who decides, from options and the environment."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.names import clip, person
from hitl_tui.core.safe_text import one_line, safe_text

_LONGEST_NAME = 64
_NOBODY = frozenset({"deadline", "rule", "run", "supervisor"})
"""What the record says where nobody decided; several people are listed with commas, a rule is `rule ID of NAME`."""


def data_folder(given: str | None, environ: Mapping[str, str]) -> Path:
    """Return the data folder: the option, `HITL_DATA_DIR`, or the platform's place for it; always absolute.

    Raises:
        BadInput: the option is empty.
    """
    if given is not None and not given.strip():
        raise BadInput("--data needs a folder.")
    chosen = given or environ.get("HITL_DATA_DIR", "").strip()
    if not chosen:
        from platformdirs import user_data_dir

        chosen = user_data_dir("hitl-tui", appauthor=False)
    return _absolute(chosen)


def workspace_folder(given: str | None) -> Path:
    """Return the workspace: the option, or the current folder.

    Raises:
        BadInput: the option is empty, or the current folder is gone.
    """
    if given is not None and not given.strip():
        raise BadInput("--workspace needs a folder.")
    return _absolute(given or ".")


def _absolute(text: str) -> Path:
    if "\0" in text:
        raise BadInput("A folder's name can't hold a null character.")
    try:
        return Path(text).expanduser().absolute()
    except FileNotFoundError as error:
        raise BadInput("The current folder doesn't exist any more; change to another one.") from error
    except RuntimeError as error:  # ~somebody without a home
        raise BadInput(f"The folder {one_line(text, 80)} can't be found: {error}") from error


def operator_name(given: str | None, environ: Mapping[str, str]) -> str:
    """Return who decides: the option, `HITL_USER`, or the login name; never empty.

    Raises:
        BadInput: the name given is empty, too long or can't be shown as it is.
    """
    if given is not None:
        return _checked(given, "--as")
    if environ.get("HITL_USER", "").strip():
        return _checked(environ["HITL_USER"], "HITL_USER")
    try:
        login = getpass.getuser().strip()
    except (KeyError, OSError):  # a container's user without an entry
        login = ""
    return one_line(login, _LONGEST_NAME) or f"uid-{os.getuid()}"


def _checked(name: str, source: str) -> str:
    clean = name.strip()
    if not clean:
        raise BadInput(f"{source} needs a name: it is recorded with every decision.")
    if len(clean) > _LONGEST_NAME or safe_text(clean, multiline=False) != clean:
        raise BadInput(f"{source} must be a name of at most {_LONGEST_NAME} visible characters.")
    if "," in clean or person(clean) in _NOBODY or person(clean).startswith("rule "):
        raise BadInput(f'{source} must be one person\'s name; the record calls something else "{clip(clean)}".')
    return clean
