"""What memory lets go of first when a kind is over its limit. Files are deleted, and that is told, in `memory`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def victims(kind: str, values: Mapping[str, dict[str, Any]], *, counted: Mapping[str, str]) -> list[str]:
    """Names in the order in which they may go.

    Experiences: only those that a finished batch has counted (its journal keeps what they said); unknown outcomes
    first, then the oldest. Playbooks: never one that a person decided about; the least sure first, then the oldest.
    """
    if kind in ("experiences", "team-experiences"):
        free = {n: v for n, v in values.items() if counted.get(v["id"]) == v.get("revision")}
        return sorted(
            free, key=lambda n: (free[n].get("score") is not None, free[n].get("timestamp") or "", n)
        )
    free = {n: v for n, v in values.items() if '"decisions": [{' not in json.dumps(v)}
    return sorted(free, key=lambda n: (free[n].get("confidence") or 0, free[n].get("updated_at") or "", n))
