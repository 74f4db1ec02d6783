"""Which windows answer a question: what their words say and their sentences mean, weighed as question sets taught.

The weights are those of a logistic regression; `benchmarks/search_weights.py` finds them. First the windows that say
most of a question are compared by their headings, then the best of those by their sentences. From how far the first
three stand out follows how likely it is that they answer.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath

from hitl_tui.meaning.encoder import MOST_SENTENCES, answering, likenesses, matches, nearest
from hitl_tui.teams.search.query_terms import Term
from hitl_tui.teams.search.tokens import has_korean, padded_tokens

_CANDIDATES, _COMPARED, _MEANT_ALIKE, _READ, _JUDGED = 300, 100, 30, 35, 8
"""Windows of which the words are weighed, of which the headings are compared, with others that are chosen by what they
mean, of which each sentence is compared, and that are judged as answers."""
_OTHERS = 25
"""Windows with whose mean weight the best one is compared."""
_UNKNOWN = 0.25
"""The likeness of a window that has no sketch yet."""
_TITLE, _NAME = 0.5, 0.25
_HEADING, _SENTENCE_CHARS = 300, 360
"""Characters of the headings and of a sentence of which meaning is compared."""
_STRETCH = 400
"""Characters of a window that are judged."""
_NO_WORD = re.compile(r"[\W_]+")
_SENTENCE_END = (".", "!", "?", "。", ":")
Near = Sequence[tuple[str, int]]
_BESIDE, _SAME_FILE, _LINES = 2.5, 0.4, 25.0
"""What it counts, in log-odds, that a window stands where the question before was answered; the share of that for the
same file; and how many lines away it is hardly the same place any more."""
_LONG_QUESTION, _REPEATED = 30, 3.0
"""A passage that has a whole question, word for word, asks it, too."""
_FIGURE = re.compile(
    r"how (?:many|much|long|often|old|big|large|far|fast)|what (?:number|percentage|size|share)|\bwhen\b|default"
    r"|m(?:ax|in)imum|limit|몇|얼마|언제|며칠|기한|기간|최대|최소|기본값",
    re.IGNORECASE,
)
"""What asks for a figure or a date."""
_TIME, _TIMES = (
    re.compile(
        r"how (?:long|often|soon)|how many (?:second|minute|hour|day|week|month|year)s|until when|deadline"
        r"|며칠|몇 ?(?:초|분|시간|일|주|달|개월|년)|기한|기간|얼마나 (?:오래|걸|자주)|얼마 동안|언제까지",
        re.IGNORECASE,
    ),
    re.compile(
        r"\d[\d.,]*\s?-?(?:(?:second|minute|hour|day|week|month|year)|(?:sec|min|ms|[smhd])\b|초|분|시간|일|주|개월|달|년)"
        r"|\b(?:one|two|three|four|five|six|seven|ten|thirty|a|an|each|every|per) (?:second|minute|hour|day|week|month)"
        r"|\b(?:a|each|every|per) year|하루|이틀|사흘|일주일|한 ?달|반년|매[일주월년]",
        re.IGNORECASE,
    ),
)
_REASON, _REASONS = (
    re.compile(r"\bwhy\b|\breasons?\b|what for\b|왜|이유|까닭", re.IGNORECASE),
    re.compile(
        r"\b(?:because|since|in order to|so that|reasons?|therefore|due to|otherwise|thus)\b"
        r"|때문|위해|위하여|므로|이유|따라서|니까|않도록",
        re.IGNORECASE,
    ),
)
"""What asks for a time or a reason, and how one is said."""
_CODE = {
    ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".vue", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".go", ".rs",
    ".java", ".kt", ".scala", ".swift", ".rb", ".pl", ".pm", ".php", ".lua", ".r", ".jl", ".sh", ".bash", ".zsh",
    ".fish", ".tcsh", ".ps1", ".bat", ".sql", ".css", ".scss", ".el", ".vim", ".json", ".toml", ".yaml", ".yml", ".cfg",
    ".conf", ".ini",
}  # fmt: skip
_FIELD, _FIELDS = re.compile(r"^[A-Z][\w-]*: \S", re.MULTILINE), 7
"""A field of a header that programs read, such as a package's; and how many make a header, weighed as tests are."""
_OF_ITS_FOLDER = ("readme", "index", "__init__", "__main__", "main", "overview", "about")
_MEANT, _MEANT_EVEN = 25.0, -9.0
"""What it counts, where no word of a question stands there, how like it the best sentence is."""
_NAMED = 0.7
"""How much a word says at least that is a name."""
_LONG = 800
_BEST = 3

