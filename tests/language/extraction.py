"""What there is to translate, read from the syntax tree of the program.

Two kinds of entries. Messages and a face's own literals: what stands in `Message`, `_`, `ngettext` and `mark`, in the
tables of keys and commands, and in the options of the command line; they have no context. And what the rooms below say
in finished English sentences, in the context `said`: literals, and templates with a place `{0}`, `{1}`… for each value
of an f-string. Where a value is one of two literals (`line{'' if n == 1 else 's'}`) there is a template for each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import hitl_tui
from hitl_tui.commands.spec import SPECS

ROOT = Path(hitl_tui.__file__).parent

FACES = ("console", "repl", "wording", "terminal")
SPEAKING = ("commands", "supervisor", "threads", "ledger", "planning", "policy", "config", "core", "cli", "channels")
"""Rooms below the faces, and the command line: all that reads like a sentence is taken."""
RAISING = ("teams", "graphs", "web", "lint")
"""Rooms that write content: what they raise is a sentence of ours, what they return is a team's."""
ALSO_FOR_SCRIPTS = ("standing",)
"""Functions of faces whose text stands in JSON, too, so that it is English until it is shown."""
SPEAKING_FILES = ("lint_report.py",)
"""Modules of faces that write finished sentences."""

_SQL = re.compile(
    r"\b(SELECT|INSERT|PRAGMA|BEGIN (IMMEDIATE|EXCLUSIVE)|UPDATE \w+ SET|DELETE FROM|CREATE|DROP|VACUUM|WHERE|ORDER BY|"
    r"PRIMARY KEY|STRICT)\b"
)
_PATTERN = re.compile(r"\(\?|\\[sdwb]|\[\^|\.\*|\$\)")
_NOT_SENTENCES = ("/", "--", "#", "<", "- ", "%(", "hitl-tui ", "[--", "FILE [", "pip ", "^", "| ")
_LONGEST = 1_000
_FIELD = re.compile(r"\{\w+\}")
_LETTERS = re.compile(r"[A-Za-z]{2}")
_NOT_TOLD = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log", "execute", "compile"})
_WORD_TABLES = frozenset({"Status", "Priority", "Verdict", "Kind", "Outcome", "Risk"})
"""Enumerations whose values are shown."""
_COLUMNS = re.compile(
    r"\w+(\.\w+)? = ['?:$]|\b\w\.\w+, (\w\.\w+|CASE)|\(\w+(, \w+)+\)$|^(\w+, ){4,}|[$?]\w* AND | AND \w+ < \?"
)
"""Parts of statements of SQL."""
_TAKEN_APART = frozenset(
    {
        "_",
        "ngettext",
        "mark",
        "Message",
        "counted_message",
        "KeySpec",
        "CommandSpec",
        "Argument",
        "Subcommand",
        "option",
        "Binding",
        "create_task",
    }
    | {"StarterWords"}
)
"""Calls whose texts are a face's own, aren't shown, or speak several languages by themselves."""
_IN_COLUMNS = frozenset({"_CODES", "_ENDS", "_FINDINGS"})
"""Texts that `in_parts` takes apart."""
_MOST_FORMS = 16

