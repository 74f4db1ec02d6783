"""The digests of files that an approval binds, where there may be many of them. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import islice


def first_named(digests: Mapping[str, str], most: int) -> dict[str, str]:
    """Return the digests of the first files by name, and one for all others together.

    Args:
        digests: SHA-256 by path.
        most: files that are named.
    """
    named = dict(islice(digests.items(), most))
    if rest := sorted(digests.items() - named.items()):
        together = hashlib.sha256("\n".join(f"{sha}  {path}" for path, sha in rest).encode())
        named[f"{len(rest)} more files"] = together.hexdigest()
    return named
