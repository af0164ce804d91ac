"""The Agent Trajectory Interchange Format, ATIF v1.7, written and read. One document a trajectory.

Subagents are embedded in ``subagent_trajectories`` and pointed at from the result of the call that started them. What
the format has no field for stands in ``extra``, so that most of a trajectory comes back from its document; what every
reader may rely on is the format's own fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sessionbank.errors import FormatError
from sessionbank.trajectory.conversation import Exchange, arguments_of, conversation, with_pictures
from sessionbank.trajectory.jsonl import compact, moment, outcome_from, task_from, written_time
from sessionbank.trajectory.model import RESPOND, Reply, Step, Task, Trajectory, Turn

VERSION = "ATIF-v1.7"


def to_atif(trajectory: Trajectory, *, is_live: bool = False) -> dict[str, Any] | None:
    """The document; None where nothing was said at all, since the format wants at least one step."""
    steps: list[dict[str, Any]] = []
    below = {}
    for child in trajectory.subagents:
        made = to_atif(child, is_live=is_live)
        if made is not None:
            below[child.id] = (child, made)
    refs: dict[str, list[dict[str, Any]]] = {}
    for child, _ in below.values():
        if child.parent_tool_call_id:
            refs.setdefault(child.parent_tool_call_id, []).append({"trajectory_id": child.id, "session_id": child.session_id})
    for part in conversation(trajectory, is_live=is_live):
        steps.append(_said(part, len(steps) + 1) if part.turn else _replied(part, len(steps) + 1, refs))
    if not steps:
        return None
    models = Counter(r.model for r in trajectory.replies if r.model)
    document = {
        "schema_version": VERSION,
        "session_id": trajectory.session_id,
        "trajectory_id": trajectory.id,
        "agent": compact({
            "name": trajectory.agent, "version": "unknown", "model_name": models.most_common(1)[0][0] if models else None,
            "extra": compact({"agent_id": trajectory.agent_id, "agent_type": trajectory.agent_type}),
        }),
        "steps": steps,
        "final_metrics": _final(trajectory, len(steps)),
        "subagent_trajectories": [d for _, d in below.values()],
        "extra": {"sessionbank": _rest(trajectory)},
    }  # fmt: skip
    return compact(document)


def _said(part: Exchange, number: int) -> dict[str, Any]:
    turn = part.turn
    if turn is None:
        raise ValueError("an exchange without a turn")
    return compact({
        "step_id": number,
        "timestamp": written_time(turn.timestamp),
        "source": "user" if turn.role == "user" else "system",
        "message": with_pictures(turn.text, turn.images) or "",
        "extra": compact({
            "kind": turn.kind, "role": turn.role, "message_uuid": turn.message_uuid, "checkpoint_id": turn.checkpoint_id,
            "seq": turn.seq, "in_context": turn.in_context, "is_inferred": part.is_inferred or None,
        }),
    })  # fmt: skip


def _replied(part: Exchange, number: int, refs: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    reply = part.reply
    if reply is None:
        raise ValueError("an exchange without a reply")
    calls = [s for s in part.steps if s.tool_call_id is not None]
    results = []
    for step in calls:
        shown = with_pictures(step.observation, step.images)
        ref = refs.get(step.tool_call_id or "")
        if shown is not None or ref or step.status != "no_result":
            results.append(compact({
                "source_call_id": step.tool_call_id, "content": shown if shown is not None or ref else "",
                "subagent_trajectory_ref": ref,
            }))  # fmt: skip
    return compact({
        "step_id": number,
        "timestamp": written_time(reply.timestamp),
        "source": "agent",
        "model_name": reply.model,
        "message": reply.text or "",
        "reasoning_content": reply.thinking,
        "tool_calls": [_call(s) for s in calls],
        "observation": {"results": results} if results else None,
        "metrics": _metrics(reply),
        "llm_call_count": 1 if reply.message_id else None,
        "extra": compact({
            "message_id": reply.message_id, "message_uuid": reply.message_uuid, "checkpoint_id": reply.checkpoint_id,
            "seq": reply.seq, "in_context": reply.in_context, "is_partial": reply.is_partial or None,
            "is_thinking_withheld": reply.is_thinking_withheld or None,
        }),
    })  # fmt: skip


def _call(step: Step) -> dict[str, Any]:
    return {
        "tool_call_id": step.tool_call_id,
        "function_name": step.tool_name,
        "arguments": arguments_of(step),
        "extra": compact({
            "status": step.status, "duration_ms": step.duration_ms, "called_at": written_time(step.started_at),
            "checkpoint_id": step.checkpoint_id, "message_uuid": step.message_uuid, "seq": step.seq,
            "result_seq": step.result_seq, "mcp_server": step.mcp_server,
        }),
    }  # fmt: skip


def _prompt_tokens(reply: Reply) -> int | None:
    """Of ATIF: cached tokens are part of the prompt."""
    parts = (reply.input_tokens, reply.cache_read_tokens, reply.cache_creation_tokens)
    return None if all(p is None for p in parts) else sum(p or 0 for p in parts)


def _metrics(reply: Reply) -> dict[str, Any] | None:
    if reply.total_tokens is None:
        return None
    return compact({
        "prompt_tokens": _prompt_tokens(reply), "completion_tokens": reply.output_tokens,
        "cached_tokens": reply.cache_read_tokens, "cost_usd": reply.cost_usd,
        "extra": compact({
            "input_tokens": reply.input_tokens, "cache_creation_tokens": reply.cache_creation_tokens,
            "cache_creation_1h_tokens": reply.cache_creation_1h_tokens, "reasoning_tokens": reply.reasoning_tokens,
        }),
    })  # fmt: skip


def _total(values: Sequence[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def _final(trajectory: Trajectory, steps: int) -> dict[str, Any]:
    replies = trajectory.replies
    return compact({
        "total_prompt_tokens": _total([_prompt_tokens(r) for r in replies]),
        "total_completion_tokens": _total([r.output_tokens for r in replies]),
        "total_cached_tokens": _total([r.cache_read_tokens for r in replies]),
        "total_cost_usd": trajectory.cost_usd,
        "total_steps": steps,
        "extra": compact({"llm_calls": trajectory.llm_calls, "total_tokens": trajectory.total_tokens}),
    })  # fmt: skip


def _rest(trajectory: Trajectory) -> dict[str, Any]:
    from sessionbank.trajectory.jsonl import plain

    return compact({
        "version": trajectory.version, "task": plain(trajectory.task), "outcome": plain(trajectory.outcome),
        "timestamp": written_time(trajectory.timestamp), "wall_seconds": trajectory.wall_seconds,
        "active_seconds": trajectory.active_seconds, "metadata": dict(trajectory.metadata),
        "parent_tool_call_id": trajectory.parent_tool_call_id,
    })  # fmt: skip


# -- reading -----------------------------------------------------------------------------------------------------


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
                extra.get("kind") or ("prompt" if step["source"] == "user" else "system"), extra.get("role") or step["source"],
                text, moment(step.get("timestamp")), extra.get("message_uuid"), extra.get("checkpoint_id"),
                extra.get("seq"), extra.get("in_context"),
            )
        )  # fmt: skip

    def reply(self, step: Mapping[str, Any]) -> None:
        extra, metrics = _mapping(step.get("extra")), _mapping(step.get("metrics"))
        classes = _mapping(metrics.get("extra"))
        prompt, cached, out = metrics.get("prompt_tokens"), metrics.get("cached_tokens"), metrics.get("completion_tokens")
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
            cache_creation_1h_tokens=classes.get("cache_creation_1h_tokens"), cache_read_tokens=cached, output_tokens=out,
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
                    step=len(self.steps), tool_call_id=None, thought=reply.thought, action_name=RESPOND, action_input=None,
                    observation="\n".join(t for t in shown if t) or None, status=None, started_at=reply.timestamp,
                    duration_ms=None, tokens=tokens, agent_id=self.agent_id, parent_tool_call_id=self.parent,
                    message_uuid=reply.message_uuid, checkpoint_id=reply.checkpoint_id, seq=reply.seq, reply=reply.number,
                )
            )  # fmt: skip

    def call(self, call: Mapping[str, Any], answer: Mapping[str, Any] | None, of: tuple[Reply, int | None]) -> Step:
        from sessionbank.trajectory.jsonl import json_text

        reply, tokens = of
        extra = _mapping(call.get("extra"))
        server, name = extra.get("mcp_server"), str(call.get("function_name") or "unknown")
        shown = None if answer is None else _text(answer.get("content"))
        return Step(
            step=len(self.steps), tool_call_id=call.get("tool_call_id"), thought=reply.thought,
            action_name=name.removeprefix(f"mcp__{server}__") if server else name,
            action_input=json_text(call.get("arguments")), observation=shown,
            status=extra.get("status") or ("no_result" if answer is None else None),
            started_at=moment(extra.get("called_at")) or reply.timestamp, duration_ms=extra.get("duration_ms"), tokens=tokens,
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
            parts.append(part["text"] if isinstance(part.get("text"), str) else f"[{part.get('type')}: {source.get('media_type')}]")
    return "\n".join(parts)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


