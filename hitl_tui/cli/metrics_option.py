"""`--metrics`: figures for Prometheus, of `worker` and `serve`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hitl_tui.config.extras import install_help
from hitl_tui.core.errors import MissingExtra
from hitl_tui.core.messages import Message
from hitl_tui.web.listening import given_address

if TYPE_CHECKING:
    from hitl_tui.channels.metrics import ProcessFigures
    from hitl_tui.cli.job import Job
    from hitl_tui.supervisor.session_registry import SessionRegistry

_PORT = 9464
"""What exporters usually take."""


@asynccontextmanager
async def metrics_of(
    job: Job, registry: SessionRegistry, open_now: Callable[[], int]
) -> AsyncIterator[ProcessFigures | None]:
    """Tell figures while the block lasts where that is wanted; yields what counts those of this process.

    Args:
        job: how the program was started.
        registry: whose record they are of.
        open_now: returns how many sessions this process carries now.

    Raises:
        BadInput: the address can't be used.
        MissingExtra: what tells them isn't installed.
    """
    given = job.arguments.metrics
    if given is None:
        yield None
        return
    host, port = given_address(given, "--metrics", _PORT)
    if find_spec("prometheus_client") is None:
        raise MissingExtra(Message('Figures for Prometheus need the extra "metrics".'), help=install_help("metrics"))
    from hitl_tui.channels.metrics import ProcessFigures, metrics_at

    figures = ProcessFigures(open_now)
    async with metrics_at(host, port, registry, figures) as at:
        where = f"http://[{host}]:{at}" if ":" in host else f"http://{host}:{at}"
        job.say(Message("Figures for Prometheus: {}", f"{where}/metrics"))
        yield figures
