"""Administering sessions from inside the console: what is asked, and what is said once it is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from hitl_tui.config.paths import given_path
from hitl_tui.console.dialogs.prompt_dialogs import LineDialog, TypedConfirmation
from hitl_tui.console.widgets.answer_pane import AnswerPane
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, translate

if TYPE_CHECKING:
    from hitl_tui.console.services import SessionConsole
    from hitl_tui.supervisor.admin import Done

SUFFIX = ".hitl"
_TO_READ = ".md"
_MOST_NAMES = 1000
_LONGEST = 2_000


async def keep(app: SessionConsole, what: str, session_id: str, given: str = "") -> None:
    """Administer a session; what is missing is asked for.

    Args:
        app: the console.
        what: `rename`, `fork`, `export`, `import` or `delete`.
        session_id: the session; not needed to import.
        given: title, file or, to delete, the id once more, when it was written with the command.

    Raises:
        HitlError: it can't be done; nothing changed.
    """
    if what == "import":
        await _import(app, given)
    elif not session_id:
        raise BadInput(Message("No session at the cursor."))
    elif what == "rename":
        await _rename(app, session_id, given)
    elif what == "fork":
        await _fork(app, session_id)
    elif what == "export":
        await _export(app, session_id, given)
    elif what == "delete":
        await _delete(app, session_id, given)


async def _rename(app: SessionConsole, session_id: str, given: str) -> None:
    name, admin = safe_text(session_id, multiline=False), await app.engine.admin()
    before = one_line((await admin.summary(session_id)).title, _LONGEST)
    title = given or await _asked(
        app, LineDialog(_("Rename {name}").format(name=name), Content(_("Its new title:")), _("Rename"), before)
    )
    if title is None or title == before:
        return
    done = await admin.rename(session_id, title, by=app.options.by)
    app.sessions.renamed(session_id, done.session.title)
    _tell(app, done, session_id)


async def _fork(app: SessionConsole, session_id: str) -> None:
    name, admin = safe_text(session_id, multiline=False), await app.engine.admin()
    said = "\n".join(
        [
            _("Another session starts from where {session} is now; it asks the same questions.").format(session=name),
            _("You'll be asked before any side effect is repeated."),
            _("Nothing runs by forking.") + " " + _("Its title:"),
        ]
    )
    before = one_line((await admin.summary(session_id)).title, _LONGEST)
    title = await _asked(app, LineDialog(_("Fork {name}").format(name=name), Content(said), _("Create"), before))
    if title is not None:
        title = title if title != before else ""
        done = await admin.fork(session_id, title=title, by=app.options.by, channel="console")
        _tell(app, done, done.session.id)


async def _export(app: SessionConsole, session_id: str, given: str) -> None:
    name = safe_text(session_id, multiline=False)
    suffix = _TO_READ if isinstance(app.screen.focused, AnswerPane) else SUFFIX
    whole = [
        _("One file with checkpoints, results and decisions, that opens on another machine."),
        _("Ending in .md or .json: the answer and the plan, to read."),
    ]
    to_read = [
        _("The answer and the plan, to read; .json has them for a program."),
        _("Ending in .hitl: the whole session, to open on any machine."),
    ]
    said = "\n".join([*(to_read if suffix == _TO_READ else whole), _("Existing files are never overwritten.")])
    free = str(_free_name(session_id, suffix, app.options.workspace))
    text = given or await _asked(
        app, LineDialog(_("Export {name}").format(name=name), Content(said), _("Export"), free)
    )
    if text is None:
        return
    path = path_of(text)
    if not given and not path.suffix:  # the dialog said what is written
        path = path.with_name(path.name + suffix)
    _tell(app, await (await app.engine.admin()).export(session_id, path), session_id)


async def _import(app: SessionConsole, given: str) -> None:
    said = _("A file that an export wrote, here or on another machine. It is checked first; nothing is executed.")
    text = given or await _asked(app, LineDialog(_("Import a session"), Content(said), _("Import"), f"{Path.cwd()}/"))
    if text is None:
        return
    done = await (await app.engine.admin()).import_(path_of(text), by=app.options.by)
    _tell(app, done, done.session.id)


async def _delete(app: SessionConsole, session_id: str, again: str) -> None:
    from hitl_tui.commands.session_commands import removal_words

    name = safe_text(session_id, multiline=False)
    removal = await (await app.engine.admin()).removal(session_id)
    here = app.engine.holds(session_id)
    if removal.summary.owned and not here:
        raise BadInput(Message("Another process has session {} open, so it can't be deleted now.", session_id))
    lines: list[str] = [one_line(translate(removal_words(removal)), _LONGEST)]
    if here:
        lines.append(_("It is open here: what runs in it is stopped first."))
    lines.append(_("Type {name} to delete it:").format(name=name))
    said = Content("\n".join(lines))
    dialog = TypedConfirmation(_("Delete {name}").format(name=name), said, _("Delete"), session_id)
    if (again or await _asked(app, dialog)) != session_id:
        app.say(_("Nothing was deleted."))
        return
    _tell(app, await app.engine.delete(session_id, app.sessions.forget), "")


async def _asked(app: SessionConsole, dialog: LineDialog | TypedConfirmation) -> str | None:
    return await app.push_screen_wait(dialog)


def _tell(app: SessionConsole, done: Done, at: str) -> None:
    """Say what was done, and list the sessions anew with the cursor at one."""
    from hitl_tui.commands.session_commands import result_of

    app.say(one_line(translate(result_of(done).message), _LONGEST))
    app.sessions.list_all(at)


def path_of(text: str) -> Path:
    """Return the path that was typed: `~` is the home folder, quotes around it don't count.

    Raises:
        BadInput: no file can be called that.
    """
    return given_path(text.strip().strip("\"'"))


def _free_name(session_id: str, suffix: str, workspace: Path | None) -> Path:
    """Return the name of a file that isn't there, in the folder that the console was given or started in."""
    folder = (workspace or Path.cwd()).expanduser().resolve()
    names = [f"{session_id}{suffix}", *(f"{session_id}-{n}{suffix}" for n in range(2, _MOST_NAMES))]
    return next((folder / name for name in names if not (folder / name).exists()), folder / names[0])
