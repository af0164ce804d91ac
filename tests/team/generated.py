"""Teams made by script, seeded: good runs with the noise of real ones, the same with one planted fault, and large ones.

Nothing of `sessionbank.team` but the model is used, so that what is planted is known without the code under test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from sessionbank.team.model import Interaction, Member, Team, TeamStep

FAULTS = ("wrong_handover", "lost_message", "bottleneck", "late_escalation", "silent_failure")
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
NOUNS = [
    "cart",
    "order",
    "invoice",
    "search",
    "login",
    "stock",
    "coupon",
    "mail",
    "price",
    "report",
    "webhook",
    "session",
]
VERBS = ["load", "save", "merge", "check", "price", "retry", "parse", "index", "lock", "rank"]


@dataclass
class Planted:
    """What was put in: interactions, or one step as (agent, number)."""

    kind: str
    interactions: list[str] = field(default_factory=list)
    step: tuple[str, int] | None = None


class Run:
    """A run being told: each agent has its clock (milliseconds) and its steps."""

    def __init__(self, rng: Random, workers: int) -> None:
        self.rng = rng
        self.workers = [f"worker-{k}" for k in range(1, workers + 1)]
        self.agents = ["lead", *self.workers, "verifier"]
        self.clock = dict.fromkeys(self.agents, 0)
        self.steps: dict[str, list[TeamStep]] = {a: [] for a in self.agents}
        self.edges: list[Interaction] = []

    def words(self) -> tuple[str, str]:
        """A path and a symbol of the invented shop."""
        noun, verb, n = self.rng.choice(NOUNS), self.rng.choice(VERBS), self.rng.randrange(100)
        return f"src/{noun}/{verb}_{n}.py", f"{verb}{noun.title()}{n}"

    def act(
        self,
        agent: str,
        name: str,
        arguments: dict,
        *,
        seen: str = "ok",
        thought: str = "",
        status: str = "ok",
        edges: tuple[str, ...] = (),
        ms: int | None = None,
    ) -> int:
        """One step; gives its number."""
        think = self.rng.randrange(2_000, 20_000)
        ms = self.rng.randrange(500, 15_000) if ms is None else ms
        begin = self.clock[agent] + think
        self.clock[agent] = begin + ms
        number = len(self.steps[agent])
        at = START + timedelta(milliseconds=begin)
        self.steps[agent].append(
            TeamStep(
                None,
                agent,
                number,
                f"{agent}/{number}",
                thought or None,
                name,
                json.dumps(arguments),
                seen,
                status,
                at,
                at + timedelta(milliseconds=ms),
                ms,
                self.rng.randrange(200, 3_000),
                None,
                edges,
                number,
            )
        )
        return number

    def send(
        self,
        sender: str,
        receiver: str,
        type: str,
        *,
        content: str,
        expected: bool = True,
        delay: int | None = None,
        lost: bool = False,
    ) -> str:
        """One interaction: a step that sends it and, unless it is lost, one that receives it."""
        key = f"i{len(self.edges)}"
        from_step = self.act(
            sender, "SendMessage", {"to": receiver, "message": content}, edges=(key,), ms=300
        )
        sent = self.clock[sender]
        if delay is None:
            delay = int(2_000 * self.rng.lognormvariate(0, 0.9))
        to_step = None
        if not lost:
            self.clock[receiver] = max(self.clock[receiver], sent + delay - 20_000)
            to_step = self.act(receiver, "ReadMessages", {"from": sender}, seen=content, edges=(key,), ms=200)
        at = START + timedelta(milliseconds=sent)
        self.edges.append(
            Interaction(
                key,
                None,
                None,
                type,
                None,
                sender,
                sender.split("-")[0],
                from_step,
                receiver,
                receiver.split("-")[0],
                to_step,
                content,
                timestamp=at,
                was_expected=expected,
            )
        )
        return key

    def team(self) -> Team:
        """What was told so far."""
        return Team(
            "generated",
            member_list=tuple(Member(None, a, a.split("-")[0]) for a in self.agents),
            interaction_list=tuple(
                sorted(self.edges, key=lambda e: (e.timestamp, int(e.interaction_id[1:])))
            ),
            step_lists={a: tuple(s) for a, s in self.steps.items()},
            outcome="success",
        )


def work(run: Run, agent: str, path: str, symbol: str, *, failing: int = 0, silent: bool = False) -> int:
    """A worker's way through a task; `failing` test runs are mended, a `silent` last one stays. Gives the last test."""
    rng = run.rng
    code = "\n".join(
        f"def {run.words()[1]}(): return {rng.randrange(999)}" for _ in range(rng.randrange(3, 9))
    )
    run.act(
        agent,
        "Read",
        {"file_path": path},
        seen=f"{code}\ndef {symbol}(): pass",
        thought=f"I start with {path}.",
    )
    for _ in range(rng.randrange(3)):
        if rng.random() < 0.2:
            run.act(agent, "Read", {"file_path": run.words()[0]}, seen="File does not exist.", status="error")
        else:
            run.act(agent, "Grep", {"pattern": symbol}, seen=f"{path}:3: def {symbol}")
    if rng.random() < 0.03:  # people and agents try things that do not matter
        run.act(
            agent, "Bash", {"command": f"which tool{rng.randrange(99)}"}, seen="exit code: 1", status="error"
        )
    test = {"command": f"pytest tests/test_{symbol}.py"}
    for k in range(failing):
        run.act(agent, "Edit", {"file_path": path, "old_string": "pass", "new_string": f"{symbol}({k})"})
        run.act(agent, "Bash", test, seen=f"E AssertionError: {symbol}\n1 failed, 4 passed", status="error")
    run.act(agent, "Edit", {"file_path": path, "old_string": "pass", "new_string": f"return {symbol}"})
    if silent:
        return run.act(
            agent,
            "Bash",
            {"command": test["command"] + " || true"},
            seen=f"FAILED {symbol}\n2 failed, 3 passed",
        )
    return run.act(agent, "Bash", test, seen="5 passed in 0.41s")


