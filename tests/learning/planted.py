"""Teams made by script, with seven practices that are there or not as flags say."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

from sessionbank.team.model import Interaction, Member, Team, TeamStep

PRACTICES = (
    "check-after-edit",
    "ping-pong",
    "fan-out",
    "evidence-in-result",
    "specific-delegation",
    "late-escalation",
    "duplicate-work",
)
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
LABELS = ("failure", "partial", "success")
TASKS = (
    "Add a checkout form to the web shop",
    "Fix the payment retry in the shop",
    "Write the export of orders",
)


class _Script:
    def __init__(self, team_id: str) -> None:
        self.team_id, self.clock = team_id, START
        self.edges: list[Interaction] = []
        self.steps: dict[str, list[TeamStep]] = {}

    def step(
        self,
        agent: str,
        name: str,
        *,
        of: dict | None = None,
        edges: tuple[str, ...] = (),
        status: str = "ok",
        said: str = "done",
    ) -> None:
        self.clock += timedelta(seconds=20)
        mine = self.steps.setdefault(agent, [])
        mine.append(
            TeamStep(
                team="made",
                agent_id=agent,
                step=len(mine),
                tool_call_id=f"{agent}-call-{len(mine)}",
                thought="next",
                action_name=name,
                action_input=json.dumps(of or {}),
                observation=said,
                status=status,
                started_at=self.clock,
                ended_at=self.clock + timedelta(seconds=5),
                duration_ms=5000,
                tokens=100,
                message_uuid=f"{self.team_id}-{agent}-{len(mine)}",
                interaction_ids=edges,
                session_id=f"session-of-{self.team_id}",
            )
        )

    def edge(self, kind: str, one: str, other: str, content: str) -> None:
        name = f"e{len(self.edges)}"
        self.step(one, "SendMessage", of={"to": other, "content": content}, edges=(name,))
        self.edges.append(
            Interaction(
                interaction_id=name,
                session_id=f"session-of-{self.team_id}",
                team="made",
                type=kind,
                subtype=None,
                from_agent=one,
                from_role=one.rstrip("-12"),
                from_step=None,
                to_agent=other,
                to_role=other.rstrip("-12"),
                to_step=None,
                content=content,
                timestamp=self.clock,
                ok=True,
                message_uuid=f"{self.team_id}-{name}",
            )
        )
        self.step(other, "read", of={"path": f"inbox/{name}"}, edges=(name,))


def team(number: int, flags: dict[str, bool], outcome: str | None, *, domain: str | None = "web") -> Team:
    """A run of lead, two workers and a checker in which exactly the flagged practices are to be seen."""
    run = _Script(f"run-{number:04d}")
    files = " in cart.py and order_form.py" if flags["specific-delegation"] else ""
    proof = " and 12 tests passed" if flags["evidence-in-result"] else ""
    first = f"Please build the part of the customer{files}, number {number}"
    second = f"Take care of everything that stock keeping needs{files}, run {number}"

    def work(agent: str) -> None:
        for name in ("prices", "rules", "notes"):
            whose = "shared" if flags["duplicate-work"] else agent
            run.step(agent, "read", of={"path": f"{whose}/{name}.md"})
        if agent == "worker-1" and flags["late-escalation"]:
            for _ in range(3):
                run.step(agent, "bash", of={"command": "make shop"}, status="error", said="exit status: 2")
            run.edge("escalation", agent, "lead", "I cannot get it to build at all")
        run.step(agent, "edit", of={"path": f"{agent}/cart.py"})

    run.edge("delegation", "lead", "worker-1", first)
    if flags["fan-out"]:
        run.edge("delegation", "lead", "worker-2", second)
    work("worker-1")
    run.edge("result_return", "worker-1", "lead", f"The customer part is there{proof}")
    if not flags["fan-out"]:
        run.edge("delegation", "lead", "worker-2", second)
    work("worker-2")
    run.edge("result_return", "worker-2", "lead", f"Stock keeping is done{proof}")
    if flags["ping-pong"]:
        for turn in range(6):
            pair = ("lead", "checker") if turn % 2 == 0 else ("checker", "lead")
            run.edge("message", *pair, f"{'what about' if turn % 2 == 0 else 'see'} point {turn * 7}?")
    else:
        run.edge("message", "lead", "checker", "anything that you noticed?")
        run.edge("message", "checker", "lead", "nothing of note")
    if flags["check-after-edit"]:
        run.step("lead", "bash", of={"command": "pytest -q"}, said="12 passed")
    run.step("lead", "respond", said="done")
    members = tuple(
        Member(
            team="made",
            agent_id=a,
            role=a.rstrip("-12"),
            is_lead=a == "lead",
            steps=len(run.steps[a]),
            tokens=100 * len(run.steps[a]),
        )
        for a in ("lead", "worker-1", "worker-2", "checker")
    )
    return Team(
        id=run.team_id,
        name="made",
        objective=TASKS[number % len(TASKS)],
        domain=domain,
        complexity="moderate",
        topology="hierarchical",
        member_list=members,
        interaction_list=tuple(run.edges),
        step_lists={a: tuple(s) for a, s in run.steps.items()},
        outcome=outcome,
    )


def runs(seed: int, count: int, *, helps: str, harms: str, noise: float = 0.1) -> list[Team]:
    """Runs in which `helps` lifts the outcome by a level (failure, partial, success), `harms` lowers it by one, and the
    five others do nothing. Each practice is there in half of the runs; with probability `noise` the outcome is off
    by one.
    """
    chance = random.Random(seed)
    made = []
    for number in range(count):
        flags = {name: chance.random() < 0.5 for name in PRACTICES}
        level = 1 + flags[helps] - flags[harms]
        if chance.random() < noise:
            level = max(0, min(2, level + chance.choice((-1, 1))))
        made.append(team(number, flags, LABELS[level]))
    return made
