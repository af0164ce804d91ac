"""Runs inside a checker's own environment: gives each ATIF document to that checker and prints what it said, as JSON.

`python ask.py CHECKER FOLDER` reads FOLDER/*.json, one document a file, and prints one line a document:
{"name": file name, "steps": how many steps the checker read, "faults": [what it refused]}. Which environment, and which
documents, is the part of `run.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path


def atif(path: Path) -> tuple[int, list[str]]:
    """The pydantic models of the `atif` package."""
    import atif
    from pydantic import ValidationError

    try:
        trajectory = atif.Trajectory.model_validate_json(path.read_bytes())
    except ValidationError as error:
        return 0, [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    return len(trajectory.steps), []


def nvidia_nat_atif(path: Path) -> tuple[int, list[str]]:
    """The pydantic models of NVIDIA's agent toolkit."""
    from nat.atif import Trajectory
    from pydantic import ValidationError

    try:
        trajectory = Trajectory.model_validate_json(path.read_bytes())
    except ValidationError as error:
        return 0, [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    return len(trajectory.steps), []


def atif_scan(path: Path) -> tuple[int, list[str]]:
    """The reader of `atif-scan`, and those of its checks that tell of a broken document.

    Its other checks tell of what the run did (a clock that went back, a page that was fetched): no matter of the
    format. It looks at the outer document only, so each embedded subagent is given to it as well.
    """
    import atif_scan as scan

    engine = scan.Engine([d for d in scan.builtin_detectors() if d.spec.id in BROKEN_DOCUMENT])
    waiting = [("", json.loads(path.read_bytes()))]
    outer = 0
    faults = []
    while waiting:
        place, document = waiting.pop(0)
        waiting += [
            (f"{place}subagent {number}: ", below)
            for number, below in enumerate(document.get("subagent_trajectories") or [], 1)
        ]
        try:
            trace = scan.load_bytes(json.dumps(document).encode())
        except scan.TraceError as error:
            faults.append(f"{place}{error}")
            continue
        outer = outer or len(trace.steps)
        faults += [f"{place}{a.spec.id}: {a.spec.title}" for a in engine.evaluate(trace) if a.counts]
    return outer, faults


def agentpile(path: Path) -> tuple[int, list[str]]:
    """The reader and the validator of the `agentpile` package; it knows ATIF v1.7 and no other version."""
    import agentpile
    from agentpile.errors import AgentpileError
    from agentpile.validate import validate

    try:
        (run,) = agentpile.load(path, reader="atif")
    except AgentpileError as error:
        return 0, [f"{type(error).__name__}: {error}"]
    return len(run.record.get("steps", [])), validate(run)


def harbor(path: Path) -> tuple[int, list[str]]:
    """Harbor's own validator: the models that the format is defined by."""
    from harbor.models.trajectories import Trajectory
    from harbor.utils.trajectory_validator import TrajectoryValidator

    document = json.loads(path.read_bytes())
    validator = TrajectoryValidator()
    if not validator.validate(document):
        return 0, list(validator.get_errors())
    return len(Trajectory(**document).steps), []


# Of atif-scan's checks of integrity, those that are about how a document was written.
BROKEN_DOCUMENT = {
    f"integrity.{name}"
    for name in (
        "timestamp_invalid", "step_sequence", "orphan_observation", "observation_pairing_reconstructed",
        "observation_pairing_unresolved", "agent_only_fields", "call_id_reused", "redacted_values",
        "tokens_exceed_recorded_calls", "totals_are_last_call", "trace_head_missing",
    )
}  # fmt: skip
CHECKERS: dict[str, Callable[[Path], tuple[int, list[str]]]] = {
    "harbor": harbor,
    "atif": atif,
    "nvidia-nat-atif": nvidia_nat_atif,
    "agentpile": agentpile,
    "atif-scan": atif_scan,
}


def main(checker: str, folder: str) -> None:
    """Print one line of JSON a document. What the checker raises beyond its own refusals is a fault too."""
    for path in sorted(Path(folder).glob("*.json")):
        try:
            steps, faults = CHECKERS[checker](path)
        except ImportError:
            raise
        except Exception as error:
            steps, faults = 0, [f"the checker broke: {type(error).__name__}: {error}"]
        print(json.dumps({"name": path.name, "steps": steps, "faults": faults}))


if __name__ == "__main__":
    main(*sys.argv[1:])
