"""Named patterns and anti-patterns in a team's run, each with the interactions and steps that show it.

A detector looks at who wrote to whom and at what was done, never at how the run ended, so that whether a pattern helps
can be asked of many runs afterwards. `PRACTICES` says in general words what each is and what to do about it. A detector
that lacks what it needs (times, content, steps) finds nothing. Nothing is judged or counted over runs here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sessionbank.learning.similarity import similarity
from sessionbank.team.actions import action_kind, failure, target
from sessionbank.team.activity import links
from sessionbank.team.identifiers import identifiers
from sessionbank.team.model import Interaction, Team, TeamStep

ALIKE = 0.6  # similarity from which a message passes on another
RECENT = 50  # messages that a member got last, among which the one that it passes on is looked for
TURNS = 6  # messages back and forth without a break that make a ping-pong
FAILED = 3  # failed steps before an escalation that make it late
INBOUND = 0.4  # share of requests that make one of four or more members a bottleneck
SHARED = 3  # identical calls of two members that make duplicate work

_REQUESTS = frozenset({"delegation", "spawn"})
_PROOF = re.compile(
    r"\b(\d+ (?:tests? )?pass(?:ed|ing)?|tests? (?:are |is )?pass"
    r"|all (?:tests|checks) (?:pass|green)|\d+/\d+ (?:pass|green|tests))",
    re.IGNORECASE,
)


class Words(NamedTuple):
    """A practice in general words: what it is, what to do when it helps, what to do when it harms."""

    kind: Literal["pattern", "anti_pattern"]
    says: str
    do: str
    avoid: str


PRACTICES: dict[str, Words] = {
    "relay": Words(
        "pattern",
        "A member passes on what it was given to a third one.",
        "Hand work on from member to member, each adding its part.",
        "Do not pass messages on through a member in between; let the sender write to the receiver.",
    ),
    "fan-out": Words(
        "pattern",
        "One member gives work to several others before the first of them answers.",
        "Give independent parts to several members at once, before waiting for the first answer.",
        "Do not start several members at once; give the next part when the last has come back.",
    ),
    "evidence-in-result": Words(
        "pattern",
        "Results come back with what the tests or checks printed.",
        "Put the outcome of the tests that you ran into the result that you hand back.",
        "Keep test output out of results; hand back what changed.",
    ),
    "specific-delegation": Words(
        "pattern",
        "Work is given out with the files or symbols that it is about.",
        "Name the files or symbols that the work is about when you give it out.",
        "Do not name files when giving out work; state the goal and leave the way open.",
    ),
    "check-after-edit": Words(
        "pattern",
        "A test or build is run after the last edit of the run.",
        "Run the tests once more after the last edit, before calling it done.",
        "Do not run the whole checks again after the last edit.",
    ),
    "bottleneck": Words(
        "anti_pattern",
        "Most requests go to one member.",
        "Send requests to one member who knows the whole.",
        "Do not route most requests through one member; give the others what they need to go on.",
    ),
    "ping-pong": Words(
        "anti_pattern",
        "Two members write back and forth many times without a step in between for others.",
        "Talk a question through with the other member until it is settled.",
        "Do not write back and forth; ask everything at once, or decide and say what you assumed.",
    ),
    "orphaned-result": Words(
        "anti_pattern",
        "A result comes back and the member that gets it does nothing after.",
        "Let results lie where they are; hand them back all the same.",
        "Read each result that comes back, and use it or say why not.",
    ),
    "silent-worker": Words(
        "anti_pattern",
        "A member is given work and never writes to anyone.",
        "Work without reporting in between.",
        "Report back what you did, also when there is little to say.",
    ),
    "late-escalation": Words(
        "anti_pattern",
        "A member asks for help only after several failed tries.",
        "Try several ways yourself before you ask for help.",
        "Ask for help after the second failed try at the same thing.",
    ),
    "duplicate-work": Words(
        "anti_pattern",
        "Two members do the same work.",
        "Have two members do the same work and compare.",
        "Say who does what, so that two members do not do the same.",
    ),
    "scope-creep": Words(
        "anti_pattern",
        "A member changes files that its task did not name.",
        "Change what else needs changing beyond the files that the task names.",
        "Change only what the task names; report the rest instead of changing it.",
    ),
}


@dataclass(frozen=True, slots=True)
class Detection:
    """One practice seen in a run. `steps` are (agent_id, number of the step); `told`: roles that advice speaks to."""

    name: str
    description: str
    agents: tuple[str, ...]
    roles: tuple[str, ...]
    interaction_ids: tuple[str, ...] = ()
    steps: tuple[tuple[str, int], ...] = ()
    told: tuple[str, ...] = ()

    @property
    def words(self) -> Words:
        """The practice in general words."""
        return PRACTICES[self.name]


class _Run:
    """A team's run as detectors look at it: edges in order, steps by agent."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.roles = {m.agent_id: m.role or m.agent_id for m in team.member_list}
        self.edges = [e for e in team.interaction_list if not e.is_self]
        self.links = links(team)
        self.leads = {m.agent_id for m in team.member_list if m.is_lead}

    def steps(self, agent: str) -> tuple[TeamStep, ...]:
        return self.team.step_lists.get(agent, ())

    def found(
        self,
        name: str,
        description: str,
        *,
        agents: Iterable[str],
        edges: Iterable[Interaction] = (),
        steps: Iterable[tuple[str, int]] = (),
        actors: Iterable[str] | None = None,
    ) -> Detection:
        who = tuple(dict.fromkeys(agents))
        ids = tuple(dict.fromkeys(e.interaction_id for e in edges))
        told = self._roles(who if actors is None else actors)
        return Detection(name, description, who, self._roles(who), ids, tuple(steps), told)

    def _roles(self, agents: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.roles[a] for a in agents if a in self.roles))


