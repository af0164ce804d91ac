"""The committed notebooks hold the cells of their sources, and each picture in them has words.

That they were run, and that their outputs are still true, is held by `test_notebooks_executed` and nbval.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from scripts import notebooks

SOURCES = sorted((notebooks.FOLDER / "src").glob("*.py"))


def stored(source: Path) -> nbformat.NotebookNode:
    return nbformat.read(notebooks.FOLDER / f"{source.stem}.ipynb", as_version=4)


def test_every_notebook_of_ours_has_a_source() -> None:
    assert {
        "00_quickstart",
        "01_sessions_and_messages",
        "02_tokens_and_cost",
        "03_attribution_and_commits",
    } <= {p.stem for p in SOURCES}


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_notebook_holds_the_cells_of_its_source(source: Path) -> None:
    fresh = notebooks.notebook_of(source.read_text(encoding="utf-8"))
    assert notebooks.cells(stored(source)) == notebooks.cells(fresh), "run python scripts/notebooks.py"


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_every_picture_has_words_that_are_compared(source: Path) -> None:
    """nbval skips the picture itself, so its words, which hold the figures drawn, must stand beside it."""
    pictures = [
        o for c in stored(source).cells for o in c.get("outputs", []) if "image/png" in o.get("data", {})
    ]
    assert pictures
    for picture in pictures:
        words = picture["data"]["text/plain"]
        assert len(words) > 40
        assert picture["metadata"]["image/png"]["alt"] == words


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_notebook_begins_with_its_question(source: Path) -> None:
    first = stored(source).cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith(f"# {source.stem[:2]} ")


def test_cells_are_parted_and_marked() -> None:
    made = notebooks.notebook_of(
        "# ruff: noqa\n# %% [markdown]\n# # Title\n#\n# words\n# %%\nx = 1\n\nx\n# %%\n# a comment\ny\n"
    )
    assert notebooks.cells(made) == [
        ("markdown", "# Title\n\nwords"),
        ("code", "x = 1\n\nx"),
        ("code", "# a comment\ny"),
    ]
    assert [c.id for c in made.cells] == ["cell-01", "cell-02", "cell-03"]