EXTRA = (
    "/help lists all commands.",
    "/rules lists them.",
    "/todos shows where everything stands.",
    'There is no command "/{0}"; after /{1} comes one of {2}.',
    "The following arguments are required: {0}.",
    "Unrecognized arguments: {0}.",
    "{0}: expected one argument.",
    "{0}: expected at least one argument.",
    "{0}: ignored explicit argument {1}.",
    "{0}: invalid {1} value: {2}.",
    # where two sentences could be meant
    'There is no session "{0}"; there are {1}.',
    'There is no session "{0}"; there is none yet.',
    "{0} waits for your decision: {1} and {2} more.",
    'There is no declared command "{0}"; did you mean "{1}"?',
    'There is no declared command "{0}"; declared are: {1}.',
    "names no declared command, but {0}; did you mean {1}?",
    "uses {0}, which is no declared parameter; did you mean {1}?",
    'There is no command "/{0}"; did you mean /{1}?',
    'There is no command "/{0}"; /help lists all commands.',
    "This rule would be saved:",
    # what became of a question, values of an enumeration
    "cancelled",
    "edited",
    "removed",
    "stopped",
    # what an attached graph is for
    "The graph {0}",
    # numbers of things
    *("{0} thread in {1}.", "{0} threads in {1}."),
    *("{0} checkpoint of thread {1} in {2}.", "{0} checkpoints of thread {1} in {2}."),
    *("{0} difference from checkpoint {1}.", "{0} differences from checkpoint {1}."),
    *("Subgraph --ns {0}: {1} checkpoint", "Subgraph --ns {0}: {1} checkpoints"),
    *('The command "{0}" ended with exit code {1}.', 'The command "{0}" ended with exit code {1}: {2}.'),
    *('The command "{0}" was ended by {1}.', 'The command "{0}" was ended by {1}: {2}.'),
    'The command "{0}" was stopped because its time, {1} s, was up.',
    'The command "{0}" was stopped because its time, {1} s, was up: {2}.',
    *("{0}: exit code {1}, {2} line in {3} s", "{0}: exit code {1}, {2} lines in {3} s"),
    "{0}: a person said that it was done; its output is not known",
    # the place of a problem in hitl.toml
    "{0} in [{1}] {2}",
    "{0} in [[{1}]] {2}",
    "{0} at the top {1}",
    "unknown key {0} at the top; known are {1}",
    "unknown key {0} in [{1}]; known are {2}",
    "unknown key {0} in [[{1}]]; known are {2}",
    "{0} line {1}: unknown key {2} at the top; did you mean {3}?",
    "{0} line {1}: unknown key {2} in [{3}]; did you mean {4}?",
    "{0} line {1}: unknown key {2} in [[{3}]]; did you mean {4}?",
    "item {0} of {1} in [{2}] {3}",
    "item {0} of {1} in [[{2}]] {3}",
    'must be {0} or "{1}", but it is {2}',
    'must be a duration such as "90s", "10m", "2h" or "1d", but it is {0}',
    # what the parser of TOML says
    *("invalid value", "invalid statement", "unclosed array", "unclosed inline table", "unterminated string"),
    *("expected '=' after a key in a key/value pair", "expected ']' at the end of a table declaration"),
    "expected newline or end of document after a statement",
    *("invalid initial character for a key part", "illegal character {0}", "invalid date or datetime"),
    "TODOs",
    # what a session stands at, in lists
    *("waiting", "running", "finished", "failed", "interrupted", "unreadable", "planning"),
    # kinds of lines of the stream, and what an activity began with
    *("started", "asked", "note", "progress", "done"),
)
"""Said by libraries, or put together from names: no literal of the program has it."""

LEFT_OUT = frozenset(
    {
        # two names, as any sentence may have them
        "{names} and {last}",
        *(spec.name for spec in SPECS),
        # names of effects and of sections of answers: content
        *("low risk {0}", "start {0}", "ask again {0}", "go on {0} {1}", "go on {0}"),
        " Is the server running ",
        *("Not found", "Also found", "Not done", "Files written"),
        # how another library words its errors: looked for, not said
        *("Cannot overwrite a value", "Cannot declare", "Cannot mutate immutable namespace"),
        *("decided:{0}", "restored:{0}"),
        "limit must not be negative",
        "s are",
        "rejected by",
    }
)


@dataclass
class Found:
    """What is to be translated.

    Args:
        faces: places by text; a pair of texts for a number of things.
        said: places by text or template.
    """

    faces: dict[str | tuple[str, str], list[str]] = field(default_factory=dict)
    said: dict[str, list[str]] = field(default_factory=dict)


