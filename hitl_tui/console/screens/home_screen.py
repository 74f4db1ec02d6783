"""The first screen: what this is, what to begin with, which sessions there are."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus, Key, Resize, ScreenResume
from textual.widgets import DataTable, OptionList, Static
from textual.widgets.option_list import Option

from hitl_tui.config.model_settings import NONE, VARIABLE
from hitl_tui.console import keys
from hitl_tui.console.screens.prompt_screen import PromptScreen
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine
from hitl_tui.console.widgets.layout import above, is_wide, page
from hitl_tui.console.widgets.lists import Choices
from hitl_tui.console.widgets.prompt_line import Prompt
from hitl_tui.console.widgets.text_search import keys_for_search
from hitl_tui.console.workers import work_on
from hitl_tui.core.errors import HitlError
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, ngettext, safe_message, translate
from hitl_tui.wording.error_lines import error_line
from hitl_tui.wording.status_words import RISK_WORDS
from hitl_tui.wording.times import MODE_ORDER, MODES, mode_words, padded, safety_words

if TYPE_CHECKING:
    from hitl_tui.commands.completion import Completion
    from hitl_tui.console.widgets.session_table import SessionTable
    from hitl_tui.policy.workspace_trust import WorkspaceTrust
    from hitl_tui.supervisor.session_summary import SessionSummary

_LARGEST = 1_000_000
"""Bytes of a file up to which it is looked at for its mode."""
_NUMBER, _LABEL = 3, 11
"""Cells before a starter's words, and before those of what a new session begins with."""


