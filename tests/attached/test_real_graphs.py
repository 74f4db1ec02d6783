"""Graphs of the documentation and of packages, attached by command and answered to their end (I1, I2).

Where a package is a graph, it is used unmodified; the documentation's patterns are written anew from their description
(each file in `graphs` says which it is).
"""

from __future__ import annotations

import pytest
from real_support import CASES, Case, Place, Talk, attaching, named

PLAIN = [case for case in CASES if not case.needs]
IDS = [case.name for case in CASES]


@pytest.mark.parametrize("case", PLAIN, ids=[case.name for case in PLAIN])
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
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_each_command_is_a_process_of_its_own(ready: Place, case: Case) -> None:
    ran = ready.attach(case)
    assert ran.code == 3, ran
    Talk(ready, case).to_the_end(ran.json)
    assert ready.done() == case.done
