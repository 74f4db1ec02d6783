from typing import TypedDict

from langchain_core.tools import tool
from langgraph.graph import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt


class MessagesState(TypedDict):
    messages: list


def confirm(action: str, **details) -> bool:
    reply = interrupt({"action": action, "message": f"May I {action}?", **details})
    return reply is True or (isinstance(reply, dict) and reply.get("action") == "approve")


@tool
def book_room(hotel: str, nights: int) -> str:
    """Book a hotel room."""
    try:
        if not confirm("book", hotel=hotel, nights=nights):  # fault: HT001
            return "The person said no."
    except:  # noqa: E722
        return "Booking failed, try again."
    return f"Booked {nights} nights at {hotel}."


g = StateGraph(MessagesState)
g.add_node("tools", ToolNode([book_room]))
g.set_entry_point("tools")
graph = g.compile()
