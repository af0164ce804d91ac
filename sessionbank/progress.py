"""A progress bar for loads that take long; quiet when they are quick. Nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable

QUIET_S = 2.0  # a load that is done by then shows no bar


def progress_bar(what: str, *, enabled: bool = True) -> Callable[[int, int], None]:
    """A function to call with (done, total); it shows a tqdm bar once the work has lasted `QUIET_S` seconds."""
    began = time.monotonic()
    bar = None

    def show(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            if not enabled or time.monotonic() - began < QUIET_S or done >= total:
                return
            if not _is_seen():
                return
            from tqdm.auto import tqdm

            bar = tqdm(total=total, desc=what, unit="session", leave=False)
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return show


def _is_seen() -> bool:
    """Whether somebody looks: a notebook's kernel, or a terminal; a bar in a log file is noise."""
    import sys

    return "ipykernel" in sys.modules or sys.stderr.isatty()
