"""The walks are walked with what the tests of the console begin with."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "console"))
