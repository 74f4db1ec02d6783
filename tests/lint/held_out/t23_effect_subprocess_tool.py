import shlex
from subprocess import run as sh

from langchain_core.tools import tool
from langgraph.prebuilt import create_react_agent
from langgraph.types import interrupt


@tool("migrate")
def migrate_database(revision: str) -> str:
    """Bring the database to a revision."""
    backup = sh(shlex.split("pg_dump --file=/backups/new.sql app"), check=True)  # fault: HT006
    answer = interrupt({"action": "migrate", "message": f"Migrate to {revision}?"})
    if answer != "yes":
        return "left as it was"
    sh(["alembic", "upgrade", revision], check=True)
    return f"at {revision}, backup {backup.returncode}"


def make(model):
    return create_react_agent(model, [migrate_database])
