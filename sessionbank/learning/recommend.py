"""Which team to form for a task, from what memory has: topology, roles, size, playbooks, why, and how sure.

Each shape of team that runs had (topology and counts of roles) is a candidate. Its estimate is the posterior mean of
its share of successes, every run weighed by how alike its task is, from a prior that is the weighted share of all runs;
a meta-strategy's bias for the topology is added where it applies. Without a similar run there is no basis, and that is
what the answer says.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from sessionbank.errors import QueryError
from sessionbank.learning import playbooks as pb
from sessionbank.learning.confidence import beta_quantile
from sessionbank.learning.distill import role_key
from sessionbank.learning.guidance import find_matching
from sessionbank.trajectory.redact import Redactor

if TYPE_CHECKING:
    from sessionbank.learning.memory import Memory

ALIKE = 0.05  # similarity of tasks below which a run says nothing about the task
PRIOR = 2.0  # runs that the prior counts as
NEAREST = 200  # runs that are looked at
FEW = 3  # runs of a shape below which it is an example, not advice


@dataclass(frozen=True)
class RecommendedRole:
    """A role of the recommended team: how many, and the playbooks that its agents should be given."""

    role: str
    count: int
    playbooks: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Recommendation:
    """A team for a task. `basis` is False when memory has nothing to go by; then nothing is recommended.

    `success` is the estimated share of successes of such teams at such tasks, `low` and `high` the interval that holds
    it with 80 %.

    Example:
        >>> told = sb.learning.recommend_team(sb.learning.Memory("memory"), "Add a payment form")
        >>> told.basis, told.size
        (False, 0)
        >>> print(told.to_markdown().strip())
        No basis: no run of known outcome in memory has a task like this one.
    """

    task: str
    basis: bool
    topology: str | None = None
    roles: tuple[RecommendedRole, ...] = ()
    enforcement: str | None = None
    expected_tokens: int | None = None
    success: float | None = None
    low: float | None = None
    high: float | None = None
    do: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    team_playbooks: tuple[str, ...] = ()
    meta_strategies: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()  # run ids
    alternatives: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def size(self) -> int:
        """How many agents."""
        return sum(r.count for r in self.roles)

    @property
    def is_thin(self) -> bool:
        """Whether fewer than `FEW` runs stand behind it: then it is an example of what was done, hardly advice."""
        return self.basis and len(self.evidence) < FEW

    def to_team_yaml(self) -> str:
        """The team as the text of a ``team.yaml`` (OpenTeams): roles, topology, and the advice as a prompt.

        Raises `QueryError` without a basis.
        """
        if not self.basis:
            raise QueryError("there is no basis for a recommendation, so there is no team to write")
        names = [r.role for r in self.roles]
        root = next((n for n in ("lead", "planner", "orchestrator") if n in names), names[0])
        value = {
            "name": "recommended-team",
            "version": 1,
            "description": f"Recommended for: {self.task}",
            "roles": names,
            "topology": {
                "root": {"role": root},
                "spawn_rules": {root: [n for n in names if n != root]},
            },
            "communication": {"enforcement": self.enforcement or "permissive"},
            "x-sessionbank": {
                "topology_type": self.topology,
                "counts": {r.role: r.count for r in self.roles},
                "playbooks": {r.role: list(r.playbooks) for r in self.roles if r.playbooks},
                "do": list(self.do),
                "avoid": list(self.avoid),
                "estimated_success": self.success,
                "runs": list(self.evidence),
            },
        }
        return yaml.safe_dump(Redactor().json(value, place=""), sort_keys=False, allow_unicode=True)

    def to_markdown(self) -> str:
        """The recommendation for a person."""
        if not self.basis:
            return f"No basis: {' '.join(self.why)}\n"
        team = " + ".join(f"{r.count} {r.role}" for r in self.roles)
        out = [f"**{team}**, {self.topology or 'any'} topology", ""]
        if self.is_thin:
            out += [f"Only {pb.counted(len(self.evidence))} had such a team: an example, not yet advice.", ""]
        out.append(f"Estimated success {self.success:.0%} (80 % interval {self.low:.0%} to {self.high:.0%}).")
        for title, texts in (("Do", self.do), ("Avoid", self.avoid), ("Why", self.why)):
            if texts:
                out += ["", f"{title}:", *(f"- {t}" for t in texts)]
        return Redactor().text("\n".join(out) + "\n")

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


@dataclass
class _Shape:
    topology: str | None
    roles: tuple[tuple[str, int], ...]
    weight: float = 0.0
    good: float = 0.0
    runs: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    bias: float = 0.0

    @property
    def size(self) -> int:
        return sum(n for _, n in self.roles)

    def posterior(self, prior: float) -> tuple[float, float]:
        return self.good + PRIOR * prior, self.weight - self.good + PRIOR * (1 - prior)


def recommend_team(
    memory: Memory,
    task: str,
    *,
    domain: str | None = None,
    complexity: str | None = None,
    max_agents: int | None = None,
    max_token_budget: int | None = None,
    preferred_topology: str | None = None,
) -> Recommendation:
    """A team for `task` within the limits; `preferred_topology` is taken where any run had it. Raises `QueryError`
    for a limit below 1.

    Example:
        >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
        >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
        >>> atlas.process_team(atlas.team_of(session)).stored
        True
        >>> told = sb.learning.recommend_team(atlas.memory, "Protect the upload routes against CSRF")
        >>> [(role.role, role.count) for role in told.roles], told.is_thin
        ([('Explore', 1), ('lead', 1)], True)
    """
    for name, value in (("max_agents", max_agents), ("max_token_budget", max_token_budget)):
        if value is not None and value < 1:
            raise QueryError(f"{name} is {value}; it must be at least 1")
    shapes, total = _shapes(memory, task, domain=domain, complexity=complexity)
    if not shapes:
        return Recommendation(
            task, False, why=("no run of known outcome in memory has a task like this one.",)
        )
    why: list[str] = []
    fitting, notes = _within(shapes, max_agents, max_token_budget)
    why += notes
    if not fitting:
        return Recommendation(task, False, why=(*why, "no team that memory knows fits the limits."))
    if preferred_topology is not None:
        wanted = [s for s in fitting if s.topology == preferred_topology]
        why.append(
            f"topology {preferred_topology} as preferred."
            if wanted
            else f"no run has the preferred topology {preferred_topology}; another is taken."
        )
        fitting = wanted or fitting
    prior = (total[1] + 0.5) / (total[0] + 1)  # never quite 0 or 1, whatever few runs say
    applied = _strategies(memory, fitting, domain=domain)
    ranked = sorted(fitting, key=lambda s: (-_estimate(s, prior), s.size, str(s.topology), s.roles))
    best = ranked[0]
    a, b = best.posterior(prior)
    playbooks = find_matching(memory, "team-playbooks", task, domain=domain, topology=best.topology, limit=3)
    do, avoid = _advice([p for p, _ in playbooks])
    why.insert(
        0,
        f"{pb.counted(len(best.runs))} with such a team and a similar task, {best.good:.2g} of {best.weight:.2g} "
        "(weighed by similarity) succeeded.",
    )
    if len(best.runs) < FEW:
        why.insert(
            1,
            f"that is {pb.counted(len(best.runs))}: an example of what was done, not yet a reason to prefer it.",
        )
    roles = tuple(
        RecommendedRole(
            role,
            count,
            tuple(
                p.id
                for p, _ in find_matching(
                    memory, "role-playbooks", task, role=role, topology=best.topology, domain=domain, limit=2
                )
            ),
            f"in {pb.counted(len(best.runs))} of this shape",
        )
        for role, count in best.roles
    )
    return Recommendation(
        task,
        True,
        topology=best.topology,
        roles=roles,
        enforcement=next(
            (p.coordination.enforcement for p, _ in playbooks if p.coordination.enforcement), None
        ),
        expected_tokens=int(statistics.median(best.tokens)) if best.tokens else None,
        success=round(a / (a + b), 4),
        low=round(beta_quantile(0.1, a, b=b), 4),
        high=round(beta_quantile(0.9, a, b=b), 4),
        do=do,
        avoid=avoid,
        team_playbooks=tuple(p.id for p, _ in playbooks),
        meta_strategies=applied,
        why=tuple(why),
        evidence=tuple(sorted(best.runs)),
        alternatives=tuple(
            {
                "topology": s.topology,
                "roles": dict(s.roles),
                "estimate": round(_estimate(s, prior), 4),
                "runs": len(s.runs),
            }
            for s in ranked[1:4]
        ),
    )


def _shapes(
    memory: Memory, task: str, *, domain: str | None, complexity: str | None
) -> tuple[list[_Shape], tuple[float, float]]:
    """Shapes of the runs that are like the task, and weight and weighted successes of all of them."""
    found: dict[Any, _Shape] = {}
    weight = good = 0.0
    for value, alike in memory.nearest("team-experiences", task, limit=NEAREST):
        record, score = value["team_trajectory"], value.get("score")
        if score is None or alike < ALIKE:
            continue
        own = alike
        if domain is not None and record.get("domain") is not None:
            own *= 1.0 if record["domain"] == domain else 0.5
        if complexity is not None and record.get("complexity") is not None:
            own *= 1.0 if record["complexity"] == complexity else 0.75
        roles = tuple(sorted(Counter(role_key(m["role"]) for m in record["members"]).items()))
        if not roles:
            continue
        shape = found.setdefault(
            (record.get("topology_type"), roles), _Shape(record.get("topology_type"), roles)
        )
        shape.weight += own
        shape.good += own * score
        shape.runs.append(value["id"])
        tokens = record["structural_metrics"].get("total_tokens")
        if tokens:
            shape.tokens.append(int(tokens))
        weight += own
        good += own * score
    return list(found.values()), (weight, good)


def _within(
    shapes: Sequence[_Shape], max_agents: int | None, budget: int | None
) -> tuple[list[_Shape], list[str]]:
    notes = []
    fitting = list(shapes)
    if max_agents is not None:
        large = [s for s in fitting if s.size > max_agents]
        fitting = [s for s in fitting if s.size <= max_agents]
        if large:
            notes.append(
                f"left out, with more than {pb.counted(max_agents, 'agent')}: {pb.counted(len(large), 'shape')} of team."
            )
    if budget is not None:
        dear = [s for s in fitting if s.tokens and statistics.median(s.tokens) > budget]
        fitting = [s for s in fitting if s not in dear]
        if dear:
            notes.append(
                f"left out, with more than {budget:,} tokens: {pb.counted(len(dear), 'shape')} of team."
            )
        unknown = sum(not s.tokens for s in fitting)
        if unknown:
            notes.append(f"of {pb.counted(unknown, 'shape')} nothing says how many tokens it takes.")
    return fitting, notes


def _strategies(memory: Memory, shapes: Sequence[_Shape], *, domain: str | None) -> tuple[str, ...]:
    """Applies the bias of every meta-strategy whose condition holds; returns their ids."""
    applied = []
    for value in sorted(memory.raw("team-meta-strategies").values(), key=lambda v: v["id"]):
        strategy = pb.TeamMetaStrategy.model_validate(value)
        domains = strategy.condition.domains
        if domains and domain not in domains:
            continue
        applied.append(strategy.id)
        sizes = [s.size for s in shapes]
        middle = statistics.median(sizes)
        for shape in shapes:
            # half of the bias: the runs that it was drawn from are in the shapes' own estimates too
            shape.bias += 0.5 * strategy.adjustment.topology_bias.get(shape.topology or "", 0.0)
            step = {"increase": 0.05, "decrease": -0.05, "maintain": 0.0}[
                strategy.adjustment.team_size_adjustment
            ]
            shape.bias += step if shape.size > middle else -step if shape.size < middle else 0.0
    return tuple(applied)


def _estimate(shape: _Shape, prior: float) -> float:
    a, b = shape.posterior(prior)
    return a / (a + b) + shape.bias


def _advice(playbooks: Sequence[pb.TeamPlaybook]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What matching playbooks say to do and to avoid: established lines and those that a reviewer accepted."""
    said: dict[str, dict[str, None]] = defaultdict(dict)
    for playbook in playbooks:
        for _, line in playbook.lines():
            accepted = bool(line.decisions) and line.decisions[-1].action in ("accept", "edit")
            if line.is_active and (line.standing == "established" or accepted):
                said[line.direction][line.text] = None
    return tuple(said["do"]), tuple(said["avoid"])
