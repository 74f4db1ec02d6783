"""Who decides with a token, which is typed unseen at the terminal and counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from hitl_tui.console.dialogs.prompt_dialogs import LineDialog
from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.messages import Message
from hitl_tui.core.requests import Request, needs_verified
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, safe_message

if TYPE_CHECKING:
    from hitl_tui.console.services import SessionConsole
    from hitl_tui.core.identity import Identity


async def approver_by_token(app: SessionConsole, name: str) -> Identity | None:
    """Return the approver whose token is typed now; None when nobody types one.

    Raises:
        Refused: it isn't theirs.
        BadInput: this isn't a terminal.
    """
    operator = app.options.operator
    if operator is None or app.is_web:
        raise BadInput(
            Message("A token is only taken at a terminal; open the session there, or give it with hitl-tui do.")
        )
    said = Content(_("Their token isn't shown. It counts for this one command."))
    title = _("Token of {name}").format(name=safe_text(name, multiline=False))
    token = await app.push_screen_wait(LineDialog(title, said, _("decides"), hidden=True))
    return operator.by_token(name, token) if token else None


async def other_approver(app: SessionConsole, request: Request, refused: Refused) -> Identity:
    """Return an approver who decides instead of somebody who may not, or did already.

    Raises:
        Refused: no other one could, or none is named.
    """
    others = needs_verified(request.terms) and refused.reason in ("not_allowed", "repeated")
    if not others or app.options.operator is None or app.is_web:
        raise refused
    said = Content(f"{safe_message(refused.message)}\n{_('Who decides with a token of their own?')}")
    name = await app.push_screen_wait(LineDialog(_("Decide as another approver"), said, _("asks for the token")))
    who = await approver_by_token(app, name) if name else None
    if who is None:
        raise refused
    return who
