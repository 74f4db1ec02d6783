"""Texts of a folder that fill in one form are a table: each file a row, each label a column."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import About, about, ask
from hitl_tui.tables.files import table_files
from hitl_tui.tables.forms import MAX_BYTES


def invoice(folder: Path, number: int, net: str, *more: str) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f"Invoice 2026-{number}", "", "Supplier: Bean House", f"- **Net amount:** {net}", *more, "Thank you!"]
    (folder / f"inv-{number}.txt").write_text("\n".join(lines), encoding="utf-8")


def test_invoices_are_summed_up_and_compared(tmp_path: Path) -> None:
    for number, net in enumerate(("1,100.50 EUR", "80 EUR", "900 EUR"), start=1):
        invoice(tmp_path / "invoices", number, net, f"Due: 2026-12-0{number}")
    (file,) = table_files(tmp_path)
    assert (file.path, file.stem, len(file.forms())) == ("invoices/*.txt", "invoices", 3)
    question = "What is the sum of the net amounts of the invoices?"
    answer = ask(question, (file,))
    assert about(question, tmp_path) is About.TABLE
    assert answer.result is not None and answer.result.rows == ((2080.5, 3),)
    answer = ask("Which invoice has the highest net amount?", (file,))
    assert answer.result is not None and answer.result.rows[0][:2] == ("inv-1.txt", 1100.5)


def test_an_amount_may_have_a_remark_in_brackets(tmp_path: Path) -> None:
    for number, total in enumerate(("EUR 4,850.00 (incl. 19% VAT)", "EUR 1,290.00 (incl. 19% VAT)", "EUR 50"), start=1):
        invoice(tmp_path / "invoices", number, "1 EUR", f"Total: {total}")
    answer = ask("What is the sum of Total of the invoices?", tuple(table_files(tmp_path)))
    assert answer.result is not None and answer.result.rows[0][0] == 6190


def test_korean_forms_are_read_too(tmp_path: Path) -> None:
    folder = tmp_path / "청구서"
    folder.mkdir()
    for number in (1, 2, 3):
        text = f"청구서\n공급자: 원두상사\n공급가액：{number}00,000원\n부가세: {number}0,000원\n"
        (folder / f"청구서-{number}.txt").write_text(text, encoding="utf-8")
    answer = ask("청구서 공급가액을 모두 더하면 얼마인가요?", table_files(tmp_path))
    assert answer.result is not None and answer.result.rows == ((600000.0, 3),)


def test_a_form_may_have_a_heading_and_a_table_and_a_total(tmp_path: Path) -> None:
    for number, customer in enumerate(("Alder", "Birch"), start=1):
        lines = [f"# Invoice {number}", f"Customer: {customer}", "Due: 30 days", "| item | amount |", "| --- | --- |"]
        lines += [f"| design | {number}0.00 EUR |", "| VAT | 1.00 EUR |", f"Total: {number}1.00 EUR"]
        (tmp_path / "invoices").mkdir(exist_ok=True)
        (tmp_path / "invoices" / f"2026-00{number}.md").write_text("\n".join(lines), encoding="utf-8")
    answer = ask("What is the total of all invoices?", table_files(tmp_path))
    assert answer.result is not None and answer.result.rows == ((32.0, 2),)


def test_a_file_that_was_written_since_is_counted(tmp_path: Path) -> None:
    for number in (1, 2):
        invoice(tmp_path / "invoices", number, "10 EUR")
    question = "What is the sum of the net amounts of the invoices?"
    assert ask(question, table_files(tmp_path)).result is not None
    invoice(tmp_path / "invoices", 3, "10 EUR")
    answer = ask(question, table_files(tmp_path))
    assert answer.result is not None and answer.result.rows == ((30.0, 3),)


def test_what_one_amount_says_in_another_unit_is_not_added_up(tmp_path: Path) -> None:
    for number, net in enumerate(("10 EUR", "10 USD", "10 EUR"), start=1):
        invoice(tmp_path / "invoices", number, net)
    answer = ask("What is the sum of the net amounts of the invoices?", table_files(tmp_path))
    assert answer.result is None or answer.result.rows != ((30.0, 3),)


@pytest.mark.parametrize(
    "texts",
    [
        (
            "Note: rain\nToday it rained.\nWe stayed in.\nNobody came.",
            "Note: sun\nAnn called.\nShe was well.\nSo are we.",
        ),
        ("Total: 3\nDue: May", "A letter without labels.\nIt goes on."),
        ("Total: 3\nDue: May",),
        ("Total: 3\nDue: May\n" + "x" * MAX_BYTES, "Total: 4\nDue: May\n" + "x" * MAX_BYTES),
        ("Name: Ann\nAge: 3", "Colour: red\nSize: 4"),
    ],
    ids=["prose", "one form", "one file", "too long", "different forms"],
)
def test_other_texts_are_no_table(tmp_path: Path, texts: tuple[str, ...]) -> None:
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.md").write_text(text, encoding="utf-8")
    assert table_files(tmp_path) == ()


def test_a_link_out_of_the_folder_is_no_row(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "w"
    invoice(outside, 9, "99 EUR")
    inside.mkdir()
    for number in (1, 2):
        invoice(inside / "invoices", number, "10 EUR")
    (inside / "invoices" / "inv-9.txt").symlink_to(outside / "inv-9.txt")
    (file,) = table_files(inside)
    assert [path.name for path in file.forms()] == ["inv-1.txt", "inv-2.txt"]
