"""Standing rules: what an operator allowed once and for all while answering.

They lie in `<data>/rules.toml`, one `[[policy]]` each, in the form of hitl.toml's with more keys: the workspace they
hold in, the digest of the exact input, who made them and when, and until when they hold. hitl.toml comes first: what
one of its rules asks or denies, no standing rule allows. A use is a decision in the ledger like a person's, bound to
the question's digest.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hitl_tui.config.atomic_files import locked, write_atomically
from hitl_tui.config.workspace import parse_duration
from hitl_tui.core.errors import BadInput, ConfigError, StorageError
from hitl_tui.core.json_text import digest, short_id
from hitl_tui.core.json_types import JsonObject, Subject
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Facts, Fit, Mode, Of, Risk, Rule, Ruling, Terms
from hitl_tui.core.requests import BY_RULE, Decision, Kind, Request, Verdict
from hitl_tui.core.safe_text import one_line, safe_text

FILE_NAME = "rules.toml"
ANY, EXACT, NEVER = "any", "exact", "never"
_LARGEST = 1_000_000
_OWN = ("workspace", "input", "code", "by", "at", "shown", "until")
_LONGEST_SHOWN = 2000
_HEAD = "# Always allowed, as operators said while answering; /rules lists, edits and revokes them.\n"


@dataclass(frozen=True, slots=True)
class StandingRule:
    """One thing that is allowed without asking, outside mode `step`.

    Args:
        workspace: absolute path of the folder it holds in.
        team: the team.
        risk: the risk class it was made for; what became riskier asks again.
        command: name of the declared command, empty for other teams.
        input: digest of the exact input, see `exact_input`; empty, which high risk can't have, for any.
        code: digest of the programs or graph that it was made for, empty where there are none; any input is allowed to
            these only.
        by: who made it.
        at: when, ISO 8601, UTC.
        shown: the input in words a person can read; it decides nothing.
        until: when it ends, ISO 8601, UTC; empty for never.
    """

    workspace: str
    team: str
    risk: Risk
    command: str = ""
    input: str = ""
    code: str = ""
    by: str = ""
    at: str = ""
    shown: str = ""
    until: str = ""

    @property
    def id(self) -> str:
        """A short name that stays the same while the rule does."""
        named = (value for key, value in self.to_dict().items() if value or key != "code")
        return short_id("rule", *named, length=8)

    @property
    def policy(self) -> Rule:
        """What it says in the terms of the policy."""
        return Rule(Ruling.ALLOW, self.team, self.risk.value, self.command)

    def to_dict(self) -> dict[str, str]:
        return {
            "team": self.team,
            "risk": self.risk.value,
            "command": self.command,
            "decision": Ruling.ALLOW.value,
            "workspace": self.workspace,
            "input": self.input,
            "code": self.code,
            "by": self.by,
            "at": self.at,
            "shown": self.shown,
            "until": self.until,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, str]) -> StandingRule:
        texts = {key: data.get(key, "") for key in ("team", "command", *_OWN)}
        return cls(risk=Risk(data["risk"]), **texts)

    def to_toml(self) -> str:
        """Return the table as it stands in the file."""
        rows = [f"{key} = {_quoted(value)}" for key, value in self.to_dict().items() if value]
        return "\n".join(["[[policy]]", *rows]) + "\n"

    def ended(self, now: str) -> bool:
        """Return whether its time is over."""
        return bool(self.until) and datetime.fromisoformat(now) >= datetime.fromisoformat(self.until)

    def allows(self, request: Request, workspace: str, now: str) -> bool:
        """Return whether this is what the rule was made for, and its time isn't over."""
        command = str((request.subject.get("arguments") or {}).get("command", ""))
        risk = str(request.about.get("risk", ""))
        exact = self.input == exact_input(request.subject)
        wide = not self.input and self.risk is not Risk.HIGH and self.code == code_of(request)
        return (
            self.workspace == workspace
            and not self.ended(now)
            and risk == self.risk.value
            and self.policy.match(Facts(Of.TODO, request.source, self.risk, command)).fit is Fit.YES
            and self.by != (request.requester or None)
            and (exact or wide)
        )


def exact_input(subject: Subject) -> str:
    """Return the digest of exactly what a question's step would get, without where and when it is asked.

    For a declared command that is its argument vector with all that belongs to it. Another team's input is its task,
    its arguments and the results it would use.
    """
    arguments = dict(subject.get("arguments") or {})
    if isinstance(arguments.get("argv"), list):
        return digest(["input", subject.get("team"), arguments])
    inputs = list((subject.get("inputs") or {}).values())
    return digest(["input", subject.get("team"), subject.get("task"), arguments, inputs])


