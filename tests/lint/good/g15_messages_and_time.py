"""Reads that change nothing stand before the question: configuration, the clock for the log, a file's text."""

import logging
import os
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.config import get_stream_writer
from langgraph.types import interrupt

log = logging.getLogger(__name__)


class Notice(TypedDict):
    path: str
    sent_at: str


def announce(state: Notice) -> dict:
    started = time.perf_counter()
    log.info("asking at %s", datetime.now(timezone.utc))
    writer = get_stream_writer()
    writer({"stage": "asking"})
    text = Path(state["path"]).read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        lines.append(line.strip())
    seen = {"question": "Publish this?", "lines": lines, "site": os.environ.get("SITE", "main")}
    answer = interrupt(seen)
    log.info("answered after %.1f s", time.perf_counter() - started)
    return {"sent_at": datetime.now(timezone.utc).isoformat() if answer else ""}


builder = StateGraph(Notice)
builder.add_node("announce", announce)
builder.add_edge(START, "announce")
graph = builder.compile()
