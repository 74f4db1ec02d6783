"""Requirements are those of docs/requirements.md: what code and tests name exists, and what isn't built is marked."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ID = r"[CDIMPSTX]\d{1,2}"
NAMED = re.compile(rf"\(({ID}(?:(?:, | and | to ){ID})*)\)")
RANGE = re.compile(r"([A-Z])(\d+) to [A-Z](\d+)")
PAGE = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
KNOWN = re.findall(rf"^\| ({ID})(?: …)? \|", PAGE, re.MULTILINE)
NOT_BUILT = set(re.findall(rf"^\| ({ID}) … \|", PAGE, re.MULTILINE))


def named_in(folder: str) -> set[str]:
    """Return the ids that a folder's modules name in parentheses, also by the first and last of several."""
    found = set[str]()
    for path in (ROOT / folder).rglob("*.py"):
        for group in NAMED.findall(path.read_text(encoding="utf-8")):
            found.update(re.findall(ID, group))
            for letter, first, last in RANGE.findall(group):
                found.update(f"{letter}{number}" for number in range(int(first), int(last) + 1))
    return found


def test_every_id_that_is_named_exists() -> None:
    assert len(KNOWN) == len(set(KNOWN))
    assert named_in("hitl_tui") | named_in("tests") <= set(KNOWN)


def test_what_is_not_built_is_marked_and_nothing_else() -> None:
    assert named_in("hitl_tui") & NOT_BUILT == set(), "the code names what is said not to be built"
    assert set(KNOWN) - named_in("tests") == NOT_BUILT, "tests name exactly what is built"


def test_the_page_of_the_architecture_lists_what_is_not_built() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## Not there yet\n")[2].partition("\n## ")[0]
    assert set(re.findall(rf"\b{ID}\b", section)) == NOT_BUILT
