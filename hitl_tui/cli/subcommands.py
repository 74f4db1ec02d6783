"""The subcommands: what each takes, and its help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hitl_tui import __version__
from hitl_tui.cli.fast_args import CONSOLE
from hitl_tui.cli.grammar import Parser, add_as, add_beginning, add_json, add_trust, count, parser_of, port
from hitl_tui.language import _, in_parts

DEFAULT_AGE = "30d"
"""How old a session must be that `prune` removes when nothing else is said."""
TAKE_VALUES = frozenset(
    {"--workspace", "--session", "--data", "--mode", "--as", "--lang", "--anchor", "--search", "--at", "--title"}
    | {"--older-than", "--keep", "--port", "--host"}
    | {"--approver", "--account", "--level"}
    | {"--input", "--saver", "--trust", "--digest"}
    | {"--thread", "--checkpoint", "--against", "--before", "--ns", "--graph", "--limit", "--skip"}
)
"""Options that are followed by a value, of all subcommands: one of them may stand before the subcommand's name."""

_MAIN = """\
An operator console for supervising teams of agents: a question is planned into TODOs, and each waits for your word.

commands:
  hitl-tui [QUESTION]            open the console (a plain line mode where there is no screen)
  hitl-tui run QUERY             begin a session; go until something must be decided or it is finished
  hitl-tui do SESSION COMMAND    carry one chat command out, such as "/todo approve"; stop at the next question
  hitl-tui show SESSION          show the state of a session, without acting
  hitl-tui sessions              list all sessions; --search TEXT for some
  hitl-tui rename SESSION TITLE  give a session another title
  hitl-tui fork SESSION          start another session from this one's current or past state (--at CHECKPOINT)
  hitl-tui export SESSION FILE   write a session into one file
  hitl-tui import FILE           make a session of such a file
  hitl-tui delete SESSION        remove a session; the record of its decisions stays
  hitl-tui prune                 remove old finished sessions
  hitl-tui trust [DIR]           show what a folder's settings want to run, and trust it
  hitl-tui starter [NAME]        list the examples to begin with, or make the folder of one
  hitl-tui attach GRAPH          run any LangGraph graph under supervision: agent.py:graph, module:attribute
  hitl-tui open DATABASE         look into any LangGraph checkpoint store, SQLite or PostgreSQL; read-only
  hitl-tui web                   the console in a browser of this machine
  hitl-tui audit WHAT [SESSION]  verify, head or export: check the record of who decided what
  hitl-tui approver WHAT [NAME]  add, list or remove those who count where several people or a level are demanded
  hitl-tui policy check [DIR]    name rules of hitl.toml that nobody here can satisfy
  hitl-tui lint GRAPH            check a LangGraph graph for unsafe interrupts, without running it
"""

_CODES = """\
exit codes:
  0 done or finished   3 waiting for a decision   1 failed   2 bad input   130 interrupted

environment:
  HITL_DATA_DIR  where sessions live      HITL_USER  the name that decisions are recorded under
"""


def _console() -> Parser:
    usage = (
        "hitl-tui [--workspace DIR] [--session ID] [--data DIR] [--mode step|plan|risk] [--trust D] [--as NAME]\n"
        "                [--line] [QUESTION]"
    )
    parser = parser_of("", usage, in_parts(_MAIN), _CODES)
    parser.add_argument("words", nargs="*", metavar="QUESTION", help="begin a session with it at once")
    parser.add_argument("--session", metavar="ID", default="", help="open this session")
    add_beginning(parser)
    parser.add_argument("--line", action="store_true", help="line mode: plain lines, for any terminal or a pipe")
    parser.add_argument(
        "--version", action="version", version=f"hitl-tui {__version__}", help="show the version and leave"
    )
    add_trust(parser)
    return parser


def _run() -> Parser:
    usage = (
        "hitl-tui run QUERY [--session ID] [--workspace DIR] [--mode step|plan|risk] [--trust D] [--data DIR]\n"
        "                    [--as NAME] [--json]"
    )
    parser = parser_of(
        "run", usage, "Begin a session and go until something must be decided or it is finished.", _CODES
    )
    parser.add_argument(
        "words", nargs="+", metavar="QUERY", help="what you want to know or have done; - reads it from stdin"
    )
    parser.add_argument("--session", metavar="ID", default="", help="id of the new session (s1, s2, …)")
    add_beginning(parser)
    add_json(parser)
    add_trust(parser)
    return parser


