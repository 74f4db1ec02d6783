"""A process that runs one written query: what it may take of the machine ends with it.

DuckDB counts neither the memory of every text that a query makes, nor looks up from it when it is interrupted. Here the
system bounds the memory, and whoever began the process ends it. A request comes as JSON on standard input; its rows, as
people read them, or why there are none, go to standard output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hitl_tui.config.process_limits import limit_process
from hitl_tui.tables.engine import TableError, engine, quote
from hitl_tui.tables.files import TableFile
from hitl_tui.tables.profile import SOURCE, plain

ADDRESSES = 3 << 30
"""Bytes that the process may map, its programs among them."""


def main() -> None:
    """Answer one request."""
    limit_process(ADDRESSES)
    try:
        answer = _answer(json.load(sys.stdin))
    except TableError as error:
        late = type(error.__cause__).__name__ == "InterruptException"
        answer = {"error": str(error.__cause__ or error.message).split("\n")[0], "late": late}
    except MemoryError:
        answer = {"error": "out of memory"}
    json.dump(answer, sys.stdout)


def _answer(given: Mapping[str, Any]) -> dict[str, Any]:
    files = [_file(table) for table in given["tables"]]
    with engine(files) as opened:
        for number, (table, file) in enumerate(zip(given["tables"], files, strict=True)):
            opened.load(f"source {number}", file, table["sheet"])
            rows = table["sql"].replace(SOURCE, quote(f"source {number}"))
            opened.ask(f"CREATE VIEW {quote(table['name'])} AS {rows}")
        result = opened.ask(("DESCRIBE " if given["check"] else "") + given["sql"], given["limit"])
    rows = [[plain(value) for value in row] for row in result.rows]
    return {"names": [plain(name) for name in result.names], "rows": rows, "more": result.more}


def _file(table: Mapping[str, Any]) -> TableFile:
    return TableFile(table["path"], Path(table["absolute"]), table["kind"], table["size"], table["mtime_ns"])


if __name__ == "__main__":
    main()
