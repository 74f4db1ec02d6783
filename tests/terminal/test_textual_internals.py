"""The internals of Textual that `hitl_tui.terminal` relies on are there, and nothing else of the program uses any."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from textual._cells import cell_len
from textual._compositor import ChopsUpdate, Compositor, CompositorUpdate, LayoutUpdate
from textual._parser import ParseError, Parser
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers._byte_stream import ByteStream
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver, _ExitInput
from textual.keys import _character_to_key
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widgets import DataTable
from textual.widgets._markdown import MarkdownTable
from textual.widgets.data_table import Row

ROOT = Path(__file__).parents[2] / "hitl_tui"

CALLED: list[tuple[Callable[..., object], tuple[str, ...]]] = [
    (App._display, ("self", "screen", "renderable")),
    (App.post_display_hook, ("self",)),
    (App.get_line_filters, ("self",)),
    (App.get_driver_class, ("self",)),
    (Compositor.render_strips, ("self", "size")),
    (CompositorUpdate.render_segments, ("self", "console")),
    (LayoutUpdate.__init__, ("self", "strips", "region")),
    (ChopsUpdate.__init__, ("self", "chops", "spans", "chop_ends")),
    (XTermParser._sequence_to_key_events, ("self", "sequence", "alt")),
    (XTermParser.feed, ("self", "data")),
    (XTermParser.tick, ("self",)),
    (LinuxDriver._get_terminal_size, ("self",)),
    (LinuxDriver._sigtstp_application, ("self", "_")),
    (LinuxDriver.start_application_mode, ("self",)),
    (LinuxDriver.stop_application_mode, ("self",)),
    (LinuxDriver.suspend_application_mode, ("self",)),
    (LinuxDriver.run_input_thread, ("self",)),
    (LinuxDriver.process_message, ("self", "message")),
    (WebDriver._on_meta, ("self", "packet_type", "payload")),
    (WebDriver.run_input_thread, ("self",)),
    (ByteStream.feed, ("self", "data")),
    (MessagePump._on_message, ("self", "message")),
    (CommandPalette._start_no_matches_countdown, ("self", "search_value")),
    (CommandPalette._stop_no_matches_countdown, ("self",)),
    (MarkdownTable._get_headers_and_rows, ("self",)),
    (DataTable._clear_caches, ("self",)),
    (DataTable._update_dimensions, ("self", "new_rows")),
]
"""Functions with the names of their parameters."""

KEPT: list[tuple[type, tuple[str, ...]]] = [
    (App, ("_batch_count", "_driver")),
    (Screen, ("_compositor",)),
    (LayoutUpdate, ("strips", "region")),
    (ChopsUpdate, ("chops", "spans", "chop_ends")),
    (Parser, ("_timeout_time",)),
    (Driver, ("_app", "_debug", "_loop", "_auto_restart", "_size")),
    (LinuxDriver, ("_file", "fileno", "exit_event", "_must_signal_resume", "_in_band_window_resize")),
    (WebDriver, ("_input_reader", "_write", "fileno", "exit_event")),
    (CommandPalette, ("_no_matches_timer",)),
    (DataTable, ("_row_locations", "_data", "_update_count", "_require_update_dimensions")),
]
"""What instances of a class keep, which its `__init__` sets."""


@pytest.mark.parametrize(("function", "names"), CALLED, ids=lambda value: getattr(value, "__qualname__", ""))
def test_a_function_takes_what_it_is_given(function: Callable[..., object], names: tuple[str, ...]) -> None:
    assert tuple(inspect.signature(function).parameters) == names


@pytest.mark.parametrize(("kept_by", "names"), KEPT, ids=lambda value: getattr(value, "__name__", ""))
def test_an_instance_keeps_what_is_read(kept_by: type, names: tuple[str, ...]) -> None:
    source = inspect.getsource(kept_by.__dict__["__init__"])
    assert [name for name in names if not re.search(rf"\bself\.{name}\b(: [^=]+)? =", source)] == []


def test_what_is_no_function_is_there() -> None:
    assert issubclass(ParseError, Exception) and issubclass(_ExitInput, Exception)
    assert cell_len("ㄱa") == 3
    assert (_character_to_key("?"), _character_to_key("a")) == ("question_mark", "a")
    assert CommandPalette._NO_MATCHES and CommandPalette._NO_MATCHES_COUNTDOWN > 0
    assert "_list_visible" in CommandPalette._reactives
    assert "key_to_bindings" in vars(DOMNode()._bindings)
    assert list(inspect.signature(Row).parameters)[:2] == ["key", "height"]


def private_modules(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports of Textual that is private."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual"):
            yield from (part for part in (node.module or "").split(".") if part.startswith("_"))
            yield from (alias.name for alias in node.names if alias.name.startswith("_"))


def private_names(tree: ast.Module, module: str) -> Iterator[str]:
    """Yield the private names of Textual that the classes of a module use, or define again."""
    for node in tree.body:
        made = getattr(importlib.import_module(module), node.name) if isinstance(node, ast.ClassDef) else object
        bases = [base for base in made.__mro__ if base.__module__.startswith("textual.")]
        theirs = frozenset[str]().union(*map(private_attributes, bases))
        for part in ast.walk(node) if bases else ():
            name = getattr(part, "attr", "") or getattr(part, "name", "") or ""
            if name in theirs:
                yield name


@cache
def private_attributes(base: type) -> frozenset[str]:
    """Return the private names that a class of Textual defines or uses of itself."""
    found = re.finditer(
        r"\bself\.(_[a-zA-Z]\w*)|def (_[a-zA-Z]\w*)\(|^    (_[a-zA-Z]\w*)", inspect.getsource(base), re.M
    )
    return frozenset(name for match in found for name in match.groups() if name)


@pytest.mark.parametrize("package", ["console", "web", "repl"])
def test_nothing_else_uses_what_is_private(package: str) -> None:
    found = []
    for path in sorted((ROOT / package).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ".".join(("hitl_tui", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        found += [f"{module}: {name}" for name in (*private_modules(tree), *private_names(tree, module))]
    assert found == []
