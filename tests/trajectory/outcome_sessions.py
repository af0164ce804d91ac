"""Sessions for tests of outcomes, written as a conversation: who says what, which tool is called and how it ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sessionbank.records import Message, Session, SessionRecord, Summary, ToolCall, Transcript

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def session(*turns, sid="s1", summary=None, files=(), checkpoint="aaaaaaaaaaaa", later=0):
    """A session from turns: ("prompt", text), ("reply", text), ("interruption", ""), or ("call", tool, command,
    status, output).
    """
    messages, calls = [], []
    for seq, turn in enumerate(turns):
        kind = turn[0]
        if kind == "call":
            _, tool, command, status, output = turn
            calls.append(_call(sid, seq, tool, command=command, status=status, output=output))
        role = "user" if kind in ("prompt", "interruption") else "assistant"
        text = None if kind == "call" else turn[1]
        messages.append(_message(sid, seq, kind="reply" if kind == "call" else kind, role=role, text=text))
    made = [_record(sid, checkpoint, summary=summary, files=files)]
    made += [_record(sid, f"{n:012d}", summary=None, files=files) for n in range(later)]
    transcript = Transcript(sid, "claude-code", tuple(messages), tuple(calls))
    return Session(sid, tuple(made), lambda _: transcript)


def bash(command, status="ok", output=""):
    return ("call", "Bash", command, status, output)


def edit(status="ok"):
    return ("call", "Edit", None, status, "")


def told(intent, outcome, *, open_items=()):
    return Summary(intent=intent, outcome=outcome, open_items=tuple(open_items))


def _message(sid, seq, *, kind, role, text):
    return Message(
        session_id=sid, seq=seq, uuid=f"u{seq}", parent_uuid=None, role=role, kind=kind, text=text, model=None,
        message_id=None, request_id=None, timestamp=START + timedelta(seconds=seq), agent_id=None,
        parent_tool_call_id=None, is_subagent=False, in_context=True, context_reason=None, checkpoint_id=None,
        session_index=0, blob_oid=None, line_index=seq, byte_offset=None,
    )  # fmt: skip


def _call(sid, seq, tool, *, command, status, output):
    return ToolCall(
        session_id=sid, tool_call_id=f"t{seq}", seq=seq, tool_name=tool, mcp_server=None, input="{}", status=status,
        is_error_explicit=status == "error", result_text=output, called_at=None, returned_at=None, duration_ms=None,
        file_path=None, command=command, agent_id=None, parent_tool_call_id=None, is_subagent=False,
        message_uuid=f"u{seq}", result_uuid=None, checkpoint_id=None,
    )  # fmt: skip


def _record(sid, checkpoint, *, summary, files):
    return SessionRecord(
        checkpoint_id=checkpoint, session_index=0, session_id=sid, raw_session_id=None, layout="branch-v1", ref="r",
        path="p", created_at=START, branch="main", strategy="manual-commit", cli_version=None, agent_label=None,
        transcript_state="present", summary=summary, files_touched=tuple(files),
    )  # fmt: skip
