"""Sessions as trajectories: task, steps, outcome; chosen, written to JSONL without what should not leave, and read.

The room's public names, each made when first asked for: the scanners and strategies behind them are many.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessionbank.trajectory.domain import domain_of, infer_domain
    from sessionbank.trajectory.export import UnredactedWarning, Written, read_jsonl, write_jsonl
    from sessionbank.trajectory.filters import agent_share, sample, select, trajectories
    from sessionbank.trajectory.model import Outcome, Reply, Step, Task, Trajectory, Turn
    from sessionbank.trajectory.redact import Redactor
    from sessionbank.trajectory.steps import steps_frame, steps_rows, to_event_log
    from sessionbank.trajectory.synthesis import synthesize

_HOME = {
    "domain_of": "domain", "infer_domain": "domain", "UnredactedWarning": "export", "Written": "export",
    "read_jsonl": "export", "write_jsonl": "export", "agent_share": "filters", "sample": "filters", "select": "filters",
    "trajectories": "filters", "Outcome": "model", "Reply": "model", "Step": "model", "Task": "model",
    "Trajectory": "model", "Turn": "model", "Redactor": "redact", "steps_frame": "steps", "steps_rows": "steps",
    "to_event_log": "steps", "synthesize": "synthesis",
}  # fmt: skip

__all__ = [
    "Outcome", "Redactor", "Reply", "Step", "Task", "Trajectory", "Turn", "UnredactedWarning", "Written", "agent_share",
    "domain_of", "infer_domain", "read_jsonl", "sample", "select", "steps_frame", "steps_rows", "synthesize",
    "to_event_log", "trajectories", "write_jsonl",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