def _do() -> Parser:
    usage = "hitl-tui do SESSION COMMAND [--trust D] [--data DIR] [--as NAME | --approver NAME] [--json]"
    parser = parser_of(
        "do",
        usage,
        "Carry one chat command out, let what it set free run, and stop at the next question.\n"
        "Plain text proposes a change of the plan. /help lists all commands. When another process has the session\n"
        'open, the command is recorded ("status": "recorded") and that process acts on it.\n'
        "A command that only looks (/todos, /todo show, /checkpoint list, /help) ends with 0 in any session.",
        _CODES,
    )
    parser.add_argument("session", metavar="SESSION", help="the session's id")
    parser.add_argument("words", nargs="+", metavar="COMMAND", help='in quotes: "/todo approve", "/todo skip 2 why"')
    add_as(parser)
    parser.add_argument(
        "--approver",
        metavar="NAME",
        default="",
        help="decide as this approver: their token is asked for at the terminal",
    )
    add_json(parser)
    add_trust(parser)
    return parser


def _show() -> Parser:
    parser = parser_of(
        "show", "hitl-tui show SESSION [--data DIR] [--json]", "Show the state of a session; nothing is opened or run."
    )
    parser.add_argument("session", metavar="SESSION", help="the session's id")
    add_json(parser)
    return parser


def _sessions() -> Parser:
    parser = parser_of(
        "sessions", "hitl-tui sessions [--search TEXT] [--data DIR] [--json]", "List sessions, newest last."
    )
    parser.add_argument(
        "--search", metavar="TEXT", default="", help="only those with all of these words in id, title, query or folder"
    )
    add_json(parser)
    return parser


def _audit() -> Parser:
    parser = parser_of(
        "audit",
        "hitl-tui audit verify|head|export [SESSION] [--anchor TEXT] [--data DIR] [--json]",
        "Check the record of who decided what.\n\n"
        "  verify  walk the chains of hashes and compare what is shown with what was recorded\n"
        "  head    print an anchor a session, to keep where nobody here can change it\n"
        "  export  print the record as JSON lines",
        "exit codes:\n  0 as it was written   1 something was changed or can't be read   2 bad input",
    )
    parser.add_argument("what", choices=("verify", "head", "export"), metavar="verify|head|export")
    parser.add_argument("session", metavar="SESSION", nargs="?", default="", help="this session alone")
    parser.add_argument(
        "--anchor", dest="anchors", action="append", default=[], metavar="TEXT", help="verify against what head printed"
    )
    add_json(parser)
    return parser


_ENDS = "exit codes:\n  0 done   1 failed   2 bad input; nothing was changed"


def _managing(name: str, usage: str, description: str) -> Parser:
    parser = parser_of(name, f"hitl-tui {name} {usage} [--data DIR] [--json]", description, _ENDS)
    add_json(parser)
    return parser


def _of_session(name: str, usage: str, description: str) -> Parser:
    parser = _managing(name, f"SESSION {usage}".rstrip(), description)
    parser.add_argument("session", metavar="SESSION", help="the session's id")
    add_as(parser)
    return parser


def _rename() -> Parser:
    parser = _of_session("rename", "TITLE", "Give a session another title, also while it is open elsewhere.")
    parser.add_argument("words", nargs="+", metavar="TITLE", help="the new title")
    return parser


def _fork() -> Parser:
    parser = _of_session(
        "fork",
        "[--at CHECKPOINT] [--title TITLE]",
        "Begin another session where this one stands or stood. The same is asked there and nothing is executed.\n"
        "What this one did to the world is known there: doing it again is asked about.",
    )
    parser.add_argument(
        "--at", metavar="CHECKPOINT", default="", help="id, prefix or ending, as /checkpoint list shows"
    )
    parser.add_argument("--title", metavar="TITLE", default="", help="of the new session (the same)")
    return parser


