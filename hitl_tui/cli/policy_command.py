"""`hitl-tui policy check`: rules of a folder's hitl.toml that nobody here can satisfy."""

from __future__ import annotations

from hitl_tui.cli.job import Job
from hitl_tui.cli.settings import existing_workspace
from hitl_tui.config.loader import FILE_NAME, content_of, parse_content
from hitl_tui.language import _, render
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
        message = f"There is no {FILE_NAME} in {folder}: nothing to check."
    elif not found:
        count = len(config.policy.rules)
        message = f"{count} rule{'' if count == 1 else 's'} checked: all can be satisfied."
    else:
        count = len(found)
        message = f"{count} rule{'' if count == 1 else 's'} can't be satisfied by anybody here."
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
                file=shown(str(where)), line=one.line, rule=one.rule, what=shown(render(one.message))
            )
            for one in found
        ]
        out.lines([*lines, shown(render(message))])
    return FOUND if found else NOTHING
