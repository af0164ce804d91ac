"""Draws the picture of the README from the sample bank: ``docs/img/overview.png``.

    python scripts/pictures.py

The file carries its words, with the figures drawn, as its description; a test compares them with the sample bank.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sessionbank import open_bank, plot
from sessionbank.cli import SAMPLE, overview

TARGET = Path(__file__).resolve().parent.parent / "docs" / "img" / "overview.png"


def main() -> int:
    """Write the picture and say where."""
    with open_bank(SAMPLE, cache=False, progress=False) as bank:
        plot.save(overview(bank), TARGET, dpi=100)
    print(TARGET.relative_to(Path.cwd()) if TARGET.is_relative_to(Path.cwd()) else TARGET)
    return 0


if __name__ == "__main__":
    sys.exit(main())
