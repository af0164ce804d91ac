"""A JupyterLab that tests start, and a browser that looks at it. What is looked for is the tests' business.

The Lab serves copies of the notebooks from a temporary folder, with no network and none of the user's settings. The
browser is Chromium from the system's packages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--force-color-profile=srgb",
)  # fmt: skip
# Said by JupyterLab or the browser itself, whatever notebook is open.
NOT_OURS = re.compile(
    r"favicon|Failed to load resource.*(404|403)|news|ERR_INTERNET_DISCONNECTED|ResizeObserver loop|sourcemap|"
    r"jupyterlab_pygments|DEPRECATED|Permissions policy|Canceled future|debugger state",
    re.IGNORECASE,
)


def chromium() -> str | None:
    """The system's Chromium, or None."""
    return next(
        (p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None
    )


@contextmanager
def serve(root: Path, folder: Path) -> Iterator[str]:
    """Starts JupyterLab on copies of the checkout's notebooks in `folder`; gives its address."""
    shutil.copytree(root / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns("src"))
    (folder / "data").symlink_to(root / "data")
    home = folder / "home"
    home.mkdir()
    overrides = home / "config" / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text('{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}')
    env = {
        **os.environ, "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "run"), "IPYTHONDIR": str(home / "ipython"), "JUPYTER_PLATFORM_DIRS": "1",
    }  # fmt: skip
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0",
        "--IdentityProvider.token=", "--ServerApp.password=", "--ServerApp.disable_check_xsrf=True",
        "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True", f"--ServerApp.root_dir={folder}",
    ]  # fmt: skip
    log = folder / "lab.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=env, cwd=folder)
    try:
        yield _address(process, log)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(600):
        found = re.search(r"http://127\.0\.0\.1:\d+/", log.read_text("utf-8", "replace"))
        if found:
            return found[0]
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text('utf-8', 'replace')[-2000:]}")


class Lab:
    """One page of the browser, with a notebook open in JupyterLab."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.errors: list[str] = []
        page.on("console", lambda m: self._heard(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: self._heard(str(e)))

    def _heard(self, text: str) -> None:
        if not NOT_OURS.search(text):
            self.errors.append(text)

    def open(self, notebook: str) -> None:
        """Opens a notebook in front of those that are open, and waits until its cells are drawn."""
        page = self.page
        if not page.url.startswith(self.address):
            page.goto(f"{self.address}lab?reset")
            page.wait_for_function("() => window.jupyterapp", timeout=30_000)
            page.evaluate("async () => { await window.jupyterapp.restored; }")
        self._command("docmanager:open", path=f"notebooks/{notebook}")
        title = page.locator(".lm-TabBar-tab.lm-mod-current.jp-mod-current", has_text=notebook)
        title.wait_for(timeout=20_000)
        page.locator(".jp-NotebookPanel:visible .jp-Cell").first.wait_for(timeout=20_000)

    def _command(self, name: str, **arguments: str) -> None:
        """Has JupyterLab do something. Its answer is not waited for: tests wait for what shows on the page."""
        self.page.evaluate(
            "([name, given]) => { window.jupyterapp.commands.execute(name, given); }", [name, arguments]
        )

    def text(self, words: str) -> Any:
        """The first place in the notebook that shows these words; waits for it."""
        found = self.page.locator(".jp-NotebookPanel:visible").get_by_text(words).filter(visible=True).first
        found.wait_for(timeout=20_000)
        return found

    def run_all(self) -> None:
        """Runs all cells of a notebook that was never run, and waits until each has its number."""
        prompts = "[...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .jp-InputArea-prompt')]"
        panel = self.page.locator(".jp-NotebookPanel:visible")
        panel.locator(".jp-KernelName", has_text="Python 3").wait_for(timeout=60_000)
        panel.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(timeout=60_000)
        panel.locator(".jp-CodeCell").first.click()
        self._command("notebook:run-all-cells")
        self.page.wait_for_function(
            f"() => {prompts}.every(e => /[0-9]/.test(e.textContent))", timeout=120_000
        )
