"""An operator console for supervising teams of agents built on LangGraph."""

__version__ = "0.1.0"
