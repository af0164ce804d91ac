"""A refreshed cache equals a cold load in every row and order, whatever happened to the repository."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from tests.makers.banks import all_tables, opened
from tests.makers.checkpoints import BRANCH, CheckpointRepo, session
from tests.makers.claude import Claude, tool
from tests.makers.histories import History, Story, histories

SETTINGS = settings(
    report_multiple_bugs=False,
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def same_as_cold(bank, repo, folder):
    """Compares a bank whose cache grew with one that reads everything anew; and with one that opens the grown cache."""
    warm = all_tables(bank)
    with tempfile.TemporaryDirectory() as name, opened(repo.path, Path(name)) as cold:
        anew = all_tables(cold)
    for table, rows in anew.items():
        assert warm[table] == rows, table
    with opened(repo.path, folder) as again:
        assert all_tables(again) == anew


@SETTINGS
@given(histories(steps=5))
def test_refresh_equals_cold_after_each_checkpoint(history: History):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repo = CheckpointRepo(folder / "repo")
        with opened(repo.path, folder) as bank:
            for number in range(history.checkpoints):
                history.write(repo, only=number)
                same_as_cold(bank, repo, folder)


def test_refresh_equals_cold_after_what_people_do_to_a_branch(tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    a, b = Story(1), Story(2)
    a.tell([("prompt", 1), ("tool", 5), ("reply", 8), ("spawn", 3)])
    b.tell([("prompt", 1), ("reply", 7)])
    stored = lambda story, end=None: session(story.writer.session_id, story.writer.bytes(0, end))  # noqa: E731
    with opened(repo.path, tmp_path) as bank:
        same_as_cold(bank, repo, tmp_path)  # nothing yet
        repo.add_checkpoint("00000000000a", sessions=[stored(a, 4)])
        same_as_cold(bank, repo, tmp_path)
        repo.add_checkpoint("00000000000b", sessions=[stored(a), stored(b)])
        same_as_cold(bank, repo, tmp_path)
        repo.commit("Work\n\nEntire-Checkpoint: 00000000000b")  # only a code commit
        same_as_cold(bank, repo, tmp_path)
        fork = a.fork(3, 5)  # of an old session
        fork.tell([("prompt", 2), ("tool", 4)])
        repo.add_checkpoint("00000000000c", sessions=[stored(fork)])
        same_as_cold(bank, repo, tmp_path)
        assert bank.messages()["inherited_from"].notna().sum() == 5
        repo.remove_checkpoint("00000000000b")  # the fork now has lines that the first session lacks
        same_as_cold(bank, repo, tmp_path)
        assert bank.messages()["inherited_from"].notna().sum() == 4
        repo.remove_checkpoint("00000000000a")  # and now it owns all of them
        same_as_cold(bank, repo, tmp_path)
        assert bank.messages()["inherited_from"].isna().all()
        # the same checkpoint with another content: a summary came, the transcript was finalized
        repo.add_checkpoint(
            "00000000000c", sessions=[stored(fork) | {"summary": {"intent": "x", "outcome": "y"}}]
        )
        same_as_cold(bank, repo, tmp_path)
        assert bank.sessions()["intent"].tolist() == ["x"]
        # force-push: another history altogether
        repo.add_checkpoint("00000000000d", sessions=[stored(b)], fresh=True, ref="refs/heads/other")
        repo.git("update-ref", BRANCH, "refs/heads/other")
        same_as_cold(bank, repo, tmp_path)
        # another layout appears, then the branch goes
        repo.add_checkpoint("00000000000d", layout="refs-v1", sessions=[stored(b), stored(a, 3)])
        same_as_cold(bank, repo, tmp_path)
        repo.git("update-ref", "-d", BRANCH)
        same_as_cold(bank, repo, tmp_path)
        repo.git("update-ref", "-d", "refs/entire/checkpoints/0d/00000000000d")
        same_as_cold(bank, repo, tmp_path)
        assert not bank.is_available


def test_a_start_offset_that_changes_moves_rows_between_checkpoints(tmp_path):
    """Only metadata changed: the rows stay, their checkpoint does not."""
    repo = CheckpointRepo(tmp_path / "repo")
    c = Claude()
    for n in range(4):
        c.prompt(f"p{n}")
        c.reply(tool(f"toolu_{n}_long_enough"), message_id=f"msg_{n}")
    repo.add_checkpoint("00000000000a", sessions=[session(c.session_id, c.bytes(0, 4))])
    repo.add_checkpoint(
        "00000000000b",
        sessions=[session(c.session_id, c.bytes(), start=4, created_at="2026-02-02T10:00:00Z")],
    )
    with opened(repo.path, tmp_path) as bank:
        assert bank.messages()["checkpoint_id"].value_counts().to_dict() == {
            "00000000000a": 4,
            "00000000000b": 4,
        }
        repo.add_checkpoint(
            "00000000000b",
            sessions=[session(c.session_id, c.bytes(), start=2, created_at="2026-02-02T10:00:00Z")],
        )
        same_as_cold(bank, repo, tmp_path)
        assert bank.messages()["checkpoint_id"].value_counts().to_dict() == {
            "00000000000a": 2,
            "00000000000b": 6,
        }
