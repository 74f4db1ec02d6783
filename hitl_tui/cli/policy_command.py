"""`hitl-tui policy check`: rules of a folder's hitl.toml that nobody here can satisfy."""

from __future__ import annotations

from hitl_tui.cli.job import Job
from hitl_tui.cli.settings import existing_workspace
from hitl_tui.config.loader import FILE_NAME, content_of, parse_content
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.language import _, translate
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.rule_check import unsatisfiable
from hitl_tui.wording.text_lines import shown

NOTHING, FOUND = 0, 1


def policy(job: Job) -> int:
    """Name the rules that nobody can satisfy; return the exit code.

    Raises:
        BadInput: there is no such folder, or a file can't be used.
    """
    arguments, out = job.arguments, job.out
    folder = existing_workspace(arguments.workspace)
    content = content_of(folder / FILE_NAME)
    config = parse_content(content)
    approvers = ApproverFile(job.data).load()
    text = content.decode("utf-8-sig") if content else ""
    found = unsatisfiable(config.policy, approvers, text)
    where = folder / FILE_NAME
    if content is None:
        message = Message("No {} in {}: nothing to check.", FILE_NAME, folder)
    elif not found:
        count = len(config.policy.rules)
        message = counted_message(
            "{} rule checked: all can be satisfied.", "{} rules checked: all can be satisfied.", count
        )
    else:
        count = len(found)
        message = counted_message(
            "{} rule can't be satisfied by anybody here.", "{} rules can't be satisfied by anybody here.", count
        )
    if arguments.json:
        out.document(
            {
                "status": "findings" if found else "ok",
                "message": message,
                "file": str(where),
                "approvers": [a.to_dict() for a in approvers.people],
                "findings": [one.to_dict() for one in found],
            }
        )
    else:
        lines = [
            _("{file} line {line}, rule {rule}: {what}").format(
                file=shown(str(where)), line=one.line, rule=one.rule, what=shown(translate(one.message))
            )
            for one in found
        ]
        out.lines([*lines, shown(translate(message))])
    return FOUND if found else NOTHING
