"""Holds our hand-over matrix against pm4py's hand-over-of-work network: `python -m checkers.pm4py_handover BUNDLES...`.

pm4py (AGPL) is no dependency: it runs in an environment of its own, at the versions of `pm4py.txt`, on event logs that
`to_event_log` names the columns of. What it is asked is in `ask_pm4py.py`. Prints a table and what differs.

How the two definitions meet. pm4py: the events of a case stand in order of time; each pair of neighbours is a hand-over
from the resource of the first to that of the second, and the network holds their shares of all pairs (beta 0). Ours
(`team.handover_matrix`): each edge is a hand-over from its sender to its receiver. Two logs lie between them:

- edges: an edge is a case of two events, its sending (resource: sender) and its arrival (resource: receiver, when the
  step that it reached ended; at the time of sending where no step is known). A case has one pair, so share times number
  of pairs is the number of our edges, and whole matrices are compared. An edge whose receiver was done before it was
  sent comes out turned round. This asks pm4py to count what we say happened; edges without a time are not in a log, and
  are named.
- steps: the session is one case and its steps are the events, ordered by their start; edges are not looked at. Where
  one agent works at a time, work passes from a to b exactly when b was started or answered by a, so pairs of two
  different resources are our edges. This asks whether what we say is what the times of the steps show. It holds only
  where each member has steps and nobody works side by side: no member's block of steps is broken into by others', and
  no two calls that start an agent overlap in time. Pairs of one resource with itself are its going on; they are left
  out.

Exit: 0 all agree, 1 something differs, 2 a wrong call, 3 pm4py could not be installed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkers import run

if TYPE_CHECKING:
    import pandas as pd

    import sessionbank as sb
    from sessionbank.team import Team

NAME = "pm4py"
OLDEST_PYTHON = (3, 11)
TIME_LIMIT_S = 300
Matrix = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Comparison:
    """One log: how many hand-overs each side counts, and every cell in which they differ."""

    log: str
    teams: int
    ours: int
    theirs: int
    faults: tuple[str, ...] = ()


def interpreter() -> Path | None:
    """The Python of pm4py's environment, made where it is not there; None without a Python that is new enough.

    Raises `run.CannotInstallError`.
    """
    python = run.find_python(OLDEST_PYTHON)
    return None if python is None else run.environment(NAME, python)


def handovers(log: pd.DataFrame, python: Path, *, order: str = "time:timestamp") -> Counter[tuple[str, str]]:
    """How often pm4py sees work pass from one resource to another in a log, events ordered by column `order`."""
    columns = ["case:concept:name", "concept:name", order, "org:resource"]
    events = log[columns].assign(**{order: log[order].map(lambda t: t.isoformat())})
    with tempfile.TemporaryDirectory(prefix="sessionbank-pm4py-") as folder:
        path = Path(folder, "log.json")
        path.write_text(json.dumps({"order": order, "events": events.to_dict("list")}), encoding="utf-8")
        command = [str(python), "-I", "-X", "utf8", str(Path(__file__).with_name("ask_pm4py.py")), str(path)]
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", timeout=TIME_LIMIT_S, check=True
        )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return Counter({(a, b): round(share * answer["pairs"]) for a, b, share in answer["shares"]})


def matrix_of(teams: Sequence[Team]) -> Counter[tuple[str, str]]:
    """The cells of our own matrices that are not zero, by names that hold the team's number, as in `edge_log`."""
    from sessionbank.team import handover_matrix

    found: Counter[tuple[str, str]] = Counter()
    for number, team in enumerate(teams):
        cells = handover_matrix(team).stack()
        found.update({(f"{number}/{a}", f"{number}/{b}"): int(n) for (a, b), n in cells.items() if n})
    return found


def edge_log(teams: Sequence[Team]) -> tuple[pd.DataFrame, int]:
    """Two events an edge (see above), and how many edges have no time."""
    import pandas as pd

    from sessionbank.trajectory import to_event_log

    parts, without = [], 0
    for number, team in enumerate(teams):
        edges = team.interactions()
        sent = to_event_log(edges)
        without += sent.attrs["without_time"]
        if sent.empty:
            continue
        arrived = arrivals(team)
        case = f"{number}/" + sent["interaction_id"]
        sent = sent.assign(**{"case:concept:name": case})
        times = zip(sent["interaction_id"], sent["time:timestamp"], strict=True)
        got = sent.assign(**{
            "org:resource": sent["to_agent"],
            "time:timestamp": [arrived.get(key, time) for key, time in times],
        })  # fmt: skip
        both = pd.concat([sent, got]).assign(team_number=number)
        both["org:resource"] = f"{number}/" + both["org:resource"]
        parts.append(both)
    return pd.concat(parts, ignore_index=True), without


