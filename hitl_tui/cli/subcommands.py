"""The subcommands of `hitl-tui`: what each takes, its help, and the function that carries it out.

A new subcommand is a row of `SUBCOMMANDS` and that function. Functions are named, not imported: most need the engine.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Coroutine, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from hitl_tui.cli.fast_args import CODES, CONSOLE, MODES, OPTION
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, in_parts
from hitl_tui.version import __version__

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job

ANSWERS = (
    *("approve", "reject", "edit", "respond", "each", "step", "skip", "ignore"),
    *("retry", "use_as_done", "do_again", "stop"),
)
"""How `decide` answers."""
RISKS = ("low", "medium", "high")
HOOKS = ("claude-code", "command")
"""Whose contract `hook` speaks."""
DEFAULT_AGE = "30d"
"""How old a session must be that `prune` removes when nothing else is said."""
_LISTED = 29
"""Columns of a subcommand with what it takes, in the list of all."""


class Option(NamedTuple):
    """An option or positional argument of a subcommand.

    Args:
        names: what it is called.
        given: what `ArgumentParser.add_argument` is told about it.
    """

    names: tuple[str, ...]
    given: Mapping[str, Any]

    @property
    def positional(self) -> bool:
        """Whether it has no name on the command line."""
        return not self.names[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        """Whether its name is followed by a value."""
        return not self.positional and self.given.get("action", "append") == "append"


class Subcommand(NamedTuple):
    """What can be written after `hitl-tui`, and what it does.

    Args:
        name: what is typed; `CONSOLE` for the console, which is opened without one.
        function: `module:function` below `hitl_tui.cli`. The function takes a `Job` and returns the exit code; a
            coroutine is cancelled when a signal stops the program, and has standard output to itself.
        takes: what follows the name in the list of all subcommands.
        summary: what that list says of it.
        usage: what follows the name in the usage.
        description: what its help says of it.
        options: its options and arguments as the help lists them, below what all subcommands have.
        epilog: what its help ends with.
        exclusive: options of which only one can be given; the help lists them first.
    """

    name: str
    function: str
    takes: str
    summary: str
    usage: str
    description: str
    options: tuple[Option, ...]
    epilog: str = ""
    exclusive: tuple[Option, ...] = ()

    @property
    def most_words(self) -> int | None:
        """How many words follow its name at most; None where they are a text."""
        words = [one.names[0] for one in self.options if one.positional]
        return None if "words" in words else len(words)

    @property
    def actions(self) -> tuple[str, ...]:
        """The words that its first argument is one of, as its help names them; empty for any."""
        first = next((one for one in self.options if one.positional), None)
        named = str(first.given.get("metavar", "")) if first is not None else ""
        return tuple(named.split("|")) if "|" in named else ()

    def load(self) -> Callable[[Job], int | Coroutine[Any, Any, int]]:
        """Import the function that carries it out."""
        module, _colon, name = self.function.partition(":")
        found: Callable[[Job], int | Coroutine[Any, Any, int]] = getattr(import_module(f"hitl_tui.cli.{module}"), name)
        return found


def option(*names: str, **given: object) -> Option:
    """Return an option or positional argument; see `ArgumentParser.add_argument`."""
    return Option(names, given)


def count(text: str) -> int:
    """Return a number from 0 on. Raises ArgumentTypeError for anything else."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(Message("{} isn't a whole number of 0 or more", repr(text)))
    return int(text)


def seconds(text: str) -> float:
    """Return a number of seconds from 0 on. Raises ArgumentTypeError for anything else."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text, re.ASCII):
        raise argparse.ArgumentTypeError(Message("{} isn't a number of seconds", repr(text)))
    return float(text)


def port(text: str) -> int:
    """Return the number of a port. Raises ArgumentTypeError for anything else."""
    if not text.isascii() or not text.isdigit() or len(text) > 5 or int(text) > 65_535:
        raise argparse.ArgumentTypeError(Message("{} isn't a port (a number from 0 to 65535)", repr(text)))
    return int(text)


# The table --------------------------------------------------------------------------------------------------------

_CODES = """\
exit codes:
  0 done or finished   3 waiting for a decision   4 nothing ran: it was rejected   1 failed   2 bad input
  130 interrupted

environment:
  HITL_DATA_DIR  where sessions live      HITL_USER  the name that decisions are recorded under
  HITL_DATABASE  the PostgreSQL database that sessions are kept in instead: postgresql://user@host/name
