"""A session, or one checkpoint's window of it, as a trajectory; its subagents as trajectories inside.

Steps follow API calls: the text and thinking of a reply are the thought of each of its tool calls, and a reply without
a call is a step `respond`. Nothing is judged here: an outcome strategy is handed in, or taken by name from `outcome`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from sessionbank.errors import NotFoundError, QueryError
from sessionbank.records import ACTIVE_GAP_S, Message, Session, Subagent, TokenUsage, ToolCall
from sessionbank.trajectory.domain import infer_domain
from sessionbank.trajectory.model import RESPOND, Outcome, Reply, Step, Task, Trajectory
from sessionbank.trajectory.turns import Draft, gather, reply_of

Judge = Callable[[Session], Outcome]


def synthesize(
    session: Session, *, domain: str | None = None, outcome: str | Judge | None = "evidence",
    checkpoint_id: str | None = None, repository: str | None = None, commits: Any = None, images: bool = False,
) -> Trajectory:  # fmt: skip
    """The trajectory of a session, or of what one checkpoint's window of it holds.

    `domain` overrides what the touched files tell. `outcome` names a strategy (see `outcome.NAMES`), or is a callable
    ``session -> Outcome``, or None for no judgement; of a window, only the window is judged. `commits` are facts about
    commits (`outcome.CommitFacts`) where the session's bank is not to be asked for them. `repository` is kept in the
    task's context. With `images` turns and steps hold pictures as data URLs, read from the stored lines, in place of
    their media types. Rows inherited from another session are left out. Raises `NotFoundError` where the session has no
    such checkpoint, `QueryError` for an unknown strategy. From DESIGN section 8.
    """
    if not isinstance(session, Session):
        raise QueryError(
            f"synthesize takes a Session, not {type(session).__name__}; bank.get_by_session_id(id) gives one"
        )
    if checkpoint_id is not None and all(r.checkpoint_id != checkpoint_id for r in session.records):
        raise NotFoundError(f"session {session.session_id} is not in checkpoint {checkpoint_id!r}")
    if images:
        from sessionbank.trajectory.pictures import with_bytes

        session = with_bytes(session)
    first = checkpoint_id or (session.records[0].checkpoint_id if session.records else "unknown")
    made = _main(session, f"entire-{first}-{session.session_id}", checkpoint_id)
    made = replace(made, task=_task(session, made, domain, repository, checkpoint_id))
    made = replace(made, subagents=_nested(session, made, checkpoint_id))
    if outcome is None:
        return made
    # strategies are many, and not everyone asks for one
    from sessionbank.trajectory.outcome import session_outcome

    facts = session.commit_facts if commits is None else commits
    return made.with_outcome(session_outcome(_window(session, checkpoint_id), outcome, commits=facts))


def _window(session: Session, checkpoint_id: str | None) -> Session:
    """The session as if it had only this checkpoint."""
    if checkpoint_id is None:
        return session
    whole = session.transcript
    part = replace(
        whole,
        messages=tuple(m for m in whole.messages if m.checkpoint_id == checkpoint_id),
        tool_calls=tuple(c for c in whole.tool_calls if c.checkpoint_id == checkpoint_id),
        usage=tuple(u for u in whole.usage if u.checkpoint_id == checkpoint_id),
    )
    return Session(
        session.session_id,
        tuple(r for r in session.records if r.checkpoint_id == checkpoint_id),
        lambda _: part,
        session.reach,
    )


# -- one agent's work ------------------------------------------------------------------------------------------


def _main(session: Session, identity: str, checkpoint_id: str | None) -> Trajectory:
    messages = [m for m in session.messages if not m.is_subagent]
    calls = [c for c in session.tool_calls if not c.is_subagent]
    usage = [u for u in session.usage if not u.is_subagent]
    spoken = [m for m in session.messages if m.inherited_from is None and _in(m, checkpoint_id)]
    images = _images(session.messages)
    made = _agent(session, identity, _Work(messages, calls, usage, images), checkpoint_id)
    times = [m.timestamp for m in spoken if m.timestamp is not None]
    wall, active = _seconds(times)  # a session lasts as long as its subagents do, as in the sessions table
    return replace(
        made, wall_seconds=wall, active_seconds=active, timestamp=min(times) if times else None,
        metadata=_metadata(session, checkpoint_id),
    )  # fmt: skip


class _Work:
    """The rows of one agent."""

    def __init__(
        self, messages: Sequence[Message], calls: Sequence[ToolCall], usage: Sequence[TokenUsage],
        images: Mapping[int, Any],
    ) -> None:  # fmt: skip
        self.messages = messages
        self.calls = calls
        self.images = images
        here = {m.seq for m in messages}  # an agent that was started twice has two groups of messages
        self.usage = {
            u.message_id: u for u in usage if u.inherited_from is None and (u.seq is None or u.seq in here)
        }


def _agent(session: Session, identity: str, work: _Work, checkpoint_id: str | None) -> Trajectory:
    drafts, after = gather(work.messages, work.calls)
    replies: list[Reply] = []
    steps: list[Step] = []
    for draft in drafts:
        if not _in(draft.first, checkpoint_id):
            continue  # a reply belongs to the window of its first line, with all its calls
        reply = reply_of(draft, len(replies), work.usage.get(draft.first.message_id or ""))
        replies.append(reply)
        steps += _steps(draft, reply, len(steps), work.images)
    counted = [u for u in work.usage.values() if checkpoint_id is None or u.checkpoint_id == checkpoint_id]
    times = [
        m.timestamp
        for m in work.messages
        if m.timestamp and m.inherited_from is None and _in(m, checkpoint_id)
    ]
    wall, active = _seconds(times)
    costs = [u.cost_usd for u in counted if u.cost_usd is not None]
    return Trajectory(
        id=identity,
        session_id=session.session_id,
        task=Task(None),
        own_steps=tuple(steps),
        replies=tuple(replies),
        after=tuple(t for t in after if checkpoint_id is None or t.checkpoint_id == checkpoint_id),
        agent=session.agent,
        timestamp=min(times) if times else None,
        llm_calls=len(counted) if work.messages else None,
        total_tokens=sum(u.total_tokens or 0 for u in counted) if work.messages else None,
        cost_usd=sum(costs) if costs else None,
        wall_seconds=wall,
        active_seconds=active,
    )


def _in(row: Message, checkpoint_id: str | None) -> bool:
    return checkpoint_id is None or row.checkpoint_id == checkpoint_id


def _steps(draft: Draft, reply: Reply, at: int, images: Mapping[int, Any]) -> Iterator[Step]:
    thought, tokens = reply.thought, reply.total_tokens
    for call in draft.calls:
        shown = (
            images.get(call.result_seq, {}).get(call.tool_call_id, ()) if call.result_seq is not None else ()
        )
        yield Step(
            step=at, tool_call_id=call.tool_call_id, thought=thought, action_name=call.tool_name,
            action_input=call.input, observation=call.result_text, status=call.status, started_at=call.called_at,
            duration_ms=call.duration_ms, tokens=tokens, agent_id=call.agent_id,
            parent_tool_call_id=call.parent_tool_call_id, message_uuid=call.message_uuid,
            checkpoint_id=call.checkpoint_id, seq=call.seq, result_seq=call.result_seq, reply=reply.number,
            mcp_server=call.mcp_server, images=tuple(shown),
        )  # fmt: skip
        at += 1
        tokens = None if tokens is None else 0
    if not draft.calls:
        first = draft.first
        yield Step(
            step=at, tool_call_id=None, thought=thought, action_name=RESPOND, action_input=None, observation=None,
            status=None, started_at=reply.timestamp, duration_ms=None, tokens=tokens, agent_id=first.agent_id,
            parent_tool_call_id=first.parent_tool_call_id, message_uuid=first.uuid, checkpoint_id=first.checkpoint_id,
            seq=first.seq, reply=reply.number,
        )  # fmt: skip


def _images(messages: Sequence[Message]) -> dict[int, dict[str, list[str]]]:
    """Media types of pictures in tool results, by the result's message and call."""
    found: dict[int, dict[str, list[str]]] = {}
    for message in messages:
        for block in message.blocks:
            if block.type == "image" and block.tool_call_id:
                found.setdefault(message.seq, {}).setdefault(block.tool_call_id, []).append(
                    block.media_type or "image"
                )
    return found


