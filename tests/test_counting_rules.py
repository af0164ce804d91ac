"""The worked examples of docs/counting-rules.md are true: each is stored in a git repository, opened and counted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sessionbank import SessionBank
from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo, session

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "counting-rules.md").read_text(encoding="utf-8")
EXAMPLES = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]


def blocks(text: str, kinds: str) -> list[str]:
    return [
        m[2].strip("\n") for m in re.finditer(rf"^```({kinds})\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


def test_every_example_has_transcripts_and_figures() -> None:
    assert len(EXAMPLES) == 10
    for text in EXAMPLES:
        assert blocks(text, "jsonl|json"), text[:60]
        assert len(blocks(text, "counts")) == 1, text[:60]


def count(bank: SessionBank, name: str) -> object:
    """What the tables say under a name of a `counts` block."""
    *what, column = name.split(" ")
    sessions, calls = bank.sessions(), bank.tool_calls()
    match what:
        case ["naive"]:
            assert bank.explain(column)["value"].iloc[-1] == sessions[column].sum()
            return bank.explain(column)["value"].iloc[0]
        case ["status"]:
            return (calls["status"] == column).sum()
        case ["checkpoint", number]:
            return bank.totals("checkpoint").set_index("checkpoint_id").loc[f"{int(number):012x}", column]
        case ["day", zone, day]:
            return bank.totals("day", tz=zone).set_index("day").loc[day, column]
        case ["stated"]:
            return bank.reconcile()[f"stored_{column}"].sum()
        case ["scope"]:
            return bank.reconcile().set_index("checkpoint_id").loc[f"{int(column):012x}", "scope"]
    assert not what, name
    return sessions[column].sum(min_count=1)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda t: t.splitlines()[0])
def test_example_counts_as_the_page_says(text: str, tmp_path: Path) -> None:
    repo = CheckpointRepo(tmp_path / "repo")
    transcripts, stated = blocks(text, "jsonl|json"), blocks(text, "stated")
    assert len(stated) in (0, len(transcripts))
    for number, transcript in enumerate(transcripts, 1):
        name = json.loads(transcript.splitlines()[0])["sessionId"]
        said = json.loads(stated[number - 1]) if stated else {}
        stored = session(name, transcript.encode(), created_at=f"2026-02-01T1{number}:30:00Z", **said)
        repo.add_checkpoint(f"{number:012x}", sessions=[stored])
    with opened(repo.path, tmp_path) as bank:
        for line in blocks(text, "counts")[0].splitlines():
            name, value = line.split(" = ")
            found = count(bank, name)
            if value == "missing":
                assert found != found, line
            elif value.isdigit():
                assert found == int(value), line
            else:
                assert found == value, line
