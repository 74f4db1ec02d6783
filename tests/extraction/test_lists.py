"""What documents list: lines that look alike and stand equally deep, sections, names between commas, files."""

from __future__ import annotations

import pytest

from hitl_tui.extraction.file_text import extract_bytes
from hitl_tui.extraction.lists import List, folders_in, lists_in, sections_in


def lists_of(name: str, text: str) -> list[List]:
    blocks = extract_bytes(text.encode(), name).blocks
    rows = [(one.page, one.heading, [(one.line, one.end_line, one.text)]) for one in blocks]
    return [*lists_in(rows), *sections_in(rows)]


@pytest.mark.parametrize(
    ("name", "text", "kind", "lead", "items"),
    [
        ("a.conf", "hosts {\n  # at sea\n  brig\n  sloop\n  # ashore\n  barn\n  mill\n}\n", "line", "# at sea", 2),
        ("a.conf", "hosts {\n  # at sea\n  brig\n  # ashore\n  barn\n}\n", "line", "hosts {", 2),
        ("a.yml", "crew:\n  ann:\n    rank: mate\n  bo:\n    rank: cook\n", "key", "", 2),
        ("a.conf", 'object Lamp "a" {\n  x\n}\nobject Lamp "b" {\n  x\n}\nobject Bell "c" {\n  x\n}\n', "typed", "", 2),
        ("a.ini", "[one]\na = 1\n[two]\nb = 2\n", "section", "", 2),
        ("a.txt", "[one]\na = 1\n[two]\nb = 2\n", "title", "", 2),
        ("a.md", "# Fuel\n\n| Kind | Price |\n| --- | --- |\n| oil | 2 |\n| gas | 1 |\n", "row", "", 2),
        ("a.txt", "Options:\n  -a, --all   all\n  --brief     less\n              of it\n", "option", "Options:", 2),
        (
            "a.txt",
            "The mode can be fast, slow, or off.  Now.\n",
            "said",
            "The mode can be fast, slow, or off.  Now.",
            3,
        ),
        ("a.md", "# Ports\n\n## Oban\n\nIn.\n\n## Bergen\n\nOut.\n", "section", "", 2),
        ("a.md", "# Oath\n\n## 1\n\nI.\n\n## 2\n\nII.\n\n## End\n\nIII.\n", "section", "", 2),
    ],
)
def test_a_document_has_the_list(name: str, text: str, kind: str, lead: str, items: int) -> None:
    found = [(one.kind, " ".join(one.lead[2].split()), len(one.items)) for one in lists_of(name, text)]

    assert (kind, " ".join(lead.split()), items) in found


def test_a_folder_lists_what_is_in_it() -> None:
    [one] = folders_in(["flags/a.png", "flags/sea/b.png", "notes.md"])

    assert (one.heading, one.text) == ("flags", "- a.png\n- sea/")
