"""Notebooks on a repository of the user's: a first one made for it, the guided ones beside it, and JupyterLab on them.

A notebook is written as plain JSON; what its cells do is the package's public surface. Nothing that stands in the folder
is written over. The guided notebooks belong to a checkout, not to an installed package.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from sessionbank.errors import SessionBankError

CHECKOUT = Path(__file__).resolve().parent.parent
FIRST = "my-sessions.ipynb"
# Each question with the code that answers it; {path} is the repository, as Python text.
CELLS: tuple[tuple[str, str], ...] = (
    (
        "# Work with coding agents\n\nMade by `sessionbank lab`. Tables are pandas frames; `sb.schema.table(name)` says what "
        "each column counts.",
        "import sessionbank as sb\nfrom sessionbank import plot\n\nbank = sb.open_bank({path})\nbank",
    ),
    ("## What is in it?", 'bank.totals("agent")'),
    ("", "bank.sessions().tail(10)"),
    ("What could not be read, or is odd:", 'bank.diagnostics()["code"].value_counts().to_frame()'),
    (
        "## Why do other tools give other numbers?\n\nFrom the naive sum of every stored line to the true figure, rule by rule.",
        'bridge = bank.explain("output_tokens")\nbridge',
    ),
    ("", 'plot.show(plot.bridge(bridge, column="output_tokens"))'),
    ("## When, and with which models?", 'plot.show(plot.tokens_over_time(bank.totals("day")))'),
    ("", 'plot.show(plot.cost_by_model(bank.totals("model")))'),
    (
        "## What did each commit cost?",
        'cost = plot.cost_by_commit_data(bank.totals("checkpoint"), bank.commits())\ncost.head(20)',
    ),
    ("", 'plot.show(plot.cost_by_commit(bank.totals("checkpoint"), bank.commits()))'),
    ("## Which tools fail?", "plot.show(plot.tools_by_status(bank.tool_calls()))"),
    ("## Who wrote the lines?", "plot.show(plot.attribution_by_commit(bank.attribution(), bank.commits()))"),
    (
        "## How did it end?\n\nJudged by the evidence: what was run and printed, how the talk ended, what was committed.",
        'outcomes = bank.outcomes(["evidence"])\noutcomes["label"].value_counts().to_frame()',
    ),
    ("## Who worked with whom?", 'bank.interactions()["type"].value_counts().to_frame()'),
    ("## Read them", "sb.browse(bank)"),
    ("## Something to send round", 'sb.write_report(bank, "report.html")'),
)


def prepare(path: str, folder: Path) -> list[str]:
    """Writes the first notebook for the bank at `path`, and copies the guided ones; gives a sentence for each part."""
    place = path if "://" in path else str(Path(path).expanduser().resolve())
    folder.mkdir(parents=True, exist_ok=True)
    first, told = folder / FIRST, []
    if first.exists():
        told.append(f"{first.name} stands there already and is kept")
    else:
        first.write_text(notebook(place), encoding="utf-8")
        told.append(f"{first.name} opens {place}")
    guides = CHECKOUT / "notebooks"
    if not guides.is_dir() or not (CHECKOUT / "data").is_dir():
        told.append("the guided notebooks are not here; a checkout of sessionbank has them")
    elif not (folder / "guide").exists():
        shutil.copytree(
            guides, folder / "guide" / "notebooks", ignore=shutil.ignore_patterns("src", "*.cfg", ".*")
        )
        shutil.copytree(
            CHECKOUT / "data",
            folder / "guide" / "data",
            ignore=shutil.ignore_patterns("*.py", "*_bank", ".*"),
        )
        told.append("guide/notebooks holds the guided notebooks, on the sample bank")
    return told


def notebook(place: str) -> str:
    """The first notebook as JSON text, with no output."""
    cells: list[dict[str, Any]] = []
    for words, code in CELLS:
        if words:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": words})
        source = code.replace("{path}", repr(place))
        cells.append(
            {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        )
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    value = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def command(folder: Path, *, browser: bool) -> list[str]:
    """The command that starts JupyterLab on the first notebook. Raises `SessionBankError` where it is not installed."""
    if importlib.util.find_spec("jupyterlab") is None:
        raise SessionBankError("JupyterLab is not installed; pip install 'sessionbank[lab]' brings it")
    start = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    return [*start, f"--LabApp.default_url=/lab/tree/{FIRST}", *([] if browser else ["--no-browser"])]
