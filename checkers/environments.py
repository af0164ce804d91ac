"""Environments of the outside checkers: which Python, where they are kept, how they are made from their lock files.

Each has its own, at the versions of `checkers/NAME.txt`, made when first needed, in the user's cache folder or in
CHECKERS_HOME. What a checker is asked is not decided here.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST_PYTHON = {
    "harbor": (3, 12), "atif": (3, 11), "nvidia-nat-atif": (3, 11), "agentpile": (3, 11), "atif-scan": (3, 11),
    "datasets": (3, 11), "trl": (3, 11),
}  # fmt: skip


class CannotInstallError(Exception):
    """pip could not bring a checker; the message is what it said."""


def cache_folder() -> Path:
    """Where the environments are kept; never inside the checkout by default."""
    if os.environ.get("CHECKERS_HOME"):
        return Path(os.environ["CHECKERS_HOME"])
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "sessionbank-checkers"


def python_version(command: str) -> tuple[int, int] | None:
    """(major, minor) of a Python, or None where it does not start: a launcher may be there for a Python that is not."""
    code = "import sys, venv, ensurepip; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([command, "-c", code], capture_output=True, text=True, timeout=30, check=True)
        major, minor = done.stdout.split()
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return int(major), int(minor)


def pythons() -> Iterator[str]:
    """Pythons to try: this one, those on the path, those of pyenv."""
    yield sys.executable
    for minor in (13, 12, 14, 11):
        found = shutil.which(f"python3.{minor}")
        if found:
            yield found
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from sorted((str(p) for p in versions.glob("3.1[1-9]*/bin/python")), reverse=True)


def find_python(oldest: tuple[int, int]) -> str | None:
    """A Python that is new enough and starts, or None."""
    return next((p for p in pythons() if (python_version(p) or (0, 0)) >= oldest), None)


def environment(checker: str, python: str) -> Path:
    """The interpreter of the checker's environment, which is made where it is not there yet.

    It is made under a temporary name and moved into place, so that two runs at once do no harm and one that was broken
    off leaves nothing half made. Raises `CannotInstallError`.
    """
    lock = HERE / f"{checker}.txt"
    key = hashlib.sha256(lock.read_bytes() + repr(python_version(python)).encode()).hexdigest()[:12]
    home = cache_folder()
    ready = home / f"{checker}-{key}"
    if not ready.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f"making-{checker}-", dir=home))
        try:
            subprocess.run([python, "-m", "venv", str(making)], check=True, capture_output=True, text=True)
            pip = [str(making / "bin" / "python"), "-m", "pip", "install", "--quiet"]
            # --no-deps: exactly what the lock names, and no more than the part that we ask needs
            wanted = ["--disable-pip-version-check", "--no-deps", "-r", str(lock)]
            subprocess.run([*pip, *wanted], check=True, capture_output=True, text=True)
            try:
                making.rename(ready)
            except OSError:
                if not ready.is_dir():  # else another run was first, and its environment serves as well
                    raise
        except subprocess.CalledProcessError as error:
            raise CannotInstallError(f"{checker}: {error.stderr.strip() or error}") from error
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return ready / "bin" / "python"


def pinned_version(checker: str) -> str:
    """The version that the lock names."""
    text = (HERE / f"{checker}.txt").read_text("utf-8")
    match = re.search(rf"^{re.escape(checker)}==(\S+)$", text, re.MULTILINE)
    if match is None:
        raise ValueError(f"checkers/{checker}.txt does not pin {checker}")
    return match[1]
