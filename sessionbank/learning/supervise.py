"""Runs one command so that nothing it started outlives it; a script of its own, started by `command_analyst`.

On Linux it becomes the reaper of every process below it, also of those that leave their group, session or environment;
when the command ends, or this script is asked to end (SIGTERM, or its parent dies), all that is left is killed. What
happened is written as one JSON object to the file descriptor named first. Elsewhere only the group is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from types import FrameType

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PATIENCE = 5.0  # seconds in which what is left must be gone


def main(arguments: list[str]) -> int:
    """``supervise.py FD COMMAND...``; returns 0, or 127 when the command could not be started."""
    report, command = int(arguments[0]), arguments[1:]
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    asked = []

    def end(number: int, _: FrameType | None) -> None:
        asked.append(number)
        raise InterruptedError

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status: int | None = None
    child = None
    try:
        child = subprocess.Popen(command, start_new_session=True, close_fds=True)
        status = child.wait()
    except InterruptedError:
        pass
    except OSError as error:
        os.write(report, json.dumps({"error": f"{error.strerror}: {command[0]}"}).encode())
        return 127
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    left = _sweep(child.pid if child else None, count_main=status is None)
    os.write(report, json.dumps({"status": status, "left": left, "asked": bool(asked)}).encode())
    return 0


def _sweep(group: int | None, *, count_main: bool) -> int:
    """Ends everything below this process; how many processes there were, the command itself aside."""
    seen: set[int] = set()
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        below = _below(os.getpid())  # before any is ended: who is counted must not hang on who dies first
        seen.update(below)
        for pid in below:  # held first, so that none can start another while the rest is ended
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        if group is not None:
            with contextlib.suppress(OSError):
                os.killpg(group, signal.SIGKILL)
        for pid in below:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not _below(os.getpid()):
            break
        time.sleep(0.02)
    return len(seen - {group}) if count_main else len(seen)


def _below(pid: int) -> list[int]:
    """Live processes below one, by what the kernel lists; empty where it lists nothing."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  # this script imports little
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children") as stream:  # noqa: PTH123  # this script imports little
                children = [int(p) for p in stream.read().split()]
        except OSError:
            continue
        for child in children:
            if not _is_zombie(child):
                found.append(child)
            found += _below(child)
    return found


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stream:  # noqa: PTH123
            return stream.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
