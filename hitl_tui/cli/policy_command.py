"""`hitl-tui policy`: rules that nobody can satisfy, and which rule applies to something."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.cli.graph_settings import text_or_file
from hitl_tui.cli.job import Job
from hitl_tui.cli.settings import existing_workspace
from hitl_tui.config.loader import FILE_NAME, content_of, parse_content
from hitl_tui.core.errors import BadInput, HitlError, UnknownName
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Facts, Fit, Mode, Of, Policy, Risk, Ruling, rule_label
from hitl_tui.core.requests import Kind, Request
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, translate
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.rule_check import unsatisfiable
from hitl_tui.wording.policy_rows import terms_words
from hitl_tui.wording.text_lines import shown

if TYPE_CHECKING:
    from hitl_tui.policy.rule_explanation import Explanation
    from hitl_tui.policy.workspace_trust import WorkspaceTrust
    from hitl_tui.supervisor.session_registry import SessionRegistry

NOTHING, FOUND = 0, 1
_MOST = 10_000
_ABOUT = ("request", "agent", "action", "team", "declared", "tool", "args", "risk", "mode")


def policy(job: Job) -> int | Coroutine[Any, Any, int]:
    """Check rules, explain them or replay them; return the exit code, or what does.

    Raises:
        BadInput: there is no such folder, a file can't be used, or options don't go together.
    """
    given = job.arguments
    asks = [name for name in _ABOUT if getattr(given, name)]
    if given.what == "replay":
        if asks or not given.policy:
            raise BadInput(Message("policy replay takes --policy FILE, and no request."))
        from hitl_tui.cli.policy_replay_command import replayed

        return replayed(job)
    if given.policy:
        raise BadInput(Message("--policy goes with policy replay."))
    return explained(job) if asks else checked(job)


# Rules that nobody can satisfy -------------------------------------------------------------------------------------


def checked(job: Job) -> int:
    """Name the rules that nobody can satisfy; return the exit code."""
    arguments, out = job.arguments, job.out
    folder = existing_workspace(arguments.workspace)
    content = content_of(folder / FILE_NAME)
    config = parse_content(content)
    approvers = ApproverFile(job.data).load()
    text = content.decode("utf-8-sig") if content else ""
    found = unsatisfiable(config.policy, approvers, text)
    where = folder / FILE_NAME
    if content is None:
        message = Message("No {} in {}: nothing to check.", FILE_NAME, folder)
    elif not found:
        count = len(config.policy.rules)
        message = counted_message(
            "{} rule checked: all can be satisfied.", "{} rules checked: all can be satisfied.", count
        )
    else:
        count = len(found)
        message = counted_message(
            "{} rule can't be satisfied by anybody here.", "{} rules can't be satisfied by anybody here.", count
        )
    if arguments.json:
        out.document(
            {
                "status": "findings" if found else "ok",
                "message": message,
                "file": str(where),
                "approvers": [a.to_dict() for a in approvers.people],
                "findings": [one.to_dict() for one in found],
            }
        )
    else:
        lines = [
            _("{file} line {line}, rule {rule}: {what}").format(
                file=shown(str(where)), line=one.line, rule=one.rule, what=shown(translate(one.message))
            )
            for one in found
        ]
        out.lines([*lines, shown(translate(message))])
    return FOUND if found else NOTHING


# Which rule applies ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the rules of a folder are asked about.

    Args:
        folder: whose rules.
        facts: what they look at.
        mode: in which mode; None for the folder's.
        request: the request; None for what is only supposed.
        unbound: why a step couldn't run with these arguments; empty where it could.
    """

    folder: Path
    facts: Facts
    mode: Mode | None
    request: Request | None = None
    unbound: str = ""


async def explained(job: Job) -> int:
    """Say which rule applies to something, and why no other one does; return the exit code.

    Raises:
        UnknownName: the folder has no such team or command, or nothing has such a request.
    """
    from hitl_tui.cli.admin_commands import looking
    from hitl_tui.policy.rule_explanation import explain, explain_inside

    given = job.arguments
    async with looking(job) as registry:
        asked = await _of_request(job, registry) if given.request else _supposed(job)
        trust = await registry.trust.of(asked.folder)
        if not asked.request:
            facts, unbound = await asyncio.to_thread(_as_declared, registry, trust, asked.facts, bool(given.risk))
            asked = replace(asked, facts=facts, unbound=unbound)
        mode = asked.mode or trust.config.mode
        policy = _obeyed(trust, asked.facts)
        found = explain(policy, asked.facts, mode)
        calls: tuple[Explanation, ...] = ()
        if inside := asked.request is not None and asked.request.kind is Kind.INTERRUPT:
            found, calls = explain_inside(policy, asked.request, asked.facts, mode)
    asked = replace(asked, facts=found.facts)
    message = _inside_words(found) if inside else _ruling_words(found, mode)
    if len(calls) > 1:
        message = Message("Call {}: {}", [one.facts for one in calls].index(found.facts) + 1, message)
    if inside and found.judgement.ruling is Ruling.ALLOW:
        found = replace(found, judgement=replace(found.judgement, ruling=Ruling.ASK))
    notes = _notes(job, trust, asked, found)
    if given.json:
        job.out.document(
            {
                "status": "ok",
                "message": message,
                "file": str(asked.folder / FILE_NAME),
                "request": asked.request.id if asked.request is not None else "",
                "mode": mode.value,
                **_document(found),
                "terms": found.judgement.terms.to_dict(),
                "notes": notes,
                **({"calls": [_document(one) for one in calls]} if inside else {}),
            }
        )
        return NOTHING
    lines = []
    for number, one in enumerate(calls or (found,), start=1):
        if len(calls) > 1:
            lines.append(_("call {number}: {tool}").format(number=number, tool=one_line(one.facts.tool, 60)))
        lines += _tried_lines(one)
    job.out.lines([shown(line) for line in (*lines, translate(message), *_terms_lines(found), *map(translate, notes))])
    return NOTHING


