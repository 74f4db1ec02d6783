from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from .policy import needs_person


class AskFirst(AgentMiddleware):
    """Ask before some tools are called."""

    def __init__(self, tools: dict[str, bool]) -> None:
        super().__init__()
        self.tools = tools

    def after_model(self, state: AgentState, runtime: Runtime) -> dict[str, Any] | None:
        last = next((m for m in reversed(state["messages"]) if isinstance(m, AIMessage)), None)
        if last is None or not last.tool_calls:
            return None
        asked = [c for c in last.tool_calls if self.tools.get(c["name"]) or needs_person(c["name"])]
        if not asked:
            return None
        requests = [{"name": c["name"], "args": c["args"], "description": self._describe(c)} for c in asked]
        configs = [{"action_name": c["name"], "allowed_decisions": ["approve", "reject"]} for c in asked]
        decisions = interrupt({"action_requests": requests, "review_configs": configs})["decisions"]
        if len(decisions) != len(asked):
            raise ValueError(f"expected {len(asked)} decisions, got {len(decisions)}")
        refused = [
            ToolMessage(content=d.get("message", "no"), tool_call_id=c["id"], status="error")
            for c, d in zip(asked, decisions, strict=True)
            if d["type"] == "reject"
        ]
        last.tool_calls = [c for c in last.tool_calls if c["id"] not in {m.tool_call_id for m in refused}]
        return {"messages": [last, *refused]}

    def _describe(self, call: dict[str, Any]) -> str:
        return f"{call['name']} with {call['args']}"
