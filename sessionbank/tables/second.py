"""A second process that works on a share of a long job: this process, forked, whose answer comes back through a pipe.

Python decodes on one core at a time; a load of many transcripts is twice as quick on two. Only Linux forks safely with
threads about, and a process that fails, or falls silent, is no error: the caller does that share itself. What the work
is, is not known here; what it leaves on disk is its own business.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")
SILENT_S = 60.0  # a process that shows no progress for so long is given up
_TICK, _ANSWER = b".", b"="


def has_second_core() -> bool:
    """Whether a second process can be forked, and has a core of its own to run on."""
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


class Second(Generic[T]):
    """Runs `work(tick)` in a forked process from the moment it is made; `tick` tells this process of progress.

    Use it as a context manager: a process that is still at work when the block is left is killed.
    """

    def __init__(self, work: Callable[[Callable[[], None]], T]) -> None:
        self.done = 0  # ticks seen so far
        self._answer = bytearray()
        self._is_closed = False  # it has said all that it will say
        self._read, write = os.pipe()
        with warnings.catch_warnings():
            # Python 3.12 warns of threads. The fork takes no lock that a thread of ours may hold: it decodes, asks git,
            # and writes files of its own; Arrow and Python put their own locks in order after a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid:
            os.close(write)
            return
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(self._read)
            answer = pickle.dumps(work(lambda: _send(write, _TICK)))
            _send(write, _ANSWER + len(answer).to_bytes(8, "big") + answer)
            os.close(write)  # said before the kernel takes this process's memory apart, which takes its time
            status = 0
        finally:
            os._exit(status)  # no exit handler and no buffer of the other process may run twice

    def __enter__(self) -> Second[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def look(self) -> int:
        """How many ticks have come by now; does not wait."""
        while not self._is_closed and select.select([self._read], [], [], 0)[0]:
            self._take()
        return self.done

    def answer(self, on_tick: Callable[[int], None]) -> T | None:
        """Waits for the work's result; None where the process failed or fell silent."""
        while not self._is_closed:
            if not select.select([self._read], [], [], SILENT_S)[0]:
                return None
            self._take()
            on_tick(self.done)
        head = len(_ANSWER) + 8
        is_whole = self._answer.startswith(_ANSWER) and len(self._answer) >= head
        if (
            not is_whole
            or int.from_bytes(self._answer[len(_ANSWER) : head], "big") != len(self._answer) - head
        ):
            return None
        found: T = pickle.loads(memoryview(self._answer)[head:])  # noqa: S301 - a copy of this very process wrote it
        return found

    def _take(self) -> None:
        part = os.read(self._read, 1 << 16)
        self._is_closed = not part
        if not self._answer:
            rest = part.lstrip(_TICK)
            self.done += len(part) - len(rest)
            self._answer = bytearray(rest)
        else:
            self._answer += part

    def _end(self) -> None:
        """Ends the process if it has not said all. One that has is ending: it is not waited for, only taken note of."""
        os.close(self._read)
        if self._is_closed:
            Thread(target=_reap, args=(self._pid,), daemon=True).start()
            return
        with suppress(OSError):
            os.kill(self._pid, signal.SIGKILL)
        _reap(self._pid)


def _reap(pid: int) -> None:
    with suppress(OSError):
        os.waitpid(pid, 0)


class Tokens:
    """A number of tokens that this process and those forked from it take one by one; each is given once."""

    def __init__(self, count: int) -> None:
        self._pipe, write = os.pipe()
        _send(write, _TICK * count)  # a pipe holds 64 thousand
        os.close(write)

    def __enter__(self) -> Tokens:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._pipe)

    def take(self) -> bool:
        """Whether there was one left."""
        return bool(os.read(self._pipe, 1))


def _send(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]
