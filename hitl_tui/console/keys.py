"""The one key map: bindings, the key line, the help screen and remapping come from here (C2)."""

# Annotations aren't postponed here: a named tuple would compile each of them again when it is made.
from collections.abc import Sequence
from typing import NamedTuple

from textual.binding import Binding

from hitl_tui.language import mark

# Letter of each key of the two-set Korean layout: with the input method on, `a` arrives as ㅁ.
JAMO = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyz",
        "ㅁㅠㅊㅇㄷㄹㅎㅗㅑㅓㅏㅣㅡㅜㅐㅔㅂㄱㄴㅅㅕㅍㅈㅌㅛㅋ",
        strict=True,
    )
)


def with_jamo(keys: str) -> str:
    """Return a binding's keys with, for each letter alone or with Ctrl, what a Korean keyboard sends for it.

    Not for text fields: there a jamo is text.
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
        where: `anywhere`, `session`, `question`, `plan`, `history`, `prompt`, `dialog`.
        keys: Textual's names, comma separated; the first is what is shown.
        action: Textual action.
        label: one or two words for the key line.
        help: what it does, for the help screen.
        shown: how the keys read on the screen.
        priority: it works while a text field has the focus.
        line: it stands in the key line.
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
HOME, INBOX, VIEWER, CONFIRM, WORDS = "home", "inbox", "viewer", "confirm", "words"
REPLAY = "replay"
STORE = "store"

KEYS: tuple[KeySpec, ...] = (
    KeySpec("console.help", ANYWHERE, "f1", "help", "help", "All keys and commands", "F1", True),
    KeySpec("console.inbox", ANYWHERE, "f3", "inbox", "inbox", "Everything that waits for you", "F3", True),
    KeySpec("console.mode", ANYWHERE, "f4", "mode", "mode", "Next mode: when you are asked", "F4", True),
    KeySpec("console.home", ANYWHERE, "ctrl+o", "home", "sessions", "Sessions and starters, and back", "Ctrl+O", True),
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
        "console.quit", ANYWHERE, "ctrl+q", "quit", "quit", "Leave; the session can be opened again", "Ctrl+Q", True
    ),
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
    KeySpec("session.pane", SESSION, "f6", "next_pane", "pane", "Next pane: Plan, History, Stream, Answer", "F6", True),
    KeySpec("session.replay", SESSION, "f5", "replay", "replay", "Step through the session's past", "F5", True),
    KeySpec("question.1", QUESTION, "1,a", "act(1)", "approve", "Approve exactly what is shown", "1 a"),
    KeySpec("question.2", QUESTION, "2,e", "act(2)", "edit", "Edit the input, then approve", "2 e"),
    KeySpec("question.3", QUESTION, "3,r", "act(3)", "reject", "Reject; the reason is asked", "3 r"),
    KeySpec("question.4", QUESTION, "4,s", "act(4)", "skip", "Go on without it", "4 s"),
    KeySpec("question.5", QUESTION, "5,w", "act(5)", "respond", "Answer in words", "5 w"),
    KeySpec("question.6", QUESTION, "6,d,enter", "act(6)", "details", "Show everything, full screen", "6 d Enter"),
    KeySpec(
        "question.7", QUESTION, "7,l", "act(7)", "always", "Allow exactly this from now on; shows the rule first", "7 l"
    ),
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
    KeySpec(
        "question.undo", QUESTION, "0,u", "undo", "undo", "Take back your last decision if it hasn't started", "0 u"
    ),
    KeySpec("question.leave", QUESTION, "escape", "leave", "prompt", "Back to the prompt; decides nothing", "Esc"),
    KeySpec("plan.show", PLAN, "enter", "select_cursor", "show", "Show the TODO whole, with its result", "Enter"),
    KeySpec("plan.filter", PLAN, "f,space", "filter", "stream", "Show only its lines in the stream, or all again", "f"),
    KeySpec("plan.find", PLAN, "slash", "find", "find", "Show only what has these words; Esc shows all again", "/"),
    KeySpec("plan.undo", PLAN, "u", "undo", "undo", "Take back its approval, skip or rejection", "u"),
    KeySpec(
        "plan.choose", PLAN, "x", "choose", "mark", "Mark it, to move several together; Esc forgets", "x", line=False
    ),
    KeySpec("plan.move_up", PLAN, "shift+up,K", "move(-1)", "move up", "Move it up in the order", "Shift+↑ K"),
    KeySpec(
        "plan.move_down",
        PLAN,
        "shift+down,J",
        "move(1)",
        "move down",
        "Move it down in the order; rows can be dragged, too",
        "Shift+↓ J",
        line=False,
    ),
    KeySpec("plan.cancel", PLAN, "c", "cancel", "cancel", "Stop it while it runs", "c"),
    KeySpec("plan.leave", PLAN, "escape", "leave", "prompt", "Back to the prompt", "Esc"),
    KeySpec("history.show", HISTORY, "enter", "select_cursor", "show", "Show the checkpoint", "Enter"),
    KeySpec("history.restore", HISTORY, "r", "restore", "restore", "Go back to it, after a preview", "r"),
    KeySpec("history.leave", HISTORY, "escape", "leave", "prompt", "Back to the prompt", "Esc"),
    KeySpec("stream.find", STREAM, "slash", "find", "find", "Look for words; Enter keeps them, Esc forgets them", "/"),
    KeySpec("stream.next", STREAM, "n", "match(1)", "next", "Next place where they stand", "n"),
    KeySpec("stream.previous", STREAM, "p", "match(-1)", "before", "The place before", "p"),
    KeySpec("stream.copy", STREAM, "y", "copy", "copy", "Copy what is selected, or else what is seen", "y"),
    KeySpec("stream.leave", STREAM, "escape", "leave", "prompt", "Back to the prompt", "Esc"),
    KeySpec("replay.older", REPLAY, "left", "step(-1)", "back", "One checkpoint back", "←", True),
    KeySpec("replay.newer", REPLAY, "right", "step(1)", "forward", "One checkpoint forward", "→", True),
    KeySpec(
        "replay.decision_before",
        REPLAY,
        "left_square_bracket",
        "decision(-1)",
        "decision",
        "Back to where something was decided",
        "[",
    ),
    KeySpec(
        "replay.decision_after",
        REPLAY,
        "right_square_bracket",
        "decision(1)",
        "next",
        "Forward to where something was decided",
        "]",
    ),
    KeySpec("replay.mark", REPLAY, "m", "mark", "mark", "Mark this checkpoint, or take its mark away", "m"),
    KeySpec("replay.leave", REPLAY, "escape,f5", "leave", "live", "Back to the session as it is now", "Esc", True),
    KeySpec("replay.pane", REPLAY, "f6", "next_pane", "pane", "Next pane: Plan, Graph, Moment, State", "F6", True),
    KeySpec("replay.first", REPLAY, "home", "first", "first", "To the first checkpoint", "Home", True),
    KeySpec("replay.last", REPLAY, "end", "last", "last", "To the newest checkpoint", "End", True),
    KeySpec("replay.1", REPLAY, "1", "act(1)", "view", "View the moment: what was, what happened", "1", line=False),
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
    KeySpec("replay.3", REPLAY, "3", "act(3)", "fork", "Begin another session from here", "3", line=False),
    KeySpec("replay.4", REPLAY, "4", "act(4)", "restore", "Go back to it, after a preview", "4", line=False),
    KeySpec(
        "replay.show", REPLAY, "enter", "select_cursor", "show", "In the plan: show the TODO with its result", "Enter"
    ),
    KeySpec("store.open", STORE, "enter", "select_cursor", "open", "Show the thread's history and state", "Enter"),
    KeySpec("store.find", STORE, "slash", "find", "find", "Only threads with these words in id or title", "/"),
    KeySpec("store.refresh", STORE, "r", "refresh", "refresh", "Read the list again", "r"),
    KeySpec("store.help", STORE, "question_mark", "app.help", "help", "All keys, as F1", "?", line=False),
    KeySpec("store.leave", STORE, "escape", "leave", "all", "Show all threads again", "Esc", line=False),
    KeySpec("prompt.send", PROMPT, "enter", "send", "send", "Send: a command, or words that change the plan", "Enter"),
    KeySpec("prompt.newline", PROMPT, "ctrl+j", "newline", "new line", "New line", "Ctrl+J", line=False),
    KeySpec("prompt.complete", PROMPT, "tab", "complete", "complete", "Complete a command, id or name", "Tab"),
    KeySpec("prompt.older", PROMPT, "up", "older", "history", "Earlier lines (↓ later ones)", "↑"),
    KeySpec("prompt.newer", PROMPT, "down", "newer", "later", "Later lines", "↓", line=False),
    KeySpec("home.part", HOME, "f6", "next_part", "next", "Next part: prompt, starters, sessions", "F6", True, False),
    KeySpec("home.back", HOME, "escape", "back", "back", "Back to the prompt, then to the open session", "Esc"),
    KeySpec("inbox.close", INBOX, "escape,q,f3", "close", "close", "Close; nothing is decided here", "Esc q F3"),
    KeySpec("viewer.close", VIEWER, "escape,q,f1", "close", "close", "Close", "Esc q F1"),
    KeySpec("viewer.down", VIEWER, "j,down", "move(1)", "down", "One line down", "j ↓"),
    KeySpec("viewer.up", VIEWER, "k,up", "move(-1)", "up", "One line up", "k ↑"),
    KeySpec("viewer.page_down", VIEWER, "space,pagedown", "page(1)", "read on", "Read on", "Space PgDn"),
    KeySpec("viewer.page_up", VIEWER, "pageup", "page(-1)", "back", "Read back", "PgUp"),
    KeySpec("confirm.yes", CONFIRM, "1,y", "yes", "yes", "Do it", "1 y"),
    KeySpec("confirm.no", CONFIRM, "escape,2,n,enter", "no", "no", "Nothing happens", "Esc 2 n Enter"),
    KeySpec("words.cancel", WORDS, "escape", "cancel", "back", "Back; nothing happens", "Esc"),
)

TITLES = {
    ANYWHERE: mark("Anywhere"),
    SESSION: mark("In a session"),
    QUESTION: mark("Question (Ctrl+G)"),
    PLAN: mark("Plan pane"),
    HISTORY: mark("History pane"),
    STREAM: mark("Stream pane"),
    REPLAY: mark("Replay (F5)"),
    STORE: mark("A store's threads (hitl-tui open)"),
    PROMPT: mark("Prompt"),
    HOME: mark("First screen"),
    INBOX: mark("Inbox (F3)"),
    VIEWER: mark("Text on the whole screen"),
    CONFIRM: mark("A question to confirm"),
    WORDS: mark("Words to give"),
}


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
