"""From what a module holds to what was wanted: factories, coroutines and context managers of it are gone through."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.graphs.call_signature import needs_arguments, signature_of, takes_settings
from hitl_tui.graphs.graph_target import GraphError, is_factory, raised


async def made_by(
    found: Any, stack: AsyncExitStack, is_it: Callable[[Any], bool], declaration: GraphDeclaration | None = None
) -> Any:
    """Return what something makes that may be a factory, a coroutine or a context manager of what is wanted.

    Args:
        found: that.
        stack: closes what is opened.
        is_it: tells what is wanted.
        declaration: the graph whose configuration factories take; None for a store.

    Raises:
        GraphError: making it failed.
    """
    for _ in range(4):
        if is_it(found):
            break
        try:
            if inspect.isawaitable(found):
                found = await found
            elif isinstance(found, contextlib.AbstractAsyncContextManager):
                found = await stack.enter_async_context(found)
            elif isinstance(found, contextlib.AbstractContextManager):
                found = stack.enter_context(found)
            elif is_factory(found):
                found = found() if declaration is None else _called(found, declaration)
            else:
                break
        except GraphError:
            raise
        except (Exception, SystemExit) as error:
            raise raised(error) from error
    return found


def _called(factory: Any, declaration: GraphDeclaration) -> Any:
    """Call a factory with the configuration if it takes one."""
    parameters = list(signature_of(factory).parameters.values())
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(needed) > 1 or not all(map(takes_settings, needed)):
        raise needs_arguments(declaration.target, needed)
    if not needed:
        return factory()
    values = {**(declaration.context or {}), **declaration.config.get("configurable", {})}
    config = {"configurable": {"graph_id": declaration.name, **values}}
    return factory(**{needed[0].name: config}) if needed[0].kind is needed[0].KEYWORD_ONLY else factory(config)
