"""Which starts of an effect nobody asked for: judged from what the world saw and from what people said, with times.

The first start of an effect needs no word beyond the approval. Each one after it needs a word of a person that was
recorded after the start before:

- `do_again`, said of that TODO's doubt;
- `retry`, when the start before is known to have failed;
- a new approval of the TODO, when the start before is known to have ended: if it failed, always; if it was done, as
  long as the session hasn't gone back to another moment since.

An end is known when the world saw it and the ledger was told of it before the word was said. Nothing here knows what
the program itself takes for allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from hitl_tui.ledger.records import Entry

WHOLE = "graph"
"""Name under which the ledger knows what a graph of others does: everything that its nodes do."""


@dataclass(frozen=True, slots=True)
class Word:
    """What somebody said of a TODO.

    Args:
        todo: its id.
        kind: of the question that was answered.
        verdict: the answer.
        at: when it was recorded.
        effect: name of the effect in doubt; empty for other questions.
    """

    todo: str
    kind: str
    verdict: str
    at: str
    effect: str = ""

    def is_again_for(self, effect: str) -> bool:
        """Tell whether this says that an effect may be done again."""
        return self.kind == "effect" and self.verdict == "do_again" and self.effect in (effect, WHOLE)


@dataclass(frozen=True, slots=True)
class _Start:
    """One start of an effect.

    Args:
        at: when.
        ended: when the world saw its end; empty for never.
        failed: it ended without having done what it should.
    """

    at: str
    ended: str = ""
    failed: bool = False


def words(entries: Iterable[Entry]) -> list[Word]:
    """Return everything people said of TODOs, in order."""
    requests: dict[str, Mapping[str, Any]] = {}
    found: list[Word] = []
    for entry in entries:
        if entry.kind == "request_opened":
            requests[entry.data["request"]["id"]] = entry.data["request"]
        elif entry.kind == "decision":
            decision = entry.data["decision"]
            request = requests[decision["request_id"]]
            effect = request["subject"]["effect"]["name"] if request["kind"] == "effect" else ""
            found.append(Word(request["todo_id"], request["kind"], decision["verdict"], entry.at, str(effect)))
    return found


def unasked(lines: Sequence[Mapping[str, Any]], entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the starts that no person's word allowed, in words.

    Args:
        lines: what the world recorded (see `crash_world`): `begin` when an effect starts, `act` when it changes
            something, `done` or `failed` when it ends.
        entries: the ledger's, of one session.
    """
    said = words(entries)
    told = [(e.data["todo_id"], e.at) for e in entries if e.kind == "effect_ended"]
    restored = [e.at for e in entries if e.kind == "restore_intended"]
    wrong: list[str] = []
    for op in ("begin", "act"):
        for (todo, effect), starts in _starts(lines, op).items():
            for number, (before, now) in enumerate(pairwise(starts), start=2):
                between = [w for w in said if w.todo == todo and before.at < w.at < now.at]
                ends = [at for name, at in told if name == todo and "" < before.ended < at]
                known = min(ends, default="")
                stayed = not any(before.at < at < now.at for at in restored)
                if any(_allows(w, effect, before, known, stayed=stayed) for w in between):
                    continue
                heard = ", ".join(f"{w.kind} {w.verdict}" for w in between) or "nobody said anything"
                wrong.append(f"{todo} {effect}: {op} {number} after {heard}")
    return tuple(wrong)


def _allows(word: Word, effect: str, before: _Start, known: str, *, stayed: bool) -> bool:
    if word.is_again_for(effect):
        return True
    if not known or word.at < known:
        return False
    if (word.kind, word.verdict) == ("failure", "retry"):
        return before.failed
    return (word.kind, word.verdict) == ("todo", "approve") and (before.failed or stayed)


def _starts(lines: Sequence[Mapping[str, Any]], op: str) -> dict[tuple[str, str], list[_Start]]:
    found: dict[tuple[str, str], list[_Start]] = {}
    for line in lines:
        starts = found.setdefault((line["todo"], line.get("effect", "")), [])
        if line["op"] == op:
            starts.append(_Start(line["at"]))
        elif line["op"] in ("done", "failed") and starts:
            starts[-1] = replace(starts[-1], ended=line["at"], failed=line["op"] == "failed")
    return found
