"""Each notebook was run from top to bottom and saved whole; nbval compares only what was.

Whether the outputs are still true is nbval's part of `make test`.
"""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
UNCOMPARED = re.compile(r"#\s*(NBVAL_|PYTEST_VALIDATE_IGNORE)")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users|var/folders)/")


def faults(notebook: dict[str, Any]) -> list[str]:
    """What keeps a notebook from being one that was run once, in order, without errors, anywhere."""
    found = []
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code" and "".join(c["source"]).strip()]
    if not cells:
        found.append("has no code")
    counts = [c.get("execution_count") for c in cells]
    if counts != list(range(1, len(cells) + 1)):
        found.append(f"was not run once from top to bottom: {counts}")
    for number, cell in enumerate(cells, 1):
        outputs = cell.get("outputs", [])
        if any(output["output_type"] == "error" for output in outputs):
            found.append(f"code cell {number} holds an error")
    for number, cell in enumerate(cells, 1):
        tags = {str(tag).lower() for tag in cell.get("metadata", {}).get("tags", [])}
        if UNCOMPARED.search("".join(cell["source"])) or any(tag.startswith("nbval-") for tag in tags):
            found.append(f"code cell {number} tells nbval not to compare it")
    for number, cell in enumerate(notebook["cells"], 1):
        # Pictures are base64, in which any letters may meet.
        texts = [cell["source"]] + [
            value
            for output in cell.get("outputs", [])
            for kind, value in ({"text": output.get("text", "")} | output.get("data", {})).items()
            if not kind.startswith("image/") or kind == "image/svg+xml"
        ]
        shown = "\n".join(
            t if isinstance(t, str) else "".join(t) if isinstance(t, list) else json.dumps(t) for t in texts
        )
        match = MACHINE_PATH.search(shown)
        if match:
            found.append(
                f"cell {number} shows a path of a machine: {shown[match.start() : match.start() + 40]!r}"
            )
    return found


def cell(source: str, count: int | None, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": [source], "execution_count": count, "outputs": list(outputs)}


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS, "notebooks/ is missing or holds no notebook"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_was_run_in_order_without_errors(path: Path) -> None:
    assert faults(json.loads(path.read_text(encoding="utf-8"))) == []


def test_guard_accepts_a_notebook_that_was_run() -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": ["https://example.org/home/page\n"]}
    markdown = {"cell_type": "markdown", "source": ["# Title"]}
    assert faults({"cells": [markdown, cell("1", 1, stream), cell("", None), cell("2", 2)]}) == []


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([], "has no code"),
        ([cell("1", None)], "was not run once"),
        ([cell("1", 1), cell("2", 3)], "was not run once"),
        ([cell("1", 2), cell("2", 1)], "was not run once"),
        (
            [cell("1", 1, {"output_type": "error", "ename": "E", "evalue": "", "traceback": []})],
            "holds an error",
        ),
        ([cell("1", 1, {"output_type": "stream", "text": ["/home/me/x"]})], "shows a path"),
        (
            [cell("1", 1, {"output_type": "execute_result", "data": {"text/html": "<a>/tmp/x</a>"}})],
            "shows a path",
        ),
        ([cell("open('/root/x')", 1)], "shows a path"),
        ([cell("# NBVAL_IGNORE_OUTPUT\n1", 1)], "not to compare"),
        ([cell("1", 1) | {"metadata": {"tags": ["nbval-skip"]}}], "not to compare"),
    ],
)
def test_guard_refuses(cells: list[dict[str, Any]], fault: str) -> None:
    assert any(fault in found for found in faults({"cells": cells}))


def test_sanitizer_is_small_and_cannot_blank_a_number() -> None:
    rules = configparser.RawConfigParser()
    rules.read(FOLDER / "nbval-sanitize.cfg", encoding="utf-8")
    assert 0 < len(rules.sections()) <= 4
    figures = "1234567890 0.98 -3 1e-06 12,345 85 % 2026-01-02T03:04:05Z $1.25 T_ 0x 3f2a 0123abcd4567 0xff T_run_12345"
    for section in rules.sections():
        assert re.sub(rules.get(section, "regex"), rules.get(section, "replace"), figures) == figures
