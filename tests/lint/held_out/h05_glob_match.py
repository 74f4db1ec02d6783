"""Reports of a folder, one question each, in the order the file system gives."""

from pathlib import Path
from typing import TypedDict

from langgraph.func import entrypoint
from langgraph.types import interrupt


class Request(TypedDict):
    folder: str


@entrypoint()
def approve_reports(request: Request) -> list[str]:
    approved = []
    for report in Path(request["folder"]).glob("*.pdf"):
        if interrupt({"question": "Approve?", "file": report.name}) == "yes":  # fault: HT003
            approved.append(report.name)
    return approved
