"""Runs the Python of pages of `docs/` and compares what it prints with the `text` block that follows.

    python scripts/printed_pages.py            # writes the printed blocks anew

The blocks of one page run one after the other in one namespace, in a folder that holds nothing but `data`. Pages that
show other commands, and the examples of docstrings, are not run here.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("docs/recipes/*.md", "docs/scores.md", "docs/your-own-notebook.md")
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<text>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


def pages() -> list[Path]:
    """Every page whose code is run, in order of its name."""
    return sorted(p for pattern in PAGES for p in ROOT.glob(pattern) if BLOCK.search(p.read_text("utf-8")))


def printed(text: str) -> list[str]:
    """What each Python block of a page prints, trailing blanks and empty last lines aside."""
    import pandas as pd

    found, space = [], {"__name__": "page"}
    display = ("display.width", 110, "display.max_columns", 12, "display.max_colwidth", 60)
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        pd.option_context(*display, "display.float_format", "{:,.2f}".format),
    ):
        Path("data").symlink_to(ROOT / "data")
        for block in BLOCK.finditer(text):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block["code"], "page", "exec"), space)  # noqa: S102 - pages of this repository
            found.append("".join(f"{line.rstrip()}\n" for line in out.getvalue().rstrip().splitlines()))
    return found


def renewed(text: str) -> str:
    """The page with what its blocks print now."""
    outputs = iter(printed(text))

    def block(match: re.Match[str]) -> str:
        said = next(outputs)
        return f"```python\n{match['code']}```\n" + (f"\n```text\n{said}```\n" if said else "")

    return BLOCK.sub(block, text)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "error")
    for path in pages():
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
        print(path.relative_to(ROOT))
