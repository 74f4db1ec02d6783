"""One ToolNode carries two tools that ask: answering one runs the other's beginning again."""

from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt


@tool
def book_flight(destination: str) -> str:
    """Book a flight."""
    if interrupt({"action": "book_flight", "message": f"Book a flight to {destination}?"}) == "approve":
        return f"A flight to {destination} is booked."
    return "The person refused."


@tool
def book_hotel(city: str, nights: int) -> str:
    """Book a hotel."""
    answer = interrupt({"action": "book_hotel", "message": f"{nights} nights in {city}?"})
    return "booked" if answer == "approve" else "The person refused."


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"It is sunny in {city}."


def assistant(state: MessagesState):
    return {"messages": []}


tools = [book_flight, book_hotel, weather]
builder = StateGraph(MessagesState)
builder.add_node("assistant", assistant)
builder.add_node("tools", ToolNode(tools))  # fault: HT008
builder.set_entry_point("assistant")
builder.add_conditional_edges("assistant", tools_condition)
builder.add_edge("tools", "assistant")
graph = builder.compile()
