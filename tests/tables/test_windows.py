"""Each row belongs to one checkpoint: the one whose window holds it. The windows part the session."""

from __future__ import annotations

import pytest

from sessionbank.tables.state import READ_AT_ONCE
from tests.makers.banks import assert_agreement, opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, tool, usage


def talk(turns, sid="11111111-2222-4333-8444-555555555555"):
    c = Claude(sid)
    for n in range(turns):
        c.prompt(f"p{n}")
        c.reply(tool(f"toolu_{n}"), message_id=f"m{n}", output=10 + n)
    return c


@pytest.fixture
def places(tmp_path):
    """A function: stored parts (begin, end, start) of one conversation -> checkpoint number of each of its rows."""

    def rows(c, *parts):
        repo = CheckpointRepo(tmp_path / "repo")
        for number, (begin, end, start) in enumerate(parts):
            stored = session(
                c.session_id,
                c.bytes(begin, end),
                start=start,
                created_at=f"2026-02-{number + 1:02d}T10:00:00Z",
            )
            repo.add_checkpoint(f"{number:012x}", sessions=[stored])
        with opened(repo.path, tmp_path) as bank:
            assert_agreement(bank, light=True)
            m = bank.messages()
            assert m["uuid"].tolist() == [line["uuid"] for line in c.lines]
            assert bank.sessions()["output_tokens"].tolist() == [
                sum(10 + n for n in range(len(c.lines) // 2))
            ]
            return "".join(str(int(x, 16)) for x in m["checkpoint_id"]), m["stored_copies"].tolist()

    return rows


def test_growing_snapshots(places):
    assert places(talk(4), (0, 2, 0), (0, 5, 2), (0, 8, 5)) == ("00111222", [3, 3, 2, 2, 2, 1, 1, 1])


def test_growing_snapshots_without_offsets(places):
    assert places(talk(4), (0, 2, None), (0, 5, None), (0, 8, None))[0] == "00111222"


def test_a_finalized_turn_is_parted_by_its_offsets(places):
    """Every checkpoint of the turn holds the whole transcript; first appearance would put all on the first."""
    assert places(talk(4), (0, 8, 0), (0, 8, 3), (0, 8, 6)) == ("00011122", [3] * 8)


def test_offsets_that_restart_at_zero(places):
    assert places(talk(4), (0, 4, 0), (0, 8, 0))[0] == "00001111"


def test_an_offset_beyond_the_end_is_of_a_part(places):
    assert places(talk(4), (0, 4, 0), (4, 8, 500)) == ("00001111", [1] * 8)


def test_parts_that_overlap(places):
    assert places(talk(4), (0, 5, 0), (3, 8, 5)) == ("00000111", [1, 1, 1, 2, 2, 1, 1, 1])


def test_a_part_then_the_whole(places):
    assert places(talk(4), (4, 6, 4), (0, 8, 6))[0].count("1") >= 2


def test_a_shorter_snapshot_after_a_longer_one(places):
    assert places(talk(4), (0, 8, 0), (0, 4, 0)) == ("0" * 8, [2] * 4 + [1] * 4)


def test_an_offset_at_the_end_is_an_empty_window(places):
    assert places(talk(4), (0, 8, 0), (0, 8, 8))[0] == "0" * 8


def test_a_reply_that_straddles_two_windows_counts_where_it_began(tmp_path):
    c = Claude()
    c.prompt()
    c.reply("a", message_id="m", tokens=usage(5))
    c.reply("b", message_id="m", tokens=usage(50))
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("00000000000a", sessions=[session(c.session_id, c.bytes(0, 2))])
    repo.add_checkpoint(
        "00000000000b",
        sessions=[session(c.session_id, c.bytes(), start=2, created_at="2026-02-02T10:00:00Z")],
    )
    with opened(repo.path, tmp_path) as bank:
        assert bank.token_usage()[["checkpoint_id", "output_tokens"]].values.tolist() == [
            ["00000000000a", 50]
        ]
        assert bank.totals("checkpoint")["output_tokens"].tolist() == [50]


def test_reconcile_tells_what_the_metadata_counts(tmp_path):
    """Stored usage of the window, of the whole, of an earlier state, of nothing, and of nobody knows what."""
    c = talk(4)

    def stated(*turns):
        return {
            "input_tokens": 3 * len(turns),
            "cache_creation_tokens": 0,
            "cache_read_tokens": 0,
            "output_tokens": sum(10 + n for n in turns),
            "api_call_count": len(turns),
        }

    cases = {
        "window": stated(2, 3),
        "whole": stated(0, 1, 2, 3),
        "stale": stated(0, 1),
        "zero": stated(),
        "unknown": stated(0, 3),
        "absent": None,
    }
    repo = CheckpointRepo(tmp_path / "repo")
    for number, (_, usage_) in enumerate(cases.items()):
        one = talk(4, f"11111111-2222-4333-8444-{number:012d}")
        repo.add_checkpoint(
            f"{number:012x}", sessions=[session(one.session_id, one.bytes(), start=4, token_usage=usage_)]
        )
    repo.add_checkpoint(
        "0000000000ff", sessions=[session(c.session_id, c.bytes(), token_usage=stated(0, 1, 2, 3))]
    )
    with opened(repo.path, tmp_path) as bank:
        assert bank.reconcile()["scope"].tolist() == [*cases, "both"]
        first = bank.reconcile().iloc[0]
        assert (
            first["window_output_tokens"],
            first["whole_output_tokens"],
            first["stored_output_tokens"],
        ) == (25, 46, 25)


def test_attribution_adds_up_one_row_a_checkpoint(tmp_path):
    def share(lines, total, percent=None, **keys):
        return {
            "agent_lines": lines,
            "human_added": 0,
            "human_modified": 0,
            "human_removed": 0,
            "total_committed": total,
            "agent_percentage": 100 * lines / total if percent is None else percent,
            "calculated_at": "2026-02-01T10:00:00Z",
            **keys,
        }

    repo = CheckpointRepo(tmp_path / "repo")
    a, b = talk(1, "11111111-2222-4333-8444-000000000001"), talk(1, "11111111-2222-4333-8444-000000000002")
    two = [
        session(
            x.session_id, x.bytes(), initial_attribution=share(20, 70), created_at=f"2026-02-01T1{n}:00:00Z"
        )
        for n, x in enumerate((a, b))
    ]
    repo.add_checkpoint("00000000000a", sessions=two)
    repo.add_checkpoint("00000000000b", sessions=two, root={"combined_attribution": share(40, 50)})
    repo.add_checkpoint(
        "00000000000c", sessions=[session(a.session_id, a.bytes(), initial_attribution=share(1, 250, 0.4))]
    )
    repo.add_checkpoint(
        "00000000000d", sessions=[session(a.session_id, a.bytes(), initial_attribution=share(5, 5, 150.0))]
    )
    v2 = share(6, 10, 80.0, metric_version=2, agent_removed=2, total_lines_changed=10)
    repo.add_checkpoint("00000000000e", sessions=[session(a.session_id, a.bytes(), initial_attribution=v2)])
    with opened(repo.path, tmp_path) as bank:
        rows = bank.attribution()
        chosen = rows[rows["is_representative"].astype(bool)].set_index("checkpoint_id")
        assert chosen["agent_lines"].to_dict() == {
            f"00000000000{c}": v for c, v in zip("abcde", (20, 40, 1, 5, 6), strict=True)
        }
        assert chosen.loc["00000000000b", "is_combined"]
        assert chosen.loc["00000000000a", "session_index"] == 1  # the later one
        assert chosen.loc["00000000000c", "agent_percentage"] == 0.4  # 0.4 %, not 40
        assert chosen.loc["00000000000c", "agent_contribution"] == pytest.approx(0.004)
        assert "outside 0 to 100" in chosen.loc["00000000000d", "warning"]
        assert rows["warning"].str.contains("stand in 2 records").sum() == 4
        assert chosen["warning"].isna()["00000000000e"]


def test_records_tell_more_once_transcripts_have_been_read(tmp_path):
    """Of a bank of many records agents are told when its transcripts have been read, also where records came first."""
    repo = CheckpointRepo(tmp_path / "many")
    for number in range(READ_AT_ONCE + 1):
        told = Claude(f"{number:08d}-0000-4000-8000-000000000000")
        told.prompt("x")
        repo.add_checkpoint(f"{number:012x}", sessions=[session(told.session_id, told.bytes())])
    with opened(repo.path, tmp_path) as bank:
        assert bank.records()["agent"].isna().all()
        bank.sessions()
        assert set(bank.records()["agent"]) == {"claude-code"}
