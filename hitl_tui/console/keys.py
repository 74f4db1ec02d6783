"""The one key map: bindings, the key line, the help screen and remapping come from here."""

# Annotations aren't postponed here: a named tuple would compile each of them again when it is made.
from collections.abc import Sequence
from typing import NamedTuple

from textual.binding import Binding

from hitl_tui.core.jamo import JAMO


def with_jamo(keys: str) -> str:
    """Return a binding's keys with, for each letter alone or with Ctrl, what a Korean keyboard sends for it.

    Not for text fields: there a jamo is text. Not for capitals either: most of them arrive as the same jamo as their
    small letter, so whatever has one needs another key as well.
    """
    found = []
    for key in keys.split(","):
        found.append(key)
        *modifiers, letter = key.split("+")
        if letter in JAMO and modifiers in ([], ["ctrl"]):
            found.append("+".join([*modifiers, JAMO[letter]]))
    return ",".join(found)


class KeySpec(NamedTuple):
    """One key of the map.

    Args:
        id: unique; keymaps name it.
        where: the part of the map, one of the constants below; `keymap.py` has their titles.
        keys: Textual's names, comma separated; the first is what is shown.
        action: Textual action.
        label: one or two words for the key line.
        help: what it does, for the help screen; it may name keys by id, see `Keymap.named`.
        shown: how the keys read on the screen.
        priority: it works while a text field has the focus.
        line: it stands in the key line as far as there is room; those that come first in `KEYS` go first.
    """

    id: str
    where: str
    keys: str
    action: str
    label: str
    help: str
    shown: str
    priority: bool = False
    line: bool = True


ANYWHERE, SESSION, QUESTION, PLAN, HISTORY, PROMPT = "anywhere", "session", "question", "plan", "history", "prompt"
STREAM = "stream"
ANSWER = "answer"
HOME, INBOX, VIEWER, CONFIRM, QUITTING, WORDS = "home", "inbox", "viewer", "confirm", "quitting", "words"
SESSIONS = "sessions"
READING, REVIEW, ALWAYS, PART, TASK = "reading", "review", "always", "part", "task"
FORM, SAY, CHOOSING, RULES, FINDING = "form", "say", "choosing", "rules", "finding"
REPLAY, HELP, TEXT = "replay", "help", "text"
STEPS = "steps"
STORE = "store"
LIST, TREE = "list", "tree"
MOVE = "move"


def _maximise(part: str) -> KeySpec:
    """Return the key that gives a pane the whole screen."""
    return KeySpec(
        f"{part}.maximise",
        part,
        "plus",
        "screen.maximise",
        "maximise",
        "Give the pane the whole screen, or its place again",
        "+",
    )


def _find(part: str) -> KeySpec:
    """Return the key that begins to look for words in a text."""
    return KeySpec(
        f"{part}.find",
        part,
        "slash",
        "find",
        "find",
        "Find words; {finding.keep} keeps, {finding.forget} clears",
        "/",
    )


