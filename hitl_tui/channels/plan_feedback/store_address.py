"""What `--feedback` and the runtime's settings name: a folder, or `s3://BUCKET[/PREFIX]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.channels.plan_feedback.document_folder import DocumentFolder
from hitl_tui.channels.plan_feedback.store import FeedbackStore
from hitl_tui.config.extras import install_help
from hitl_tui.core.errors import BadInput, MissingExtra
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

if TYPE_CHECKING:
    from hitl_tui.channels.plan_feedback.document_bucket import DocumentBucket

SCHEME = "s3://"


def store_at(address: str) -> FeedbackStore:
    """Return the store that an address names; nothing is connected to yet.

    Where S3 is and who may use it is found as by every program of AWS: environment, shared files, the machine's role.

    Args:
        address: `s3://BUCKET[/PREFIX]`, or a folder.

    Raises:
        BadInput: it names none.
        MissingExtra: what it needs isn't installed.
    """
    if address.startswith(SCHEME):
        return FeedbackStore(bucket_at(address))
    if not address.strip() or "://" in address:
        raise BadInput(
            Message("Feedback lies in a folder or at s3://BUCKET[/PREFIX], not at {}.", repr(one_line(address, 100)))
        )
    return FeedbackStore(DocumentFolder(Path(address)))


def bucket_at(address: str) -> DocumentBucket:
    """Return the documents in S3 that `s3://BUCKET[/PREFIX]` names; see `store_at`."""
    try:
        from hitl_tui.channels.plan_feedback.document_bucket import DocumentBucket
    except ImportError as error:
        raise MissingExtra(Message('Feedback in S3 needs the extra "s3".'), help=install_help("s3")) from error
    return DocumentBucket(address)
