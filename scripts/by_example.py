"""Runs docs/by-example.md line by line and writes the outputs below each example anew.

    python scripts/by_example.py

Code blocks marked ``pycon`` share one session, which runs in the checkout. `tests/test_by_example.py` runs the page as a
doctest; nothing is checked here.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import sys
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "by-example.md"
_BLOCK = re.compile(r"(?<=```pycon\n)(.*?)(?=^```)", re.MULTILINE | re.DOTALL)


def filled(block: str, names: dict[str, Any]) -> str:
    """The block with what its examples print now."""
    out = []
    for example in doctest.DocTestParser().get_examples(block):
        source = example.source.rstrip("\n").split("\n")
        out += [f"{'... ' if at else '>>> '}{line}".rstrip() for at, line in enumerate(source)]
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            try:
                exec(compile(example.source, PAGE.name, "single"), names)  # noqa: S102 - the page is ours
            except Exception as error:
                raise SystemExit(f"{type(error).__name__}: {error}\n{example.source}") from error
        out += shown.getvalue().rstrip("\n").split("\n") if shown.getvalue().strip() else []
    return "\n".join(out) + "\n"


def main() -> None:
    """Rewrites the page."""
    os.environ.setdefault("MPLBACKEND", "agg")
    os.chdir(ROOT)
    warnings.simplefilter("error")
    names: dict[str, Any] = {"__name__": "__main__"}
    sys.displayhook = lambda value: None if value is None else print(repr(value))
    text = _BLOCK.sub(lambda m: filled(m[0], names), PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
