"""The catalogue has exactly what there is to translate, all of it translated, and the compiled form is the same."""

from __future__ import annotations

import ast
import re
import string

import polib
import pytest
from catalogues import plurals
from extraction import ROOT, extract

from hitl_tui.console.keys import KEYS
from hitl_tui.language.catalogue import catalogue_path

NAMES = frozenset({"fg", "trust"}) | frozenset(
    {
        "TODO",
        "JSON",
        "TOML",
        "UTF",
        "CP",
        "NUL",
        "PDF",
        "MB",
        "kB",
        "ID",
        "SQLite",
        "PostgreSQL",
        "Prometheus",
        "LangGraph",
        "MCP",
        "mcp",
        "kind",
        "JavaScript",
    }
    | {
        "Apprise",
        "OpenTelemetry",
        "ssh",
        "HOST",
        "Claude",
        "Code",
        "claude",
        "command",
        "PreToolUse",
        "policy",
        "check",
        "replay",
        "masc",
    }
    | {"Markdown", "SystemExit", "TeamResult", "WAL", "msgpack", "dict", "shm", "wal", "null", "true", "false"}
    | {"Space", "Enter", "Esc", "PgDn", "y", "r", "m", "h", "d", "w", "x", "n", "N"}
    | {"id", "yes", "no", "en", "ko", "step", "plan", "risk", "low", "medium", "high", "before", "after"}
    | {"approve", "reject", "respond", "edit", "accept", "decline", "cancel", "done", "failed", "verify", "head"}
    | {
        "export",
        "attention",
        "decisions",
        "run",
        "preview",
        "choice",
        "action",
        "args",
        "name",
        "type",
        "content",
        "message",
        "config",
    }
    | {"attribute", "query", "uv", "def", "idempotent", "GRAPH", "Bearer"}
    | {"never", "any", "until", "revoke", "U", "approver", "add", "remove"}
    | {"never", "any", "until", "revoke"}
    | {"pins", "exclude"}
    | {"CSV", "Excel", "Parquet", "DuckDB"}
    | {"Python", "SQL", "src", "jupyter", "nbconvert", "script", "numpy", "Decimal", "Path", "deque", "range", "None"}
    | {
        "str",
        "int",
        "float",
        "bool",
        "list",
        "sorted",
        "isoformat",
        "asdict",
        "try",
        "except",
        "finally",
        "checkpointer",
    }
    | {"interrupt", "GraphInterrupt", "GraphBubbleUp", "InterruptedError", "Send", "ToolNode"}
)
"""Names: of formats and programs, of keys, of what is typed. Anything else is a word that was left in English."""
_TYPED = (
    r"hitl-tui approver add NAME|"
    r"hitl-tui( [a-z]+)?|audit [a-z]+|/[a-z]+( (list|show|skip|allow|approve|accept|undo|none|budget|tokens|save|run))?"
    r"|f5, ctrl\+x, pagedown, y|graph ="
    r"|uv run --[a-z]+( [a-z]+)?|(uv )?pip install|\"/todo [^\"]+\""
)
_CODE = re.compile(_TYPED + r"""|\S*[/=_:@\[\]{}`"'<>]\S*|--?\w+(-\w+)*|\S*\.\w+|[A-Z_]{4,}|\w*\d\w*|Ctrl\+\w|Ctrl-D""")
_VALUE = re.compile(r"\{\w*(:[^{}]*)?(!t)?\}")


@pytest.fixture(scope="module")
def korean() -> polib.POFile:
    return polib.pofile(str(catalogue_path("ko", "po")))


def texts(entry: polib.POEntry) -> list[str]:
    """Return the translations of an entry."""
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


def test_nothing_is_missing_and_nothing_is_left_over(korean: polib.POFile) -> None:
    wanted = plurals(extract())
    there = {entry.msgid: entry.msgid_plural for entry in korean}
    again = "python tests/language/catalogues.py brings the catalogue up to date"
    assert sorted(wanted.keys() - there.keys()) == [], again
    assert sorted(there.keys() - wanted.keys()) == [], again
    assert {key: plural for key, (plural, _) in wanted.items()} == there


def test_everything_is_translated_and_nothing_is_a_guess(korean: polib.POFile) -> None:
    assert [e.msgid for e in korean if not all(texts(e))] == []
    assert [e.msgid for e in korean if e.fuzzy or e.obsolete] == []


def test_the_compiled_catalogue_is_the_written_one(korean: polib.POFile) -> None:
    assert catalogue_path("ko").read_bytes() == korean.to_binary()


def test_every_value_has_its_place_in_both(korean: polib.POFile) -> None:
    for entry in korean:
        for text in texts(entry):
            if "python-brace-format" in entry.flags:
                assert places(text) == places(entry.msgid), entry.msgid


def places(template: str) -> set[tuple[str, str]]:
    """Return the places of a template; those without a name are numbered in their order."""
    fields = [(name, spec or "") for _, name, spec, _ in string.Formatter().parse(template) if name is not None]
    return {(name or str(number), spec) for number, (name, spec) in enumerate(fields)}


def test_spaces_and_lines_around_a_text_are_kept(korean: polib.POFile) -> None:
    for entry in korean:
        for text in texts(entry):
            for side in (r"^\n*", r"\n*$"):
                assert re.findall(side, text)[0] == re.findall(side, entry.msgid)[0], entry.msgid


def test_no_english_word_was_left_in_korean(korean: polib.POFile) -> None:
    left = {}
    for entry in korean:
        for text in texts(entry):
            plain = _CODE.sub(" ", _VALUE.sub(" ", text))
            words = [w for w in re.findall(r"[A-Za-z][A-Za-z-]*", plain) if w not in NAMES]
            if words:
                left[text] = words
    assert left == {}


@pytest.mark.long
def test_no_function_hides_the_translating_one() -> None:
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "from hitl_tui.language import" not in text or path.parent.name == "language":
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                assert "_" not in bound, f"{path}: {function.name} binds _"


def test_no_particle_is_glued_to_a_value(korean: polib.POFile) -> None:
    glued = re.compile(r"\((으|이)?(를|은|는|가|이|과|와|로)\)|\}(은|는|이|가|을|를|와|과|로|으로)(?=[ .,]|$)")
    assert [text for entry in korean for text in texts(entry) if glued.search(text)] == []


def test_every_key_is_named_and_explained_in_the_catalogue(korean: polib.POFile) -> None:
    known = {entry.msgid for entry in korean}
    assert {text for key in KEYS for text in (key.label, key.help)} - known == set()
