"""The page of the support matrix is the one that the code makes, and agrees with the bank of many agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessionbank.transcripts.support import agents, support, support_markdown
from tests.makers.banks import opened

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "support-matrix.md"
COMMAND = (
    "python -c 'from sessionbank.transcripts.support import support_markdown; print(support_markdown(), end=\"\")'"
    " >docs/support-matrix.md"
)
TABLES = ("messages", "blocks", "tool_calls", "token_usage")


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    with opened(ROOT / "data" / "agents.bundle", tmp_path_factory.mktemp("agents")) as found:
        yield found


def test_the_committed_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == support_markdown(), f"run {COMMAND}"


def held(bank):
    """(table, column, agent) of which the bank holds a value; compact transcripts are another format and left out."""
    of = bank.sessions().set_index("session_id")["agent"]
    records = bank.records(transcripts=True)
    compact = set(records.loc[records["format"].eq("entire-compact"), "session_id"])
    found = set()
    for table in TABLES:
        frame = getattr(bank, table)()
        frame = frame[~frame["session_id"].isin(compact)]
        for agent, part in frame.groupby(frame["session_id"].map(of)):
            found |= {(table, column, agent) for column in part.columns if part[column].notna().any()}
    return found


def test_what_the_matrix_calls_absent_is_in_no_transcript_of_the_bank(bank):
    found = held(bank)
    assert {agent for *_, agent in found} == {*agents(), "unknown"}
    absent = {cell[:3] for cell in support() if cell.state == "absent"}
    assert found & absent == set()


def test_the_bank_holds_the_main_columns_of_every_agent_that_records_them(bank):
    found = held(bank)
    main = {
        ("messages", "text"), ("messages", "timestamp"), ("messages", "model"), ("tool_calls", "tool_name"),
        ("tool_calls", "result_text"), ("token_usage", "input_tokens"), ("token_usage", "output_tokens"),
        ("token_usage", "cache_creation_tokens"), ("token_usage", "cache_read_tokens"),
    }  # fmt: skip
    claimed = {c[:3] for c in support() if c[:2] in main and c.state != "absent" and c.is_seen}
    assert claimed - found == set()
