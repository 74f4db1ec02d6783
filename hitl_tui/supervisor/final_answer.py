"""The final answer, composed from what the teams handed back."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict, cast

from hitl_tui.core.fold_operator_events import DEFAULT_SKIP_REASON
from hitl_tui.core.given_values import given_values, value_at
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, step_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.question_field import question_of
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_markdown import first_words, literal
from hitl_tui.core.tally import cause_of, ending_of
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.core.written_language import language_of
from hitl_tui.supervisor.command_summary import in_short, lines_of_run, told, worth_telling
from hitl_tui.supervisor.lasting_effects import LastingEffect, run_place
from hitl_tui.supervisor.snapshot import CitationData, ResponseData
from hitl_tui.teams.contract import Block, Brief, brief_of, place_label
from hitl_tui.teams.printed_figures import Run, run_of

_KOREAN: Mapping[str, str] = {
    "rejected by {}: {}": "{0} 님이 거부함: {1}",
    "rejected by {}": "{0} 님이 거부함",
    "plan rejected by {}": "{0} 님이 계획을 거부함",
    "expired: {}": "기한이 지남: {0}",
    "expired": "기한이 지남",
    "cancelled by {}": "{0} 님이 취소함",
    "stopped by {}": "{0} 님이 중지함",
    "denied by policy rule {}": "정책 규칙 {0}에 따라 금지됨",
    "it took longer than {} s": "{0}초 안에 끝나지 않음",
    'The command "{}" ended with exit code {}: {}.': "종료 코드 {1}: {2}",
    'The command "{}" ended with exit code {}.': "종료 코드 {1}",
    'The command "{}" was ended by {}: {}.': "{1} 신호로 종료됨: {2}",
    'The command "{}" was ended by {}.': "{1} 신호로 종료됨",
    'The command "{}" was stopped because its time, {} s, was up: {}.': "제한 시간 {1}초가 지나 중지됨: {2}",
    'The command "{}" was stopped because its time, {} s, was up.': "제한 시간 {1}초가 지나 중지됨",
}
"""Why a step was not done, by the template of the message that says it."""


def reason(why: str, language: str) -> str:
    """Return why a step was not done, as the answer says it.

    Args:
        why: a TODO's error or the reason why it was skipped.
        language: `ko` or `en`; others get English. What people and commands said stays as they said it, and so does a
            reason of another kind.
    """
    # A step that isn't needed and failed is skipped; the answer says so beside the reason.
    bare = why.values[0] if isinstance(why, Message) and why.template == "failed: {}" else why
    if language != "ko" or not isinstance(bare, Message) or bare.template not in _KOREAN:
        return why
    return _KOREAN[bare.template].format(*bare.values)


_SHORT_CHARS = 600
_SHORT_LINES = 12
_QUOTES = 5
_QUOTED = 300
"""Characters of an edited input that the answer repeats."""
DONE, PARTIAL, FAILED = "done", "partial", "failed"

_WORDS = {
    "en": {
        "answer": "Answer",
        "evidence": "Evidence",
        "absent": "Not found",
        "also": "Also found",
        "sources": "Sources",
        "open": "Not done",
        "lasting": "Not undone by going back",
        "lasts": "{}: it ran, and what it did stays",
        "files": "Files written",
        "nothing": "Nothing was carried out.",
        "nothing_since": "Nothing was carried out since you went back.",
        "no_words": "Finished without a text.",
        "none_found": "Nothing was found for this question.",
        "skipped": "skipped",
        "failed": "failed",
        "blocked": "not run",
        "unread": 'planned without regard to "{}"',
        "was_rejected": "{} was rejected",
        "was_expired": "{} expired",
        "was_failed": "{} failed",
        "by_hand": "done by hand",
        "edited": "{} ran with an input that was edited",
        "planned": "{} {}, not {}",
    },
    "ko": {
        "answer": "답변",
        "evidence": "근거",
        "absent": "찾지 못한 것",
        "also": "그 밖에 찾은 곳",
        "sources": "출처",
        "open": "하지 않은 일",
        "lasting": "복원해도 그대로 남은 일",
        "lasts": "{}: 이미 실행되었고 그 결과는 그대로 있음",
        "files": "작성한 파일",
        "nothing": "실행된 단계가 없습니다.",
        "nothing_since": "복원한 뒤로 실행된 단계가 없습니다.",
        "no_words": "결과 글 없이 끝났습니다.",
        "none_found": "이 질문에 대해 찾은 것이 없습니다.",
        "skipped": "건너뜀",
        "failed": "실패",
        "blocked": "실행하지 않음",
        "unread": '"{}" 부분은 반영되지 않음',
        "was_rejected": "{} 거부됨",
        "was_expired": "{} 기한 지남",
        "was_failed": "{} 실패",
        "by_hand": "직접 처리함",
        "edited": "{} 단계는 고친 입력으로 실행했습니다",
        "planned": "{} {} (원래 {})",
        "argument limit": "최대 개수",
        "argument title": "제목",
        "argument path": "경로",
    },
}


class ResultData(TypedDict, total=False):
    """A `TeamResult` as it is kept."""

    text: str
    data: JsonObject
    citations: Sequence[CitationData]
    files: Sequence[str]
    summary: str
    found: bool
    missed: Sequence[str]


@dataclass(frozen=True, slots=True)
class Response:
    """The final answer of a session.

    Args:
        text: Markdown.
        summary: one line.
        citations: `{"path", "line", "end_line", "quote", "page"}`, without repetition, best first.
        files: workspace-relative paths written by teams.
        outcome: `done`, `partial` (something was rejected, skipped or blocked) or `failed`.
        remarks: what the planner said of its plan, such as what of the query it leaves out, a sentence each.
        found: False where nothing answers what was asked last.
        question: what was asked last, of what was done.
        language: of that question, `ko` or `en`.
        unsure: the searches that were done for that question found nothing sure, and nothing else answers it; not kept.
        missing: words of that question that stand in none of the documents; not kept.
    """

    text: str
    summary: str
    citations: tuple[CitationData, ...] = ()
    files: tuple[str, ...] = ()
    outcome: str = DONE
    remarks: tuple[str, ...] = ()
    found: bool = True
    question: str = ""
    language: str = ""
    unsure: bool = False
    missing: tuple[str, ...] = ()

    def to_dict(self) -> ResponseData:
        return {
            "text": self.text,
            "summary": self.summary,
            "citations": [c.copy() for c in self.citations],
            "files": list(self.files),
            "outcome": self.outcome,
            "remarks": list(self.remarks),
            "found": self.found,
            "question": self.question,
            "language": self.language,
        }


def compose(
    query: str,
    language: str,
    todos: Sequence[SupervisorTodo],
    results: Mapping[str, ResultData],
    errors: Sequence[str] = (),
    remarks: Sequence[str] = (),
    lasting: Sequence[LastingEffect] = (),
    branch: int = 0,
    asks: Mapping[str, Sequence[str]] = MappingProxyType({}),
    unaware: Collection[str] = (),
) -> Response:
    """Return the answer: a short one first, then what was left out or not done, what it rests on, what isn't there.

    Where several commands ran, or one deleted something or changed it beside other steps, the answer says first what
    they did and measured; the outcome of other steps that may have changed something comes before the rest. What the
    planner remarked stands here in every mode: where the plan isn't asked about, nobody has read it before.

    Args:
        query: what was asked.
        language: of that, `ko` or `en`; others get English headings. A later question is answered in its own.
        todos: in plan order.
        results: `TeamResult` dicts by TODO id; a `brief` in their data says what comes first.
        errors: why no plan could be made.
        remarks: what a person should know of the plan, a sentence each.
        lasting: what was done on branches that a restore left.
        branch: the branch that the session stands on.
        asks: where among its arguments an agent's question stands, by its name; see `question_path`.
        unaware: names of the agents that look at no earlier result.
    """
    if errors:
        return Response(text=" ".join(errors), summary=errors[0], outcome=FAILED)
    done = [t for t in todos if t.status is Status.COMPLETED]
    asked = {t.id: _asked(t, asks.get(t.agent_name, ())) for t in todos}
    question, language = _asked_last(done or todos, asked, query, language)
    words = _WORDS.get(language, _WORDS["en"])
    earlier = _from_before(done, results, lasting, branch)
    undone = [t for t in todos if t.status in (Status.SKIPPED, Status.FAILED, Status.BLOCKED)]
    runs = _runs(done, results, earlier, stopped=bool(undone))
    deeds = told(list(runs.values()), language, earlier) if runs else ""
    left = _lasting(lasting, words, language)
    if left and deeds:
        deeds, left = "\n\n".join(filter(None, (deeds, f"**{words['lasting']}**\n\n{left}"))), ""
    by_id = {t.id: t for t in todos}
    drawing = [t for t in done if t.id not in runs and _draws(results.get(t.id), runs)]
    briefs = {t.id: _brief(results.get(t.id), words, deed=t.id in runs) for t in done}
    used = {
        d
        for t in drawing
        for d in t.dependencies
        if d in by_id and not _asks_on(t, by_id[d])
        if not (_asked_a_table(results.get(t.id)) and asked[d] != asked[t.id])
        if t.agent_name not in unaware  # what it found or did isn't told in the later result
        if not (d in briefs and _says_more(briefs[d], briefs[t.id]))
    }
    leaves = [t for t in done if t.id not in used and t.id not in runs]
    behind = [t for t in reversed(done) if t not in leaves]
    said = [_Told(t, briefs[t.id], asked[t.id]) for t in [*leaves, *behind]]
    answering = _newest_first(_surest(_answering(said, len(leaves)), results))
    answering.sort(key=lambda one: one.todo.risk is Risk.LOW)
    missed = any(one.brief.absent for one in said)
    in_order = sorted(said, key=lambda one: done.index(one.todo))
    questions = _by_question(said[: len(leaves)])
    absent = list(dict.fromkeys(text for one in in_order for text in _absent(one, results, questions)))
    newest = questions[-1] if questions else []
    answered = any(one in newest for one in answering)
    among = said if len(questions) > 1 else []
    parts = [(one, one.brief.answer) for one in answering]
    refused: list[str] = []
    remarks = [*remarks, *(text for question in questions if not among for text in _remarked(question))]
    above = remarks
    if among:  # each question has its answer, or what isn't there, under itself
        parts = _with_absent(parts, questions, results)
        parts += _not_there(questions, answering, results)
        first = next((one for one in questions if not any(told.todo.metadata.get("manual") for told in one)), None)
        known = {id(one): _remarked(one) for one in questions}
        if first is not None:  # what was remarked of the plan is about the question that it was made for
            known[id(first)], above = [*remarks, *known[id(first)]], []
        parts = _with_remarks(parts, questions, known)
        # What was asked for last comes first, and in its own order where that was more than one question.
        lately = sorted(questions, key=lambda question: min(one.todo.created_at for one in question), reverse=True)
        parts.sort(key=lambda part: next((n for n, question in enumerate(lately) if part[0] in question), len(lately)))
    elif answering and not answered:
        refused = [text for one in newest for text in _absent(one, results, questions)][:1]
    answer = (
        _answer(parts, words, deeds, among, absent=missed) if done else words["nothing_since" if lasting else "nothing"]
    )
    # What isn't as expected or not done at all, and what was asked for last and isn't there, come before the rest.
    edited = [t for t in done if t.metadata.get("edited_by") and (t.id not in runs or t.metadata.get("planned"))]
    answer = "\n\n".join([*_missed(done, results), *above, *_edited(edited, words, asks), *refused, answer])
    stated = {text for _, part in parts for text in part.split("\n\n")} | {*refused}
    began = min((one.todo.created_at for one in newest), default="")
    resting = [one for one in said if not among or one.todo.created_at >= began]
    files = tuple(dict.fromkeys(f for r in results.values() for f in r.get("files", ())))
    sections = [(words["answer"], answer), (words["files"], _listed(files)), (words["lasting"], left)]
    unread = [line for t in done for line in _unread(t, words)]
    sections.append((words["open"], "\n".join([*(_undone(t, by_id, words, language) for t in undone), *unread])))
    sections.append((words["evidence"], _evidence(in_order if runs else resting, answering, words)))
    sections.append((words["absent"], _listed([text for text in absent if text not in stated])))
    deeds_in_short = in_short(list(runs.values()), language) if runs else []
    citations, rests = (
        _citations([results[one.todo.id] for one in told if one.todo.id in results]) for told in (said, resting)
    )
    sections.append((words["sources"], _sources(rests, "\n".join(text for _, text in sections))))
    unsure, missing = _doubts(newest, answering, by_id, results)
    return Response(
        text="\n\n".join(f"## {title}\n\n{text}" for title, text in sections if text) + "\n",
        summary=_summary(deeds_in_short, leaves, results, answer) if done else _nothing_done(undone, words),
        citations=citations,
        files=files,
        outcome=_outcome(todos),
        remarks=tuple(remarks),
        question=question,
        language=language,
        found=answered or bool(deeds) or not any(one.brief.absent for one in newest),
        unsure=unsure,
        missing=tuple(word for word in missing if word.casefold() in question.casefold()),
    )


def _doubts(
    question: Sequence[_Told],
    answering: Sequence[_Told],
    todos: Mapping[str, SupervisorTodo],
    results: Mapping[str, ResultData],
) -> tuple[bool, list[str]]:
    """Return whether a question's searches found nothing sure and nothing else answers it, and the words they lacked.

    Args:
        question: the last steps of the question.
        answering: whose answers come first.
        todos, results: all, by TODO id.
    """
    searches = {one.todo.id: _searches(one.todo, todos, results) for one in question}
    known = [searches[one.todo.id] for one in answering if one in question]
    sure = any(not rests or any(data["hits"] and not data.get("weak") for data in rests) for rests in known)
    found = [data.get("missing") for rests in searches.values() for data in rests]
    missing = (str(word) for words in found if isinstance(words, list | tuple) for word in words)
    return any(searches.values()) and not sure, list(dict.fromkeys(missing))


def _searches(
    todo: SupervisorTodo, todos: Mapping[str, SupervisorTodo], results: Mapping[str, ResultData]
) -> list[JsonObject]:
    """Return the data of the searches that a step's result rests on, its own first."""
    ids, found = [todo.id], []
    for todo_id in ids:
        data = results.get(todo_id, {}).get("data", {})
        found += [data] if "hits" in data else []
        if not data.get("table"):  # what comes from a table rests on nothing before it
            ids += [name for name in todos[todo_id].dependencies if name in todos and name not in ids]
    return found


