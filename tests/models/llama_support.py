"""A scripted model that takes requests as llama.cpp's own server does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scripted_model import Reply, Says


@dataclass(frozen=True)
class Llama:
    """Says what a model behind llama.cpp's server says; a speaker of `scripted_model`.

    A tool named by an object in `tool_choice` is taken for "auto": the model answers in words. A `response_format` with
    a schema is enforced: the text is the form.

    Args:
        filled: forms by name, as they are filled in where they are enforced.
        words: what is said where they aren't.
    """

    filled: Mapping[str, Mapping[str, Any]]
    words: str = "I'd search first, then compare."

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        wanted = body.get("response_format", {})
        if wanted.get("type") != "json_schema":
            return Says(self.words)
        assert wanted["json_schema"]["schema"]["type"] == "object"
        return Says(json.dumps(self.filled[wanted["json_schema"]["name"]]))
