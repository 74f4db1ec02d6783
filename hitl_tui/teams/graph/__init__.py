"""Teams that are LangGraph graphs of the user's own, unchanged (I1)."""
