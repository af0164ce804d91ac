"""The steps of each agent of a session, from the trajectories of the session, and the edges that touch them.

A step that an edge starts from or ends at carries its id: it is a boundary step. How replies become steps is told in
`sessionbank.trajectory`.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

from sessionbank.records import Session
from sessionbank.team.model import Interaction, TeamStep
from sessionbank.trajectory.model import Step
from sessionbank.trajectory.synthesis import synthesize

Steps = dict[str, list[TeamStep]]


def session_steps(session: Session, self_id: str) -> Steps:
    """Agent id -> its steps in file order. An agent that was started several times has one list."""
    found: Steps = {}
    for trajectory in synthesize(session, outcome=None).walk():
        agent = trajectory.agent_id or (
            f"agent-of-{trajectory.parent_tool_call_id}" if trajectory.parent_tool_call_id else self_id
        )
        found.setdefault(agent, []).extend(_step(s, agent, session.session_id) for s in trajectory.own_steps)
    for agent, steps in found.items():
        ordered = sorted(steps, key=lambda s: s.seq if s.seq is not None else -1)
        found[agent] = [replace(s, step=at) for at, s in enumerate(ordered)]
    return found


def _step(step: Step, agent: str, session_id: str) -> TeamStep:
    ended = None
    if step.started_at is not None and step.duration_ms is not None:
        ended = step.started_at + timedelta(milliseconds=step.duration_ms)
    return TeamStep(
        team=None, agent_id=agent, step=step.step, tool_call_id=step.tool_call_id, thought=step.thought,
        action_name=step.action_name, action_input=step.action_input, observation=step.observation, status=step.status,
        started_at=step.started_at, ended_at=ended, duration_ms=step.duration_ms, tokens=step.tokens,
        message_uuid=step.message_uuid, seq=step.seq, session_id=session_id,
    )  # fmt: skip


def linked(
    steps: Mapping[str, Iterable[TeamStep]], edges: Iterable[Interaction]
) -> dict[str, tuple[TeamStep, ...]]:
    """The steps with the ids of the edges that touch them.

    An edge leaves the step that holds its call, else the last step at or before `from_step`. It reaches the step that
    holds its call when its result comes back to the caller, else the first step after `to_step` (at it, where the
    receiver's own line is meant): what the receiver did on hearing it.
    """
    lists = {agent: list(found) for agent, found in steps.items()}
    places = {
        agent: [s.seq if s.seq is not None else s.step for s in found] for agent, found in lists.items()
    }
    calls = {
        (agent, s.tool_call_id): at
        for agent, found in lists.items()
        for at, s in enumerate(found)
        if s.tool_call_id
    }
    touched: dict[tuple[str, int], list[str]] = {}
    for edge in edges:
        source, target = _source(edge, places, calls), _target(edge, places, calls)
        for agent, at in ((edge.from_agent, source), (edge.to_agent, target)):
            if at is not None:
                ids = touched.setdefault((agent, at), [])
                if edge.interaction_id not in ids:
                    ids.append(edge.interaction_id)
    for (agent, at), ids in touched.items():
        old = lists[agent][at]
        lists[agent][at] = replace(old, interaction_ids=(*old.interaction_ids, *ids))
    return {agent: tuple(found) for agent, found in lists.items()}


Places = Mapping[str, list[int]]
Calls = Mapping[tuple[str, str], int]


def _source(edge: Interaction, places: Places, calls: Calls) -> int | None:
    call = (edge.from_agent, edge.tool_call_id or "")
    if edge.type != "result_return" and call in calls:
        return calls[call]
    if edge.from_step is None or edge.from_agent not in places:
        return None
    at = bisect.bisect_right(places[edge.from_agent], edge.from_step) - 1
    return at if at >= 0 else None


def _target(edge: Interaction, places: Places, calls: Calls) -> int | None:
    if edge.to_step is None or edge.to_agent not in places:
        return None
    if edge.type == "result_return" and edge.evidence not in ("task_notification", "task_output"):
        at = calls.get((edge.to_agent, edge.tool_call_id or ""))
        if at is not None:
            return at
    at = bisect.bisect_left(places[edge.to_agent], edge.to_step)
    return at if at < len(places[edge.to_agent]) else None
