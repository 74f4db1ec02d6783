"""The real console is driven as its own tests drive it."""

import rooms

__all__ = ["rooms"]
