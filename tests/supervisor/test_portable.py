"""Forks, exports and imports of real sessions: what asks there, what is known there, what stays (C8)."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from portable_support import (
    BACK_UP,
    COUNT,
    DELETE,
    QUERY,
    VERIFY,
    Person,
    cleanup,
    contents,
    left_over,
    person_at,
    records,
    states,
    statuses,
    threads,
)
from trusting import trust_workspace

from hitl_tui.core.errors import BadInput, SessionBusy, StorageError, UnknownName
from hitl_tui.ledger.audit import verify
from hitl_tui.supervisor.session_registry import SessionRegistry

APPROVE = "/todo approve"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def workspace(data: Path) -> Path:
    return cleanup(data)


@pytest.fixture
async def ann(data: Path, workspace: Path) -> AsyncIterator[Person]:
    """A person with session s1, which asks whether to count."""
    async with person_at(data) as person:
        await person.bench.create(QUERY, workspace)
        await person.say("s1")
        yield person
        assert (await verify(person.bench.ledger)).problems == ()
        assert left_over(data) == []


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def waiting(person: Person, session_id: str, todo_id: str) -> str:
    """Return the checkpoint at which a session waited for a TODO's approval."""
    async with person.at(session_id) as session:
        page = await session.checkpoints(100)
        return next(c.checkpoint_id for c in page if c.waiting and c.message == f"1 waiting: {todo_id}")


# Fork


@pytest.mark.long
async def test_a_fork_asks_the_same_and_runs_to_its_own_end(ann: Person, workspace: Path) -> None:
    await ann.say("s1", APPROVE)
    made = (await ann.bench.admin.fork("s1", by="ann")).session
    summary = await ann.bench.admin.summary(made.id)
    assert (made.id, summary.status, summary.questions) == ("s2", "waiting", 1), "before anybody opens it"
    source, copy = (await ann.say("s1")).questions[0], (await ann.say("s2")).questions[0]
    assert (source.todo_id, copy.todo_id) == (BACK_UP, BACK_UP)
    assert {**source.view.request.subject, "session": "s2"} == dict(copy.view.request.subject)
    assert source.id != copy.id
    assert not (workspace / "backups").exists(), "nothing was executed"
    assert await ann.finish("s2") == [f"todo {BACK_UP}", f"todo {DELETE}", f"todo {VERIFY}"]
    assert records(workspace) == 12_000
    assert statuses(await ann.say("s1")) == ["completed", "waiting_approval", "pending", "pending"]


@pytest.mark.long
async def test_a_fork_from_before_a_deletion_asks_about_what_was_deleted(ann: Person, workspace: Path) -> None:
    await ann.say("s1", *[APPROVE] * 3)
    assert records(workspace) == 12_000
    made = (await ann.bench.admin.fork("s1", await waiting(ann, "s1", DELETE), title="again")).session
    seen = await ann.say(made.id)
    assert statuses(seen) == ["completed", "completed", "waiting_approval", "pending"]
    assert seen.questions[0].view.request.about["ran_before"]["status"] == "completed"
    with pytest.raises(AssertionError, match=r"shop\.db changed since you were asked"):
        await ann.say(made.id, f"{APPROVE} {DELETE}")
    seen = await ann.say(made.id, f"{APPROVE} {DELETE}")
    assert seen.questions[0].kind.value == "effect"
    assert await ann.finish(made.id) == [f"effect {DELETE}", f"todo {VERIFY}"]
    assert records(workspace) == 12_000


@pytest.mark.long
async def test_what_a_fork_did_is_asked_about_in_the_session_it_comes_from(ann: Person) -> None:
    await ann.say("s1", APPROVE)
    await ann.bench.admin.fork("s1")
    await ann.say("s2", APPROVE)
    seen = await ann.say("s1", f"{APPROVE} {BACK_UP}")
    assert seen.questions[0].kind.value == "effect"
    await ann.say("s1", f"/todo done {BACK_UP}")
    assert statuses(await ann.say("s1"))[:2] == ["completed", "completed"]