def generate(
    seed: int, *, workers: int = 4, rounds: int = 4, fault: str | None = None
) -> tuple[Team, Planted | None]:
    """A good run of a lead, workers and a verifier, with benign noise; `fault` (one of `FAULTS`) is put in once."""
    rng = Random(f"{fault}/{seed}")
    run = Run(rng, workers)
    planted = Planted(fault) if fault else None
    where = (rng.randrange(rounds), rng.randrange(workers)) if fault else (-1, -1)
    for _ in range(3):
        path, symbol = run.words()
        run.act("lead", "Read", {"file_path": path}, seen=f"def {symbol}(): pass", thought="Planning.")
    for r in range(rounds):
        # a round: every worker is given its task, then they work side by side and report one after the other
        tasks = [_task(run, w, planted if (r, k) == where else None) for k, w in enumerate(run.workers)]
        for task in tasks:
            next(task, None)
        for task in tasks:
            next(task, None)
    return run.team(), planted


def _task(run: Run, worker: str, planted: Planted | None) -> Iterator[None]:
    """One worker's task, told in two parts: until it is given, and the rest."""
    rng, kind = run.rng, planted.kind if planted else ""
    path, symbol = run.words()
    task = f"Please change {symbol} in {path} so that the tests pass."
    if planted and kind == "wrong_handover":
        wrong = rng.choice([w for w in run.workers if w != worker])
        planted.interactions.append(run.send("lead", wrong, "delegation", content=task))
        yield
        if rng.random() < 0.5:  # noticed: sent back, and given to the right one
            run.send(wrong, "lead", "message", content="This is not mine, I know nothing of it.")
        else:  # not noticed: it works on something else
            work(run, wrong, *run.words())
            run.send(wrong, "lead", "result_return", content="Done with what I had.")
            return
        run.send("lead", worker, "delegation", content=task)
    if planted and kind == "lost_message" and rng.random() < 0.5:
        planted.interactions.append(run.send("lead", worker, "delegation", content=task, lost=True))
        return
    if kind != "wrong_handover":
        slow = {"delay": int(2_000 * rng.uniform(3, 7))} if rng.random() < 0.06 else {}
        run.send("lead", worker, "delegation", content=task, **slow)
        yield
    if rng.random() < 0.3:
        mate = rng.choice([w for w in run.workers if w != worker])
        run.send(
            worker, mate, "message", content=f"Do you call {symbol} anywhere?", expected=rng.random() > 0.3
        )
        if rng.random() < 0.8:
            run.send(mate, worker, "message", content=f"Only in {path}.")
    if planted and kind == "late_escalation":
        work(run, worker, path, symbol, failing=rng.randrange(6, 10))
        planted.interactions.append(
            run.send(worker, "lead", "escalation", content=f"I am stuck on {symbol}.")
        )
        run.send("lead", worker, "message", content=f"Look at {path} again.")
    elif rng.random() < 0.12:
        work(run, worker, path, symbol, failing=rng.randrange(1, 3))
        run.send(worker, "lead", "escalation", content=f"I am stuck on {symbol}, the tests fail.")
        run.send("lead", worker, "message", content=f"Look at {path} again.")
    is_silent = kind == "silent_failure"
    last = work(run, worker, path, symbol, failing=rng.choice([0, 0, 1, 1, 2]), silent=is_silent)
    if planted and is_silent:
        planted.step = (worker, last)
    done = f"Changed {symbol} in {path}; all tests pass."
    if planted and kind == "lost_message":
        planted.interactions.append(run.send(worker, "lead", "result_return", content=done, lost=True))
        return
    run.send(worker, "lead", "result_return", content=done)
    if planted and kind == "bottleneck":  # several want a review at once, and it comes to them very late
        for mate in rng.sample(run.workers, 3):
            wait = rng.randrange(200_000, 900_000)
            planted.interactions.append(
                run.send(mate, "verifier", "message", content=f"Please review {path}.", delay=wait)
            )
    if rng.random() < 0.5:
        run.send("lead", "verifier", "delegation", content=f"Please review {path}: {symbol}.")
        run.act(
            "verifier",
            "Read",
            {"file_path": path},
            seen=f"def {symbol}(): return 1",
            thought=f"Reviewing {symbol}.",
        )
        run.act("verifier", "Bash", {"command": f"pytest tests/test_{symbol}.py"}, seen="5 passed")
        run.send("verifier", "lead", "result_return", content=f"{path} is fine.")


