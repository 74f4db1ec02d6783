"""Answers to attached graphs that say more than yes: edited arguments, secrets, rules of the policy, digests (I2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attached_support import Attached, attached, world

from hitl_tui.config.loader import parse_config
from hitl_tui.console.answer_actions import answers
from hitl_tui.core.errors import ConfigError
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.wording.question_rows import body

TOKEN = "s3cr3t-token-81"
SECRETS = '[secrets]\nnames = ["PAY_TOKEN", "OTHER_TOKEN"]\n'
RULES = """
[[policy]]
tool = "pay"
decision = "deny"
arguments = { properties = { amount = { exclusiveMinimum = 1000 } } }

[[policy]]
tool = "pay"
decision = "ask"
quorum = 2
arguments = { properties = { amount = { exclusiveMinimum = 100 } } }
"""


@pytest.fixture(autouse=True)
def _world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD", str(tmp_path / "world.txt"))
    monkeypatch.delenv("PAY_TOKEN", raising=False)
    monkeypatch.delenv("DIE", raising=False)


def workspace(root: Path, text: str) -> None:
    (root / "workspace").mkdir(exist_ok=True)
    (root / "workspace" / "hitl.toml").write_text(text, encoding="utf-8")


async def paid(op: Attached) -> Mapping[str, Any]:
    todo = op.now.todos[-1]
    assert todo.result is not None, todo.error
    found = (await op.session.artifact(str(todo.result["digest"])))["data"]["values"]["paid"]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("PAY_TOKEN", TOKEN)
    workspace(tmp_path, SECRETS)
    return {"PAY_TOKEN": TOKEN, "OTHER_TOKEN": "another-token-7"}


async def test_a_secret_that_is_shown_masked_runs_as_it_is(tmp_path: Path, secret: dict[str, str]) -> None:
    async with attached(tmp_path, "bill", '{"amount": 5}', environ=secret) as op:
        await op.ok("/todo approve")
        asked = op.asked[0]["action_requests"][0]["args"]
        assert (asked["token"], asked["url"]) == ("‹PAY_TOKEN›", "https://bank/‹PAY_TOKEN›/pay")
        await op.ok("/answer 1 edit amount=7 url=https://bank.example/‹PAY_TOKEN›/pay")
        assert await paid(op) == {"amount": 7, "token": len(TOKEN), "to": "the desk shop", "url": 25 + len(TOKEN)}
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file() and path.name != "checkpoints.db" and not path.name.startswith("checkpoints.db-"):
            assert TOKEN.encode() not in path.read_bytes(), path


async def test_a_secret_that_a_question_does_not_show_is_refused(tmp_path: Path, secret: dict[str, str]) -> None:
    async with attached(tmp_path, "bill", '{"amount": 5}', environ=secret) as op:
        await op.ok("/todo approve")
        strange = await op.say("/answer 1 edit to=‹OTHER_TOKEN›")
        assert "holds the secret OTHER_TOKEN" in strange.message and "from its environment" in strange.message
        told = await op.say("/answer 1 edit to=another-token-7")
        assert told.message == strange.message
        assert op.questions[0].kind is Kind.INTERRUPT
        await op.ok(f"/answer 1 edit token={TOKEN} to=me")  # what the question shows may be written out, too
        assert (await paid(op))["token"] == len(TOKEN)


async def test_a_secret_that_changed_meanwhile_is_never_sent_as_its_mask(
    tmp_path: Path, secret: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with attached(tmp_path, "bill", '{"amount": 5}', environ=secret) as op:
        await op.ok("/todo approve")
    changed = {**secret, "PAY_TOKEN": "rotated-token-99"}
    monkeypatch.setenv("PAY_TOKEN", changed["PAY_TOKEN"])
    async with attached(tmp_path, "bill", environ=changed) as op:
        await op.say("/answer 1 edit amount=6 url=https://bank.example/‹PAY_TOKEN›")
        assert op.questions[0].kind is Kind.FAILURE
        assert "what it stood for is no longer in the question" in op.now.todos[0].error
        await op.ok("/todo retry 1")
        assert op.questions[0].kind is Kind.INTERRUPT
        await op.ok("/answer todo_001.2 edit amount=6")  # what wasn't touched is what the graph asked with
        assert (await paid(op))["token"] in (len(TOKEN), len(changed["PAY_TOKEN"]))
    assert world(tmp_path) == {"pay 6": 1}


async def test_arguments_that_an_answer_changes_are_judged_again(tmp_path: Path) -> None:
    workspace(tmp_path, RULES)
    async with attached(tmp_path, "bill", '{"amount": 5}') as op:
        await op.ok("/todo approve")
        asked = op.questions[0].id
        denied = await op.say("/answer 1 edit amount=5000")
        assert denied.data["reason"] == "not_allowed"
        assert denied.message == "Rule 1 of the policy denies pay with these arguments; it can only be rejected."
        more = await op.say("/answer 1 edit amount=500")
        assert more.message.startswith("Rule 2 of the policy wants 2 people of level 0 for pay with these arguments")
        assert [q.id for q in op.questions] == [asked]
        await op.ok("/answer 1 edit amount=50")
    assert world(tmp_path) == {"pay 50": 1}


async def test_what_the_policy_denies_can_only_be_refused(tmp_path: Path) -> None:
    workspace(tmp_path, RULES)
    async with attached(tmp_path, "bill", '{"amount": 5000}') as op:
        await op.ok("/todo approve")
        said = "Rule 1 of the policy denies pay with these arguments; change them, or reject it."
        (asked,) = op.questions
        assert answers(asked)[0].why_not == said
        assert [row.text.plain for row in body(asked, "6") if row.label == "note"] == [said]
        assert (await op.say("/answer 1 approve")).message == said
        whole = await op.say('/answer 1 {"decisions": [{"type": "approve"}]}')
        assert whole.data["reason"] == "not_allowed" and whole.message.startswith("Rule 1 of the policy denies pay")
        await op.ok('/answer 1 reject "far too much"')
        assert await paid(op) == {"why": "far too much"}
    assert not world(tmp_path)


async def test_a_schema_of_the_answer_takes_no_call_out_of_the_policy(tmp_path: Path) -> None:
    workspace(tmp_path, RULES)
    async with attached(tmp_path, "form_bill", '{"amount": 5000}') as op:
        await op.ok("/todo approve")
        refused = await op.say('/answer 1 {"decisions": [{"type": "approve"}]}')
        assert refused.message.startswith("Rule 1 of the policy denies pay")
        await op.ok('/answer 1 {"decisions": [{"type": "reject", "message": "no"}]}')
        assert await paid(op) == {"why": "no"}
    assert not world(tmp_path)


async def test_a_rule_about_a_call_says_how_many_people_answer(tmp_path: Path) -> None:
    workspace(tmp_path, RULES)
    async with attached(tmp_path, "bill", '{"amount": 500}') as op:
        await op.ok("/todo approve")
        assert op.questions[0].view.request.terms.quorum == 2
        assert (await op.ok("/answer 1 approve")).data["needed"] == 1
        assert not world(tmp_path)
    async with attached(tmp_path, "bill", by="ben") as op:
        await op.ok("/answer 1 approve")
    assert world(tmp_path) == {"pay 500": 1}


async def test_an_answer_that_no_face_looked_at_is_judged_where_it_is_applied(tmp_path: Path) -> None:
    workspace(tmp_path, RULES)
    async with attached(tmp_path, "bill", '{"amount": 5}') as op:
        await op.ok("/todo approve")
        (asked,) = op.questions
        edited = {"name": "pay", "args": {"amount": 5000, "token": "none"}}
        value = {"decisions": [{"type": "edit", "edited_action": edited}]}
        refused = await op.handler.decide(asked, Verdict.RESPOND, value=value)
        await op.session.settled()
        assert refused.failed and refused.message.startswith("Rule 1 of the policy denies pay")
        assert op.questions[0].id != asked.id
        await op.ok("/answer 1 reject no")
    assert not world(tmp_path)


async def test_what_runs_again_is_right_at_each_moment(tmp_path: Path) -> None:
    def beside(op: Attached) -> list[str]:
        return [line for q in op.questions for line in q.again if "too, up to" in line]

    async with attached(tmp_path, "many", '{"names": ["a", "b", "c"]}') as op:
        await op.ok("/todo approve")
        assert beside(op) == ["2 other nodes restart too, up to their questions"] * 3
        await op.ok("/answer todo_001.2 two")
        assert beside(op) == ["1 other node restarts too, up to its question"] * 2
        await op.ok("/answer todo_001.3 three")
        assert beside(op) == []
        (line,) = op.questions[0].to_dict()["about"]["again"]
        assert line == (
            "What comes after your answer happens once; what `ask_one` did before it asked is done a second time"
        )


async def test_an_answer_with_a_digest_counts_for_exactly_that_question(tmp_path: Path) -> None:
    async with attached(tmp_path, "loop", "{}") as op:
        await op.ok("/todo approve")
        first = op.questions[0].digest
        await op.ok(f'/answer 1 "thirty" --digest {first}')
        again = await op.say(f"/answer 1 30 --digest {first}")
        assert again.data["reason"] == "repeated" and "Answered already: 001.1" in again.message
        assert (await op.say("/answer 1 30 --digest")).failed
        assert (await op.say("/answer todo_001.2 30 --digest abc")).data["reason"] == "stale"
        await op.ok(f"/answer 1 30 --digest={op.questions[0].digest[:12]}")
        assert op.now.status == "finished"


async def test_text_of_an_answer_may_hold_what_looks_like_an_option(tmp_path: Path) -> None:
    async with attached(tmp_path, "many", '{"names": ["a"]}') as op:
        await op.ok("/todo approve")
        sent = await op.ok("/answer 1 git push --force --digest-of it")
        assert sent.data["sent"] == "git push --force --digest-of it"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ('tool = "pay"\ndecision = "allow"', '"decision" in [[policy]] must be "ask" or "deny" for a tool'),
        ('tool = "pay"\ncommand = "c"\ndecision = "ask"', '"tool" in [[policy]] is for tools that graphs call'),
        (
            'arguments = {}\ndecision = "ask"',
            '"arguments" in [[policy]] need a tool, team, command, agent or action that has them',
        ),
        (
            'tool = "pay"\narguments = { type = "nothing" }\ndecision = "ask"',
            "must be a usable JSON Schema",
        ),
        ('tool = ""\ndecision = "ask"', '"tool" in [[policy]] must not be empty'),
    ],
)
def test_rules_about_calls_that_cannot_be_meant_are_one_sentence(rule: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(f"[[policy]]\n{rule}\n", "hitl.toml")
    assert caught.value.message.startswith("hitl.toml line ")
    assert says in caught.value.message, caught.value.message
