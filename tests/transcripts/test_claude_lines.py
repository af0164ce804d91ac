"""Claude Code's newer line types: they pass through with all that they say, and tell the format by themselves."""

from __future__ import annotations

import json

import pytest

SESSION = "11111111-1111-4111-8111-111111111111"
NEWER = {
    "permission-mode": {"permissionMode": "plan"},
    "mode": {"mode": "normal"},
    "last-prompt": {"lastPrompt": "go on", "leafUuid": "u1"},
    "ai-title": {"aiTitle": "Fix the shop"},
    "custom-title": {"customTitle": "shop"},
    "agent-name": {"agentName": "fixer"},
    "bridge-session": {"bridgeSessionId": "b1"},
    "file-history-delta": {"delta": {"a.py": 1}},
    "inter_agent_communication_metadata": {"peers": ["pm"]},
}


@pytest.mark.parametrize(("kind", "more"), NEWER.items())
def test_a_newer_line_passes_through(read, kind, more):
    line = {"type": kind, "sessionId": SESSION, **more}
    session = read(json.dumps(line).encode(), session_id=SESSION)
    assert (session.format, session.agent) == ("claude-jsonl", "claude-code")
    assert session.of("messages", "kind", "line_type") == [("other", kind)]
    assert json.loads(session.messages[0]["extra"]) == more
    assert session.calls == session.usage == session.codes == []


def test_an_attachment_is_no_prompt_unless_it_was_queued(read):
    base = {"type": "attachment", "sessionId": SESSION, "timestamp": "2026-05-01T00:00:00Z"}
    lines = [
        {**base, "uuid": "a1", "attachment": {"type": "skill_listing", "content": "x"}},
        {
            **base,
            "uuid": "a2",
            "attachment": {"type": "queued_command", "prompt": "and the tests", "commandMode": "prompt"},
        },
        {**base, "uuid": "a3", "attachment": "odd"},
    ]
    session = read("\n".join(map(json.dumps, lines)).encode(), session_id=SESSION)
    assert session.of("messages", "kind", "text", "is_queued") == [
        ("meta", None, False),
        ("prompt", "and the tests", True),
        ("meta", None, False),
    ]
