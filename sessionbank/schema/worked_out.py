"""Columns of what is worked out from what was said: steps, outcomes, teams, lineage, reconciliation, diagnostics.

Stored facts are in `stored`, messages and counts in `spoken`.
"""

from __future__ import annotations

from sessionbank.schema.fields import Field as F
from sessionbank.schema.fields import Table

NEVER = "never"
OUT = "worked out"

WORKED_OUT = (
    Table("steps", "One step of a trajectory: thought, action, observation.", (
        F("trajectory_id", "str", "entire-{checkpoint}-{session}", missing=NEVER, origin=OUT),
        F("session_id", "str", "session", missing=NEVER),
        F("step", "int", "number in the trajectory, from 0", missing=NEVER, origin=OUT),
        F("tool_call_id", "str", "call that is the action", missing="no tool was called"),
        F("thought", "str", "text and thinking of the reply; steps of one reply share it", missing="the reply has neither"),
        F("action_name", "str", "tool, or respond for a reply without a call", missing=NEVER),
        F("action_input", "str", "arguments (JSON)", missing="no tool was called"),
        F("observation", "str", "text of the result", missing="no result"),
        F("status", "str", "of the call: ok, error, rejected, interrupted, no_result", missing="no tool was called"),
        F("started_at", "time", "timestamp of the action"),
        F("duration_ms", "int", "until the result", "ms", "no result, or a time is missing"),
        F("tokens", "int", "all classes of the reply, on its first step; others of the reply 0", "tokens", "not recorded"),
        F("agent_id", "str", "subagent that acts", missing="main agent"),
        F("parent_tool_call_id", "str", "call that started the subagent", missing="main agent"),
        F("message_uuid", "str", "message that holds the action"),
        F("checkpoint_id", "str", "checkpoint whose window holds it"),
    )),
    Table("outcomes", "How a session ended, by one strategy.", (
        F("session_id", "str", "session", missing=NEVER),
        F("strategy", "str", "summary, heuristic, end_state, checks, commit, judge, evidence or a baseline", missing=NEVER, origin=OUT),
        F("label", "str", "success, partial, failure or unknown", missing=NEVER, origin=OUT),
        F("score", "float", "0 (failure) to 1 (success)", "share", "label is unknown", OUT),
        F("confidence", "float", "0 to 1", "share", NEVER, OUT),
        F("reason", "str", "why, in words", missing=NEVER, origin=OUT),
        F("evidence", "str", "rows it rests on (JSON list)", missing=NEVER, origin=OUT),
    )),
    Table("interactions", "One directed edge between two agents.", (
        F("interaction_id", "str", "stable id", missing=NEVER, origin=OUT),
        F("session_id", "str", "session whose transcript shows it", missing="from a run file"),
        F("team", "str", "team", missing="no team has a name"),
        F("type", "str", "delegation, result_return, message, signal, spawn or escalation", missing=NEVER, origin="inferred"),
        F("subtype", "str", "narrower kind, as the transcript has it", missing="none"),
        F("from_agent", "str", "who acts", missing=NEVER),
        F("from_role", "str", "role of that agent", missing="unknown"),
        F("from_step", "int", "seq of the message (or step) that shows it", missing="not shown"),
        F("to_agent", "str", "whom it reaches", missing=NEVER),
        F("to_role", "str", "role of that agent", missing="unknown"),
        F("to_step", "int", "seq of the message (or step) that receives it", missing="not shown"),
        F("content", "str", "what was said or asked", missing="nothing"),
        F("channel", "str", "channel", missing="none"),
        F("signal", "str", "signal on the channel", missing="none"),
        F("timestamp", "time", "when"),
        F("latency_ms", "int", "until it was answered or received", "ms", "not shown"),
        F("ok", "bool", "whether it got through", missing="nothing says so"),
        F("was_expected", "bool", "whether the template allows it", missing="no template"),
        F("is_inferred", "bool", "inferred, not recorded", missing=NEVER, origin=OUT),
        F("evidence", "str", "tool_result, teammate_message, idle_summary, agent_progress, task_board, ...", missing=NEVER, origin=OUT),
        F("tokens", "int", "tokens of the work that it stands for", "tokens", "not recorded"),
        F("message_uuid", "str", "message that shows it"),
        F("tool_call_id", "str", "call that shows it", missing="no call"),
        F("from_raw", "str", "sender as written", missing="not written"),
        F("to_raw", "str", "receiver as written", missing="not written"),
    )),
    Table("members", "One agent of a team.", (
        F("team", "str", "team", missing="no team has a name"),
        F("agent_id", "str", "agent", missing=NEVER),
        F("role", "str", "role", missing="unknown"),
        F("agent_type", "str", "subagent type", missing="unknown"),
        F("model", "str", "model it ran on", missing="unknown"),
        F("session_id", "str", "session that shows it", missing="from a run file"),
        F("steps", "int", "steps seen", "steps", "not seen", "counted"),
        F("tool_calls", "int", "tool calls seen", "calls", "not seen", "counted"),
        F("tokens", "int", "all classes", "tokens", "not recorded", "counted"),
        F("outcome", "str", "how its work ended", missing="not told"),
    )),
    Table("lineage", "One session that comes from another.", (
        F("from_session", "str", "the earlier session", missing=NEVER),
        F("to_session", "str", "the later session", missing=NEVER),
        F("relation", "str", "resumed (goes on where it ended), forked (both go on), compacted (from its summary or plan), spawned or teammate", missing=NEVER, origin="inferred from shared lines, else recorded"),
        F("shared_messages", "int", "lines that both hold", "lines", "not counted", "counted"),
        F("evidence", "str", "what shows it", missing=NEVER, origin=OUT),
    )),
    Table("reconcile", "One record: tokens that we count beside tokens that its metadata states.", (
        F("checkpoint_id", "str", "checkpoint", missing=NEVER),
        F("session_index", "int", "directory", missing=NEVER),
        F("session_id", "str", "session", missing=NEVER),
        *(
            F(f"{scope}_{c}", "int", f"{what}: {c.replace('_', ' ')}", "calls" if c == "api_calls" else "tokens", "no transcript" if scope != "stored" else "not stated", "metadata" if scope == "stored" else "counted")
            for c in ("api_calls", "input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
            for scope, what in (("stored", "as the metadata states"), ("window", "from start_offset on in the record's own transcript"), ("whole", "whole transcript of the record"))
        ),
        F("scope", "str", "window, whole, both, stale (fits an earlier snapshot), zero, absent or unknown", missing=NEVER, origin=OUT),
    )),
    Table("diagnostics", "One thing that was not as it should be.", (
        F("severity", "str", "info, warning or error", missing=NEVER, origin=OUT),
        F("code", "str", "kind of fault", missing=NEVER, origin=OUT),
        F("checkpoint_id", "str", "checkpoint", missing="none concerned"),
        F("session_index", "int", "directory", missing="none concerned"),
        F("session_id", "str", "session", missing="none concerned"),
        F("path", "str", "file inside the ref's tree", missing="none concerned"),
        F("line_index", "int", "line, from 0", missing="none concerned"),
        F("message", "str", "what is wrong, in words", missing=NEVER, origin=OUT),
    )),
)  # fmt: skip
