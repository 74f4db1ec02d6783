"""The command line is driven as its own tests drive it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "cli"))
