import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict):
    path: str


@dataclass(frozen=True)
class Trash:
    folder: Path

    def take(self, path: Path) -> Path:
        target = self.folder / path.name
        shutil.move(path, target)  # fault: HT006
        return target

    def empty(self) -> None:
        shutil.rmtree(self.folder)


trash = Trash(Path("/var/trash"))


def delete(state: State) -> Command:
    taken = trash.take(Path(state["path"]))
    sure = interrupt({"question": "Really delete?", "options": ["yes", "no"], "path": str(taken)})
    if sure == "yes":
        trash.empty()
    return Command(goto="__end__")


b = StateGraph(State)
b.add_node("delete", delete)
b.add_edge(START, "delete")
graph = b.compile()
