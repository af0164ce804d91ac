"""The examples in the docstrings of the public pictures: each name has one, and it prints what it says."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import sessionbank as sb


@pytest.fixture(scope="module")
def bank(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sb.SessionBank]:
    state = tmp_path_factory.mktemp("state")
    with sb.open_bank(root / "data" / "shop.bundle", state_dir=state, progress=False) as opened:
        yield opened


@pytest.fixture
def own(root: Path, tmp_path: Path) -> Iterator[sb.SessionBank]:
    """A bank of its own for what marks sessions as taken in."""
    with sb.open_bank(root / "data" / "shop.bundle", state_dir=tmp_path / "state", progress=False) as opened:
        yield opened


@pytest.mark.parametrize("name", sb.plot.__all__)
def test_its_example_prints_what_it_says(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = inspect.getdoc(getattr(sb.plot, name)) or ""
    bank = request.getfixturevalue("own" if "ingest_sessions" in text else "bank")
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(text, {"sb": sb, "bank": bank}, name, None, 0)
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    plt.close("all")
    assert result.failed == 0, "".join(told)
    assert result.attempted > 0, f"{name} has no example"
