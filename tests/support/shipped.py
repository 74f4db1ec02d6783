"""Write `hitl_tui/policy/shipped_files.py` anew after an example was changed."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "hitl_tui" / "policy" / "shipped_files.py"


def digests() -> dict[str, dict[str, str]]:
    """Return the SHA-256 of every file of the examples, by example and path."""
    return {
        folder.name: {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
        for folder in sorted((ROOT / "examples").iterdir())
    }


def written(text: str) -> str:
    """Return the module's text with the digests as they are now."""
    lines = []
    for name, files in digests().items():
        rows = [f'            "{path}": "{found}",' for path, found in files.items()]
        lines += [f'        "{name}": {{', *rows, "        },"]
    return re.sub(
        r"(MappingProxyType\(\n    \{\n).*(\n    \}\n\))", lambda m: m[1] + "\n".join(lines) + m[2], text, flags=re.S
    )


if __name__ == "__main__":
    MODULE.write_text(written(MODULE.read_text(encoding="utf-8")), encoding="utf-8")