KEYS: tuple[KeySpec, ...] = (
    KeySpec("console.help", ANYWHERE, "f1", "help", "help", "All keys and commands", "F1", True),
    KeySpec("console.inbox", ANYWHERE, "f3", "inbox", "inbox", "Everything that waits for you", "F3", True),
    KeySpec("console.mode", ANYWHERE, "f4", "mode", "mode", "Choose when you are asked", "F4", True),
    KeySpec("console.home", ANYWHERE, "ctrl+o", "home", "sessions", "Sessions and starters, and back", "Ctrl+O", True),
    KeySpec(
        "console.where",
        ANYWHERE,
        "f7",
        "where",
        "where am I",
        "Say where you are",
        "F7",
        True,
        line=False,
    ),
    KeySpec(
        "console.palette",
        ANYWHERE,
        "ctrl+p",
        "command_palette",
        "palette",
        "Themes and commands",
        "Ctrl+P",
        True,
        False,
    ),
    KeySpec(
        "console.suspend",
        ANYWHERE,
        "ctrl+z",
        "suspend_process",
        "suspend",
        "Suspend (fg resumes)",
        "Ctrl+Z",
        True,
        False,
    ),
    KeySpec("console.redraw", ANYWHERE, "ctrl+l", "redraw", "redraw", "Redraw the screen", "Ctrl+L", True, False),
    KeySpec(
        "console.stop",
        ANYWHERE,
        "ctrl+c",
        "help_quit",
        "quitting",
        "Show how to quit; ends and decides nothing",
        "Ctrl+C",
        line=False,
    ),
    KeySpec("console.quit", ANYWHERE, "ctrl+q", "quit", "quit", "Quit; sessions can be opened again", "Ctrl+Q", True),
    KeySpec(
        "session.question",
        SESSION,
        "ctrl+g,f2",
        "question",
        "question",
        "To the question, and back to where you were",
        "Ctrl+G",
        True,
    ),
    KeySpec(
        "session.undo",
        SESSION,
        "f8",
        "undo",
        "undo",
        "Undo your last decision if it hasn't started, wherever you are",
        "F8",
        True,
        line=False,
    ),
    KeySpec("session.pane", SESSION, "f6", "next_pane", "pane", "Next pane: Plan, History, Stream, Answer", "F6", True),
    KeySpec(
        "session.pane_back",
        SESSION,
        "shift+f6,f18",
        "next_pane(-1)",
        "pane",
        "Previous pane",
        "Shift+F6",
        True,
        line=False,
    ),
    KeySpec("session.replay", SESSION, "f5", "replay", "replay", "Step through the session's past", "F5", True),
    KeySpec(
        "session.give_up",
        SESSION,
        "escape",
        "give_up",
        "give up",
        "Give up a session for which a model is still making the plan",
        "Esc",
        line=False,
    ),
    KeySpec("question.1", QUESTION, "1,a", "act(1)", "approve", "Approve exactly what is shown", "1 a"),
    KeySpec("question.2", QUESTION, "2,e", "act(2)", "edit", "Edit the input, then approve", "2 e"),
    KeySpec("question.3", QUESTION, "3,r", "act(3)", "reject", "Reject; the reason is asked", "3 r"),
    KeySpec("question.4", QUESTION, "4,s", "act(4)", "skip", "Continue without it", "4 s"),
    KeySpec("question.5", QUESTION, "5,w", "act(5)", "respond", "Answer in words", "5 w"),
    KeySpec("question.6", QUESTION, "6,d,enter", "act(6)", "details", "Show everything, full screen", "6 d Enter"),
    KeySpec(
        "question.7", QUESTION, "7,l", "act(7)", "always", "Allow exactly this from now on; shows the rule first", "7 l"
    ),
    KeySpec("question.results", QUESTION, "8,o", "results", "results", "Show what it works from, whole", "8 o"),
    KeySpec("question.mark", QUESTION, "space", "mark", "mark", "Mark it, to approve several at once", "Space"),
    KeySpec("question.review", QUESTION, "9", "review", "marked", "Review the marked, then approve exactly those", "9"),
    KeySpec("question.next", QUESTION, "down,j", "step(1)", "next", "Next question", "↓ j"),
    KeySpec("question.previous", QUESTION, "up,k", "step(-1)", "previous", "Previous question", "↑ k", line=False),
    KeySpec(
        "question.page_down",
        QUESTION,
        "pagedown",
        "scroll(1)",
        "read on",
        "Read on; approving waits for the end",
        "PgDn",
    ),
    KeySpec("question.page_up", QUESTION, "pageup", "scroll(-1)", "back", "Read back", "PgUp", line=False),
    KeySpec("question.first", QUESTION, "home", "edge(False)", "first", "To the first line", "Home", line=False),
    KeySpec("question.last", QUESTION, "end", "edge(True)", "last", "To the last line", "End", line=False),
    KeySpec("question.skip_why", QUESTION, "b", "skip_why", "skip because", "Continue without it, and say why", "b"),
    KeySpec("question.undo", QUESTION, "0,u", "undo", "undo", "Undo your last decision if it hasn't started", "0 u"),
    KeySpec("question.leave", QUESTION, "escape", "leave", "prompt", "Back to the prompt; decides nothing", "Esc"),
    KeySpec("plan.show", PLAN, "enter", "select_cursor", "show", "Show the step in full, with its result", "Enter"),
    KeySpec("plan.approve", PLAN, "a", "act('approve')", "approve", "Review the marked, or it: then approve", "a"),
    KeySpec("plan.skip", PLAN, "s", "act('skip')", "skip", "Skip the marked, or it, once confirmed", "s"),
    KeySpec("plan.undo", PLAN, "u", "undo", "undo", "Undo its approval, skip or rejection", "u"),
    KeySpec("plan.take_back", PLAN, "0", "undo_last", "undo", "Undo your last decision", "0", line=False),
    KeySpec(
        "plan.find",
        PLAN,
        "slash",
        "find",
        "find",
        "Show only what has these words; {finding.forget} shows all again",
        "/",
    ),
    KeySpec("plan.move_up", PLAN, "K,shift+up", "move(-1)", "move", "Move it up in the order", "K Shift+↑"),
    KeySpec(
        "plan.move_down",
        PLAN,
        "J,shift+down",
        "move(1)",
        "move",
        "Move it down in the order; rows can be dragged, too",
        "J Shift+↓",
    ),
    KeySpec(
        "plan.priority", PLAN, "p", "act('priority')", "priority", "Set the priority of the marked, or of this one", "p"
    ),
    KeySpec(
        "plan.choose",
        PLAN,
        "x,space",
        "choose",
        "mark",
        "Mark it, to act on several; {plan.leave} clears the marks",
        "x Space",
    ),
    KeySpec("plan.remove", PLAN, "d,delete", "act('remove')", "remove", "Remove what never started", "d Del"),
    KeySpec("plan.cancel", PLAN, "c", "act('cancel')", "cancel", "Stop the marked, or it, while they run", "c"),
    KeySpec("plan.steps", PLAN, "t", "steps", "steps", "Its team's own steps: states, differences, restore", "t"),
    KeySpec("plan.filter", PLAN, "f", "filter", "stream", "Show only its lines in the stream, or all again", "f"),
    KeySpec("plan.first", PLAN, "home,g", "scroll_top", "first", "To the first line", "Home g", line=False),
    KeySpec("plan.last", PLAN, "end,G", "scroll_bottom", "last", "To the last line", "End G", line=False),
    _maximise(PLAN),
    KeySpec("plan.leave", PLAN, "escape", "leave", "prompt", "Back to the prompt", "Esc"),
    KeySpec("history.show", HISTORY, "enter", "select_cursor", "show", "Show the checkpoint", "Enter"),
    KeySpec("history.restore", HISTORY, "r", "restore", "restore", "Restore it, after a preview", "r"),
    KeySpec("history.fold", HISTORY, "full_stop", "fold", "engine", "Show or hide the engine's own steps", "."),
    KeySpec("history.first", HISTORY, "home,g", "scroll_top", "first", "To the newest", "Home g", line=False),
    KeySpec("history.last", HISTORY, "end,G", "scroll_bottom", "last", "To the oldest shown", "End G", line=False),
    _maximise(HISTORY),
    KeySpec("history.leave", HISTORY, "escape", "leave", "prompt", "Back to the prompt", "Esc"),
    _find(STREAM),
    KeySpec("stream.next", STREAM, "n", "match(1)", "next", "Next match", "n"),
    KeySpec("stream.previous", STREAM, "p", "match(-1)", "before", "Previous match", "p"),
    KeySpec("stream.copy", STREAM, "y", "copy", "copy", "Copy what is selected, or else what is seen", "y"),
    KeySpec("stream.first", STREAM, "home,g", "scroll_home", "first", "To the first line", "Home g", line=False),
    KeySpec("stream.last", STREAM, "end,G", "scroll_end", "last", "To the newest line", "End G", line=False),
    _maximise(STREAM),
    KeySpec("stream.leave", STREAM, "escape", "leave", "prompt", "Back to the prompt", "Esc"),
    KeySpec("answer.page_down", ANSWER, "space,pagedown", "page_down", "read on", "Read on", "Space PgDn"),
    KeySpec("answer.page_up", ANSWER, "pageup", "page_up", "back", "Read back", "PgUp", line=False),
    KeySpec(
        "answer.export", ANSWER, "e", "want('export')", "export", "Export the session or the answer to a file", "e"
    ),
    KeySpec("answer.source", ANSWER, "o", "want('source')", "open", "Open a cited place at its line", "o"),
    KeySpec("answer.copy", ANSWER, "y", "want('copy')", "copy", "Copy the answer", "y"),
    KeySpec("answer.first", ANSWER, "home,g", "scroll_home", "first", "To the first line", "Home g", line=False),
    KeySpec("answer.last", ANSWER, "end,G", "scroll_end", "last", "To the last line", "End G", line=False),
    _maximise(ANSWER),
    KeySpec("answer.leave", ANSWER, "escape", "want('leave')", "prompt", "Back to the prompt", "Esc"),
    KeySpec("replay.older", REPLAY, "left", "step(-1)", "back", "One checkpoint back", "←", True),
    KeySpec("replay.newer", REPLAY, "right", "step(1)", "forward", "One checkpoint forward", "→", True),
    KeySpec(
        "replay.decision_before",
        REPLAY,
        "left_square_bracket",
        "decision(-1)",
        "earlier",
        "Previous decision",
        "[",
    ),
    KeySpec(
        "replay.decision_after",
        REPLAY,
        "right_square_bracket",
        "decision(1)",
        "later decision",
        "Next decision",
        "]",
    ),
    KeySpec("replay.leave", REPLAY, "escape,f5", "leave", "live", "Back to the session as it is now", "Esc", True),
    KeySpec("replay.pane", REPLAY, "f6", "next_pane", "pane", "Next pane: Plan, History, Moment, State", "F6", True),
    KeySpec(
        "replay.pane_back",
        REPLAY,
        "shift+f6,f18",
        "next_pane(-1)",
        "pane",
        "Previous pane",
        "Shift+F6",
        True,
        line=False,
    ),
    KeySpec("replay.mark", REPLAY, "m", "mark", "mark", "Mark or unmark this checkpoint", "m"),
    KeySpec(
        "replay.fold", REPLAY, "full_stop", "fold", "engine", "Show or hide the engine's own steps", ".", line=False
    ),
    KeySpec("replay.first", REPLAY, "home", "first", "first", "To the first checkpoint", "Home", True),
    KeySpec("replay.last", REPLAY, "end", "last", "last", "To the newest checkpoint", "End", True),
    KeySpec("replay.1", REPLAY, "1", "act(1)", "moment", "The moment: what happened and what changed", "1", line=False),
    KeySpec(
        "replay.2",
        REPLAY,
        "2",
        "act(2)",
        "diff",
        "What differs: from the moment before, from the mark, or between two marks",
        "2",
        line=False,
    ),
    KeySpec("replay.3", REPLAY, "3", "act(3)", "fork", "Start another session from here", "3", line=False),
    KeySpec("replay.4", REPLAY, "4", "act(4)", "restore", "Restore it, after a preview", "4", line=False),
    KeySpec(
        "replay.show", REPLAY, "enter", "select_cursor", "show", "In the plan: show the step with its result", "Enter"
    ),
    KeySpec("steps.view", STEPS, "1", "act(1)", "state", "The state at the step", "1"),
    KeySpec("steps.diff", STEPS, "2", "act(2)", "diff", "What differs from the step before, or from the mark", "2"),
    KeySpec("steps.mark", STEPS, "m", "mark", "mark", "Mark a step to compare with", "m"),
    KeySpec("steps.restore", STEPS, "4", "act(4)", "restore", "Let the team continue from it, after a preview", "4"),
    KeySpec("steps.pane", STEPS, "f6", "next_pane", "pane", "Next pane", "F6", True),
    KeySpec(
        "steps.pane_back",
        STEPS,
        "shift+f6,f18",
        "next_pane(-1)",
        "pane",
        "Previous pane",
        "Shift+F6",
        True,
        line=False,
    ),
    KeySpec("steps.leave", STEPS, "escape", "leave", "back", "Back", "Esc", True),
    KeySpec("store.open", STORE, "enter", "select_cursor", "open", "Show the thread's history and state", "Enter"),
    KeySpec("store.find", STORE, "slash", "find", "find", "Only threads with these words in id or title", "/"),
    KeySpec("store.refresh", STORE, "r", "refresh", "refresh", "Reload the list", "r"),
    KeySpec("store.first", STORE, "home,g", "scroll_top", "first", "To the first line", "Home g", line=False),
    KeySpec("store.last", STORE, "end,G", "scroll_bottom", "last", "To the last line", "End G", line=False),
    KeySpec("store.help", STORE, "question_mark", "app.help", "help", "All keys", "?", line=False),
    KeySpec("store.leave", STORE, "escape", "leave", "all", "Show all threads again", "Esc", line=False),
    KeySpec("prompt.send", PROMPT, "enter", "send", "send", "Send: a command, or a change to the plan", "Enter"),
    KeySpec("prompt.newline", PROMPT, "ctrl+j", "newline", "new line", "New line", "Ctrl+J", line=False),
    KeySpec("prompt.complete", PROMPT, "tab", "complete", "complete", "Complete a command, id or name", "Tab"),
    KeySpec("prompt.older", PROMPT, "up", "older", "history", "Earlier lines ({prompt.newer} later ones)", "↑"),
    KeySpec("prompt.newer", PROMPT, "down", "newer", "later", "Later lines", "↓", line=False),
    KeySpec("home.part", HOME, "f6", "next_part", "next", "Next part: prompt, starters, sessions", "F6", True),
    KeySpec(
        "home.part_back",
        HOME,
        "shift+f6,f18",
        "next_part(-1)",
        "next",
        "Previous part",
        "Shift+F6",
        True,
        line=False,
    ),
    KeySpec("home.back", HOME, "escape", "back", "back", "Back to the prompt, then to the open session", "Esc"),
    KeySpec("sessions.open", SESSIONS, "enter", "select_cursor", "open", "Open the session", "Enter"),
    KeySpec(
        "sessions.find",
        SESSIONS,
        "slash",
        "find",
        "find",
        "Only those with these words; {finding.forget} shows all",
        "/",
    ),
    KeySpec("sessions.rename", SESSIONS, "r", "want('rename')", "rename", "Rename it", "r"),
    KeySpec(
        "sessions.fork",
        SESSIONS,
        "f",
        "want('fork')",
        "fork",
        "Start another session from where it is; nothing runs",
        "f",
    ),
    KeySpec("sessions.export", SESSIONS, "e", "want('export')", "export", "Export it to one file", "e"),
    KeySpec(
        "sessions.import", SESSIONS, "i", "want('import')", "import", "Create a session from an exported file", "i"
    ),
    KeySpec(
        "sessions.delete", SESSIONS, "d,delete", "want('delete')", "delete", "Delete it, once its id was typed", "d"
    ),
    KeySpec("sessions.first", SESSIONS, "home,g", "scroll_top", "first", "To the newest", "Home g", line=False),
    KeySpec("sessions.last", SESSIONS, "end,G", "scroll_bottom", "last", "To the oldest shown", "End G", line=False),
    KeySpec("sessions.leave", SESSIONS, "escape", "leave", "prompt", "Show all again, or back to the prompt", "Esc"),
    KeySpec("inbox.find", INBOX, "slash", "find", "find", "Show only what has these words", "/"),
    KeySpec("inbox.close", INBOX, "escape,q,f3", "close", "close", "Close; nothing is decided here", "Esc q F3"),
    KeySpec("viewer.close", VIEWER, "escape,q,f1", "close", "close", "Close", "Esc q F1"),
    KeySpec("viewer.down", VIEWER, "j,down", "move(1)", "down", "One line down", "j ↓"),
    KeySpec("viewer.up", VIEWER, "k,up", "move(-1)", "up", "One line up", "k ↑"),
    KeySpec("viewer.page_down", VIEWER, "space,pagedown", "page(1)", "read on", "Read on", "Space PgDn"),
    KeySpec("viewer.page_up", VIEWER, "pageup", "page(-1)", "back", "Read back", "PgUp"),
    KeySpec("viewer.first", VIEWER, "home,g", "edge(False)", "first", "To the first line", "Home g"),
    KeySpec("viewer.last", VIEWER, "end,G", "edge(True)", "last", "To the last line", "End G"),
    _find(TEXT),
    KeySpec("text.next", TEXT, "n", "match(1)", "next", "Next match", "n"),
    KeySpec("text.previous", TEXT, "p", "match(-1)", "before", "Previous match", "p"),
    KeySpec("text.copy", TEXT, "y", "copy", "copy", "Copy what is selected, or else what is seen", "y"),
    KeySpec(
        "help.find", HELP, "slash", "find", "find", "Show only what has these words; {finding.forget} shows all", "/"
    ),
    KeySpec("confirm.yes", CONFIRM, "1,y", "yes", "yes", "Do it", "1 y"),
    KeySpec("confirm.no", CONFIRM, "escape,2,n,enter", "no", "no", "Cancel", "Esc 2 n Enter"),
    KeySpec("quitting.yes", QUITTING, "enter,1,y", "yes", "quit", "Quit", "Enter 1 y"),
    KeySpec("quitting.no", QUITTING, "escape,2,n", "no", "stay", "Stay", "Esc 2 n"),
    KeySpec("words.cancel", WORDS, "escape", "cancel", "back", "Cancel", "Esc"),
    KeySpec("words.send", WORDS, "enter,f9", "send", "send", "Send the words", "Enter F9"),
    KeySpec("form.send", FORM, "ctrl+s", "save", "save", "Save an edited step, which asks again", "Ctrl+S"),
    KeySpec(
        "form.approve", FORM, "f9", "approve", "decide", "Approve the edited step, or send the answer, as shown", "F9"
    ),
    KeySpec("form.next", FORM, "tab", "app.focus_next", "next", "Next field", "Tab", True),
    KeySpec("form.editor", FORM, "ctrl+e", "editor", "editor", "Open in your editor", "Ctrl+E"),
    KeySpec("form.cancel", FORM, "escape", "cancel", "back", "Cancel", "Esc"),
    KeySpec("form.down", FORM, "down,enter", "field(1)", "next", "Next field, from one of a single line", "↓", True),
    KeySpec("form.previous", FORM, "shift+tab", "app.focus_previous", "previous", "Previous field", "Shift+Tab", True),
    KeySpec("form.up", FORM, "up", "field(-1)", "previous", "Previous field, from one of a single line", "↑", True),
    KeySpec("say.send", SAY, "enter,f9", "send", "send", "Send the words", "Enter F9"),
    KeySpec("say.newline", SAY, "ctrl+j", "newline", "new line", "New line", "Ctrl+J"),
    KeySpec("reading.yes", READING, "1", "yes", "yes", "Do what is shown, once read to the end", "1"),
    KeySpec("reading.down", READING, "j,down", "move(1)", "down", "One line down", "j ↓"),
    KeySpec("reading.up", READING, "k,up", "move(-1)", "up", "One line up", "k ↑"),
    KeySpec("reading.page_down", READING, "space,pagedown", "page(1)", "read on", "Read on", "Space PgDn"),
    KeySpec("reading.page_up", READING, "pageup", "page(-1)", "back", "Read back", "PgUp"),
    KeySpec("reading.first", READING, "home", "edge(False)", "first", "To the first line", "Home", line=False),
    KeySpec("reading.last", READING, "end", "edge(True)", "last", "To the last line", "End", line=False),
    KeySpec("reading.close", READING, "escape,q", "close", "close", "Close; nothing is decided", "Esc q"),
    KeySpec("review.first", REVIEW, "2", "first", "keep", "Keep only the risk class to take first", "2"),
    KeySpec("task.edit", TASK, "2,e", "edit", "edit", "Edit what a call runs with, which asks again", "2 e"),
    KeySpec("task.reject", TASK, "3,r", "reject", "reject", "Reject it, and with it the task", "3 r"),
    KeySpec("always.no", ALWAYS, "2,n,enter", "close", "no", "Cancel", "2 n Enter", True),
    *(
        KeySpec(f"part.{n}", PART, str(n), f"choose({n})", label, "Give the call the answer of this number", str(n))
        for n, label in ((2, "edit"), (3, "reject"), (4, "skip"), (5, "respond"))
    ),
    KeySpec("part.back", PART, "left,b", "back", "back", "Back to the call before", "← b"),
    *(
        KeySpec(f"choosing.{n}", CHOOSING, str(n), f"digit({n})", "choose", "Choose the option of this number", str(n))
        for n in range(1, 10)
    ),
    KeySpec("choosing.send", CHOOSING, "f9", "send", "send", "Send the option at the cursor", "F9"),
    KeySpec("choosing.cancel", CHOOSING, "escape", "cancel", "back", "Back; nothing is sent", "Esc"),
    KeySpec("rules.edit", RULES, "e", "edit", "edit", "Change how long it applies, or to what; shown first", "e"),
    KeySpec("rules.revoke", RULES, "x,delete", "revoke", "revoke", "Revoke the rule: it asks again", "x Del"),
    KeySpec("rules.close", RULES, "escape,q", "close", "close", "Close", "Esc q"),
    KeySpec("move.down", MOVE, "down,j", "cursor_down", "down", "One line down", "↓ j", line=False),
    KeySpec("move.up", MOVE, "up,k", "cursor_up", "up", "One line up", "↑ k", line=False),
    KeySpec("list.choose", LIST, "enter", "select_cursor", "choose", "Choose the line at the cursor", "Enter"),
    KeySpec("tree.choose", TREE, "enter", "select_cursor", "choose", "Choose the part at the cursor", "Enter"),
    KeySpec("tree.fold", TREE, "space", "toggle_node", "open", "Open or close the part at the cursor", "Space"),
    KeySpec("tree.fold_all", TREE, "shift+space", "toggle_expand_all", "all", "Open or close all parts", "Shift+Space"),
    KeySpec("finding.keep", FINDING, "enter", "keep", "keep", "Keep the search and step through the matches", "Enter"),
    KeySpec("finding.forget", FINDING, "escape", "clear", "clear", "Clear the search", "Esc"),
)


def bindings(*where: str) -> list[Binding]:
    """Return the Textual bindings of one part of the map; letters work with a Korean keyboard too."""
    return [
        Binding(
            k.keys if k.where == PROMPT else with_jamo(k.keys),
            k.action,
            k.label,
            show=False,
            key_display=k.shown,
            priority=k.priority,
            id=k.id,
        )
        for k in KEYS
        if k.where in where
    ]


def of(where: str, *, line: bool = False) -> Sequence[KeySpec]:
    """Return a part of the map, only what stands in the key line when `line` is set."""
    return [k for k in KEYS if k.where == where and (k.line or not line)]
