"""Teams of other packages: found by their entry points, and never in the way of others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

MODULE = """
from hitl_tui.core.policy import Risk
from hitl_tui.teams.function_team import FunctionTeam


async def greet(context):
    return f"Hello, {context.task.arguments['name']}."


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def teams(sources):
    return [FunctionTeam("greeting_team", "Greets", Risk.LOW, greet, SCHEMA, text_argument="name")]


def broken(sources):
    raise RuntimeError("no licence")


def strange(sources):
    return ["no team"]


def taken(sources):
    return [FunctionTeam("search_team", "Not the search", Risk.LOW, greet, SCHEMA)]
"""
PROBE = """
import asyncio, json, sys
from pathlib import Path
from hitl_tui.config.loader import parse_config
from hitl_tui.core.errors import HitlError
from hitl_tui.teams.registry import TeamRegistry
from team_support import make_context, run_team

settings = sys.argv[1]
try:
    config = parse_config(settings, "hitl.toml")
except HitlError as error:
    print(json.dumps({"refused": str(error)}))
    raise SystemExit from error
registry = TeamRegistry.from_config(config)
teams = registry.teams
found = {"names": list(teams), "search": teams["search_team"].description}
found |= {"disabled": sorted(registry.disabled), "rules": [rule.team for rule in config.policy.rules]}
for name in ("broken", "strange", "gone"):
    try:
        teams[name].bind("x", {})
    except (HitlError, KeyError) as error:
        found[name] = str(error)
if team := teams.get("greeting_team"):
    found["text"] = asyncio.run(run_team(team, make_context(Path.cwd(), team.bind("Kim", {})))).text
print(json.dumps(found))
"""
BUILT_IN = ["search_team", "analysis_team", "document_team", "command_team", "table_team"]


def install(folder: Path, **points: str) -> Path:
    """Make an installed distribution with these entry points; return the folder that it is in."""
    about = folder / "acme_teams-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "acme_teams.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-teams\nVersion: 1.0\n")
    lines = "".join(f"{name} = acme_teams:{function}\n" for name, function in points.items())
    (about / "entry_points.txt").write_text(f"[hitl_tui.teams]\n{lines}")
    return folder


def probed(cwd: Path, *path: Path, settings: str = "") -> dict[str, object]:
    """Return what a process with these folders on its path finds, in a workspace with such settings."""
    places = [*map(str, path), str(Path(__file__).parent)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run([sys.executable, "-c", PROBE, settings], cwd=cwd, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_team_of_another_package_is_there_and_runs(tmp_path: Path) -> None:
    found = probed(tmp_path, install(tmp_path / "site", greeting="teams"))
    assert found["names"] == [*BUILT_IN, "greeting_team"]
    assert found["text"] == "Hello, Kim."


def test_a_package_that_fails_says_so_and_hides_no_other_team(tmp_path: Path) -> None:
    site = install(
        tmp_path / "site", broken="broken", gone="nothing", greeting="teams", other="taken", strange="strange"
    )
    found = probed(tmp_path, site)
    assert found["names"] == [*BUILT_IN, "broken", "gone", "greeting_team", "strange"]
    assert found["broken"] == "The team broken (acme_teams:broken) can't be made: RuntimeError: no licence."
    assert str(found["gone"]).startswith("The team gone (acme_teams:nothing) can't be made: AttributeError: ")
    assert str(found["strange"]).endswith("can't be made: not all that its function returns are teams.")
    assert found["search"] != "Not the search"


SETTINGS = """
[teams.greeting_team]
enabled = false

[[policy]]
team = "greeting_team"
decision = "ask"
quorum = 2
"""


def test_settings_name_a_team_of_another_package_as_its_entry_point(tmp_path: Path) -> None:
    site = install(tmp_path / "site", greeting_team="teams")
    found = probed(tmp_path, site, settings=SETTINGS)
    assert (found["disabled"], found["rules"]) == (["greeting_team"], ["greeting_team"])
    refused = str(probed(tmp_path, settings=SETTINGS)["refused"])
    assert 'hitl.toml line 2: unknown key "greeting_team" in [teams]' in refused
    assert "names no known team" in str(probed(tmp_path, settings=SETTINGS[SETTINGS.index("[[policy]]") :])["refused"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("[teams.other_team]\nkind = 'packaged'\n", 'unknown key "other_team" in [teams]'),
        ("[teams]\ngreeting_team = 3\n", 'unknown key "greeting_team" in [teams]'),
        ("[teams.greeting_team]\nrisk = 'low'\n", "has no meaning"),
        ("[teams.greeting_team]\nenabled = 'no'\n", "must be true or false"),
        ("[teams.greting_team]\nenabled = false\n", 'unknown key "greting_team" in [teams]'),
    ],
)
def test_settings_of_a_team_of_another_package_are_checked(tmp_path: Path, settings: str, words: str) -> None:
    site = install(tmp_path / "site", greeting_team="teams")
    assert words in str(probed(tmp_path, site, settings=settings)["refused"])


def test_policy_check_knows_the_teams_of_another_package(tmp_path: Path) -> None:
    site = install(tmp_path / "site", greeting="teams")
    command = [sys.executable, "-m", "hitl_tui", "policy", "check", str(tmp_path), "--team"]
    environ = {**os.environ, "HITL_DATA_DIR": str(tmp_path / "data"), "HITL_LANG": "en"}
    for name, path, code in (("greeting_team", str(site), 0), ("greting_team", str(site), 2), ("greeting_team", "", 2)):
        done = subprocess.run([*command, name], env={**environ, "PYTHONPATH": path}, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
    assert 'No team "greeting_team"; known: ' in done.stderr


@pytest.mark.parametrize("named", [True, False])
def test_no_team_comes_from_the_current_folder(tmp_path: Path, named: bool) -> None:
    folder = install(tmp_path / "workspace", greeting="teams")
    assert probed(folder, *([folder] if named else []))["names"] == BUILT_IN
