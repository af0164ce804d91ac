"""Make the sample bank: `shop.bundle` and `shop.truth.json` beside this file. Run it again and the same ids come out.

    python data/make_sample_bank.py [folder]

Needs git 2.39 or newer and nothing else. The story is in `sample_bank/`; the package under test is not imported.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from sample_bank.objects import git  # noqa: E402
from sample_bank.storage import write_checkpoints  # noqa: E402
from sample_bank.story import tell  # noqa: E402
from sample_bank.truth import build  # noqa: E402
from sample_bank.world import World  # noqa: E402


def make(folder: Path) -> tuple[Path, Path]:
    """Write the bundle and the truth file into a folder; returns their paths. OSError if the folder is not writable."""
    world = World()
    tell(world)
    write_checkpoints(world)
    truth, bundle = folder / "shop.truth.json", folder / "shop.bundle"
    truth.write_text(json.dumps(build(world), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        repository = Path(place) / "shop.git"
        world.objects.write(repository)
        git("bundle", "create", "-q", str(bundle.resolve()), "--all", "HEAD", cwd=repository)
    return bundle, truth


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for made in make(target):
        print(f"{made.name}: {made.stat().st_size:,} bytes")
