"""A JupyterLab and a Chromium for all browser tests; the tests are skipped where either is absent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.lab import FLAGS, Lab, chromium, serve


@pytest.fixture(scope="session")
def lab_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab serves."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="session")
def address(root: Path, lab_folder: Path) -> Iterator[str]:
    """Where JupyterLab answers."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: pip install 'sessionbank[lab]'")
    if chromium() is None:
        pytest.skip("no Chromium on this machine: install the system's package `chromium`")
    with serve(root, lab_folder) as found:
        yield found


@pytest.fixture(scope="session")
def browser(address: str) -> Iterator[object]:
    """The system's Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="module")
def page(browser) -> Iterator[object]:
    """One page for a module's tests: to load JupyterLab takes seconds."""
    opened = browser.new_page(viewport={"width": 1400, "height": 1000})
    opened.set_default_timeout(20_000)
    yield opened
    opened.close()


@pytest.fixture
def lab(page, address: str) -> Iterator[Lab]:
    """JupyterLab on that page; an error in its console fails the test."""
    found = Lab(page, address)
    yield found
    assert found.errors == []