def _export() -> Parser:
    parser = _of_session(
        "export",
        "FILE",
        "Write a session into one file: checkpoints, results, the record of decisions. It may be open elsewhere.\n"
        "An existing file is never written over.",
    )
    parser.add_argument("file", metavar="FILE", help="the file to make, such as s1.hitl")
    return parser


def _import() -> Parser:
    parser = _managing(
        "import",
        "FILE [--workspace DIR]",
        "Make a session of an exported file. All of it is checked first; nothing is executed, and every step asks.\n"
        "It keeps its id unless there is or was one of that id here.",
    )
    parser.add_argument("file", metavar="FILE", help="what hitl-tui export wrote, here or elsewhere")
    parser.add_argument("--workspace", metavar="DIR", help="folder it works in (the one it had, if that exists here)")
    add_as(parser)
    return parser


def _delete() -> Parser:
    parser = _of_session(
        "delete",
        "[--yes]",
        "Remove a session that nobody has open. The record of its decisions stays, and its id isn't given again.",
    )
    parser.add_argument("--yes", action="store_true", help="don't ask; needed where there is no terminal")
    return parser


def _prune() -> Parser:
    parser = _managing(
        "prune",
        "[--older-than AGE] [--keep N] [--dry-run] [--yes]",
        "Remove finished and failed sessions that nobody has open, after showing which. Without --older-than and\n"
        f"--keep: those older than {DEFAULT_AGE}. The record of their decisions stays.",
    )
    parser.add_argument("--older-than", metavar="AGE", help="by their last step: 90m, 12h, 30d, 2w")
    parser.add_argument("--keep", metavar="N", type=count, help="the N that ended last stay")
    parser.add_argument("--dry-run", action="store_true", help="only show which would go")
    parser.add_argument("--yes", action="store_true", help="don't ask; needed where there is no terminal")
    add_as(parser)
    return parser


