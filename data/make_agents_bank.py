"""Make the bank of many agents: `agents.bundle` and `agents.truth.json` beside this file. The same ids come out again.

    python data/make_agents_bank.py [folder]

Needs git 2.39 or newer and nothing else. The story is in `agents_bank/`; the package under test is not imported.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from agents_bank.book import PEOPLE, one_session  # noqa: E402
from agents_bank.storage import build  # noqa: E402
from agents_bank.story import STOPS, sessions  # noqa: E402
from sample_bank.objects import git  # noqa: E402


def make(folder: Path) -> tuple[Path, Path]:
    """Write the bundle and the truth file into a folder; returns their paths. OSError if the folder is not writable."""
    told = sessions()
    objects, points = build(told, STOPS)
    truth = {
        "about": "Made by make_agents_bank.py from its own story; null is not recorded.",
        "refs": objects.refs,
        "people": {key: name for key, (name, _) in PEOPLE.items()},
        "checkpoints": {
            p.id: {"commit": p.commit, "subject": p.subject, "sessions": [s.session_id for s, _ in p.records]}
            for p in points
        },
        "sessions": {s.session_id: {"key": s.key} | one_session(s) for s in told},
    }
    book, bundle = folder / "agents.truth.json", folder / "agents.bundle"
    book.write_text(json.dumps(truth, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        repository = Path(place) / "tides.git"
        objects.write(repository)
        git("bundle", "create", "-q", str(bundle.resolve()), "--all", "HEAD", cwd=repository)
    return bundle, book


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for made in make(target):
        print(f"{made.name}: {made.stat().st_size:,} bytes")
