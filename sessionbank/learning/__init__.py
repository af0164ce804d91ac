"""Learning: from runs to playbooks that a person reviews, and from these to the next team.

The room's public names, each made when first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessionbank.learning.analyst import TEAM_ANALYSIS, Analyst, AnalystRun, Person
    from sessionbank.learning.batches import BatchResult
    from sessionbank.learning.command_analyst import CommandAnalyst
    from sessionbank.learning.config import AtlasConfig
    from sessionbank.learning.extraction import CommandExtractor
    from sessionbank.learning.guidance import feedback, find_matching, member_config, role_guidance
    from sessionbank.learning.memory import Memory
    from sessionbank.learning.pipeline import Atlas, IngestResult
    from sessionbank.learning.playbooks import (
        Line,
        RolePlaybook,
        TaskPlaybook,
        TeamMetaStrategy,
        TeamPlaybook,
    )
    from sessionbank.learning.publish import to_markdown, to_rules, to_skill, to_yaml
    from sessionbank.learning.recommend import Recommendation, recommend_team
    from sessionbank.learning.review import (
        accept,
        changes_recommendations,
        compare,
        edit,
        lines,
        merge,
        reject,
    )
    from sessionbank.learning.rule_analyst import RuleAnalyst
    from sessionbank.learning.workspace import TaskTemplate, Workspace, prune

_HOME = {
    "TEAM_ANALYSIS": "analyst", "Analyst": "analyst", "AnalystRun": "analyst", "Person": "analyst",
    "BatchResult": "batches", "CommandAnalyst": "command_analyst", "AtlasConfig": "config",
    "CommandExtractor": "extraction", "feedback": "guidance", "find_matching": "guidance",
    "member_config": "guidance", "role_guidance": "guidance", "Memory": "memory", "Atlas": "pipeline",
    "IngestResult": "pipeline", "Line": "playbooks", "RolePlaybook": "playbooks", "TaskPlaybook": "playbooks",
    "TeamMetaStrategy": "playbooks", "TeamPlaybook": "playbooks", "to_markdown": "publish", "to_rules": "publish",
    "to_skill": "publish", "to_yaml": "publish", "Recommendation": "recommend", "recommend_team": "recommend",
    "accept": "review", "changes_recommendations": "review", "compare": "review", "edit": "review", "lines": "review",
    "merge": "review", "reject": "review", "RuleAnalyst": "rule_analyst", "TaskTemplate": "workspace",
    "Workspace": "workspace", "prune": "workspace",
}  # fmt: skip

__all__ = [
    "TEAM_ANALYSIS", "Analyst", "AnalystRun", "Atlas", "AtlasConfig", "BatchResult", "CommandAnalyst",
    "CommandExtractor", "IngestResult", "Line", "Memory", "Person", "Recommendation", "RolePlaybook", "RuleAnalyst",
    "TaskPlaybook", "TaskTemplate", "TeamMetaStrategy", "TeamPlaybook", "Workspace", "accept",
    "changes_recommendations", "compare", "edit", "feedback", "find_matching", "lines", "member_config", "merge",
    "prune", "recommend_team", "reject", "role_guidance", "to_markdown", "to_rules", "to_skill", "to_yaml",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
