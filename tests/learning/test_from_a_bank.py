"""From a bank to a recommendation: no model, no network, and the same on every run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import sessionbank as sb
from sessionbank.learning import Atlas, Memory, review

NOW = datetime(2026, 5, 1, tzinfo=UTC)
CONFIG = {
    "session_bank": {"outcome_strategy": "evidence"},
    "team_learning": {"enabled": True, "min_team_trajectories": 2},
}


def _learn(path, folder, cache):
    with sb.open_bank(path, cache=cache, state_dir=folder / "state") as bank:
        atlas = Atlas(bank, Memory(folder / "memory", clock=lambda: NOW), config=CONFIG)
        first = atlas.ingest_sessions(limit=500)
        assert first.discovered == len(first.ingested)
        assert first.failed == {}
        assert atlas.accumulated_count == len(first.teams) > 2
        assert atlas.run_team_batch().ready
        assert atlas.run_batch().ready
        again = atlas.ingest_sessions(limit=500)
        assert (again.discovered, again.ingested) == (0, ())
        assert (atlas.accumulated_count, atlas.run_team_batch().ready) == (0, False)
        _evidence_is_in_the_bank(atlas, bank)
        return atlas


def _evidence_is_in_the_bank(atlas, bank):
    rows = review.lines(atlas.memory)
    assert rows
    led = 0
    for row in rows:
        for place in review.evidence(atlas.memory, row["playbook_id"], row["line_id"], bank=bank):
            session = bank.get_by_session_id(place["session_id"])
            assert session.messages[place["seq"]].uuid == place["message_uuid"]
            assert place["message"]
            # the stored lines hold the very id, so they are the ones that the place means
            assert any(place["message_uuid"].encode() in line for line in place["raw"])
            led += 1
    assert led


def _state(atlas):
    """What memory says, without the times that the analysis itself took."""
    import re

    return {
        p.relative_to(atlas.memory.path).as_posix(): re.sub(r'"analysis_time_ms": \d+', "", p.read_text())
        for p in sorted(atlas.memory.path.rglob("*.json"))
    }


def test_the_sample_bank_twice(tmp_path, root):
    made = [_learn(root / "data" / "shop.bundle", tmp_path / n, tmp_path / "cache") for n in ("one", "two")]
    assert _state(made[0]) == _state(made[1])
    task = made[0].memory.all("team-experiences")[0].team_trajectory.objective
    told = [atlas.recommend_team(task) for atlas in made]
    assert told[0] == told[1]
    assert told[0].basis
    assert told[0].evidence


@pytest.mark.shared
def test_real_teams(tmp_path, shared):
    atlas = _learn(shared / "data" / "teams.bundle", tmp_path, tmp_path / "cache")
    assert atlas.memory.count("team-experiences") == 9
    for made in atlas.memory.all("team-experiences"):
        assert made.problems == []
        assert set(made.written_by.values()) == {"rule"}
