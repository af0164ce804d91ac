"""What the code of the recipes, scores and notebook pages prints is what the pages show.

`python scripts/printed_pages.py` writes the printed blocks anew.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("printed_pages", ROOT / "scripts" / "printed_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()
PAGES = SCRIPT.pages()
RECIPES = [p for p in PAGES if p.parent.name == "recipes"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_printed_blocks_are_what_is_printed(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = page.read_text("utf-8")
    shown = [m["text"] or "" for m in SCRIPT.BLOCK.finditer(text)]
    assert any(shown)
    assert shown == SCRIPT.printed(text)


def test_the_recipes_that_are_promised_are_there() -> None:
    assert {p.stem for p in RECIPES} == {
        "comparing-two-agents", "cost-per-pull-request", "export-for-training", "finding-failed-sessions",
        "team-run-to-playbook", "watching-error-rates", "weekly-report",
    }  # fmt: skip


@pytest.mark.parametrize("page", RECIPES, ids=lambda p: p.stem)
def test_a_recipe_is_short_and_says_what_it_counts(page: Path) -> None:
    text = page.read_text("utf-8")
    first = next(SCRIPT.BLOCK.finditer(text))["code"].splitlines()
    assert sum(bool(line) and not line.startswith(("import ", "from ")) for line in first) <= 10
    assert sum("data/" in line for line in text.splitlines()) == 1, "one path to change"
    assert re.search(r"^\*\*.+\?\*\*$", text, re.MULTILINE), "the question"
    assert "**It counts**" in text
    assert "**It does not" in text
