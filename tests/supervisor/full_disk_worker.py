"""Does one thing with sessions where no file may grow beyond a size, as on a disk that is full.

Run as `full_disk_worker.py WHAT ROOT BYTES`; see `portable_worker` for ROOT. Prints what a person would read.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

from portable_worker import act

from hitl_tui.core.errors import HitlError
from hitl_tui.supervisor import session_copy  # noqa: F401 - reading bytecode caches mustn't fail later
from hitl_tui.supervisor.session_registry import SessionRegistry


async def main(what: str, root: Path, most: int) -> None:
    async with SessionRegistry.open(root / "data", {}) as bench:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        try:
            await act(what, root, bench)
            print("done")
        except HitlError as error:
            print(error.message)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