def _seconds(times: Sequence[datetime]) -> tuple[float | None, float | None]:
    """Span, and the sum of gaps with each capped."""
    if not times:
        return None, None
    ordered = sorted(times)
    gaps = [(b - a).total_seconds() for a, b in pairwise(ordered)]
    return (ordered[-1] - ordered[0]).total_seconds(), sum(min(g, ACTIVE_GAP_S) for g in gaps)


# -- subagents -------------------------------------------------------------------------------------------------


def _nested(session: Session, parent: Trajectory, checkpoint_id: str | None) -> tuple[Trajectory, ...]:
    """The subagents as a tree: each below the agent whose call started it; below the main agent where none is known."""
    images = _images(session.messages)
    flat = []
    for number, agent in enumerate(session.subagents):
        made = _subagent(session, agent, f"{parent.id}-subagent-{number}", (images, checkpoint_id))
        if made.own_steps or made.after or made.replies:
            flat.append(replace(made, task=replace(made.task, domain=parent.task.domain)))
    owner = {s.tool_call_id: t.id for t in flat for s in t.own_steps if s.tool_call_id}
    above = {t.id: owner.get(t.parent_tool_call_id or "", parent.id) for t in flat}
    for made in flat:  # damaged ids may make a ring of agents that started each other
        seen, at = {made.id}, above[made.id]
        while at in above and at not in seen:
            seen.add(at)
            at = above[at]
        if at in seen:
            above[made.id] = parent.id
    below: dict[str, list[Trajectory]] = {}
    for made in flat:
        below.setdefault(above[made.id], []).append(made)
    return _tree(parent.id, below)