"""
_ENDS = "exit codes:\n  0 done   1 failed   2 bad input; nothing was changed"
_FINDINGS = "exit codes:\n  0 nothing found   1 something found   2 bad input"

ALL_TAKE = (
    option("--data", metavar="DIR", help="where sessions live (default: HITL_DATA_DIR, else the user's data folder)"),
    option("--database", metavar="ADDRESS", help="keep sessions in this PostgreSQL database (default: HITL_DATABASE)"),
    option(
        OPTION,
        choices=CODES,
        default="",
        dest="lang",
        help="language: English or Korean (default: HITL_LANG, else the locale)",
    ),
)
_AS = option(
    "--as", metavar="NAME", dest="by", help="who decides, for the record (default: HITL_USER, else the login name)"
)
_APPROVER = option(
    "--approver", metavar="NAME", default="", help="decide as this approver; asks for their token at the terminal"
)
_WORKSPACE = option("--workspace", metavar="DIR", help="folder to work in (default: the current one)")
_METRICS = option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="tell figures to Prometheus at this address, without a host at 127.0.0.1",
)
_BEGINNING = (
    _WORKSPACE,
    option(
        "--mode",
        choices=MODES,
        default="",
        help="when you are asked: every step; the plan, then risky steps; risky steps",
    ),
    _AS,
)
_FOLDER = option("workspace", metavar="DIR", nargs="?", help="the folder (default: the current one)")
_JSON = option("--json", action="store_true", help="print exactly one JSON document, nothing else")
_LINE = option("--line", action="store_true", help="line mode: plain lines, for any terminal or a pipe")
_SETTINGS = (
    option("--context", metavar="JSON", default=None, help="runtime context of graphs: a JSON object, or @file"),
    option("--config", metavar="JSON", default=None, help="RunnableConfig of graphs: a JSON object, or @file"),
)
_NEW_ID = option("--session", metavar="ID", default="", help="id of the new session (default: s1, s2, …)")
_SESSION = option("session", metavar="SESSION", help="the session's id")
_TRUST = option(
    "--trust", metavar="D", default="", help="trust the workspace for this call: the digest from trust --show"
)
_YES = option("--yes", action="store_true", help="don't ask; required without a terminal")

AUDITS = ("decisions", "verify", "head", "export", "attention", "accept")

_ROWS = (
    Subcommand(
        CONSOLE,
        "console_command:console",
        "[QUESTION]",
        "open the console (line mode where there is no screen)",
        "[--workspace DIR] [--session ID] [--data DIR] [--mode step|plan|risk] [--trust D] [--as NAME]\n"
        "                [--line] [QUESTION]",
        "A console for supervising teams of agents. They propose steps; you decide what runs.",
        (
            option("words", nargs="*", metavar="QUESTION", help="start a session with this question"),
            option("--session", metavar="ID", default="", help="open this session"),
            *_BEGINNING,
            _LINE,
            option("--version", action="version", version=f"hitl-tui {__version__}", help="show the version and exit"),
            _TRUST,
        ),
        _CODES,
    ),
    Subcommand(
        "run",
        "session_jobs:run",
        "QUERY",
        "start a session; run until a decision is needed or it is finished",
        "QUERY [--context JSON|@FILE] [--config JSON|@FILE] [--session ID] [--workspace DIR]\n"
        "                    [--mode step|plan|risk] [--trust D] [--data DIR] [--as NAME] [--json]",
        "Start a session and run it until a decision is needed or it is finished.",
        (
            option(
                "words",
                nargs="+",
                metavar="QUERY",
                help="what you want to know or have done; - reads it from stdin",
            ),
            *_SETTINGS,
            _NEW_ID,
            *_BEGINNING,
            _JSON,
            _TRUST,
        ),
        _CODES,
    ),
    Subcommand(
        "do",
        "session_jobs:do",
        "SESSION COMMAND",
        'run one chat command, such as "/todo approve"; stop at the next question',
        "SESSION COMMAND [--trust D] [--data DIR] [--as NAME | --approver NAME] [--json]",
        "Run one chat command and the steps it lets run, then stop at the next question.\n"
        "Plain text proposes a change to the plan. /help lists all commands. When "
        'another process has the session\nopen, the command is recorded ("status": '
        '"recorded") and that process acts on it.\nCommands that only show something (/todos, /mode, '
        "/trust, /checkpoint list, /help) end with 0 in any session.",
        (
            _SESSION,
            option("words", nargs="+", metavar="COMMAND", help='in quotes: "/todo approve", "/todo skip 2 why"'),
            _AS,
            _APPROVER,
            _JSON,
            _TRUST,
        ),
        _CODES,
    ),
    Subcommand(
        "show",
        "session_jobs:show",
        "SESSION",
        "show the state of a session, without acting",
        "SESSION [--data DIR] [--json]",
        "Show the state of a session; nothing is opened or run.",
        (_SESSION, _JSON),
        'with --json, beside what run prints:\n  {"owned", "interrupted", "cut_off": ["todo_001"]}\n\n' + _ENDS,
    ),
    Subcommand(
        "sessions",
        "admin_commands:sessions",
        "",
        "list sessions; --search TEXT filters them",
        "[--search TEXT] [--limit N] [--data DIR] [--json]",
        "List sessions, newest last.",
        (
            option(
                "--search",
                metavar="TEXT",
                default="",
                help="only those with all of these words in title, questions, steps, answer or folder",
            ),
            option("--limit", metavar="N", type=count, help="list the newest N (default: 100; all with --json)"),
            _JSON,
        ),
    ),
    Subcommand(
        "inbox",
        "inbox_commands:inbox",
        "",
        "list what waits for people: questions of sessions, and steps of any agent",
        "[--search TEXT] [--limit N] [--workspace DIR] [--data DIR] [--as NAME] [--json]",
        "List what waits for people: of all sessions, of all tasks that masc-checkpoint recorded, and of the runtime\n"
        "elsewhere that the settings name. What expires first comes first. Sessions that were cut off in the middle\n"
        "of something are named, and how to open them: only then do they ask.",
        (
            option("--search", metavar="TEXT", default="", help="only those with all of these words"),
            option("--limit", metavar="N", type=count, help="list at most this many (default: 100; all with --json)"),
            _WORKSPACE,
            _AS,
            _JSON,
        ),
        _CODES,
    ),
    Subcommand(
        "decide",
        "inbox_commands:decide",
        "REQUEST ANSWER",
        "answer something that waits, by the id that inbox prints",
        "REQUEST approve|reject|edit|respond|each|step|skip|ignore|retry|use_as_done|do_again|stop\n"
        "                       [--digest D] [--reason TEXT] [--args JSON|@FILE] [--workspace DIR] [--data DIR]\n"
        "                       [--as NAME | --approver NAME] [--json]",
        "Answer something that waits, of a session, of any agent or of a runtime elsewhere. Without a terminal, what\n"
        "is of high risk takes the digest of what was shown.",
        (
            option("request", metavar="REQUEST", help="the id of the request"),
            option(
                "answer",
                metavar="ANSWER",
                choices=ANSWERS,
                help="the answer; the last four are for what failed or may have happened",
            ),
            option("--digest", metavar="D", default="", help="the digest of what was shown"),
            option("--reason", metavar="TEXT", default="", help="why"),
            option(
                "--args",
                metavar="JSON",
                default=None,
                help="with edit the new arguments, with respond the answer, with each a decision for each call "
                "(1 approve 2 reject WHY); with approve the agent gets it, or it names the changes of a proposal that "
                "are accepted; or @file",
            ),
            _WORKSPACE,
            _AS,
            _APPROVER,
            _JSON,
        ),
        _CODES,
    ),
    Subcommand(
        "review",
        "review_command:review",
        "[REQUEST]",
        "review plans and steps of a runtime elsewhere, over HTTP, through its events, a folder or S3",
        "[REQUEST] [--from SOURCE] [--to PLACE] [--approve | --feedback TEXT] [--wait SECONDS]\n"
        "                       [--data DIR] [--as NAME] [--json]",
        "Show the plans and steps that a runtime elsewhere asks about, and send your answer as a feedback\n"
        "object. At a terminal requests are followed and asked one by one; elsewhere they are listed. Whoever answers\n"
        "first decides; others are told.",
        (
            option("request", metavar="REQUEST", nargs="?", default="", help="this request alone"),
            option(
                "--from",
                metavar="SOURCE",
                default="",
                dest="source",
                help="the runtime's http://HOST:PORT, a file of its events, - for standard input, or where its "
                "feedback is: a folder, or s3://BUCKET[/PREFIX]",
            ),
            option(
                "--to",
                metavar="PLACE",
                default="",
                help="where feedback is put: a folder, or s3://BUCKET[/PREFIX] (default: where the request says)",
            ),
            option("--wait", metavar="SECONDS", type=seconds, help="how long to wait until it is taken (default: 10)"),
            _AS,
            _JSON,
        ),
        'with --json:\n  {"status": "ok", "message", "requests": [{"event", "changes": [{"how", "step", "title"}]}]}\n'
        'of an answer:\n  {"status": "sent", "message", "request_id", "path", "request"}\n\n'
        "exit codes:\n  0 nothing waits, or the answer was sent   3 something waits   1 failed\n"
        "  2 bad input, or somebody else was first\n\n"
        "environment:\n"
        "  HITL_SERVE_TOKEN     the token of a runtime that listens\n"
        "  HITL_APPROVER_TOKEN  yours, which proves who answers there",
        (
            option("--approve", action="store_true", help="approve it"),
            option("--feedback", metavar="TEXT", dest="remark", help="what to change; of a step, why not"),
        ),
    ),
    Subcommand(
        "expire",
        "inbox_commands:expire",
        "",
        "settle what nobody decided in time; for cron",
        "[--data DIR] [--json]",
        "Settle every question whose deadline has passed, of sessions and of tasks. Whoever reads one settles it, too.",
        (_JSON,),
        _ENDS,
    ),
    Subcommand(
        "hook",
        "hook_command:hook",
        "PROGRAM",
        "answer a program before its agent calls a tool: claude-code, or any by command",
        "claude-code|command [--wait SECONDS] [--agent NAME] [--takes-input] [--masc-dir DIR] [--data DIR]",
        "Answer a program that asks before its agent calls a tool: the call is read from standard input as JSON, the\n"
        "answer is one JSON document. Rules of hitl.toml allow or deny it; otherwise people are asked, in the inbox.",
        (
            option("what", choices=HOOKS, metavar="claude-code|command", help="whose contract is spoken"),
            option("--wait", metavar="SECONDS", type=seconds, help="how long to wait for people (default: 50)"),
            option("--agent", metavar="NAME", default="", help="of command: the agent, whatever the call says"),
            option("--takes-input", action="store_true", help="of command: the call is made with input of the answer"),
            option("--masc-dir", metavar="DIR", help="where calls are recorded (default: the nearest .masc upwards)"),
        ),
        "standard input of command:\n"
        '  {"tool", "input": {}, "agent", "session", "cwd", "reason"}\n'
        '  optional: "session", "cwd" and "reason"; with --agent also "agent"\n'
        "standard output of command:\n"
        '  {"decision": "allow" | "deny" | "ask" | "edit", "reason", "input", "request", "by"}\n'
        "  input: what the call has to be made with; after an edit, or always with --takes-input\n\n"
        "exit codes of command:\n  0 allowed   2 denied, or what was sent can't be used   3 nobody decided in time\n"
        "  4 allowed as somebody edited it, and not as it was sent; with --takes-input that is 0\n"
        "exit codes of claude-code:\n  0 answered   2 denied, since what was sent can't be used",
    ),
    Subcommand(
        "rename",
        "admin_commands:rename",
        "SESSION TITLE",
        "rename a session",
        "SESSION TITLE [--data DIR] [--json]",
        "Rename a session, even while it is open elsewhere.",
        (_JSON, _SESSION, _AS, option("words", nargs="+", metavar="TITLE", help="the new title")),
        _ENDS,
    ),
    Subcommand(
        "fork",
        "admin_commands:fork",
        "SESSION",
        "start another session from this one's current or past state (--at CHECKPOINT)",
        "SESSION [--at CHECKPOINT] [--title TITLE] [--data DIR] [--json]",
        "Start another session from this one's current or past state. It asks the same "
        "questions; nothing is executed.\nYou'll be asked before any side effect is "
        "repeated.",
        (
            _JSON,
            _SESSION,
            _AS,
            option(
                "--at", metavar="CHECKPOINT", default="", help="number, id, prefix or ending, as /checkpoint list shows"
            ),
            option("--title", metavar="TITLE", default="", help="title of the new session (default: the same)"),
        ),
        _ENDS,
    ),
    Subcommand(
        "export",
        "admin_commands:export",
        "SESSION FILE",
        "export a session to one file",
        "SESSION FILE [--data DIR] [--json]",
        "Export a session to one file: checkpoints, results, the record of decisions. It "
        "may be open elsewhere.\nExisting files are never overwritten.",
        (_JSON, _SESSION, _AS, option("file", metavar="FILE", help="the file to make, such as s1.hitl")),
        _ENDS,
    ),
    Subcommand(
        "import",
        "admin_commands:import_",
        "FILE",
        "create a session from such a file",
        "FILE [--workspace DIR] [--data DIR] [--json]",
        "Create a session from an exported file. The file is checked first; nothing is "
        "executed, and every step asks.\nThe session keeps its id unless that id is or "
        "was in use here.",
        (
            _JSON,
            option("file", metavar="FILE", help="what hitl-tui export wrote, here or elsewhere"),
            option("--workspace", metavar="DIR", help="folder to work in (default: its own, if it exists here)"),
            _AS,
        ),
        _ENDS,
    ),
    Subcommand(
        "delete",
        "admin_commands:delete",
        "SESSION",
        "delete a session; the record of its decisions stays",
        "SESSION [--yes] [--data DIR] [--json]",
        "Delete a session that nobody has open. The record of its decisions stays; its id isn't reused.",
        (_JSON, _SESSION, _AS, _YES),
        _ENDS,
    ),
    Subcommand(
        "prune",
        "admin_commands:prune",
        "",
        "delete old finished sessions",
        "[--older-than AGE] [--keep N] [--dry-run] [--yes] [--data DIR] [--json]",
        "Delete finished and failed sessions that nobody has open, after listing them. "
        "Without --older-than and\n--keep: those older than 30d. The record of their "
        "decisions stays.",
        (
            _JSON,
            option("--older-than", metavar="AGE", help="older than this, by their last step: 90m, 12h, 30d, 2w"),
            option("--keep", metavar="N", type=count, help="keep the N that ended last"),
            option("--dry-run", action="store_true", help="only show which would be deleted"),
            _YES,
            _AS,
        ),
        _ENDS,
    ),
    Subcommand(
        "trust",
        "trust_command:trust",
        "[DIR]",
        "show what a folder's settings want to run, and trust it",
        "[DIR] [--show | --digest D | --revoke | --list] [--data DIR] [--as NAME] [--json]",
        "Show what a folder's hitl.toml and langgraph.json want to run, and trust it. "
        "Until then only search,\nanalysis and documents work there, every step asks, and "
        "only rules that ask or deny apply. Trust ends when\nthese files change. Without "
        "a terminal, pass the digest that --show --json prints.",
        (_FOLDER, _AS, _JSON),
        "with --json:\n"
        '  {"status", "message", "workspace", "digest", "trusted", "changed", "by", "at", "files",\n'
        '  "wants": [{"kind", "name", "text", "risk", "file"}]}\n'
        '  once it is trusted "idle_pins" lists the patterns of pins that match nothing\n\n' + _ENDS,
        (
            option("--show", action="store_true", help="only show what it wants, and the digest"),
            option("--digest", metavar="D", default="", help="trust it only if it still has this digest"),
            option("--revoke", action="store_true", help="stop trusting it"),
            option("--list", dest="listed", action="store_true", help="list trusted folders"),
        ),
    ),
    Subcommand(
        "starter",
        "starter_command:starter",
        "[NAME]",
        "list the starters, or make the folder of one",
        "[NAME] [--data DIR] [--json]",
        "List the starters; with a name, make its folder (once) and print its path.",
        (_JSON, option("name", metavar="NAME", nargs="?", default="", help="the starter")),
        _ENDS,
    ),
    Subcommand(
        "attach",
        "attach_command:attach",
        "GRAPH",
        "run any LangGraph graph under supervision: agent.py:graph, module:attribute, http://HOST:PORT",
        "GRAPH [--input JSON|TEXT|@FILE] [--context JSON|@FILE] [--config JSON|@FILE]\n"
        "       [--workspace DIR] [--session ID] [--saver URI] [--thread T]\n"
        "       [--assistant A] [--header NAME=VARIABLE]… [--waiting]\n"
        "       [--mode step|plan|risk] [--trust D] [--data DIR] [--as NAME] [--line | --json]",
        "Run any LangGraph graph under supervision, unchanged: its interrupts become "
        "questions, you can browse its\nhistory and restore any point of it, and a crash "
        "loses nothing.\n\nGRAPH is module:attribute, path.py:attribute (or path.py, when "
        "it holds one graph), a langgraph.json, or\nthe name of a graph in the "
        "workspace's langgraph.json or of a team in its hitl.toml. The attribute may be\na compiled graph, "
        "a builder, a factory or an @entrypoint. http://HOST:PORT is a LangGraph server, which runs the graph\nitself; "
        "--assistant says which, where it has several. --input runs the graph with that input at once;\nwithout it "
        "you are asked. Nodes get a store that is kept for the workspace, and the context that --context\nand the "
        "defaults of its schema make.",
        (
            option("name", metavar="GRAPH", help="the graph: agent.py:graph, package.module:graph, langgraph.json"),
            option("--input", metavar="JSON", default=None, help="its input: JSON, words, @file, or - for stdin"),
            *_SETTINGS,
            _NEW_ID,
            option(
                "--saver",
                metavar="URI",
                default="",
                help="keep its threads in this SQLite file, or postgresql://user@host/database; its password in "
                "PGPASSWORD or ~/.pgpass",
            ),
            option("--thread", metavar="T", default="", help="continue this thread of that store or server"),
            option("--assistant", metavar="A", default="", help="of a LangGraph server: an assistant's name or id"),
            option(
                "--header",
                metavar="NAME=VARIABLE",
                action="append",
                default=[],
                help="send a LangGraph server this header, whose value the variable holds; may be repeated",
            ),
            option(
                "--waiting",
                action="store_true",
                help="begin a session for each thread that waits on a LangGraph server, and list what they ask",
            ),
            *_BEGINNING,
            _LINE,
            _JSON,
            _TRUST,
        ),
        _CODES,
    ),
    Subcommand(
        "open",
        "open_command:open_store",
        "DATABASE",
        "browse any LangGraph checkpoint store (SQLite, PostgreSQL), read-only",
        "DATABASE [--thread THREAD] [--checkpoint ID [--against ID]] [--ns NS] [--search TEXT]\n"
        "                     [--limit N] [--skip N] [--before ID] [--graph GRAPH] [--workspace DIR]\n"
        "                     [--mode step|plan|risk] [--as NAME] [--data DIR] [--json]",
        "Browse the checkpoints of any LangGraph graph without the graph: threads, "
        "history, branches, state,\ndifferences. Nothing is written or run. Without a "
        "terminal, or with --json, it prints the threads; with\n--thread that thread's "
        "checkpoints; with --checkpoint the state there.\n\nWith --graph, a thread can "
        "continue in a copy, in a session of its own: press 3 at a checkpoint, or pass\n"
        "--thread without a terminal. The store itself isn't written. GRAPH is as in "
        "hitl-tui attach.",
        (
            option(
                "file",
                metavar="DATABASE",
                help="a SQLite file, or postgresql://user@host/database; its password in PGPASSWORD or ~/.pgpass",
            ),
            option("--thread", metavar="THREAD", default="", help="this thread: its id, or how it begins"),
            option(
                "--checkpoint",
                metavar="ID",
                default="",
                help="print the state at this checkpoint: its id, beginning or ending",
            ),
            option("--against", metavar="ID", default="", help="print the differences from this checkpoint instead"),
            option("--ns", metavar="NS", default="", help="the checkpoints of a subgraph, as they are listed"),
            option("--search", metavar="TEXT", default="", help="only threads with these words in id or title"),
            option("--limit", metavar="N", type=count, help="list at most this many (default: 100)"),
            option("--skip", metavar="N", type=count, help="skip this many threads first"),
            option("--before", metavar="ID", default="", help="list checkpoints older than this one"),
            option("--graph", metavar="GRAPH", default="", help="the graph that wrote it, to continue in a copy"),
            *_BEGINNING,
            _JSON,
        ),
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
        '  "differences": [{"path", "change", "before", "after"}]}\n\n' + _ENDS,
    ),
    Subcommand(
        "web",
        "web_command:web",
        "",
        "the console in a browser of this machine",
        "[--port N] [--host 127.0.0.1] [--workspace DIR] [--data DIR] [--mode step|plan|risk]\n"
        "                    [--trust D] [--as NAME] [--no-open]",
        "Serve the console to a browser on this machine. The printed address lets one "
        "browser in, once.\nEach open page is its own console. Ctrl+C stops it.",
        (
            option("--port", metavar="N", type=port, help="port to listen on (default: 8765); 0 picks a free one"),
            option("--host", metavar="ADDRESS", default="127.0.0.1", help="loopback address (default: 127.0.0.1)"),
            *_BEGINNING,
            option("--no-open", action="store_true", help="print the address without opening a browser"),
            _TRUST,
        ),
        _ENDS,
    ),
    Subcommand(
        "mcp",
        "mcp_command:mcp",
        "",
        "task checkpoints for programs that speak MCP: agents ask, approvers answer",
        "[--masc-dir DIR] [--http [HOST:PORT]] [--data DIR]",
        "Serve the task checkpoints of a folder to programs that speak MCP, on standard input and output or over\n"
        "HTTP. Agents ask with masc_interrupt and look with masc_pending. masc_approve and masc_reject take a token\n"
        "of hitl-tui approver add: on standard input in HITL_APPROVER_TOKEN, which only the approver's own program\n"
        "is given; over HTTP with each request.",
        (
            option("--masc-dir", metavar="DIR", help="the folder (default: the nearest .masc, from here upwards)"),
            option(
                "--http",
                metavar="HOST:PORT",
                nargs="?",
                const="",
                help="serve over HTTP at this address (default: 127.0.0.1:8766); agents send the "
                "token that is printed, or the one in HITL_MCP_TOKEN, which any address but loopback requires",
            ),
        ),
        _ENDS,
    ),
    Subcommand(
        "serve",
        "serve_command:serve",
        "",
        "carry jobs out without a terminal: plans and steps are told as events, and decided from elsewhere",
        "[--once QUERY [--id ID] | --jobs DIR|s3://BUCKET/PREFIX | --schema] [--listen [HOST:PORT] [--no-token]]\n"
        "                      [--feedback DIR|s3://BUCKET[/PREFIX]] [--concurrency N] [--workspace DIR]\n"
        "                      [--mode step|plan|risk] [--metrics [HOST:]PORT] [--trust D] [--data DIR] [--as NAME]",
        "Carry jobs out without a terminal. Each is a session. What happens is told on standard output, as JSON\n"
        "lines; what waits for people is decided with hitl-tui decide, in the console, or by another channel.\n"
        "Without --once, --jobs and --listen, jobs are read from standard input, one JSON object a line:\n"
        '{"id": "…", "query": "…", "workspace": "…", "mode": "…"}; all but the query are optional. A job is\n'
        "carried out once, known by its id. Whatever stops this program, the next start goes on with what isn't\n"
        "finished.",
        (
            option(
                "--id", metavar="ID", default="", dest="job_id", help="id of the job of --once (default: a fresh one)"
            ),
            option(
                "--concurrency",
                metavar="N",
                type=count,
                default=8,
                help="how many sessions may be open at once (default: 8); those that wait for people are closed",
            ),
            option(
                "--listen",
                metavar="HOST:PORT",
                nargs="?",
                const="",
                help="also take jobs and answers over HTTP at this address (default: 127.0.0.1:8080), until it is "
                "stopped; programs send the token in HITL_SERVE_TOKEN, which any address but loopback requires",
            ),
            option("--no-token", action="store_true", help="with --listen: whoever reaches the address may come in"),
            option(
                "--feedback",
                metavar="DIR|s3://BUCKET[/PREFIX]",
                default="",
                help="put up what waits there, and take feedback objects from there",
            ),
            *_BEGINNING,
            _METRICS,
            _TRUST,
        ),
        "exit codes:\n  0 every job ended with an answer   1 a job failed   2 bad input   143 stopped by SIGTERM",
        (
            option("--once", metavar="QUERY", dest="query", help="carry out this one job"),
            option(
                "--jobs",
                metavar="DIR|s3://BUCKET/PREFIX",
                help="take jobs from the files *.json in this folder, or objects in S3, until it is stopped",
            ),
            option("--schema", action="store_true", help="print the JSON Schema of the events, and nothing else"),
        ),
    ),
    Subcommand(
        "worker",
        "worker_command:worker",
        "[[NAME=]DIR …]",
        "carry sessions of a database, beside other workers on any machine",
        "[[NAME=]DIR …] [--queues NAME,…] [--concurrency N] [--name NAME] [--prune AGE] [--metrics [HOST:]PORT]\n"
        "                       [--trust D] [--database ADDRESS] [--data DIR]",
        "Carry the sessions of a PostgreSQL database until it is stopped, beside any number of other workers.\n"
        "Each session is one worker's at a time; consoles and commands anywhere only say what is decided.\n"
        "A worker carries sessions of the workspaces that it has a copy of: folders with the same name and the\n"
        "same hitl.toml and langgraph.json as where the session began. After SIGTERM no step begins; those that\n"
        "run get 20 seconds to end, and other workers go on. A worker that dies is noticed within 12.",
        (
            option("folders", metavar="[NAME=]DIR", nargs="*", help="the workspaces (default: the current folder)"),
            option("--queues", metavar="NAME,…", default="", help="take sessions of these workspaces only"),
            option(
                "--concurrency",
                metavar="N",
                type=count,
                default=8,
                help="how many sessions may be open at once (default: 8); those that wait for people are closed",
            ),
            option("--name", metavar="NAME", default="", help="what it is called in lists (default: its process id)"),
            option(
                "--prune",
                metavar="AGE",
                dest="older_than",
                help="every hour, delete sessions that ended longer ago than this, as hitl-tui prune does: "
                "12h, 30d, 2w",
            ),
            _METRICS,
            _TRUST,
        ),
        "exit codes:\n  1 failed   2 bad input   130 interrupted   143 stopped by SIGTERM",
    ),
    Subcommand(
        "doctor",
        "doctor_command:doctor",
        "",
        "look how a database of sessions stands: versions, queue, workers, clocks",
        "[--database ADDRESS] [--json]",
        "Look how the PostgreSQL database that keeps sessions stands: the server, versions of tables, locks, the\n"
        "queue, workers and their clocks, workspaces that no worker has. Nothing is changed; ✗ needs somebody.",
        (_JSON,),
        _FINDINGS,
    ),
    Subcommand(
        "audit",
        "audit_command:audit",
        "[WHAT] [SESSION]",
        "list who decided what, when and why; check that record, and how people decide",
        "[decisions|verify|head|export|attention|accept] [SESSION|KEY] [--anchor TEXT] [--by NAME] [--since TIME] "
        "[--until TIME] [--risk RISK] [--data DIR] [--json]",
        "Who decided what, and whether that record is intact.\n\n  decisions  list who decided what, when, by "
        "which channel and why (the default)\n  verify     walk the hash chains and "
        "compare what is shown with what was recorded\n  head       print one anchor per "
        "session and task, to keep where nobody here can change it\n  export     print the record as "
        "JSON lines, of sessions and of tasks outside of them\n  attention  show for each approver how fast "
        "and how often they approve\n  accept     know a key that signed here under another account or HOME",
        (
            option("what", nargs="?", default=AUDITS[0], metavar="|".join(AUDITS)),
            option(
                "session",
                metavar="SESSION",
                nargs="?",
                default="",
                help="only this session or task; alone it lists its decisions; with accept, the key that verify names",
            ),
            option(
                "--anchor",
                dest="anchors",
                action="append",
                default=[],
                metavar="TEXT",
                help="verify against what head printed",
            ),
            option("--by", dest="by_person", metavar="NAME", default="", help="only what this person did or was shown"),
            option(
                "--since",
                metavar="TIME",
                default="",
                help="only from then on: 2026-03-01, 2026-03-01T14:00 or 24h",
            ),
            option("--until", metavar="TIME", default="", help="only before then, given in the same ways"),
            option("--risk", choices=RISKS, default="", help="only about questions of this risk"),
            _JSON,
        ),
        "exit codes:\n  0 intact   1 changed, unreadable, or signed by a key that isn't known here   2 bad input",
    ),
    Subcommand(
        "approver",
        "approver_command:approver",
        "WHAT [NAME]",
        "add, list or remove approvers: who counts where a policy requires several people or a level",
        "add NAME [--account ACCOUNT] [--level N] | list | remove NAME [--data DIR] [--json]",
        "Manage approvers: who counts where a policy requires several people or a level. "
        "The account that owns the\ndata folder always counts, at level 0 unless it is "
        "added.\n\n  add     add one; without --account it prints a token, once, which "
        "proves who they are wherever they type it\n  list    list them\n  remove  remove "
        "one; their past decisions stand",
        (
            option("what", choices=("add", "list", "remove"), metavar="add|list|remove"),
            option("name", metavar="NAME", nargs="?", default="", help="the approver"),
            option("--account", metavar="ACCOUNT", help="their operating system account, instead of a token"),
            option("--level", metavar="N", type=count, default=0, help="their level, 0 to 100 (default: 0)"),
            _JSON,
        ),
        _ENDS,
    ),
    Subcommand(
        "policy",
        "policy_command:policy",
        "WHAT [DIR]",
        "check the rules in hitl.toml, say which applies to a request, or replay other rules over all decisions",
        "check [DIR] [--data DIR] [--json]\n"
        "       hitl-tui policy check [DIR] --request ID [--data DIR] [--json]\n"
        "       hitl-tui policy check [DIR] (--team T | --agent NAME | --action TEXT) [--args JSON|@FILE]\n"
        "                       [--command C] [--tool T] [--risk R] [--mode M] [--data DIR] [--json]\n"
        "       hitl-tui policy replay [DIR] --policy FILE [--data DIR] [--json]",
        "check   list rules in a folder's hitl.toml that nobody here can satisfy, and how to fix them; with a\n"
        "        request, say which rule applies to it, and which condition each other rule lacks\n"
        "replay  say what other rules would have made of everything that was decided, in sessions and tasks;\n"
        "        nothing is changed",
        (
            option("what", choices=("check", "replay"), metavar="check|replay"),
            _FOLDER,
            option("--request", metavar="ID", default="", help="the request that is asked about"),
            option("--agent", metavar="NAME", default="", help="a step of this agent outside of sessions"),
            option("--action", metavar="TEXT", default="", help="its action, or the tool that it calls"),
            option("--team", metavar="T", default="", help="a step of a session: its team"),
            option("--command", metavar="C", default="", dest="declared", help="its declared command"),
            option("--tool", metavar="T", default="", help="a tool that it calls from inside"),
            option("--args", metavar="JSON", default=None, help="the arguments: a JSON object, or @file"),
            option(
                "--risk", choices=RISKS, default="", help="its class of risk (default: what is declared, else high)"
            ),
            option("--mode", choices=MODES, default="", help="the mode (default: the folder's)"),
            option("--policy", metavar="FILE", default="", help="the other rules: a file like hitl.toml"),
            _JSON,
        ),
        "with --json:\n"
        '  {"status": "ok" | "findings", "message", "file", "approvers": [{"name", "account", "token", "level"}],\n'
        '  "findings": [{"rule", "line", "quorum", "level", "message"}]}\n'
        "of a request:\n"
        '  {"status", "message", "file", "request", "facts", "mode", "ruling", "rule", "name", "terms", "notes",\n'
        '  "rules": [{"rule", "name", "decision", "fit": "yes" | "maybe" | "no", "why", "reached"}]}\n'
        'of what a graph asks also "calls": [{"facts", "ruling", "rule", "name", "rules"}], call by call\n'
        "of replay:\n"
        '  {"status", "message", "policy", "recorded", "counts", "problems",\n'
        '  "differences": [{"source", "stream", "name", "what", "at", "request", "by", "before", "after"}]}\n\n'
        + _FINDINGS,
    ),
    Subcommand(
        "lint",
        "lint_command:lint",
        "GRAPH",
        "check a LangGraph graph for unsafe interrupts, without running it",
        "MODULE:ATTRIBUTE|FILE.py[:ATTRIBUTE] [--json]",
        "Check a LangGraph graph for unsafe interrupts, and list its nodes' side effects."
        "\nOnly the source is read, with what it imports from its own package or folder:\n"
        "nothing is imported or run. Mark an effect that may be repeated with\n# hitl: "
        "idempotent (on its line, the line above it, or the function's def).",
        (
            option(
                "target",
                metavar="MODULE:ATTRIBUTE|FILE.py[:ATTRIBUTE]",
                help="the graph to check; without an attribute, all",
            ),
            _JSON,
        ),
        "with --json:\n"
        '  {"status": "ok" | "findings", "message", "target": {"name", "file", "files"}, "notes",\n'
        '  "findings": [{"rule", "name", "severity", "message", "meaning", "remedy", "file", "line", "column"}],\n'
        '  "nodes": [{"graph", "node", "interrupts", "effect", "file", "line",\n'
        '  "position", "idempotent", "rules", "verdict"}]}\n\n' + _FINDINGS,
    ),
)
SUBCOMMANDS: Mapping[str, Subcommand] = MappingProxyType({one.name: one for one in _ROWS})
"""All subcommands by name, in the order of the help."""


# Parsers ----------------------------------------------------------------------------------------------------------


class HelpAskedError(Exception):
    """`--help` was met: what is missing otherwise doesn't matter."""


