"""Effects on the world, at most once: the ledger is told before and after each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langgraph.config import get_config

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import digest, short_id
from hitl_tui.core.names import clip
from hitl_tui.core.safe_text import mask
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.ledger.records import Effect
from hitl_tui.supervisor.artifacts import ArtifactStore
from hitl_tui.teams.contract import EffectInDoubt, RunNotCurrent, TeamFailure


def node_place() -> str:
    """Return where in a team's graph the caller runs: node path without task ids, and superstep.

    It is the same when a node runs again after a crash, and in another attempt.
    """
    config = get_config()
    metadata = config.get("metadata") or {}
    namespace = str((config.get("configurable") or {}).get("checkpoint_ns", ""))
    path = "/".join(part.split(":")[0] for part in namespace.split("|"))
    return f"{path}@{metadata.get('langgraph_step', 0)}"


class LedgerEffects:
    """`teams.contract.Effects` for one run.

    Args:
        ledger: where effects are recorded.
        artifacts: keeps what came out.
        lineage: id under which the session's effects are remembered.
        session, todo_id, branch, run_id: the run.
        resolutions: what people said about effects in doubt, by key: `verdict` (`use_as_done` or `do_again`) and
            the `request_id` it answers.
        secrets: declared secrets, by name: they are masked in what is recorded of a failure.
        now: the clock.
    """

    def __init__(
        self,
        ledger: Ledger,
        artifacts: ArtifactStore,
        *,
        lineage: str,
        session: str,
        todo_id: str,
        branch: int,
        run_id: str,
        resolutions: Mapping[str, Mapping[str, str]],
        secrets: Mapping[str, str],
        now: Callable[[], str],
    ) -> None:
        self._ledger = ledger
        self._artifacts = artifacts
        self._lineage = lineage
        self._session = session
        self._todo_id = todo_id
        self._branch = branch
        self._run_id = run_id
        self._resolutions = resolutions
        self._secrets = dict(secrets)
        self._now = now
        self._ordinals: Counter[str] = Counter()

    async def __call__(self, name: str, subject: Any, act: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """See `teams.contract.Effects`."""
        full_name = f"{node_place()}/{name}"
        self._ordinals[full_name] += 1
        key = "eff-" + short_id(
            self._lineage, self._todo_id, full_name, self._ordinals[full_name], digest(subject), length=32
        )
        effect = Effect(key, self._session, self._todo_id, self._branch, self._run_id, name, subject, "started", {})
        answer = self._resolutions.get(key, {})
        claim = await self._ledger.begin_effect(
            effect, self._now(), resolution=answer.get("verdict", ""), answer_to=answer.get("request_id", "")
        )
        if claim.verdict == "stale":
            raise RunNotCurrent("This run was stopped, so it does nothing more.")
        if claim.verdict == "doubt":
            why = _why(claim.effect, self._session)
            raise EffectInDoubt({"key": key, "name": name, "subject": subject, "why": why})
        if claim.verdict == "done":
            outcome = claim.effect.outcome if claim.effect else {}
            return await self._kept(outcome)
        if claim.verdict == "failed" and claim.effect is not None:
            # The process died before it could say so: it isn't tried again within the same run.
            error = BadInput if claim.effect.outcome.get("final") else TeamFailure
            raise error(str(claim.effect.outcome["error"]))
        try:
            result = await act()
        except (TeamFailure, BadInput) as error:
            # It ended, and how is known: a person may let it be done again. After anything else nobody knows.
            said = clip(mask(error.message, self._secrets), 500)
            failure = {"error": said, **({"final": True} if isinstance(error, BadInput) else {})}
            await self._ledger.end_effect(key, self._run_id, "failed", failure, self._now())
            raise
        reference = await self._artifacts.put(result)
        await self._ledger.end_effect(key, self._run_id, "done", {"artifact": reference}, self._now())
        return result

    async def _kept(self, outcome: Mapping[str, Any]) -> dict[str, Any]:
        reference = outcome.get("artifact")
        return await self._artifacts.get(str(reference)) if reference else dict(outcome)


def _why(effect: Effect | None, session: str) -> str:
    if effect is None or effect.status != "done":
        return "it was started, and nothing says whether it ended"
    if effect.session != session:
        return f"session {effect.session} did it, with which this one shares its past"
    return f"it was done on branch {effect.branch}, which was left by a restore"
