"""Reading plain command lines without argparse: the language, and the arguments that only open the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import VARIABLE, chosen

CODES = ("en", "ko")
OPTION = "--lang"


def language_of(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the code of the language: `--lang`, `HITL_LANG`, or else the locale.

    Args:
        argv: the whole command line, not parsed yet; its usage and errors are in that language, too.
        environ: the environment.

    Raises:
        BadInput: `HITL_LANG` names another language. What `--lang` gives is checked where the line is parsed.
    """
    given = _given(argv)
    try:
        return chosen(given if given in CODES else "", environ)
    except ValueError as error:
        raise BadInput(Message('{} must be en or ko, not "{}".', VARIABLE, one_line(str(error), 40))) from error


def _given(argv: Sequence[str]) -> str:
    """Return what the last `--lang` gives; empty for none."""
    found = ""
    for place, word in enumerate(argv):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name == OPTION:
            found = value if equals else next(iter(argv[place + 1 : place + 2]), "")
    return found


CONSOLE = "console"
MODES = ("step", "plan", "risk")


class Arguments(NamedTuple):
    """A command line, understood.

    Args:
        command: `console` or one of `arguments.COMMANDS`.
        data: folder given with `--data`, empty for none.
        by: name given with `--as`; None when it wasn't.
        workspace: folder given with `--workspace`; None when it wasn't.
        session: a session's id; empty for none.
        mode: `step`, `plan`, `risk` or empty.
        line: use the line mode.
        json: print one JSON document.
        text: the question, the chat command of `do`, or the title of `rename`; empty for none.
        what: `verify`, `head`, `export` or `attention` of `audit`.
        anchors: anchors to check, of `audit verify`.
        search: words to look for, of `sessions`.
        at: a checkpoint's id, prefix or ending, of `fork`; empty for the newest.
        title: of the new session, of `fork`; empty for the same.
        file: of `export` and `import`.
        name: a starter's name; empty for none.
        target: a graph as `module:attribute` or `path.py:attribute`, of `lint`.
        older_than: an age, of `prune`; None when it wasn't given.
        keep: how many of the sessions that ended last stay, of `prune`; None when it wasn't given.
        dry_run: only say what would be done.
        yes: don't ask before something is removed.
        thread: a LangGraph thread, of `open`; empty for the list of them.
        checkpoint: a checkpoint to print, of `open`.
        against: another one to compare it with, of `open`.
        before: list checkpoints older than this one, of `open`.
        ns: namespace of a subgraph, of `open`; empty for the graph itself.
        graph: `module:attribute` of the graph that wrote the store, of `open`.
        input: the graph's input, of `attach`: JSON, words, or `@file`; None when it is to be asked for.
        context, config: what graphs get as context and configuration, of `attach` and `run`: JSON or `@file`.
        saver: a checkpoint store that the graph's threads live in, of `attach`; empty for the session's own.
        assistant: of a LangGraph server, of `attach`; empty for the only one.
        header: headers for such a server, each with the variable that holds it.
        waiting: take over all threads that wait on such a server, of `attach`.
        limit, skip: how many to list and to leave out before, of `open`; None when it wasn't given.
        host, port: where `web` listens; None when no port was given.
        no_open: open no browser, of `web`.
        trust: digest of a workspace that is trusted for this call, given with `--trust`; empty for none.
        show, revoke, listed: what `trust` is to do instead of trusting.
        digest: what `trust` trusts; empty where a person is asked.
        help: text to print instead of doing anything; empty for none.
        approver: who decides, by a token that is asked for, of `do`; empty for the account.
        by_person, since, until, risk: what is wanted of the record, of `audit`; empty for everything.
        http: the address, of `mcp`, empty for the usual one; None for no server over HTTP.
        account, level: of `approver add`.
        request, answer, reason, args: what `decide` answers, how, why, and what goes with it; None for nothing.
        policy: a file with other rules, of `policy replay`.
        action, team, tool, declared: what `policy check` is asked about, with `agent`, `args`, `risk`; empty for none.
        wait: seconds that `hook` waits for people; None when it wasn't given.
        takes_input: the program that `hook command` answers makes its call with the `input` of the answer.
        agent: whose calls `hook command` answers; empty where the program says it.
        masc_dir: the `.masc` folder, of `hook` and `mcp`; None for the nearest.
        source, to: where `review` finds requests and puts feedback; empty where the former says the latter.
        approve, remark: how `review` answers: approval, or what to change; None for no remark.
        began: when the command was given, ISO 8601, UTC; empty for now.
        typed: the command line as it was given.
        query, job_id, jobs, concurrency, schema: of `serve`: a single job, its id, a folder of jobs, how many sessions
            may be open at once, and whether only the schema of its events is printed.
        listen, no_token, feedback: of `serve`: the address of its HTTP server, None for none; whether anybody may come
            in there; and where feedback objects lie, empty for nowhere.
        metrics: the address where `serve` and `worker` tell figures to Prometheus; None for nowhere.
        folders, queues: of `worker`: the workspaces that it has, and which of them it takes jobs for, empty for all.
    """

    command: str
    data: str | None = None
    by: str | None = None
    workspace: str | None = None
    session: str = ""
    mode: str = ""
    line: bool = False
    json: bool = False
    text: str = ""
    what: str = ""
    anchors: tuple[str, ...] = ()
    search: str = ""
    at: str = ""
    title: str = ""
    file: str = ""
    name: str = ""
    target: str = ""
    older_than: str | None = None
    keep: int | None = None
    dry_run: bool = False
    yes: bool = False
    thread: str = ""
    checkpoint: str = ""
    against: str = ""
    before: str = ""
    ns: str = ""
    graph: str = ""
    input: str | None = None
    context: str | None = None
    config: str | None = None
    saver: str = ""
    assistant: str = ""
    header: Sequence[str] = ()
    waiting: bool = False
    metrics: str | None = None
    limit: int | None = None
    skip: int | None = None
    database: str | None = None
    host: str = ""
    port: int | None = None
    no_open: bool = False
    trust: str = ""
    show: bool = False
    revoke: bool = False
    listed: bool = False
    digest: str = ""
    help: str = ""
    approver: str = ""
    request: str = ""
    answer: str = ""
    reason: str = ""
    args: str | None = None
    masc_dir: str | None = None
    http: str | None = None
    account: str | None = None
    level: int = 0
    policy: str = ""
    action: str = ""
    team: str = ""
    tool: str = ""
    declared: str = ""
    wait: float | None = None
    takes_input: bool = False
    agent: str = ""
    source: str = ""
    to: str = ""
    approve: bool = False
    remark: str | None = None
    began: str = ""
    typed: tuple[str, ...] = ()
    by_person: str = ""
    since: str = ""
    until: str = ""
    risk: str = ""
    query: str | None = None
    job_id: str = ""
    jobs: str | None = None
    concurrency: int = 0
    schema: bool = False
    listen: str | None = None
    no_token: bool = False
    feedback: str = ""
    folders: Sequence[str] = ()
    queues: str = ""


_PLAIN = frozenset({"--data", "--database", "--workspace", "--session", "--as", "--mode", OPTION})
_CHOICES: Mapping[str, Sequence[str]] = MappingProxyType({"--mode": MODES, OPTION: CODES})


def plain(argv: Sequence[str]) -> Arguments | None:
    """Return what a command line without any words of its own means; None when it takes the parser to tell.

    What isn't certainly well formed (a question, `--help`, a value that looks like an option) is left to
    `arguments.parse`, which says what was expected.
    """
    names, values = argv[::2], argv[1::2]
    if len(names) != len(values) or not set(names) <= _PLAIN:
        return None
    given = dict(zip(names, values, strict=True))  # the last one counts
    for name, value in zip(names, values, strict=True):
        if not value or value.startswith("-") or value not in _CHOICES.get(name, (value,)):
            return None
    return Arguments(
        CONSOLE,
        data=given.get("--data"),
        database=given.get("--database"),
        by=given.get("--as"),
        workspace=given.get("--workspace"),
        session=given.get("--session", ""),
        mode=given.get("--mode", ""),
    )
