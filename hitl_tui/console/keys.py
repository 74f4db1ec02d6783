"""The one key map: bindings, the key line, the help screen and remapping come from here (C2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.binding import Binding

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


@dataclass(frozen=True, slots=True)
class KeySpec:
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
    KeySpec("question.1", QUESTION, "1,a", "act(1)", "approve", "Approve exactly what is shown", "1 a"),
    KeySpec("question.2", QUESTION, "2,e", "act(2)", "edit", "Edit the input, then approve", "2 e"),
    KeySpec("question.3", QUESTION, "3,r", "act(3)", "reject", "Reject; the reason is asked", "3 r"),
    KeySpec("question.4", QUESTION, "4,s", "act(4)", "skip", "Go on without it", "4 s"),
    KeySpec("question.5", QUESTION, "5,w", "act(5)", "respond", "Answer in words", "5 w"),
    KeySpec("question.6", QUESTION, "6,d,enter", "act(6)", "details", "Show everything, full screen", "6 d Enter"),
    KeySpec("question.next", QUESTION, "down,j", "step(1)", "next", "Next question", "↓ j"),
    KeySpec("question.previous", QUESTION, "up,k", "step(-1)", "previous", "Previous question", "↑ k", line=False),
    KeySpec(
        "question.page_down",
        QUESTION,
        "pagedown,space",
        "scroll(1)",
        "read on",
        "Read on; approving waits for the end",
        "PgDn Space",
    ),
    KeySpec("question.page_up", QUESTION, "pageup", "scroll(-1)", "back", "Read back", "PgUp", line=False),
    KeySpec(
        "question.undo", QUESTION, "0,u", "undo", "undo", "Take back your last decision if it hasn't started", "0 u"
    ),
    KeySpec("question.leave", QUESTION, "escape", "leave", "prompt", "Back to the prompt; decides nothing", "Esc"),
    KeySpec("plan.show", PLAN, "enter", "select_cursor", "show", "Show the TODO whole, with its result", "Enter"),
    KeySpec("plan.filter", PLAN, "f,space", "filter", "stream", "Show only its lines in the stream, or all again", "f"),
    KeySpec("plan.undo", PLAN, "u", "undo", "undo", "Take back its approval, skip or rejection", "u"),
    KeySpec("plan.cancel", PLAN, "c", "cancel", "cancel", "Stop it while it runs", "c"),
    KeySpec("plan.leave", PLAN, "escape", "leave", "prompt", "Back to the prompt", "Esc"),
    KeySpec("history.show", HISTORY, "enter", "select_cursor", "show", "Show the checkpoint", "Enter"),
    KeySpec("history.restore", HISTORY, "r", "restore", "restore", "Go back to it, after a preview", "r"),
    KeySpec("history.leave", HISTORY, "escape", "leave", "prompt", "Back to the prompt", "Esc"),
    KeySpec("prompt.send", PROMPT, "enter", "send", "send", "Send: a command, or words that change the plan", "Enter"),
    KeySpec("prompt.newline", PROMPT, "ctrl+j", "newline", "new line", "New line", "Ctrl+J", line=False),
    KeySpec("prompt.complete", PROMPT, "tab", "complete", "complete", "Complete a command, id or name", "Tab"),
    KeySpec("prompt.older", PROMPT, "up", "older", "history", "Earlier lines (↓ later ones)", "↑"),
    KeySpec("prompt.newer", PROMPT, "down", "newer", "later", "Later lines", "↓", line=False),
)

TITLES = {
    ANYWHERE: "Anywhere",
    SESSION: "In a session",
    QUESTION: "Question (Ctrl+G)",
    PLAN: "Plan pane",
    HISTORY: "History pane",
    PROMPT: "Prompt",
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