def arrivals(team: Team) -> dict[str, datetime]:
    """When the step that an edge reached ended: a call that starts an agent hears its answer at its own end."""
    from sessionbank.team.activity import links

    found, where = {}, links(team)
    for edge in team.interaction_list:
        at = where.received_at.get(edge.interaction_id)
        step = None if at is None else team.step_lists[edge.to_agent][at]
        if step is not None and step.started_at is not None:
            found[edge.interaction_id] = step.ended_at or step.started_at
    return found


def one_at_a_time(team: Team) -> bool:
    """Whether every member has steps with a time, and nobody works side by side (see above)."""
    from sessionbank.records import SPAWN_TOOLS

    if len(team.member_list) < 2 or any(not team.step_lists.get(m.agent_id) for m in team.member_list):
        return False
    steps = team.steps()
    if steps["started_at"].isna().any():
        return False
    starting = steps[steps["action_name"].isin(list(SPAWN_TOOLS))].sort_values("started_at")
    ends = starting["ended_at"].fillna(starting["started_at"])
    if (starting["started_at"].iloc[1:].to_numpy() < ends.iloc[:-1].to_numpy()).any():
        return False
    row = steps.sort_values("started_at", kind="stable")["agent_id"].tolist()
    blocks = Counter(a for at, a in enumerate(row) if at == 0 or row[at - 1] != a)
    lead = team.member_list[0].agent_id
    return all(n == 1 for agent, n in blocks.items() if agent != lead)


def step_log(team: Team, number: int) -> pd.DataFrame:
    """The steps of a team as a log; `started_at` orders it."""
    from sessionbank.trajectory import to_event_log

    log = to_event_log(team.steps())
    log["org:resource"] = f"{number}/" + log["org:resource"]
    log["case:concept:name"] = str(number)
    return log


def differences(ours: Matrix, theirs: Matrix) -> tuple[str, ...]:
    """Each cell in which two matrices differ, in words."""
    cells = sorted({*ours, *theirs})
    return tuple(
        f"{a} -> {b}: ours {ours.get((a, b), 0)}, pm4py {theirs.get((a, b), 0)}"
        for a, b in cells
        if ours.get((a, b), 0) != theirs.get((a, b), 0)
    )


def compare(teams: Sequence[Team], python: Path) -> list[Comparison]:
    """Both comparisons of these teams; the second only of those in which one agent works at a time."""
    import pandas as pd

    log, without = edge_log(teams)
    ours, theirs = matrix_of(teams), handovers(log, python)
    faults = differences(ours, theirs)
    if without:
        faults += (f"{without} edges have no time, so no log can hold them",)
    found = [Comparison("edges", len(teams), sum(ours.values()), sum(theirs.values()), faults)]
    alone = [t for t in teams if one_at_a_time(t)]
    if alone:
        steps = pd.concat([step_log(t, n) for n, t in enumerate(alone)], ignore_index=True)
        passed = handovers(steps, python, order="started_at")
        theirs = Counter({pair: n for pair, n in passed.items() if pair[0] != pair[1]})
        ours = matrix_of(alone)
        found.append(
            Comparison(
                "steps", len(alone), sum(ours.values()), sum(theirs.values()), differences(ours, theirs)
            )
        )
    return found


def teams_of(bank: sb.SessionBank) -> Iterator[Team]:
    """The team of each session that has edges, in the order of the table."""
    from sessionbank.team import from_session

    for session_id in dict.fromkeys(bank.interactions()["session_id"]):
        session = bank.get_by_session_id(session_id)
        if session is not None:
            yield from_session(session)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows as lines of text, in columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    import sessionbank as sb

    parser = argparse.ArgumentParser(description="Hold our hand-over matrices against pm4py's.")
    parser.add_argument("files", nargs="+", type=Path, metavar="BUNDLE", help="what sb.open_bank opens")
    options = parser.parse_args(arguments)
    try:
        python = interpreter()
    except run.CannotInstallError as error:
        print(f"cannot install {error}", file=sys.stderr)
        return run.CANNOT_INSTALL
    if python is None:
        print("skipped: no Python >= 3.11 on the path or under pyenv")
        return 0
    rows = [("bank", "log", "teams", "hand-overs, ours", "hand-overs, pm4py", "result")]
    faults: list[str] = []
    for path in options.files:
        with (
            tempfile.TemporaryDirectory(prefix="sessionbank-pm4py-") as folder,
            sb.open_bank(path, cache=False, state_dir=folder) as bank,
        ):
            found = compare(list(teams_of(bank)), python)
        for c in found:
            rows.append((
                path.name, c.log, str(c.teams), str(c.ours), str(c.theirs), "DIFFERS" if c.faults else "agrees",
            ))  # fmt: skip
            faults += [f"{path.name}, {c.log}: {run.shown(fault)}" for fault in c.faults]
    print(table(rows))
    for fault in faults[: run.SHOWN_FAULTS]:
        print(fault)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
