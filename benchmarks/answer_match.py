"""What tells whether a window answers a question: `hitl_tui/meaning/answer_match.npz`, learnt from written questions.

    uv run --with torch python benchmarks/answer_match.py [--write]

Each line of `benchmarks/questions/passages.jsonl` is a passage as it may stand in an office's or a program's documents,
with questions in English and Korean that it answers, with the words that do, and others of the same thing that it
doesn't answer. All of it was written for this. The quick encoder says what the question, the headings and each sentence
mean; a small network on top of that learns to put the passage that answers before others, and to tell its own questions
from those that it leaves open. What is printed is how often the right one of seven passages is first, for a tenth of
the passages that was left out, beside the likeness of the sentences alone; then it is fitted to all.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hitl_tui.meaning import encoder
from hitl_tui.teams.search.ranking import file_title, sentences

_QUESTIONS = Path(__file__).with_name("questions") / "passages.jsonl"
_LEARNT = Path(encoder.__file__).with_name("answer_match.npz")
_MEANING, _PART, _HIDDEN = 512, 48, 32
_ROUNDS, _BATCH, _RATE, _DROPPED = 5, 48, 2e-3, 0.2
_OTHERS, _OPEN = 6, 2.0
"""Passages beside the one that is asked about; and how much it counts whether that one answers, beside one of those."""
_ENCODED = 256


@dataclass(frozen=True)
class Asked:
    """A question about a passage: their numbers, and whether it is answered there."""

    question: int
    passage: int
    answered: bool


class Network(nn.Module):
    """What `Models.matching` of the encoder computes, with what it learns from."""

    def __init__(self, meanings: Any, windows: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.meanings = meanings
        self.texts = torch.zeros(len(windows), max(map(len, windows)), dtype=torch.long)
        self.is_text = torch.zeros(self.texts.shape, dtype=torch.bool)
        for at, texts in enumerate(windows):
            self.texts[at, : len(texts)], self.is_text[at, : len(texts)] = torch.tensor(texts), True
        self.question = nn.Linear(_MEANING, _PART, bias=False)
        self.text = nn.Linear(_MEANING, _PART, bias=False)
        self.text.weight.data = self.question.weight.data.clone()
        self.hidden, self.said = nn.Linear(3 * _PART + 1, _HIDDEN), nn.Linear(_HIDDEN, 1)
        self.whole = nn.Linear(4, 1)
        self.whole.weight.data = torch.tensor([[0.8, 0.3, 0.3, 0.5]])

    def forward(self, questions: Any, passages: Any) -> Any:
        asked, told = self.meanings[questions], self.meanings[self.texts[passages]]
        likes = (told * asked[..., None, :]).sum(-1)
        mine = functional.dropout(self.question(asked) * encoder.SPREAD, _DROPPED, self.training)
        theirs = functional.dropout(self.text(told) * encoder.SPREAD, _DROPPED, self.training)
        mine = mine[..., None, :].expand_as(theirs)
        both = torch.cat([mine, theirs, mine * theirs, likes[..., None] * encoder.SPREAD], -1)
        odds = self.said(functional.relu(self.hidden(both)))[..., 0].masked_fill(~self.is_text[passages], -30.0)
        likes = likes.masked_fill(~self.is_text[passages], -1.0) * encoder.SPREAD
        parts = [odds[..., 1:].amax(-1), odds[..., 0], likes[..., 0], likes[..., 1:].amax(-1)]
        return self.whole(torch.stack(parts, -1))[..., 0]

    def likeness(self, question: int, passages: Sequence[int]) -> Any:
        """Return how like a question the sentences of passages are."""
        told = self.texts[torch.tensor(passages)][:, 1:]
        likes = (self.meanings[told] * self.meanings[question]).sum(-1)
        return likes.masked_fill(~self.is_text[torch.tensor(passages)][:, 1:], -1.0).amax(-1)


def read(models: encoder.Models) -> tuple[Any, list[list[int]], list[Asked]]:
    """Return what each text means, the texts of each passage, its heading first, and what is asked."""
    known: dict[str, int] = {}
    windows, asked = [], []
    for at, line in enumerate(_QUESTIONS.read_text(encoding="utf-8").splitlines()):
        given = json.loads(line)
        lines = given["text"].count("\n") + 1
        parts = [text for _, _, text in sentences(1, lines, given["text"])][: encoder.MOST_SENTENCES]
        texts = [f"{file_title(given['path'])} {given['heading']}", *parts]
        windows.append([known.setdefault(text[: encoder.COMPARED], len(known)) for text in texts])
        for question, answer in given["questions"]:
            asked.append(Asked(known.setdefault(question[: encoder.COMPARED], len(known)), at, answer is not None))
    texts = list(known)
    rows = [models.quick.encode(texts[at : at + _ENCODED]) for at in range(0, len(texts), _ENCODED)]
    return torch.tensor(np.concatenate(rows)), windows, asked


def learnt(meanings: Any, windows: Sequence[Sequence[int]], asked: Sequence[Asked], passages: Sequence[int]) -> Network:
    """Return a network that has learnt from questions about some passages."""
    chance = random.Random(0)
    torch.manual_seed(0)
    network = Network(meanings, windows)
    steps = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=0.05)
    known = [one for one in asked if one.passage in set(passages)]
    for done in range(_ROUNDS):
        network.train()
        chance.shuffle(known)
        for group in steps.param_groups:
            group["lr"] = _RATE * (1 - done / _ROUNDS)
        for at in range(0, len(known), _BATCH):
            some = known[at : at + _BATCH]
            beside = torch.tensor([[one.passage, *_others(one, passages, chance)] for one in some])
            questions = torch.tensor([one.question for one in some])[:, None].expand_as(beside)
            answered = torch.tensor([one.answered for one in some])
            odds = network(questions, beside)
            wanted, worth = torch.zeros_like(odds), torch.full_like(odds, 1 / _OTHERS)
            wanted[:, 0], worth[:, 0] = answered.float(), _OPEN
            loss = functional.binary_cross_entropy_with_logits(odds, wanted, worth) * 3
            if answered.any():
                loss = loss + (odds[answered].logsumexp(1) - odds[answered][:, 0]).mean()
            steps.zero_grad()
            loss.backward()
            steps.step()
    return network.eval()


def _others(one: Asked, passages: Sequence[int], chance: random.Random) -> list[int]:
    return [other for other in chance.sample(passages, _OTHERS + 1) if other != one.passage][:_OTHERS]


def tell(network: Network, asked: Sequence[Asked], passages: Sequence[int]) -> None:
    """Print how often the passage that answers is first, and how its own questions stand to those it leaves open."""
    chance = random.Random(1)
    held = [one for one in asked if one.passage in set(passages)]
    first = like = 0
    odds: dict[bool, list[float]] = {True: [], False: []}
    with torch.no_grad():
        for one in held:
            beside = [one.passage, *_others(one, passages, chance)]
            said = network(torch.full((len(beside),), one.question), torch.tensor(beside))
            odds[one.answered].append(float(said[0]))
            if one.answered:
                first += int(said.argmax()) == 0
                like += int(network.likeness(one.question, beside).argmax()) == 0
    answered = len(odds[True])
    before = sum(yes > no for yes in odds[True] for no in odds[False]) / (answered * len(odds[False]))
    print(f"left out: of {answered} answered questions {first} find their passage first, {like} by likeness alone;")
    print(f"          an answered one is surer than one that is left open in {before:.0%} of pairs")


def main() -> None:
    """Learn, print, and write where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write what the search uses")
    given = parser.parse_args()
    meanings, windows, asked = read(encoder.Models())
    every = list(range(len(windows)))
    random.Random(2).shuffle(every)
    held = len(every) // 10
    tell(learnt(meanings, windows, asked, every[held:]), asked, every[:held])
    if given.write:
        found = learnt(meanings, windows, asked, every).state_dict()
        parts = {name: value.numpy().astype("f2") for name, value in found.items()}
        np.savez_compressed(_LEARNT, **parts)
        print(f"{_LEARNT.name}: {_LEARNT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