def code_of(request: Request) -> str:
    """Return the digest of what a question's step would run, whatever its input; empty where nothing is named.

    That is its programs or its graph, and of a declared command also how it is made of its parameters.
    """
    programs = (request.subject.get("arguments") or {}).get("programs")
    declared = request.about.get("declared", "")
    if declared:
        return digest(["code", programs or {}, declared])
    return digest(["code", programs]) if programs else ""


def objection(request: Request) -> str:
    """Return why no standing rule can answer a request, in one sentence; empty when one can."""
    about, rule = request.about, int(request.about.get("rule") or 0)
    if request.kind is not Kind.TODO:
        return Message("Only the question whether a step may run can be always allowed.")
    if rule:
        return Message("Rule {} of hitl.toml covers this and comes first; change it there.", rule)
    if request.terms != Terms():
        return Message("This needs more than one person's decision, so no rule can replace it.")
    if about.get("missing"):
        return Message("A part of its input is missing this time, so it is no example for a rule.")
    if about.get("ran_before"):
        return Message("It ran already before the restore, so a person must decide each time.")
    if about.get("ahead"):
        return Message("Its input isn't known yet, so no rule can name it.")
    if "from_step" in request.subject:
        return Message("It would continue from the middle of an earlier run, so a person must decide.")
    return ""


def without_team(rules: Iterable[StandingRule], workspace: str, teams: Iterable[str]) -> list[StandingRule]:
    """Return the rules of a workspace whose team isn't there (any more): they allow nothing, and hinder nothing.

    Args:
        rules: all standing rules.
        workspace: its absolute path.
        teams: the names of its teams.
    """
    known = set(teams)
    return [rule for rule in rules if rule.workspace == workspace and rule.team not in known]


def rule_for(request: Request, workspace: str, *, by: str, at: str, shown: str) -> StandingRule:
    """Return the narrowest rule that would have allowed a request.

    Raises:
        BadInput: no rule can.
    """
    why = objection(request)
    if why:
        raise BadInput(why)
    return StandingRule(
        workspace=workspace,
        team=request.source,
        risk=Risk(str(request.about.get("risk", Risk.HIGH.value))),
        command=str((request.subject.get("arguments") or {}).get("command", "")),
        input=exact_input(request.subject),
        code=code_of(request),
        by=by,
        at=at,
        shown=safe_text(shown, multiline=False, limit=_LONGEST_SHOWN),
    )


def changed(rule: StandingRule, changes: Mapping[str, str], *, by: str, at: str) -> StandingRule:
    """Return a rule with changes, as one that whoever changes it stands for; the rule itself when nothing changes.

    Args:
        rule: as it is.
        changes: `input`: "any" instead of the exact one; `until`: a duration such as "8h", a date or time, or "never".
        by: who changes it.
        at: the time.

    Raises:
        BadInput: a rule can't be so.
    """
    fresh = replace(rule, until=_end(changes["until"], at)) if "until" in changes else rule
    wanted = changes.get("input", EXACT if rule.input else ANY)
    if wanted not in ((ANY, EXACT) if rule.input else (ANY,)):
        raise BadInput(Message("The input of a rule can only be made any; a narrower rule comes from a question."))
    if wanted == ANY and rule.input:
        if rule.risk is Risk.HIGH:
            raise BadInput(Message("At high risk, only an exact input can be always allowed."))
        fresh = replace(
            fresh, input="", shown=Message("{}: any input", rule.command or rule.team.removesuffix("_team"))
        )
    return rule if fresh == rule else replace(fresh, by=by, at=at)


def _end(text: str, now: str) -> str:
    """Return when a rule ends, ISO 8601, UTC; empty for never."""
    plain, wrong = (
        text.strip(),
        Message('"{}" can\'t end a rule; write 8h, 7d, 2030-01-31, or never.', one_line(text, 40)),
    )
    if plain in ("", NEVER):
        return ""
    moment = datetime.fromisoformat(now)
    try:
        end = moment + timedelta(seconds=parse_duration(plain))
    except (ValueError, OverflowError):
        try:
            end = datetime.fromisoformat(plain)
            end = (end if end.tzinfo else end.astimezone()).astimezone(UTC)
        except (ValueError, OverflowError):
            raise BadInput(wrong) from None
    if end <= moment:
        raise BadInput(Message("The end of a rule must lie in the future; to revoke it now: /rules revoke"))
    return end.isoformat(timespec="seconds")


def decisions(
    requests: Iterable[Request], mode: Mode, workspace: str, rules: Sequence[StandingRule], now: str
) -> list[Decision]:
    """Return what standing rules answer to open requests; nothing in mode `step`, where everything asks.

    Args:
        requests: open ones.
        mode: the session's mode.
        workspace: its absolute path.
        rules: all standing rules.
        now: the time.
    """
    if mode is Mode.STEP:
        return []
    found = []
    for request in requests:
        if Verdict.APPROVE not in request.options or objection(request):
            continue
        rule = next((r for r in rules if r.allows(request, workspace, now)), None)
        if rule is not None:
            by, reason = (
                Message("rule {} of {}", rule.id, rule.by),
                Message("always allowed by {} at {}", rule.by, rule.at),
            )
            found.append(
                Decision(request.id, Verdict.APPROVE, by, request.digest, now, BY_RULE, request.terms.level, reason)
            )
    return found