@pytest.mark.long
async def test_the_whole_history_comes_with_a_fork_under_its_own_name(ann: Person, data: Path) -> None:
    await ann.say("s1", APPROVE, APPROVE)
    made = (await ann.bench.admin.fork("s1")).session
    assert threads(data, made.id) == {"session_s2", f"s2/{COUNT}/0.1", f"s2/{BACK_UP}/0.1"}
    assert {s["session_id"] for s in states(data, made.id) if "session_id" in s} == {"s2"}
    lineage = ann.bench.data.session("s1").info().lineage  # its own, too
    assert '"s1' not in repr(states(data, made.id)).replace("'", '"').replace(f'"{lineage}"', "")
    seen = await ann.say(made.id, f"/checkpoint restore {await waiting(ann, made.id, BACK_UP)}")
    assert statuses(seen) == ["completed", "waiting_approval", "pending", "pending"]
    async with ann.at(made.id) as session:
        assert await session.steps(COUNT, 10), "the steps of its teams are there"
    assert seen.questions[0].todo_id == BACK_UP


@pytest.mark.slow
@pytest.mark.long
async def test_a_fork_of_a_long_session_has_its_todos(ann: Person, data: Path) -> None:
    await ann.say("s1", *[f"/todo priority {VERIFY} {p}" for p in ("high", "low") * 102])
    assert any("todos" in state for state in states(data, "s1")), "a checkpoint holds the plan whole"
    await ann.bench.admin.fork("s1")
    async with ann.at("s1") as one, ann.at("s2") as two:
        assert [t.to_dict() for t in one.snapshot.todos] == [t.to_dict() for t in two.snapshot.todos]
        assert (await two.checkpoints(1000))[-1].node == "coordinator"


async def test_a_session_that_is_open_can_be_forked_and_exported(ann: Person, tmp_path: Path) -> None:
    async with ann.at("s1"):
        made = (await ann.bench.admin.fork("s1")).session
        written = (await ann.bench.admin.export("s1", tmp_path / "s1.hitl")).file
        imported = (await ann.bench.admin.import_(written)).session
    for name in (made.id, imported.id):
        assert (await ann.say(name)).questions[0].todo_id == COUNT


@pytest.mark.slow
@pytest.mark.long
async def test_a_fork_of_a_fork_knows_what_both_did(ann: Person) -> None:
    first = await waiting(ann, "s1", COUNT)
    await ann.say("s1", APPROVE)
    await ann.bench.admin.fork("s1")
    await ann.say("s2", APPROVE)
    made = (await ann.bench.admin.fork("s2", first)).session
    assert await ann.finish(made.id) == [
        *(f"todo {COUNT}", f"todo {BACK_UP}", f"effect {BACK_UP}"),  # low risk counts again without being asked about
        *(f"todo {DELETE}", f"todo {VERIFY}"),
    ]


@pytest.mark.long
async def test_a_fork_of_a_finished_session_is_finished(ann: Person) -> None:
    await ann.finish("s1")
    made = (await ann.bench.admin.fork("s1")).session
    assert (await ann.bench.admin.summary(made.id)).status == "finished"
    assert (await ann.say(made.id)).response == (await ann.say("s1")).response


async def test_a_session_that_has_not_begun_is_forked_and_moved(ann: Person, workspace: Path, tmp_path: Path) -> None:
    await ann.bench.create(QUERY, workspace, session_id="new")
    made = (await ann.bench.admin.fork("new")).session
    written = (await ann.bench.admin.export("new", tmp_path / "new.hitl")).file
    imported = (await ann.bench.admin.import_(written)).session
    for name in (made.id, imported.id):
        assert (await ann.say(name)).questions[0].todo_id == COUNT
    with pytest.raises(BadInput, match="no checkpoints yet"):
        await ann.bench.admin.fork("new", "1f")


async def test_a_restore_that_was_only_begun_is_where_a_fork_begins(ann: Person) -> None:
    first = await waiting(ann, "s1", COUNT)
    await ann.say("s1", APPROVE)
    await ann.bench.ledger.begin_restore("s1", first, "ann", ann.bench.now())
    made = (await ann.bench.admin.fork("s1")).session
    assert (await ann.say(made.id)).questions[0].todo_id == COUNT


