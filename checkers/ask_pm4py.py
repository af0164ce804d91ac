"""Runs inside pm4py's own environment: the hand-over-of-work network of an event log, as JSON on standard output.

`python ask_pm4py.py LOG.json` reads {"order": name of the time column, "events": {column: values}} and prints
{"cases", "events", "pairs", "shares": [[from, to, share of all pairs], ...]}. Nothing of sessionbank is used here; what
the log holds is the part of `pm4py_handover.py`.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path


def main(path: str) -> None:
    """Print what pm4py says of a log. pm4py itself orders the events of a case by time."""
    warnings.simplefilter("ignore")
    import pandas as pd
    import pm4py

    given = json.loads(Path(path).read_text(encoding="utf-8"))
    frame = pd.DataFrame(given["events"])
    order = given["order"]
    frame[order] = pd.to_datetime(frame[order], utc=True, format="ISO8601")
    log = pm4py.format_dataframe(
        frame, case_id="case:concept:name", activity_key="concept:name", timestamp_key=order
    )
    network = pm4py.discover_handover_of_work_network(log, beta=0)
    cases = int(log["case:concept:name"].nunique())
    answer = {
        "cases": cases,
        "events": len(log),
        "pairs": len(log) - cases,  # pm4py gives shares of all pairs of neighbours in a case
        "shares": sorted([a, b, float(share)] for (a, b), share in network.connections.items()),
    }
    sys.stdout.write(f"\n{json.dumps(answer)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