def _asked_last(
    todos: Sequence[SupervisorTodo], asked: Mapping[str, str], query: str, language: str
) -> tuple[str, str]:
    """Return what was asked last, and its language: the query and the given one where nothing was asked after it."""
    later = [t for t in sorted(todos, key=lambda t: t.created_at) if t.metadata.get("manual") and asked[t.id]]
    question = asked[later[-1].id] if later else query
    return question, language_of(question, otherwise=query) if later else language


def _missed(done: Sequence[SupervisorTodo], results: Mapping[str, ResultData]) -> Iterator[str]:
    """Yield which results aren't what was expected of them; what was measured again counts as it was last."""
    as_it_ran = sorted((todo for todo in done if todo.id in results), key=lambda todo: todo.completed_at)
    last = {str([todo.agent_name, todo.arguments.get("argv", todo.id)]): todo for todo in as_it_ran}
    for todo in last.values():
        for said in results[todo.id].get("missed") or ():
            yield f"**{step_name(todo.id)} {literal(todo.name)}: {literal(said)}**"


def _edited(
    todos: Sequence[SupervisorTodo], words: Mapping[str, str], asks: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield which steps ran with another input than was planned, each such input once."""
    alike: dict[str, list[str]] = {}
    for todo in todos:
        alike.setdefault(_changed(todo, words, asks.get(todo.agent_name, ())), []).append(step_name(todo.id))
    for said, names in alike.items():
        head = words["edited"].format(", ".join(names))
        yield f"{head}: {said}" if said else f"{head}."


def _changed(todo: SupervisorTodo, words: Mapping[str, str], path: Sequence[str]) -> str:
    """Return what of a step's input was edited, and the words it was asked now."""
    planned, now, asks = todo.metadata.get("planned", {}), given_values(todo.arguments), value_at(path)
    changes = [
        words["planned"].format(
            words.get(f"argument {name}", name), clip(_listed_out(now.get(name))), clip(_listed_out(was))
        )
        for name, was in planned.items()
        if name != asks
    ]
    asked = _asked(todo, path) if not changes or asks in planned else ""
    return ", ".join([*([literal(clip(asked, _QUOTED))] if asked else []), *map(literal, changes)])


def _listed_out(value: Json) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _asked(todo: SupervisorTodo, path: Sequence[str]) -> str:
    """Return the question of a step in one line; empty for none."""
    return " ".join(question_of(todo.arguments, path).split())


@dataclass(frozen=True, slots=True)
class _Told:
    """A completed TODO, what its team wants said, and what it was asked."""

    todo: SupervisorTodo
    brief: Brief
    asked: str


def _draws(result: ResultData | None, runs: Mapping[str, Run]) -> bool:
    """Whether a step's answer stands for what it depends on: beside commands only where it cites or keeps it."""
    return not runs or result is None or bool(result.get("citations") or result.get("files"))


def _asked_a_table(result: ResultData | None) -> bool:
    """Whether a step's answer comes from a table: it uses nothing of what it comes after."""
    return result is not None and bool(result.get("data", {}).get("table"))


def _says_more(earlier: Brief, later: Brief) -> bool:
    """Whether what a step worked from stands beside its own answer, which is of a part: it rests on other places."""
    rests = bool(earlier.quoted) and all(f"`{label}`" in later.answer for label in earlier.quoted)
    return later.partial and bool(earlier.answer) and not rests


def _from_before(
    done: Sequence[SupervisorTodo], results: Mapping[str, ResultData], lasting: Sequence[LastingEffect], branch: int
) -> frozenset[str]:
    """Return whose results are older than a restore after which the world isn't as it was then.

    Those are steps that ran before something that a restore didn't undo, and steps for which a person took over what
    was done on the branch that was left. What a person declared done of a step that was cut off has no result to take
    over.
    """
    known = [todo for todo in done if not results.get(todo.id, {}).get("data", {}).get("declared_done")]
    answers = {todo.id: todo.metadata.get("resolutions", {}).values() for todo in known}
    taken = {name for name, said in answers.items() if any(r.get("verdict") == Verdict.USE_AS_DONE for r in said)}
    return frozenset(taken | {todo.id for todo in done if lasting and run_place(todo.run_id)[0] < branch})


def _runs(
    done: Sequence[SupervisorTodo], results: Mapping[str, ResultData], earlier: Collection[str], *, stopped: bool
) -> dict[str, Run]:
    """Return the commands that ran, by TODO id; empty where what one command printed now says it all.

    Args:
        done: in plan order.
        results: by TODO id.
        earlier: ids of TODOs that are older than a restore.
        stopped: other steps didn't run, which mustn't stand below what one of them printed.
    """
    as_it_ran = sorted(done, key=lambda todo: todo.completed_at)
    found = [run for t in as_it_ran if t.id in results and (run := run_of(t.id, results[t.id]))]
    changed = {t.id for t in done if t.risk is not Risk.LOW} if len(done) > 1 else set()
    told_apart = stopped or worth_telling(found) or any(run.todo_id in {*earlier, *changed} for run in found)
    return {run.todo_id: run for run in found} if told_apart else {}


def _lasting(lasting: Sequence[LastingEffect], words: Mapping[str, str], language: str) -> str:
    """Return what a restore didn't undo: of a command what it did, files that it deleted by name."""
    lines = []
    for one in lasting:
        if one.run is not None:
            lines += lines_of_run(one.run, language)
        else:
            lines.append(f"- {words['lasts'].format(' '.join(filter(None, (step_name(one.todo_id), one.name))))}")
    return "\n".join(lines)


def _brief(result: ResultData | None, words: Mapping[str, str], *, deed: bool = False) -> Brief:
    """Return a result's brief; of a team that gives none its text, or its summary where the text is long.

    Args:
        result: a `TeamResult` dict; None for what a person did.
        words: in the answer's language.
        deed: what it did is told already, so that its text is evidence only.
    """
    if result is None:
        return Brief(answer=words["by_hand"])
    if deed:
        return Brief(evidence=(Block(str(result.get("text", "")).strip()),))
    brief = brief_of(cast("JsonObject", result))
    if brief is not None:
        return brief
    text = _body(str(result.get("text", "")))
    summary = str(result.get("summary", "")).strip()
    if not result.get("found", True):
        return Brief(absent=(" ".join((summary or text).split()),))
    if not summary or (len(text) <= _SHORT_CHARS and text.count("\n") < _SHORT_LINES):
        return Brief(answer=text or summary)
    return Brief(answer=summary, evidence=(Block(text),))


def _absent(one: _Told, results: Mapping[str, ResultData], questions: Sequence[Sequence[_Told]]) -> tuple[str, ...]:
    """Return what a step says isn't there, first of all that nothing answers where that is so.

    That doesn't hold where another search for the same question found something.
    """
    alike = next(([told.todo.id for told in question] for question in questions if one in question), [])
    ids = alike if alike and len(questions) > 1 else [*results]
    hits = {todo_id: results.get(todo_id, {}).get("data", {}).get("hits") for todo_id in (one.todo.id, *ids)}
    nothing = hits[one.todo.id] == 0 and any(hits.values())
    return one.brief.absent[1 if nothing else 0 :]


def _answering(told: Sequence[_Told], leaves: int) -> list[_Told]:
    """Return whose answers come first: of the last steps, or of those before them when they have none."""
    found = [one for one in told[:leaves] if one.brief.answer]
    return found or [one for one in told[leaves:] if one.brief.answer][:1]


def _surest(answering: Sequence[_Told], results: Mapping[str, ResultData]) -> list[_Told]:
    """Return the answers, of each question what was worked out before what was found.

    What only came near is left out where another step answered the same question.
    """
    data = {one.todo.id: results.get(one.todo.id, {}).get("data", {}) for one in answering}
    kept: list[_Told] = []
    for question in _by_question(answering):
        sure = [one for one in question if not data[one.todo.id].get("weak")] or question
        kept += sorted((one for one in answering if one in sure), key=lambda one: "hits" in data[one.todo.id])
    return kept


def _by_question(told: Sequence[_Told]) -> list[list[_Told]]:
    """Return what there is to tell by question: people ask one more in other words, or once the last is answered."""
    questions: list[list[_Told]] = []
    for one in sorted(told, key=lambda one: one.todo.created_at):
        last = questions[-1] if questions else []
        known = all(other.todo.completed_at <= one.todo.created_at for other in last)
        words = {other.asked for other in last}
        another = one.asked and not words.intersection(("", one.asked))
        apart = not {other.todo.id for other in last}.intersection(one.todo.dependencies)
        if not last or (one.todo.metadata.get("manual") and (known or (another and apart))):
            questions.append([])
        questions[-1].append(one)
    return questions


def _asks_on(todo: SupervisorTodo, earlier: SupervisorTodo) -> bool:
    """Whether a step is of a question that a person asked once an earlier one was answered: both answers stand."""
    return bool(todo.metadata.get("manual")) and bool(earlier.completed_at) and earlier.completed_at <= todo.created_at


def _newest_first(answering: Sequence[_Told]) -> list[_Told]:
    """Return the answers with those of the last question first."""
    return [one for question in reversed(_by_question(answering)) for one in answering if one in question]


def _heading(one: _Told, among: Sequence[_Told]) -> str:
    """Return what a step's answer stands under: its name; what it was asked where that tells it from another."""
    name, asked = one.todo.name, one.asked
    same = sum(other.todo.name == name for other in among) > 1
    several = any(other.todo.metadata.get("manual") for other in among)
    return literal(clip(asked, 200)) if asked and (same or several) else name


def _not_there(
    questions: Sequence[Sequence[_Told]], answering: Sequence[_Told], results: Mapping[str, ResultData]
) -> list[tuple[_Told, str]]:
    """Return what isn't there, of each question that has no answer."""
    found = []
    for question in questions:
        said = [(one, text) for one in question for text in _absent(one, results, questions)]
        if said and not any(one in question for one in answering):
            found.append((said[0][0], "\n\n".join(dict.fromkeys(text for _, text in said))))
    return found


def _with_absent(
    parts: Sequence[tuple[_Told, str]], questions: Sequence[Sequence[_Told]], results: Mapping[str, ResultData]
) -> list[tuple[_Told, str]]:
    """Return the answers, each question's with what of it isn't there below its last one."""
    told = list(parts)
    for question in questions:
        at = max((n for n, (one, _) in enumerate(told) if one in question), default=-1)
        if at >= 0:
            absent = dict.fromkeys(text for one in question for text in _absent(one, results, questions))
            told[at] = (told[at][0], "\n\n".join([told[at][1], *absent]))
    return told


def _remarked(question: Sequence[_Told]) -> list[str]:
    """Return what a person should know of a question that was asked in the session."""
    return list(dict.fromkeys(text for one in question for text in one.todo.metadata.get("remarks", ())))


def _with_remarks(
    parts: Sequence[tuple[_Told, str]], questions: Sequence[Sequence[_Told]], known: Mapping[int, Sequence[str]]
) -> list[tuple[_Told, str]]:
    """Return the answers with what a person should know of each question, by its identity, before its first one."""
    told = list(parts)
    for question in questions:
        if remarks := known[id(question)]:
            at = next((n for n, (one, _) in enumerate(told) if one in question), len(told))
            one, text = told[at] if at < len(told) else (question[0], "")
            told[at : at + 1] = [(one, "\n\n".join(filter(None, (*remarks, text))))]
    return told


def _answer(
    parts: Sequence[tuple[_Told, str]], words: Mapping[str, str], deeds: str, among: Sequence[_Told], *, absent: bool
) -> str:
    """Return what comes first; where nobody answers, that nothing was found, or that a step ended without words.

    Args:
        parts: steps with what they answer.
        words: in the answer's language.
        deeds: what commands did.
        among: all steps, where they answer several questions: each answer then stands under its own.
        absent: something wasn't found.
    """
    if len(parts) == 1 and not deeds and not among:
        return parts[0][1]
    named = among or [one for one, _ in parts]
    texts = [f"**{_heading(one, named)}**\n\n{text}" for one, text in parts]
    return "\n\n".join([deeds, *texts] if deeds else texts) or words["none_found" if absent else "no_words"]


def _evidence(told: Sequence[_Told], answering: Sequence[_Told], words: Mapping[str, str]) -> str:
    """Return what the answer rests on, each place once, under the steps it comes from where there are several."""
    shown = {label for one in answering for label in one.brief.quoted}
    answers = "\n".join(one.brief.answer for one in answering)
    said = _plain(answers)
    parts: list[tuple[str, str]] = []
    for one in told:
        quotes = [block for block in one.brief.evidence if block.label and block.label not in shown]
        # What the answer cites comes first; what stands above already, word for word, isn't said again.
        quotes.sort(key=lambda block: f"`{block.label}`" not in answers)
        quotes = [block for block in quotes if _plain(_quote(block.text)) not in said]
        shown.update(block.label for block in quotes)
        texts = [block.text for block in one.brief.evidence if not block.label]
        texts += [block.text for block in quotes[:_QUOTES]]
        if quotes[_QUOTES:]:
            texts.append(f"{words['also']}: {', '.join(f'`{block.label}`' for block in quotes[_QUOTES:])}")
        if not one.brief.evidence and one.brief.answer and one not in answering:
            texts = [one.brief.answer]
        if texts:
            said += _plain("\n".join(texts))
            parts.append((one.todo.name, "\n\n".join(texts)))
    if len(parts) == 1:
        return parts[0][1]
    # A text with a heading of its own needs no other above it.
    return "\n\n".join(text if text.startswith("#") else f"### {name}\n\n{text}" for name, text in parts)


def _quote(text: str) -> str:
    """Return the quotation in a block, without what cuts it short."""
    lines = [line.removeprefix(">") for line in text.split("\n") if line.startswith(">")]
    return "\n".join(lines).removesuffix("…") if lines else text


def _plain(text: str) -> str:
    """Return the letters and digits of a text, to tell whether it says something already."""
    return "".join(character for character in text if character.isalnum())


def _sources(citations: Sequence[CitationData], text: str) -> str:
    """Return the places that were cited and stand nowhere in the text above."""
    kept = [c for c in citations if not re.search(re.escape(_place(c)) + r"(?!\d)", text)]
    return "\n".join(f"{n}. {_label(c)}" for n, c in enumerate(kept, start=1))


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _body(text: str) -> str:
    """Return a team's text without a heading at its start: the TODO's name stands there already."""
    first, _, rest = text.strip().partition("\n")
    return rest.strip() if first.startswith("#") and rest.strip() else text.strip()


def _outcome(todos: Sequence[SupervisorTodo]) -> str:
    broken = [t for t in todos if t.status is Status.FAILED and not t.metadata.get("rejected")]
    if broken:
        return FAILED
    return PARTIAL if any(t.status is not Status.COMPLETED for t in todos) else DONE


def _citations(results: Sequence[ResultData]) -> tuple[CitationData, ...]:
    found: dict[tuple[str, int, int], CitationData] = {}
    for result in results:
        for citation in result.get("citations", ()):
            found.setdefault((citation["path"], citation.get("page", 0), citation["line"]), citation)
    return tuple(found.values())


def _place(citation: CitationData) -> str:
    return place_label(str(citation["path"]), int(citation["line"]), int(citation.get("page") or 0))


def _label(citation: CitationData) -> str:
    quote = clip(" ".join(str(citation.get("quote", "")).split()), 160)
    return _place(citation) + (f" — {quote}" if quote else "")


def _undone(todo: SupervisorTodo, todos: Mapping[str, SupervisorTodo], words: Mapping[str, str], language: str) -> str:
    head = f"- {step_name(todo.id)} {todo.name}"
    why = todo.error or todo.metadata.get("skip_reason", "")
    why = "" if why == DEFAULT_SKIP_REASON else reason(why, language)
    if todo.metadata.get("rejected") and why:
        return f"{head}: {clip(why, 200)}"
    state = words.get(todo.status.value, todo.status.value)
    cause = cause_of(todo, todos) if todo.status is Status.BLOCKED else None
    if cause is not None:
        return f"{head}: {state}: {_became(cause, words)}"
    return f"{head}: {state}" + (f" ({clip(why, 200)})" if why else "")


def _unread(todo: SupervisorTodo, words: Mapping[str, str]) -> list[str]:
    """Return what was said of a step that is done and wasn't in its plan."""
    parts = todo.metadata.get("unread", ())
    return [f"- {step_name(todo.id)} {todo.name}: {words['unread'].format(part)}" for part in parts]


def _became(todo: SupervisorTodo, words: Mapping[str, str]) -> str:
    """Return what became of a step that wasn't done: `003 was rejected`."""
    said = words.get(f"was_{ending_of(todo)}")
    return (
        said.format(step_name(todo.id))
        if said
        else f"{step_name(todo.id)} {words.get(todo.status.value, todo.status.value)}"
    )


_NAMED = 3
"""So many steps are named in one line."""


def _nothing_done(undone: Sequence[SupervisorTodo], words: Mapping[str, str]) -> str:
    """Return in one line that nothing was done, and what was decided instead."""
    decided = [t for t in undone if t.status is not Status.BLOCKED] or list(undone)
    said = [_became(t, words) for t in decided[:_NAMED]] + (["…"] if decided[_NAMED:] else [])
    return f"{words['nothing'].rstrip('.')}: {', '.join(said)}" if said else words["nothing"]


def _summary(
    deeds: Sequence[str], leaves: Sequence[SupervisorTodo], results: Mapping[str, ResultData], answer: str
) -> str:
    """Return the answer in one line: what commands did, what teams say of their results, else how it begins."""
    said = list(deeds) or [str(results[t.id].get("summary", "")) for t in leaves if t.id in results]
    said = [text for text in said if text]
    return clip(" · ".join(said) or first_words(answer), 300)
