"""Secrets in what is asked and answered: shown and recorded as `‹NAME›`, and put back where an answer is delivered.

A person who edits the arguments of a tool call sends back what was shown, masks with it. What the graph itself holds
behind a mask is what is meant by it; a mask that the question doesn't show means nothing, and its answer is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import mask_json
from hitl_tui.core.secret_names import named_in, secret_refused


def check_masks(answer: Json, shown: Json, secrets: Mapping[str, str]) -> None:
    """Check that every mask of an answer is one that its question shows.

    Args:
        answer: the answer as it was given, JSON.
        shown: what the question shows, JSON, masked.
        secrets: declared secrets, by name.

    Raises:
        BadInput: it holds a secret, by its value or its name, that the question doesn't show.
    """
    if not secrets:
        return
    told = named_in(mask_json(answer, secrets), secrets) - named_in(shown, secrets)
    if told:
        raise BadInput(secret_refused(Message("The answer"), min(told)))


def put_back(answer: Json, shown: Json, asked: Json, secrets: Mapping[str, str]) -> Json:
    """Return an answer with what the graph asked with in the place of masks.

    Args:
        answer: the answer as it was recorded, JSON.
        shown: the question as it was recorded, masked.
        asked: the same question as the graph holds it, JSON.
        secrets: declared secrets, by name.

    Raises:
        BadInput: a mask is left: the secret changed meanwhile, and isn't in the question any more.
    """
    if not named_in(answer, secrets):
        return answer
    leaves = dict(_hidden(shown, asked))
    found = _restored(answer, leaves, {name: value.strip() for name, value in secrets.items()}, json.dumps(asked))
    left = named_in(found, secrets)
    if left:
        raise BadInput(Message("The answer holds ‹{}›, and what it stood for is no longer in the question.", min(left)))
    return found


def _hidden(shown: Json, asked: Json) -> Iterator[tuple[str, Json]]:
    """Yield each text of a question that a mask is in, with what stands there in truth."""
    if isinstance(shown, str) and shown != asked and "‹" in shown and not isinstance(asked, dict | list):
        yield shown, asked
    elif isinstance(shown, Mapping) and isinstance(asked, Mapping):
        for key in shown.keys() & asked.keys():
            yield from _hidden(shown[key], asked[key])
    elif isinstance(shown, list | tuple) and isinstance(asked, list | tuple):
        for one, other in zip(shown, asked, strict=False):
            yield from _hidden(one, other)


def _restored(value: Json, leaves: JsonObject, secrets: Mapping[str, str], asked: str) -> Json:
    if isinstance(value, str):
        return leaves[value] if value in leaves else _unmasked(value, secrets, asked)
    if isinstance(value, Mapping):
        return {_unmasked(k, secrets, asked): _restored(v, leaves, secrets, asked) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_restored(item, leaves, secrets, asked) for item in value]
    return value


def _unmasked(text: str, secrets: Mapping[str, str], asked: str) -> str:
    """Return a text with the values of those masks in it that the graph itself asked with."""
    for name, value in secrets.items():
        if f"‹{name}›" in text and json.dumps(value)[1:-1] in asked:
            text = text.replace(f"‹{name}›", value)
    return text