HEADINGS: Mapping[str, float] = {
    "words": 3.488,
    "share": 8.083,
    "heading_share": -0.616,
    "heading": 3.934,
    "window": 13.874,
}
SENTENCES: Mapping[str, float] = {
    "words": 3.296,
    "share": 6.226,
    "sentence_share": -0.154,
    "heading_share": 0.184,
    "sentence": 3.916,
    "heading": 1.305,
    "window": 6.362,
    "foreign": 0.474,
    "match": 0.406,
    "of_kind": 2.855,
    "has_figure": 1.323,
    "figure_in_sentence": 1.49,
    "length": 0.735,
    "code": -0.452,
    "test": -2.68,
    "changes": 0.263,
}
ANSWERS: Mapping[str, float] = {
    "words": 3.487,
    "share": 5.508,
    "sentence_share": -0.525,
    "heading_share": -0.555,
    "sentence": 2.814,
    "heading": 1.296,
    "window": 5.982,
    "foreign": 0.711,
    "match": 0.359,
    "of_kind": 3.055,
    "has_figure": 1.415,
    "figure_in_sentence": 1.475,
    "length": 1.006,
    "code": -0.653,
    "test": -2.825,
    "changes": 0.154,
    "answer": 34.562,
}
UNJUDGED: Mapping[str, float] = {
    "sentence": 0.094,
    "heading": 0.036,
    "window": 0.018,
    "": 0.808,
}
CONFIDENCE_IN_MANY: Mapping[str, float] = {
    "weight": -0.047,
    "stands_out": 0.518,
    "ahead": 0.101,
    "words": 0.08,
    "answer": 5.313,
    "sentence": -0.001,
    "match": 0.174,
    "share": 0.854,
    "terms": 0.108,
    "windows": 0.104,
    "absent": -0.284,
    "foreign": 0.751,
    "": -7.704,
}
CONFIDENCE_IN_FEW: Mapping[str, float] = {
    "weight": 0.145,
    "stands_out": 0.08,
    "ahead": 0.034,
    "words": 0.245,
    "answer": 21.565,
    "sentence": -2.147,
    "match": 0.117,
    "share": 1.886,
    "terms": -0.061,
    "absent": -1.017,
    "foreign": 1.155,
    "": -24.735,
}
FEW = 200
USUAL = 34.4
"""What each part of a window weighs; and what tells whether the three best answer, among many windows and among few,
with the log-odds where nothing does; how many are few; and the weight of a window that doesn't answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, weighed against the documents.

    Args:
        text: as written.
        terms: what it looks for.
        found: where each phrase stands, by window; of some files alone where the question names them.
        windows: how many there are.
        near: paths and lines that answered the question from which this one goes on, best first.
    """

    text: str
    terms: tuple[Term, ...]
    found: Mapping[str, Sequence[int]]
    windows: int
    near: Near = ()

    def nearness(self, path: str, parts: Sequence[tuple[int, int, str]]) -> float:
        """Return how near a window stands to what answered the question before, 0 to 1."""
        first, last = parts[0][0], parts[-1][1]
        return max(
            (
                (_SAME_FILE + (1 - _SAME_FILE) * math.exp(-max(first - line, line - last, 0) / _LINES)) / (1 + place)
                for place, (one, line) in enumerate(self.near)
                if one == path
            ),
            default=0.0,
        )

    def rarity(self, phrase: str) -> float:
        return math.log(1 + self.windows / (len(self.found[phrase]) + 1))

    def stands(self, term: Term) -> bool:
        return any(self.found[form.phrase] for form in term.forms)

    def value(self, text: str) -> float:
        """Return how much of the question a text says."""
        tokens = padded_tokens(text)
        return sum(
            term.telling
            * max((f.weight * self.rarity(f.phrase) for f in term.forms if f" {f.phrase} " in tokens), default=0.0)
            for term in self.terms
        )

    def said_in(self, *texts: str) -> float:
        """Return how much those words of the question say that stand in all of some texts."""
        tokens = [padded_tokens(text) for text in texts]
        return sum(term.telling for term in self.terms if all(self.has(one, term) for one in tokens))

    def share(self, tokens: str) -> float:
        """Return which part of the question some index tokens say."""
        every = sum(term.telling for term in self.terms)
        return sum(term.telling for term in self.terms if self.has(tokens, term)) / every if every else 0.0

    def absent(self, text: str) -> float:
        """Return how much those names of the question say that stand nowhere.

        In documents of another language than an English question's, as a text is, every word may be missing.
        """
        if has_korean(text) and not has_korean(self.text):
            return 0.0
        names = (term for term in self.terms if not term.korean and not term.surface[0].isdigit())
        return sum(term.telling for term in names if term.telling >= _NAMED and not self.stands(term))

    @staticmethod
    def has(tokens: str, term: Term) -> bool:
        """Return whether a term stands in some index tokens, in whatever words."""
        return any(f" {form.phrase} " in tokens for form in term.forms)


