"""What a team was meant to do: declared patterns between roles, which edges they allow, and how far the two agree.

Patterns come from a `team.yaml` (`template`) or a run file (`run_file`). An edge that a pattern allows is expected;
one that none allows is emergent; one that is not between two agents (the task board, the harness) is not judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.team.model import EVERYONE, NOT_AGENTS, Interaction, Team

if TYPE_CHECKING:
    import pandas as pd

ANY = "*"
RULES = ("peer_route", "subscription", "spawn_rule", "companion", "pattern")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One declared way from one role to another.

    peer_route: any edge, or one of that `signal`. subscription: an edge with that `signal`, on that `channel` where it
    names one. spawn_rule: any edge from parent to child, and any but a spawn back. companion: any edge, both ways.
    pattern (of a run file): whatever `type`, `channel` and `signal` leave open.

    Example:
        >>> told = {
        ...     "objective": "Ship it",
        ...     "members": [{"agent_id": "lead", "role": "lead", "is_lead": True, "steps": [{"action_name": "Read"}]}],
        ...     "expected_patterns": [{"type": "delegation", "from_role": "lead", "to_role": "dev"}],
        ... }
        >>> sb.team.from_input(told).expected_patterns
        (Pattern(rule='pattern', from_role='lead', to_role='dev', type='delegation', channel=None, signal=None),)
    """

    rule: str  # one of RULES
    from_role: str  # ANY: every role may emit
    to_role: str
    type: str | None = None
    channel: str | None = None
    signal: str | None = None

    def allows(self, edge: Interaction, source: str, target: str) -> bool:
        """Whether it allows an edge between two roles."""
        there = self._is(self.from_role, source) and self._is(self.to_role, target)
        back = self._is(self.from_role, target) and self._is(self.to_role, source)
        if self.rule == "spawn_rule":
            return there or (back and edge.type != "spawn")
        if self.rule == "companion":
            return there or back
        if not there:
            return False
        if self.rule == "subscription":
            return _same(self.signal, edge.signal) and (
                edge.channel is None or _same(self.channel, edge.channel)
            )
        if self.rule == "peer_route":
            return self.signal is None or _same(self.signal, edge.signal)
        return (
            (self.type is None or self.type == edge.type)
            and (self.channel is None or _same(self.channel, edge.channel))
            and (self.signal is None or _same(self.signal, edge.signal))
        )

    @staticmethod
    def _is(declared: str, role: str) -> bool:
        return declared in (ANY, role)


def signal_name(value: str) -> str:
    """A signal as templates write it: capitals, digits and underscores."""
    return re.sub(r"[^A-Z0-9]+", "_", value.upper()).strip("_") or "SIGNAL"


