"""Killed before and after every write of collect, store and distil: a re-run gives what an undisturbed run gives."""

from __future__ import annotations

import os
import shutil
import sys
from datetime import UTC, datetime

import pytest

from sessionbank.learning import Memory, review
from sessionbank.learning.batches import all_rows, pending, run_batch
from sessionbank.learning.collect import keep
from sessionbank.learning.team_learning import process_team
from tests.learning import planted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def _memory(folder):
    return Memory(folder, clock=lambda: NOW)


@pytest.fixture(scope="module")
def experiences(tmp_path_factory):
    """Eight analysed runs, analysed once."""
    memory = _memory(tmp_path_factory.mktemp("analysed"))
    teams = planted.runs(5, 8, helps="fan-out", harms="ping-pong", noise=0)
    return [process_team(memory, team).experience for team in teams]


def _state(folder):
    """Every file of a memory that says something, by path."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and ".lock" not in p.name and not p.name.endswith(".tmp")
    }


def _killed(work, at):
    """Runs `work` in a process of its own that dies at its at-th write: before it (odd) or after it (even).

    False when it was through before.
    """
    pid = os.fork()
    if pid == 0:
        try:
            count = 0
            for name in ("replace", "rename", "unlink"):
                real = getattr(os, name)

                def write(*a, _real=real, **k):
                    nonlocal count
                    count += 1
                    if count * 2 - 1 == at:
                        os._exit(9)
                    done = _real(*a, **k)
                    if count * 2 == at:
                        os._exit(9)
                    return done

                setattr(os, name, write)
            work()
            os._exit(0)
        except BaseException:
            os._exit(77)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, 9)
    return status == 9


def test_collecting_and_distilling(tmp_path, experiences):
    def work(folder):
        memory = _memory(folder)
        for made in experiences[:5]:
            keep(memory, made)
        run_batch(memory, "team", minimum=5)

    work(tmp_path / "reference")
    wanted = _state(tmp_path / "reference")
    assert any(name.startswith("role-playbooks/") for name in wanted)
    at = 0
    while True:
        at += 1
        folder = tmp_path / "killed"
        if not _killed(lambda folder=folder: work(folder), at):
            break
        work(folder)
        memory = _memory(folder)
        assert _state(folder) == wanted
        assert pending(memory, "team") == []
        assert [r.run_id for r in all_rows(memory)] == sorted(e.id for e in experiences[:5])
        shutil.rmtree(folder)
    assert at > 20


@pytest.mark.slow
def test_a_run_that_is_processed_and_one_that_was_analysed_again(tmp_path, experiences):
    team = planted.runs(5, 8, helps="fan-out", harms="ping-pong", noise=0)[0]

    def work(folder):
        process_team(_memory(folder), team)

    def said(folder):  # the time that the analysis took is no part of what it says
        made = _memory(folder).get("team-experiences", team.id)
        return made.model_dump(exclude={"analysis": {"analysis_metrics"}})

    work(tmp_path / "reference")
    at = 0
    while True:
        at += 1
        folder = tmp_path / "killed"
        if not _killed(lambda folder=folder: work(folder), at):
            break
        work(folder)
        assert said(folder) == said(tmp_path / "reference")
        assert _memory(folder).count("team-experiences") == 1
        # what a kill leaves half made or half removed is never taken for a workspace; `prune` clears it
        assert all(p.name.startswith((".making-", ".removing-")) for p in (folder / "workspaces").iterdir())
        shutil.rmtree(folder)
    assert at > 10


def test_the_second_batch_killed_and_a_decision_in_between(tmp_path, experiences):
    def begin(folder):
        memory = _memory(folder)
        for made in experiences[:6]:
            keep(memory, made)
        run_batch(memory, "team", minimum=2)
        line = review.lines(memory)[0]
        review.reject(memory, line["playbook_id"], line["line_id"], reviewer="Ada", reason="not so")
        for made in experiences[6:]:
            keep(memory, made)

    def work(folder):
        run_batch(_memory(folder), "team", minimum=2)

    begin(tmp_path / "reference")
    work(tmp_path / "reference")
    wanted = _state(tmp_path / "reference")
    at = 0
    while True:
        at += 1
        folder = tmp_path / "killed"
        begin(folder)
        if not _killed(lambda folder=folder: work(folder), at):
            break
        work(folder)
        assert _state(folder) == wanted
        assert {r["decision"] for r in review.lines(_memory(folder))} == {None, "reject"}
        shutil.rmtree(folder)
    assert at > 8


def test_processing_again_counts_nothing_twice(tmp_path, experiences):
    memory = _memory(tmp_path)
    for _ in range(2):
        for made in experiences:
            keep(memory, made)
    assert len(pending(memory, "team")) == 8
    assert run_batch(memory, "team", minimum=5).ready
    for made in experiences:
        keep(memory, made)
    assert pending(memory, "team") == []
    again = run_batch(memory, "team", minimum=1)
    assert (again.ready, again.accumulated) == (False, 0)
    assert "1 more" in again.message
