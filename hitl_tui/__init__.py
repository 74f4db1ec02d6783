"""An operator console for supervising teams of agents built on LangGraph."""

import os

__version__ = "0.1.0"

# LangGraph reads this once, at import: without it a crafted checkpoint can run code when it is loaded.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
