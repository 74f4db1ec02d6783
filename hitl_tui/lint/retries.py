"""Decorators that call again after an error, and which errors they were told."""

from __future__ import annotations

import re

from hitl_tui.lint.base import Given
from hitl_tui.lint.catalogue import (
    BROAD_ERRORS,
    RETRIES,
)
from hitl_tui.lint.values import (
    ClassRef,
    External,
    Value,
    external,
)


def retried(name: str, given: Given) -> bool:
    """Whether a decorator's call calls again after any error."""
    if not RETRIES.match(name):
        return False
    told = [v for v in (*given.args, *given.names.values()) if v.refs]
    names = [external(v) for v in told]
    if any(n == "narrow()" for n in names):
        return False
    errors = [n for v in told for n in _error_names(v)]
    return not errors or any(n in BROAD_ERRORS for n in errors)


def narrow(name: str, given: Given) -> bool:
    """Whether a retry's condition lets a question through."""
    last = name.rpartition(".")[2]
    broad = any(n in BROAD_ERRORS for v in given.all for n in _error_names(v))
    if last in ("retry_if_exception_type",):
        return bool(given.args) and not broad
    if last == "retry_if_not_exception_type":
        return broad
    return last in ("retry_if_result", "retry_if_not_result", "retry_if_exception_message")


def _error_names(value: Value) -> list[str]:
    refs = [ref for v in (value, *(value.items or ())) for ref in v.refs]
    names = [ref.name for ref in refs if isinstance(ref, External)]
    own = [ref.node.name for ref in refs if isinstance(ref, ClassRef)]
    return [n for n in (*names, *own) if re.search(r"(?:Error|Exception|Interrupt|BubbleUp|Timeout)\w*\Z", n)]
