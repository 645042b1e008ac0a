"""Starting work that runs beside the screen."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from textual.dom import DOMNode
from textual.worker import Worker


def begin(
    node: DOMNode,
    job: Callable[[], Coroutine[Any, Any, None]],
    group: str,
    *,
    exclusive: bool = True,
) -> None:
    """Start `job`; an exclusive one takes the place of what runs in its group.

    The job is a function and not a coroutine, so that one that is replaced before it began leaves
    nothing behind. An error in it ends the application, as any other of our own would.
    """
    _: Worker[None] = node.run_worker(job, group=group, exclusive=exclusive)
