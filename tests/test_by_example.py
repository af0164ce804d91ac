"""Every public function has an example that runs: the page of examples, line by line, and that no name is missing on it."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sessionbank as sb

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "by-example.md"
BLOCKS = re.findall(
    r"(?<=```pycon\n)(.*?)(?=^```)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
EXAMPLES = [e for block in BLOCKS for e in doctest.DocTestParser().get_examples(block)]
ROOMS = ("learning", "plot", "schema", "team")


def public() -> Iterator[tuple[str, Any]]:
    """Every public name that can be called, as one writes it."""
    for name in sb.__all__:
        if name in ROOMS:
            room = getattr(sb, name)
            for n in room.__all__:
                if callable(getattr(room, n)):
                    yield f"{name}.{n}", getattr(room, n)
                    yield from methods(getattr(room, n))
        else:
            yield name, getattr(sb, name)
            yield from methods(getattr(sb, name))


def methods(kind: Any) -> Iterator[tuple[str, Any]]:
    """The public methods of a public class that are ours."""
    if inspect.isclass(kind):
        for name, made in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and made.__module__.partition(".")[0] == "sessionbank":
                yield f"{kind.__name__}.{name}", made


@pytest.mark.parametrize(("name", "thing"), list(public()))
def test_it_has_an_example(name: str, thing: Any) -> None:
    last = name.rpartition(".")[2]
    is_class = inspect.isclass(thing)
    wanted = re.compile(rf"\b{last}\b" if is_class else rf"\b{last}\(")
    shown = any(wanted.search(e.source) for e in EXAMPLES)
    assert shown or ">>>" in (inspect.getdoc(thing) or ""), f"docs/by-example.md does not use {name}"


@pytest.fixture
def checkout_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder that holds the sample banks as a checkout does, and may be written to."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)


# Modules whose docstrings hold examples; those of team, learning and plot run beside their room's tests.
MODULES = sorted(
    name
    for path in (ROOT / "sessionbank").rglob("*.py")
    if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
    and not (name := ".".join(path.relative_to(ROOT).with_suffix("").parts)).startswith(
        ("sessionbank.team.", "sessionbank.learning.", "sessionbank.plot.")
    )
)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.usefixtures("checkout_like")
def test_examples_in_docstrings_run(name: str) -> None:
    module = importlib.import_module(name)
    told: list[str] = []
    with sb.open_bank("data/shop.bundle", cache=False, progress=False) as bank:
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
        for test in doctest.DocTestFinder(exclude_empty=True).find(
            module, extraglobs={"sb": sb, "bank": bank}
        ):
            runner.run(test, out=told.append)
    assert runner.failures == 0, "".join(told)
    assert runner.tries > 0


@pytest.mark.usefixtures("checkout_like")
def test_every_example_prints_what_the_page_says() -> None:
    for option in ("display.width", "display.max_columns", "display.max_rows", "display.max_colwidth"):
        pd.reset_option(option)
    test = doctest.DocTest(EXAMPLES, {"__name__": "__main__"}, PAGE.name, str(PAGE), 0, None)
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert result.failed == 0, "".join(told)
    assert result.attempted > 150
