"""Sending by Apprise, which is imported with the first message."""

from __future__ import annotations

import logging

from hitl_tui.config.extras import install_command
from hitl_tui.core.messages import Message
from hitl_tui.notifications.moments import Text

_TIMEOUT = 10.0


class _Kept(logging.Handler):
    """Keeps what the library says of a failure: it only returns that it failed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def send(address: str, text: Text) -> str:
    """Send a text to an address; return why it couldn't, empty where it could. The address is in no log.

    Args:
        address: as Apprise takes it, with its secrets.
        text: plain text.
    """
    try:
        import apprise
    except ImportError:
        return Message('sending takes the extra "notify"; install it with: {}', install_command("notify"))
    logger = logging.getLogger("apprise")
    logger.propagate = False  # an address may be in what it logs
    logger.setLevel(logging.WARNING)
    kept = _Kept()
    logger.addHandler(kept)
    try:
        asset = apprise.AppriseAsset(async_mode=False, app_id="hitl-tui", app_desc="hitl-tui", secure_logging=True)
        found = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
        if found is None:
            return Message("it isn't an address that Apprise knows")
        found.socket_connect_timeout = found.socket_read_timeout = _TIMEOUT
        done = found.notify(body=text.body, title=text.title, body_format=apprise.NotifyFormat.TEXT)
    except Exception as error:  # noqa: BLE001 - a plugin of one service must not end the sending to others
        return f"{type(error).__name__}: {error}"
    finally:
        logger.removeHandler(kept)
    return "" if done else "; ".join(kept.said) or Message("it wasn't accepted")
