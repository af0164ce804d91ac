"""The input files of a team's analysis, made from a team: objective, configuration, outcome, metrics, critical moments,
compressed trajectories, interactions, and the practices that detectors found. And what outputs may refer to, read back.

Everything is computed; file names are made of encoded ids. The folder itself is `workspace`'s business.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.learning.detectors import PRACTICES, detect
from sessionbank.learning.experience import TeamOutcome
from sessionbank.learning.filenames import file_stem
from sessionbank.learning.readback import Facts
from sessionbank.team.activity import links
from sessionbank.team.model import Interaction, Team, TeamStep
from sessionbank.team.patterns import ANY, conformance

if TYPE_CHECKING:
    from sessionbank.team.compress import CompressionConfig
    from sessionbank.team.score import ScoreConfig

LONGEST = 20_000  # characters of an interaction's content that are written; the rest is counted


def team_files(
    team: Team, *, compression: CompressionConfig | None = None, scoring: ScoreConfig | None = None
) -> dict[str, bytes]:
    """The files of ``input/`` by path. Same team, same bytes."""
    from sessionbank.team.compress import compress
    from sessionbank.team.metrics import metrics

    small = compress(team, compression)
    edges = [edge_record(team, e) for e in team.interaction_list]
    timed = sorted(edges, key=lambda e: (e["timestamp"] is None, e["timestamp"] or "", edges.index(e)))
    files: dict[str, Any] = {
        "objective.md": _objective(team),
        "team-config.json": _config(team),
        "outcome.json": _outcome(team),
        "structural-metrics.json": metrics(team).to_dict(),
        "critical-moments.json": _moments(team, scoring),
        "detected-practices.json": [{**asdict(d), **d.words._asdict()} for d in detect(team)],
        "compression.json": small.stats(),
        "interactions/graph.json": {"interactions": edges},
        "interactions/timeline.json": timed,
    }
    entries: list[Any] = small.entries.to_dict("records")
    for agent in agents(team):
        mine = [e for e in entries if e["agent_id"] == agent]
        files[f"trajectories/{file_stem(agent)}.json"] = _trajectory(team, agent, mine)
    return {n: v.encode("utf-8", "replace") if isinstance(v, str) else _json(v) for n, v in files.items()}


def agents(team: Team) -> dict[str, str]:
    """Agents of the team and their role (its own id without one). Agents that only edges name are left out."""
    roles = {m.agent_id: m.role or m.agent_type or m.agent_id for m in team.member_list}
    return {**roles, **{a: a for a in team.step_lists if a not in roles}}


def outcome_of(team: Team) -> TeamOutcome:
    """How the team's run ended, as the team says it."""
    return TeamOutcome.of(team.outcome, reason=team.outcome_reason)


def edge_record(team: Team, edge: Interaction) -> dict[str, Any]:
    """An interaction as graph.json has it. `step_index`: number of the member's step, missing where none is linked."""
    where = _linked(team)
    return {
        "id": edge.interaction_id,
        "type": edge.type,
        "subtype": edge.subtype,
        "from": {
            "agent_id": edge.from_agent,
            "role": edge.from_role,
            "step_index": where.get((edge.interaction_id, 0)),
        },
        "to": {
            "agent_id": edge.to_agent,
            "role": edge.to_role,
            "step_index": where.get((edge.interaction_id, 1)),
        },
        "content": None if edge.content is None else edge.content[:LONGEST],
        "content_chars": None if edge.content is None else len(edge.content),
        "channel": edge.channel,
        "signal": edge.signal,
        "timestamp": edge.timestamp.isoformat() if edge.timestamp else None,
        "latency_ms": edge.latency_ms,
        "ok": edge.ok,
        "was_expected": edge.was_expected,
        "is_inferred": edge.is_inferred,
        "session_id": edge.session_id,
        "message_uuid": edge.message_uuid,
        "tool_call_id": edge.tool_call_id,
    }


