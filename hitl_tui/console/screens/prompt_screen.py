"""What the two screens that last have in common: at their foot a line for messages, the prompt and the keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from hitl_tui.console.keyguard.key_targets import KeyScreen
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.services import sessions_of
from hitl_tui.console.widgets.bars import KeyLine, MessageLine
from hitl_tui.console.widgets.prompt_line import Prompt, longest_of
from hitl_tui.language import _, safe_message

if TYPE_CHECKING:
    from hitl_tui.commands.completion import Completion
    from hitl_tui.console.services import SessionConsole


class PromptScreen(KeyScreen[None]):
    """A screen that is not built anew each time: the first one, or that of a session."""

    AUTO_FOCUS = "#prompt"

    @property
    def hitl(self) -> SessionConsole:
        """The app."""
        return sessions_of(self.app)

    def foot(self, invitation: str) -> ComposeResult:
        """Yield the rows at the foot.

        Args:
            invitation: what stands in the prompt while nothing is typed.
        """
        yield MessageLine(id="message")
        with Horizontal(id="prompt-row"):
            yield Static(Content(" › "), id="prompt-mark")
            yield Prompt(invitation, id="prompt")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        prompt = self.query_one(Prompt)
        prompt.past = self.hitl.memory.lines
        prompt.completer = self.completions
        self.hitl.say_now(self)
        self.set_focus(prompt)
        self.hitl.keyboard.take_early()

    def completions(self, line: str, cursor: int) -> Sequence[Completion]:
        """Return how a line can go on at a place; nothing where a screen knows nothing."""
        return ()

    def usage(self, text: str) -> str:
        """Return what is said about a line while it is typed; nothing where a screen knows nothing."""
        return ""

    def say(self, text: str, *, error: bool = False, passing: bool = False) -> None:
        """Show one safe line above the prompt; one that is `passing` goes with the next thing that happens."""
        for line in self.query(MessageLine):  # none at the very end
            line.say(text, error=error, passing=passing)

    def keep(self, text: str, *, error: bool = True) -> None:
        """Show a safe line above the prompt until somebody presses a key."""
        for line in self.query(MessageLine):
            line.keep(text, error=error)

    def draft(self, text: str) -> None:
        """Put a text into the prompt, unless something is typed there, or it is longer than it takes; go there."""
        prompt = self.query_one(Prompt)
        if not prompt.text and len(text) <= longest_of(text):
            prompt.text = text
            prompt.move_cursor(prompt.document.end)
        self.set_focus(prompt)

    def typed_command(self, line: str) -> bool:
        """Carry a command that only looks out at once; one that may change something goes to the prompt first.

        Words that a pane is searched for may be a command's name, too.
        """
        from hitl_tui.commands.spec import registry

        known, words = registry(), line.removeprefix("/").split()
        spec = next((known[name] for n in (2, 1) if (name := " ".join(words[:n])) in known), None)
        prompt = self.query_one(Prompt)
        if spec is None:
            return False
        if spec.changes or spec.local:
            if prompt.text:  # what is written there stays
                return False
            self.draft(line)
            self.say(keymap_of(self.app).named(_("Not sent yet: {prompt.send} sends it.")), passing=True)
        else:
            prompt.post_message(Prompt.Sent(line))
        return True

    def to_prompt(self) -> None:
        """Go to the prompt."""
        self.set_focus(self.query_one(Prompt))

    def on_prompt_too_long(self, event: Prompt.TooLong) -> None:
        said = _("That is {length:,} characters; at most {most:,} can be used.")
        if event.lines:
            said = _("That is {length:,} lines; at most {most:,} can be used.")
        if event.pasted:
            said = f"{said} {_('Nothing was pasted.')}"
        self.say(said.format(length=event.length, most=event.most), error=True)

    def on_prompt_choices(self, event: Prompt.Choices) -> None:
        from hitl_tui.console.local_commands import choices_shown

        self.query_one(MessageLine).hint(choices_shown(event.found))

    def on_text_area_changed(self, event: Prompt.Changed) -> None:
        prompt, text = self.query_one(Prompt), event.text_area.text
        said: str = safe_message(self.usage(text), multiline=False)
        if not said and text.startswith("/") and prompt.completer is not None and "\n" not in text:
            from hitl_tui.console.local_commands import choices_shown

            said = choices_shown(prompt.completer(text, len(text)))
        if not said and text.endswith("\n") and text.strip():  # Enter came in a burst, as a paste does
            said = keymap_of(self.app).named(_("Not sent yet: {prompt.send} sends it."))
        self.query_one(MessageLine).hint(said)
