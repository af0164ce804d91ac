"""What the README shows is what its commands print today, and the names, files and options that it names exist.

python tests/test_readme.py     # writes the printed blocks of README.md anew
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PRINTED = re.compile(
    r"<!-- printed by(?:: (?P<command>.+?)| the lines above) -->\n```text\n(?P<text>.*?)```\n", re.DOTALL
)
PYTHON = re.compile(r"```python\n(.*?)```\n", re.DOTALL)


def ran(match: re.Match[str]) -> str:
    """What the command of a printed block, or the Python lines before it, print."""
    code = PYTHON.findall(match.string[: match.start()])
    arguments = ["-c", code[-1]] if match["command"] is None else ["-m", *match["command"].split()]
    if match["command"]:
        assert match["command"].startswith("sessionbank ")
        arguments[1] = "sessionbank.cli"
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def test_the_first_screen_shows_a_table_a_picture_and_the_two_commands() -> None:
    text = README.read_text(encoding="utf-8")
    head = text[: text.index("## Use")]
    assert "make demo" in head
    assert "make test" in head
    assert PRINTED.search(head)
    assert "](docs/img/" in head
    assert "](docs/counting-rules.md)" in head


@pytest.mark.parametrize("number", range(2))
def test_printed_blocks_are_what_is_printed(number: int) -> None:
    blocks = list(PRINTED.finditer(README.read_text(encoding="utf-8")))
    assert len(blocks) == 2
    assert blocks[number]["text"] == ran(blocks[number])


def test_figures_stand_only_in_printed_blocks() -> None:
    text = PRINTED.sub("", README.read_text(encoding="utf-8"))
    text = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|\[\d\d_\w+", "", text, flags=re.DOTALL)
    assert re.findall(r"\d[\d,.]*\s?(?:%|USD|tokens|times|sessions)|\d{2,}", text) == []


def test_the_checkers_are_those_of_their_page() -> None:
    """The page is written by ``make checkers``; the README sums TRL's templates up in one line."""
    page = (ROOT / "docs" / "checkers.md").read_text(encoding="utf-8")
    table = page[page.index("| checker |") :].partition("\n\n")[0]
    told = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \| (\d+) \| ([^|]+?) \|$", table, re.MULTILINE)
    templates = [r for r in told if r[0].startswith("trl:")]
    assert len({r[1:] for r in templates}) == 1
    expected = [r for r in told if r not in templates] + [
        (f"trl, {len(templates)} templates", *templates[0][1:])
    ]
    block = re.search(
        r"<!-- summed up from docs/checkers.md -->\n```text\n(.*?)```", README.read_text("utf-8"), re.DOTALL
    )
    assert block
    shown = [tuple(re.split(r"\s{2,}", line.strip())) for line in block[1].splitlines()[1:]]
    assert shown == expected


def test_the_cost_of_each_commit_of_ones_own_repository_in_five_lines(tmp_path: Path) -> None:
    """The lines of the README, run as they stand in a plain clone of another repository; costs from the sample's books."""
    text = README.read_text(encoding="utf-8")
    after = text[text.index("What a commit of your own repository cost") :]
    code = PYTHON.search(after)
    assert code and len([line for line in code[1].splitlines() if line.strip()]) <= 5
    own = tmp_path / "own"
    subprocess.run(["git", "clone", "-q", str(ROOT / "data" / "shop.bundle"), str(own)], check=True)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code[1].replace("print(", "print((", 1).rstrip()[:-1] + ").to_json())"],
        cwd=own, capture_output=True, text=True, check=True, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )  # fmt: skip
    told = json.loads(done.stdout.splitlines()[-1])
    assert set(told) == {"commit_sha", "api_calls", "total_cost_usd"}
    truth = json.loads((ROOT / "data" / "shop.truth.json").read_text(encoding="utf-8"))
    shown = {sha for sha in told["commit_sha"].values() if sha is not None}
    assert len(shown) > 20 and shown <= {c["commit_sha"] for c in truth["commit_checkpoints"]}
    assert all(cost is None or cost > 0 for cost in told["total_cost_usd"].values())


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", README.read_text(encoding="utf-8"))
    assert len(links) > 8
    assert [name for name in links if not (ROOT / name).is_file()] == []


def test_the_page_of_tables_is_that_of_the_schema() -> None:
    from sessionbank import schema

    assert (ROOT / "docs" / "tables.md").read_text(encoding="utf-8") == schema.markdown(), "run make docs"


def test_names_exist() -> None:
    import sessionbank as sb

    text = README.read_text(encoding="utf-8")
    table = text[text.index("| name | what it gives |") : text.index("Every column,")]
    said = set(re.findall(r"\bsb\.(\w+)", text))
    assert {"open_bank", "synthesize", "write_jsonl", "plot"} <= said
    assert {name for name in said if not hasattr(sb, name)} == set()
    deep = set(re.findall(r"\bsb\.(\w+)\.(\w+)\(", text))
    assert {names for names in deep if not callable(getattr(getattr(sb, names[0]), names[1], None))} == set()
    cells = " ".join(row.split("|")[1] for row in table.splitlines()[2:] if row)
    methods = set(re.findall(r"(?:\bbank\.|(?<![.\w]))(\w+)\(", cells))
    assert len(methods) > 20
    assert {name for name in methods if not hasattr(sb.SessionBank, name)} == set()


def test_commands_exist() -> None:
    from typer.main import get_command

    from sessionbank.cli import app

    commands = get_command(app).commands  # type: ignore[attr-defined]
    text = README.read_text(encoding="utf-8")
    for name, rest in re.findall(r"^sessionbank (\w+)(.*)$", text, re.MULTILINE):
        options = {o for p in commands[name].params for o in (*p.opts, *p.secondary_opts)}
        assert set(re.findall(r"--[a-z-]+", rest)) <= options
    assert set(commands) == set(re.findall(r"^sessionbank (\w+)", text, re.MULTILINE))


def test_the_picture_is_drawn_from_the_sample_bank() -> None:
    import matplotlib.pyplot as plt
    from PIL import Image

    import sessionbank as sb
    from sessionbank import cli, plot

    with sb.open_bank(cli.SAMPLE, cache=False, progress=False) as bank:
        figure = cli.overview(bank).figure
        words = " ".join(plot.alt_text(ax) for ax in figure.axes)
        plt.close(figure)
    with Image.open(ROOT / "docs" / "img" / "overview.png") as image:
        assert image.info["Description"] == words


if __name__ == "__main__":
    README.write_text(
        PRINTED.sub(
            lambda m: m[0].replace(f"```text\n{m['text']}", f"```text\n{ran(m)}"),
            README.read_text(encoding="utf-8"),
        ),
        encoding="utf-8",
    )
