"""Running graphs of others: as they are, on threads of their own, answered by id (I1 to I7)."""
