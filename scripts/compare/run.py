"""What other tools make of the sample bank's Claude Code sessions, beside the true figures and ours.

    python scripts/compare/run.py             # prints the table
    python scripts/compare/run.py --write     # and puts it into docs/comparison.md

Each tool is installed at a pinned version in an environment of its own, in the user's cache folder or in PEERS_HOME, and
then run on a copy of the sessions in a home of its own, in a namespace without network and without our processes (Linux,
`unshare`). True figures come from the books of the script that made the bank; their cost is list prices, below. What is
compared is in `peers.py`, how sessions come to disk in `disk.py`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from disk import write_home  # noqa: E402
from peers import COLUMNS, PEERS, Peer, Row  # noqa: E402

import sessionbank as sb  # noqa: E402

BUNDLE = ROOT / "data" / "shop.bundle"
PAGE = ROOT / "docs" / "comparison.md"
PRINTED = re.compile(r"(<!-- printed by: python scripts/compare/run\.py -->\n```text\n).*?(```\n)", re.DOTALL)
# USD a million tokens: input, output. Cache: written for 5 minutes 1.25 times input, for an hour twice, read a tenth.
LIST_PRICES = {
    "claude-opus-4-5-20251101": (5.0, 25.0), "claude-sonnet-4-5-20250929": (3.0, 15.0),
    "claude-haiku-4-5-20251001": (1.0, 5.0),
}  # fmt: skip


def truth(*, with_subagents: bool) -> Row:
    """The true figures of Claude Code's sessions."""
    books = json.loads((ROOT / "data" / "shop.truth.json").read_text("utf-8"))["by_agent"]["claude-code"]
    kinds = ("tokens", "subagent_tokens") if with_subagents else ("tokens",)
    names = ("input", "cache_creation", "cache_read", "output")
    calls = books["api_calls"] + (books["subagent_api_calls"] if with_subagents else 0)
    tokens = [sum(books[kind][n] for kind in kinds) for n in names]
    usd = sum(
        cost(model, sums[kind])
        for model, sums in books["by_model"].items()
        for kind in kinds
        if model in LIST_PRICES
    )
    return dict(zip(COLUMNS, (books["sessions"], calls, *tokens, usd), strict=True))


def cost(model: str, tokens: dict[str, int]) -> float:
    """USD at list price."""
    into, out = LIST_PRICES[model]
    hour = tokens["cache_creation_1h"]
    short = tokens["cache_creation"] - hour
    weighed = tokens["input"] + 1.25 * short + 2 * hour + 0.1 * tokens["cache_read"]
    return (into * weighed + out * tokens["output"]) / 1e6


def ours(home: Path) -> Row:
    """What sessionbank says of the same folder that the others read."""
    with sb.open_bank(home / ".claude" / "projects", cache=False, progress=False) as bank:
        t: Any = bank.totals("agent").iloc[0]
        classes = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
        tokens = [int(t[c]) + int(t[f"subagent_{c}"]) for c in classes]
        calls = int(t["api_calls"] + t["subagent_api_calls"])
        return dict(zip(COLUMNS, (len(bank.sessions()), calls, *tokens, t["total_cost_usd"]), strict=True))


def installed(peer: Peer) -> Path:
    """The folder of a tool's programs; it is installed where it is not there yet."""
    cache = Path(os.environ.get("PEERS_HOME") or Path.home() / ".cache" / "sessionbank-peers")
    folder = cache / f"{peer.name.split()[0]}-{peer.version}"
    programs = folder / ("bin" if peer.registry == "pypi" else "node_modules/.bin")
    if programs.is_dir():
        return programs
    making = folder.with_name(f"making-{folder.name}")
    shutil.rmtree(making, ignore_errors=True)
    if peer.registry == "pypi":  # programs hold the path of their Python, so it is made where it stays
        steps = [
            [sys.executable, "-m", "venv", str(folder)],
            [str(programs / "pip"), "install", "-q", *peer.packages],
        ]
    else:
        making.mkdir(parents=True)
        (making / "package.json").write_text("{}")
        flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
        steps = [["npm", "install", *flags, "--prefix", str(making), *peer.packages]]
    try:
        for step in steps:
            subprocess.run(step, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if peer.registry == "npm":
        making.rename(folder)
    return programs


def asked(peer: Peer, home: Path) -> Row:
    """What a tool says of the sessions of a home: without network, and nothing that it starts outlives it."""
    programs = installed(peer)
    words = [w.format(home=home, bin=programs) for w in peer.command]
    inside = [
        "unshare",
        "-rnpf",
        "--mount-proc",
        "--kill-child",
        "sh",
        "-c",
        'ip link set lo up; exec "$@"',
        "sh",
    ]
    done = subprocess.run(
        [*inside, *words], capture_output=True, text=True, check=True, timeout=180,
        env={"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}, cwd=home,
    )  # fmt: skip
    return peer.read(done.stdout, home)


def table(rows: list[tuple[str, str, Row]]) -> str:
    """The rows as text, aligned."""

    def cell(name: str, value: float | None) -> str:
        return "-" if value is None else f"{value:,.2f}" if name == "usd" else f"{int(value):,}"

    lines = [["tool", "version", *COLUMNS]]
    lines += [[name, version, *(cell(c, row[c]) for c in COLUMNS)] for name, version, row in rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return "".join(
        "  ".join(
            text.ljust(width) if k < 2 else text.rjust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        + "\n"
        for line in lines
    )


def known_rows(home: Path) -> list[tuple[str, str, Row]]:
    """The rows that need no other tool."""
    return [
        ("true, main agent", "", truth(with_subagents=False)),
        ("true, with subagents", "", truth(with_subagents=True)),
        ("sessionbank", sb.__version__, ours(home)),
    ]


def main() -> None:
    """Prints the table; with --write it goes into the page, too."""
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "home")
        first.mkdir()
        write_home(BUNDLE, first)
        rows = known_rows(first)
        for peer in PEERS:
            home = Path(folder, peer.name)
            shutil.copytree(first, home)
            try:
                rows.append((peer.name, peer.version, asked(peer, home)))
            except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
                said = getattr(error, "stderr", None) or str(error)
                print(f"{peer.name} {peer.version} did not run: {said.strip()[-300:]}", file=sys.stderr)
                if "--write" in sys.argv:
                    raise
    text = table(rows)
    print(text, end="")
    if "--write" in sys.argv:
        page = PAGE.read_text("utf-8")
        PAGE.write_text(PRINTED.sub(lambda m: m[1] + text + m[2], page), "utf-8")


if __name__ == "__main__":
    main()