def extract(root: Path = ROOT) -> Found:
    """Return everything that is to be translated."""
    found = Found()
    for path in sorted(root.rglob("*.py")):
        room = path.relative_to(root).parts[0]
        if room in ("language", "_data") or path == root / "core" / "messages.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        place = path.relative_to(root.parent).as_posix()
        for text in _of_faces(tree):
            found.faces.setdefault(text, []).append(place)
        if room in SPEAKING or path.name in SPEAKING_FILES:
            taken = [*_sentences(tree, raised_only=False), *(_words_of_enums(tree) if room == "core" else ())]
        elif room in (*RAISING, *FACES):
            standing = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in ALSO_FOR_SCRIPTS]
            taken = [*_sentences(tree, raised_only=True), *(_descriptions(tree) if room in RAISING else ())]
            taken += [text for part in standing for text in _sentences(part, raised_only=False)]
        else:
            continue
        if room == "lint":  # what is found stands in evidence, too: finished, in English
            taken += _findings(tree)
        taken += _summaries(tree)
        for text in taken:
            if text not in LEFT_OUT:
                found.said.setdefault(text, []).append(place)
    for text in EXTRA:
        found.said.setdefault(text, []).append("libraries and names")
    return found


# Faces ------------------------------------------------------------------------------------------------------------


def _of_faces(tree: ast.AST) -> Iterator[str | tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id in _IN_COLUMNS and node.value is not None:
                yield from parts_of(_text(node.value) or "")


def _of_call(node: ast.Call) -> Iterator[str | tuple[str, str]]:
    name = _name(node.func)
    if name in ("_", "mark", "Message"):
        yield from filter(None, map(_text, node.args[:1]))
    elif name in ("ngettext", "counted_message"):
        one, many = _text(node.args[0]), _text(node.args[1])
        assert one and many, f"{name} needs literals (line {node.lineno})"
        yield one, many
    elif name == "KeySpec":
        yield from filter(None, map(_text, node.args[4:6]))
    elif name == "CommandSpec":
        yield from filter(None, map(_text, node.args[1:2]))
    elif name == "option":
        yield from filter(None, (_text(k.value) for k in node.keywords if k.arg == "help"))
    elif name == "Subcommand":
        yield from filter(None, map(_text, (node.args[3], node.args[5])))
        for epilog in node.args[7:8]:
            for part in ast.walk(epilog):
                yield from parts_of(_text(part) or "")


def parts_of(text: str) -> Iterator[str]:
    """Yield what `in_parts` looks up of a text in columns: not spaces, what is typed, or keys of JSON."""
    for part in re.split(r" {2,}|\n", text):
        if re.search(r"[a-z]{3}", part) and not part.startswith(("hitl-tui ", "{", '"')):
            yield part


# What the rooms below say -----------------------------------------------------------------------------------------


def _sentences(tree: ast.AST, *, raised_only: bool) -> Iterator[str]:
    passed_over, raised = {id(n) for n in _silent(tree)}, _raised(tree) if raised_only else set()
    for top in _walk(tree, passed_over):
        if isinstance(top, ast.Constant | ast.JoinedStr):
            if raised_only and id(top) not in raised:
                continue
            for form in _forms(top):
                if _is_sentence(form):
                    yield form


def _walk(node: ast.AST, passed_over: set[int]) -> Iterator[ast.AST]:
    """Walk a tree; what stands within an f-string is reached through its values only."""
    for child in ast.iter_child_nodes(node):
        if id(child) in passed_over:
            continue
        yield child
        if isinstance(child, ast.JoinedStr):
            for value in child.values:
                if isinstance(value, ast.FormattedValue):
                    yield from _inner(value.value)
                    yield from _walk(value.value, passed_over)
        else:
            yield from _walk(child, passed_over)


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a value of an f-string that is itself a text, unless it was taken apart already."""
    if isinstance(node, ast.JoinedStr):
        yield node


def _silent(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what nobody is told: docstrings, annotations, log messages, keys, comparisons, faces' own literals."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Call):
            name = _name(node.func)
            if name in _TAKEN_APART:
                yield node
            elif isinstance(node.func, ast.Attribute) and node.func.attr in _NOT_TOLD:
                yield from node.args
        elif isinstance(node, ast.Dict) and {"en", "ko"} <= {k.value for k in node.keys if isinstance(k, ast.Constant)}:
            yield node  # what goes into results, in both languages already
        elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.returns
        elif isinstance(node, ast.Compare):
            yield from [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.Assign) and _name(node.targets[0]) in _IN_COLUMNS:
            yield node.value


def _raised(tree: ast.AST) -> set[int]:
    """Return the nodes within what is raised or made into an error."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _is_error(_name(node.func))):
            found.update(map(id, ast.walk(node)))
    return found


def _is_error(name: str) -> bool:
    return name in ("BadInput", "Refused", "UnknownName", "wrong", "_wrong", "failure", "doubt", "_refuse") or (
        name.endswith("Error") and name[:1].isupper()
    )


def _words_of_enums(tree: ast.Module) -> Iterator[str]:
    """Yield the values of enumerations: statuses, priorities, verdicts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name in _WORD_TABLES:
            for item in node.body:
                if isinstance(item, ast.Assign) and (text := _text(item.value)) and _LETTERS.search(text):
                    yield text


def _summaries(tree: ast.Module) -> Iterator[str]:
    """Yield what commands say of themselves: `/help` answers with it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) == "CommandSpec":
            yield from filter(None, map(_text, node.args[1:2]))


