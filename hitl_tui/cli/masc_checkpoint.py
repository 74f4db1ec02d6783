"""`masc-checkpoint`: any agent or script records its steps, and stops before a dangerous one until people decide."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from hitl_tui.cli.fast_args import CODES, language_of
from hitl_tui.cli.output import Output, standard
from hitl_tui.cli.settings import data_folder, operator_of
from hitl_tui.core.errors import BadInput, HitlError, Refused, StorageError
from hitl_tui.core.events import utc_now
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Policy
from hitl_tui.core.requests import Verdict, needs_verified
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, safe_message, translate, using
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.notifications.wake import wake
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.checkpoint import Checkpoint, Status, unawaited
from hitl_tui.task_checkpoints.folders import held_policy, masc_folder, register, store_of, uses_neo4j
from hitl_tui.task_checkpoints.service import HIGHEST_STEP, TaskCheckpoints
from hitl_tui.version import __version__

APPROVED, UNREACHABLE, BAD_INPUT, WAITING, REJECTED, EXPIRED = range(6)
_Look = Callable[[], Checkpoint]
_CHANNEL = "masc-checkpoint"
_USAGE = """\
masc-checkpoint --task-id T --step N --action TEXT --agent NAME [--interrupt MESSAGE] [--again] [--wait [SECONDS]]
       masc-checkpoint --task-id T [--step N] (--approve [--value JSON] | --reject --reason TEXT)
       masc-checkpoint --task-id T [--step N] (--status | --wait [SECONDS])"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `masc-checkpoint`.

    Returns:
        The exit code: 0 approved, or a step recorded that asks nothing; 1 store unreachable; 2 bad input; 3 waiting;
        4 rejected; 5 expired; 130 interrupted.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    secrecy = Secrecy()
    out, err = standard(secrecy)
    wants_json = "--json" in given
    try:
        with using(language_of(given, os.environ)):
            try:
                return _Command(given, os.environ, secrecy, out, err).run()
            except HitlError as error:
                return _tell(error, wants_json, out, err)
    except HitlError as error:  # the language itself
        return _tell(error, wants_json, out, err)
    except KeyboardInterrupt:
        return 130


