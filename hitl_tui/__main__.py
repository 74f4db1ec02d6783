"""`python -m hitl_tui` is the same as `hitl-tui`."""

import sys

from hitl_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
