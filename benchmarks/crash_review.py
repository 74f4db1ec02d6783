"""Kill -9 of a runtime and of its reviewer at every call to S3 and every durable write of either (P1 to P6, D12).

`hitl-tui serve` publishes a plan in S3 (moto's server, in a process of its own); `hitl-tui review`, a process of its
own for each answer, revises it twice and approves it. One of the two dies at one point and is started again. The plan
has to be revised by what was said, each answer counts once, the job is done once, and nothing is left in the bucket but
what became of each plan.

`uv run --extra s3 python benchmarks/crash_review.py --points 20 --seed 1`; without `--points` all of them.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from crash_process import STUCK, Forked, fork, import_ahead
from crash_serve import LIMIT, drive
from s3_server import s3_server

QUERY = "What is the deposit cap?"
ANSWERS = (["--feedback", "also analyse it"], ["--feedback", "only the search"], ["--approve"])
OUTCOMES = ("rejected", "rejected", "approved")
STEPS = (1, 2, 1)
"""How many steps the plan has at each revision."""
RUNTIME = "runtime"
PLACE = "deep-insight/feedback"
LEASE = Path(__file__).resolve().parents[1] / "examples" / "lease"


@dataclass
class Run:
    """One plan, revised twice and approved in spite of a death.

    Args:
        root: an empty folder.
        environ: where S3 is.
        bucket: an empty bucket.
        side: who dies: `runtime`, or the reviewer of a revision by its number.
        kill_at: where; empty for nowhere.
        told: the events.
        reviewers: the processes that answer, by revision.
        requests: the request of each revision.
        killed: a reviewer died.
    """

    root: Path
    environ: dict[str, str]
    bucket: str
    side: str
    kill_at: str
    told: list[dict[str, Any]] = field(default_factory=list)
    reviewers: dict[int, Forked] = field(default_factory=dict)
    requests: dict[int, str] = field(default_factory=dict)
    starts: int = 0
    killed: bool = False

    def go(self) -> list[str]:
        """Let it be carried out; return what isn't as it has to be."""
        shutil.copytree(LEASE, self.root / "work")
        arguments = ["serve", "--once", QUERY, "--id", "one", "--feedback", f"s3://{self.bucket}"]
        arguments += ["--workspace", str(self.root / "work"), "--data", str(self.root / "data")]
        environ = {**self.environ, "PLAN_FEEDBACK_POLL_INTERVAL": "0.3"}
        for self.starts in range(1, 5):
            kill_at = self.kill_at if self.side == RUNTIME and self.starts == 1 else ""
            runtime = fork(lambda at=kill_at: drive(at, self.root / RUNTIME, arguments), self.root / "work", environ)
            runtime.give(b"")
            code = runtime.listen(lambda line: self._heard(json.loads(line)), LIMIT, self._follow_reviewers)
            if code == STUCK:
                return [f"stuck after {[event['type'] for event in self.told]}"]
            if code == 0:
                break
            if code != -signal.SIGKILL:
                return [f"exit code {code}"]
        for reviewer in self.reviewers.values():
            reviewer.send(signal.SIGKILL)  # one that was killed and started again may wait for what is settled
            reviewer.wait()
        return self._judge()

    def _heard(self, event: dict[str, Any]) -> None:
        self.told.append(event)
        if event["type"] == "plan_review_request":
            number = event["revision_count"]
            if number not in self.requests and number < len(ANSWERS):
                self.requests[number] = event["request_id"]
                self._review(number, self.kill_at if self.side == str(number) else "")

    def _review(self, number: int, kill_at: str) -> None:
        """Let somebody answer the plan of a revision."""
        arguments = ["review", self.requests[number], "--from", f"s3://{self.bucket}", *ANSWERS[number], "--wait", "5"]
        record = self.root / str(number)
        self.reviewers[number] = fork(lambda: drive(kill_at, record, arguments), self.root, self.environ)
        self.reviewers[number].give(b"")

    def _follow_reviewers(self) -> None:
        for number, reviewer in list(self.reviewers.items()):
            if reviewer.code() == -signal.SIGKILL and not self.killed:
                self.killed = True
                self._review(number, "")

    def _judge(self) -> list[str]:
        found = []
        plans = {e["request_id"]: e for e in self.told if e["type"] == "plan_review_request"}
        if [(plan["revision_count"], len(plan["steps"])) for plan in plans.values()] != list(enumerate(STEPS)):
            found.append(f"revised otherwise: {[(p['revision_count'], len(p['steps'])) for p in plans.values()]}")
        outcomes = {event["request_id"]: event["outcome"] for event in self.told if event["type"] == "decided"}
        if any(outcomes.get(one, said) != said for one, said in zip(plans, OUTCOMES, strict=False)):
            found.append(f"decided otherwise: {list(outcomes.values())}")
        if len({event["response"] for event in self.told if event["type"] == "done"}) != 1:
            found.append("not done, or told otherwise")
        if any(event["type"] == "failed" for event in self.told):
            found.append("told as failed")
        return found

    def left(self, client: Any) -> list[str]:
        """Return what is left in the bucket beside what became of the plans; who died and came again may be late."""
        there = [each["Key"] for each in client.list_objects_v2(Bucket=self.bucket).get("Contents", [])]
        late = [key for key in there if self.killed and key.startswith(f"{PLACE}-set-aside/")]
        return [f"left: {key}" for key in there if key not in late and not key.startswith(f"{PLACE}-decided/")]


