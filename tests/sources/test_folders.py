"""Agents' own folders as banks: sessions, subagents' files, changes, unions with repositories, inferred commits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sessionbank as sb
from sessionbank.errors import QueryError, RepositoryError
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude

ONE, TWO = "11111111-2222-4333-8444-000000000001", "11111111-2222-4333-8444-000000000002"


def talk(session_id: str, prompts: int = 2) -> Claude:
    made = Claude(session_id)
    for number in range(prompts):
        made.prompt(f"question {number}")
        made.reply(f"answer {number}", message_id=f"msg_{session_id[-1]}_{number}", output=10 + number)
    return made


def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / ".claude" / "projects" / "-work-shop"
    folder.mkdir(parents=True)
    return folder


def test_a_folder_gives_the_same_tables(tmp_path):
    folder = projects(tmp_path)
    (folder / f"{ONE}.jsonl").write_bytes(talk(ONE).bytes())
    (folder / f"{TWO}.jsonl").write_bytes(talk(TWO, 3).bytes())
    (folder / "notes.json").write_text('{"not": "a session"}')
    with sb.open_bank(folder.parent, cache=False) as bank:
        assert bank.is_available
        assert bank.layouts == ("folder",)
        sessions = bank.sessions().set_index("session_id")
        assert sessions.loc[ONE, "human_prompts"] == 2
        assert sessions.loc[TWO, "output_tokens"] == 10 + 11 + 12
        row = bank.messages().iloc[1]
        stored = (folder / f"{row.session_id}.jsonl").read_bytes()
        assert bank.raw(row) == [stored.split(b"\n")[1]]
        assert bank.commits().empty
        assert bank.get_by_commit("abcdef12") == []
        assert bank.diagnostics()["code"].tolist() == ["no_transcript"]


def test_a_copy_under_another_root_counts_once_and_a_rewrite_is_seen(tmp_path):
    folder = projects(tmp_path)
    file = folder / f"{ONE}.jsonl"
    file.write_bytes(talk(ONE).bytes())
    (folder.parent / "-copy").mkdir()
    (folder.parent / "-copy" / f"{ONE}.jsonl").write_bytes(talk(ONE).bytes())
    with sb.open_bank(folder.parent, cache=tmp_path / "cache") as bank:
        assert bank.sessions()["human_prompts"].tolist() == [2]
        assert "stored_twice" in bank.diagnostics()["code"].tolist()
        stat = file.stat()
        changed = file.read_bytes().replace(b"question 0", b"QUESTION 0")
        file.unlink()  # so that it is another file of the same size and time
        file.write_bytes(changed)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        (folder.parent / "-copy" / f"{ONE}.jsonl").unlink()
        assert "QUESTION 0" in bank.messages()["text"].tolist()


def test_subagents_files_join_their_session(tmp_path):
    folder = projects(tmp_path)
    main = talk(ONE)
    main.reply(
        {
            "type": "tool_use",
            "id": "t1",
            "name": "Task",
            "input": {"prompt": "look", "subagent_type": "Explore"},
        },
        message_id="m9",
        output=5,
    )
    main.result("t1", "found", data={"status": "completed", "agentId": "a77"})
    (folder / f"{ONE}.jsonl").write_bytes(main.bytes())
    sub = Claude(ONE)
    sub.lines = [{**talk(TWO, 1).lines[1], "sessionId": ONE, "isSidechain": True, "agentId": "a77"}]
    (folder / ONE / "subagents").mkdir(parents=True)
    (folder / ONE / "subagents" / "agent-a77.jsonl").write_bytes(sub.bytes())
    with sb.open_bank(folder, cache=False) as bank:
        row = bank.sessions().iloc[0]
        assert (row["subagent_api_calls"], row["subagent_output_tokens"], row["output_tokens"]) == (
            1,
            10,
            10 + 11 + 5,
        )
        nested = bank.messages().query("is_subagent")
        assert nested["parent_tool_call_id"].tolist() == ["t1"]
        assert bank.get_by_session_id(ONE).subagents[0].agent_type == "Explore"


def test_entires_task_files_join_their_session_whichever_level_they_stand_at(tmp_path):
    main = talk(ONE)
    main.reply(
        {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "look"}},
        message_id="m9",
        output=5,
    )
    sub = talk(TWO, 1).lines[1]
    line = {k: v for k, v in sub.items() if k not in ("sessionId", "isSidechain")}
    import json

    files = {"tasks/toolu_1/agent-a5.jsonl": json.dumps(line).encode()}
    repo = CheckpointRepo(tmp_path / "r")
    repo.add_checkpoint("00000000000a", sessions=[session(ONE, main.bytes(), files=files)])
    with sb.open_bank(tmp_path / "r", cache=False) as bank:
        nested = bank.token_usage().query("is_subagent")
        assert nested["output_tokens"].tolist() == [10]
        assert bank.messages().query("is_subagent")["parent_tool_call_id"].tolist() == ["toolu_1"]


def test_a_folder_and_a_repository_count_a_session_once(tmp_path):
    folder = projects(tmp_path)
    whole = talk(ONE, 3)
    (folder / f"{ONE}.jsonl").write_bytes(whole.bytes())
    (folder / f"{TWO}.jsonl").write_bytes(talk(TWO).bytes())
    repo = CheckpointRepo(tmp_path / "r")
    repo.add_checkpoint(
        "00000000000a", sessions=[session(ONE, whole.bytes(0, 4), created_at="2026-02-01T11:00:00Z")]
    )
    with sb.open_bank([folder, tmp_path / "r"], cache=False) as bank:
        sessions = bank.sessions().set_index("session_id")
        assert sessions["human_prompts"].to_dict() == {ONE: 3, TWO: 2}
        assert sessions.loc[ONE, "record_count"] == 2
        assert bank.totals("checkpoint")["output_tokens"].sum() == sessions["output_tokens"].sum()


def test_commits_of_a_folders_session_are_inferred_and_say_so(tmp_path):
    folder = projects(tmp_path)
    made = talk(ONE)
    made.reply(
        {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/srv/shop/cart.py"}},
        message_id="m9",
    )
    (folder / f"{ONE}.jsonl").write_bytes(made.bytes())
    repo = CheckpointRepo(tmp_path / "r")
    for name, when in (
        ("cart.py", "2026-02-01T10:10:00Z"),
        ("other.py", "2026-02-01T10:11:00Z"),
        ("cart.py", "2026-03-01T10:00:00Z"),
    ):
        (tmp_path / "r" / name).write_text(when)
        repo.git("add", ".")
        repo.git(
            "commit", "-qm", f"{name} at {when}", env={"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        )
    with sb.open_bank([folder, tmp_path / "r"], cache=False) as bank:
        commits = bank.commits()
        assert commits["subject"].tolist() == ["cart.py at 2026-02-01T10:10:00Z"]
        assert commits["is_inferred"].tolist() == [True]
        assert bank.sessions()["commit_count"].tolist() == [1]


def test_places_that_are_none(tmp_path):
    with pytest.raises(RepositoryError, match="does not exist"):
        sb.open_bank(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RepositoryError, match="not a git repository"):
        sb.open_bank(tmp_path / "empty")
    with pytest.raises(QueryError, match="empty"):
        sb.open_bank([])
