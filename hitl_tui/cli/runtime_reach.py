"""The runtimes elsewhere that an inbox shows; what reaches them is imported only where a setting names one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hitl_tui.cli.settings import claimed
from hitl_tui.policy.accounts import account_name

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job
    from hitl_tui.supervisor.remote_reviews import RemoteReviews


def reach(job: Job, places: Sequence[str]) -> RemoteReviews:
    """Return the runtimes at some places.

    Args:
        job: says who answers, and has tokens and a log that doesn't show them.
        places: each is `http://HOST:PORT`, `s3://BUCKET[/PREFIX]`, or a folder.

    Raises:
        BadInput: nothing can be at the only one.
        MissingExtra: what it needs isn't installed.
    """
    from hitl_tui.channels.plan_feedback.review_place import TOKENS
    from hitl_tui.channels.plan_feedback.reviewed_runtime import ReviewedRuntimes

    job.log.hide({name: job.environ.get(name, "") for name in TOKENS})
    by = claimed(job.arguments.by, job.environ) or account_name()
    return ReviewedRuntimes(places, job.environ, by)
