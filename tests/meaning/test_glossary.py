"""What words are called in the other language."""

from __future__ import annotations

import re
from importlib import resources

from hitl_tui.meaning.glossary import translations

LINES = resources.files("hitl_tui.meaning").joinpath("glossary.tsv").read_text(encoding="utf-8").splitlines()


def test_each_line_is_a_korean_word_and_what_it_is_called_in_english() -> None:
    for line in LINES:
        word, _, called = line.partition("\t")
        assert re.search("[가-힣]", word), line
        assert word == word.strip(), line
        equivalents = called.split("; ")
        assert all(one and one == one.strip() for one in equivalents), line
        assert len(set(equivalents)) == len(equivalents) <= 6, line
        assert word not in equivalents, line


def test_each_word_has_one_line_and_the_lines_are_in_order() -> None:
    words = [line.partition("\t")[0] for line in LINES]
    assert words == sorted(set(words))


def test_a_word_is_translated_both_ways_and_a_verb_by_its_forms() -> None:
    assert "theft" in translations("도난")
    assert "도난" in translations("theft")
    assert "melanoma" in translations("흑색종")
    assert "die" in translations("죽었")
    assert translations("nosuchword") == translations("없는낱말임") == ()
