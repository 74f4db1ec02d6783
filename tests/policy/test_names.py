"""Names that can't be told apart, and those that are nobody's."""

from __future__ import annotations

import pytest

from hitl_tui.core.errors import BadInput
from hitl_tui.policy.approver_names import alike, checked_name, is_reserved


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ops", "\u043eps"),
        ("ops", "0ps"),
        ("ops", "ops."),
        ("ops", "o\u200bps"),
        ("ops", "ｏｐｓ"),
        ("ops", "OPS"),
        ("paul", "pau1"),
        ("Ian", "lan"),
        ("scope", "\u0455\u0441\u043e\u0440\u0435"),
        ("modern", "modem"),
        ("kim lee", "kim\u00a0lee"),
        ("kim lee", "kimlee"),
    ],
)
def test_names_that_look_alike_are_alike(one: str, other: str) -> None:
    assert alike(one, other) and alike(other, one)


@pytest.mark.parametrize(("one", "other"), [("ann", "anna"), ("김민수", "김민주"), ("bob", "rob"), ("öz", "oz")])
def test_names_of_different_people_are_not(one: str, other: str) -> None:
    assert not alike(one, other)


@pytest.mark.parametrize("name", ["ops", "김 감독", "Ann O'Neil", "jean-luc", "зоя", "이 ops", "kim2", "ops@host"])
def test_ordinary_names_are_taken(name: str) -> None:
    assert checked_name(f" {name} ", "--as") == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "needs a name"),
        ("ops.", "must begin and end with a letter or digit"),
        (" .ops", "must begin and end with a letter or digit"),
        ("\u043eps", "mixes Cyrillic and Latin letters"),
        ("o\u200bps", "visible characters"),
        ("ｏｐｓ", 'write "ops"'),
        ("ann (claimed) through ops", "no U\\+0028"),
        ("ann, bob", "no U\\+002C"),
        ("a  b", "two spaces"),
        ("x" * 65, "at most 64"),
        ("a\nb", "visible characters"),
        ("ops\u3164", "."),
        ("\u115fops", "."),
        ("policy rule 1", "the record calls something else"),
    ],
)
def test_names_that_mislead_are_refused_with_one_sentence(name: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as refused:
        checked_name(name, "--as")
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    "name",
    [
        *("policy rule 1", "Policy Rule 12", "poIicy rule 1", "policy-rule-1", "policy", "rule 3", "rule", "deadline"),
        *("DEADLINE", "dead1ine", "limit", "supervisor", "system", "\u0455ystem", "mode risk", "uid-1000", "rule1"),
    ],
)
def test_the_record_s_own_names_are_nobody_s(name: str) -> None:
    assert is_reserved(name)
    with pytest.raises(BadInput):
        checked_name(name, "--as")


@pytest.mark.parametrize("name", ["ruler", "Modesta", "policeman", "limitova", "systemd-ann"])
def test_names_that_only_begin_alike_are_somebody_s(name: str) -> None:
    assert checked_name(name, "--as") == name
