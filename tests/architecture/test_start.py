"""What a session without a model and without a database leaves unimported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SPARED = ["langchain.", "langchain_openai", "openai", "genai_prices", "hitl_tui.models.chat_model",
          "hitl_tui.planning.model_planner", "opentelemetry.exporter", "hitl_tui.tracing.otlp_export",
          "psycopg", "procrastinate", "langgraph.checkpoint.postgres", "hitl_tui.ledger.postgres",
          "hitl_tui.supervisor.postgres"]  # fmt: skip


def test_a_session_without_a_model_or_a_database_imports_nothing_for_one(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom hitl_tui.cli import main\n"
        f"code = main(['run', 'What is the deposit cap?', '--json', '--workspace', {str(tmp_path)!r}])\n"
        f"found = [m for m in sys.modules if m.startswith(tuple({SPARED}))]\n"
        "sys.exit(f'{code} {found}' if code != 3 or found else 0)"
    )
    (tmp_path / "law.md").write_text("The deposit cap is 5 percent.\n")
    environ = {k: v for k, v in os.environ.items() if not k.startswith("HITL_")}
    environ["HITL_DATA_DIR"] = str(tmp_path / "data")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr


def test_what_serves_is_loaded_by_nothing_else(tmp_path: Path) -> None:
    code = (
        "import sys\nimport hitl_tui.cli.subcommands\nimport hitl_tui.console.app\n"
        "from hitl_tui.cli import main\nmain(['sessions'])\n"
        "of = ('hitl_tui.channels', 'starlette', 'uvicorn', 'aiobotocore')\n"
        "found = [m for m in sys.modules if m.startswith(of)]\n"
        "sys.exit(str(found) if found else 0)"
    )
    environ = {**os.environ, "HITL_DATA_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr


def test_a_command_for_another_process_compiles_and_validates_nothing() -> None:
    code = (
        "import sys\nimport hitl_tui.cli.admin_commands\nimport hitl_tui.commands.handler\n"
        "import hitl_tui.meaning.amounts as amounts\n"
        "found = [m for m in ('pydantic', 'langgraph', 'duckdb') if m in sys.modules]\n"
        "sys.exit(str(found) if found or amounts._words.cache_info().currsize else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
