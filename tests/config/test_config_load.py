"""hitl.toml: what it declares, and how it is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.config.declared_commands import Parameter
from hitl_tui.config.figure_limits import FigureLimit
from hitl_tui.config.loader import load_config, parse_config
from hitl_tui.config.workspace import WorkspaceConfig, parse_duration
from hitl_tui.core.errors import ConfigError
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling, Terms

FULL = """\
[defaults]
mode = "plan"
concurrency = 8
[teams.search_team]
documents = ["docs", "notes/a.md"]
[teams.analysis_team]
enabled = false
[teams.document_team]
folder = "out/reports"
[teams.command_team.commands.clean-logs]
run = ["find", "{dir}", "-name", "*.gz", "-mtime", "+{days}", "-delete"]
preview = ["find", "{dir}", "-name", "*.gz", "-mtime", "+{days}"]
description = "Delete old logs."
parameters.dir = { type = "path" }
parameters.days = { type = "integer", default = 14, minimum = 1, maximum = 3650 }
risk = "medium"
timeout = "1h30m"
exit_codes = [0, 1]
expect = { total = "< 3.5M", "left|남은 것" = "= 0" }
[teams.command_team.commands.list]
run = ["ls"]
[[policy]]
team = "command_team"
command = "clean-logs"
risk = "high"
decision = "ask"
quorum = 2
level = 1
deadline = "10m"
on_deadline = "approve"
veto = false
[[policy]]
decision = "deny"
[secrets]
names = ["DB_PASSWORD", "_TOKEN2", "DB_PASSWORD"]
"""


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as refused:
        parse_config(text, "hitl.toml")
    assert "\n" not in refused.value.message
    return refused.value.message


def test_everything_that_can_be_declared() -> None:
    config = parse_config(FULL, "hitl.toml")
    assert (config.mode, config.concurrency) == (Mode.PLAN, 8)
    assert config.search.documents == ("docs", "notes/a.md")
    assert config.document.folder == "out/reports"
    assert config.secret_names == ("DB_PASSWORD", "_TOKEN2")
    assert [config.enabled(team) for team in ("search_team", "analysis_team", "elsewhere")] == [True, False, True]
    terms = Terms(quorum=2, level=1, deadline=600.0, on_deadline="approve", veto=False)
    assert config.policy == Policy(
        (
            Rule(Ruling.ASK, team="command_team", risk="high", command="clean-logs", terms=terms),
            Rule(Ruling.DENY),
        )
    )
    clean = config.commands["clean-logs"]
    assert (clean.name, clean.risk, clean.timeout, clean.exit_codes) == ("clean-logs", Risk.MEDIUM, 5400.0, (0, 1))
    assert clean.description == "Delete old logs."
    assert clean.expect == {"total": FigureLimit("<", "3.5", "M"), "left|남은 것": FigureLimit("=", "0")}
    assert clean.parameters == {
        "dir": Parameter("path"),
        "days": Parameter("integer", default=14, minimum=1, maximum=3650),
    }
    assert clean.expand({"dir": "logs"}).argv[5] == "+14"
    listing = config.commands["list"]
    assert (listing.preview, listing.risk, listing.timeout, listing.exit_codes) == (None, Risk.HIGH, 600.0, (0,))


def test_the_settings_cannot_be_changed() -> None:
    config = parse_config(FULL, "hitl.toml")
    with pytest.raises(FrozenInstanceError):
        config.concurrency = 9  # type: ignore[misc]


@pytest.mark.parametrize("text", ["", "# nothing\n", "[defaults]\n", "policy = []\n[teams.search_team]\n[secrets]"])
def test_what_is_left_out_has_its_default(text: str) -> None:
    assert parse_config(text, "hitl.toml") == WorkspaceConfig()


def test_the_defaults() -> None:
    config = WorkspaceConfig()
    assert (config.mode, config.concurrency, config.policy.rules) == (Mode.STEP, 4, ())
    assert (config.search.documents, config.document.folder) == ((".",), "reports")
    assert (config.commands, config.disabled, config.secret_names) == ({}, frozenset(), ())


COMMAND = "[teams.command_team.commands.x]\n"
IN_COMMAND = "in [teams.command_team.commands.x]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # keys
        ("\n[defaults]\nconcurency = 4",
         'line 3: unknown key "concurency" in [defaults]; did you mean "concurrency"?'),
        ("[default]\nmode = 'step'", 'line 1: unknown key "default" at the top; did you mean "defaults"?'),
        ("zzz = 1",
         'line 1: unknown key "zzz" at the top; known are defaults, teams, policy, secrets, pins, notify, model, '
         "review."),
        ("defaults.mod = 'x'", 'line 1: unknown key "mod" in [defaults]; did you mean "mode"?'),
        ("defaults = { mode = 'step', 'con' = 1 }", 'line 1: unknown key "con" in [defaults]'),
        ('[defaults]\n"a\\u001B[2J" = 1', 'line 2: unknown key "a␛[2J" in [defaults]; known are mode, concurrency.'),
        ("[teams.serch_team]", 'line 1: unknown key "serch_team" in [teams]; did you mean "search_team"?'),
        ("[teams.search-team]", 'line 1: unknown key "search-team" in [teams]; did you mean "search_team"?'),
        ("[[policy]]\ndecision='ask'\n\n[[policy]]\ndecision='ask'\nquorom = 2",
         'line 6: unknown key "quorom" in [[policy]]; did you mean "quorum"?'),
        (COMMAND + "run=['ls', '{d}']\nparameters.d = { type = 'path',\tdefalt = '.' }",
         'line 3: unknown key "defalt" in [teams.command_team.commands.x.parameters.d]; did you mean "default"?'),
        (COMMAND + "run=['ls', '{d}']\n[teams.command_team.commands.x.parameters.d]\ntype = 'path'\nmin = 1",
         'line 5: unknown key "min" in [teams.command_team.commands.x.parameters.d]'),
        # several: the first in the file
        ("[secrets]\nname = []\n[defaults]\nmod = 1\nconcurrency = 99", 'line 2: unknown key "name" in [secrets]'),
        ("[defaults]\nconcurrency = 0\nmod = 1", 'line 2: "concurrency" in [defaults] must be at least 1'),
        ("[[policy]]\ndecision='ask'\ncommand='y'\n[defaults]\nmod=1", 'line 3: "command" in [[policy]] names no'),
        (COMMAND + "preview=[]\nrun=['{a}']", f'line 2: "preview" {IN_COMMAND} must name a program, but it is empty.'),
        # values
        ("[defaults]\nmode = 'fast'",
         'line 2: "mode" in [defaults] must be one of "step", "plan", "risk", but it is "fast".'),
        ("[teams.far]\nkind = 'remote'", 'line 1: "far" in [teams] needs "url".'),
        ("[teams.far]\nkind = 'remote'\nurl = 'far'", 'line 3: "url" in [teams.far] must be an address (https://…).'),
        ("[teams.far]\nkind = 'remote'\nurl = 'https://ann:pw@far'",
         'line 3: "url" in [teams.far] must hold no name and no password'),
        ("[teams.far]\nkind = 'remote'\nurl = 'https://far'\nsaver = 'a.db'",
         'line 4: "saver" in [teams.far] has no meaning for a team of kind "remote"'),
        ("[teams.far]\nkind = 'remote'\nurl = 'https://far'\nheader_env.Authorization = 'Bearer x'",
         'line 4: "Authorization" in [teams.far.header_env] must be the name of an environment variable, but'),
        ("[defaults]\nconcurrency = 65", 'line 2: "concurrency" in [defaults] must be at most 64, but it is 65.'),
        ("[defaults]\nconcurrency = '4'",
         'line 2: "concurrency" in [defaults] must be a whole number, but it is "4".'),
        ("[defaults]\nconcurrency = true",
         'line 2: "concurrency" in [defaults] must be a whole number, but it is true.'),
        ("[defaults]\nconcurrency = 4.0",
         'line 2: "concurrency" in [defaults] must be a whole number, but it is 4.0.'),
        ("[defaults]\nconcurrency = 1979-05-27",
         'line 2: "concurrency" in [defaults] must be a whole number, but it is a date or time.'),
        ("[defaults]\nconcurrency = 0x" + "f" * 5000,
         'line 2: "concurrency" in [defaults] must be at most 64, but it is a very large number.'),
        ("defaults = 3", 'line 1: "defaults" at the top must be a table, but it is 3.'),
        ("[policy]\ndecision = 'ask'",
         'line 1: "policy" at the top must be written as [[policy]], in double brackets.'),
        ("policy = [\n  3 ]", "line 2: [[policy]] must be a table, but it is 3."),
        ("[teams.analysis_team]\nenabled = 'no'",
         'line 2: "enabled" in [teams.analysis_team] must be true or false, but it is "no".'),
        ("[teams.search_team]\ndocuments = []", 'line 2: "documents" in [teams.search_team] must not be empty.'),
        ("[teams.search_team]\ndocuments = [\n 'a',\n '../b',\n]",
         'line 4: item 2 of "documents" in [teams.search_team] must stay within the workspace, without "..", but'),
        ("[teams.document_team]\nfolder = '/tmp'",
         'line 2: "folder" in [teams.document_team] must be a path relative to the workspace, but it is "/tmp".'),
        ("[secrets]\nnames = ['A', 'db p-w']",
         'line 2: item 2 of "names" in [secrets] must be the name of an environment variable, but it is "db p-w".'),
        # policy
        ("[[policy]]\ndecision='deny'\nrequest='plan'", 'line 2: "decision" in [[policy]] must be "ask" or "allow"'),
        ("[[policy]]\ndecision='allow'\nrequest='proposal'", 'line 2: "decision" in [[policy]] must be "ask" for'),
        ("[[policy]]\ndecision='ask'\nrequest='plan'\nteam='search_team'",
         'line 3: "request" in [[policy]] is about a whole plan; it can\'t be combined with team.'),
        ("[[policy]]\nteam = 'command_team'", 'line 1: [[policy]] needs "decision".'),
        ("[[policy]]\nteam = 'command_team'\ndecison = 'ask'",
         'line 3: unknown key "decison" in [[policy]]; did you mean "decision"?'),
        ("[[policy]]\ndecision = 'ask'\nteam = 'comand_team'",
         'line 3: "team" in [[policy]] names no known team, but "comand_team"; did you mean "command_team"?'),
        ("[[policy]]\ndecision = 'ask'\nteam = ''",
         'line 3: "team" in [[policy]] names no known team, but ""; known teams are search_team, analysis_team,'),
        ("[[policy]]\ndecision = 'ask'\nteam = 'search_team'\ncommand = 'x'",
         'line 4: "command" in [[policy]] can only be given for command_team, not for search_team.'),
        (COMMAND + "run=['ls']\n[[policy]]\ndecision='ask'\ncommand='xx'",
         'line 5: "command" in [[policy]] names no declared command, but "xx"; did you mean "x"?'),
        ("[[policy]]\ndecision = 'ask'\non_deadline = 'approve'",
         'line 3: "on_deadline" in [[policy]] needs a deadline, but none is given.'),
        ("[[policy]]\ndecision = 'ask'\nquorum = 0",
         'line 3: "quorum" in [[policy]] must be at least 1, but it is 0.'),
        ("[[policy]]\ndecision = 'ask'\ndeadline = '10'",
         'line 3: "deadline" in [[policy]] must be a duration such as "90s", "10m", "2h" or "1d", but it is "10".'),
        ("[[policy]]\ndecision = 'ask'\ndeadline = 0",
         'line 3: "deadline" in [[policy]] must be more than 0 and at most 365 days, but it is 0.'),
        # commands
        (COMMAND + "risk = 'low'", 'line 1: "x" in [teams.command_team.commands] needs "run".'),
        ("[teams.command_team.commands.'Clean Logs']\nrun = ['ls']",
         'line 1: "Clean Logs" in [teams.command_team.commands] isn\'t a command name'),
        (COMMAND + "run = []", f'line 2: "run" {IN_COMMAND} must name a program, but it is empty.'),
        (COMMAND + "run = 'ls -l'", f'line 2: "run" {IN_COMMAND} must be a list, but it is "ls -l".'),
        (COMMAND + "run = ['ls', 3]", f'line 2: item 2 of "run" {IN_COMMAND} must be text, but it is 3.'),
        (COMMAND + "run = ['']", f'line 2: item 1 of "run" {IN_COMMAND} is the program, which must be written out.'),
        (COMMAND + "run = ['./{p}']\nparameters.p.type = 'path'",
         f'line 2: item 1 of "run" {IN_COMMAND} is the program, which must be written out.'),
        (COMMAND + "run = ['ls',\n '{dri}']\nparameters.dir.type = 'path'",
         f'line 3: item 2 of "run" {IN_COMMAND} uses "{{dri}}", which is no declared parameter; did you mean "dir"?'),
        (COMMAND + "run = ['ls']\npreview = ['ls',\n'-l', '{a}']",
         f'line 4: item 3 of "preview" {IN_COMMAND} uses "{{a}}", which is no declared parameter.'),
        (COMMAND + "run = ['ls', '{}']", f'line 2: item 2 of "run" {IN_COMMAND} has a brace that is no placeholder'),
        (COMMAND + 'run = ["ls", "a\\nb"]', f'line 2: item 2 of "run" {IN_COMMAND} must not hold a line break or NUL.'),
        (COMMAND + "run = ['ls']\nparameters.a.type = 'string'",
         'line 3: "a" in [teams.command_team.commands.x.parameters] is used neither in run nor in preview.'),
        (COMMAND + "run = ['ls', '{a}']\nparameters.A.type = 'string'",
         'line 3: "A" in [teams.command_team.commands.x.parameters] isn\'t a parameter name'),
        (COMMAND + "run = ['sh', '-ec', 'rm {a}']\nparameters.a.type = 'path'",
         f'line 2: item 3 of "run" {IN_COMMAND} is a script for a shell; give values after it, and read them as "$1".'),
        (COMMAND + "run = ['env', 'A=1', '/bin/bash', '-o', 'pipefail', '-c', '{a}']\nparameters.a.type = 'path'",
         f'line 2: item 7 of "run" {IN_COMMAND} is a script for a shell'),
        (COMMAND + "run = ['ls']\ntimeout = '10 minutes'",
         f'line 3: "timeout" {IN_COMMAND} must be a duration such as'),
        (COMMAND + "run = ['ls']\ntimeout = nan",
         f'line 3: "timeout" {IN_COMMAND} must be a duration such as "10m", or seconds, but it is nan.'),
        (COMMAND + "run = ['ls']\ntimeout = '366d'",
         f'line 3: "timeout" {IN_COMMAND} must be more than 0 and at most 365 days, but it is "366d".'),
        (COMMAND + "run = ['ls']\nexit_codes = [0, 256]",
         f'line 3: item 2 of "exit_codes" {IN_COMMAND} must be at most 255, but it is 256.'),
        (COMMAND + "run = ['ls']\nexit_codes = []", f'line 3: "exit_codes" {IN_COMMAND} must not be empty.'),
        (COMMAND + "run = ['ls']\nexpect.total = '3.5M'",
         'line 3: "total" in [teams.command_team.commands.x.expect] must be a limit such as "< 3.5M", ">= 10" or '
         '"= 0%", but it is "3.5M".'),
        (COMMAND + "run = ['ls']\nexpect = { total = 3 }",
         'line 3: "total" in [teams.command_team.commands.x.expect] must be a limit such as "< 3.5M", ">= 10" or '
         '"= 0%", but it is 3.'),
        (COMMAND + "run = ['ls']\nexpect = { 'total|' = '< 3' }",
         'line 3: "total|" in [teams.command_team.commands.x.expect] isn\'t the name of a printed figure'),
        (COMMAND + "run = ['ls']\nexpect = '< 3'", f'line 3: "expect" {IN_COMMAND} must be a table, but it is "< 3".'),
        (COMMAND + "run = ['ls']\nrisk = 'none'",
         f'line 3: "risk" {IN_COMMAND} must be one of "low", "medium", "high", but it is "none".'),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(text: str, message: str) -> None:
    told = refusal(text)
    assert told.startswith(f"hitl.toml {message}")
    assert told.endswith((".", "?"))


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("default = 1", '"p" in [teams.command_team.commands.x.parameters] needs "type".'),
        ("type = 'text'", '"type" in [teams.command_team.commands.x.parameters.p] must be one of "string", "integer",'),
        ("type = 'integer', default = '14'", 'must be a whole number, but it is "14".'),
        ("type = 'integer', default = 3.5", "must be a whole number, but it is 3.5."),
        (
            "type = 'integer', default = 0, minimum = 1",
            '"default" in [teams.command_team.commands.x.parameters.p] must',
        ),
        ("type = 'integer', default = 9, maximum = 8", "must be at most 8, but it is 9."),
        ("type = 'integer', minimum = 9, maximum = 8", "must be at least the minimum, 9, but it is 8."),
        ("type = 'integer', minimum = '1'", 'must be a number, but it is "1".'),
        ("type = 'number', maximum = inf", "must be a number, but it is inf."),
        ("type = 'boolean', default = 'yes'", 'must be true or false, but it is "yes".'),
        ("type = 'string', default = 3", "must be text, but it is 3."),
        ("type = 'string', minimum = 3", '"minimum" in [teams.command_team.commands.x.parameters.p] has no meaning'),
        ("type = 'string', default = 1979-05-27", "must be text, but it is a date or time."),
        ("type = 'path', default = '../x'", 'must stay within the workspace, without "..", but it is "../x".'),
        ("type = 'path', choices = ['a']", "has no meaning for a parameter of type path."),
        ("type = 'choice'", "must list at least one value for a parameter of type choice."),
        ("type = 'choice', choices = []", "must list at least one value for a parameter of type choice."),
        ("type = 'choice', choices = ['a'], default = 'b'", 'must be one of "a", but it is "b".'),
        ('type = \'choice\', choices = ["a", "b\\u0000"]', 'item 2 of "choices" in'),
    ],
)
def test_mistakes_in_parameters_are_told(parameter: str, message: str) -> None:
    told = refusal(f"{COMMAND}run = ['ls', '{{p}}']\n\nparameters.p = {{ {parameter} }}")
    assert told.startswith("hitl.toml line 4: ")
    assert message in told


@pytest.mark.parametrize(
    "run",
    [
        "['sh', '-c', 'rm -- \"$1\"', 'sh', '{p}']",
        "['sh', 'script.sh', '-c', '{p}']",
        "['bash', '{p}']",
        "['tool', '-c', '{p}']",
    ],
)
def test_values_beside_a_script_are_allowed(run: str) -> None:
    config = parse_config(f"{COMMAND}run = {run}\nparameters.p.type = 'path'", "hitl.toml")
    assert "x" in config.commands


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = \n", "hitl.toml line 2: this isn't valid TOML: invalid value (column 5)."),
        ("a = 1\n[x\n", "hitl.toml line 2: this isn't valid TOML: expected ']' at the end of a table declaration"),
        ("a = 1\n\na = 2\nb = 1", "hitl.toml line 3: this isn't valid TOML: a key is given twice"),
        ("[a]\n[b]\n[a]\n", "hitl.toml line 3: this isn't valid TOML: a table is declared twice"),
        ("a = [1,\n2\n\n", "hitl.toml line 2: this isn't valid TOML: unclosed array (at the end of the file)."),
        ("a = '\x1b'", "hitl.toml line 1: this isn't valid TOML: found invalid character"),
        ("a = " + "[" * 5000, "hitl.toml is nested too deeply."),
        ("a = " + "9" * 5000, "hitl.toml isn't valid TOML: a number has too many digits."),
    ],
)
def test_syntax_errors_are_told_with_their_line(text: str, message: str) -> None:
    told = refusal(text)
    assert told.startswith(message)
    assert "\x1b" not in told


def test_the_name_in_messages_is_harmless() -> None:
    with pytest.raises(ConfigError, match=r"^a␛b\.toml line 1: unknown key"):
        parse_config("x = 1", "a\x1bb.toml")


@given(st.text(st.sampled_from("[]{}=\"'#.,\n abc1policy"), max_size=60))
def test_any_text_is_taken_or_refused_with_one_sentence(text: str) -> None:
    try:
        parse_config(text, "hitl.toml")
    except ConfigError as refused:
        assert refused.message.startswith("hitl.toml ")
        assert "\n" not in refused.message


def test_a_workspace_without_the_file_has_the_defaults(tmp_path: Path) -> None:
    assert load_config(tmp_path) == WorkspaceConfig()
    assert load_config(tmp_path / "missing") == WorkspaceConfig()


def test_the_file_of_a_workspace_is_read(tmp_path: Path) -> None:
    (tmp_path / "hitl.toml").write_bytes(b"\xef\xbb\xbf[defaults]\r\nconcurrency = 2\r\n")
    assert load_config(tmp_path).concurrency == 2


def test_files_that_cannot_be_read_are_told_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "hitl.toml"

    def told() -> str:
        with pytest.raises(ConfigError) as refused:
            load_config(tmp_path)
        return refused.value.message

    file.symlink_to(tmp_path / "gone")
    assert told() == "hitl.toml can't be read: No such file or directory."
    file.unlink()
    file.mkdir()
    assert told() == "hitl.toml must be a file, but isn't one."
    file.rmdir()
    os.mkfifo(file)
    assert told() == "hitl.toml must be a file, but isn't one."
    file.unlink()
    file.write_bytes(b"[defaults]\n# caf\xe9\n")
    assert told() == "hitl.toml line 2: the file must be UTF-8, but this line is not."
    file.write_bytes(b"#" * 1_000_001)
    assert told().startswith("hitl.toml is larger than 1,000,000 bytes")
    file.write_bytes(b"\n[defaults]\nmode = 3\n")
    assert told().startswith('hitl.toml line 3: "mode" in [defaults] must be')


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    (tmp_path / "hitl.toml").touch(mode=0o000)
    with pytest.raises(ConfigError, match=r"^hitl\.toml can't be read: Permission denied\.$"):
        load_config(tmp_path)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("2h", 7200), ("1d", 86400), ("1h30m", 5400), ("1.5h", 5400), ("0s", 0)],
)
def test_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "m", "-5m", "5 m", "5M", "5m ", "1e3s", "٣m", ".5h", "5ms"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


def test_loading_imports_pydantic_only_when_there_is_something_to_check() -> None:
    program = (
        "import sys\n"
        "from hitl_tui.config.loader import parse_config\n"
        "parse_config('', 'x')\n"
        "early = 'pydantic' in sys.modules\n"
        "parse_config('[defaults]', 'x')\n"
        "heavy = [name for name in ('textual', 'langgraph', 'rich', 'sqlite3', 'asyncio') if name in sys.modules]\n"
        "print(early, heavy)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False []"