def main() -> int:
    """Print figures, and what isn't as it has to be; return 1 where something isn't."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--points", type=int, default=0, help="how many points; 0 for all")
    options.add_argument("--at", default="", help="only labels that begin like this, such as s3.")
    options.add_argument("--but", default="no label", help="no labels that begin like this")
    options.add_argument("--sides", nargs="*", default=[RUNTIME, "0", "2"], help="who dies: runtime, 0, 1, 2")
    options.add_argument(
        "--part", default="1/1", help="I/N: each Nth point, from the Ith on; N such runs may go on at once"
    )
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--root", type=Path)
    given = options.parse_args()
    first, every = (int(number) for number in given.part.split("/"))
    figures, labels, violations = Counter[str](), Counter[str](), list[dict[str, Any]]()
    with s3_server() as service:
        key = service.key()

        def carried_out(side: str, kill_at: str, keep: Sequence[str] = ()) -> dict[str, Any]:
            root = Path(tempfile.mkdtemp(dir=given.root))
            run = Run(root, key.environ(service.url), service.bucket(), side, kill_at)
            said = run.go() + run.left(service.client(key))
            violations.extend({"side": side, "kill_at": kill_at, "what": what} for what in said)
            died = run.killed or run.starts > 1
            figures["runs"] += 1
            figures["kills"] += died
            print(f"{side:8}{kill_at:36}{'died' if died else 'lived'}  {'; '.join(said) or 'right'}", flush=True)
            met = {name: json.loads((root / f"{name}.met").read_text()) for name in keep}
            shutil.rmtree(root)
            return met

        seen = carried_out("nobody", "", (RUNTIME, "0", "1", "2"))
        import_ahead(sorted({module for one in seen.values() for module in one["modules"]}))
        points = [(side, name) for side in given.sides for name in seen[side]["points"]]
        figures["points"] = sum(len(one["points"]) for one in seen.values())
        points = [one for one in points if one[1].startswith(given.at) and not one[1].startswith(given.but)]
        if given.points and len(points) > given.points:
            points = random.Random(given.seed).sample(points, given.points)
        for side, name in points[first - 1 :: every]:
            labels[f"{'runtime' if side == RUNTIME else 'reviewer'} {name.partition('#')[0]}"] += 1
            carried_out(side, name)
    print(json.dumps({**figures, "labels": dict(labels), "violations": violations}))
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
