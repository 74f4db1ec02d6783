"""What there is to translate, read from the syntax tree of the program.

Messages, texts of interfaces (`_`, `ngettext`, `mark`), the tables of keys, commands and options, and the words of
enumerations that are shown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import hitl_tui

ROOT = Path(hitl_tui.__file__).parent

_ARGUMENTS = {
    "_": (0,),
    "mark": (0,),
    "Message": (0,),
    "KeySpec": (4, 5),
    "CommandSpec": (1,),
    "Subcommand": (3, 5),
}
"""Which arguments of a call are texts for people."""
_PLURAL = ("ngettext", "counted_message")
_IN_COLUMNS = ("_CODES", "_ENDS", "_FINDINGS")
"""Constants whose columns `in_parts` translates."""
_WORDS = ("Status", "Priority", "Verdict", "Kind", "Outcome", "Risk")
"""Enumerations whose values are shown."""
_PLACE = re.compile(r"\{[^{}a-z]*\}")
_LETTERS = re.compile(r"[A-Za-z]{2}")

Text = str | tuple[str, str]
"""A text, or the two for one thing and for several."""


def extract(root: Path = ROOT) -> dict[Text, list[str]]:
    """Return everything that is to be translated, and the files that it stands in."""
    found: dict[Text, list[str]] = {}
    for path in sorted(root.rglob("*.py")):
        room = path.relative_to(root).parts[0]
        if room in ("language", "_data") or path == root / "core" / "messages.py":
            continue
        for text in texts_of(ast.parse(path.read_text(encoding="utf-8")), words=room == "core"):
            if not _LETTERS.search(_PLACE.sub("", text if isinstance(text, str) else text[0])):
                continue
            found.setdefault(text, []).append(path.relative_to(root.parent).as_posix())
    return found


def texts_of(tree: ast.AST, *, words: bool = False) -> Iterator[Text]:
    """Yield the texts of one module.

    Args:
        tree: its syntax tree.
        words: the values of its enumerations are among them.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id in _IN_COLUMNS and node.value is not None:
                yield from parts_of(_text(node.value) or "")
        elif words and isinstance(node, ast.ClassDef) and node.name in _WORDS:
            values = (_text(item.value) for item in node.body if isinstance(item, ast.Assign))
            yield from (value for value in values if value and _LETTERS.search(value))


def _of_call(node: ast.Call) -> Iterator[Text]:
    name = _name(node.func)
    if name in _PLURAL:
        one, many = _text(node.args[0]), _text(node.args[1])
        assert one and many, f"{name} needs literals (line {node.lineno})"
        yield one, many
    for number in _ARGUMENTS.get(name, ()):
        yield from filter(None, map(_text, node.args[number : number + 1]))
    if name == "option":
        yield from filter(None, (_text(k.value) for k in node.keywords if k.arg == "help"))
    elif name == "Subcommand":
        for epilog in node.args[7:8]:
            for part in ast.walk(epilog):
                yield from parts_of(_text(part) or "")


def parts_of(text: str) -> Iterator[str]:
    """Yield what `in_parts` looks up of a text in columns: not spaces, what is typed, or keys of JSON."""
    for part in re.split(r" {2,}|\n", text):
        if re.search(r"[a-z]{3}", part) and not part.startswith(("hitl-tui ", "{", '"')):
            yield part


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