def _tree(identity: str, below: Mapping[str, list[Trajectory]]) -> tuple[Trajectory, ...]:
    return tuple(replace(t, subagents=_tree(t.id, below)) for t in below.get(identity, ()))


def _subagent(
    session: Session, agent: Subagent, identity: str, rest: tuple[Mapping[int, Any], str | None]
) -> Trajectory:
    images, checkpoint_id = rest
    made = _agent(
        session, identity, _Work(agent.messages, agent.tool_calls, agent.usage, images), checkpoint_id
    )
    asked = next((c for c in session.tool_calls if c.tool_call_id == agent.parent_tool_call_id), None)
    return replace(
        made, task=Task(_asked(asked) or _told(made)), agent_id=agent.agent_id, agent_type=agent.agent_type,
        parent_tool_call_id=agent.parent_tool_call_id,
    )  # fmt: skip


def _asked(call: ToolCall | None) -> str | None:
    try:
        given = json.loads(call.input) if call and call.input else None
    except ValueError:
        return None
    said = given.get("prompt") if isinstance(given, dict) else None
    return said if isinstance(said, str) and said else None


# -- task and metadata -----------------------------------------------------------------------------------------


def _told(made: Trajectory, *, kinds: frozenset[str] | None = None) -> str | None:
    """The first thing that was said to the agent, of those kinds."""
    turns = (t for r in made.replies for t in r.before)
    return next(
        (t.text for t in (*turns, *made.after) if t.text and (kinds is None or t.kind in kinds)), None
    )


def _task(
    session: Session, made: Trajectory, domain: str | None, repository: str | None, checkpoint_id: str | None
) -> Task:
    records = [r for r in session.records if checkpoint_id is None or r.checkpoint_id == checkpoint_id]
    summary = next((r.summary for r in reversed(records) if r.summary is not None), None)
    description = (
        summary.intent if summary and summary.intent else _told(made, kinds=frozenset({"prompt", "teammate"}))
    )
    touched = sorted({f for r in records for f in r.files_touched or ()}) or _edited(made)
    context: dict[str, Any] = {
        "branch": next((r.branch for r in records if r.branch), None),
        "files": touched or None,
        "cwd": session.cwd,
        "repository": repository,
    }
    found = infer_domain(touched)
    if found.shares:
        context["domain_shares"] = found.shares
    return Task(description, domain or found.domain, {k: v for k, v in context.items() if v is not None})


_EDITING = frozenset({
    "Edit", "MultiEdit", "Write", "NotebookEdit", "write_file", "replace", "edit", "write", "create", "apply_patch",
    "Create", "str_replace", "fs_write",
})  # fmt: skip


def _edited(made: Trajectory) -> list[str]:
    """Files that its own steps edited; for sessions whose records name none."""
    paths = set()
    for step in made.own_steps:
        if step.action_name in _EDITING and step.status == "ok" and step.action_input:
            try:
                given = json.loads(step.action_input)
            except ValueError:
                continue
            path = given.get("file_path") or given.get("path") if isinstance(given, dict) else None
            if isinstance(path, str):
                paths.add(path)
    return sorted(paths)


def _metadata(session: Session, checkpoint_id: str | None) -> dict[str, Any]:
    records = [r for r in session.records if checkpoint_id is None or r.checkpoint_id == checkpoint_id]
    last = records[-1] if records else None
    share = next((r.attribution for r in reversed(records) if r.attribution is not None), None)
    found = {
        "source": "entire",
        "session": session.session_id,
        "checkpoints": list(dict.fromkeys(r.checkpoint_id for r in records)),
        "window": checkpoint_id,
        "branches": list(dict.fromkeys(r.branch for r in records if r.branch)),
        "agent_version": session.transcript.agent_version,
        "strategy": last.strategy if last else None,
        "cli_version": last.cli_version if last else None,
        "agent_label": last.agent_label if last else None,
        "commits": sorted({r.linked_commit_sha for r in records if r.linked_commit_sha}),
        "attribution": None if share is None else _plain(asdict(share)),
    }
    return {k: v for k, v in found.items() if v not in (None, [])}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v.isoformat() if isinstance(v, datetime) else v for k, v in values.items() if v is not None}
