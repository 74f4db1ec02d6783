"""`Job`: one run of the program, as the function of a subcommand gets it."""

from __future__ import annotations

import shlex
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hitl_tui.cli.fast_args import Arguments
from hitl_tui.cli.log_file import LogFile
from hitl_tui.cli.output import Output
from hitl_tui.language import translate
from hitl_tui.supervisor.termination import Termination, run_until_terminated


class Stdin(Protocol):
    """Where `-` reads from."""

    def read(self, size: int, /) -> bytes: ...


@dataclass
class Job:
    """One run of the program.

    Args:
        arguments: what was asked for.
        data: the data folder.
        environ: the environment.
        out, err: standard output and error.
        log: the log; learns the secrets.
        stdin: what `-` reads.
        session_id: the session it works on, once it is known.
    """

    arguments: Arguments
    data: Path
    environ: dict[str, str]
    out: Output
    err: Output
    log: LogFile
    stdin: Stdin | None
    session_id: str = ""

    @property
    def once(self) -> tuple[str, ...]:
        """The digest of a workspace that is trusted for this call, if one was given."""
        return (self.arguments.trust.strip().lower(),) if self.arguments.trust else ()

    @property
    def place(self) -> str:
        """The option that names the data folder in a shell; empty where it wasn't given."""
        return f" --data {shlex.quote(self.arguments.data)}" if self.arguments.data else ""

    def give(self, command: str) -> str:
        """Return what a person types in a shell to give a chat command to this session."""
        return f"hitl-tui do {self.session_id}{self.place} {_shell_word(command)}"

    def say(self, *said: str) -> None:
        """Write sentences to standard error, in the person's language."""
        from hitl_tui.wording.text_lines import shown

        self.err.lines(shown(translate(one)) for one in said)

    def run(self, main: Coroutine[Any, Any, int]) -> int:
        """Run a coroutine, which a signal cancels; what anything else prints meanwhile goes to standard error."""
        with Termination.current().noting(), self.out.alone():
            return run_until_terminated(main)


_EXPANDED = frozenset('"$`\\!')
"""What a shell gives a meaning to even between quotation marks."""


def _shell_word(text: str) -> str:
    """Return text as one word of a shell, which expands nothing in it: part of it may come from a graph."""
    return f'"{text}"' if _EXPANDED.isdisjoint(text) else shlex.quote(text)
