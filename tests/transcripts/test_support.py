"""The support matrix against the schema, and against what the sample data holds."""

from __future__ import annotations

import pytest

from sessionbank import schema
from sessionbank.records import AGENTS
from sessionbank.transcripts.support import agents, support, support_markdown

SAMPLES = (
    "codex.jsonl", "copilot.jsonl", "cursor.jsonl", "droid.jsonl", "gemini.jsonl", "kiro.json", "opencode.json",
    "pi.jsonl", "plugin.jsonl",
)  # fmt: skip
TABLES = ("messages", "blocks", "tool_calls", "token_usage")


def test_it_names_every_column_and_agent():
    assert set(agents()) == set(AGENTS) - {"unknown"}
    cells = support()
    assert {(c.table, c.column) for c in cells} == {
        (t, column) for t in (*TABLES, "sessions") for column in schema.table(t).columns
    }
    assert len(cells) == len({c[:3] for c in cells})
    assert {c.state for c in cells} == {"recorded", "inferred", "absent"}
    assert all((c.source is None) == (c.state == "absent") for c in cells)


def held_by_hand(arrow, sample):
    """(table, column, agent) of which a hand-made transcript holds a value."""
    found = set()
    for name in SAMPLES:
        agent, tables = arrow(sample(name))
        found |= {
            (t, c, agent)
            for t in TABLES
            for c in tables[t].column_names
            if tables[t][c].null_count < len(tables[t])
        }
        facts = tables["facts"]
        found |= {("sessions", "cwd", agent)} if facts["cwd"].null_count < len(facts) else set()
    return found


def test_what_is_absent_is_in_no_hand_made_transcript(arrow, sample):
    absent = {c[:3] for c in support() if c.state == "absent"}
    assert held_by_hand(arrow, sample) & absent == set()


@pytest.mark.shared
def test_the_sample_data_holds_what_it_says(shared, tmp_path, arrow, sample):
    import sessionbank as sb

    found = held_by_hand(arrow, sample)
    for name in ("many-agents", "codex", "opencode", "per-checkpoint-refs"):
        with sb.open_bank(
            shared / "data" / f"{name}.bundle",
            cache=tmp_path / name / "cache",
            state_dir=tmp_path / name / "state",
        ) as bank:
            of = bank.sessions().set_index("session_id")["agent"]
            for table in TABLES:
                frame = getattr(bank, table)()
                for agent, part in frame.groupby(frame["session_id"].map(of)):
                    found |= {(table, c, agent) for c in part.columns if part[c].notna().any()}
            for agent, part in bank.sessions().groupby("agent"):
                found |= {("sessions", "cwd", agent)} if part["cwd"].notna().any() else set()
    checked = [c for c in support() if c.table in TABLES or c.column == "cwd"]
    assert [c for c in checked if c.is_seen and c[:3] not in found] == []
    assert [c for c in checked if not c.is_seen and c[:3] in found] == []


def test_page():
    page = support_markdown()
    assert page.count("\n## ") == 5 + len(agents())
    assert "| token_usage.input_tokens | recorded | usage.input |" in page
    line = next(x for x in page.splitlines() if x.startswith("| reasoning_tokens |"))
    assert line == "| reasoning_tokens | – | ● | ● | ● | – | – | – | – | (●) | – |"
