"""The worked examples of docs/counting-rules.md are true: each is stored in a git repository, opened and counted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo, session

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "counting-rules.md").read_text(encoding="utf-8")
EXAMPLES = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]


def blocks(text: str, kinds: str) -> list[str]:
    return [
        m[2].strip("\n") for m in re.finditer(rf"^```({kinds})\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


def test_every_example_has_transcripts_and_figures() -> None:
    assert len(EXAMPLES) == 7
    for text in EXAMPLES:
        assert blocks(text, "jsonl|json"), text[:60]
        assert len(blocks(text, "counts")) == 1, text[:60]


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda t: t.splitlines()[0])
def test_example_counts_as_the_page_says(text: str, tmp_path: Path) -> None:
    repo = CheckpointRepo(tmp_path / "repo")
    for number, transcript in enumerate(blocks(text, "jsonl|json"), 1):
        name = json.loads(transcript.splitlines()[0])["sessionId"]
        stored = session(name, transcript.encode(), created_at=f"2026-02-01T1{number}:30:00Z")
        repo.add_checkpoint(f"{number:012x}", sessions=[stored])
    with opened(repo.path, tmp_path) as bank:
        sessions, calls = bank.sessions(), bank.tool_calls()
        for line in blocks(text, "counts")[0].splitlines():
            name, value = line.split(" = ")
            what, _, column = name.rpartition(" ")
            if what == "naive":
                found = bank.explain(column)["value"].iloc[0]
                assert bank.explain(column)["value"].iloc[-1] == sessions[column].sum()
            elif what == "status":
                found = (calls["status"] == column).sum()
            else:
                found = sessions[column].sum(min_count=1)
            if value == "missing":
                assert found != found, line
            else:
                assert int(found) == int(value), line