def large(*, members: int, steps: int, interactions: int, seed: int = 0) -> Team:
    """A large team: steps spread evenly, each with some 400 characters, edges between random pairs forward in time."""
    rng = Random(seed)
    agents = [f"agent-{k}" for k in range(members)]
    per = steps // members
    vocabulary = [f"{v}_{n}_{k}" for v in VERBS for n in NOUNS for k in range(20)]
    touched: dict[tuple[str, int], list[str]] = {}
    edges = []
    for number in range(interactions):
        a, b = rng.sample(agents, 2)
        k = rng.randrange(per - 1)
        touched.setdefault((a, k), []).append(f"e{number}")
        touched.setdefault((b, k + 1), []).append(f"e{number}")
        kind = rng.choice(("delegation", "result_return", "message", "signal"))
        content = f"see {rng.choice(vocabulary)} and src/{rng.choice(vocabulary)}.py"
        edges.append(
            Interaction(
                f"e{number}",
                None,
                None,
                kind,
                None,
                a,
                None,
                k,
                b,
                None,
                k + 1,
                content,
                timestamp=START + timedelta(seconds=10 * k + 5),
                was_expected=rng.random() < 0.9,
            )
        )
    lists = {}
    for a in agents:
        made = []
        for k in range(per):
            name = vocabulary[rng.randrange(len(vocabulary))]
            seen = f"src/{name}.py\n" + "\n".join(
                f"  {rng.choice(VERBS)} {rng.choice(vocabulary)}({rng.randrange(1000)}) and what else there is"
                for _ in range(5)
            )
            is_run, failed = k % 3 == 0, rng.random() < 0.05
            arguments = {"command": f"pytest {name}"} if is_run else {"file_path": f"src/{name}.py"}
            at = START + timedelta(seconds=10 * k)
            made.append(
                TeamStep(
                    None,
                    a,
                    k,
                    f"{a}/{k}",
                    f"Now {name}.",
                    "Bash" if is_run else "Read",
                    json.dumps(arguments),
                    seen,
                    "error" if failed else "ok",
                    at,
                    at + timedelta(seconds=3),
                    3000,
                    100,
                    None,
                    tuple(touched.get((a, k), ())),
                    k,
                )
            )
        lists[a] = tuple(made)
    edges.sort(key=lambda e: (e.timestamp, int(e.interaction_id[1:])))
    return Team(
        "large",
        member_list=tuple(Member(None, a) for a in agents),
        interaction_list=tuple(edges),
        step_lists=lists,
    )