def _trust() -> Parser:
    parser = parser_of(
        "trust",
        "hitl-tui trust [DIR] [--show | --digest D | --revoke | --list] [--data DIR] [--as NAME] [--json]",
        "Show what a folder's hitl.toml and langgraph.json want to run, and trust it. Until then only search,\n"
        "analysis and documents work there, every step asks, and rules that ask or deny are obeyed. Trust ends with\n"
        "any change of these files. Without a terminal the digest that --show --json prints has to be given.",
        "with --json:\n"
        '  {"status", "message", "workspace", "digest", "trusted", "changed", "by", "at", "files",\n'
        '  "wants": [{"kind", "name", "text", "risk", "file"}]}\n\n' + _ENDS,
    )
    parser.add_argument("workspace", metavar="DIR", nargs="?", help="the folder (the current one)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help=_("only show what it wants, and the digest"))
    what.add_argument(
        "--digest", metavar="D", default="", help=_("trust it if it is still what this digest stands for")
    )
    what.add_argument("--revoke", action="store_true", help=_("take the trust in it back"))
    what.add_argument("--list", dest="listed", action="store_true", help=_("list the folders that are trusted"))
    add_as(parser)
    add_json(parser)
    return parser


def _starter() -> Parser:
    parser = _managing(
        "starter",
        "[NAME]",
        "List the examples to begin with; with a name, make that one's folder (once) and print where it is.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="which one")
    return parser


def _open() -> Parser:
    usage = (
        "hitl-tui open DATABASE [--thread THREAD] [--checkpoint ID [--against ID]] [--ns NS] [--search TEXT]\n"
        "                     [--limit N] [--skip N] [--before ID] [--graph GRAPH] [--workspace DIR]\n"
        "                     [--mode step|plan|risk] [--as NAME] [--data DIR] [--json]"
    )
    parser = parser_of(
        "open",
        usage,
        "Look into the checkpoints of any LangGraph graph, without the graph: threads, history, branches, state,\n"
        "differences. Nothing is written and nothing is run. Without a terminal, or with --json, it prints: the\n"
        "threads; with --thread that one's checkpoints; with --checkpoint the state there.\n\n"
        "With --graph a thread can go on in a copy, in a session of its own: 3 at a checkpoint, or --thread without a\n"
        "terminal. The store itself is still not written. GRAPH is as in hitl-tui attach.",
        "with --json:\n"
        '  {"status", "message", "store": {"kind", "name", "notes"}, "total", "next", "searched_by_id_alone",\n'
        '  "threads": [{"thread_id", "head", "last", "checkpoints", "title", "waiting", "subgraphs"}]}\n'
        "with --thread:\n"
        '  {"status", "message", "store", "thread_id", "ns", "total", "next",\n'
        '  "namespaces": [{"ns", "nodes", "checkpoints", "head", "last", "parent_checkpoint_id"}],\n'
        '  "checkpoints": [{"checkpoint_id", "parent_id", "timestamp", "step", "source", "next", "asked", "said"}]}\n'
        "with --checkpoint:\n"
        '  {"status", "message", "store", "thread_id", "ns", "checkpoint": {"checkpoint_id", "at", "next", "values",\n'
        '  "questions", "tasks", "metadata", "internal", "notes"}}\n'
        "with --against:\n"
        '  {"status", "message", "store", "thread_id", "ns", "checkpoint_id", "against", "notes",\n'
        '  "differences": [{"path", "change", "before", "after"}]}\n\n'
        "exit codes:\n"
        "  0 done   1 failed   2 bad input; nothing was changed",
    )
    parser.add_argument(
        "file",
        metavar="DATABASE",
        help="a SQLite file, or postgresql://user@host/database; its password in PGPASSWORD or ~/.pgpass",
    )
    parser.add_argument("--thread", metavar="THREAD", default="", help="this thread: its id or how it begins")
    parser.add_argument("--checkpoint", metavar="ID", default="", help="print the state there: id, beginning or ending")
    parser.add_argument("--against", metavar="ID", default="", help="print what differs from this other one instead")
    parser.add_argument("--ns", metavar="NS", default="", help="the checkpoints of a subgraph, as they are listed")
    parser.add_argument("--search", metavar="TEXT", default="", help="only threads with these words in id or title")
    parser.add_argument("--limit", metavar="N", type=count, help="list at most this many (100)")
    parser.add_argument("--skip", metavar="N", type=count, help="skip this many threads first")
    parser.add_argument("--before", metavar="ID", default="", help="list checkpoints older than this one")
    parser.add_argument("--graph", metavar="GRAPH", default="", help="the graph that wrote it, to go on in a copy")
    add_beginning(parser)
    add_json(parser)
    return parser


def _attach() -> Parser:
    usage = (
        "hitl-tui attach GRAPH [--input JSON|TEXT|@FILE] [--workspace DIR] [--session ID] [--saver URI --thread T]\n"
        "       [--mode step|plan|risk] [--trust D] [--data DIR] [--as NAME] [--line | --json]"
    )
    parser = parser_of(
        "attach",
        usage,
        "Run any LangGraph graph under supervision, as it is: its interrupts become questions, its history can be\n"
        "looked at and gone back in, and a crash loses nothing.\n\n"
        "GRAPH is module:attribute, path.py:attribute (or path.py, when it holds one graph), a langgraph.json, or\n"
        "the name of a graph in the workspace's langgraph.json. The attribute may be a compiled graph, a builder, a\n"
        "factory or an @entrypoint. Giving --input is the word to run the graph with it; without it you are asked.",
        _CODES,
    )
    parser.add_argument("name", metavar="GRAPH", help="the graph: agent.py:graph, package.module:graph, langgraph.json")
    parser.add_argument("--input", metavar="JSON", default=None, help="its input: JSON, words, @file, or - for stdin")
    parser.add_argument("--session", metavar="ID", default="", help="id of the new session (s1, s2, …)")
    parser.add_argument(
        "--saver",
        metavar="URI",
        default="",
        help="keep its threads in this SQLite file, or postgresql://user@host/database; its password in PGPASSWORD or "
        "~/.pgpass",
    )
    parser.add_argument("--thread", metavar="T", default="", help="go on with this thread of that store")
    add_beginning(parser)
    parser.add_argument("--line", action="store_true", help="line mode: plain lines, for any terminal or a pipe")
    add_json(parser)
    add_trust(parser)
    return parser


def _web() -> Parser:
    usage = (
        "hitl-tui web [--port N] [--host 127.0.0.1] [--workspace DIR] [--data DIR] [--mode step|plan|risk]\n"
        "                    [--trust D] [--as NAME] [--no-open]"
    )
    parser = parser_of(
        "web",
        usage,
        "Serve the console to a browser of this machine. The address that is printed lets one browser in, once.\n"
        "Each open page is a console of its own. Ctrl+C ends it.",
        _ENDS,
    )
    parser.add_argument("--port", metavar="N", type=port, help="where it listens (8765); 0 takes one that is free")
    parser.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="a loopback address (127.0.0.1)")
    add_beginning(parser)
    parser.add_argument("--no-open", action="store_true", help="print the address, open no browser")
    add_trust(parser)
    return parser


def _lint() -> Parser:
    parser = parser_of(
        "lint",
        "hitl-tui lint MODULE:ATTRIBUTE|FILE.py[:ATTRIBUTE] [--json]",
        "Check a LangGraph graph for unsafe interrupts, and show what its nodes do to the\n"
        "world. Only the source is read, with what it imports from its own package or\n"
        "folder: nothing is imported or run. An effect that may be done again says so:\n"
        "# hitl: idempotent (on its line, on a line above it, or on a function's def).",
        "with --json:\n"
        '  {"status": "ok" | "findings", "message", "target": {"name", "file", "files"}, "notes",\n'
        '  "findings": [{"rule", "name", "severity", "message", "meaning", "remedy", "file", "line", "column"}],\n'
        '  "nodes": [{"graph", "node", "interrupts", "effect", "file", "line",\n'
        '  "position", "idempotent", "rules", "verdict"}]}\n\n'
        "exit codes:\n"
        "  0 nothing found   1 something found   2 bad input",
    )
    parser.add_argument(
        "target", metavar="MODULE:ATTRIBUTE|FILE.py[:ATTRIBUTE]", help="the graph; without attribute all"
    )
    add_json(parser)
    return parser


def _approver() -> Parser:
    parser = parser_of(
        "approver",
        "hitl-tui approver add NAME [--account ACCOUNT] [--level N] | list | remove NAME [--data DIR] [--json]",
        "Say who counts where a policy demands several people or a level. The account that owns the data folder\n"
        "always counts, with level 0 unless it is added.\n\n"
        "  add     without --account it prints a token, once: it proves who they are wherever they type it\n"
        "  list    show them\n"
        "  remove  remove one; what they decided stays as it is",
        _ENDS,
    )
    parser.add_argument("what", choices=("add", "list", "remove"), metavar="add|list|remove")
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="the approver")
    parser.add_argument("--account", metavar="ACCOUNT", help="their operating system account, instead of a token")
    parser.add_argument("--level", metavar="N", type=count, default=0, help="their level, 0 to 100 (0)")
    add_json(parser)
    return parser


