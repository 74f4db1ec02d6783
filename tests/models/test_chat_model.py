"""A chat model asked by LangChain's own client, of a server that speaks OpenAI's protocol (D6)."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace

import pytest
from llama_support import Llama
from scripted_model import Cuts, Fails, Garbage, Hangs, Reply, Says, ScriptedModel, scripted_model

from hitl_tui.config.extras import install_command
from hitl_tui.config.model_settings import ModelSettings, Prices
from hitl_tui.core.errors import BadInput, HitlError, MissingExtra
from hitl_tui.models.chat_model import LARGEST, Answer, ChatModel, Form
from hitl_tui.models.failures import ModelFailure
from hitl_tui.models.usage import Usage, prices_of

pytest.importorskip("langchain_openai")

FORM = Form("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
KEY = {"OPENAI_API_KEY": "test-key"}
SETTINGS = ModelSettings("openai:scripted", retries=0, timeout=20)


def ask(model: ScriptedModel, form: Form | None = None, settings: ModelSettings = SETTINGS) -> Answer:
    chat = ChatModel(replace(settings, base_url=model.url), KEY)
    return asyncio.run(chat.ask([("system", "You add."), ("human", "1")], form))


def test_words_come_in_pieces_and_tokens_are_counted() -> None:
    heard: list[str] = []
    spent: list[Usage] = []

    async def count(usage: Usage) -> None:
        spent.append(usage)

    with scripted_model([Says("Words that take more than one piece.", usage=(1000, 200))]) as model:
        settings = replace(SETTINGS, base_url=model.url, prices=Prices(2.0, 10.0))
        chat = ChatModel(settings, KEY)
        answer = asyncio.run(chat.ask([("human", "speak")], on_text=heard.append, count=count))
    assert answer.text == "".join(heard) == "Words that take more than one piece."
    assert len(heard) > 1
    assert spent == [Usage(1000, 200, cost=0.004, calls=1)]
    assert model.asked[0]["authorization"] == "Bearer test-key"


def test_a_server_that_counts_nothing_is_estimated() -> None:
    with scripted_model([Says("Four words of text.", usage=None)]) as model:
        usage = ask(model).usage
    assert (usage.estimated, usage.unpriced) == (1, 1)
    assert usage.input_tokens > 1
    assert usage.output_tokens > 4


def test_what_a_server_leaves_uncounted_is_estimated() -> None:
    with scripted_model([Says("Four words of text.", usage=(0, 20))]) as model:
        usage = ask(model).usage
    assert (usage.estimated, usage.output_tokens) == (1, 20)
    assert usage.input_tokens > 1


@pytest.mark.parametrize(
    "said",
    [
        Says(calls=(("add", {"a": 1}),)),
        Says('{"a": 1}'),
        Says('Here it is:\n```json\n{"a": 1}\n```\nIs it right?'),
        Says('Of {b}, this:\n```\n{"a": 1}\n```\nand not {"a": 2}.'),
        Says('<tools>\n{"a": 1}\n</tools>'),
        Says('<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'),
        Says('<tool_call>{"name": "add", "arguments": {"a": 1}}'),
        Says('```json\n{"b": 1}\n```\nor rather\n```json\n{"a": 1}\n```'),
    ],
)
def test_a_form_is_filled_in_by_a_call_or_in_the_text(said: Says) -> None:
    with scripted_model([said]) as model:
        assert ask(model, FORM).filled == {"a": 1}
    assert model.asked[0]["tool_choice"] == {"type": "function", "function": {"name": "add"}}


@pytest.mark.parametrize(
    "said",
    [
        Says("I would rather not."),
        Says(calls=(("add", '{"a": '),)),
        Says('{"a": 1, "a": 2}'),
        Says('```json\n{"a": 1}\n```\nor\n```json\n{"a": 2}\n```'),
        Says('<tools>\n{"name": "other", "arguments": {"a": 1}}\n{"name": "more", "arguments": {}}\n</tools>'),
        Says("```json\n[]\n```"),
        Says(calls=(("other", {}),)),
    ],
)
def test_what_is_no_form_is_none(said: Says) -> None:
    with scripted_model([said]) as model:
        assert ask(model, FORM).filled is None


def asked_twice(model: ScriptedModel, name: str = "openai:scripted") -> list[Answer]:
    async def both() -> list[Answer]:
        chat = ChatModel(replace(SETTINGS, name=name, base_url=model.url), KEY)
        return [await chat.ask([("system", "You add."), ("human", "1")], FORM) for _ in range(2)]

    return asyncio.run(both())


def test_a_server_that_ignores_the_form_gets_it_as_the_format_of_its_answer() -> None:
    with scripted_model([Llama({"add": {"a": 1}})]) as model:
        first, second = asked_twice(model)
    assert (first.filled, second.filled) == (None, {"a": 1})
    assert (second.usage.input_tokens, second.usage.output_tokens) == (100, 20)
    asked = model.asked[1]
    assert asked["response_format"]["json_schema"]["schema"] == FORM.schema
    assert "tools" not in asked and "tool_choice" not in asked
    assert json.dumps(FORM.schema) in model.texts(1)  # llama.cpp doesn't show it to the model


def test_a_server_that_takes_the_form_as_a_tool_is_never_asked_otherwise() -> None:
    with scripted_model([Says(calls=(("add", '{"a": '),)), Says(calls=(("add", {"a": 1}),))]) as model:
        assert [answer.filled for answer in asked_twice(model)] == [None, {"a": 1}]
    assert ["response_format" in body for body in model.asked] == [False, False]


@pytest.mark.parametrize("refused", [Fails(400, "response_format isn't known"), Fails(422), Fails(501)])
def test_a_server_that_knows_no_format_is_asked_as_before(refused: Fails) -> None:
    with scripted_model([Says("No."), refused, Says('{"a": 1}')]) as model:
        assert [answer.filled for answer in asked_twice(model)] == [None, {"a": 1}]
    assert ["response_format" in body for body in model.asked] == [False, True, False]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (Fails(401), "refused the key in OPENAI_API_KEY."),
        (Says('{"a": ', finish="length"), "openai:scripted was cut off at 8,192 tokens."),
        (Cuts('{"a": '), "ended the connection in the middle of an answer."),
        (Says("{" * 1_000_000, pieces=5_000), f"openai:scripted gave an answer of more than {LARGEST:,} characters."),
    ],
)
def test_a_format_fails_as_words_do(said: Reply, sentence: str) -> None:
    with scripted_model([Says("No."), said]) as model, pytest.raises(ModelFailure) as failure:
        asked_twice(model)
    assert sentence in failure.value.message
    assert len(model.asked) == 2


def test_words_that_are_only_braces_are_no_form() -> None:
    with scripted_model([Says("{" * 100_000 + '{"a":' * 10_000, pieces=100_000)]) as model:
        assert ask(model, FORM).filled is None


@pytest.mark.sampled(4)
@pytest.mark.long
@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (Fails(401, "Incorrect API key provided: test-key"), "{host} refused the key in OPENAI_API_KEY."),
        (Fails(404), '{host} has no model "scripted".'),
        (Fails(429), "openai:scripted is over its rate limit, after 0 retries; try again in a while."),
        (Fails(503), "{host} failed (HTTP 503), after 0 retries."),
        (Cuts(), "{host} ended the connection in the middle of an answer."),
        (
            Says("x" * 10_000_000, pieces=50_000),
            f"openai:scripted gave an answer of more than {LARGEST:,} characters.",
        ),
        (
            Says(calls=(("add", '{"a": "' + "x" * 10_000_000),)),
            f"openai:scripted gave an answer of more than {LARGEST:,} characters.",
        ),
        (Says("half", finish="length"), "openai:scripted was cut off at 8,192 tokens."),
    ],
)
def test_each_failure_is_one_sentence(said: Reply, sentence: str) -> None:
    with scripted_model([said]) as model, pytest.raises(ModelFailure) as failure:
        ask(model)
    assert failure.value.message == sentence.format(host=model.url.split("/")[2])


@pytest.mark.parametrize("body", ["<html>a proxy speaks</html>", "{}" * 5_000_000, ""])
def test_garbage_is_a_failure(body: str) -> None:
    with scripted_model([Garbage(body)]) as model, pytest.raises(ModelFailure):
        ask(model)


@pytest.mark.parametrize(
    ("provider", "package", "extra"),
    [("openai", "langchain_openai", "openai"), ("anthropic", "langchain_anthropic", "anthropic"),
     ("google_genai", "langchain_google_genai", "google")],
)  # fmt: skip
def test_a_package_that_is_missing_names_its_extra(
    provider: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as Python itself marks what can't be imported
    with pytest.raises(MissingExtra) as missing:
        ChatModel(ModelSettings(f"{provider}:x"), KEY)
    assert missing.value.help == f"Install it with: {install_command(extra)}"


def test_an_answer_that_takes_too_long_is_given_up() -> None:
    with scripted_model([Hangs()]) as model, pytest.raises(ModelFailure, match=r"gave no answer within 0\.3 s"):
        ask(model, settings=replace(SETTINGS, timeout=0.3))


def test_a_server_that_is_away_is_named() -> None:
    with scripted_model([Says("x")]) as model:
        pass
    with pytest.raises(ModelFailure, match="can't be reached"):
        ask(model)


@pytest.mark.long
def test_a_busy_server_is_asked_again() -> None:
    with scripted_model([Fails(429, retry_after=0.01), Fails(500), Says("at last")]) as model:
        assert ask(model, settings=replace(SETTINGS, retries=2)).text == "at last"
    assert len(model.asked) == 3


def test_calls_keep_to_a_rate() -> None:
    async def twice(chat: ChatModel) -> float:
        begun = asyncio.get_running_loop().time()
        for _ in range(3):
            await chat.ask([("human", "1")])
        return asyncio.get_running_loop().time() - begun

    with scripted_model([Says("x")]) as model:
        chat = ChatModel(replace(SETTINGS, base_url=model.url, requests_per_minute=300), KEY)
        assert asyncio.run(twice(chat)) > 0.35


@pytest.mark.parametrize(
    ("name", "environ", "error", "sentence"),
    [
        ("openai:gpt-5", {}, BadInput, "The model openai:gpt-5 needs a key: set OPENAI_API_KEY in the environment."),
        ("opnai:gpt-5", KEY, BadInput, 'No model provider "opnai"; did you mean "openai"?'),
        ("nonsense:x", KEY, BadInput, 'No model provider "nonsense"; known ones are anthropic, google_genai, openai'),
        ("upstage:x", KEY, MissingExtra, "The model upstage:x needs the package langchain-upstage."),
    ],
)
def test_what_cannot_be_opened_is_said(
    name: str, environ: dict[str, str], error: type[HitlError], sentence: str
) -> None:
    with pytest.raises(error) as raised:
        ChatModel(ModelSettings(name), environ)
    assert sentence in raised.value.message


def test_prices_are_declared_or_known() -> None:
    assert prices_of(ModelSettings("openai:gpt-5-mini")) == Prices(0.25, 2.0)
    assert prices_of(ModelSettings("openai:gpt-5-mini", base_url="http://127.0.0.1:1/v1")) is None
    assert prices_of(ModelSettings("openai:no-such-model")) is None
    assert prices_of(ModelSettings("openai:x", prices=Prices(1.0, 2.0))) == Prices(1.0, 2.0)
