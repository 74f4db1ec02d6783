"""A parser as each subcommand has one: help in the person's language, errors as exceptions, options shared by many."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from hitl_tui.cli.fast_args import CODES, MODES, OPTION
from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, in_parts, render


class HelpAskedError(Exception):
    """`--help` was met: what is missing otherwise doesn't matter."""


class _Help(argparse.Action):
    def __call__(self, *met: object) -> NoReturn:
        raise HelpAskedError


class _Usage(argparse.RawDescriptionHelpFormatter):
    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """Raises instead of printing and leaving; its help is in the person's language, its errors become so when told."""

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=_Usage, **given)
        self._positionals.title, self._optionals.title = _("arguments"), _("options")

    def add_argument(self, *names: Any, **given: Any) -> argparse.Action:
        if isinstance(given.get("help"), str):
            given["help"] = _(given["help"])
        return super().add_argument(*names, **given)

    def error(self, message: str) -> NoReturn:
        # What an option or argument is called stays as it is written, what begins a sentence doesn't.
        of_one = message.startswith("argument ")
        text = message.removeprefix("argument ") if of_one else message[:1].upper() + message[1:]
        raise BadInput(f"{one_line(text, 300)}.", help=self._told_usage())

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known, given = ", ".join(action.choices), one_line(str(value), 40)
        if action.option_strings:
            raise BadInput(
                f'{action.option_strings[0]} can\'t be "{given}"; it is one of {known}.', help=self._told_usage()
            )
        raise BadInput(f'"{given}" can\'t stand here; it has to be one of {known}.', help=self._told_usage())

    def _told_usage(self) -> str:
        return self.format_usage().strip().removeprefix(_("usage: "))


def parser_of(name: str, usage: str, description: str, epilog: str = "") -> Parser:
    """Return the parser of a subcommand, with what all of them take."""
    parser = Parser(
        prog=f"hitl-tui {name}".strip(),
        usage=usage,
        description=render(_(description)),
        epilog=in_parts(epilog),
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("-h", "--help", action=_Help, nargs=0, default=argparse.SUPPRESS, help="show this and leave")
    parser.add_argument(
        "--data", metavar="DIR", help="where sessions live (HITL_DATA_DIR; else the user's data folder)"
    )
    parser.add_argument(
        OPTION, choices=CODES, default="", dest="lang", help="language: English or Korean (HITL_LANG; else the locale)"
    )
    return parser


def add_as(parser: Parser) -> None:
    """Let it be said who decides."""
    parser.add_argument(
        "--as", metavar="NAME", dest="by", help="who decides, for the record (HITL_USER; else the login name)"
    )


def add_trust(parser: Parser) -> None:
    """Add the option that trusts a workspace for one call."""
    parser.add_argument(
        "--trust", metavar="D", default="", help="trust the workspace for this call: the digest from trust --show"
    )


def add_json(parser: Parser) -> None:
    """Let a document be asked for."""
    parser.add_argument("--json", action="store_true", help="print exactly one JSON document, nothing else")


def add_beginning(parser: Parser) -> None:
    """Let it be said where and how a session begins, and for whom."""
    parser.add_argument("--workspace", metavar="DIR", help="folder to work in (the current one)")
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="",
        help="when you are asked: every step; the plan, then risky steps; risky steps",
    )
    add_as(parser)


def count(text: str) -> int:
    """Return a number from 0 on. Raises ArgumentTypeError for anything else."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)


def port(text: str) -> int:
    """Return the number of a port. Raises ArgumentTypeError for anything else."""
    if not text.isascii() or not text.isdigit() or len(text) > 5 or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (a number from 0 to 65535)")
    return int(text)
