"""Words that are looked for in the questions, steps and answers of sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from session_support import Place, step

from hitl_tui.supervisor.session_registry import SessionRegistry


async def _finds(tmp_path: Path, environ: dict[str, str]) -> None:
    place = Place(tmp_path, step("low", "weigh the Flour"), step("low", "bake", "weigh the Flour"))
    async with place.open() as op:
        asked = await op.rest()
        async with SessionRegistry.open(tmp_path / "data", environ) as registry:
            admin = registry.admin
            (found,) = await admin.sessions("fLOUR")
            assert (found.id, found.found) == ("s1", "weigh the Flour")
            (titled,) = await admin.sessions(asked.query)
            assert titled.found == "", "its title says so"
            assert not await admin.sessions("flour nowhere")
            words = set(found.found.casefold().split())
            await op.finish()
            response = (await op.rest()).response
            assert response is not None
            said = [w for w in response["text"].split() if w.isalpha() and w.casefold() not in words]
            assert said, response
            assert [one.id for one in await admin.sessions(said[-1])] == ["s1"]


async def test_words_of_steps_and_the_answer_find_a_session_in_a_folder(tmp_path: Path) -> None:
    await _finds(tmp_path, {})


@pytest.mark.long
async def test_words_of_steps_and_the_answer_find_a_session_in_a_database(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Place, "database", database)
    await _finds(tmp_path, {"HITL_DATABASE": database})