@dataclass(frozen=True, slots=True)
class Window:
    """Blocks of a file that follow one another, as a question finds them.

    Args:
        id: of the window in the store.
        path, page, heading: where it stands.
        parts: its sentences, each with its first and last line.
        tokens: its index tokens, with those of its headings and its file's name.
        said: how much of the question its words say.
        like: how like the question it is, roughly.
        likes: how like each sentence is.
        asks: it has the whole question, word for word.
        near: how near it stands to what answered the question before.
        features: what is weighed.
        weight: how well it answers, in log-odds.
        score: how well it answers beside the best window, 0 to 1.
    """

    id: int
    path: str
    page: int
    heading: str
    parts: tuple[tuple[int, int, str], ...]
    tokens: str
    said: float
    like: float = _UNKNOWN
    likes: tuple[float, ...] = ()
    asks: bool = False
    near: float = 0.0
    features: Mapping[str, float] = field(default_factory=dict)
    weight: float = 0.0
    score: float = 0.0

    @property
    def text(self) -> str:
        return "\n".join(text for _, _, text in self.parts)


def ranked(db: sqlite3.Connection, asked: Asked, named: Sequence[int]) -> list[Window]:
    """Return the windows that have words of a question, best first.

    Args:
        db: the store; the caller holds a read transaction.
        asked: the question.
        named: ids of the files that are searched; all when empty.
    """
    return by_answers(asked, by_sentences(asked, by_headings(asked, candidates(db, asked, named))[:_READ]))


def candidates(db: sqlite3.Connection, asked: Asked, named: Sequence[int]) -> list[Window]:
    """Return the windows whose words say most of a question, and those that mean most nearly the same."""
    sums: Counter[int] = Counter()
    for term in asked.terms:
        own: dict[int, float] = {}
        for form in term.forms:
            value = form.weight * term.telling * asked.rarity(form.phrase)
            for window in asked.found[form.phrase]:
                own[window] = max(own.get(window, 0.0), value)
        sums.update(own)
    chosen = [window for window, _ in sums.most_common(_CANDIDATES)]
    every = [row[0] for row in db.execute("SELECT id FROM windows LIMIT ?", (_COMPARED + 1,))]
    if len(every) <= _COMPARED and not named:
        chosen = every  # where there are few, meaning alone finds what is said in other words
    store = Path(db.execute("PRAGMA database_list").fetchone()[2])
    alike = nearest(asked.text, store, _MEANT_ALIKE, chosen, named)
    meant = sorted(alike, key=lambda window: -alike[window])[:_MEANT_ALIKE]
    rows = db.execute(
        "SELECT windows.id, path, page, heading, parts, body, title, name FROM windows"
        " JOIN files ON files.id = windows.file JOIN words ON words.rowid = windows.id"
        " WHERE windows.id IN (SELECT value FROM json_each(?))",
        (json.dumps([*chosen, *meant]),),
    )
    found = []
    for id_, path, page, heading, parts, body, title, name in rows:
        said = _said(asked, f" {body} ", f" {title} ", f" {name} ")
        blocks = tuple(piece for first, last, text in json.loads(parts) for piece in sentences(first, last, text))
        like = alike.get(id_, _UNKNOWN)
        tokens, near = f" {body} {title} {name} ", asked.nearness(path, blocks)
        found.append(Window(id_, path, page, heading, blocks, tokens, said, like, near=near))
    found.sort(key=lambda window: (-window.said, window.id))
    return [*found[:_COMPARED], *(window for window in found[_COMPARED:] if window.id in meant)]