class HomeScreen(PromptScreen):
    """Starters, sessions and what new sessions begin with."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.HOME)]

    def __init__(self) -> None:
        super().__init__()
        self.VERTICAL_BREAKPOINTS = []  # width and height count together here, see `_wide`
        self._table: SessionTable | None = None
        self._width = 0
        self._seen = False
        self._declared = ""
        self._declares = False
        self._unsatisfiable: tuple[str, ...] = ()
        self._trust: WorkspaceTrust | None = None
        self._model = os.environ.get(VARIABLE, "")
        self._large = 0
        self._offered = ""

    def compose(self) -> ComposeResult:
        # Known before the first layout, so that the first frame is the one that stays.
        self.set_class(self._wide, "-wide", update=False)
        self._width = self.app.size.width
        yield HeaderBar(id="header")
        with VerticalScroll(id="home", can_focus=False) as home, Vertical(id="home-page"):
            home.styles.padding = self._margins
            yield Static(id="home-what", markup=False)
            yield Static(Content(_("Begin with")), classes="home-title", id="starters-title")
            yield Choices(*self._options(), id="starters", markup=False, compact=True)
            yield Static(Content(_("Sessions")), classes="home-title", id="sessions-title")
            yield Static("", id="home-facts", markup=False)
        wanted = _("your question or job, or the number of a starter")
        yield from self.foot(_("the graph's input: JSON or words") if self.hitl.options.attached else wanted)

    def _options(self) -> list[Option]:
        """Return the starters, each with what it does beneath where there is room."""
        rows = []
        for number, starter in enumerate(self.hitl.starters, start=1):
            title = self._numbered(number, f"{number}  {safe_text(starter.title, multiline=False)}")
            said = self._hanging(Content(safe_text(starter.description, multiline=False)))
            below = Content.assemble("\n" + " " * _NUMBER, said.stylize("$text-muted")) if self._wide else Content("")
            rows.append(title + below)
        own = _("{n}  Ask about your own folder: {folder}").format(n=len(rows) + 1, folder=self._folder())
        if self._offered:
            own = _("{n}  Search here: {folder}").format(n=len(rows) + 1, folder=self._folder())
        if self.hitl.options.attached is not None:
            name = safe_text(self.hitl.options.attached.graph.name, multiline=False)
            own = _("{n}  Give {graph} its input, in the line below").format(n=len(rows) + 1, graph=name)
        rows.append(self._numbered(len(rows) + 1, own))
        return [Option(row) for row in rows]

    def _numbered(self, number: int, text: str) -> Content:
        """Return a line that begins with its number, which is what is typed."""
        return self._hanging(Content(text).stylize("bold $text-primary", 0, len(str(number))))

    def _hanging(self, text: Content) -> Content:
        """Return a line of the starters, what has no room in it under its beginning."""
        return Content("\n" + " " * _NUMBER).join(text.wrap(self._room - _NUMBER, overflow="fold"))

    @property
    def _room(self) -> int:
        """Cells of a line."""
        return max(_NUMBER + 12, page(self.app.size))

    @property
    def _margins(self) -> tuple[int, int, int, int]:
        return above(self.app.size), 2, 0, 2

    @property
    def _wide(self) -> bool:
        return is_wide(self.app.size)

    def _folder(self) -> str:
        return safe_text(str(self.hitl.workspace), multiline=False)

    def on_mount(self) -> None:
        title = self.query_one("#sessions-title", Static)
        title.display = bool(self.hitl.memory.known.session)  # there was one; a list of many takes a while
        title.update(Content(_("Looking for sessions…")))
        self.app.theme_changed_signal.subscribe(self, lambda theme: self._recoloured())
        self._look_for_file()
        self._facts()
        self._show_keys()

    def on_resize(self, event: Resize) -> None:
        self.query_one("#home").styles.padding = self._margins
        if self.has_class("-wide") is not self._wide or self._width != self.app.size.width:
            self.set_class(self._wide, "-wide")
            self._offer()
        if self._width != self.app.size.width:
            self._width = self.app.size.width
            self._facts()
            if self._table is not None:
                self._table.show(self._table.known)

    def _recoloured(self) -> None:
        self._offer()
        self._facts()

    def _offer(self) -> None:
        """List the starters anew, with other line breaks or colours."""
        starters = self.query_one("#starters", OptionList)
        chosen = starters.highlighted
        starters.clear_options().add_options(self._options())
        starters.highlighted = chosen

    async def on_screen_resume(self, event: ScreenResume) -> None:
        if not self._seen:
            self._seen = True
            event.refresh_styles = False  # all was styled a moment ago, when it was mounted
            # What was typed already is to stand in the first frame: the app hands it on, then the prompt takes it.
            for __ in range(2):
                await asyncio.sleep(0)
        self.hitl.sessions.list_all(self.hitl.sessions.opened)

    def _facts(self) -> None:
        rows = [
            (_("workspace"), self._folder()),
            (_("model"), self._model_said()),
            (_("mode"), self._mode_said()),
            (_("theme"), _("{name}  (/theme changes it)").format(name=self.app.theme)),
        ]
        if self._large:
            said = _("{n:,} files, not indexed yet: /index does it now, else the first search you approve")
            rows.insert(1, (_("search"), said.format(n=self._large)))
        rows += [(_("policy"), translate(said)) for said in self._unsatisfiable]
        attached = self.hitl.options.attached
        if attached is not None:
            takes = _("takes {shape}").format(shape=attached.takes)
            about = [(_("graph"), f"{attached.graph.name}  ({attached.graph.target})"), (_("input"), takes)]
            rows = [*about, *((_("note"), note) for note in attached.notes), *rows]
            rows = [(label, safe_text(text, multiline=False)) for label, text in rows]
        if self._trust is not None and self._trust.asks:
            rows.insert(1, (_("trust"), self._trust_said(self._trust)))
        room = max(12, self._room - _LABEL)
        below = "\n" + " " * _LABEL
        wrapped = [
            (label, below.join(x.plain for x in Content(text).wrap(room, overflow="fold"))) for label, text in rows
        ]
        parts = [p for label, text in wrapped for p in ((padded(label, _LABEL), "$text-muted"), (f"{text}\n", ""))]
        self.query_one("#home-facts", Static).update(Content.assemble(*parts))
        safety = safety_words(self.mode)
        said = _("Agents propose steps. {safety}.").format(safety=safety[:1].upper() + safety[1:])
        self.query_one("#home-what", Static).update(Content(said))
        self.query_one(HeaderBar).mode = mode_words(self.mode)

    @property
    def mode(self) -> str:
        """The mode that new sessions get; empty where only the workspace's file tells, and can't be read."""
        if not self.hitl.mode and self._trust is not None and not self._trust.trusted:
            return MODE_ORDER[0]
        return self.hitl.mode or self._declared

    def _mode_said(self) -> str:
        if self.mode not in MODES:
            return _("as the workspace says")
        said = _("{mode}  ({console.mode} changes it)")
        if not self.hitl.mode and self._declares and (self._trust is None or self._trust.trusted):
            said = _("{mode}  (as hitl.toml says; {console.mode} changes it)")
        return self.hitl.keymap.named(said).format(mode=mode_words(self.mode))

    def _model_said(self) -> str:
        if self._model in ("", NONE):
            return _("none: built-in search and arithmetic. To use one: {variable}=openai:gpt-5-mini").format(
                variable=VARIABLE
            )
        return safe_message(self._model, multiline=False)

    def _look_for_file(self) -> None:
        """See whether the workspace has a file that declares a mode; it is read once there is something to see."""
        file = self.hitl.workspace / "hitl.toml"
        try:
            self._declares = file.exists()
        except OSError:
            self._declares = True  # whoever opens it will say why it can't be read
        if self._declares:
            self.call_after_refresh(self._read_mode, file)
            work_on(self, self._check_policy, group="policy")
        else:
            self._declared = MODE_ORDER[0]

    def _read_mode(self, file: Path) -> None:
        defaults = declared_defaults(file)
        self._declared = _mode_of(defaults)
        self._declares = defaults is None or "mode" in defaults
        self._facts()

    async def _check_policy(self) -> None:
        """Show the rules of the workspace that nobody here can satisfy."""
        from hitl_tui.policy.approvers import ApproverFile
        from hitl_tui.policy.rule_check import folder_problems

        approvers = ApproverFile(self.hitl.options.data).current
        self._unsatisfiable = await asyncio.to_thread(folder_problems, self.hitl.workspace, approvers)
        if self._unsatisfiable:
            self._facts()

    def show_trust(self, trust: WorkspaceTrust) -> None:
        """Say what the workspace wants and may not, and show the mode that counts there."""
        if trust != self._trust:
            self._trust = trust
            self._facts()

    def show_model(self, name: str) -> None:
        """Say which model sessions begin with; an empty name for none."""
        if name != self._model:
            self._model = name
            self._facts()

    def _trust_said(self, trust: WorkspaceTrust) -> str:
        """Return what an untrusted workspace wants, counted by risk, and that it is asked about."""
        counted = Counter(want.risk.value for want in trust.wants)
        each = _("{n} {risk}")
        said = ", ".join(each.format(n=counted[r], risk=_(words)) for r, words in RISK_WORDS.items() if counted[r])
        head = _("the settings changed since you trusted them") if trust.changed else _("not trusted yet")
        asked = _("you are asked when a session starts here")
        return " · ".join(filter(None, (head, _("wants {what}").format(what=said) if said else "", asked)))

    def ask_for_index(self, files: int) -> None:
        """Say that a folder of so many files waits for a person's word to be indexed; 0 for one that doesn't."""
        if files != self._large:
            self._large = files
            self._facts()

    def mode_changed(self) -> None:
        """Show the mode that new sessions get."""
        self._facts()

    # Sessions ----------------------------------------------------------------------------------------------------

    @property
    def known(self) -> Sequence[SessionSummary]:
        """The sessions there are, newest first, as far as they are known yet."""
        return self._table.known if self._table is not None else ()

    @property
    def chosen(self) -> str:
        """Id of the session at the cursor; empty when there is none."""
        return self._table.selected if self._table is not None else ""

    async def show_sessions(self, sessions: Sequence[SessionSummary], at: str = "") -> None:
        """Show these sessions, newest first.

        Args:
            sessions: all there are, newest last.
            at: the one to put the cursor on; empty to leave it.
        """
        if self._table is None:
            if not sessions:
                self.query_one("#sessions-title", Static).display = False
                return
            from hitl_tui.console.widgets.session_table import SessionTable

            self._table = SessionTable(id="sessions")
            await self.mount(self._table, before="#home-facts")
        self._table.show(sessions[::-1], at)
        self._table.display = self.query_one("#sessions-title", Static).display = bool(sessions)
        if not sessions and self.focused is None:
            self.to_prompt()
        self._show_found()
        self._show_keys()

    def to_sessions(self) -> None:
        """Go to the list of all sessions, where there is one; else to the prompt."""
        if self._table is not None and self._table.known:
            self._table.forget()
            self.set_focus(self._table)
        else:
            self.to_prompt()

    def take_texts(self, words: str, texts: Mapping[str, Mapping[str, str]], unread: int) -> None:
        """Show the sessions whose questions, steps or answers have words, where those are looked for still."""
        if self._table is not None and self._table.finding.text == words:
            self._table.take_texts(texts, unread)
            self._show_found()

    def inbox(self, waiting: int) -> None:
        """Show how many questions wait, of sessions and of agents' tasks."""
        needs = ngettext("● {n} needs you", "● {n} need you", waiting).format(n=waiting)
        self.query_one(HeaderBar).status = needs if waiting else ""

    def seek(self, words: str) -> None:
        """Show the sessions that have these words, and go to them."""
        if self._table is None or not self._table.known:
            self.say(_("No sessions yet."))
            return
        self._table.look_for(words)
        self.set_focus(self._table)

    def _show_found(self) -> None:
        if self._table is None:  # they are looked for yet
            return
        found = self._table.found
        keymap = self.hitl.keymap
        how = _("Sessions ({part})") if self._at_starters else _("Sessions ({part} twice)")
        how = how.format(part=keymap.shown("home.part"))
        if self.focused is self._table:
            how = _("Sessions · {find} finds words in questions, steps and answers").format(
                find=keymap.shown("sessions.find")
            )
        said = Content.assemble(_("Sessions"), "  ", found) if found.plain else Content(how)
        self.query_one("#sessions-title", Static).update(said)

    def on_session_table_sought(self, event: SessionTable.Sought) -> None:
        event.stop()
        self._show_found()
        if self._table is not None:
            self.hitl.sessions.look_through(self._table.finding.text)

    def on_session_table_wanted(self, event: SessionTable.Wanted) -> None:
        event.stop()
        if event.what == "leave":
            self.to_prompt()
        else:
            self.hitl.sessions.keep(event.what, event.session_id)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        self._show_keys()
        self._show_found()

    @property
    def _at_starters(self) -> bool:
        return self.focused is not None and self.focused.id == "starters"

    def on_search_input_search_changed(self) -> None:
        self._show_keys()

    def on_key(self, event: Key) -> None:
        """Go to the starter that a number names, as a number in the prompt would choose it."""
        listed = self.query_one("#starters", OptionList)
        here = self._at_starters or (self._table is not None and self.focused is self._table)
        if here and event.character in set(map(str, range(1, listed.option_count + 1))):
            event.stop()
            event.prevent_default()
            listed.highlighted = int(event.character or 0) - 1
            self.set_focus(listed)

    def _show_keys(self) -> None:
        table = self._table
        if table is not None and self.focused is table:
            own = list(keys_for_search(table, keys.of(keys.SESSIONS, line=True)))
        elif self._at_starters:
            own = [
                *(s for s in keys.of(keys.LIST) if s.id == "list.choose"),
                *keys.of(keys.HOME, line=True),
            ]
        else:
            own = [s for s in keys.of(keys.PROMPT, line=True) if s.id != "prompt.complete"]
            own = [*own[:1], *keys.of(keys.HOME, line=True)[:1], *own[1:]]
        self.query_one(KeyLine).show([*own, *keys.of(keys.ANYWHERE, line=True)])

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        event.stop()
        text = event.text
        prompt = self.query_one(Prompt)
        if text.isascii() and text.isdigit() and 1 <= int(text) <= len(self.hitl.starters) + 1:
            self._begin_with(int(text) - 1)
            return
        prompt.sent(text)
        self.hitl.memory.keep_lines()
        if text.startswith("/"):
            self._command(text)
        elif any(text == session.id for session in self.known):
            self.hitl.sessions.open(text)
        elif self.hitl.options.attached is None and _calls_for_help(text):
            self.hitl.action_help()
        elif self._offers_starters(text):
            self._offered = text
            self._show_offer()
            self.draft(text)
            self.query_one("#starters", OptionList).highlighted = self._starter_for(text)
            self.set_focus(self.query_one("#starters"))
            said = _("Not asked yet: this folder is hitl-tui's own source. {list.choose} takes the marked line.")
            self.say(self.hitl.keymap.named(said))
        else:
            self._search_here(text)

    def _offers_starters(self, text: str) -> bool:
        """Whether starters come before a search: this program's own source says much of them, and answers nothing."""
        from hitl_tui.config.starters import is_own_source

        if self._offered == text or self.query_one(Prompt).text or self.hitl.options.attached is not None:
            return False
        return bool(self.hitl.starters) and is_own_source(self.hitl.workspace)

    def _starter_for(self, text: str) -> int:
        """Return the place of the starter that asks this, in whichever language; the one of this folder for none."""
        asked = " ".join(text.casefold().split())
        for place, starter in enumerate(self.hitl.starters):
            if any(asked == " ".join(words.question.casefold().split()) for words in starter.words.values()):
                return place
        return len(self.hitl.starters)

    def _show_offer(self) -> None:
        said = _("Begin with")
        if self._offered:
            said = _("This folder is hitl-tui's own source. Starters bring documents to ask about:")
        self.query_one("#starters-title", Static).update(Content(said))
        self._offer()

    def _search_here(self, text: str) -> None:
        if self._offered:
            self._offered = ""
            self._show_offer()
        self.hitl.sessions.begin(text)

    def _command(self, text: str) -> None:
        """Carry out a command that needs no session."""
        from hitl_tui.commands.parser import parse
        from hitl_tui.console.local_commands import OWN, carry_out

        try:
            parsed = parse(text)
        except HitlError as error:
            self.say(error_line(error), error=True)
            return
        if parsed.spec.name in OWN:
            carry_out(self.hitl, parsed)
        elif parsed.spec.name == "help":
            self.hitl.action_help(commands=True)
        else:
            said = _("Open or start a session first; commands work there. {console.help} lists them.")
            self.say(self.hitl.keymap.named(said), error=True)

    def completions(self, line: str, cursor: int) -> Sequence[Completion]:
        from hitl_tui.commands.completion import complete
        from hitl_tui.console.local_commands import OWN

        found = complete(line, cursor, sessions=self.known[::-1])
        return [c for c in found if not c.text.startswith("/") or c.text[1:] in {*OWN, "help"}]

    def usage(self, text: str) -> str:
        if not text.startswith("/"):
            return ""
        from hitl_tui.commands.completion import usage_hint

        return usage_hint(text)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._begin_with(event.option_index)

    def _begin_with(self, index: int) -> None:
        if index < len(self.hitl.starters):
            self.hitl.sessions.begin_starter(self.hitl.starters[index])
        elif self._offered:
            prompt = self.query_one(Prompt)
            if prompt.text == self._offered:
                prompt.text = ""
            self._search_here(self._offered)
        else:
            self.to_prompt()
            if self.hitl.options.attached is None:
                self.say(_("Type what you want to know or have done in {folder}.").format(folder=self._folder()))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        if self.chosen:
            self.hitl.sessions.open(self.chosen)

    def action_next_part(self, by: int = 1) -> None:
        table = ["#sessions"] if self._table is not None and self._table.display else []
        parts = ["#prompt", "#starters", *table]
        here = f"#{self.focused.id}" if self.focused is not None else ""
        following = parts[(parts.index(here) + by) % len(parts)] if here in parts else parts[0]
        self.set_focus(self.query_one(following))  # at once: another key may follow

    def on_prompt_left(self, event: Prompt.Left) -> None:
        """Go to what stands below the prompt; to the sessions, where one of them is open."""
        event.stop()
        listed = self._table is not None and self._table.display and self.hitl.sessions.opened
        self.set_focus(self.query_one("#sessions" if listed else "#starters"))

    def action_back(self) -> None:
        if self.focused is not None and self.focused.id == "prompt":
            self.hitl.sessions.back()
        else:
            self.to_prompt()


def declared_defaults(path: Path) -> Mapping[str, object] | None:
    """Return what a `hitl.toml` declares for new sessions; None where it can't be read, or is in error.

    The engine reads the whole file and says what is wrong with it; here nothing heavy is imported.
    """
    import tomllib

    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        declared = tomllib.loads(path.read_text(encoding="utf-8")).get("defaults", {})
    except (OSError, ValueError, RecursionError):
        return None
    return declared if isinstance(declared, dict) else None


def _mode_of(defaults: Mapping[str, object] | None) -> str:
    mode = str(defaults.get("mode", MODE_ORDER[0])) if defaults is not None else ""
    return mode if mode in MODE_ORDER else ""


def _calls_for_help(text: str) -> bool:
    from hitl_tui.planning.replies import calls_for_help

    return calls_for_help(text)
