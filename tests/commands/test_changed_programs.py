"""What is approved is the program that was shown: one that changed since runs only after another question."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from test_rules_commands import CommandedSession, commanded_session

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.config.loader import parse_config
from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Verdict, closed_words
from hitl_tui.policy.executable_files import WHOLE, Bindings, Surroundings
from hitl_tui.supervisor.snapshot import Question

SHOWN, OTHER = 'touch "$1"\n', 'touch other "$1"\n'


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "w" / "tools" / "clean.sh"
    path.parent.mkdir(parents=True)
    write(path, SHOWN)
    return path


async def another(d: CommandedSession, question: Question) -> Question:
    """Wait until a TODO is asked anew."""
    seen = d.session.snapshot
    while (fresh := seen.question_of(question.todo_id)) is None or fresh.id == question.id:
        seen = await d.session.changed(seen)
    return fresh


async def test_a_program_that_changed_while_it_was_asked_about_is_asked_anew(tmp_path: Path, script: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        first = await d.asked(await d.add("clean file=one"))
        arguments = first.view.request.subject["arguments"]
        assert arguments["programs"].keys() == {"tools/clean.sh", WHOLE}
        assert arguments["programs"]["tools/clean.sh"] == hashlib.sha256(SHOWN.encode()).hexdigest()
        write(script, OTHER)
        with pytest.raises(Refused, match="changed since you were asked") as refused:
            await d.handler.decide(first, Verdict.APPROVE)
        assert refused.value.reason == "stale"
        second = await another(d, first)
        assert second.digest != first.digest and not list((tmp_path / "w").glob("one"))
        replaced = await d.session.writer.request(first.id)
        assert replaced is not None
        assert closed_words(replaced.request, replaced.resolution, d.session.writer.now()) == (
            "This question was replaced: tools/clean.sh changed. Look at the new one; what no step executes goes into "
            "pins.exclude of hitl.toml."
        )
        assert (await d.handler.decide(second, Verdict.APPROVE)).status == "resumed"
        await d.status(first.todo_id, "completed")
        assert (tmp_path / "w" / "other").exists()


async def test_who_approves_too_late_is_told_that(tmp_path: Path, script: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        first = await d.asked(await d.add("clean file=one"))
        await d.handler.decide(first, Verdict.APPROVE)
        await d.status(first.todo_id, "completed")
        write(script, OTHER)
        with pytest.raises(Refused) as refused:
            await d.handler.decide(first, Verdict.APPROVE)
        assert refused.value.reason == "repeated"


async def test_a_program_that_changed_after_it_was_approved_is_not_run(tmp_path: Path, script: Path) -> None:
    async with commanded_session(tmp_path, Mode.STEP) as d:
        todo_id = await d.add("clean file=one")
        first = await d.asked(todo_id)
        team = d.session.setup.team("command_team")
        check = team._check  # type: ignore[attr-defined]

        def changes_first(*given: object) -> object:
            write(script, OTHER)
            return check(*given)

        team._check = changes_first  # type: ignore[attr-defined]
        await d.handler.decide(first, Verdict.APPROVE)
        await d.status(todo_id, "failed")
        assert not list((tmp_path / "w").glob("o*"))
        failed = await another(d, first)
        assert failed.kind is Kind.FAILURE
        assert "changed since this step was planned or approved" in str(failed.view.request.subject)
        with pytest.raises(Refused, match="changed since you were asked"):
            await d.handler.decide(failed, Verdict.RETRY)
        anew = await another(d, failed)
        assert anew.kind is Kind.FAILURE, "what is run again is asked about anew"
        assert anew.digest != failed.digest and anew.view.request.about["changed"] == ["tools/clean.sh"]


async def test_what_another_step_changed_is_asked_anew_when_that_ends(tmp_path: Path, script: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        first = await d.asked(await d.add("clean file=one"))
        making = await d.asked(await d.add("make file=tools/new.sh"))
        await d.handler.decide(making, Verdict.APPROVE)
        second = await another(d, first)
        assert second.digest != first.digest
        assert second.view.request.about["changed"] == ["tools/new.sh"]
        assert (await d.handler.decide(second, Verdict.APPROVE)).status == "resumed"
        await d.status(first.todo_id, "completed")


async def test_a_failure_keeps_its_error_when_another_step_changed_what_it_would_run(
    tmp_path: Path, script: Path
) -> None:
    write(script, "exit 3\n")
    async with commanded_session(tmp_path, Mode.RISK) as d:
        asked = await d.asked(await d.add("clean file=one"))
        await d.handler.decide(asked, Verdict.APPROVE)
        failed = await another(d, asked)
        making = await d.asked(await d.add("make file=tools/new.sh"))
        await d.handler.decide(making, Verdict.APPROVE)
        anew = await another(d, failed)
        assert (anew.kind, anew.digest == failed.digest) == (Kind.FAILURE, False)
        assert anew.view.request.subject["error"] == failed.view.request.subject["error"]
        assert anew.view.request.about["changed"] == ["tools/new.sh"]
        write(script, SHOWN)
        with pytest.raises(Refused):
            await d.handler.decide(anew, Verdict.RETRY)
        await d.handler.decide(await another(d, anew), Verdict.RETRY)
        await d.status(asked.todo_id, "completed")


async def test_a_preview_is_taken_again_when_another_step_ended(tmp_path: Path, script: Path) -> None:
    (tmp_path / "away").mkdir()
    async with commanded_session(tmp_path, Mode.RISK) as d:
        first = await d.asked(await d.add("shown file=one"))
        outside = await d.asked(await d.add("make file=../away/new"))
        await d.session.settled()
        assert (await d.asked(first.todo_id)).view.evidence["text"] == ""
        await d.handler.decide(outside, Verdict.APPROVE)
        second = await another(d, first)
        seen = await d.session.settled()
        (shown,) = (q for q in seen.questions if q.todo_id == first.todo_id)
        assert shown.id == second.id and second.digest != first.digest
        assert shown.view.evidence["text"].splitlines() == ["new"]
        assert "changed" not in shown.view.request.about
        await d.handler.decide(await d.asked(await d.add("make file=../elsewhere")), Verdict.APPROVE)
        seen = await d.session.settled()
        assert [q.id for q in seen.questions if q.todo_id == first.todo_id] == [second.id], "it shows what is there"


async def test_a_step_of_low_risk_that_ended_changes_no_preview(tmp_path: Path, script: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        first = await d.asked(await d.add("clocked file=one"))
        await d.session.settled()
        await d.status(await d.add("look"), "completed")
        seen = await d.session.settled()
        assert [q.id for q in seen.questions if q.todo_id == first.todo_id] == [first.id], "only its clock went on"


async def test_a_standing_rule_lets_no_other_program_run(tmp_path: Path, script: Path) -> None:
    (tmp_path / "w" / "one").touch()  # what a run leaves behind is no other workspace then
    async with commanded_session(tmp_path, Mode.RISK) as d:
        first = await d.asked(await d.add("clean file=one"))
        await d.handler.handle_command(f"/rules allow {first.todo_id} --digest {first.digest}")
        await d.status(first.todo_id, "completed")
        again = await d.add("clean file=one")
        await d.status(again, "completed")
        write(script, OTHER)
        assert (await d.asked(await d.add("clean file=one"))).kind is Kind.TODO
        assert not (tmp_path / "w" / "other").exists()


def programs_of(declared: CommandDeclaration, root: Path) -> dict[str, str]:
    argvs = [argv for argv in (declared.run, declared.preview) if argv]
    return Bindings().command(declared, argvs, root, os.defpath, Surroundings())


def test_programs_are_what_runs_and_not_what_it_works_on(tmp_path: Path) -> None:
    for name in ("tools/a.py", "data.db", "report.txt", "run", "python3"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x", encoding="utf-8")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "begins").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "away.py").symlink_to(Path(__file__))
    text = (
        '[teams.command_team.commands.all]\nrun = ["python3", "tools/../tools/a.py", "data.db", "./run", "begins", '
        '"away.py", "gone.py", "{name}"]\npreview = ["./run", "-v", "report.txt"]\n'
        'parameters.name = { type = "string", default = "tools/a.py" }\n'
    )
    found = programs_of(parse_config(text, "hitl.toml").commands["all"], tmp_path)
    whole = found.pop(WHOLE)
    assert sorted(found) == ["away.py", "begins", "run", "tools/a.py"]
    (tmp_path / "data.db").write_text("y", encoding="utf-8")
    assert programs_of(parse_config(text, "hitl.toml").commands["all"], tmp_path)[WHOLE] != whole


def declaring(*run: str) -> CommandDeclaration:
    quoted = ", ".join(json.dumps(word) for word in run)
    return parse_config(f"[teams.command_team.commands.c]\nrun = [{quoted}]\n", "t").commands["c"]


@pytest.fixture
def memory_folder() -> Iterator[Path]:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no folder in memory that everybody may write to")
    with TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_what_a_command_names_outside_of_the_workspace_is_bound_whatever_it_looks_like(
    tmp_path: Path, memory_folder: Path
) -> None:
    root = tmp_path / "w"
    root.mkdir()
    job, script = tmp_path / "job", memory_folder / "job.sh"
    for path in (job, script):
        path.write_text("echo", encoding="utf-8")
    for named, declared in ((job, declaring("sh", "../job")), (script, declaring("sh", str(script)))):
        before = programs_of(declared, root)
        named.write_text("echo other", encoding="utf-8")
        now = programs_of(declared, root)
        assert Bindings().changed(before, now) == [str(named)]
    system = declaring("sh", "/usr/bin/env")
    assert "/usr/bin/env" not in programs_of(system, root), "only root can write it"


def test_what_can_be_no_file_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "folder.sh").mkdir()
    (tmp_path / "loop.sh").symlink_to(tmp_path / "loop.sh")
    (tmp_path / "a.sh").write_text("echo")
    words = ["echo " * 60, "x/" * 3_000, "folder.sh", "loop.sh", "a.sh/b.sh", "none.sh", "\udc80", "a.sh"]
    with_nul = replace(declaring("sh", "x"), run=("sh", "a\0b", *words))
    found = programs_of(with_nul, tmp_path)
    assert found.pop(WHOLE) and found == {"a.sh": hashlib.sha256(b"echo").hexdigest()}


def test_another_program_of_the_name_earlier_in_path_is_another_approval(tmp_path: Path) -> None:
    root, early = tmp_path / "w", tmp_path / "early"
    root.mkdir()
    early.mkdir()
    path, bindings, declared = f"{early}:{os.defpath}", Bindings(), declaring("zcat", "f")
    before = bindings.command(declared, [declared.run], root, path, Surroundings())
    assert bindings.command(declared, [declared.run], root, path, Surroundings()) == before
    (early / "zcat").write_text("#!/bin/sh\n", encoding="utf-8")
    (early / "zcat").chmod(0o755)
    now = bindings.command(declared, [declared.run], root, path, Surroundings())
    assert str(early / "zcat") in bindings.changed(before, now)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_program_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("echo")
    (tmp_path / "data.txt").write_text("1")
    for path in tmp_path.iterdir():
        path.chmod(0)
    assert programs_of(declaring("cat", "data.txt"), tmp_path) == {}
    with pytest.raises(BadInput, match=r"The program a\.sh can't be read: Permission denied\."):
        programs_of(declaring("sh", "a.sh"), tmp_path)
