"""What the screen calls a thing can be typed."""

from __future__ import annotations

import pytest

from hitl_tui.commands.parser import parse
from hitl_tui.commands.todo_input import typed_priority, typed_status
from hitl_tui.config.loader import parse_config
from hitl_tui.core.errors import BadInput, ConfigError
from hitl_tui.core.events import EventKind
from hitl_tui.core.todos import Priority, Status, SupervisorTodo
from hitl_tui.language import _, translate, using
from hitl_tui.language.catalogue import LANGUAGES
from hitl_tui.policy.workspace_wants import WantKind
from hitl_tui.wording.history_rows import _EVENT_WORDS
from hitl_tui.wording.status_words import status_words
from hitl_tui.wording.trust_rows import _KINDS


@pytest.mark.parametrize("code", LANGUAGES)
def test_statuses_and_priorities_are_understood_as_they_are_shown(code: str) -> None:
    with using(code):
        statuses = {status: status_words(SupervisorTodo("todo_001", "a", status=status))[1] for status in Status}
        priorities = {priority: _(priority.value) for priority in Priority}
    assert {typed_status(word): word for word in statuses.values()} == statuses
    assert {typed_priority(word): word for word in priorities.values()} == priorities


def test_every_event_and_every_want_of_a_folder_has_words() -> None:
    worded_otherwise = {EventKind.DECIDED, EventKind.MOVE}
    assert set(EventKind) - worded_otherwise <= set(_EVENT_WORDS)
    assert set(_KINDS) == set(WantKind)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/todo skip", "/todo skip에 필요한 것: <단계 id>."),
        ("/todo update 1", "/todo update에 필요한 것: <상태>."),
        ("/todo cancel 1 2", '/todo cancel에는 "2" 값을 쓸 수 없습니다.'),
        ("/checkpoint list --limit", "/checkpoint list의 --limit 옵션에는 값이 필요합니다."),
        (
            "/checkpoint list --limt 3",
            '/checkpoint list에 "--limt" 옵션이 없습니다. 있는 것: --limit, --before, --todo.',
        ),
    ],
)
def test_what_is_wrong_with_a_line_is_told_in_the_persons_language(line: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(line)
    with using("ko"):
        assert translate(refused.value.message) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[defaults]\nmode = 'fast'", '맞는 값: "step", "plan", "risk" 중 하나. 주어진 값: "fast".'),
        ("[[policy]]\ndecision = 1", '맞는 값: "allow", "ask", "deny" 중 하나. 주어진 값: 1.'),
        ("[teams.document_team]\nfolder = 3", "맞는 값: 텍스트. 주어진 값: 3."),
        (
            "[[policy]]\ndecision = 'ask'\ndeadline = 'abc'",
            '"90s", "10m", "2h", "1d" 같은 기간이어야 합니다. 주어진 값: "abc".',
        ),
    ],
)
def test_what_is_wrong_with_settings_is_told_in_the_persons_language(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_config(text, "hitl.toml")
    with using("ko"):
        assert translate(refused.value.message).endswith(said)
