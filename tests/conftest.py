"""Fixtures of all tests: where the real sample repositories are, and clones of them. No test data is made here.

The environment (git settings, user folders, time zone) is set in `conftest.py` at the top.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Pictures are drawn without a screen. Not for the notebooks, whose kernels show figures in the page.
os.environ["MPLBACKEND"] = "Agg"


def shared_folder() -> Path:
    """Where the real sample repositories should be; it may not exist."""
    return Path(os.environ.get("SESSIONBANK_SHARED") or ROOT.parent / "shared")


def why_absent() -> str | None:
    """Why tests on the real sample repositories cannot run here, or None when they can."""
    if (shared_folder() / "data").is_dir():
        return None
    if os.environ.get("SESSIONBANK_SHARED"):
        return "SESSIONBANK_SHARED names no folder with data/"
    return "no real sample repositories: no folder `shared` beside the checkout, and SESSIONBANK_SHARED is not set"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `shared` where the sample repositories are not there, and say why."""
    reason = why_absent()
    if reason:
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of the real sample repositories (read only); the test is skipped where there is none."""
    reason = why_absent()
    if reason:
        pytest.skip(reason)
    return shared_folder()


@pytest.fixture(scope="session")
def bundle_repo(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function: name of a shared bundle ("go-cli") -> a bare mirror clone of it, made once a session.

    Tests share the clone, so none may write to it; one that must, copies it first.
    """
    clones: dict[str, Path] = {}

    def clone(name: str) -> Path:
        if name not in clones:
            bundle = shared / "data" / f"{name}.bundle"
            if not bundle.is_file():
                raise FileNotFoundError(f"no bundle {name!r} in {shared / 'data'}")
            target = tmp_path_factory.mktemp("bundles") / f"{name}.git"
            subprocess.run(
                ["git", "clone", "--quiet", "--mirror", "--", str(bundle), str(target)], check=True
            )
            clones[name] = target
        return clones[name]

    return clone
