"""Line mode at a terminal is driven as its own tests drive it; PostgreSQL's server as that of all tests."""

import sys
from pathlib import Path

from postgres_server import database, postgres  # noqa: F401 - fixtures

sys.path.append(str(Path(__file__).resolve().parents[1] / "repl"))
