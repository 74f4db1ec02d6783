"""What a command line gives to graphs beside their input: `--context`, `--config`, and files that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hitl_tui.cli.fast_args import Arguments
from hitl_tui.config.declared_graphs import GraphSettings, is_header
from hitl_tui.config.paths import given_path
from hitl_tui.config.quick_reader import ENVIRONMENT_NAME
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line


def given_settings(given: Arguments) -> GraphSettings:
    """Return what a command line gives to graphs beside their input.

    Raises:
        BadInput: it isn't JSON, or no object.
    """
    config, context = given_object("config", given.config), given_object("context", given.context)
    if not isinstance(config.get("configurable", {}), Mapping):
        raise BadInput(Message('"configurable" in --config must be an object.'))
    return GraphSettings(context, config)


def given_object(name: str, text: str | None) -> JsonObject:
    """Return the JSON object that an option gives; an empty one where it isn't given.

    Args:
        name: of the option, without its dashes.
        text: JSON, or `@file`.

    Raises:
        BadInput: it is none.
    """
    if text is None:
        return {}
    content = text_or_file(text)
    try:
        found = strict_json(content)
    except ValueError as error:
        raise BadInput(Message("--{} isn't valid JSON: {}.", name, one_line(str(error), 200))) from error
    if not isinstance(found, dict):
        raise BadInput(Message("--{} must be a JSON object.", name))
    return found


def header_variables(given: Sequence[str]) -> dict[str, str]:
    """Return the variables that hold headers, by the header's name.

    Args:
        given: `NAME=VARIABLE` each.

    Raises:
        BadInput: one isn't of that form.
    """
    found = {}
    for text in given:
        header, _, variable = text.partition("=")
        if not is_header(header) or not ENVIRONMENT_NAME.fullmatch(variable):
            raise BadInput(
                Message("--header takes NAME=VARIABLE, the variable that holds its value, not {}.", one_line(text, 60)),
                help=Message("For example: --header Authorization=AGENTS_AUTHORIZATION"),
            )
        found[header] = variable
    return found


def text_or_file(text: str) -> str:
    """Return a text that an option gives; of `@file`, what the file holds.

    Raises:
        BadInput: the file can't be read, or is too long.
    """
    return _content(given_path(text[1:])) if text.startswith("@") else text


def _content(path: Path) -> str:
    from hitl_tui.supervisor.session_input import LONGEST_QUERY

    most, name = LONGEST_QUERY * 4, one_line(str(path), 200)
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise BadInput(Message("The input {} is too long: at most {} characters.", name, f"{LONGEST_QUERY:,}"))
        return content.decode("utf-8-sig").strip()
    except OSError as error:
        raise BadInput(Message("The input {} can't be read: {}.", name, error.strerror)) from error
    except UnicodeDecodeError as error:
        raise BadInput(Message("The input {} isn't UTF-8 text.", name)) from error
