"""Checkpoint stores that LangGraph wrote for anybody: read without the graph that wrote them, never written (I9)."""
