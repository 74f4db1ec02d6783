"""What the person's own settings.toml, in the data folder, says of notifications, a model and a runtime elsewhere."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hitl_tui.config.problems import first_problem, key_places
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.core.errors import ConfigError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

SETTINGS = "settings.toml"


_SECTIONS = ("notify", "model", "review")


def own_settings(data: Path) -> WorkspaceConfig:
    """Return what settings.toml of a data folder says, as the settings of a workspace that has nothing else.

    Raises:
        ConfigError: it can't be used; one sentence with file and line.
    """
    path = data / SETTINGS
    try:
        text = path.read_bytes().decode("utf-8-sig")
        whole = tomllib.loads(text)
    except FileNotFoundError:
        return WorkspaceConfig()
    except OSError as error:
        raise ConfigError(Message("{} can't be read: {}.", path, error.strerror)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(Message("{} isn't valid TOML: {}.", SETTINGS, one_line(str(error), 160))) from error
    sections = {name: whole[name] for name in _SECTIONS if name in whole}
    if not sections:
        return WorkspaceConfig()
    from hitl_tui.config.schema import read  # with pydantic

    found = read(sections)
    if isinstance(found, WorkspaceConfig):
        return found
    line, sentence = first_problem(found, key_places(text))
    raise ConfigError(Message("{} line {}: {}", SETTINGS, line, sentence))