_LINKS: list[tuple[Team, dict[tuple[str, int], int]]] = []  # of the team that was asked for last


def _linked(team: Team) -> dict[tuple[str, int], int]:
    if not _LINKS or _LINKS[0][0] is not team:
        found = links(team)
        by_id = {e.interaction_id: e for e in team.interaction_list}
        numbers = {}
        for side, places in ((0, found.sent_from), (1, found.received_at)):
            for key, at in places.items():
                agent = by_id[key].from_agent if side == 0 else by_id[key].to_agent
                numbers[key, side] = team.step_lists[agent][at].step
        _LINKS[:] = [(team, numbers)]
    return _LINKS[0][1]


def _objective(team: Team) -> str:
    lines = ["# Objective", "", team.objective or "(not known)", ""]
    lines += [f"- {name}: {value or 'not known'}" for name, value in (
        ("Domain", team.domain), ("Complexity", team.complexity), ("Topology", team.topology),
    )]  # fmt: skip
    return "\n".join(lines) + "\n"


def _config(team: Team) -> dict[str, Any]:
    roles = agents(team)
    members = {m.agent_id: m for m in team.member_list}
    listed = []
    for agent, role in roles.items():
        member = members.get(agent)
        steps = team.step_lists.get(agent)
        listed.append({
            "agent_id": agent, "role": role, "agent_type": member.agent_type if member else None,
            "model": member.model if member else None, "session_id": member.session_id if member else None,
            "is_lead": bool(member and member.is_lead), "objective": member.objective if member else None,
            "steps": len(steps) if steps is not None else (member.steps if member else None),
            "tokens": member.tokens if member else None, "outcome": member.outcome if member else None,
            "trajectory": f"trajectories/{file_stem(agent)}.json",
        })  # fmt: skip
    return {
        "team_id": team.id, "team_name": team.name, "template_name": team.template, "topology_type": team.topology,
        "enforcement": team.enforcement, "domain": team.domain, "complexity": team.complexity,
        "session_ids": list(team.session_ids), "members": listed, "expected_patterns": _expected(team),
    }  # fmt: skip


def _expected(team: Team) -> list[dict[str, Any]]:
    """Declared patterns with how many interactions followed them, and how many there were between the same roles that
    none allows. Without a declaration, what the edges themselves call expected; empty where nothing does.
    """
    if not team.expected_patterns:
        return _called_expected(team)
    rows = conformance(team).to_dict("records")
    others: Counter[tuple[Any, Any]] = Counter()
    for row in rows:
        if row["status"] == "undeclared_used":
            others[row["from_role"], row["to_role"]] += int(row["uses"])
    found = []
    for row in rows:
        if row["status"] == "undeclared_used":
            continue
        told = {k: row[k] if isinstance(row[k], str) else None for k in ("type", "channel", "signal")}
        what = " ".join(v for v in (told["type"], told["signal"]) if v) or row["rule"].replace("_", " ")
        one, other = row["from_role"], row["to_role"]
        found.append({
            "name": f"{what} {'any role' if one == ANY else one} to {'any role' if other == ANY else other}",
            "rule": row["rule"], **told, "from_role": one, "to_role": other, "count": int(row["uses"]),
            "others": others[one, other],
        })  # fmt: skip
    return found


def _called_expected(team: Team) -> list[dict[str, Any]]:
    found: dict[tuple[str, str, str], int] = Counter()
    for edge in team.interaction_list:
        if edge.was_expected:
            found[edge.type, edge.from_role or edge.from_agent, edge.to_role or edge.to_agent] += 1
    return [
        {"name": f"{kind} {one} to {other}", "rule": None, "type": kind, "channel": None, "signal": None,
         "from_role": one, "to_role": other, "count": number, "others": 0}
        for (kind, one, other), number in sorted(found.items())
    ]  # fmt: skip


def _outcome(team: Team) -> dict[str, Any]:
    members = [{"agent_id": m.agent_id, "role": m.role, "outcome": m.outcome} for m in team.member_list]
    return {**outcome_of(team).model_dump(mode="json"), "members": members}


