"""The table team: a written query of tables of the workspace."""
