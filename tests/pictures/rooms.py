"""Where the helpers are that drive the real console as its own tests drive it. Imported before them."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / room) for room in ("console", "language", "supervisor/foreign", "support")]
