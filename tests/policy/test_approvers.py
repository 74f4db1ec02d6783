"""Who counts: the folder's owner, listed accounts, and tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.core.errors import BadInput, ConfigError, Refused
from hitl_tui.core.policy import Policy, Rule, Ruling, Terms
from hitl_tui.policy.accounts import account_name
from hitl_tui.policy.approvers import (
    FILE_NAME,
    IN_HEADER,
    Approver,
    ApproverFile,
    Approvers,
    claimed_identity,
    identify,
    identify_by_token,
    new_token,
    read_approvers,
    to_toml,
    token_hash,
)
from hitl_tui.policy.operator_identity import Operator
from hitl_tui.policy.rule_check import folder_problems, unsatisfiable

TOKEN = new_token()
BOB = Approver("bob", token=token_hash(TOKEN), level=1)
ANNA = Approver("Anna", account="ops", level=2)


def test_the_owner_s_account_counts_without_a_list_and_names_are_claims() -> None:
    nobody = Approvers("ops")
    assert identify(nobody, account="ops") == identify(nobody, "OPS", account="ops")
    found = identify(nobody, "ann", account="ops")
    assert (found.name, found.person, found.proof, found.level) == ("ann (claimed) through ops", "ops", "account", 0)
    stranger = identify(nobody, account="eve")
    assert (stranger.name, stranger.person, stranger.proof) == ("eve", "", "")


def test_an_account_is_the_approver_it_is_listed_for() -> None:
    found = identify(Approvers("ops", (ANNA, BOB)), account="ops")
    assert (found.name, found.person, found.level) == ("Anna", "Anna", 2)


def test_a_name_of_another_approver_can_not_be_claimed() -> None:
    known = Approvers("ops", (BOB,))
    for name in ("bob", "BOB"):
        with pytest.raises(BadInput, match=r"(?i)^bob is an approver"):
            identify(known, name, account="ops")
    with pytest.raises(BadInput, match="can't be told from bob"):
        identify(known, "b0b", account="ops")
    with pytest.raises(BadInput, match="ops is an approver"):
        identify(known, "ops", account="eve")


def test_from_elsewhere_the_owner_s_name_is_a_claim_and_an_approver_s_is_refused() -> None:
    found = claimed_identity(Approvers("ops"), "ops")
    assert (found.name, found.person, found.claimed) == ("ops (claimed)", "", "ops")
    with pytest.raises(BadInput, match="bob is an approver"):
        claimed_identity(Approvers("ops", (BOB,)), "bob")
    with pytest.raises(BadInput, match=r"decide with a token: it goes into the header Authorization: Bearer TOKEN"):
        claimed_identity(Approvers("ops", (BOB,)), "bob", IN_HEADER)


def test_a_token_proves_its_own_approver_only() -> None:
    known = Approvers("ops", (BOB, Approver("kim", token=token_hash("other"))))
    found = identify_by_token(known, "Bob", f"{TOKEN}\n", "ops")
    assert (found.name, found.person, found.proof, found.level, found.account) == ("bob", "bob", "token", 1, "ops")
    for name, token in (("kim", TOKEN), ("bob", ""), ("bob", "sha256:" + "0" * 64), ("eve", TOKEN), ("bob", BOB.token)):
        with pytest.raises(Refused):
            identify_by_token(known, name, token)
    with pytest.raises(Refused):
        identify_by_token(Approvers("ops", (BOB,), "the file can't be read"), "bob", TOKEN)


def test_the_owner_s_own_token_makes_no_second_person() -> None:
    own = Approver("ops", token=token_hash(TOKEN), level=3)
    known = Approvers("ops", (own,))
    assert identify(known, account="ops").person == identify_by_token(known, "ops", TOKEN).person == "ops"
    assert known.shortfall(Terms(quorum=2))


def test_what_nobody_can_satisfy_is_said_with_what_helps() -> None:
    alone, two = Approvers("ops"), Approvers("ops", (BOB,))
    assert alone.shortfall(Terms()) == two.shortfall(Terms(quorum=2)) == two.shortfall(Terms(level=1)) == ""
    assert alone.shortfall(Terms(quorum=2)) == (
        "Nobody can approve this: it takes 2 approvers; known here: 1. Add one with: hitl-tui approver add NAME"
    )
    assert "--level 2" in two.shortfall(Terms(level=2))
    assert two.shortfall(Terms(quorum=2), requester="bob")
    assert "line 3" in Approvers("ops", (), "approvers.toml line 3: x.").shortfall(Terms(level=1))
    policy = Policy([Rule(Ruling.DENY, terms=Terms(quorum=9)), Rule(Ruling.ASK, terms=Terms(quorum=3))])
    (found,) = unsatisfiable(policy, two, '[[policy]]\ndecision="deny"\n\n[[policy]]\nquorum=3\n')
    assert (found.rule, found.line, found.quorum) == (2, 4, 3)


def test_the_file_is_read_as_it_was_written_and_anew_when_it_changed(tmp_path: Path) -> None:
    file = ApproverFile(tmp_path)
    assert file.current.people == (Approver(account_name(), account_name()),)
    file.write([ANNA, BOB])
    assert read_approvers(to_toml([ANNA, BOB]).encode()) == (ANNA, BOB) == file.current.listed
    (tmp_path / FILE_NAME).write_text("[[approver]]\nname = 3\n", encoding="utf-8")
    assert file.current.people == () and "line 2" in file.current.problem
    (tmp_path / FILE_NAME).unlink()
    assert file.current.problem == "" and file.current.listed == ()


HASH = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[approver]]\nname = "bob"\n', "line 1: bob needs an account or a token"),
        ('[[approver]]\nname = "bob"\ntoken = "secret"\n', "line 1: The token of bob must be written as its hash"),
        ('[[approver]]\nname = "bob"\nlvel = 1\n', 'line 3: unknown key "lvel"'),
        ('[[approver]]\nname = "bob"\naccount = "b"\nlevel = "1"\n', 'line 4: "level" must be a number'),
        ('[[approver]]\nname = "bob"\naccount = "b"\nlevel = true\n', 'line 4: "level" must be a number'),
        ('[[approver]]\nname = "bob"\naccount = "b"\nlevel = 101\n', "from 0 to 100"),
        ("[[approver]\n", "line 1: this isn't valid TOML"),
        ("approver = 1\n", "line 1: approvers are written as"),
        ("[approver]\nname = 1\n", "line 1: approvers are written as"),
        ("[[aprover]]\n", 'line 1: unknown key "aprover"'),
        (f'[[approver]]\nname = "bob"\ntoken = "{HASH}"\n[[approver]]\nname = "b0b"\naccount = "b"\n', "can't be told"),
        (f'[[approver]]\nname = "bob"\ntoken = "{HASH}"\n[[approver]]\nname = "kim"\ntoken = "{HASH}"\n', "same token"),
        ('[[approver]]\nname = "bob"\naccount = "a"\n[[approver]]\nname = "kim"\naccount = "a"\n', "bob's already"),
        ('[[approver]]\nname = "bob"\naccount = "a"\n[[approver]]\nname = "a"\naccount = "c"\n', "account of bob"),
        ('[[approver]]\nname = "0ps"\naccount = "b"\n', "can't be told from ops, the account that owns"),
        ('[[approver]]\nname = "policy rule 1"\naccount = "b"\n', "the record calls something else"),
        ("\xff", "line 1"),
    ],
)
def test_a_file_that_was_edited_badly_is_one_sentence_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_approvers(text.encode("latin-1"), "ops")
    assert refused.value.message.startswith(f"{FILE_NAME} line ") and said in refused.value.message
    assert "\n" not in refused.value.message


def test_who_acts_is_found_out_anew_each_time(tmp_path: Path) -> None:
    acts = Operator(tmp_path, "bob")
    account = account_name()
    assert acts().name == f"bob (claimed) through {account}" == acts.name
    ApproverFile(tmp_path).write([BOB, Approver("Anna", account=account, level=2)])
    assert (acts().name, acts().level) == ("Anna", 2), "a claim of what became an approver's name is dropped"
    assert acts.by_token("bob", TOKEN).account == account


def test_a_folder_s_rules_are_named_for_a_first_screen(tmp_path: Path) -> None:
    assert folder_problems(tmp_path, Approvers("ops")) == ()
    file = tmp_path / "hitl.toml"
    file.write_text('[[policy]]\ndecision = "ask"\nlevel = 1\n', encoding="utf-8")
    (said,) = folder_problems(tmp_path, Approvers("ops"))
    assert said.startswith("hitl.toml rule 1: Nobody can approve this: it takes an approver of level 1")
    file.write_text('[[policy]]\nlevel = "x"\n', encoding="utf-8")
    assert folder_problems(tmp_path, Approvers("ops")) == ()
