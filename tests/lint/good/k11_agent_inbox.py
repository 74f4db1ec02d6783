from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt.interrupt import ActionRequest, HumanInterrupt, HumanInterruptConfig, HumanResponse
from langgraph.types import interrupt


class State(TypedDict):
    messages: list
    reply: str


def human(state: State) -> dict:
    call = state["messages"][-1].tool_calls[0]
    request: HumanInterrupt = {
        "action_request": ActionRequest(action=call["name"], args=call["args"]),
        "config": HumanInterruptConfig(allow_ignore=True, allow_respond=True, allow_edit=True, allow_accept=True),
        "description": f"The agent wants to call {call['name']}",
    }
    response: HumanResponse = interrupt([request])[0]
    if response["type"] == "response":
        return {"reply": response["args"]}
    if response["type"] in ("accept", "edit"):
        return {"reply": str(response["args"])}
    return {"reply": ""}


graph = StateGraph(State)
graph.add_node("human", human)
graph.add_edge(START, "human")
graph.add_edge("human", END)
app = graph.compile()
