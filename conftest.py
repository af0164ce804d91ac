"""Keeps tests and notebooks apart from the machine they run on: its git settings, its user folders, its time zone.

It stands at the top because the notebooks (nbval) are run in their own pytest call, and need the same. Fixtures are in
`tests/conftest.py`.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

# A git hook that runs the tests sets these; they would point every git command at the outer repository.
FOREIGN = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
)

SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Test Author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "Test Committer",
    "GIT_COMMITTER_EMAIL": "committer@example.org",
    # the sample repositories may belong to another user
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
    "GIT_CONFIG_KEY_1": "init.defaultBranch",
    "GIT_CONFIG_VALUE_1": "main",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "COLUMNS": "120",
}
USER_FOLDERS = ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "IPYTHONDIR")


def pytest_configure(config: pytest.Config) -> None:
    """Set the environment of this process, and so of each git, kernel and command that it starts."""
    # The environments of the outside checkers are costly, so they stay in the real cache.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    os.environ.setdefault("CHECKERS_HOME", str(cache / "sessionbank-checkers"))
    for name in FOREIGN:
        os.environ.pop(name, None)
    os.environ.update(SETTINGS)
    if hasattr(time, "tzset"):
        time.tzset()  # this process has read its time zone already
    home = tempfile.TemporaryDirectory(prefix="sessionbank-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    for name in USER_FOLDERS:
        folder = Path(home.name, name.lower())
        folder.mkdir()
        os.environ[name] = str(folder)