def by_headings(asked: Asked, windows: Sequence[Window]) -> list[Window]:
    """Return windows in the order in which their words and headings answer."""
    most = max((window.said for window in windows), default=0.0) or 1.0
    titles = [_title(window) for window in windows]
    different = list(dict.fromkeys(titles))
    likes = dict(zip(different, likenesses(asked.text, different), strict=True))
    made = [
        replace(
            window,
            features={
                "words": window.said / most,
                "share": asked.share(window.tokens),
                "heading_share": asked.share(padded_tokens(window.heading)),
                "heading": likes[title],
                "window": window.like,
            },
        )
        for window, title in zip(windows, titles, strict=True)
    ]
    return _weighed(made, HEADINGS)


def by_sentences(asked: Asked, windows: Sequence[Window]) -> list[Window]:
    """Return windows in the order in which their words, headings and sentences answer."""
    texts = [text[:_SENTENCE_CHARS] for window in windows for _, _, text in window.parts[:MOST_SENTENCES]]
    every = iter(likenesses(asked.text, texts))
    match = matches(asked.text, [(_title(w), [text[:_SENTENCE_CHARS] for _, _, text in w.parts]) for w in windows])
    figure = _FIGURE.search(asked.text) is not None
    kinds = [says for asks, says in ((_TIME, _TIMES), (_REASON, _REASONS)) if asks.search(asked.text)]
    made = []
    for window, matched in zip(windows, match, strict=True):
        parts = [text for _, _, text in window.parts[:MOST_SENTENCES]]
        likes = tuple(next(every) for _ in parts)
        path = window.path.casefold()
        features = {
            **window.features,
            "sentence_share": max(asked.share(padded_tokens(text)) for text in parts),
            "sentence": max(likes),
            "match": matched,
            "of_kind": any(says.search(window.text) for says in kinds),
            "has_figure": figure and any(map(_has_digit, parts)),
            "figure_in_sentence": figure and _has_digit(parts[likes.index(max(likes))]),
            "foreign": has_korean(asked.text) != has_korean(window.text),
            "length": min(len(window.text), _LONG) / _LONG,
            "code": PurePosixPath(path).suffix in _CODE,
            "test": "test" in path or len(_FIELD.findall(window.text)) >= _FIELDS,
            "changes": any(word in path for word in ("change", "news", "history")),
        }
        asks = len(asked.text) > _LONG_QUESTION and _folded(asked.text) in _folded(window.text)
        made.append(replace(window, likes=likes, features=features, asks=asks))
    return _weighed(made, SENTENCES)


def by_answers(asked: Asked, windows: Sequence[Window]) -> list[Window]:
    """Return windows in the order in which they answer, the first of them judged by the thorough encoder."""
    texts = [f"{file_title(w.path)} > {w.heading[-_HEADING:]}: {_stretch(w)}" for w in windows[:_JUDGED]]
    judged = dict(zip((window.id for window in windows), answering(asked.text, texts), strict=False))
    made = [
        replace(window, features={**window.features, "answer": judged.get(window.id, likely_answer(window.features))})
        for window in windows
    ]
    best = _weighed(made, ANSWERS)
    return [replace(window, score=math.exp(window.weight - best[0].weight)) for window in best]