def _document(found: Explanation) -> dict[str, Json]:
    """Return what the rules say of something, as JSON values."""
    names = ("team", "risk", "command", "tool", "agent", "action", "arguments")
    return {
        "facts": {"of": found.facts.of.value, **{name: getattr(found.facts, name) for name in names}},
        "ruling": found.judgement.ruling.value,
        "rule": found.judgement.rule,
        "name": found.judgement.name,
        "rules": [one.to_dict() for one in found.tried],
    }


def _tried_lines(found: Explanation) -> list[str]:
    fits = {Fit.YES: _("fits"), Fit.MAYBE: _("may fit"), Fit.NO: _("doesn't fit")}
    lines = []
    for one in found.tried:
        name = f' "{one.rule.name}"' if one.rule.name else ""
        unreached = "" if one.reached else _("an earlier one decides")
        said = ": ".join(filter(None, (fits[one.fit], translate(one.why))))
        said = "; ".join(filter(None, (said, unreached)))
        lines.append(
            _("rule {rule}{name} ({decision}) {said}").format(
                rule=one.number, name=name, decision=one.rule.decision.value, said=said
            )
        )
    return lines


def _as_declared(registry: SessionRegistry, trust: WorkspaceTrust, facts: Facts, risky: bool) -> tuple[Facts, str]:
    """Return the facts with what the folder declares of them, and why its team can't take the arguments, if it can't.

    Args:
        registry: has what is trusted.
        trust: the folder.
        facts: what is only supposed.
        risky: its risk was said, too, and counts.

    Raises:
        UnknownName: it has no such team or command; the nearest that it has is named.
    """
    from hitl_tui.supervisor.session_setup import registry_of, withheld_teams
    from hitl_tui.teams.contract import unknown_name

    if facts.command and facts.command not in trust.declared.commands:
        raise unknown_name(Message("declared command"), facts.command, trust.declared.commands)
    if not facts.team:
        return facts, ""
    folder, cache = Path(trust.folder), registry.data.cache
    why_no_secrets = partial(registry.trust.why_no_secrets, folder)
    teams = registry_of(trust.config, (), folder, withheld_teams(trust), cache=cache, why_no_secrets=why_no_secrets)
    team = teams.get(facts.team)
    if facts.of is not Of.TODO:
        return (facts if risky else replace(facts, risk=team.risk)), ""
    named: dict[str, Json] = {"command": facts.command} if facts.command else {}
    unbound = ""
    if facts.arguments is not None:
        try:
            given = {**named, "parameters": dict(facts.arguments)} if named else facts.arguments
            named = team.bind("", given)
            facts = Facts.of_todo(facts.team, facts.risk, facts.command, named)
        except HitlError as error:
            unbound = error.message
    return (facts if risky else replace(facts, risk=team.risk_of(named))), unbound


async def _of_request(job: Job, registry: SessionRegistry) -> _Asked:
    """Return what a request asks about, with the folder whose rules it is under.

    Raises:
        BadInput: other options say what is asked about, too, or no rule is about it; UnknownName: there is none.
    """
    from hitl_tui.cli.policy_replay_command import modes_of
    from hitl_tui.policy.rule_explanation import facts_of

    given = job.arguments
    if others := [name for name in _ABOUT if name not in ("request", "mode") and getattr(given, name)]:
        raise BadInput(Message("--request says all there is to say; leave out --{}.", others[0]))
    mode = Mode(given.mode) if given.mode else None
    view = await registry.ledger.request(given.request, registry.now())
    if view is not None:
        folder, request = Path(registry.data.session(view.request.session).info().workspace), view.request
        mode = mode or (await modes_of(registry, request.session)).at(registry.now())
        facts = await _facts_of_step(registry, request) if request.kind is Kind.INTERRUPT else facts_of(request)
    else:
        recorded = await registry.tasks.recorded(Path.cwd())
        step = next((o for o in recorded if o.step.view and o.request_id == given.request), None)
        if step is None:
            raise UnknownName(Message("No request {}.", one_line(clip(given.request), 80)))
        folder, request = step.masc.parent, step.view.request
        facts = facts_of(request)
    workspace = existing_workspace(given.workspace) if given.workspace else folder
    return _Asked(workspace, facts, mode, request)