def _findings(tree: ast.Module) -> Iterator[str]:
    """Yield the messages of findings and their parts, without what rules say of themselves."""
    rules = {id(n) for r in ast.walk(tree) if isinstance(r, ast.Call) and _name(r.func) == "Rule" for n in ast.walk(r)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) == "Message" and id(node) not in rules:
            yield from filter(None, map(_text, node.args[:1]))


def _descriptions(tree: ast.Module) -> Iterator[str]:
    """Yield what teams say of themselves: questions have it as their purpose."""
    for node in ast.walk(tree):
        values: list[ast.expr | None] = []
        if isinstance(node, ast.FunctionDef) and node.name == "description":
            values = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            values = [node.value] if _name(target) == "description" else []
        for value in values:
            if isinstance(value, ast.Constant | ast.JoinedStr):
                yield from filter(_is_sentence, _forms(value))


def _forms(node: ast.AST) -> Iterator[str]:
    """Yield a literal, or the templates of an f-string."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
        return
    assert isinstance(node, ast.JoinedStr)
    pieces: list[list[str]] = []
    count = 0
    for value in node.values:
        if isinstance(value, ast.Constant):
            pieces.append([str(value.value).replace("{", "{{").replace("}", "}}")])
        else:
            assert isinstance(value, ast.FormattedValue)
            either = _either(value.value)
            if either is None:
                if not pieces or pieces[-1] != [f"{{{count - 1}}}"]:  # where two values touch they count as one
                    pieces.append([f"{{{count}}}"])
                    count += 1
            else:
                pieces.append([t.replace("{", "{{").replace("}", "}}") for t in either])
    forms = ["".join(parts) for parts in product(*pieces)]
    if len(forms) > _MOST_FORMS:
        raise ValueError(f"too many forms of one text: {forms[0]}")
    for form in forms:
        yield form if count else form.replace("{{", "{").replace("}}", "}")


def _either(node: ast.expr) -> list[str] | None:
    """Return the literals that a value is one of; None when it is something else."""
    if isinstance(node, ast.IfExp):
        one, other = _text(node.body), _text(node.orelse)
        return [one, other] if one is not None and other is not None else None
    return None


def _is_sentence(text: str) -> bool:
    """Return whether a text reads like one for people: words with spaces between, no query, no pattern, no name."""
    bare = _FIELD.sub("", text)
    if not _LETTERS.search(bare) or len(text) > _LONGEST or any(p.search(text) for p in (_SQL, _COLUMNS, _PATTERN)):
        return False
    if " " not in bare.strip() and not (_FIELD.search(text) and re.search(r"(^| )[a-z]{4,}:?( |$)", bare)):
        return False
    if bare.lstrip().startswith(_NOT_SENTENCES) or re.fullmatch(r"[A-Z_ ]+", bare.strip()):
        return False
    return sum(c.isalpha() and c.isascii() for c in bare) >= 4


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
