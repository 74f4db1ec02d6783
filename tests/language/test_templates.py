"""Finished sentences are known again by their templates, and no value in them is ever changed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_tui.language import render, using
from hitl_tui.language.catalogue import SAID, catalogue_path
from hitl_tui.language.templates import Template, Templates, is_template

import polib  # isort: skip


def said() -> dict[str, str]:
    entries = polib.pofile(str(catalogue_path("ko", "po")))
    return {e.msgid: e.msgstr for e in entries if e.msgctxt == SAID and e.msgstr}


SAID_IN_KOREAN = said()
TEMPLATES = [Template(source, target) for source, target in SAID_IN_KOREAN.items() if is_template(source)]
KOREAN = Templates(SAID_IN_KOREAN)
HOSTILE = (
    "todo_003",
    "",
    " ",
    "{0}",
    "{0!t} {{x}} %s",
    'There is no TODO "todo_9".',
    "is removed. Nothing was deleted.",
    '"; there are none.',
    " is completed now",
    "/tmp/a b (1)/c: d.md",
    "여러 줄\n둘째 줄",
    "\x1b[2J\u202e",
    "failed",
    ", ".join(f"todo_{n:03d}" for n in range(40)),
)


def english(template: Template, values: dict[str, str]) -> str:
    parts = [values[name] for name in template.names]
    return "".join(a + b for a, b in zip(template.literals, [*parts, ""], strict=True))


def possible(text: str) -> set[str]:
    """Return what may be shown for a text: itself, or what a template that can have made it says with its values."""
    found = {text}
    for template in TEMPLATES:
        led = template.led(text) if template.leads else None
        found |= {template.filled(v, KOREAN, 0) for v in (template.values(text), led) if v is not None}
    if text in SAID_IN_KOREAN:
        found.add(SAID_IN_KOREAN[text])
    return found


def test_every_template_is_known_again_with_usual_values() -> None:
    usual = ("todo_003", "s1", "7", "/tmp/w/a.md", "ops")
    for template in TEMPLATES:
        values = {name: usual[i % len(usual)] for i, name in enumerate(dict.fromkeys(template.names))}
        text = english(template, values)
        made = {t.filled(v, KOREAN, 0) for t in TEMPLATES if (v := t.values(text)) is not None}
        assert KOREAN.render(text) in (made | {text} if template.light else made), template.source


def test_no_hostile_value_is_changed() -> None:
    for turn, template in enumerate(t for t in TEMPLATES if not t.light):
        names = list(dict.fromkeys(template.names))
        for number in range(turn, turn + len(HOSTILE), 4):
            values = {name: HOSTILE[(number + i) % len(HOSTILE)] for i, name in enumerate(names)}
            text = english(template, values)
            assert KOREAN.render(text) in possible(text), template.source


PIECES = st.sampled_from([*(p for t in TEMPLATES for p in t.literals if p.strip()), *SAID_IN_KOREAN])
VALUES = st.one_of(st.text(max_size=40), PIECES, st.lists(PIECES, max_size=3).map("".join))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data(), st.sampled_from([t for t in TEMPLATES if not t.light]))
def test_values_made_of_other_templates_are_taken_over_or_all_stays_english(
    data: st.DataObject, template: Template
) -> None:
    values = {name: data.draw(VALUES, label=name) for name in template.names}
    text = english(template, values)
    assert KOREAN.render(text) in possible(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_what_is_not_ours_stays_as_it_is(text: str) -> None:
    assert KOREAN.render(text) in possible(text) | {text}


def test_a_value_that_could_end_in_two_places_leaves_the_sentence_english() -> None:
    templates = Templates({"{0} is {1} now.": "{0}: {1}"})
    assert templates.render("a is b now.") == "a: b"
    assert templates.render("a is b is c now.") == "a is b is c now."


def test_lines_that_are_each_one_of_ours_are_not_taken_for_one() -> None:
    templates = Templates({"{0} thing is allowed.": "{0}", "{0}. {1} (by {2})": "{0}: {1}, {2}"})
    assert templates.render("1 thing is allowed.\n1. du (by ann)") == "1\n1: du, ann"
    assert templates.render("1 thing was allowed.\n1. du (by ann)") == "1 thing was allowed.\n1: du, ann"


def test_the_narrower_of_two_templates_is_meant() -> None:
    templates = Templates({'There is no {0} "{1}".': "{0} {1}", 'There is no TODO "{0}".': "TODO {0}!"})
    assert templates.render('There is no TODO "x".') == "TODO x!"
    assert templates.render('There is no agent "x".') == "agent x"


def test_what_follows_a_colon_may_hold_more_of_them() -> None:
    templates = Templates({'The command "{0}" ended with {1}: {2}.': "{0}, {1}, {2}"})
    assert templates.render('The command "a" ended with 2: ls: b: gone.') == "a, 2, ls: b: gone"
    unsure = 'The command "a b: c" ended with 2 3: ls: gone.'
    assert templates.render(unsure) == unsure


def test_a_sentence_of_ours_is_known_after_the_place_it_is_about() -> None:
    said = {"{0} line {1}: {2}": "{0} {1}행: {2!t}", "must be {0}, but it is {1}": "{0}이 아니라 {1}"}
    templates = Templates(said)
    assert templates.render("a.toml line 3: must be 1, but it is 2.") == "a.toml 3행: 1이 아니라 2."
    assert templates.render("a.toml line 3: nobody knows.") == "a.toml line 3: nobody knows."
    assert templates.render("in a b line 3: must be 1, but it is 2.") == "in a b line 3: must be 1, but it is 2."


def test_templates_that_only_happen_to_overlap_say_nothing() -> None:
    templates = Templates({"{0} ends here": "A {0}", "It begins {0}": "B {0}"})
    assert templates.render("It begins and ends here") == "It begins and ends here"


def test_a_value_is_translated_only_where_the_translation_asks_for_it() -> None:
    templates = Templates({"{0} is {1}.": "{0}={1!t}", "failed": "실패"})
    assert templates.render("failed is failed.") == "failed=실패"


def test_lines_and_sentences_are_taken_one_by_one() -> None:
    templates = Templates({"Nothing was written.": "저장하지 않음.", "{0} is removed.": "{0}: 제거."})
    assert templates.render("Nothing was written.\n/rules list") == "저장하지 않음.\n/rules list"
    assert templates.render("Nothing was written. Nothing was written.") == "저장하지 않음. 저장하지 않음."
    assert templates.render("Nothing was written. Who knows.") == "Nothing was written. Who knows."


def test_a_long_text_of_known_sentences_takes_no_time() -> None:
    templates = Templates({"{0} is removed.": "{0}: 제거."})
    assert templates.render("a is removed. " * 250 + "x").startswith("a is removed.")


def test_english_is_shown_as_it_is() -> None:
    assert render("Nothing was written.") == "Nothing was written."
    with using("ko"):
        assert render("Nothing was written.") == "저장한 것이 없습니다."