async def test_a_fork_that_cannot_be_leaves_nothing(ann: Person, workspace: Path) -> None:
    with pytest.raises(UnknownName, match='No checkpoint "zz"'):
        await ann.bench.admin.fork("s1", "zz")
    with pytest.raises(UnknownName, match="No session"):
        await ann.bench.admin.fork("s7")
    with pytest.raises(BadInput, match="title"):
        await ann.bench.admin.fork("s1", title=" \n")
    (workspace / "hitl.toml").write_text("[nonsense]\n")
    with pytest.raises(BadInput, match="nonsense"):
        await ann.bench.admin.fork("s1")
    shutil.rmtree(workspace)
    with pytest.raises(BadInput, match="doesn't exist"):
        await ann.bench.admin.fork("s1")
    assert ann.bench.data.ids() == ["s1"]
    assert [h.stream for h in await ann.bench.ledger.streams() if "/" not in h.stream] == ["s1"]


# Export and import


@pytest.mark.long
async def test_a_session_goes_on_in_another_place(ann: Person, workspace: Path, tmp_path: Path) -> None:
    await ann.say("s1", APPROVE, APPROVE)
    written = (await ann.bench.admin.export("s1", tmp_path / "s1.hitl")).file
    there = tmp_path / "there"
    shutil.copytree(workspace, there)
    trust_workspace(tmp_path / "elsewhere", there)
    async with person_at(tmp_path / "elsewhere") as bob:
        made = (await bob.bench.admin.import_(written, workspace=there, by="bob")).session
        assert (made.id, made.workspace) == ("s1", str(there))
        summary = await bob.bench.admin.summary("s1")
        assert (summary.status, summary.questions) == ("waiting", 1)
        assert await bob.finish("s1") == [f"todo {DELETE}", f"todo {VERIFY}"]
        assert (await verify(bob.bench.ledger)).problems == ()
    assert (records(there), records(workspace)) == (12_000, 22_000)


@pytest.mark.long
async def test_what_was_done_elsewhere_is_asked_about_and_its_result_is_there(
    ann: Person, workspace: Path, tmp_path: Path
) -> None:
    before = await waiting(ann, "s1", COUNT)
    await ann.say("s1", *[APPROVE] * 3)
    written = (await ann.bench.admin.export("s1", tmp_path / "s1.hitl")).file
    trust_workspace(tmp_path / "elsewhere", workspace)
    async with person_at(tmp_path / "elsewhere") as bob:
        await bob.bench.create(QUERY, workspace)
        assert await bob.finish("s1"), "an unrelated session of the same name, which did the same"
        made = (await bob.bench.admin.import_(written)).session
        await bob.say(made.id, f"/checkpoint restore {before}")
        assert await bob.finish(made.id) == [
            *(f"todo {COUNT}", f"todo {BACK_UP}", f"effect {BACK_UP}"),
            *(f"todo {DELETE}", f"effect {DELETE}", f"todo {VERIFY}"),
        ]
        assert (await verify(bob.bench.ledger)).problems == ()


async def test_an_import_gets_a_new_id_where_the_old_one_is_or_was(ann: Person, tmp_path: Path) -> None:
    written = (await ann.bench.admin.export("s1", tmp_path / "s1.hitl")).file
    assert (await ann.bench.admin.import_(written)).session.id == "s2"
    await ann.bench.admin.delete("s1")
    await ann.bench.admin.delete("s2")
    workspace = cleanup(ann.bench.data.root)
    assert (await ann.bench.admin.import_(written, workspace=workspace)).session.id == "s3"
    assert (await ann.say("s3")).questions[0].todo_id == COUNT


@pytest.mark.long
async def test_an_import_asks_for_every_step_whatever_mode_it_was_in(ann: Person, data: Path, tmp_path: Path) -> None:
    await ann.say("s1", APPROVE, "/mode risk")
    before = await waiting(ann, "s1", BACK_UP)
    written = (await ann.bench.admin.export("s1", tmp_path / "s1.hitl")).file
    made = (await ann.bench.admin.import_(written)).session
    assert {s["control"]["mode"] for s in states(data, made.id) if "control" in s} == {"step"}
    seen = await ann.say(made.id, f"/checkpoint restore {before}")
    assert (seen.mode, seen.questions[0].todo_id) == ("step", BACK_UP)


