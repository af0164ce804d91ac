"""A pause of Python's garbage collector while many objects are made that will all live on. Nothing else."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_gc() -> Iterator[None]:
    """Looking for garbage among millions of rows that are all alive costs a quarter of a load's time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
