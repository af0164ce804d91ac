"""The examples in the docstrings of the public names of the team room: each has one, and each prints what it says."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import sessionbank as sb


@pytest.fixture(scope="module")
def bank() -> Iterator[sb.SessionBank]:
    sample = Path(__file__).resolve().parents[2] / "data" / "shop.bundle"
    with sb.open_bank(sample, cache=False, progress=False) as opened:
        yield opened


@pytest.mark.parametrize("name", sb.team.__all__)
def test_its_example_prints_what_it_says(
    name: str, bank: sb.SessionBank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(getattr(sb.team, name)) or ""
    test = doctest.DocTestParser().get_doctest(text, {"sb": sb, "bank": bank}, name, None, 0)
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert result.failed == 0, "".join(told)
    assert result.attempted > 0, f"{name} has no example"
