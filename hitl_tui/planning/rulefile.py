"""Reads rules.toml into the rule planner's types, its expressions compiled."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from typing import Any

from hitl_tui.core.errors import ConfigError
from hitl_tui.planning.ruleset import (
    LANGUAGES,
    Action,
    Broader,
    ChangeRule,
    CommandRules,
    Compare,
    Cue,
    Expression,
    Limits,
    Need,
    ReviseRules,
    Rules,
    StepRule,
    Titles,
    Topic,
    Wording,
    Words,
)


@cache
def load_rules() -> Rules:
    """Return the rules that ship with the package.

    They are read when they are first asked for: their expressions take longer to compile than most commands to run.
    """
    text = resources.files("hitl_tui.planning").joinpath("rules.toml").read_text(encoding="utf-8")
    return parse_rules(text)


def parse_rules(text: str, name: str = "rules.toml") -> Rules:
    """Return the rules a TOML text holds.

    Raises:
        ConfigError: it isn't TOML, lacks something, or has a broken expression.
    """
    try:
        return _rules(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name} isn't valid TOML: {error}.") from error
    except KeyError as error:
        raise ConfigError(f"{name} lacks the key {error}.") from error
    except re.error as error:
        raise ConfigError(f"{name} has a broken expression ({error}): {str(error.pattern)[:60]!r}.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"{name} has a value of the wrong kind: {error}.") from error


def _rules(data: Mapping[str, Any]) -> Rules:
    change = data["change"]
    return Rules(
        limits=Limits(**data["limits"]),
        needs={Need(k): tuple(Cue(_both(c), float(c["weight"])) for c in cues) for k, cues in data["needs"].items()},
        threshold={Need(k): float(v) for k, v in data["threshold"].items()},
        change=ChangeRule(
            _raw(change["between"]), _raw(change["marks"]), float(change["weight"]), float(change["amounts"])
        ),
        entities={kind: tuple(_raw(e) for e in found) for kind, found in data["entities"].items()},
        words=_words(data["words"]),
        strategy={k: _raw(v) for k, v in data["strategy"].items()},
        titles=Titles(**{k: _raw(v) for k, v in data["titles"].items()}),
        compare=Compare(**{k: _raw(v) for k, v in data["compare"].items()}),
        commands=_commands(data["commands"]),
        revise=_revise(data["revise"]),
        broader=_broader(data["broader"]),
        steps={Need(k): _step(v) for k, v in data["steps"].items()},
        sentences={k: dict(data["sentences"][k]) for k in LANGUAGES},
    )


def _raw(pattern: str) -> Expression:
    return re.compile(pattern, re.IGNORECASE)


def _bounded(pattern: str) -> str:
    return rf"(?<![a-z0-9_])(?:{pattern})(?![a-z0-9_])"


def _both(data: Mapping[str, Any]) -> Expression:
    parts = [data["ko"]] if "ko" in data else []
    if "en" in data:
        # A sign such as "?" at the end of an alternative has no word boundary after it.
        words, signs = data["en"], ""
        if words.endswith(r"|\?"):
            words, signs = words.removesuffix(r"|\?"), r"|\?"
        parts.append(_bounded(words) + signs)
    return _raw("|".join(f"(?:{p})" for p in parts))


def _words(data: Mapping[str, Any]) -> Words:
    return Words(
        english=frozenset(data["english"]),
        stop=frozenset(data["stop"]),
        requests=frozenset(data["requests"]),
        particles=tuple(sorted(data["particles"], key=len, reverse=True)),
        whole=frozenset(data["whole"]),
        verbs=_raw(data["verbs"]),
        chatter=frozenset(data["chatter"]),
        howto=_raw(data["howto"]),
        sums=_raw(data["sums"]),
        counts=_raw(data["counts"]),
        order_cue=_raw(data["order_cue"]),
        topics=tuple(Topic(_raw(t["pattern"]), str(t["noun"])) for t in data["topics"]),
    )


def _broader(data: Mapping[str, Any]) -> Broader:
    return Broader(
        asking=_raw(data["asking"]),
        frequent=frozenset(data["frequent"]),
        synonyms=tuple(tuple(group) for group in data["synonyms"]),
    )


def _commands(data: Mapping[str, Any]) -> CommandRules:
    return CommandRules(
        run_before=_raw(data["run_before"]),
        run_after=_raw(data["run_after"]),
        negated_before=_raw(data["negated_before"]),
        negated_after=_raw(data["negated_after"]),
        negated_deed=_raw(data["negated_deed"]),
        unknown=(_raw(data["unknown"]), _raw(data["unknown_ko"])),
        clause=_raw(data["clause"]),
        joint=_raw(data["joint"]),
        listing=_raw(data["listing"]),
        statement=_raw(data["statement"]),
        told=_raw(data["told"]),
        apart=_raw(data["apart"]),
        measured=_raw(data["measured"]),
        request=_raw(data["request"]),
        lead=_raw(data["lead"]),
        actions={k: _both(v) for k, v in data["actions"].items()},
        objects={k: _both(v) for k, v in data["objects"].items()},
        modifiers={k: _both(v) for k, v in data["modifiers"].items()},
        units={k: _raw(v) for k, v in data["units"].items()},
        paths=tuple(_raw(v) for v in data["paths"].values()),
    )


def _revise(data: Mapping[str, Any]) -> ReviseRules:
    other = ("targets", "actions")
    expressions = {field.name: _raw(data[field.name]) for field in fields(ReviseRules) if field.name not in other}
    return ReviseRules(
        targets={Need(k): _both(v) for k, v in data["targets"].items()},
        actions=tuple(_action(a) for a in data["actions"]),
        **expressions,
    )


def _action(data: Mapping[str, Any]) -> Action:
    after = [f"(?:{data['ko']})"] if "ko" in data else []
    if "after" in data:
        after.append(_bounded(data["after"]))
    return Action(
        kind=str(data["kind"]),
        level=str(data.get("level", "")),
        before=_raw(_bounded(data["before"])) if "before" in data else None,
        after=_raw("|".join(after)) if after else None,
    )


def _step(data: Mapping[str, Any]) -> StepRule:
    return StepRule(
        agent=str(data["agent"]),
        priority=int(data["priority"]),
        timeout=float(data["timeout"]),
        seconds=float(data["seconds"]),
        wording={k: Wording(**data[k]) for k in LANGUAGES},
    )