# The file ----------------------------------------------------------------------------------------------------------


def load_rules(path: Path) -> tuple[StandingRule, ...]:
    """Return the rules in a file; none when there is no such file.

    Raises:
        ConfigError: it can't be read or used; then no rule holds.
    """
    try:
        if not path.exists():
            return ()
        if not path.is_file():
            raise ConfigError(Message("{} must be a file, but isn't one.", path.name))
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise ConfigError(Message("{} can't be read: {}.", path.name, error.strerror or error)) from error
    if len(content) > _LARGEST:
        raise ConfigError(
            Message("{} is larger than {} bytes, too large for a list of rules.", path.name, f"{_LARGEST:,}")
        )
    try:
        return parse_rules(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(Message("{} must be UTF-8.", path.name)) from error


def parse_rules(text: str) -> tuple[StandingRule, ...]:
    """Return the rules that a TOML text holds.

    Raises:
        ConfigError: the first thing that is wrong, in one sentence.
    """
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        said = safe_text(str(error), multiline=False, limit=200)
        raise ConfigError(Message("{} isn't valid TOML: {}.", FILE_NAME, said)) from error
    tables = data.pop("policy", [])
    if data or not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(Message("{} may hold nothing but [[policy]] tables.", FILE_NAME))
    return tuple(_rule(number, table) for number, table in enumerate(tables, start=1))


def _rule(number: int, table: Mapping[str, Any]) -> StandingRule:
    own = {key: table.get(key, "") for key in _OWN}
    if not all(isinstance(value, str) for value in own.values()):
        raise ConfigError(Message("{} rule {}: {} must be texts.", FILE_NAME, number, ", ".join(_OWN)))
    rule = _policy_rule(number, {key: value for key, value in table.items() if key not in _OWN})
    if rule.decision is not Ruling.ALLOW or rule.terms != Terms():
        raise ConfigError(
            Message("{} rule {}: it can only allow; what asks or denies belongs in hitl.toml.", FILE_NAME, number)
        )
    if not (rule.team and rule.risk and Path(own["workspace"]).is_absolute()):
        raise ConfigError(
            Message("{} rule {}: it must name a team, a risk and a workspace's absolute path.", FILE_NAME, number)
        )
    if own["until"] and not _is_time(own["until"]):
        raise ConfigError(
            Message("{} rule {}: until must be a time with its zone, such as 2030-01-31T12:00Z.", FILE_NAME, number)
        )
    if Risk(rule.risk) is Risk.HIGH and not own["input"]:
        raise ConfigError(
            Message("{} rule {}: at high risk, only an exact input can be always allowed.", FILE_NAME, number)
        )
    return StandingRule(team=rule.team, risk=Risk(rule.risk), command=rule.command, **own)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _policy_rule(number: int, table: JsonObject) -> Rule:
    """Return what hitl.toml's own loader makes of a table; whether its command and team are there shows later."""
    from hitl_tui.config.problems import first_problem
    from hitl_tui.config.schema import read
    from hitl_tui.config.workspace import TEAMS, WorkspaceConfig

    command, team = table.get("command"), table.get("team")
    declared = {command: {"run": ["true"]}} if isinstance(command, str) else {}
    own = team if isinstance(team, str) and team not in TEAMS and command is None else ""
    checked = {key: value for key, value in table.items() if not (own and key == "team")}
    found = read({"policy": [checked], "teams": {"command_team": {"commands": declared}}})
    if isinstance(found, WorkspaceConfig):
        return replace(found.policy.rules[0], team=own) if own else found.policy.rules[0]
    _, sentence = first_problem(found, {})
    raise ConfigError(Message("{} rule {}: {}", FILE_NAME, number, sentence))


def change_rules(
    path: Path, change: Callable[[tuple[StandingRule, ...]], tuple[StandingRule, ...]]
) -> tuple[StandingRule, ...]:
    """Write what `change` makes of the rules, whole or not at all, one process at a time; return them.

    Raises:
        ConfigError: the file that is there can't be used; StorageError: it can't be written. Nothing was changed.
    """
    try:
        with locked(path):
            rules = change(load_rules(path))
            text = "\n".join([_HEAD, *(rule.to_toml() for rule in rules)])
            parse_rules(text)  # what couldn't be read again isn't written
            write_atomically(path, text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise BadInput(Message("The rule contains text that can't be stored in a file.")) from error
    except OSError as error:
        raise StorageError(Message("{} can't be written: {}.", path.name, error.strerror or error)) from error
    return rules


def _quoted(text: str) -> str:
    """Return a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