class _Help(argparse.Action):
    def __call__(self, *met: object) -> NoReturn:
        raise HelpAskedError


_MAY_BE_EMPTY = frozenset({"search", "reason", "title", "ns"})
"""Options whose empty value is one, and means what is meant without them; any other is a variable that isn't set."""


def _named(action: argparse.Action) -> str:
    return "/".join(action.option_strings) or str(action.metavar or action.dest)


class _Usage(argparse.RawDescriptionHelpFormatter):
    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """The parser of a subcommand: its help is in the person's language, and an error is raised, never printed.

    Args:
        name: the subcommand.
    """

    def __init__(self, name: str) -> None:
        subcommand = SUBCOMMANDS[name]
        called = f"hitl-tui {'' if name == CONSOLE else name}".strip()
        listed = f"\n\n{_list_of_all()}" if name == CONSOLE else ""
        super().__init__(
            prog=called,
            usage=f"{called} {subcommand.usage}",
            description=_(subcommand.description) + listed,
            epilog=in_parts(subcommand.epilog),
            formatter_class=_Usage,
            add_help=False,
            allow_abbrev=False,
        )
        self._positionals.title, self._optionals.title = _("arguments"), _("options")
        self.add_argument(
            "-h", "--help", action=_Help, nargs=0, default=argparse.SUPPRESS, help=_("show this help and exit")
        )
        exclusive = self.add_mutually_exclusive_group()
        for group, options in ((self, ALL_TAKE), (exclusive, subcommand.exclusive), (self, subcommand.options)):
            for names, given in options:
                action = group.add_argument(*names, **given)
                action.help = _(action.help) if action.help else None

    def error(self, message: str) -> NoReturn:
        for pattern, known in _PARSER_ERRORS:
            if found := re.fullmatch(pattern, message, re.DOTALL):
                raise BadInput(known.filled(*(one_line(v, 300) for v in found.groups())), help=self._told_usage())
        raise BadInput(f"{one_line(message, 300)}.", help=self._told_usage())

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if "" in arg_strings and action.default == "" and not (action.choices or action.dest in _MAY_BE_EMPTY):
            raise BadInput(Message("{} needs a value, not an empty text.", _named(action)), help=self._told_usage())
        return super()._get_values(action, arg_strings)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return action.type(arg_string) if callable(action.type) else arg_string
        except argparse.ArgumentTypeError as error:
            raise BadInput(Message("{}: {}.", _named(action), error.args[0]), help=self._told_usage()) from error

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known, given = ", ".join(action.choices), one_line(str(value), 40)
        if action.option_strings:
            raise BadInput(
                Message('{} can\'t be "{}"; use one of {}.', action.option_strings[0], given, known),
                help=self._told_usage(),
            )
        raise BadInput(Message('"{}" isn\'t allowed here; use one of {}.', given, known), help=self._told_usage())

    def _told_usage(self) -> str:
        return self.format_usage().strip().removeprefix(_("usage: "))


_PARSER_ERRORS = (
    (r"the following arguments are required: (.*)", Message("The following arguments are required: {}.")),
    (r"unrecognized arguments: (.*)", Message("Unrecognized arguments: {}.")),
    (r"argument (\S+): expected one argument", Message("{}: expected one argument.")),
    (r"argument (\S+): expected at least one argument", Message("{}: expected at least one argument.")),
    (r"argument (\S+): ignored explicit argument (.*)", Message("{}: ignored explicit argument {}.")),
)
"""How argparse words what it refuses, and the message for it."""


def _list_of_all() -> str:
    rows = [_("commands:")]
    for name, subcommand in SUBCOMMANDS.items():
        called = " ".join(filter(None, ("hitl-tui", "" if name == CONSOLE else name, subcommand.takes)))
        rows.append(f"  {called:{_LISTED}}  {_(subcommand.summary)}")
    return "".join(f"{row}\n" for row in rows)
