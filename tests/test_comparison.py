"""docs/comparison.md says what its script prints: true figures, ours, and the versions that were asked.

The rows of other tools are not made here: they need the network once. `python scripts/compare/run.py --write` makes them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")


@pytest.fixture(scope="module")
def compare():
    sys.path.insert(0, str(ROOT / "scripts" / "compare"))
    try:
        import run
    finally:
        sys.path.pop(0)
    return run


@pytest.fixture(scope="module")
def home(compare, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("compare") / "home"
    home.mkdir()
    assert compare.write_home(compare.BUNDLE, home) == 54
    return home


def shown() -> dict[str, list[str]]:
    """Cells of the printed table by tool; columns are at least two blanks apart."""
    text = PAGE.split("```text\n")[1].split("```")[0]
    return {
        line.split("  ")[0]: [c.strip() for c in line.split("  ") if c.strip()][1:]
        for line in text.splitlines()
    }


def test_true_figures_and_ours_stand_on_the_page(compare, home: Path) -> None:
    rows = compare.known_rows(home)
    for line in compare.table(rows).splitlines()[1:]:
        cells = [c.strip() for c in line.split("  ") if c.strip()]
        assert shown()[cells[0]] == cells[1:]
    assert rows[2][2] == pytest.approx(rows[1][2], rel=1e-9), "ours are the true ones, cost included"


def test_the_other_rows_are_of_the_pinned_versions(compare) -> None:
    table = shown()
    assert {p.name for p in compare.PEERS} == set(table) - {
        "tool",
        "true, main agent",
        "true, with subagents",
        "sessionbank",
    }
    assert {p.name: p.version for p in compare.PEERS} == {p.name: table[p.name][0] for p in compare.PEERS}
    assert all(p.version in package for p in compare.PEERS for package in p.packages[:1])


def test_the_reply_that_others_pass_over_is_on_a_glued_line(home: Path) -> None:
    found = []
    for path in (home / ".claude" / "projects").rglob("*.jsonl"):
        for line in path.read_text("utf-8", "surrogateescape").split("\n"):
            if line.count('{"parentUuid"') == 2:
                record, end = json.JSONDecoder().raw_decode(line)
                found += [record, json.loads(line[end:])]
    usage = [r["message"]["usage"] for r in found if r["type"] == "assistant"]
    classes = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    assert [tuple(u[c] for c in classes) for u in usage] == [(6, 173, 18975, 101)]
    assert "(6 input, 173 cache written, 18,975 cache read, 101 output)" in PAGE
