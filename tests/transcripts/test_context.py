"""What the model saw: views worked out by hand from the rules for Claude Code and Pi."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sessionbank as sb
from sessionbank.errors import QueryError
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude


def bank_of(tmp_path, transcript: bytes, session_id: str = "s-1") -> sb.SessionBank:
    repo = CheckpointRepo(tmp_path / "r")
    repo.add_checkpoint(
        "00000000000a", sessions=[session(session_id, transcript, created_at="2026-02-01T11:00:00Z")]
    )
    return sb.open_bank(tmp_path / "r", cache=False)


def pi(*entries: dict, parent: bool = True) -> bytes:
    """A Pi session: the header, then entries e1, e2, … each the child of the one before unless it says otherwise."""
    lines = [
        {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-02-01T10:00:00.000Z", "cwd": "/w"}
    ]
    last = None
    for number, entry in enumerate(entries, 1):
        base = {
            "type": "message",
            "id": f"e{number}",
            "parentId": last,
            "timestamp": f"2026-02-01T10:00:{number:02d}.000Z",
        }
        lines.append({**base, **entry})
        last = lines[-1]["id"]
    return b"\n".join(json.dumps(v).encode() for v in lines)


def user(text: str, **keys) -> dict:
    return {
        "message": {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1770000000000},
        **keys,
    }


def assistant(text: str, stop: str = "stop", calls: tuple[str, ...] = (), **keys) -> dict:
    content = [
        {"type": "text", "text": text},
        *({"type": "toolCall", "id": c, "name": "bash", "arguments": {}} for c in calls),
    ]
    message = {
        "role": "assistant",
        "content": content,
        "stopReason": stop,
        "model": "m",
        "usage": {"input": 1, "output": 1},
        "timestamp": 1770000000000,
    }
    return {"message": message, **keys}


def result(call: str, text: str) -> dict:
    content = [{"type": "text", "text": text}]
    return {
        "message": {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": "bash",
            "content": content,
            "isError": False,
            "timestamp": 1770000000000,
        }
    }


def texts(messages) -> list[str | None]:
    return [m.text for m in messages]


def test_claude_starts_anew_at_a_compaction(tmp_path):
    talk = Claude("11111111-2222-4333-8444-000000000001")
    talk.prompt("one")
    talk.reply("two")
    talk.line("system", subtype="compact_boundary", content="Conversation compacted", parentUuid=None)
    talk.line("user", isCompactSummary=True, message={"role": "user", "content": "summary of one and two"})
    talk.prompt("three")
    with bank_of(tmp_path, talk.bytes(), talk.session_id) as bank:
        only = bank.get_by_session_id(talk.session_id)
        assert texts(only.context_at()) == ["summary of one and two", "three"]
        assert texts(only.context_at(only.messages[1])) == ["one", "two"]
        seen = bank.messages().set_index("text")["in_context"]
    assert [seen["one"], seen["two"], seen["three"]] == [False, False, True]


def test_pi_leaves_out_interrupted_drafts_but_keeps_their_results(tmp_path):
    entries = (
        user("go"),
        assistant("draft", "aborted", ("c1",)),
        result("c1", "real"),
        user("again"),
        assistant("done"),
    )
    with bank_of(tmp_path, pi(*entries)) as bank:
        assert texts(bank.get_by_session_id("s-1").context_at()) == ["go", "real", "again", "done"]
        reasons = bank.messages().set_index("text")["context_reason"]
        assert reasons["draft"] == "a draft that was broken off"


def test_pi_sends_the_latest_compactions_summary_first(tmp_path):
    """Worked out from the rule: the latest summary, the retained range with the earlier summary in its place, the rest."""
    entries = (
        user("a"), assistant("b"),
        {"type": "compaction", "summary": "first summary", "firstKeptEntryId": "e2", "tokensBefore": 9},
        user("c"), assistant("d"),
        {"type": "compaction", "summary": "second summary", "firstKeptEntryId": "e3", "tokensBefore": 9},
        user("e"),
    )  # fmt: skip
    with bank_of(tmp_path, pi(*entries)) as bank:
        only = bank.get_by_session_id("s-1")
        assert texts(only.context_at()) == ["second summary", "first summary", "c", "d", "e"]
        before = next(m for m in only.messages if m.text == "d")
        assert texts(only.context_at(before)) == ["first summary", "b", "c", "d"]


PICTURE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
IMAGE = {"message": {"role": "user", "content": [PICTURE], "timestamp": 1}}


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ((user("a"), assistant("b"), user("c", parentId="e1")), "branches"),
        ((user("a"), user("b", parentId="nowhere")), "not there"),
        ((user("a"), {"type": "custom_message", "customType": "x", "content": "y", "display": True}), "custom_message"),
        ((user("a"), {"type": "branch_summary", "summary": "y", "fromId": "e1"}), "branch_summary"),
        ((user("a"), {"type": "compaction", "summary": "s", "firstKeptEntryId": "e9"}), "not before it"),
        ((IMAGE,), "images"),
    ],
)  # fmt: skip
def test_pi_views_out_of_bounds_are_refused_with_the_reason(tmp_path, entries, reason):
    with bank_of(tmp_path, pi(*entries)) as bank:
        only = bank.get_by_session_id("s-1")
        assert len(only.messages) == len(entries) + 1  # archived all the same
        with pytest.raises(QueryError, match=reason):
            only.context_at()
        assert bank.messages()["in_context"].isna().all()


def test_other_agents_do_not_tell(tmp_path):
    gemini = {
        "sessionId": "s-1",
        "projectHash": "h",
        "messages": [{"id": "1", "type": "user", "content": "hi", "timestamp": "2026-02-01T10:00:00Z"}],
    }
    with (
        bank_of(tmp_path, json.dumps(gemini).encode()) as bank,
        pytest.raises(QueryError, match="gemini-cli does not record"),
    ):
        bank.get_by_session_id("s-1").context_at()


def test_pi_views_equal_pis_own(tmp_path):
    """60 generated sessions: what Pi's own code would send, as `scripts/pi_views.py` asked it and kept the answers."""
    kept = json.loads((Path(__file__).parents[1] / "data" / "pi" / "views.json").read_text())
    repo = CheckpointRepo(tmp_path / "r")
    for number, lines in enumerate(kept["sessions"]):
        stored = b"\n".join(json.dumps(line).encode() for line in lines)
        repo.add_checkpoint(
            f"{number:012x}", sessions=[session(lines[0]["id"], stored, created_at="2026-02-01T11:00:00Z")]
        )
    with sb.open_bank(tmp_path / "r", cache=False) as bank:
        assert set(bank.sessions()["agent"]) == {"pi"}
        for lines, expected in zip(kept["sessions"], kept["views"], strict=True):
            assert texts(bank.get_by_session_id(lines[0]["id"]).context_at()) == expected


