"""The second process of a load: it answers, fails, dies or falls silent, and the tables are the same every time."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

import sessionbank as sb
from sessionbank.selection import STORED_AND_SPOKEN
from sessionbank.tables import load, second
from sessionbank.tables.load import Loader
from sessionbank.tables.second import Second, Tokens

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a second process is forked on Linux alone")


def is_gone(pid: int) -> bool:
    """Whether it is, or soon is: a process that has said all is not waited for."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_the_answer_and_every_tick_come_back():
    def work(tick):
        for _ in range(3):
            tick()
        return {"pid": os.getpid(), "long": "x" * 300_000}

    seen = []
    with Second(work) as other:
        found = other.answer(seen.append)
    assert found["pid"] != os.getpid()
    assert is_gone(found["pid"])
    assert len(found["long"]) == 300_000
    assert seen[-1] == other.look() == 3


def fails(tick):
    tick()
    raise RuntimeError("told nobody")


def kills_itself(tick):
    tick()
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("work", [fails, kills_itself])
def test_one_that_fails_or_dies_gives_no_answer(work, capfd):
    with Second(work) as other:
        assert other.answer(lambda done: None) is None
    assert capfd.readouterr() == ("", "")


def test_one_that_falls_silent_is_given_up_and_ended(monkeypatch):
    monkeypatch.setattr(second, "SILENT_S", 0.2)
    with Second(lambda tick: time.sleep(60)) as other:
        assert other.answer(lambda done: None) is None
        pid = other._pid
    assert is_gone(pid)


def test_leaving_the_block_ends_it():
    with pytest.raises(KeyError), Second(lambda tick: time.sleep(60)) as other:
        raise KeyError
    assert is_gone(other._pid)


def tables(root, cache) -> dict:
    with sb.open_bank(root / "data" / "shop.bundle", cache=cache, state_dir=cache, progress=False) as bank:
        return {name: bank.arrow(name) for name in STORED_AND_SPOKEN}


@pytest.fixture
def alone(root, tmp_path, monkeypatch) -> dict:
    monkeypatch.setattr(load, "has_second_core", lambda: False)
    return tables(root, tmp_path / "alone")


@pytest.fixture
def two(monkeypatch, alone) -> list[int]:
    """Lets two processes share even a small bank; gives the ids of those that were started."""
    monkeypatch.setattr(load, "has_second_core", lambda: True)
    monkeypatch.setattr(load, "TWO_FROM_BYTES", 0)
    monkeypatch.setattr(load, "GROUP_BYTES", 1)
    monkeypatch.setattr(load, "FLUSH_ROWS", 100)  # several segments from each side
    started: list[int] = []

    class Noted(Second):
        def __init__(self, work):
            super().__init__(work)
            started.append(self._pid)

    monkeypatch.setattr(load, "Second", Noted)
    return started


def test_two_processes_make_the_same_tables_as_one(root, tmp_path, alone, two):
    found = tables(root, tmp_path / "two")
    assert two
    for name, table in alone.items():
        assert found[name].equals(table), name


def test_a_second_process_that_dies_loses_no_row(root, tmp_path, alone, two, monkeypatch):
    here = os.getpid()
    whole = Loader._build_here

    def dies(self, *args, on_done, **named):
        def told(done):
            if os.getpid() != here and done == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            on_done(done)

        return whole(self, *args, on_done=told, **named)

    monkeypatch.setattr(Loader, "_build_here", dies)
    found = tables(root, tmp_path / "two")
    assert two
    for name, table in alone.items():
        assert found[name].equals(table), name


def test_a_token_is_given_once_to_whichever_process_asks():
    with Tokens(500) as tokens, Second(lambda tick: sum(iter(tokens.take, False))) as other:
        mine = sum(iter(tokens.take, False))
        theirs = other.answer(lambda done: None)
        assert not tokens.take()
    assert mine + theirs == 500


def test_few_sessions_are_not_worth_a_second_process(root, tmp_path, monkeypatch):
    monkeypatch.setattr(load, "has_second_core", lambda: True)
    monkeypatch.setattr(load, "Second", None)  # a bank of half a megabyte must not ask for one
    assert tables(root, tmp_path)["sessions"].num_rows == 60
