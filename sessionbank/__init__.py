"""sessionbank: true tables, trajectories, teams and playbooks from the sessions of coding agents.

The public names, nothing else. Rooms that need heavy libraries are imported when first asked for, so that
``import sessionbank`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sessionbank.bank import SessionBank, open_bank
from sessionbank.errors import SessionBankError
from sessionbank.records import Session, SessionRecord
from sessionbank.selection import Selection
from sessionbank.tables.select import SessionQuery

if TYPE_CHECKING:
    from sessionbank import learning, plot, schema, team
    from sessionbank.learning import Atlas
    from sessionbank.redaction import redact_views
    from sessionbank.report import write_report
    from sessionbank.trajectory import Outcome, Trajectory, read_jsonl, synthesize, trajectories, write_jsonl
    from sessionbank.widgets.browse import browse
    from sessionbank.widgets.review import review

__version__ = "0.1.0"

_ROOMS = ("learning", "plot", "schema", "team")
_HOME = {
    "Atlas": "learning", "Outcome": "trajectory", "Trajectory": "trajectory", "browse": "widgets.browse",
    "read_jsonl": "trajectory", "redact_views": "redaction", "review": "widgets.review", "synthesize": "trajectory",
    "trajectories": "trajectory", "write_jsonl": "trajectory", "write_report": "report",
}  # fmt: skip

__all__ = [
    "Atlas", "Outcome", "Selection", "Session", "SessionBank", "SessionBankError", "SessionQuery", "SessionRecord",
    "Trajectory", "browse", "learning", "open_bank", "plot", "read_jsonl", "redact_views", "review", "schema", "synthesize", "team",
    "trajectories", "write_jsonl", "write_report",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