class _Command:
    """One call of the command.

    Args:
        argv: its arguments.
        environ: the environment.
        secrecy: what is masked.
        out, err: where it writes.
    """

    def __init__(
        self, argv: Sequence[str], environ: Mapping[str, str], secrecy: Secrecy, out: Output, err: Output
    ) -> None:
        with suppress(HitlError):  # it is said where they are needed
            secrecy.look_in([masc_folder(None).parent], data_folder(None, environ))
        self._given = _parser().parse_args(argv)
        self._environ, self._secrecy, self._out, self._err = environ, secrecy, out, err

    def run(self) -> int:
        given = self._given
        _check_together(given)
        self._data = data_folder(given.data, self._environ)
        masc = masc_folder(given.masc_dir)
        self._secrecy.look_in([masc.parent], self._data)
        records = not (given.approve or given.reject or given.status)
        ruled = given.interrupt is not None or given.approve
        policy = held_policy(masc, self._data) if ruled else Policy()  # it takes time to read
        self._masc = masc
        store = store_of(masc, self._environ, self._changed)
        approvers = ApproverFile(self._data, elsewhere=uses_neo4j(self._environ))
        self._tasks = TaskCheckpoints(store, policy, secrecy=self._secrecy, approvers=approvers)
        self._poll = store.poll
        if given.status:
            return self._show()
        if not records:
            return self._decide()
        if given.action is None:
            return self._outcome(at_once(self._tasks.the_step(given.task_id, given.step)))
        return self._record(masc)

    def _changed(self) -> None:
        """Let somebody tell of it; where there may be anybody to tell, the folder is known by then."""
        register(self._data, self._masc)
        wake(self._data, (self._masc.parent,), self._environ)

    def _record(self, masc: Path) -> int:
        given = self._given
        which = (given.task_id, given.step, given.action, given.agent, given.interrupt)
        step = at_once(self._tasks.record(*which, again=given.again))
        register(self._data, masc)
        if step.status is not Status.INTERRUPTED:
            return self._outcome(step)
        at_once(self._tasks.was_shown(step, step.agent, _CHANNEL))
        if not given.json:
            text = safe_text(f"{step.message} (task: {step.task_id}, step: {step.step})", multiline=False)
            hint = _("To approve it: masc-checkpoint --task-id {task} --step {step} --approve")
            said = hint.format(task=step.task_id, step=step.step)
            self._out.lines([f"⏸️ Interrupt: {text}", said, *self._shortfall(step)])
            if given.wait is None:
                return _code(step)
        return self._outcome(step)

    def _decide(self) -> int:
        given = self._given
        step = at_once(self._tasks.the_waiting(given.task_id, given.step))
        value = _value(given.value)
        verdict = Verdict.APPROVE if given.approve else Verdict.REJECT
        if not given.json:
            self._out.lines([*_described(step), *self._shortfall(step)])
        done = at_once(self._tasks.decide(step, verdict, self._who(), _CHANNEL, reason=given.reason or "", value=value))
        return self._outcome(done)

    def _shortfall(self, step: Checkpoint) -> list[str]:
        """Return why nobody here can approve a step, in a line; nothing where they can."""
        if step.view is None or not needs_verified(step.view.request.terms):
            return []
        request = step.view.request
        said = ApproverFile(self._data).current.shortfall(request.terms, request.requester)
        return [safe_message(said, multiline=False)] if said else []

    def _who(self) -> Identity:
        """Return who decides.

        Raises:
            BadInput: a token is needed, and can't be asked for.
            Refused: it isn't the approver's.
        """
        operator = operator_of(self._given.by, self._environ, self._data)
        if not self._given.approver:
            return operator()
        from hitl_tui.terminal.token_prompt import ask_token

        name = one_line(self._given.approver, 80)
        return operator.by_token(self._given.approver, ask_token(_("Token of {name}: ").format(name=name)))

    def _show(self) -> int:
        given = self._given
        self._wait_for(lambda: at_once(self._tasks.the_step(given.task_id, given.step)))
        named = at_once(self._tasks.the_step(given.task_id, given.step))
        steps = at_once(self._tasks.steps(given.task_id)) if given.step is None else [named]
        at_once(self._shown(steps))
        code, status = _code(named), named.outcome
        if given.json:
            self._out.document(
                {"status": status, "task_id": named.task_id, "checkpoints": [one.to_dict() for one in steps]}
            )
        else:
            self._out.lines([line for one in steps for line in _described(one)])
        return code

    async def _shown(self, steps: Sequence[Checkpoint]) -> None:
        for one in steps:
            if one.status is Status.INTERRUPTED:
                await self._tasks.was_shown(one, operator_of(self._given.by, self._environ, self._data).name, _CHANNEL)

    def _outcome(self, step: Checkpoint) -> int:
        """Wait where that is wanted, and say how a step stands."""
        found = self._wait_for(lambda: at_once(self._tasks.the_step(step.task_id, step.step))) or step
        texts = {
            Status.COMPLETED: _("Approved {name} by {by}"),
            Status.REJECTED: _("Expired: nobody decided about {name} in time")
            if found.expired
            else _("Rejected {name} by {by}: {reason}"),
            Status.INTERRUPTED: _("Waiting for {n} more to decide about {name}"),
        }
        if found.stopped is not None:
            return self._say(found, _("Rejected {name}: {task} ended with another step"))
        if found.view is None:
            return self._say(found, _("Recorded step {step} of {task}: {action}"))
        return self._say(found, texts[found.status])

    def _wait_for(self, look: _Look) -> Checkpoint | None:
        given = self._given
        if given.wait is None:
            return None
        end = time.monotonic() + given.wait if given.wait >= 0 else float("inf")
        while True:
            found = look()
            if found.status is not Status.INTERRUPTED or time.monotonic() >= end:
                return found
            time.sleep(self._poll)

    def _say(self, step: Checkpoint, text: str) -> int:
        last = step.view.resolution.decisions[-1] if step.view and step.view.resolution.decisions else None
        by = ", ".join(d.by for d in step.view.resolution.decisions) if step.view else ""
        words = {
            "task": step.task_id,
            "step": step.step,
            "name": step.name,
            "action": step.action,
            "by": by,
            "reason": last.reason if last and last.reason else _("no reason given"),
            "n": step.needed,
        }
        line = safe_text(translate(step.denied) if step.denied else text.format(**words), multiline=False)
        if self._given.json:
            self._out.document({"status": step.outcome, "message": line, "checkpoint": step.to_dict()})
        else:
            more = (
                [] if last is None or last.value is None else [f"value: {json.dumps(last.value, ensure_ascii=False)}"]
            )
            self._out.lines([line, *(safe_text(one, multiline=False) for one in more)])
        return _code(step)


def _code(step: Checkpoint) -> int:
    known = {"recorded": APPROVED, "approved": APPROVED, "waiting": WAITING, "rejected": REJECTED, "expired": EXPIRED}
    return known[step.outcome]


def _described(step: Checkpoint) -> list[str]:
    """Return a step in lines, as it is shown before it is decided."""
    words = {
        "recorded": _("recorded"),
        "waiting": _("waiting"),
        "approved": _("approved"),
        "rejected": _("rejected"),
        "expired": _("expired"),
    }
    rows = [f"{step.name} · {words[step.outcome]} · {step.agent}: {step.does}"]
    if step.message:
        rows.append(f"  {step.message}")
    if step.denied is not None:
        rows.append(f"  {translate(step.denied)}")
    said = step.view.decisions if step.view else ()
    rows += ["  " + " · ".join(filter(None, (f"{d.said}: {d.by} {d.at}", d.reason))) for d in said]
    if step.status is Status.INTERRUPTED and step.value is not None:
        rows.append(f"  value: {json.dumps(step.value, ensure_ascii=False)}")
    if step.status is Status.INTERRUPTED and step.view is not None and step.view.request.deadline:
        rows.append("  " + _("expires at {time}").format(time=step.view.request.deadline))
    if step.status is Status.INTERRUPTED and step.view is not None:
        late = unawaited(step.view, utc_now())
        rows += [] if late is None else [f"  {translate(late)}"]
    return [safe_text(row, multiline=False) for row in rows]


