"""Runs inside a checker's own environment: gives each document to that checker and prints what it said, as JSON.

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


CHECKERS: dict[str, Callable[[Path], tuple[int, list[str]]]] = {
    "atif": atif,
    "agentpile": agentpile,
    "harbor": harbor,
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