async def _facts_of_step(registry: SessionRegistry, request: Request) -> Facts:
    """Return what rules look at in the step that asks from inside."""
    views = await registry.ledger.requests(
        registry.now(), session=request.session, todo_id=request.todo_id, pending=False, limit=_MOST
    )
    inputs = [view.request.subject.get("arguments") for view in views if view.request.kind is Kind.TODO]
    arguments = inputs[-1] if inputs else None
    return Facts.of_todo(request.source, request.risk_class, str((arguments or {}).get("command", "")), arguments)


def _supposed(job: Job) -> _Asked:
    """Return what options say is asked about.

    Raises:
        BadInput: they don't go together.
    """
    given = job.arguments
    outside, inside = bool(given.agent or given.action), bool(given.team or given.declared or given.tool)
    if outside and inside:
        raise BadInput(
            Message("--agent and --action are of steps outside of sessions; --team, --command, --tool aren't.")
        )
    if not (outside or inside):
        raise BadInput(Message("Say what is asked about: --request, or --agent and --action, or --team."))
    text = None if given.args is None else text_or_file(given.args)
    try:
        arguments: Json = None if text is None else strict_json(text)
    except ValueError as error:
        raise BadInput(Message("--args isn't valid JSON: {}.", one_line(str(error), 200))) from error
    if text is not None and not isinstance(arguments, dict):
        raise BadInput(Message("--args must be a JSON object."))
    known: JsonObject | None = arguments if isinstance(arguments, dict) else None
    team = given.team or ("command_team" if given.declared else "")
    of = Of.STEP if outside else Of.TOOL if given.tool else Of.TODO
    risk = Risk(given.risk) if given.risk and not outside else Risk.HIGH
    facts = Facts(of, team, risk, given.declared, given.tool, given.agent, given.action, known)
    return _Asked(existing_workspace(given.workspace), facts, Mode(given.mode) if given.mode else None)


def _obeyed(trust: WorkspaceTrust, facts: Facts) -> Policy:
    """Return the rules of a folder that are obeyed as it is trusted now."""
    from hitl_tui.policy.workspace_trust import stricter_of

    if facts.of is Of.STEP or not trust.changed or trust.trusted_policy is None:
        return trust.config.policy
    return stricter_of(trust.trusted_policy, trust.config.policy, trust.digest)


def _notes(job: Job, trust: WorkspaceTrust, asked: _Asked, found: Explanation) -> list[str]:
    """Return what else there is to know: what trust would change, and that nobody can decide it."""
    notes: list[str] = [asked.unbound] if asked.unbound else []
    if not trust.trusted:
        declared = trust.declared.policy.judge_facts(asked.facts, asked.mode or trust.config.mode)
        if declared.ruling is not found.judgement.ruling:
            notes.append(Message("The folder isn't trusted, so only rules that ask or deny count: {}", trust.command))
        elif trust.changed and asked.facts.of is not Of.STEP:
            notes.append(Message("The rules that were trusted before count, too, where they are stricter."))
    if asked.facts.of is Of.STEP and found.judgement.ruling is Ruling.ALLOW:
        notes.append(Message("That lets calls of hitl-tui hook pass; masc-checkpoint --interrupt asks all the same."))
    if found.judgement.ruling is Ruling.ASK:
        terms, requester = found.judgement.terms, asked.facts.agent
        notes += filter(None, [ApproverFile(job.data).load().shortfall(terms, requester)])
    return notes


def _inside_words(found: Explanation) -> Message:
    """Return what the rules say of what a graph asks: it is asked though a rule, or the mode, would let it run."""
    judged = found.judgement
    if judged.ruling is not Ruling.ALLOW:
        return _ruling_words(found, Mode.STEP)
    if found.facts.of is Of.TOOL and judged.rule:
        label = rule_label(judged.rule, judged.name)
        return Message("Rule {} would allow it; what a graph asks is asked about all the same.", label)
    return Message("What a graph asks is asked about, whatever rules say of its step.")


def _ruling_words(found: Explanation, mode: Mode) -> Message:
    judged, name = found.judgement, found.judgement.name
    by = f' "{name}"' if name else ""
    if not judged.rule:
        if judged.ruling is Ruling.ALLOW:
            return Message("No rule applies; mode {} lets it run unasked.", mode.value)
        return Message("No rule applies; it is asked about.")
    if judged.ruling is Ruling.ALLOW:
        return Message("Rule {}{} allows it.", judged.rule, by)
    if judged.ruling is Ruling.DENY:
        return Message("Rule {}{} denies it.", judged.rule, by)
    ruling = {one.number: one.rule.decision for one in found.tried if one.rule.name == name}.get(judged.rule)
    if ruling is Ruling.ALLOW:
        return Message("Rule {}{} would allow it, but mode {} asks about every step.", judged.rule, by, mode.value)
    return Message("Rule {}{} applies: it is asked about.", judged.rule, by)


def _terms_lines(found: Explanation) -> list[str]:
    if found.judgement.ruling is not Ruling.ASK:
        return []
    return [_("takes: {terms}").format(terms=terms_words(found.judgement.terms))]