def role_name(value: str) -> str:
    """A role as templates write it: letters, digits, hyphen and underscore, not starting with one of these two."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", value).strip("-_") or "role"


def _same(declared: str | None, seen: str | None) -> bool:
    return declared is not None and seen is not None and signal_name(declared) == signal_name(seen)


def declared_roles(team: Team, roles: Iterable[str], root: str | None = None) -> dict[str, str]:
    """Agent id -> the declared role that it has: by role, agent id, agent type, or these without a number at the end.

    The lead of a team has the `root` role where nothing else says so. Agents without a declared role are not in it.
    """
    wanted = list(roles)
    known = {role_name(r).lower(): r for r in wanted} | {r: r for r in wanted}
    found = {}
    for member in team.member_list:
        names = [n for n in (member.role, member.agent_id, member.agent_type) if n]
        names += [re.sub(r"[-_ ]?\d+$", "", n) for n in names]
        match = next(
            (
                known.get(n) or known.get(role_name(n).lower())
                for n in names
                if n in known or role_name(n).lower() in known
            ),
            None,
        )
        if match is None and member.is_lead:
            match = root
        if match is not None:
            found[member.agent_id] = match
    return found


def judged(team: Team, patterns: Iterable[Pattern], roles: Mapping[str, str]) -> Team:
    """The team with `was_expected` on its edges and `is_declared` on its members."""
    declared = tuple(patterns)
    judge = _Judge(team, declared, roles)
    return replace(
        team,
        interaction_list=tuple(replace(i, was_expected=judge.expects(i)) for i in team.interaction_list),
        member_list=tuple(replace(m, is_declared=m.agent_id in roles) for m in team.member_list),
        expected_patterns=declared,
        declared_roles=dict(roles),
    )


class _Judge:
    """Which patterns allow an edge of a team; worked out once for each kind of edge."""

    def __init__(self, team: Team, patterns: tuple[Pattern, ...], roles: Mapping[str, str]) -> None:
        self.patterns, self.roles = patterns, roles
        self.agents = [m.agent_id for m in team.member_list]
        self.seen: dict[tuple[str | None, ...], tuple[Pattern, ...]] = {}

    def allowing(self, edge: Interaction, target: str) -> tuple[Pattern, ...]:
        """The patterns that allow an edge to one agent; none where either end has no declared role."""
        source, other = self.roles.get(edge.from_agent), self.roles.get(target)
        if source is None or other is None:
            return ()
        key = (source, other, edge.type, edge.channel, edge.signal)
        found = self.seen.get(key)
        if found is None:
            found = self.seen[key] = tuple(p for p in self.patterns if p.allows(edge, source, other))
        return found

    def targets(self, edge: Interaction) -> list[str] | None:
        """The agents that an edge reaches; None where it is not between agents, and so not judged."""
        if edge.from_agent in NOT_AGENTS:
            return None
        if edge.to_agent == EVERYONE:
            return None if edge.subtype in _HARNESS else [a for a in self.agents if a != edge.from_agent]
        return None if edge.to_agent in NOT_AGENTS else [edge.to_agent]

    def expects(self, edge: Interaction) -> bool | None:
        """Whether an edge is expected: at every agent that it reaches."""
        targets = self.targets(edge)
        return None if targets is None else bool(targets) and all(self.allowing(edge, t) for t in targets)


_HARNESS = frozenset({"team_create", "team_delete", "task_create", "task_update"})


def conformance(team: Team) -> pd.DataFrame:
    """Declared against used: one row a declared pattern, then one a kind of edge that none allows.

    Columns: status (declared_used, declared_unused, undeclared_used), rule, type, from_role, to_role, channel, signal,
    uses (edges; one that several patterns allow counts at each), interaction_ids (JSON list). Raises `QueryError`
    where the team was not held against a template, or its run file declares no patterns.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> template = {
        ...     "name": "checkout", "version": 1, "roles": ["lead", "reviewer"],
        ...     "topology": {"root": {"role": "lead"}, "spawn_rules": {"lead": ["reviewer"]}},
        ... }
        >>> held = sb.team.apply_template(run, template)
        >>> sb.team.conformance(held)[["status", "from_role", "to_role"]].iloc[0].tolist()
        ['declared_used', 'lead', 'reviewer']
    """
    import pandas as pd

    declared, roles = team.expected_patterns, team.declared_roles
    if not declared:
        raise QueryError(
            "nothing is declared for this team: hold it against a template with team.apply_template"
        )
    judge = _Judge(team, declared, roles)
    uses: dict[Pattern, list[str]] = {p: [] for p in declared}
    emergent: dict[tuple[str | None, ...], list[str]] = {}
    for edge in team.interaction_list:
        targets = judge.targets(edge)
        if targets is None:
            continue
        if judge.expects(edge):
            for pattern in dict.fromkeys(p for t in targets for p in judge.allowing(edge, t)):
                uses[pattern].append(edge.interaction_id)
        else:
            source = roles.get(edge.from_agent) or edge.from_role or edge.from_agent
            target = roles.get(edge.to_agent) or edge.to_role or edge.to_agent
            emergent.setdefault((edge.type, source, target, edge.channel, edge.signal), []).append(
                edge.interaction_id
            )
    rows: list[tuple[Any, ...]] = [
        (
            "declared_used" if ids else "declared_unused", p.rule, p.type, p.from_role, p.to_role, p.channel, p.signal,
            len(ids), json.dumps(ids),
        )
        for p, ids in uses.items()
    ]  # fmt: skip
    order = sorted(emergent.items(), key=lambda e: tuple(v or "" for v in e[0]))
    rows += [("undeclared_used", None, *key, len(ids), json.dumps(ids)) for key, ids in order]
    frame = pd.DataFrame(rows, columns=list(CONFORMANCE))
    return frame.astype({c: "Int64" if c == "uses" else "str" for c in CONFORMANCE})


CONFORMANCE = (
    "status", "rule", "type", "from_role", "to_role", "channel", "signal", "uses", "interaction_ids",
)  # fmt: skip
