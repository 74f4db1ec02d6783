"""How Textual names keys."""

from __future__ import annotations

from textual.keys import _character_to_key


# Relies on `textual.keys._character_to_key(character)`, as of Textual 8.2.8.
# Upstream: a public function for the name of a character's key, which bindings and key events have.
def key_of_character(character: str) -> str:
    """Return the name of the key that types a character: `question_mark` for `?`."""
    return _character_to_key(character)
