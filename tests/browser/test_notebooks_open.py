"""Every notebook opens in a real JupyterLab with its stored outputs, and nothing complains in the browser's console."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(p.name for p in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_opens_with_its_outputs(lab, name):
    stored = nbformat.read(ROOT / "notebooks" / name, as_version=4)
    title = next(c.source for c in stored.cells if c.cell_type == "markdown").splitlines()[0].lstrip("# ")
    lab.open(name)
    lab.text(title)
    lab.page.locator(".jp-NotebookPanel:visible .jp-OutputArea-output").first.wait_for()
    assert lab.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').count() == 0
