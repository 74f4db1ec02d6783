"""The runtime elsewhere that an inbox shows; what reaches it is imported only where a setting names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_tui.cli.settings import claimed
from hitl_tui.policy.accounts import account_name

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job
    from hitl_tui.supervisor.remote_reviews import RemoteReviews


def reach(job: Job, place: str) -> RemoteReviews:
    """Return the runtime at a place.

    Args:
        job: says who answers, and has tokens and a log that doesn't show them.
        place: `http://HOST:PORT`, `s3://BUCKET[/PREFIX]`, or a folder.

    Raises:
        BadInput: nothing can be there.
        MissingExtra: what it needs isn't installed.
    """
    from hitl_tui.channels.plan_feedback.review_place import TOKENS
    from hitl_tui.channels.plan_feedback.reviewed_runtime import ReviewedRuntime

    job.log.hide({name: job.environ.get(name, "") for name in TOKENS})
    by = claimed(job.arguments.by, job.environ) or account_name()
    return ReviewedRuntime(place, job.environ, by)
