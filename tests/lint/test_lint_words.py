"""What the check says: in English in JSON, in the person's language on the screen, and in docs (I6, C11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_support import HERE, checked

from hitl_tui.core.safe_text import cell_width
from hitl_tui.language import translate, using
from hitl_tui.lint.check import lint
from hitl_tui.wording.lint_report import WIDTH, report_lines, summary

FAULTY = sorted([*(HERE / "seeds").glob("*.py"), *(HERE / "held_out").glob("*.py")])


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_what_is_said_in_korean_leaves_code_as_it_is(path: Path) -> None:
    report = lint(path.relative_to(HERE).as_posix(), HERE)
    document = report.to_dict()
    with using("ko"):
        for finding in report.findings:
            english, korean = str(finding.message), translate(finding.message)
            assert korean != english
            values = [v for v in finding.message.named.values() if type(v) is str]
            assert all(value in korean for value in values)
            assert translate(finding.rule.meaning) != str(finding.rule.meaning)
        assert report.to_dict() == document
        lines = [line for line in report_lines(report) if not line.startswith(path.parent.name)]
    assert max(map(cell_width, lines)) <= WIDTH


def test_a_whole_report_in_korean(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import os

        def ask(state):
            os.remove("a")
            try:
                interrupt({"when": {"a", "b"}})
            except Exception:
                pass

        StateGraph(State).add_node(ask)
        """,
    )
    with using("ko"):
        text = "\n".join(report_lines(report))
    for english in ("comes before", "catches", "contains", "mend", "node", "before", "AGAIN", "finding", "a set"):
        assert english not in text.replace("interrupt-before", "").replace("effect-before-interrupt", "")
    assert str(summary(report)) == "3 findings: 1 node checked, 1 of which may ask. Nothing was imported or run."