async def test_an_export_of_a_copy_carries_all_that_was_decided(ann: Person, tmp_path: Path, data: Path) -> None:
    await ann.say("s1", APPROVE)
    await ann.bench.admin.fork("s1")
    once = (await ann.bench.admin.export("s2", tmp_path / "s2.hitl")).file
    async with person_at(tmp_path / "elsewhere") as bob:
        await bob.bench.admin.import_(once)
        twice = (await bob.bench.admin.export("s2", tmp_path / "again.hitl")).file
    found = [name for name in contents(twice) if name.startswith("ancestors/")]
    assert [name.split("-")[0] for name in sorted(found)] == ["ancestors/s1", "ancestors/s2"]
    assert b'"verdict": "approve"' in b"".join(contents(twice)[name] for name in found)


async def test_an_export_never_writes_over_a_file(ann: Person, tmp_path: Path) -> None:
    target = tmp_path / "there.hitl"
    target.write_text("mine")
    for path, why in ((target, "already exists"), (tmp_path, "is a folder"), (tmp_path / "no" / "x", "doesn't exist")):
        with pytest.raises(BadInput, match=why):
            await ann.bench.admin.export("s1", path)
    assert target.read_text() == "mine"
    link = tmp_path / "link.hitl"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="already exists"):
        await ann.bench.admin.export("s1", link)
    assert names(tmp_path) == ["data", "link.hitl", "there.hitl"]


@pytest.mark.parametrize("ending", ["hitl", "md", "json"])
async def test_a_file_that_is_there_is_refused_before_the_session_is_read(
    ann: Person, tmp_path: Path, data: Path, ending: str
) -> None:
    target = tmp_path / f"there.{ending}"
    target.touch()
    (data / "sessions" / "s1" / "session.json").write_text("damaged")
    with pytest.raises(BadInput, match="already exists"):
        await ann.bench.admin.export("s1", target)


async def test_no_secret_is_in_an_export(tmp_path: Path, data: Path, workspace: Path) -> None:
    with (workspace / "hitl.toml").open("a") as file:
        file.write('\n[secrets]\nnames = ["DB_PASSWORD"]\n')
    trust_workspace(data, workspace)
    async with person_at(data, {"DB_PASSWORD": "hunter2-hunter2"}) as person:
        await person.bench.create(f"{QUERY} The password is hunter2-hunter2.", workspace)
        await person.say(
            "s1", APPROVE, "/todo add search_team what is hunter2-hunter2", "/todo skip 2 because of hunter2-hunter2"
        )
        await person.bench.admin.fork("s1", title="with hunter2-hunter2")
        for name in ("s1", "s2"):
            written = (await person.bench.admin.export(name, tmp_path / f"{name}.hitl")).file
            assert b"hunter2" not in b"".join(contents(written).values())
        assert "hunter2" not in person.bench.data.session("s2").info().title


async def test_an_import_says_what_it_needs(ann: Person, workspace: Path, tmp_path: Path) -> None:
    written = (await ann.bench.admin.export("s1", tmp_path / "s1.hitl")).file
    moved = tmp_path / "moved"
    shutil.move(workspace, moved)
    with pytest.raises(BadInput, match="name one with --workspace"):
        await ann.bench.admin.import_(written)
    with pytest.raises(BadInput, match="doesn't exist"):
        await ann.bench.admin.import_(written, workspace=tmp_path / "nix")
    assert ann.bench.data.ids() == ["s1"]
    assert (await ann.bench.admin.import_(written, workspace=moved)).session.workspace == str(moved)


# Rename, delete, search


async def test_a_title_is_one_harmless_line(ann: Person, workspace: Path) -> None:
    async with ann.at("s1"):
        assert (await ann.bench.admin.rename("s1", "  보증금\n 인상 \x1b[2J")).session.title == "보증금 인상 ␛[2J"
    assert (await ann.bench.admin.summary("s1")).title == "보증금 인상 ␛[2J"
    for title in ("", " \n", "x" * 201):
        with pytest.raises(BadInput, match="title"):
            await ann.bench.admin.rename("s1", title)
    with pytest.raises(UnknownName):
        await ann.bench.admin.rename("s2", "x")
    shutil.rmtree(workspace)
    assert (await ann.bench.admin.rename("s1", "gone")).session.title == "gone"


