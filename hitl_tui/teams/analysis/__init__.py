"""The analysis team: arithmetic over a question, the passages found for it and their tables."""
