"""`hitl-tui starter`: the examples to begin with. Often what is typed first, so the engine isn't loaded for it."""

from __future__ import annotations

from hitl_tui.cli.job import Job
from hitl_tui.config.starters import Starter, new_copy, starters
from hitl_tui.core.errors import UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import language
from hitl_tui.wording.text_lines import shown, table

DONE = 0


def starter(job: Job) -> int:
    """List the starters, or make one's folder and print where it is; return the exit code.

    Raises:
        UnknownName: there is no starter of that name.
        StorageError: its folder can't be made.
    """
    arguments, out = job.arguments, job.out
    known = starters()
    if not arguments.name:
        if arguments.json:
            out.document(
                {"status": "ok", "message": f"{len(known)} starters.", "starters": [_listed(s) for s in known]}
            )
        else:
            out.lines(table([(s.key, s.in_language(language()).title) for s in known]))
        return DONE
    found = next((s for s in known if s.key == arguments.name), None)
    if found is None:
        names = ", ".join(s.key for s in known)
        raise UnknownName(Message('No starter "{}"; known: {}.', one_line(arguments.name, 40), names))
    folder = new_copy(found, job.data)
    if arguments.json:
        about = {"name": found.key, "workspace": str(folder), "title": found.title, "question": found.question}
        out.document({"status": "made", "message": Message("{} is in {}.", found.key, folder), **about})
    else:
        out.lines([shown(str(folder))])
    return DONE


def _listed(one: Starter) -> dict[str, str]:
    return {"name": one.key, "title": one.title, "description": one.description, "question": one.question}