async def test_sessions_are_found_by_all_words_in_any_case(ann: Person, workspace: Path) -> None:
    await ann.bench.create("강남구 아파트 시세", workspace)
    await ann.bench.admin.rename("s2", "Apartment Prices")

    async def found(text: str) -> list[str]:
        return [s.id for s in await ann.bench.admin.sessions(text)]

    assert await found("") == ["s1", "s2"]
    assert await found("PRICES apart") == ["s2"]
    assert await found("강남구") == ["s2"], "the question counts too, however it was typed"
    assert await found("duplicate prices") == []


async def test_the_copy_of_a_starter_goes_with_the_last_session_in_it(ann: Person, tmp_path: Path) -> None:
    admin = ann.bench.admin
    copy = cleanup(ann.bench.data.root)
    first = (await ann.bench.create(QUERY, copy)).folder.path.name
    await ann.say(first)
    other = (await admin.fork(first)).session.id
    await admin.delete(first)
    assert copy.is_dir(), "the fork works there"
    assert (await ann.say(other)).questions
    await admin.delete(other)
    assert not copy.exists()
    own = tmp_path / "own"
    shutil.copytree(cleanup(tmp_path / "elsewhere"), own)
    trust_workspace(ann.bench.data.root, own)
    mine = (await ann.bench.create(QUERY, own)).folder.path.name
    await admin.delete(mine)
    assert own.is_dir()


async def test_a_deleted_session_is_gone_and_its_record_stays(ann: Person) -> None:
    await ann.say("s1", APPROVE)
    async with ann.at("s1"):
        with pytest.raises(SessionBusy, match="can't be deleted now"):
            await ann.bench.admin.delete("s1")
    assert (await ann.say("s1")).questions, "and it is as it was"
    await ann.bench.admin.delete("s1", by="ann")
    assert await ann.bench.admin.sessions() == []
    assert await ann.bench.ledger.requests(ann.bench.now()) == [], "nobody is asked any more"
    kinds = [e.kind for e in await ann.bench.ledger.entries("s1")]
    assert "decision" in kinds
    assert kinds[-1] == "session_deleted"
    with pytest.raises(UnknownName):
        await ann.bench.admin.delete("s1")
    await ann.bench.create(QUERY, cleanup(ann.bench.data.root))
    assert ann.bench.data.ids() == ["s2"]


@pytest.mark.long
async def test_a_fork_uses_what_a_deleted_session_did(ann: Person) -> None:
    await ann.say("s1", APPROVE)
    await ann.bench.admin.fork("s1")
    await ann.say("s1", APPROVE)
    await ann.bench.admin.delete("s1")
    assert await ann.finish("s2") == [f"todo {BACK_UP}", f"effect {BACK_UP}", f"todo {DELETE}", f"todo {VERIFY}"]


async def test_a_deletion_that_was_begun_is_ended_by_whoever_comes(data: Path, workspace: Path) -> None:
    async with person_at(data) as person:
        await person.bench.create(QUERY, workspace)
        await person.say("s1")
    (data / "sessions" / "s1").rename(data / "sessions" / ".deleted-s1")
    (data / "sessions" / ".new-x").mkdir()
    async with person_at(data) as person:
        assert left_over(data) == []
        assert await person.bench.ledger.requests(person.bench.now()) == []
        assert (await person.bench.ledger.entries("s1"))[-1].kind == "session_deleted"


async def test_what_somebody_makes_right_now_is_left_alone(ann: Person, data: Path) -> None:
    from hitl_tui.supervisor.session_staging import SessionStaging

    with SessionStaging(data / "sessions").stage() as stage:
        async with SessionRegistry.open(data, {}):
            assert stage.is_dir()


async def test_a_damaged_session_is_named_and_can_be_deleted(ann: Person, data: Path, tmp_path: Path) -> None:
    (data / "sessions" / "s1" / "checkpoints.db").write_bytes(b"nothing of the kind" * 100)
    for attempt in (ann.bench.admin.fork("s1"), ann.bench.admin.export("s1", tmp_path / "x.hitl")):
        with pytest.raises(StorageError, match="can't be read"):
            await attempt
    assert names(tmp_path) == ["data"]
    await ann.bench.admin.delete("s1")
    assert ann.bench.data.ids() == []
