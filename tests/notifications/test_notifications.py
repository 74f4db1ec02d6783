"""Requests and decisions are told to real servers, by a process of its own (M7)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from notification_support import Place, Webhook, smtp_server, until, webhook

PASSWORD = "p@ss/w:rd?42"


pytestmark = pytest.mark.long


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    yield found
    for process in senders(found):
        os.kill(process, 9)


def senders(place: Place) -> list[int]:
    """Return the processes that send for a data folder."""
    listed = subprocess.run(["/bin/ps", "-eww", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [
        int(line.split()[0])
        for line in listed.splitlines()
        if "notification_sender" in line and str(place.data) in line
    ]


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


def test_an_opening_and_a_decision_are_told_once_by_a_process_of_its_own(place: Place, hook: Webhook) -> None:
    place.settings(hook.address)
    place.open()
    until(lambda: len(hook.came) == 1)
    told = hook.came[0]
    assert told["title"] == "Approval wanted: deploy.1 · high risk · work"
    assert "Delete it?" in told["message"]
    assert f"folder: {place.workspace} on {socket.gethostname()}" in told["message"].splitlines()
    assert "asked by: bot" in told["message"]
    assert told["message"].endswith("To decide: hitl-tui inbox")
    place.masc("--reject", "--reason", "not today")
    until(lambda: len(hook.came) == 2)
    assert hook.titles[1].startswith("Rejected: deploy.1 · by ")
    assert "reason: not today" in hook.came[1]["message"]
    until(lambda: place.is_told)
    place.hitl("inbox")
    until(lambda: place.is_told)
    assert len(hook.came) == 2


def test_mail_goes_by_starttls_with_a_login_from_the_environment(place: Place, tmp_path: Path) -> None:
    with smtp_server(tmp_path, "ops", PASSWORD) as (box, port):
        options = "from=hitl@example.org&to=team@example.org&mode=starttls&verify=no&user=ops"
        place.settings(f"mailto://ops:${{SMTP_PASSWORD}}@127.0.0.1:{port}?{options}")
        place.open(message="Drops 2 tables:\n- orders\n- use\x1brs", SMTP_PASSWORD=PASSWORD)
        until(lambda: len(box.mails) == 1)
        assert box.logins[-1] == ("ops", PASSWORD)
        mail = box.mails[0]
        assert mail["Subject"] == "Approval wanted: deploy.1 · high risk · work"
        (plain,) = (part for part in mail.walk() if part.get_content_type() == "text/plain")
        body = plain.get_payload(decode=True)
        assert isinstance(body, bytes)
        assert body.decode().splitlines()[:3] == ["Approve deploy.1? Drops 2 tables:", "│ - orders", "│ - use␛rs"]
        assert "action: rm -r build" in body.decode().splitlines()
        assert "team@example.org" in mail["To"]
        until(lambda: place.is_told)
    kept = [path for path in (*place.data.rglob("*"), *place.workspace.rglob("*")) if path.is_file()]
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]


@pytest.mark.slow
def test_a_target_that_is_down_holds_nothing_up_is_shown_and_told_later(place: Place, hook: Webhook) -> None:
    place.settings(hook.address)
    hook.stop()
    place.open()
    until(lambda: "couldn't be sent yet" in place.hitl("inbox").stderr)
    said = [line for line in place.hitl("inbox").stderr.splitlines() if "couldn't be sent" in line]
    assert len(said) == 1
    assert said[0].startswith("json (settings.toml, target 1): 1 notification couldn't be sent yet: ")
    hook.start()
    until(lambda: len(hook.came) == 1)
    until(lambda: "couldn't be sent" not in place.hitl("inbox").stderr)


def test_a_target_that_is_removed_or_corrected_is_no_longer_spoken_of(place: Place, hook: Webhook) -> None:
    with webhook() as gone:
        place.settings(hook.address, gone.address)
        gone.stop()
        place.policy(f'[notify]\ntargets = ["json://127.0.0.1:{gone.port}/x"]\n')
        digest = place.hitl("trust", "--show", "--json").stdout.split('"digest": "')[1].split('"')[0]
        assert place.hitl("trust", "--digest", digest).returncode == 0
        place.open()
        until(lambda: len(hook.came) == 1)
        until(lambda: place.hitl("inbox").stderr.count("couldn't be sent yet") == 2)
        place.settings(hook.address)
        place.hitl("inbox")
        until(lambda: place.hitl("inbox").stderr.count("couldn't be sent yet") == 1)
        place.policy('[notify]\non = ["opened"]\n')
        place.hitl("inbox")
        until(lambda: "couldn't be sent" not in place.hitl("inbox").stderr)
        until(lambda: place.is_told)
        assert len(hook.came) == 1


def test_an_answer_500_is_a_failure_and_a_slow_target_delays_no_other(place: Place, hook: Webhook) -> None:
    with webhook() as slow, webhook() as broken:
        slow.answers.clear()
        broken.status = 500
        place.settings(slow.address, broken.address, hook.address)
        place.open()
        until(lambda: len(hook.came) == 1)
        until(lambda: "target 2): 1 notification couldn't be sent yet" in place.hitl("inbox").stderr)
        assert not slow.came
        slow.answers.set()
        broken.status = 200
        until(lambda: len(slow.came) == len(broken.came) == 1)
        assert len(hook.came) == 1


def test_half_time_and_expiry_are_told_though_nobody_looks(place: Place, hook: Webhook) -> None:
    place.settings(hook.address)
    place.policy('[[policy]]\nagent = "bot"\ndecision = "ask"\ndeadline = "8s"\n')
    place.open()
    until(lambda: len(hook.came) == 3)
    opened, half, ended = hook.titles
    assert opened.startswith("Approval wanted: deploy.1")
    assert half.startswith("Still waiting: deploy.1 · expires ")
    assert ended == "Expired: deploy.1 · work"
    until(lambda: place.is_told)
    assert place.masc("--status").returncode == 5
    until(lambda: place.is_told)
    assert len(hook.came) == 3


def test_a_workspace_is_obeyed_only_when_it_is_trusted(place: Place, hook: Webhook) -> None:
    with webhook() as own:
        place.settings(own.address)
        place.policy(f'[notify]\ntargets = ["{hook.address}"]\non = ["decided"]\n')
        place.open()
        until(lambda: len(own.came) == 1)
        assert place.hitl("trust", "--show").stdout.count("send notifications: json://127.0.0.1") == 1
        digest = place.hitl("trust", "--show", "--json").stdout.split('"digest": "')[1].split('"')[0]
        assert place.hitl("trust", "--digest", digest).returncode == 0
        place.open(2)
        until(lambda: len(own.came) == 2)
        place.masc("--approve", "--step", "2")
        until(lambda: len(own.came) == 3)
        until(lambda: len(hook.came) == 1)
        assert hook.titles[0].startswith("Approved: deploy.2 · by ")


def test_a_sender_that_is_killed_is_followed_by_the_next_and_nothing_is_lost(place: Place, hook: Webhook) -> None:
    place.settings(hook.address)
    hook.status = 500
    place.open()
    until(lambda: hook.tries > 0)
    for process in senders(place):
        os.kill(process, 9)
    until(lambda: place.is_told)
    hook.status = 200
    place.open(2)
    until(lambda: len(hook.came) == 2)
    assert {title.split(" ")[2] for title in hook.titles} == {"deploy.1", "deploy.2"}


def test_what_many_processes_open_at_once_is_told_once_each(place: Place, hook: Webhook) -> None:
    place.settings(hook.address)
    script = "import sys; from hitl_tui.cli.masc_checkpoint import main; sys.exit(main())"
    options = ("--step", "1", "--action", "x", "--agent", "bot", "--interrupt", "?")
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", script, "--task-id", f"t{n}", *options],
            env=place.env,
            cwd=place.workspace,
            stdout=subprocess.DEVNULL,
        )
        for n in range(6)
    ]
    assert [process.wait(60) for process in begun] == [3] * 6

    def told() -> list[str]:
        text = "\n".join(f"{one['title']}\n{one['message']}" for one in hook.came)
        return sorted(line.split(": ")[1].split(" ")[0] for line in text.splitlines() if line.startswith("Approval"))

    until(lambda: len(told()) >= 6)
    until(lambda: place.is_told)
    assert told() == [f"t{n}.1" for n in range(6)]


def test_many_that_wait_at_once_are_told_as_one(place: Place, hook: Webhook) -> None:
    for number in range(7):
        place.open(task=f"t{number}")
    place.settings(hook.address)
    place.hitl("inbox")
    until(lambda: len(hook.came) == 1)
    until(lambda: place.is_told)
    assert hook.titles == ["7 notifications"]


@pytest.mark.slow
def test_a_variable_that_one_process_lacks_comes_from_the_next(place: Place, hook: Webhook) -> None:
    place.settings(f"{hook.address}/${{HOOK_TOKEN}}")
    place.open()
    until(lambda: "HOOK_TOKEN isn't set in the environment" in place.hitl("inbox").stderr)
    place.open(2, HOOK_TOKEN="T/B/secret")
    until(lambda: len(hook.came) == 2)
    assert set(hook.paths) == {"/T/B/secret"}


def test_sessions_are_told_of_too(place: Place, hook: Webhook) -> None:
    place.settings(hook.address)
    (place.workspace / "notes.md").write_text("Alpha is a letter.", encoding="utf-8")
    place.hitl("run", "What is alpha?", "--session", "s1")
    until(lambda: len(hook.came) == 1)
    assert hook.titles[0] == "Approval wanted: step 001 · low risk · What is alpha?"
    lines = hook.came[0]["message"].splitlines()
    assert "session: s1 · What is alpha?" in lines
    assert f"folder: {place.workspace} on {socket.gethostname()}" in lines
    assert "todo_" not in hook.came[0]["message"]
    place.hitl("do", "s1", "/todo approve 1")
    until(lambda: any(title.startswith("Approved: step 001 · by ") for title in hook.titles))


def test_nothing_of_a_notification_can_mention_link_or_format(place: Place, hook: Webhook) -> None:
    place.settings(hook.address)
    place.open(message="<!channel> @everyone [x](https://evil.example/approve) *now* `rm`\nsecond \x1b[31m line")
    until(lambda: len(hook.came) == 1)
    (line,) = (line for line in hook.came[0]["message"].splitlines() if "everyone" in line)
    for sign in ("<", ">", "@everyone", "[x]", "https://", "*", "`", "\x1b"):
        assert sign not in line


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ('["not an address"]', "must be an address as Apprise takes it"),
        ('["mailto://me:secret@host"]', "must not hold a password"),
        ('["json://host/${1x}"]', "names no variable"),
        ('"json://host"', "must be"),
    ],
)
def test_settings_that_cannot_be_used_are_said_without_what_they_hold(place: Place, targets: str, said: str) -> None:
    place.policy(f"[notify]\ntargets = {targets}\n")
    done = place.hitl("run", "What?")
    assert done.returncode == 2
    assert said in done.stderr
    assert "hitl.toml line 2" in done.stderr
    assert "secret" not in done.stderr