def _moments(team: Team, config: ScoreConfig | None) -> dict[str, Any]:
    """Steps and interactions with their scores; those that are critical once more by themselves."""
    from sessionbank.team.score import INTERACTION_PARTS, STEP_PARTS, score

    scored = score(team, config)
    roles = agents(team)
    steps = [
        {
            "agent_id": row["agent_id"], "role": roles.get(row["agent_id"]), "step_index": int(row["step"]),
            "scores": {name: _number(row[name]) for name in (*STEP_PARTS, "total")}, "reason": row["reason"],
        }
        for row in scored.critical_steps.to_dict("records")
    ]  # fmt: skip
    edges = [
        {
            "interaction_id": row["interaction_id"], "is_critical": bool(row["is_critical"]),
            "scores": {name: _number(row[name]) for name in (*INTERACTION_PARTS, "quality", "total")},
            "reason": row["reason"],
        }
        for row in scored.interactions.sort_values("rank").to_dict("records")
    ]  # fmt: skip
    return {
        "critical_steps": steps, "critical_interactions": [e for e in edges if e["is_critical"]],
        "interactions": edges, "total_steps": len(scored.steps), "critical_ratio": scored.critical_ratio,
    }  # fmt: skip


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _trajectory(team: Team, agent: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    steps = {s.step: s for s in team.step_lists.get(agent, ())}
    out = []
    for entry in entries:
        numbers = json.loads(entry["steps"])
        whole = [_step(steps[n]) for n in numbers if n in steps and len(numbers) == 1]
        out.append({
            "kind": entry["kind"], "first_step": int(entry["first_step"]), "last_step": int(entry["last_step"]),
            "step_count": int(entry["step_count"]), "text": entry["text"], **(whole[0] if whole else {}),
        })  # fmt: skip
    return {
        "agent_id": agent, "role": agents(team)[agent], "step_numbers": list(steps), "entries": out,
        "failed_steps": [n for n, s in steps.items() if s.status == "error"],
    }  # fmt: skip


def _step(step: TeamStep) -> dict[str, Any]:
    return {
        "step_index": step.step, "action_name": step.action_name, "status": step.status,
        "started_at": step.started_at.isoformat() if step.started_at else None, "duration_ms": step.duration_ms,
        "interaction_ids": list(step.interaction_ids), "session_id": step.session_id,
        "message_uuid": step.message_uuid, "tool_call_id": step.tool_call_id,
    }  # fmt: skip


def _json(value: Any) -> bytes:
    text = json.dumps(value, indent=1, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace") + b"\n"


# ---- read back --------------------------------------------------------------------------------------------------


def read_input(source: Path | Mapping[str, bytes]) -> dict[str, Any]:
    """The JSON files of ``input/`` (a folder, or files by path), by name without suffix; trajectories by agent id under
    ``trajectories``.
    """
    if isinstance(source, Path):
        source = {p.relative_to(source).as_posix(): p.read_bytes() for p in sorted(source.rglob("*.json"))}
    found: dict[str, Any] = {"trajectories": {}}
    for name, data in sorted(source.items()):
        if name.startswith("trajectories/"):
            value = json.loads(data)
            found["trajectories"][value["agent_id"]] = value
        elif name.endswith(".json"):
            found[name.rpartition("/")[2].removesuffix(".json")] = json.loads(data)
    return found


def facts(read: Mapping[str, Any]) -> Facts:
    """What outputs may refer to, of `read_input`."""
    return Facts(
        roles={m["agent_id"]: m["role"] for m in read["team-config"]["members"]},
        steps={a: frozenset(t["step_numbers"]) for a, t in read["trajectories"].items()},
        interactions={e["id"]: e for e in read["graph"]["interactions"]},
    )


__all__ = ["PRACTICES", "agents", "edge_record", "facts", "outcome_of", "read_input", "team_files"]
