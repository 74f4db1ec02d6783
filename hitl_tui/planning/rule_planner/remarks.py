"""What a person has to know of a plan before approving it: what nothing was made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hitl_tui.planning.rule_planner.calls import Asked, deeds_asked, spoken_name
from hitl_tui.planning.rule_planner.plan_steps import Wanted
from hitl_tui.planning.rule_planner.query_reader import cut, score_of, unread
from hitl_tui.planning.rule_planner.rule_file import Need, Rules

_LONGEST = 100  # characters of what a person wrote that a remark repeats
_NAMED = 3  # clauses that one remark repeats


def remarks(
    text: str, asked: Asked, wanted: Wanted, missing: Sequence[str], rules: Rules, withheld: Sequence[str] = ()
) -> list[str]:
    """Return what a person should know of a plan, a sentence each.

    Args:
        text: the part of the query that was looked at.
        asked: what it asks of the declared commands.
        wanted: what it needs.
        missing: agents that would be needed and are disabled.
        rules: the rules.
        withheld: names of what could be called if the folder were trusted.
    """
    words = rules.sentences[wanted.reading.language]
    found = [words["disabled"].format(agent=agent) for agent in missing]
    found += left_out(asked, wanted.reading.language, rules, wanted.needs)
    if asked.calls:
        found += _beside(asked, wanted, rules)
    elif withheld and (deeds_asked(text, rules) or any(spoken_name(name).search(text) for name in withheld)):
        found.append(words["untrusted"].format(names=cut(", ".join(withheld), _LONGEST)))
    elif not asked.unclear and (deeds := deeds_asked(text, rules)):
        found.append(words["only_looks"].format(part='", "'.join(cut(deed, _LONGEST) for deed in deeds[:_NAMED])))
    return list(dict.fromkeys(found))


def left_out(asked: Asked, language: str, rules: Rules, needs: frozenset[Need] = frozenset()) -> Iterator[str]:
    """Yield what of the words about commands was left out, a sentence each.

    Args:
        asked: what was understood.
        language: `ko` or `en`.
        rules: the rules.
        needs: what is planned besides; words that ask for it aren't left out, and a search looks for all of them.
    """
    words = rules.sentences[language]
    for call in asked.calls:
        for part in call.unread:
            if not _asks_for(part, needs, rules):
                yield words["without"].format(command=call.command, part=cut(part, _LONGEST))
    for part, command in asked.unclear:
        yield words["unclear_searched" if Need.FIND in needs else "unclear"].format(
            command=command, part=cut(part, _LONGEST)
        )


def _beside(asked: Asked, wanted: Wanted, rules: Rules) -> Iterator[str]:
    """Yield what was made of the clauses that ask for no command."""
    words = rules.sentences[wanted.reading.language]
    searched = bool(wanted.needs & {Need.FIND, Need.COMPUTE})
    for clause in asked.beside:
        part = cut(clause.text, _LONGEST)
        if searched:
            if deeds_asked(clause.text, rules):
                yield words["searched"].format(part=part)
        elif unread(clause.text, (), rules) and not _asks_for(clause.text, wanted.needs, rules):
            yield words["unplanned"].format(part=part)


def _asks_for(text: str, needs: frozenset[Need], rules: Rules) -> bool:
    return any(score_of(text, need, rules) > 0 for need in needs - {Need.RUN})
