"""ATIF documents read: a trajectory from ours or from another program's. How they are written is in `atif`.

What the format has no field for comes from our ``extra``, where the document has it. A picture becomes a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessionbank.errors import FormatError
from sessionbank.trajectory.jsonl import json_text, moment, outcome_from, task_from
from sessionbank.trajectory.model import RESPOND, Reply, Step, Task, Trajectory, Turn


def from_atif(document: Mapping[str, Any]) -> Trajectory:
    """A trajectory from any ATIF document, ours or another program's. Raises `FormatError` where it is none."""
    steps = document.get("steps")
    agent = document.get("agent")
    if not isinstance(steps, list) or not isinstance(agent, Mapping):
        raise FormatError("an ATIF document has `agent` and a list of `steps`")
    ours = _mapping(_mapping(document.get("extra")).get("sessionbank"))
    about = _mapping(agent.get("extra"))
    identity = str(document.get("trajectory_id") or document.get("session_id") or "atif")
    own = _Reading(about.get("agent_id"), ours.get("parent_tool_call_id"))
    for number, step in enumerate(steps, 1):
        if not isinstance(step, Mapping) or step.get("source") not in ("user", "agent", "system"):
            raise FormatError(f"step {number} of ATIF document {identity[:80]!r} has no known source")
        own.take(step)
    final = _mapping(document.get("final_metrics"))
    beside = _mapping(final.get("extra"))
    known = [r.total_tokens for r in own.replies if r.total_tokens is not None]
    return Trajectory(
        id=identity,
        session_id=str(document.get("session_id") or identity),
        task=task_from(ours["task"]) if "task" in ours else Task(own.first_prompt),
        own_steps=tuple(own.steps),
        replies=tuple(own.replies),
        after=tuple(own.waiting),
        outcome=outcome_from(ours.get("outcome")),
        agent=str(agent.get("name") or "unknown"),
        timestamp=moment(ours.get("timestamp") or steps[0].get("timestamp")) if steps else None,
        llm_calls=beside.get("llm_calls", len(own.replies)),
        total_tokens=beside.get("total_tokens", sum(known) if known else None),
        cost_usd=final.get("total_cost_usd"),
        wall_seconds=ours.get("wall_seconds"),
        active_seconds=ours.get("active_seconds"),
        metadata=_mapping(ours.get("metadata")),
        subagents=tuple(from_atif(d) for d in document.get("subagent_trajectories") or ()),
        agent_id=about.get("agent_id"),
        agent_type=about.get("agent_type"),
        parent_tool_call_id=ours.get("parent_tool_call_id"),
    )


