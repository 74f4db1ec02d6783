"""Tests speak English, whatever the locale of who runs them."""

import os

for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
    if os.environ.get(variable, "").lower().startswith("ko"):
        os.environ[variable] = "C.UTF-8"
