"""Plugins' plain lines, and telling the formats apart."""

from __future__ import annotations

import pytest

from sessionbank.transcripts.sniff import sniff

SAMPLES = {
    "codex.jsonl": "codex-rollout", "copilot.jsonl": "copilot-events", "cursor.jsonl": "cursor-jsonl",
    "droid.jsonl": "droid-jsonl", "gemini.json": "gemini-json", "gemini.jsonl": "gemini-jsonl",
    "kiro.json": "kiro-json", "opencode.json": "opencode-json", "pi.jsonl": "pi-jsonl",
    "plugin.jsonl": "plugin-jsonl", "compact_claude.jsonl": "entire-compact",
    "compact_gemini.jsonl": "entire-compact",
}  # fmt: skip


def test_plain_strings(read, sample):
    session = read(sample("plugin.jsonl"))
    assert (session.format, session.agent) == ("plugin-jsonl", "plugin")
    assert session.kinds("prompt") == ["create a file", "thanks"]
    assert session.kinds("reply") == ["Created it."]
    assert session.messages[1]["extra"] == '{"mood":"good"}'
    assert session.of("messages", "timestamp") == [
        "2026-03-07T04:00:00Z", "2026-03-07T04:00:01Z", "2026-03-07T04:00:02.000+00:00",
    ]  # fmt: skip
    assert session.calls == session.usage == []


@pytest.mark.parametrize(("name", "expected"), SAMPLES.items())
def test_each_format_is_told_by_its_content(sample, name, expected):
    data = sample(name)
    assert sniff(data).name == expected
    if name.endswith(".jsonl"):  # from any line on: transcripts are stored in parts
        lines = data.splitlines(keepends=True)
        assert sniff(b"".join(lines[1:])).name == expected


@pytest.mark.shared
def test_every_stored_transcript_is_recognised(shared, tmp_path):
    """Agents of the records with a transcript: the labels of the metadata, except where the bytes say otherwise (facts
    13 and 17 of entire-format.md): "Gemini CLI" on a Claude session, "Opencode" on a Gemini one, Roger Roger.
    """
    import sessionbank as sb

    found: dict[str, set[tuple[str, str]]] = {}
    for name in ("many-agents", "codex", "opencode", "per-checkpoint-refs"):
        with sb.open_bank(
            shared / "data" / f"{name}.bundle",
            cache=tmp_path / name / "cache",
            state_dir=tmp_path / name / "state",
        ) as bank:
            records = bank.records()
            present = records[records["transcript_state"] == "present"]
            found[name] = set(zip(present["agent_label"], present["agent"], strict=True))
            assert not set(bank.diagnostics()["code"]) & {"format_not_read", "reader_failed"}
    assert found["codex"] == {("Codex", "codex"), ("Claude Code", "claude-code")}
    assert found["opencode"] == {("OpenCode", "opencode")}
    assert found["per-checkpoint-refs"] == {("Claude Code", "claude-code")}
    assert found["many-agents"] == {
        ("Claude Code", "claude-code"), ("Gemini CLI", "claude-code"), ("Roger Roger Agent", "claude-code"),
        ("Gemini CLI", "gemini-cli"), ("Opencode", "gemini-cli"), ("Copilot CLI", "copilot-cli"), ("Cursor", "cursor"),
        ("Factory AI Droid", "factory-droid"), ("Kiro", "kiro"), ("Pi", "pi"),
    }  # fmt: skip
