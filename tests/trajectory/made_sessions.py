"""Small sessions for tests of synthesis and export, spelled out line by line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sessionbank.records import (
    Block,
    Message,
    Session,
    SessionRecord,
    Summary,
    TokenUsage,
    ToolCall,
    Transcript,
)

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FIRST, SECOND = "aaaaaaaaaaaa", "bbbbbbbbbbbb"


class Script:
    """Collects what is said; times are ten seconds apart, a line's uuid is u and its place."""

    def __init__(self, sid: str = "s1") -> None:
        self.sid = sid
        self.messages: list[Message] = []
        self.calls: list[ToolCall] = []
        self.usage: list[TokenUsage] = []
        self.checkpoint = FIRST

    def line(
        self,
        role,
        kind,
        *blocks,
        text=None,
        message_id=None,
        agent=None,
        parent=None,
        inherited=None,
        live=True,
    ):
        seq = len(self.messages)
        if text is None:
            text = "\n".join(b.text for b in blocks if b.type == "text" and b.text) or None
        self.messages.append(
            Message(
                session_id=self.sid, seq=seq, uuid=f"u{seq}", parent_uuid=None, role=role, kind=kind, text=text,
                model="claude-opus-4-5" if kind == "reply" else None, message_id=message_id, request_id=None,
                timestamp=START + timedelta(seconds=10 * seq), agent_id=agent, parent_tool_call_id=parent,
                is_subagent=agent is not None, in_context=live, context_reason=None, checkpoint_id=self.checkpoint,
                session_index=0, blob_oid=None, line_index=seq, byte_offset=None, inherited_from=inherited,
                blocks=blocks,
            )
        )  # fmt: skip
        return seq

    def prompt(self, text, **rest):
        return self.line("user", "prompt", Block("text", text), **rest)

    def reply(self, message_id, *blocks, **rest):
        return self.line("assistant", "reply", *blocks, message_id=message_id, **rest)

    def tool(
        self,
        message_id,
        call,
        name,
        arguments="{}",
        *,
        output=None,
        status="ok",
        agent=None,
        parent=None,
        server=None,
    ):
        """A line with a tool use, and (unless it stayed open) a line with its result."""
        seq = self.reply(message_id, Block("tool_use", arguments, call), agent=agent, parent=parent)
        answer = None
        if status != "no_result":
            answer = self.line(
                "user",
                "tool_result",
                Block("tool_result", output, call),
                text=output,
                agent=agent,
                parent=parent,
            )
        use = self.messages[seq]
        self.calls.append(
            ToolCall(
                session_id=self.sid, tool_call_id=call, seq=seq, tool_name=name, mcp_server=server, input=arguments,
                status=status, is_error_explicit=False, result_text=output, called_at=use.timestamp,
                returned_at=None if answer is None else self.messages[answer].timestamp,
                duration_ms=None if answer is None else 10_000, file_path=None, command=None, agent_id=agent,
                parent_tool_call_id=parent, is_subagent=agent is not None, message_uuid=use.uuid,
                result_uuid=None if answer is None else f"u{answer}", checkpoint_id=use.checkpoint_id,
                message_id=message_id, result_seq=answer,
            )
        )  # fmt: skip
        return seq

    def used(
        self, message_id, seq, *, fresh=10, created=20, read=30, out=5, cost=0.5, agent=None, inherited=None
    ):
        self.usage.append(
            TokenUsage(
                session_id=self.sid, message_id=message_id, model="claude-opus-4-5",
                timestamp=self.messages[seq].timestamp,
                input_tokens=fresh, cache_creation_tokens=created, cache_creation_1h_tokens=0, cache_read_tokens=read,
                output_tokens=out, reasoning_tokens=None, total_tokens=fresh + created + read + out, cost_usd=cost,
                is_partial=False, is_subagent=agent is not None, agent_id=agent,
                checkpoint_id=self.messages[seq].checkpoint_id,
                seq=seq, message_uuid=f"u{seq}", inherited_from=inherited,
            )
        )  # fmt: skip

    def session(
        self, *, intent=None, files=("src/shop/cart.py", "src/shop/cart_test.go"), checkpoints=(FIRST,)
    ):
        transcript = Transcript(
            self.sid,
            "claude-code",
            tuple(self.messages),
            tuple(self.calls),
            tuple(self.usage),
            "/Users/mkowalczyk/src/shop",
        )
        records = tuple(record(self.sid, c, intent=intent, files=files) for c in checkpoints)
        return Session(self.sid, records, lambda _: transcript)


def record(sid, checkpoint, *, intent=None, files=()):
    return SessionRecord(
        checkpoint_id=checkpoint, session_index=0, session_id=sid, raw_session_id=sid, layout="branch-v1", ref="r",
        path="p",
        created_at=START, branch="main", strategy="manual-commit", cli_version="0.5.0", agent_label="Claude Code",
        transcript_state="present", files_touched=tuple(files), summary=Summary(intent=intent) if intent else None,
    )  # fmt: skip


def small() -> Session:
    """A prompt; a reply on four lines with two calls, a result between; a second prompt; a reply without a call."""
    s = Script()
    s.prompt("Make the cart round to cents")
    first = s.reply("m1", Block("thinking", "Where is the rounding?"))
    s.reply("m1", Block("text", "I look at the cart."))
    s.tool("m1", "t1", "Read", '{"file_path":"cart.py"}', output="def total(): ...")
    s.tool("m1", "t2", "Bash", '{"command":"pytest -q","timeout":5}', output="1 failed", status="error")
    s.used("m1", first)
    s.prompt("Also the tax, please")
    last = s.reply("m2", Block("text", "Both are done."))
    s.used("m2", last, cost=None)
    s.line("user", "interruption", Block("text", "[Request interrupted by user]"))
    return s.session(intent="Round the cart")


def with_subagent() -> Session:
    """The main agent starts a subagent, which starts another; one call stays open."""
    s = Script("s2")
    s.prompt("Find the leak")
    one = s.reply("m1", Block("text", "I ask for help."))
    s.tool(
        "m1",
        "spawn",
        "Task",
        '{"subagent_type":"Explore","prompt":"Look for the leak"}',
        output="It is in pool.py",
    )
    s.used("m1", one)
    s.line("user", "meta", Block("text", "Look for the leak"), agent="a1", parent="spawn")
    two = s.tool(
        "m2", "inner", "Agent", '{"prompt":"Read pool.py"}', output="read", agent="a1", parent="spawn"
    )
    s.used("m2", two, agent="a1")
    three = s.tool("m3", "deep", "Read", '{"file_path":"pool.py"}', output="", agent="a2", parent="inner")
    s.used("m3", three, agent="a2")
    four = s.tool("m4", "open", "query", '{"sql":"select 1"}', status="no_result", server="db")
    s.used("m4", four)
    return s.session()
