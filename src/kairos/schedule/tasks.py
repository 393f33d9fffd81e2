"""Tasks that take a run through a stage: what happens if one is cancelled where it cannot end its run itself."""

import asyncio
from collections.abc import Callable, Coroutine

__all__ = ["started"]


def started(work: Coroutine, cut_short: Callable[[], object]) -> asyncio.Task:
    """Return a task that does `work`. `cut_short`: called if its cancellation is not handled by `work`, for instance
    because that has not reached its first line."""
    task = asyncio.get_running_loop().create_task(work)
    task.add_done_callback(lambda ended: ended.cancelled() and cut_short())
    return task
