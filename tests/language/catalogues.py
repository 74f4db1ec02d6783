"""Brings the catalogues up to date: `python tests/language/catalogues.py`.

New texts come in without a translation and the program stands in English there until somebody writes one; texts that
are gone are taken out; then the catalogue is compiled. The tests ask for both to be done.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import polib

sys.path.insert(0, str(Path(__file__).parent))
from extraction import Found, extract

from hitl_tui.language.catalogue import SAID, catalogue_path

_METADATA = {
    "Project-Id-Version": "hitl-tui",
    "Language": "ko",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",
}

Key = tuple[str, str]
"""Context and text."""


def keys(found: Found) -> dict[Key, tuple[str, list[str]]]:
    """Return all that is to be translated: plural (empty for none) and places by context and text."""
    wanted: dict[Key, tuple[str, list[str]]] = {}
    for text, places in found.faces.items():
        one, many = text if isinstance(text, tuple) else (text, "")
        wanted["", one] = many, places
    for text, places in found.said.items():
        wanted[SAID, text] = "", places
    return wanted


def key_of(entry: polib.POEntry) -> Key:
    """Return what names an entry."""
    return entry.msgctxt or "", entry.msgid


def merged(old: polib.POFile, found: Found) -> polib.POFile:
    """Return a catalogue with exactly the entries that are wanted, and their translations as far as there are any.

    A text that comes into another context begins with the translation it has elsewhere.
    """
    known = {key_of(entry): entry for entry in old}
    elsewhere = {entry.msgid: entry.msgstr for entry in old if entry.msgstr}
    fresh = polib.POFile(wrapwidth=110)
    fresh.metadata = dict(_METADATA)
    for key, (plural, places) in sorted(keys(found).items(), key=lambda item: (min(item[1][1]), item[0])):
        context, text = key
        before = known.get(key)
        entry = polib.POEntry(msgid=text, msgctxt=context or None, comment="\n".join(sorted(set(places))))
        if plural:
            entry.msgid_plural = plural
            entry.msgstr_plural = {0: before.msgstr_plural.get(0, "") if before is not None else ""}
        else:
            entry.msgstr = before.msgstr if before is not None else elsewhere.get(text, "")
        if re.search(r"\{\w+", text):
            entry.flags.append("python-brace-format")
        fresh.append(entry)
    return fresh


def main() -> int:
    """Write the catalogue and its compiled form; return 1 when something has no translation yet."""
    path = catalogue_path("ko", "po")
    old = polib.pofile(str(path)) if path.exists() else polib.POFile()
    fresh = merged(old, extract())
    fresh.save(str(path))
    fresh.save_as_mofile(str(catalogue_path("ko")))
    missing = [e for e in fresh if not (e.msgstr or e.msgstr_plural.get(0))]
    for entry in missing:
        print(f"{entry.comment.splitlines()[0]}: {entry.msgid!r}")
    print(f"{len(fresh)} entries, {len(missing)} without a translation")
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
