"""Teams: who worked with whom, from sessions or a run file; metrics, compression and scores of a run.

The public names of the room. What reads files (pydantic, YAML) is imported when first called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.team.activity import member_time
from sessionbank.team.build import from_session, interaction_rows, member_rows, problem_rows
from sessionbank.team.compress import Compressed, CompressionConfig, compress
from sessionbank.team.critical_path import critical_path
from sessionbank.team.graph import edges_by_type, to_networkx
from sessionbank.team.loose import from_sessions
from sessionbank.team.metrics import TeamMetrics, handover_matrix, metrics
from sessionbank.team.model import Interaction, Member, Team, TeamStep
from sessionbank.team.patterns import Pattern, conformance
from sessionbank.team.reweigh import reweigh
from sessionbank.team.score import ScoreConfig, TeamScores, score
from sessionbank.team.sensitivity import sensitivity
from sessionbank.team.survival import frontier, survival, survival_totals
from sessionbank.team.validation import validate

if TYPE_CHECKING:
    from sessionbank.team.template import Template

__all__ = [
    "Compressed", "CompressionConfig", "Interaction", "Member", "Pattern", "ScoreConfig", "Team",
    "TeamMetrics", "TeamScores", "TeamStep", "apply_template", "compress", "conformance", "critical_path",
    "edges_by_type", "from_input", "from_session", "from_sessions", "frontier", "handover_matrix",
    "interaction_rows", "load_template", "member_rows", "member_time", "metrics", "problem_rows", "reweigh", "score",
    "sensitivity", "survival", "survival_totals", "to_networkx", "to_team_yaml", "validate",
]  # fmt: skip


def from_input(source: str | Path | Mapping[str, Any], *, template: Template | None = None) -> Team:
    """The team of a run file; see `run_edges.from_input`. Raises `FormatError` with all errors and their places.

    Example:
        >>> told = {
        ...     "objective": "Ship it",
        ...     "members": [{"agent_id": "lead", "role": "lead", "is_lead": True, "steps": [{"action_name": "Read"}]}],
        ...     "expected_patterns": [{"type": "delegation", "from_role": "lead", "to_role": "dev"}],
        ... }
        >>> sb.team.from_input(told)
        <Team run-7a4e96efaf4f: 1 members, 0 interactions, 1 steps>
    """
    from sessionbank.team.run_edges import from_input as read

    return read(source, template=template)


def load_template(source: str | Path | Mapping[str, Any]) -> Template:
    """The `team.yaml` in a file or mapping; see `template.load_template`. Raises `FormatError` with all errors.

    Example:
        >>> template = {
        ...     "name": "checkout", "version": 1, "roles": ["lead", "reviewer"],
        ...     "topology": {"root": {"role": "lead"}, "spawn_rules": {"lead": ["reviewer"]}},
        ... }
        >>> sb.team.load_template(template).roles
        ['lead', 'reviewer']
    """
    from sessionbank.team.template import load_template as read

    return read(source)


def apply_template(team: Team, template: Template | str | Path | Mapping[str, Any]) -> Team:
    """The team held against a template: `was_expected` on each edge; see `template.apply_template`.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> template = {
        ...     "name": "checkout", "version": 1, "roles": ["lead", "reviewer"],
        ...     "topology": {"root": {"role": "lead"}, "spawn_rules": {"lead": ["reviewer"]}},
        ... }
        >>> held = sb.team.apply_template(run, template)
        >>> [(e.to_agent, e.was_expected) for e in held.interaction_list if e.type == "spawn"][-2:]
        [('frontend-dev', False), ('reviewer', True)]
    """
    from sessionbank.team.template import apply_template as apply

    return apply(team, template)


def to_team_yaml(team: Team) -> str:
    """The text of a `team.yaml` that allows what the team did; see `template.to_template`.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.team.to_team_yaml(run).splitlines()[:2]
        ['name: checkout-steps', 'version: 1']
    """
    from sessionbank.team.template import to_team_yaml as write

    return write(team)
