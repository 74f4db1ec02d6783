"""Graphs of the documentation, attached by command and answered to their end (I1, I2); `test_real_restores` has all.

Where a package is a graph, it is used unmodified; the documentation's patterns are written anew from their description
(each file in `graphs` says which it is).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from real_cases import CASES, GRAPHS, Case, each
from real_support import Place, attaching, named

PLAIN = [case.name for case in CASES if not case.needs]


@each(*PLAIN)
def test_a_graph_is_attached_and_answered_to_its_end(place: Place, case: Case) -> None:
    ran = place.here(*attaching(case))
    assert ran.code == 3, ran
    document = ran.json
    for seen, words in case.talk:
        ran = place.here("do", "s", f"/answer {named(document, seen)} {words}", "--json")
        document = ran.json
        assert not document.get("error"), document
    assert ran.code == 0, document
    assert document["session_status"] == "finished"
    assert case.ends in str(document["response"])
    assert place.done() == case.done


@pytest.mark.long
@pytest.mark.graphs
def test_a_model_server_written_by_others_plays_an_agent(tmp_path: Path) -> None:
    llmock = pytest.importorskip("llmock.testing", reason="needs llmock: uv run --group graphs pytest -m graphs")
    pytest.importorskip("langchain_openai")
    with llmock.LLMockServer() as server:
        url = server.base_url("openai")
        place = Place(tmp_path, {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_KEY": "none"})
        words = "Please write a note with some content."
        ran = place.run("attach", f"{GRAPHS}/hitl_agent.py:batched", "--input", words, "--session", "s", "--json")
        document = ran.json
        (question,) = document["questions"]
        (call,) = question["subject"]["value"]["action_requests"]
        assert call["name"] == "write_note"
        document = place.do("/answer 1 edit name=a.txt content=mine")
    assert document["session_status"] == "finished", document["todos"]
    assert place.done() == {"wrote a.txt: mine": 1}
