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
from extraction import Text, extract

from hitl_tui.language.catalogue import catalogue_path

_METADATA = {
    "Project-Id-Version": "hitl-tui",
    "Language": "ko",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",
}


def plurals(found: dict[Text, list[str]]) -> dict[str, tuple[str, list[str]]]:
    """Return the plural (empty for none) and the places of every text that is to be translated."""
    wanted: dict[str, tuple[str, list[str]]] = {}
    for text, places in found.items():
        one, many = text if isinstance(text, tuple) else (text, "")
        before = wanted.get(one, ("", []))
        wanted[one] = before[0] or many, [*before[1], *places]
    return wanted


def merged(old: polib.POFile, found: dict[Text, list[str]]) -> polib.POFile:
    """Return a catalogue with exactly the entries that are wanted, and their translations as far as there are any."""
    known = {entry.msgid: entry for entry in old}
    fresh = polib.POFile(wrapwidth=110)
    fresh.metadata = dict(_METADATA)
    for text, (plural, places) in sorted(plurals(found).items(), key=lambda item: (min(item[1][1]), item[0])):
        before = known.get(text)
        translated = (before.msgstr or before.msgstr_plural.get(0, "")) if before is not None else ""
        entry = polib.POEntry(msgid=text, comment="\n".join(sorted(set(places))))
        if plural:
            entry.msgid_plural, entry.msgstr_plural = plural, {0: translated}
        else:
            entry.msgstr = translated
        if re.search(r"\{\w*(:[^{}\s]*)?\}", text):
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
