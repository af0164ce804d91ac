"""The examples in the docstrings of the room's public names and of `Atlas`: each has one, and prints what it says."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import sessionbank as sb

METHODS = [n for n in vars(sb.Atlas) if not n.startswith("_")]
NAMES = [*sb.learning.__all__, *(f"Atlas.{name}" for name in METHODS)]


@pytest.fixture
def bank(root: Path, tmp_path: Path) -> Iterator[sb.SessionBank]:
    state = tmp_path / "state"  # what was taken in by one example is not missing from the next
    with sb.open_bank(root / "data" / "shop.bundle", state_dir=state, progress=False) as opened:
        yield opened


@pytest.mark.parametrize("name", NAMES)
def test_its_example_prints_what_it_says(
    name: str, bank: sb.SessionBank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    owner, _, method = name.rpartition(".")
    found = inspect.getattr_static(sb.Atlas, method) if owner else getattr(sb.learning, name)
    text = inspect.getdoc(found) or ""
    test = doctest.DocTestParser().get_doctest(text, {"sb": sb, "bank": bank}, name, None, 0)
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert result.failed == 0, "".join(told)
    assert result.attempted > 0, f"{name} has no example"