def _policy() -> Parser:
    parser = parser_of(
        "policy",
        "hitl-tui policy check [DIR] [--data DIR] [--json]",
        "Name the rules of a folder's hitl.toml that nobody here can satisfy, and what helps.",
        "with --json:\n"
        '  {"status": "ok" | "findings", "message", "file", "approvers": [{"name", "account", "token", "level"}],\n'
        '  "findings": [{"rule", "line", "quorum", "level", "message"}]}\n\n'
        "exit codes:\n  0 nothing found   1 something found   2 bad input",
    )
    parser.add_argument("what", choices=("check",), metavar="check")
    parser.add_argument("workspace", metavar="DIR", nargs="?", help="the folder (the current one)")
    add_json(parser)
    return parser


PARSERS: Mapping[str, Callable[[], Parser]] = MappingProxyType(
    {
        CONSOLE: _console,
        "run": _run,
        "do": _do,
        "show": _show,
        "sessions": _sessions,
        "rename": _rename,
        "fork": _fork,
        "export": _export,
        "import": _import,
        "delete": _delete,
        "prune": _prune,
        "trust": _trust,
        "starter": _starter,
        "attach": _attach,
        "open": _open,
        "web": _web,
        "audit": _audit,
        "approver": _approver,
        "policy": _policy,
        "lint": _lint,
    }
)
"""Makes the parser of each subcommand; the console itself counts as one."""
