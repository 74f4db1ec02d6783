"""The real console and the real command line are driven as their own tests drive them."""

import sys
from pathlib import Path

for room in ("console", "cli", "repl"):
    sys.path.append(str(Path(__file__).resolve().parents[1] / room))
