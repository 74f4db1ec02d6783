"""The process that sends notifications; `notifications.wake` begins it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from hitl_tui.cli.fast_args import language_of
from hitl_tui.core.errors import HitlError
from hitl_tui.language import using
from hitl_tui.notifications.apprise_sending import send
from hitl_tui.notifications.moments import Origin
from hitl_tui.notifications.sender import Sender
from hitl_tui.supervisor.data_place import data_place
from hitl_tui.wording.notification_text import notification_text


def main(argv: Sequence[str]) -> None:
    """Send what there is to send.

    Args:
        argv: the data folder, and the descriptor that holds the sender's lock; -1 for none.
    """
    data, lock = Path(argv[0]), int(argv[1])
    folder = data_place(data, os.environ)  # of a database, the folder that it was started in is a workspace's copy
    os.chdir("/")
    os.nice(10)  # whoever asks and decides goes first

    def workspace_of(session: str) -> Path | None:
        try:
            return Path(folder.session(session).info().workspace) if folder.tells_for_workspaces() else None
        except HitlError:
            return None

    def origin_of(session: str | Path) -> Origin:
        machine = socket.gethostname()
        if isinstance(session, Path):
            return Origin(folder=str(session), machine=machine)
        try:
            info = folder.session(session).info()
        except HitlError:
            return Origin()
        return Origin(info.called, info.workspace, machine)

    with using(language_of([], os.environ)):
        sender = Sender(data, dict(os.environ), workspace_of, origin_of, notification_text, send)
        asyncio.run(sender.run(lock if lock >= 0 else None))


if __name__ == "__main__":
    main(sys.argv[1:])
