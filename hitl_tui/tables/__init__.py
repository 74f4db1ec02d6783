"""Questions about tables of a workspace: which table is meant, what is asked of it, and the answer by DuckDB."""
