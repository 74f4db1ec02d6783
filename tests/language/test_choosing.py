"""Which language is used, and that English reads no catalogue."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hitl_tui.cli.fast_args import language_of
from hitl_tui.core.errors import BadInput
from hitl_tui.language import _, chosen, in_parts, language, ngettext, using


@pytest.mark.parametrize(
    ("given", "environ", "code"),
    [
        ("", {}, "en"),
        ("", {"LANG": "ko_KR.UTF-8"}, "ko"),
        ("", {"LANG": "en_US.UTF-8", "LC_MESSAGES": "ko_KR"}, "ko"),
        ("", {"LANG": "ko_KR.UTF-8", "LC_ALL": "C"}, "en"),
        ("", {"LANG": "ko_KR.UTF-8", "LC_ALL": ""}, "ko"),
        ("", {"LANG": "fr_FR.UTF-8"}, "en"),
        ("", {"LANG": "kok_IN"}, "en"),
        ("", {"LANG": "ko_KR.UTF-8", "HITL_LANG": "en"}, "en"),
        ("", {"HITL_LANG": " KO "}, "ko"),
        ("en", {"HITL_LANG": "ko"}, "en"),
        ("ko", {"HITL_LANG": "en", "LC_ALL": "C"}, "ko"),
    ],
)
def test_the_option_comes_first_then_the_variable_then_the_locale(
    given: str, environ: dict[str, str], code: str
) -> None:
    assert chosen(given, environ) == code


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["--lang", "ko"], "ko"),
        (["do", "s1", "/todos", "--lang=ko"], "ko"),
        (["--lang", "ko", "--lang", "en"], "en"),
        (["--lang"], "en"),
        (["--lang", "xx"], "en"),
        (["--", "--lang", "ko"], "en"),
    ],
)
def test_the_language_is_known_before_the_line_is_parsed(argv: list[str], code: str) -> None:
    assert language_of(argv, {}) == code


def test_a_variable_with_another_language_is_an_error() -> None:
    with pytest.raises(BadInput, match='HITL_LANG must be en or ko, not "fr"'):
        language_of([], {"HITL_LANG": "fr"})
    with pytest.raises(BadInput, match="HITL_LANG must be"):
        language_of([], {"HITL_LANG": "\x1b]0;x"})


def test_a_language_holds_within_its_block_and_in_the_tasks_begun_there() -> None:
    async def word() -> str:
        return await asyncio.create_task(asyncio.sleep(0, _("Approve")))

    async def both() -> tuple[str, str]:
        with using("ko"):
            task = asyncio.create_task(asyncio.to_thread(_, "Approve"))
        return await task, await word()

    assert asyncio.run(both()) == ("승인", "Approve")
    assert language() == "en"


def test_numbers_of_things() -> None:
    assert [ngettext("● {n} needs you", "● {n} need you", n).format(n=n) for n in (1, 2)] == [
        "● 1 needs you",
        "● 2 need you",
    ]
    with using("ko"):
        assert ngettext("● {n} needs you", "● {n} need you", 2).format(n=2) == "● 결정 대기 2건"
        assert _("") == ""
        assert _("no such text") == "no such text"


def test_a_text_in_columns_keeps_them() -> None:
    with using("ko"):
        assert in_parts("commands:\n  hitl-tui sessions   list sessions; --search TEXT filters them") == (
            "명령:\n  hitl-tui sessions   세션 목록; --search TEXT로 골라 보기"
        )


def test_english_reads_no_catalogue(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from hitl_tui.core.messages import Message\n"
        "from hitl_tui.language import _, ngettext, translate\n"
        "assert [_('Approve'), ngettext('a', 'b', 2), translate(Message('Nothing was written.'))]\n"
        "assert 'gettext' not in sys.modules, sorted(sys.modules)\n"
    )
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "LC_", "LANG"))}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr.decode()
