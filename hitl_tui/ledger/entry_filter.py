"""Which entries of the record are wanted: by time, person and risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hitl_tui.core.names import person
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Request
from hitl_tui.ledger.records import Entry

_NAMES = ("by", "person", "account", "claimed")


@dataclass(slots=True)
class EntryFilter:
    """What is wanted of one stream, whose entries it is shown in order.

    Args:
        since, until: from when, and until before when, ISO 8601, UTC; empty for no bound.
        person: somebody who decided, edited, or was shown something, by any of their names; empty for anybody.
        risk: of the questions; an entry that belongs to none has none. None for all entries.
    """

    since: str = ""
    until: str = ""
    person: str = ""
    risk: Risk | None = None
    _of_request: dict[str, Risk] = field(default_factory=dict)
    _of_todo: dict[str, Risk] = field(default_factory=dict)

    def wants(self, entry: Entry) -> bool:
        """Return whether an entry is wanted."""
        risk = self._risk(entry)
        if (self.since and entry.at < self.since) or (self.until and entry.at >= self.until):
            return False
        if self.risk is not None and risk is not self.risk:
            return False
        return not self.person or person(self.person) in {person(name) for name in _people(entry.data)}

    def _risk(self, entry: Entry) -> Risk | None:
        """Return the risk of the question that an entry is about; of its TODO's, for what is done for that."""
        data = entry.data
        if stored := data.get("request"):
            request = Request.from_dict(stored)
            self._of_request[request.id] = request.risk_class
            if request.todo_id:
                self._of_todo[request.todo_id] = request.risk_class
            return request.risk_class
        event = _table(data, "event")
        asked = _table(data, "decision").get("request_id") or data.get("request_id") or event.get("request_id")
        todo = data.get("todo_id") or event.get("todo_id")
        return self._of_request.get(str(asked)) if asked else self._of_todo.get(str(todo))


def _people(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names that an entry gives of those who did it."""
    tables = (data, _table(data, "decision"), _table(data, "event"), _table(data, "reason"))
    for table in (*tables, *tables[2].get("people", ())):
        yield from (str(table[name]) for name in _NAMES if table.get(name))


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}
