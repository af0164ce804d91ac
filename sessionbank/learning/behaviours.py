"""Named ways of working that one agent's steps show: read before edit, check after the last edit, the same try again.

As with teams' `detectors`, nothing here looks at how the run ended. Mind that an outcome judged by its checks is not
independent of whether checks were run.
"""

from __future__ import annotations

from collections import Counter

from sessionbank.learning.detectors import PRACTICES, Words
from sessionbank.learning.experience import Practice
from sessionbank.learning.playbooks import Evidence
from sessionbank.team.actions import action_kind, failure, same_try, target
from sessionbank.trajectory.model import Step, Trajectory

SAME = 3  # failed tries of the same thing that are too many

BEHAVIOURS: dict[str, Words] = {
    "reads-before-edits": Words(
        "pattern",
        "Files are read before they are edited.",
        "Read a file before you edit it.",
        "Do not read every file before editing it.",
    ),
    "checks-after-last-edit": Words(
        "pattern",
        "A test or build is run after the last edit.",
        "Run the tests after your last edit.",
        "Do not run the checks again after the last edit.",
    ),
    "checks-between-edits": Words(
        "pattern",
        "Tests or builds are run between edits.",
        "Run the tests after each part, not only at the end.",
        "Do not stop to run tests between edits.",
    ),
    "plans-first": Words(
        "pattern",
        "A list of what is to be done is written before the first edit.",
        "Write down what is to be done before the first edit.",
        "Start without writing a plan.",
    ),
    "metrics-before-trajectories": Words(
        "pattern",
        "An analysis reads the structural metrics before the trajectories.",
        "Read structural-metrics.json before the trajectories.",
        "Read the trajectories before the structural metrics.",
    ),
    "notes-before-output": Words(
        "pattern",
        "An analysis writes notes before its results.",
        "Write notes in workspace/ before you write results.",
        "Write the results at once, without notes.",
    ),
    "delegates": Words(
        "pattern",
        "Other agents are started for parts of the work.",
        "Give parts of the work to agents of their own.",
        "Do the work yourself instead of starting other agents.",
    ),
    "repeats-failed-try": Words(
        "anti_pattern",
        "The same thing is tried three times or more and fails each time.",
        "Try the same thing again when it fails.",
        "When the same thing has failed twice, look for the cause before trying again.",
    ),
    "edits-without-check": Words(
        "anti_pattern",
        "Files are edited and nothing is run to check them.",
        "Edit without running checks.",
        "Run something that checks your edits.",
    ),
}
PRACTICES.update({name: words for name, words in BEHAVIOURS.items() if name not in PRACTICES})


def behaviours(trajectory: Trajectory) -> list[Practice]:
    """The ways of working that a trajectory's own steps show, each with up to three steps as places."""
    steps = trajectory.own_steps
    kinds = [action_kind(s) for s in steps]
    edits = [i for i, k in enumerate(kinds) if k == "write" and steps[i].status in (None, "ok")]
    checks = [i for i, k in enumerate(kinds) if k == "check"]
    found: dict[str, list[int]] = {}
    if edits:
        read: set[str] = set()
        unread: list[int] = []
        known: list[int] = []
        for i, kind in enumerate(kinds):
            if kind == "read":
                read.add(target(steps[i]))
            elif i in edits and target(steps[i]):
                (known if target(steps[i]) in read else unread).append(i)
                read.add(target(steps[i]))
        if known and len(known) >= len(unread):
            found["reads-before-edits"] = known
        after = [i for i in checks if i > edits[-1]]
        if after:
            found["checks-after-last-edit"] = [edits[-1], after[0]]
        between = [i for i in checks if edits[0] < i < edits[-1]]
        if between:
            found["checks-between-edits"] = between
        plans = [
            i
            for i in range(edits[0])
            if "todo" in steps[i].action_name.lower() or "plan" in steps[i].action_name.lower()
        ]
        if plans:
            found["plans-first"] = plans
        if not checks:
            found["edits-without-check"] = edits
    told = [f"{s.action_input or ''}" for s in steps]
    for name, first, then in (
        ("metrics-before-trajectories", "structural-metrics", "trajectories/"),
        ("notes-before-output", "workspace/", "output/"),
    ):
        places = [next((i for i, t in enumerate(told) if word in t), None) for word in (first, then)]
        if places[0] is not None and places[1] is not None and places[0] < places[1]:
            found[name] = [places[0], places[1]]
    spawns = [i for i, s in enumerate(steps) if s.action_name in ("Task", "Agent")]
    if spawns:
        found["delegates"] = spawns
    tries = Counter(same_try(s) for s, k in zip(steps, kinds, strict=True) if failure(s, kind=k))
    again = [i for i, s in enumerate(steps) if tries[same_try(s)] >= SAME and failure(s, kind=kinds[i])]
    if again:
        found["repeats-failed-try"] = again
    return [
        _practice(trajectory, name, [steps[i] for i in found[name][:3]])
        for name in BEHAVIOURS
        if name in found
    ]


def _practice(trajectory: Trajectory, name: str, steps: list[Step]) -> Practice:
    words = BEHAVIOURS[name]
    places = [
        Evidence(
            run_id=trajectory.id, agent_id=s.agent_id, step_index=s.step, session_id=trajectory.session_id,
            message_uuid=s.message_uuid, tool_call_id=s.tool_call_id, note=f"{s.action_name}: {target(s)[:120]}",
        )
        for s in steps
    ]  # fmt: skip
    kind = "anti_pattern" if words.kind == "anti_pattern" else "behaviour"
    return Practice(name=name, source=kind, says=words.says, fix=words.avoid, evidence=places)  # type: ignore[arg-type]