def _stretch(window: Window) -> str:
    """Return the part of a window around the sentence that is most like the question, as far as it is judged."""
    first = window.likes.index(max(window.likes))
    last, room = first + 1, _STRETCH - len(window.parts[first][2])
    for _ in window.parts:
        for at in (last, first - 1):
            if 0 <= at < len(window.parts) and len(window.parts[at][2]) < room:
                room -= len(window.parts[at][2])
                first, last = min(first, at), max(last, at + 1)
    return "\n".join(text for _, _, text in window.parts[first:last])


def likely_answer(features: Mapping[str, float]) -> float:
    """Return what the thorough encoder would most likely say of a window, judged by its other features."""
    return UNJUDGED[""] + sum(value * features[name] for name, value in UNJUDGED.items() if name)


def confidence(asked: Asked, windows: Sequence[Window]) -> dict[str, float]:
    """Return what tells whether the first three of the ranked windows answer a question."""
    weights = [*(window.weight for window in windows[:_OTHERS]), *[USUAL] * (_OTHERS - len(windows))]
    size = math.log(1 + asked.windows)
    return {
        "weight": weights[0],
        "stands_out": weights[0] - sum(weights) / len(weights),
        "ahead": weights[0] - weights[1],
        "words": max(window.said for window in windows[:_BEST]) / size,
        "answer": max(window.features["answer"] for window in windows[:_BEST]),
        "sentence": max(window.features["sentence"] for window in windows[:_BEST]),
        "match": max(window.features["match"] for window in windows[:_BEST]),
        "share": max(window.features["share"] for window in windows[:_BEST]),
        "terms": len(asked.terms),
        "windows": size,
        "absent": asked.absent(windows[0].text),
        "foreign": windows[0].features["foreign"],
    }


def likely(asked: Asked, windows: Sequence[Window]) -> float:
    """Return how likely it is that the first three of the ranked windows answer, in log-odds."""
    if len(asked.terms) > 1 and all(window.said == 0 for window in windows):  # there are few, in other words
        return _MEANT * max(max(window.likes) for window in windows) + _MEANT_EVEN
    weights = CONFIDENCE_IN_MANY if asked.windows > FEW else CONFIDENCE_IN_FEW
    return weights[""] + sum(weights.get(name, 0.0) * value for name, value in confidence(asked, windows).items())


def _title(window: Window) -> str:
    return f"{file_title(window.path)} {window.heading}"[:_HEADING]


def file_title(path: str) -> str:
    """Return what a file is called, in words; one that is called as its kind is of what its folder is called."""
    file = PurePosixPath(path)
    name = f"{file.parent.name} {file.stem}" if file.stem.casefold() in _OF_ITS_FOLDER else file.stem
    return _NO_WORD.sub(" ", name).strip()


def _said(asked: Asked, body: str, title: str, name: str) -> float:
    length = 0.8 * (0.4 + 0.6 * body.count(" ") / 120)
    total = 0.0
    for term in asked.terms:
        best = 0.0
        for form in term.forms:
            if not asked.found[form.phrase]:
                continue
            phrase = f" {form.phrase} "
            times = body.count(phrase)
            value = 2.0 * times / (times + length)
            if phrase in title:
                value = max(value, 0.9) + _TITLE
            if phrase in name:
                value = max(value, 0.6) + _NAME
            best = max(best, form.weight * asked.rarity(form.phrase) * value)
        total += best * term.telling
    return total


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _weighed(windows: Sequence[Window], weights: Mapping[str, float]) -> list[Window]:
    made = []
    for window in windows:
        weight = sum(weights[name] * window.features[name] for name in weights)
        made.append(replace(window, weight=weight - _REPEATED * window.asks + _BESIDE * window.near))
    return sorted(made, key=lambda window: (-window.weight, window.id))


def sentences(first: int, last: int, text: str) -> list[tuple[int, int, str]]:
    """Return a block in pieces that end with a sentence, or a line where none does, so that a place is exact."""
    lines = text.split("\n")
    if len(lines) != last - first + 1:
        return [(first, last, text)]
    ends = [at for at, line in enumerate(lines, 1) if line.rstrip().endswith(_SENTENCE_END)] or range(1, len(lines))
    ends = sorted({*ends, len(lines)})
    return [(first + begin, first + end - 1, "\n".join(lines[begin:end])) for begin, end in pairwise([0, *ends])]