def _value(text: str | None) -> Json:
    if text is None:
        return None
    try:
        return strict_json(text)
    except ValueError as error:
        raise BadInput(Message("--value isn't valid JSON: {}.", one_line(str(error), 200))) from error


def _tell(error: HitlError, wants_json: bool, out: Output, err: Output) -> int:
    code = _code_of(error)
    if wants_json:
        more = {"reason": error.reason} if isinstance(error, Refused) else {}
        more |= {"help": translate(error.help)} if error.help else {}
        message = translate(error.message)
        # `kind` as in what hitl-tui prints; `error` is the same here, not a sentence: scripts have read it so.
        out.document({"status": "error", "error": error.kind, "kind": error.kind, "message": message, **more})
    else:
        lines = [translate(error.message), *translate(error.help).splitlines()]
        err.lines([f"masc-checkpoint: {one_line(lines[0], 2_000)}", *(one_line(line, 2_000) for line in lines[1:])])
    return code


def _code_of(error: HitlError) -> int:
    if isinstance(error, StorageError):
        return UNREACHABLE
    if isinstance(error, Refused) and error.reason in ("rejected", "denied"):
        return REJECTED
    return BAD_INPUT


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(Message("{}.", one_line(message, 300)), help=self.format_usage().rstrip())


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="masc-checkpoint",
        usage=_USAGE,
        description=_("Record the steps of a task, and stop before a dangerous one until people have decided."),
        epilog=_(
            "exit codes: 0 approved, or a step recorded that asks nothing; 1 store unreachable; 2 bad input; "
            "3 waiting; 4 rejected; 5 expired"
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--task-id", required=True, metavar="T", help=_("the task"))
    add("--step", type=_number, metavar="N", help=_("the number of the step; each is higher than the one before"))
    add("--action", metavar="TEXT", help=_("what the step does"))
    add("--agent", metavar="NAME", help=_("who does it; never an approver of it"))
    add("--interrupt", metavar="MESSAGE", help=_("ask for approval, with this message"))
    add("--again", action="store_true", help=_("go on with the step where exactly this was recorded before"))
    add("--approve", action="store_true", help=_("approve the step that waits"))
    add("--value", metavar="JSON", help=_("what the agent gets with the approval"))
    add("--reject", action="store_true", help=_("reject it, and with it the task"))
    add("--reason", metavar="TEXT", help=_("why"))
    add("--status", action="store_true", help=_("show the task's steps"))
    add("--wait", nargs="?", type=_seconds, const=-1.0, metavar="SECONDS", help=_("block until it is decided"))
    add("--masc-dir", metavar="DIR", help=_("the folder (default: the nearest .masc, from here upwards)"))
    add("--json", action="store_true", help=_("print exactly one JSON document, nothing else"))
    add("--as", dest="by", metavar="NAME", help=_("the name that decisions are recorded under"))
    add("--approver", metavar="NAME", help=_("decide as this approver; asks for their token at the terminal"))
    add(
        "--data",
        metavar="DIR",
        help=_("where sessions live (default: HITL_DATA_DIR, else the user's data folder)"),
    )
    add("--lang", choices=CODES, help=_("language: English or Korean (default: HITL_LANG, else the locale)"))
    add("--version", action="version", version=f"masc-checkpoint {__version__}")
    return parser


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > HIGHEST_STEP:
        said = Message("{} isn't a whole number from 0 to {}", one_line(text, 40), HIGHEST_STEP)
        raise argparse.ArgumentTypeError(said)
    return int(text)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 10**9:
        raise argparse.ArgumentTypeError(Message("{} isn't a number of seconds", one_line(text, 40)))
    return found


def _check_together(given: argparse.Namespace) -> None:
    """Refuse options that mean nothing together."""
    does = [name for name in ("approve", "reject", "status") if getattr(given, name)]
    if len(does) > 1:
        raise BadInput(Message("--{} and --{} can't be given together.", *does[:2]))
    for name, value in (("action", given.action), ("agent", given.agent), ("interrupt", given.interrupt)):
        if does and value is not None:
            raise BadInput(Message("--{} and --{} can't be given together.", does[0], name))
    if given.value is not None and not given.approve:
        raise BadInput(Message("--value goes with --approve."))
    if given.reason is not None and not given.reject:
        raise BadInput(Message("--reason goes with --reject."))
    if given.reject and not (given.reason or "").strip():
        raise BadInput(Message("--reject needs --reason: the agent is told why."))
    if given.again and given.action is None:
        raise BadInput(Message("--again goes with --action."))
    if does or (given.wait is not None and given.action is None and given.agent is None and given.interrupt is None):
        return
    lacks = [f"--{name}" for name in ("step", "action", "agent") if getattr(given, name) is None]
    if lacks:
        raise BadInput(Message("To record a step, give {} too.", ", ".join(lacks)))