# -- Codex: replacement_history says what a compaction keeps ------------------------------------------------------------


def item(text: str, role: str = "user") -> dict:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    payload = {"type": "message", "role": role, "content": [part]}
    return {"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": payload}


def codex(*lines: dict) -> bytes:
    head = {
        "timestamp": "2026-03-01T10:00:00Z",
        "type": "session_meta",
        "payload": {"id": "s-1", "cwd": "/w"},
    }
    return b"\n".join(json.dumps(v).encode() for v in (head, *lines))


def compacted(**payload) -> dict:
    return {
        "timestamp": "2026-03-01T10:00:00Z",
        "type": "compacted",
        "payload": {"message": "so far", **payload},
    }


def test_codex_without_a_compaction_left_nothing_out(tmp_path):
    with bank_of(tmp_path, codex(item("one"), item("done", "assistant"))) as bank:
        only = bank.get_by_session_id("s-1")
        assert texts(only.context_at()) == ["one", "done"]
        assert [m.context_reason for m in only.messages] == [
            None,
            "nothing was left out",
            "nothing was left out",
        ]


def test_codex_keeps_after_a_compaction_what_its_history_names(tmp_path):
    """What was typed twice is named once: the later one was kept. The first prompt and the reply are gone."""
    lines = (item("first"), item("again"), item("ok", "assistant"), item("again"),
             compacted(replacement_history=[item("again")["payload"]]), item("next"))  # fmt: skip
    with bank_of(tmp_path, codex(*lines)) as bank:
        only = bank.get_by_session_id("s-1")
        assert texts(only.context_at()) == ["again", "so far", "next"]
        assert [m.in_context for m in only.messages] == [None, False, False, False, True, True, True]
        assert only.messages[4].context_reason == "kept by the latest compaction"
        assert texts(only.context_at(only.messages[3])) == ["first", "again", "ok"]


def test_codex_that_names_no_history_leaves_earlier_prompts_unknown(tmp_path):
    with bank_of(tmp_path, codex(item("first"), item("ok", "assistant"), compacted(), item("next"))) as bank:
        only = bank.get_by_session_id("s-1")
        assert [m.in_context for m in only.messages] == [None, None, False, True, True]


@pytest.mark.shared
def test_a_real_compaction_keeps_every_prompt(bundle_repo):
    """Read by hand in codex.bundle: the one `compacted` line names 17 prompts, all that were typed before it."""
    with sb.open_bank(bundle_repo("codex"), cache=False, progress=False) as bank:
        seen = bank.messages()
        kept = seen[seen["context_reason"] == "kept by the latest compaction"]
        assert (len(kept), set(kept["kind"])) == (17, {"prompt"})
