"""Read hitl.toml."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from hitl_tui.config.problems import first_problem, key_places
from hitl_tui.config.quick_reader import read_quickly
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.core.errors import ConfigError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import safe_text

FILE_NAME = "hitl.toml"
LARGEST = 1_000_000
"""Bytes; a larger file is surely not a settings file."""

_PLACE = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)
_PARSER_WORDS: Mapping[str, str] = {
    text: text
    for text in (
        Message("invalid value"),
        Message("invalid statement"),
        Message("unclosed array"),
        Message("unclosed inline table"),
        Message("unterminated string"),
        Message("expected '=' after a key in a key/value pair"),
        Message("expected ']' at the end of a table declaration"),
        Message("expected newline or end of document after a statement"),
        Message("invalid initial character for a key part"),
        Message("invalid date or datetime"),
    )
}
"""What the standard library's parser says, in our languages."""
_PLAIN_WORDS = {
    "Cannot overwrite a value": Message("a key is given twice"),
    "Cannot declare": Message("a table is declared twice"),
    "Cannot mutate immutable namespace": Message("an inline table or array is added to"),
}


def load_config(workspace: Path) -> WorkspaceConfig:
    """Return what `hitl.toml` in a workspace declares; without such a file, the defaults.

    Raises:
        ConfigError: the file can't be read or used; one sentence with file and line.
    """
    return parse_content(content_of(workspace / FILE_NAME))


def parse_content(content: bytes | None, name: str = FILE_NAME) -> WorkspaceConfig:
    """Return what the bytes of a hitl.toml declare; for None, no such file, the defaults.

    Args:
        content: the bytes.
        name: what messages call the file.

    Raises:
        ConfigError: they can't be used; one sentence with file and line.
    """
    if content is None:
        return WorkspaceConfig()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        name = safe_text(name, multiline=False, limit=200)
        raise ConfigError(Message("{} line {}: the file must be UTF-8, but this line is not.", name, line)) from error
    return parse_config(text, name)


def parse_config(text: str, name: str) -> WorkspaceConfig:
    """Return what a TOML text declares.

    Args:
        text: the whole text.
        name: what messages call it.

    Raises:
        ConfigError: the first thing in the text that is wrong; one sentence with name and line.
    """
    name = safe_text(name, multiline=False, limit=200)
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(Message("{} is nested too deeply.", name)) from error
    except ValueError as error:
        raise ConfigError(_syntax(name, text, str(error))) from error
    if not data:
        return WorkspaceConfig()
    if (settings := read_quickly(data)) is not None:
        return settings
    from hitl_tui.config.schema import read  # with pydantic

    found = read(data)
    if isinstance(found, WorkspaceConfig):
        return found
    line, sentence = first_problem(found, key_places(text))
    raise ConfigError(Message("{} line {}: {}", name, line, sentence))


def content_of(path: Path) -> bytes | None:
    """Return the bytes of a settings file, or None when there is none.

    Raises:
        ConfigError: it can't be read, or is no file of a reasonable size.
    """
    try:
        # A link that leads nowhere is a mistake, not a missing file: the policy it named would be gone
        # unnoticed.
        if not path.is_symlink() and not path.exists():
            return None
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError(Message("{} must be a file, but isn't one.", FILE_NAME))
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(Message("{} can't be read: {}.", FILE_NAME, error.strerror or error)) from error
    if len(content) > LARGEST:
        raise ConfigError(
            Message("{} is larger than {} bytes, too large for a settings file.", FILE_NAME, f"{LARGEST:,}")
        )
    return content


def _syntax(name: str, text: str, message: str) -> str:
    """Return one sentence for what the standard library's parser says."""
    match = _PLACE.fullmatch(message)
    if not match:
        problem = (
            Message("a number has too many digits")
            if "digits" in message
            else safe_text(message, multiline=False, limit=200)
        )
        return Message("{} isn't valid TOML: {}.", name, problem)
    said = safe_text(match["what"], multiline=False, limit=200)
    plain = f"{said[:1].lower()}{said[1:]}"
    found: Iterator[str] = (ours for start, ours in _PLAIN_WORDS.items() if said.startswith(start))
    what: str = next(found, _PARSER_WORDS.get(plain, plain))
    line = match["line"] or str(text.rstrip().count("\n") + 1)
    where = Message("column {}", match["column"]) if match["column"] else Message("at the end of the file")
    return Message("{} line {}: this isn't valid TOML: {} ({}).", name, line, what, where)
