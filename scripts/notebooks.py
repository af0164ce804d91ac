"""Makes the notebooks: runs the cells of ``notebooks/src/*.py`` and writes ``notebooks/*.ipynb`` with their outputs.

    python scripts/notebooks.py            # all
    python scripts/notebooks.py 02 03      # those whose names begin so
    python scripts/notebooks.py --check    # only say whether the notebooks hold the cells of their sources

A source is Python with cells parted by ``# %%`` and ``# %% [markdown]`` (what stands before the first is left out).
The kernel is kept apart from this machine's git settings, user folders and time zone, and what changes from run to run
(ids, times of execution, versions) is not written, so the same code gives the same file.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
MARK = re.compile(r"^# %%(?P<kind> \[markdown\])?\s*$", re.MULTILINE)

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


def notebook_of(source: str) -> nbformat.NotebookNode:
    """The notebook of a source, its cells not yet run."""
    parts = MARK.split(source)[1:]  # kind, text, kind, text ...
    cells = []
    for number, (kind, text) in enumerate(zip(parts[::2], parts[1::2], strict=True), 1):
        body = text.strip("\n")
        if kind:
            body = "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.splitlines())
        make = new_markdown_cell if kind else new_code_cell
        cells.append(make(body, id=f"cell-{number:02d}"))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def run(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Runs all cells from the folder of the notebooks; an error in a cell is raised."""
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute()
    notebook.metadata["language_info"] = {"name": "python"}  # the kernel adds its version
    return steady(notebook)


def steady(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook with the random ids of its widgets counted through, so that the same code gives the same file."""
    state = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    outputs = [o for c in notebook.cells for o in c.get("outputs", []) if VIEW in o.get("data", {})]
    ids: dict[str, None] = {}
    waiting = [o["data"][VIEW]["model_id"] for o in outputs][::-1]
    while waiting:  # from what the cells show to all that it is made of
        found = waiting.pop()
        if found not in ids:
            ids[found] = None
            waiting += re.findall(r"IPY_MODEL_([0-9a-f]{32})", json.dumps(state.get(found)))[::-1]
    for left_over in set(state) - set(ids):  # shown nowhere
        del state[left_over]
    text = nbformat.writes(notebook)
    for number, found in enumerate(ids, 1):
        text = text.replace(found, f"{number:032x}")
    return nbformat.reads(text, as_version=4)


def set_apart(home: str) -> None:
    """An environment that is the same on every machine; as `conftest.py` sets it for nbval."""
    os.environ.update(
        GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", TZ="UTC", LC_ALL="C.UTF-8", COLUMNS="120"
    )
    os.environ.update(GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "IPYTHONDIR"):
        os.environ[name] = str(Path(home, name.lower()))
    os.environ.pop("MPLBACKEND", None)


def cells(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Type and source of each cell."""
    return [(c.cell_type, c.source) for c in notebook.cells]


def main(arguments: list[str]) -> int:
    """Write the notebooks asked for; with ``--check`` give 1 where cells differ from their source."""
    wanted = tuple(a for a in arguments if not a.startswith("-"))
    sources = [p for p in sorted((FOLDER / "src").glob("*.py")) if not wanted or p.name.startswith(wanted)]
    stale = 0
    with tempfile.TemporaryDirectory(prefix="sessionbank-notebooks-") as home:
        set_apart(home)
        for source in sources:
            target = FOLDER / f"{source.stem}.ipynb"
            notebook = notebook_of(source.read_text(encoding="utf-8"))
            if "--check" in arguments:
                if not target.is_file() or cells(nbformat.read(target, as_version=4)) != cells(notebook):
                    print(f"{target.name}: not made from its source; run python scripts/notebooks.py")
                    stale = 1
                continue
            fresh = target.with_suffix(".tmp")
            nbformat.write(run(notebook), fresh)
            fresh.replace(target)
            print(target.name)
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
