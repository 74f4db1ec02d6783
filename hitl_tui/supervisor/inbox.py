"""Events as the ledger keeps them, and as the supervisor takes them."""

from __future__ import annotations

from dataclasses import replace

from hitl_tui.core.errors import BadInput
from hitl_tui.core.events import Event
from hitl_tui.core.json_text import check_storable
from hitl_tui.ledger.records import Posted


def event_of(posted: Posted) -> Event:
    """Return an inbox event; what the ledger itself posts has its fields beside the kind, the rest within `data`.

    One that no checkpoint can hold comes without its content, and `fold` refuses it.
    """
    data = posted.event
    try:
        check_storable(data)
    except BadInput as error:
        return Event("unreadable", {"why": error.message}, posted.event_id, posted.seq)
    if "data" in data:
        return replace(Event.from_dict(data), id=posted.event_id, seq=posted.seq)
    body = {k: v for k, v in data.items() if k != "kind"}
    at, by = str(data.get("at", "")), str(data.get("by", ""))
    return Event(str(data.get("kind", "")), body, posted.event_id, posted.seq, at, by)
