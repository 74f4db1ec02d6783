"""`hitl-tui doctor`: how a database that keeps sessions stands, and what needs somebody (X1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.language import translate
from hitl_tui.ledger.existing_record import named_database
from hitl_tui.terminal.ascii_signs import signs
from hitl_tui.wording.text_lines import shown

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job

DONE, FOUND = 0, 1


def doctor(job: Job) -> int:
    """Print what is to be known of the database; return 1 where something needs somebody.

    Raises:
        BadInput: no database is named, or what names it isn't one.
        StorageError: it can't be reached or used.
    """
    address = named_database(job.environ)
    if not address:
        raise BadInput(Message("Doctor looks at a database: --database ADDRESS, or HITL_DATABASE."))
    from hitl_tui.policy.approvers import ApproverFile
    from hitl_tui.supervisor.database_doctor import examine, own_approvers

    findings = [*examine(address), *own_approvers(ApproverFile(job.data).load())]
    if job.arguments.json:
        found = [{"good": one.good, "message": one.text} for one in findings]
        job.out.document({"status": "ok" if all(one.good for one in findings) else "problems", "findings": found})
    else:
        job.out.lines([signs(f"{'✓' if one.good else '✗'} {shown(translate(one.text))}") for one in findings])
    return DONE if all(one.good for one in findings) else FOUND
