"""A team from a run file: its steps as team steps, its tags as edges from a source step to a target step.

An edge leaves when its source step ends, or when that starts where the target's began in between (a call that waits for
its answer). It is received when the target step starts, or at once where that step was waiting for it. A tag whose
other side is missing is still an edge, and a diagnostic says which side.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.records import Diagnostic
from sessionbank.team.events import json_text, milliseconds
from sessionbank.team.model import Interaction, Member, Team, TeamStep
from sessionbank.team.patterns import Pattern, judged
from sessionbank.team.run_file import RunFile, RunMember, Tag, read_run_file

if TYPE_CHECKING:
    from sessionbank.team.template import Template


@dataclass(frozen=True, slots=True)
class _End:
    """One tag with the step that carries it."""

    agent: str
    at: int  # place of the step in the member's list
    tag: Tag


def from_input(source: str | Path | Mapping[str, Any], *, template: Template | None = None) -> Team:
    """The team of a run file: a path (JSON or YAML) or the document as a mapping.

    Edges come from the tags; their `from_step` and `to_step` are step numbers. Expected patterns of the file set
    `was_expected`, or those of a `template` that is given. Tags without their other side, and types that differ
    between the sides, are `problems`. Raises `FormatError` with all errors of the file and their places, and
    `NotFoundError` where there is no file. Format: `run-file.schema.json`, after TeamTrajectoryInput of the sources.
    """
    run = read_run_file(source)
    problems: list[Diagnostic] = []
    steps = {m.agent_id: _steps(run.team, m) for m in run.members}
    roles = {m.agent_id: m.role for m in run.members}
    edges, touched = _edges(run, steps, (roles, problems))
    for (agent, at), ids in touched.items():
        steps[agent][at] = replace(steps[agent][at], interaction_ids=tuple(ids))
    outcome = run.outcome
    team = Team(
        id=run.id or _identity(run),
        name=run.team,
        objective=run.objective,
        domain=run.domain,
        complexity=run.complexity,
        topology=run.topology,
        template=run.template,
        enforcement=run.enforcement,
        member_list=tuple(_member(run, m, steps[m.agent_id]) for m in run.members),
        interaction_list=tuple(edges),
        step_lists={agent: tuple(found) for agent, found in steps.items()},
        outcome=outcome.label if outcome else None,
        outcome_reason=outcome.reason if outcome else None,
        cost_usd=run.cost_usd,
        problems=tuple(problems),
    )
    if template is not None:
        from sessionbank.team.template import apply_template

        return apply_template(team, template)
    if run.expected_patterns is None:
        return team
    patterns = [
        Pattern("pattern", p.from_role, p.to_role, p.type, p.channel, p.signal) for p in run.expected_patterns
    ]
    return judged(team, patterns, roles)


def _identity(run: RunFile) -> str:
    """An id of what happened: the same team on the same objective another day is another run, a later verdict is not."""
    digest = hashlib.sha256("\0".join([run.team or "", run.objective]).encode("utf-8", "surrogatepass"))
    for member in run.members:  # one at a time, since a run may be large
        done = member.model_dump(exclude={"outcome"}, exclude_defaults=True)
        digest.update(json.dumps(done, sort_keys=True, default=str).encode())
    return f"run-{digest.hexdigest()[:12]}"


def _steps(team: str | None, member: RunMember) -> list[TeamStep]:
    found, number = [], -1
    for step in member.steps:
        number = number + 1 if step.step is None else max(step.step, number + 1)
        ended, duration = step.ended_at, step.duration_ms
        if ended is None and duration is not None and step.started_at is not None:
            ended = step.started_at + timedelta(milliseconds=duration)
        if (
            duration is None
            and ended is not None
            and step.started_at is not None
            and ended >= step.started_at
        ):
            duration = milliseconds(step.started_at, ended)
        found.append(TeamStep(
            team=team, agent_id=member.agent_id, step=number, tool_call_id=step.tool_call_id, thought=step.thought,
            action_name=step.action_name, action_input=json_text(step.action_input), observation=step.observation,
            status=step.status, started_at=step.started_at, ended_at=ended, duration_ms=duration, tokens=step.tokens,
            message_uuid=step.message_uuid, seq=number,
        ))  # fmt: skip
    return found


def _member(run: RunFile, member: RunMember, steps: list[TeamStep]) -> Member:
    tokens = [s.tokens for s in steps if s.tokens is not None]
    starts = [s.started_at for s in steps if s.started_at is not None]
    ends = [t for s in steps for t in (s.ended_at or s.started_at,) if t is not None]
    told = run.outcome.members.get(member.agent_id) if run.outcome else None
    return Member(
        run.team, member.agent_id, member.role, member.agent_type, member.model, None, len(steps),
        sum(s.status is not None or s.tool_call_id is not None for s in steps), sum(tokens) if tokens else None,
        member.outcome or told, objective=member.objective, is_lead=member.is_lead,
        started_at=min(starts, default=None), ended_at=max(ends, default=None),
    )  # fmt: skip


# -- tags to edges ---------------------------------------------------------------------------------------------------

Steps = Mapping[str, list[TeamStep]]
Touched = dict[tuple[str, int], list[str]]


def _edges(
    run: RunFile, steps: Steps, rest: tuple[Mapping[str, str], list[Diagnostic]]
) -> tuple[list[Interaction], Touched]:
    roles, problems = rest
    groups: dict[str, tuple[list[_End], list[_End]]] = {}
    for member in run.members:
        for at, step in enumerate(member.steps):
            for tag in step.interactions:
                ends = groups.setdefault(tag.interaction_id, ([], []))
                ends[0 if tag.step_role == "source" else 1].append(_End(member.agent_id, at, tag))
    found: list[tuple[datetime | None, int, Interaction]] = []
    touched: Touched = {}
    taken: set[str] = set(groups)
    for key, (sources, targets) in groups.items():
        for number, (source, target) in enumerate(_pairs(sources, targets)):
            identity = key
            while number and identity in taken:  # one source that several agents hear is several edges
                identity = f"{key}:{number + 1}" if identity == key else f"{identity}'"
            taken.add(identity)
            edge = _edge(identity, (source, target), (run.team, steps, roles))
            _tell(edge, (source, target), problems)
            found.append((edge.timestamp, len(found), edge))
            for end in (source, target):
                if end is not None:
                    ids = touched.setdefault((end.agent, end.at), [])
                    if identity not in ids:
                        ids.append(identity)
    last: datetime | None = None
    keyed = []
    for time, place, edge in found:  # an edge without a time stands after the one that the file has before it
        last = time or last
        keyed.append((last is not None, last.timestamp() if last else 0.0, place, edge))
    return [k[3] for k in sorted(keyed, key=lambda k: k[:3])], touched


def _pairs(sources: list[_End], targets: list[_End]) -> list[tuple[_End | None, _End | None]]:
    """Each target with the source that it names, else the first; then the sources that nobody received."""
    pairs: list[tuple[_End | None, _End | None]] = []
    used: set[int] = set()
    for target in targets:
        named = [
            s
            for s in sources
            if s.agent == target.tag.counterpart and s.tag.counterpart in (target.agent, "*")
        ]
        source = next((s for s in named if id(s) not in used), None) or next(iter(named or sources), None)
        if source is not None:
            used.add(id(source))
        pairs.append((source, target))
    return pairs + [(s, None) for s in sources if id(s) not in used]


def _edge(
    identity: str, ends: tuple[_End | None, _End | None], context: tuple[str | None, Steps, Mapping[str, str]]
) -> Interaction:
    (source, target), (team, steps, roles) = ends, context
    one = source or target
    assert one is not None  # _pairs gives no empty pair
    sender = source.agent if source else one.tag.counterpart
    receiver = target.agent if target else one.tag.counterpart
    left = steps[source.agent][source.at] if source else None
    met = steps[target.agent][target.at] if target else None
    sent = _sent(one.tag.interaction_type, left, met) if left else None
    return Interaction(
        interaction_id=identity, session_id=None, team=team, type=one.tag.interaction_type, subtype=None,
        from_agent=sender, from_role=roles.get(sender), from_step=left.seq if left else None,
        to_agent=receiver, to_role=roles.get(receiver), to_step=met.seq if met else None,
        content=_content(source, target, left),
        channel=one.tag.channel or (target.tag.channel if target else None),
        signal=one.tag.signal or (target.tag.signal if target else None),
        timestamp=sent or (met.started_at if met else None),
        latency_ms=milliseconds(sent, _received(sent, met)) if met else None,
        ok=next((e.tag.ok for e in (target, source) if e and e.tag.ok is not None), None),
        message_uuid=left.message_uuid if left else None, tool_call_id=left.tool_call_id if left else None,
        from_raw=target.tag.counterpart if target else None, to_raw=source.tag.counterpart if source else None,
    )  # fmt: skip


def _sent(kind: str, left: TeamStep, met: TeamStep | None) -> datetime | None:
    begin, end = left.started_at, left.ended_at
    if begin is None or end is None:
        return begin or end
    if kind == "result_return" or met is None or met.started_at is None or met.started_at >= end:
        return end
    if met.started_at >= begin:
        return begin  # a call that is still under way while the other works on it
    return end if _waits(met, end) else begin


def _received(sent: datetime | None, met: TeamStep) -> datetime | None:
    """When the target has it: at the start of its step, or within it where the step waited for it."""
    return sent if sent is not None and _waits(met, sent) else met.started_at


def _waits(met: TeamStep, sent: datetime) -> bool:
    return met.started_at is not None and met.ended_at is not None and met.started_at < sent <= met.ended_at


def _content(source: _End | None, target: _End | None, left: TeamStep | None) -> str | None:
    for end in (source, target):
        if end is not None and end.tag.content is not None:
            return end.tag.content
    if left is None:
        return None
    if left.action_name == "respond":
        return left.thought or left.observation
    return left.action_input or left.observation or left.thought


def _tell(edge: Interaction, ends: tuple[_End | None, _End | None], problems: list[Diagnostic]) -> None:
    source, target = ends
    label = json.dumps(edge.interaction_id[:80], ensure_ascii=False)
    if source is None or target is None:
        side = "source" if source is None else "target"
        problems.append(Diagnostic("warning", f"unlinked_{side}", f"interaction {label} has no {side} step"))
        return
    if source.tag.interaction_type != target.tag.interaction_type:
        kinds = f"{source.tag.interaction_type} at its source and {target.tag.interaction_type} at its target"
        text = f"interaction {label} is {kinds}"
        problems.append(Diagnostic("warning", "type_mismatch", text))
    if target.tag.counterpart != source.agent or source.tag.counterpart not in (target.agent, "*"):
        pair = f"{source.agent[:60]!r} and {target.agent[:60]!r}"
        text = f"interaction {label}: its steps, of {pair}, do not name each other"
        problems.append(Diagnostic("warning", "counterpart_mismatch", text))


__all__ = ["from_input"]