def detect(team: Team) -> list[Detection]:
    """Every practice of `PRACTICES` that the run shows, in their order; each at most once, with all that shows it."""
    run = _Run(team)
    found = {}
    for detector in _DETECTORS:
        for detection in detector(run):
            found[detection.name] = detection
    return [found[name] for name in PRACTICES if name in found]


def _relay(run: _Run) -> Iterable[Detection]:
    hits: list[Interaction] = []
    got: dict[str, list[Interaction]] = defaultdict(list)
    for edge in run.edges:
        if edge.content and edge.type != "signal":
            for before in got[edge.from_agent][-RECENT:]:
                if (
                    edge.to_agent != before.from_agent
                    and similarity(before.content or "", edge.content) >= ALIKE
                ):
                    hits += [before, edge]
                    break
            got[edge.to_agent].append(edge)
    if hits:
        agents = [a for e in hits for a in (e.from_agent, e.to_agent)]
        text = f"{len(hits) // 2} messages were passed on to a third member."
        yield run.found("relay", text, agents=agents, edges=hits, actors=[e.from_agent for e in hits[1::2]])


def _fan_out(run: _Run) -> Iterable[Detection]:
    pending: dict[str, dict[str, Interaction]] = defaultdict(dict)
    best: dict[str, list[Interaction]] = {}
    for edge in run.edges:
        if edge.type in _REQUESTS:
            pending[edge.from_agent].setdefault(edge.to_agent, edge)
            if len(pending[edge.from_agent]) > len(best.get(edge.from_agent, ())):
                best[edge.from_agent] = list(pending[edge.from_agent].values())
        else:
            pending[edge.to_agent].pop(edge.from_agent, None)
    for agent, edges in sorted(best.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(edges) >= 2:
            who = [agent, *(e.to_agent for e in edges)]
            text = f"{run.roles.get(agent, agent)} gave work to {len(edges)} members before one of them answered."
            yield run.found("fan-out", text, agents=who, edges=edges, actors=[agent])
            return


def _evidence_in_result(run: _Run) -> Iterable[Detection]:
    results = [e for e in run.edges if e.type == "result_return" and e.content]
    proven = [e for e in results if _PROOF.search(e.content or "")]
    if proven and len(proven) * 2 >= len(results):
        text = f"{len(proven)} of {len(results)} results say what the tests printed."
        yield run.found("evidence-in-result", text, agents=[e.from_agent for e in proven], edges=proven)


def _specific_delegation(run: _Run) -> Iterable[Detection]:
    given = [e for e in run.edges if e.type in _REQUESTS and e.content]
    specific = [e for e in given if identifiers(e.content)]
    if specific and len(specific) * 2 >= len(given):
        text = f"{len(specific)} of {len(given)} tasks name files or symbols."
        yield run.found("specific-delegation", text, agents=[e.from_agent for e in specific], edges=specific)


def _check_after_edit(run: _Run) -> Iterable[Detection]:
    kinds = [
        (s.started_at, agent, s.step, action_kind(s))
        for agent in run.roles
        for s in run.steps(agent)
        if s.started_at is not None
    ]
    writes = [k for k in kinds if k[3] == "write"]
    if not writes:
        return
    last = max(writes)
    checks = sorted(k for k in kinds if k[3] == "check" and k[0] > last[0])
    if checks:
        steps = [(last[1], last[2]), (checks[0][1], checks[0][2])]
        text = f"{run.roles[checks[0][1]]} ran a check after the last edit."
        yield run.found("check-after-edit", text, agents=[checks[0][1]], steps=steps)


def _bottleneck(run: _Run) -> Iterable[Detection]:
    asked = [e for e in run.edges if e.type not in ("result_return", "signal")]
    if len(run.roles) < 4 or len(asked) < 5:
        return
    by: dict[str, list[Interaction]] = defaultdict(list)
    for edge in asked:
        by[edge.to_agent].append(edge)
    agent, edges = max(by.items(), key=lambda item: (len(item[1]), item[0]))
    if len(edges) / len(asked) > INBOUND:
        text = f"{len(edges)} of {len(asked)} requests went to {run.roles.get(agent, agent)}."
        who = [e.from_agent for e in edges]
        yield run.found("bottleneck", text, agents=[agent, *who], edges=edges, actors=who)


def _ping_pong(run: _Run) -> Iterable[Detection]:
    between: dict[frozenset[str], list[Interaction]] = {}
    longest: list[Interaction] = []
    for edge in run.edges:
        if edge.type in ("result_return", "spawn", "signal"):
            continue
        pair = frozenset((edge.from_agent, edge.to_agent))
        # an edge of another pair that touches one of the two breaks the exchange
        for other in [p for p in between if p != pair and p & pair]:
            del between[other]
        turns = between.setdefault(pair, [])
        if turns and turns[-1].from_agent == edge.from_agent:
            turns.clear()
        turns.append(edge)
        if len(turns) > len(longest):
            longest = list(turns)
    if len(longest) >= TURNS:
        who = [longest[0].from_agent, longest[0].to_agent]
        text = f"{' and '.join(run.roles.get(a, a) for a in who)} wrote back and forth {len(longest)} times."
        yield run.found("ping-pong", text, agents=who, edges=longest)


def _orphaned_result(run: _Run) -> Iterable[Detection]:
    hits = []
    for place, edge in enumerate(run.edges):
        receiver = edge.to_agent
        if edge.type != "result_return" or not run.steps(receiver):
            continue  # of who has no steps we do not know what it did
        at = run.links.received_at.get(edge.interaction_id)
        acted = any(later.from_agent == receiver for later in run.edges[place + 1 :])
        steps = run.steps(receiver)
        if at is not None:
            acted = acted or at + 1 < len(steps)
        elif edge.timestamp is not None and any(s.started_at for s in steps):
            acted = acted or any(s.started_at is not None and s.started_at > edge.timestamp for s in steps)
        else:
            acted = True  # nothing tells when it came
        if not acted:
            hits.append(edge)
    if hits:
        text = f"{len(hits)} results came back and were not acted on."
        who = [a for e in hits for a in (e.to_agent, e.from_agent)]
        yield run.found("orphaned-result", text, agents=who, edges=hits, actors=[e.to_agent for e in hits])


def _silent_worker(run: _Run) -> Iterable[Detection]:
    senders = {e.from_agent for e in run.edges}
    asked = [
        e for e in run.edges if e.type in _REQUESTS and e.to_agent in run.roles and e.to_agent not in senders
    ]
    silent = list(dict.fromkeys(e.to_agent for e in asked if e.to_agent not in run.leads))
    if silent:
        text = f"{', '.join(dict.fromkeys(run.roles[a] for a in silent))} never wrote to anyone."
        yield run.found(
            "silent-worker", text, agents=silent, edges=[e for e in asked if e.to_agent in silent]
        )


def _late_escalation(run: _Run) -> Iterable[Detection]:
    for edge in run.edges:
        if edge.type != "escalation":
            continue
        at = run.links.sent_from.get(edge.interaction_id)
        steps = run.steps(edge.from_agent)
        if at is None and edge.timestamp is not None:
            at = sum(s.started_at is not None and s.started_at < edge.timestamp for s in steps)
        failed = [s.step for s in steps[: at or 0] if failure(s)]
        if len(failed) >= FAILED:
            text = f"{run.roles.get(edge.from_agent, edge.from_agent)} asked for help after {len(failed)} failed steps."
            places = [(edge.from_agent, n) for n in failed]
            yield run.found("late-escalation", text, agents=[edge.from_agent], edges=[edge], steps=places)
            return


def _duplicate_work(run: _Run) -> Iterable[Detection]:
    given = [e for e in run.edges if e.type in _REQUESTS and e.content and len(e.content) > 20]
    for place, edge in enumerate(given):
        for other in given[place + 1 :]:
            if other.to_agent != edge.to_agent and similarity(edge.content or "", other.content or "") >= 0.9:
                both = " and ".join(run.roles.get(e.to_agent, e.to_agent) for e in (edge, other))
                text = f"{both} were given the same task."
                yield run.found(
                    "duplicate-work", text, agents=[edge.to_agent, other.to_agent], edges=[edge, other]
                )
                return
    calls: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for agent in run.roles:
        for step in run.steps(agent):
            if action_kind(step) in ("write", "read", "run") and target(step):
                calls[step.action_name, step.action_input or ""].setdefault(agent, step.step)
    pairs: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for agents in calls.values():
        listed = sorted(agents.items())
        for i, one in enumerate(listed):
            for two in listed[i + 1 :]:
                pairs[one[0], two[0]] += [one, two]
    for pair, steps in sorted(pairs.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(steps) >= 2 * SHARED:
            text = f"{' and '.join(run.roles[a] for a in pair)} made {len(steps) // 2} identical calls."
            yield run.found("duplicate-work", text, agents=pair, steps=steps)
            return


def _scope_creep(run: _Run) -> Iterable[Detection]:
    told: dict[str, set[str]] = defaultdict(set)
    asked: dict[str, list[Interaction]] = defaultdict(list)
    for edge in run.edges:
        told[edge.to_agent] |= {i for i in identifiers(edge.content) if "." in i or "/" in i}
        if edge.type in _REQUESTS:
            asked[edge.to_agent].append(edge)
    for agent, edges in sorted(asked.items()):
        names = told[agent]
        writes = [s for s in run.steps(agent) if action_kind(s) == "write" and target(s)]
        if not names or not writes:
            continue
        beyond = [s for s in writes if not any(_same_file(target(s), name) for name in names)]
        files = {target(s) for s in beyond}
        if len(files) >= 2 and len(beyond) * 2 > len(writes):
            text = f"{run.roles.get(agent, agent)} changed {len(files)} files that its task did not name."
            yield run.found(
                "scope-creep", text, agents=[agent], edges=edges, steps=[(agent, s.step) for s in beyond]
            )
            return


def _same_file(path: str, name: str) -> bool:
    name = name.lstrip("./")
    return (
        path == name
        or path.endswith(f"/{name}")
        or name.endswith(f"/{path}")
        or f"/{name.rstrip('/')}/" in f"/{path}"
    )


_DETECTORS: tuple[Callable[[_Run], Iterable[Detection]], ...] = (
    _relay, _fan_out, _evidence_in_result, _specific_delegation, _check_after_edit, _bottleneck, _ping_pong,
    _orphaned_result, _silent_worker, _late_escalation, _duplicate_work, _scope_creep,
)  # fmt: skip
