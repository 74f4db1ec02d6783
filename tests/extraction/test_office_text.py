"""Word documents and PowerPoint slides are read as the search reads other files."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest
from docx import Document
from pptx import Presentation

from hitl_tui.extraction.blocks import Unreadable
from hitl_tui.extraction.file_text import extract_bytes
from hitl_tui.teams.search.index import SearchIndex


def word() -> bytes:
    document = Document()
    document.add_heading("Travel policy", 1)
    document.add_paragraph("Hotels are paid up to 180 USD a night.")
    table = document.add_table(2, 2)
    for cell, text in zip([c for row in table.rows for c in row.cells], ("city", "limit", "Seoul", "200"), strict=True):
        cell.text = text
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def slides() -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Results of March"
    slide.placeholders[1].text = "Revenue grew by 12 percent\nChurn fell"
    slide.notes_slide.notes_text_frame.text = "Mention the new warehouse."
    packed = io.BytesIO()
    presentation.save(packed)
    return packed.getvalue()


def test_a_word_document_is_read_by_paragraph_heading_and_table() -> None:
    blocks = extract_bytes(word(), "policy.docx").blocks
    assert [(b.line, b.heading, b.text) for b in blocks] == [
        (2, "Travel policy", "Hotels are paid up to 180 USD a night."),
        (3, "Travel policy", "city, limit"),
        (3, "Travel policy", "city: Seoul, limit: 200"),
    ]


def test_slides_are_pages_with_their_notes() -> None:
    blocks = extract_bytes(slides(), "march.pptx").blocks
    assert [(b.page, b.heading, b.text) for b in blocks] == [
        (1, "Results of March", "Revenue grew by 12 percent\nChurn fell"),
        (1, "Results of March", "Mention the new warehouse."),
    ]


@pytest.mark.long
def test_they_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "policy.docx").write_bytes(word())
    with SearchIndex(tmp_path / "cache.db") as index:
        index.refresh(folder)
        hits = index.query("What is paid for a hotel a night?")
    assert (hits.passages[0].path, hits.passages[0].line) == ("policy.docx", 2)


def empty() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("nothing.txt", "")
    return packed.getvalue()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no archive", word()[:900], empty()], ids=len)
@pytest.mark.parametrize("name", ["a.docx", "a.pptx"])
def test_what_is_broken_is_told(data: bytes, name: str) -> None:
    with pytest.raises(Unreadable, match=r"broken \."):
        extract_bytes(data, name)


@pytest.mark.parametrize(("data", "name"), [(slides(), "a.docx"), (word(), "a.pptx")], ids=["slides", "document"])
def test_one_under_the_others_name_is_told(data: bytes, name: str) -> None:
    with pytest.raises(Unreadable, match=r"broken \."):
        extract_bytes(data, name)


def test_without_the_extra_it_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(Unreadable, match="takes the extra office"):
        extract_bytes(word(), "policy.docx")