class _Reading:
    """Takes the steps of a document in turn."""

    def __init__(self, agent_id: str | None, parent_tool_call_id: str | None) -> None:
        self.agent_id, self.parent = agent_id, parent_tool_call_id
        self.replies: list[Reply] = []
        self.steps: list[Step] = []
        self.waiting: list[Turn] = []
        self.first_prompt: str | None = None

    def take(self, step: Mapping[str, Any]) -> None:
        if step["source"] == "agent":
            self.reply(step)
            return
        extra = _mapping(step.get("extra"))
        text = _text(step.get("message")) or ""
        if step["source"] == "user" and self.first_prompt is None:
            self.first_prompt = text
        if extra.get("is_inferred"):
            return  # it is the task's description, and no part of the transcript
        self.waiting.append(
            Turn(
                extra.get("kind") or ("prompt" if step["source"] == "user" else "system"),
                extra.get("role") or step["source"],
                text, moment(step.get("timestamp")), extra.get("message_uuid"), extra.get("checkpoint_id"),
                extra.get("seq"), extra.get("in_context"),
            )
        )  # fmt: skip

    def reply(self, step: Mapping[str, Any]) -> None:
        extra, metrics = _mapping(step.get("extra")), _mapping(step.get("metrics"))
        classes = _mapping(metrics.get("extra"))
        prompt, cached, out = (
            metrics.get("prompt_tokens"),
            metrics.get("cached_tokens"),
            metrics.get("completion_tokens"),
        )
        created = classes.get("cache_creation_tokens")
        fresh = classes.get("input_tokens")
        if fresh is None and prompt is not None:
            fresh = prompt - (cached or 0) - (created or 0)
        known = [t for t in (prompt, out) if t is not None]
        reply = Reply(
            number=len(self.replies), message_id=extra.get("message_id"), model=step.get("model_name"),
            timestamp=moment(step.get("timestamp")), text=_text(step.get("message")) or None,
            thinking=step.get("reasoning_content"), is_thinking_withheld=bool(extra.get("is_thinking_withheld")),
            before=tuple(self.waiting), input_tokens=fresh, cache_creation_tokens=created,
            cache_creation_1h_tokens=classes.get("cache_creation_1h_tokens"), cache_read_tokens=cached,
            output_tokens=out,
            reasoning_tokens=classes.get("reasoning_tokens"), total_tokens=sum(known) if known else None,
            cost_usd=metrics.get("cost_usd"), is_partial=bool(extra.get("is_partial")),
            message_uuid=extra.get("message_uuid"), checkpoint_id=extra.get("checkpoint_id"), seq=extra.get("seq"),
            in_context=extra.get("in_context"),
        )  # fmt: skip
        self.waiting = []
        self.replies.append(reply)
        self.add_steps(step, reply)

    def add_steps(self, step: Mapping[str, Any], reply: Reply) -> None:
        results = _mapping(step.get("observation")).get("results") or []
        answers = {r.get("source_call_id"): r for r in results if isinstance(r, Mapping)}
        calls = step.get("tool_calls") or []
        tokens = reply.total_tokens
        for call in calls:
            self.steps.append(self.call(call, answers.get(call.get("tool_call_id")), (reply, tokens)))
            tokens = None if tokens is None else 0
        if not calls:
            shown = [_text(r.get("content")) for r in answers.values()]
            self.steps.append(
                Step(
                    step=len(self.steps), tool_call_id=None, thought=reply.thought, action_name=RESPOND,
                    action_input=None,
                    observation="\n".join(t for t in shown if t) or None, status=None, started_at=reply.timestamp,
                    duration_ms=None, tokens=tokens, agent_id=self.agent_id, parent_tool_call_id=self.parent,
                    message_uuid=reply.message_uuid, checkpoint_id=reply.checkpoint_id, seq=reply.seq,
                    reply=reply.number,
                )
            )  # fmt: skip

    def call(
        self, call: Mapping[str, Any], answer: Mapping[str, Any] | None, of: tuple[Reply, int | None]
    ) -> Step:
        reply, tokens = of
        extra = _mapping(call.get("extra"))
        server, name = extra.get("mcp_server"), str(call.get("function_name") or "unknown")
        shown = None if answer is None else _text(answer.get("content"))
        return Step(
            step=len(self.steps), tool_call_id=call.get("tool_call_id"), thought=reply.thought,
            action_name=name.removeprefix(f"mcp__{server}__") if server else name,
            action_input=json_text(call.get("arguments")), observation=shown,
            status=extra.get("status") or ("no_result" if answer is None else None),
            started_at=moment(extra.get("called_at")) or reply.timestamp, duration_ms=extra.get("duration_ms"),
            tokens=tokens,
            agent_id=self.agent_id, parent_tool_call_id=self.parent, message_uuid=extra.get("message_uuid"),
            checkpoint_id=extra.get("checkpoint_id"), seq=extra.get("seq"), result_seq=extra.get("result_seq"),
            reply=reply.number, mcp_server=server,
        )  # fmt: skip


def _text(content: Any) -> str | None:
    """Text of a message or result: a string, or parts of which pictures become a note."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = []
    for part in content:
        if isinstance(part, Mapping):
            source = _mapping(part.get("source"))
            parts.append(
                part["text"]
                if isinstance(part.get("text"), str)
                else f"[{part.get('type')}: {source.get('media_type')}]"
            )
    return "\n".join(parts)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
