"""The built-in analyst: credits from scores and downstream effects, lessons from detected practices. No model.

It reads the files of ``input/`` and writes those of ``output/``, as any analyst does; same input, same output. Credits
are sums of stated parts (`interaction_credits`, `agent_credits`); what a practice means in words is in `detectors`.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, Literal

from sessionbank.learning import outputs
from sessionbank.learning.analyst import AnalystRun
from sessionbank.learning.inputs import read_input
from sessionbank.learning.playbooks import counted
from sessionbank.learning.readback import Outputs, write_outputs
from sessionbank.learning.workspace import Workspace
from sessionbank.team.identifiers import identifiers
from sessionbank.team.model import EVERYONE

Read = Mapping[str, Any]
UNKNOWN = "nothing tells how it went"  # the reasoning of a credit that only stands for "not known"

# which kind of coordination a practice belongs to
_CATEGORY: dict[str, Literal["delegation", "communication", "synchronization", "escalation"]] = {
    "fan-out": "delegation", "specific-delegation": "delegation", "duplicate-work": "delegation",
    "scope-creep": "delegation", "late-escalation": "escalation", "bottleneck": "synchronization",
    "orphaned-result": "synchronization", "check-after-edit": "synchronization",
}  # fmt: skip


class RuleAnalyst:
    """Deterministic, and always there: the analyst when no other is given, and the one that fills gaps.

    Example:
        >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
        >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
        >>> workspace = atlas.team_workspace(atlas.team_of(session))
        >>> sb.learning.RuleAnalyst().work(workspace, knowledge={}).status
        'done'
        >>> (workspace.output / "agent-credits.json").exists()
        True
    """

    name = "rule"

    def work(self, workspace: Workspace, *, knowledge: Mapping[str, str]) -> AnalystRun:
        """Writes all output files."""
        start = time.monotonic()
        write_outputs(workspace.output, analyse(read_input(workspace.input)))
        return AnalystRun(self.name, "done", seconds=time.monotonic() - start)


def analyse(read: Read) -> Outputs:
    """The outputs for what `inputs.read_input` gave."""
    edges = interaction_credits(read)
    members = agent_credits(read, edges)
    return Outputs(
        agent_credits=outputs.AgentCredits(credits=members),
        interaction_credits=outputs.InteractionCredits(credits=edges),
        coordination_assessment=_coordination(read, edges),
        role_lessons=[_role_lesson(read, credit, edges) for credit in members],
        team_lessons=_team_lessons(read, members),
        meta_observations=_meta(read, members),
    )


def interaction_credits(read: Read) -> list[outputs.InteractionCredit]:
    """A credit for each interaction, -1 to 1.

    It starts from the quality in ``critical-moments.json`` (how well it went and what came of it, 0 to 1, mapped to -1
    to 1; 0, with the reason `UNKNOWN`, where none is given); failed ones lose 0.5; one that shows an anti-pattern loses
    0.3, one that shows a pattern gains 0.2.
    """
    scores = {i["interaction_id"]: i["scores"]["quality"] for i in read["critical-moments"]["interactions"]}
    critical = {i["interaction_id"] for i in read["critical-moments"]["critical_interactions"]}
    shows: dict[str, list[Any]] = defaultdict(list)
    for practice in read["detected-practices"]:
        for key in practice["interaction_ids"]:
            shows[key].append(practice)
    found = []
    for edge in read["graph"]["interactions"]:
        score = scores.get(edge["id"])
        credit, reasons = (0.0, [UNKNOWN]) if score is None else (2 * score - 1, [f"quality {score:.2f}"])
        if edge["ok"] is False:
            credit, reasons = credit - 0.5, [*reasons, "it failed"]
        for practice in shows[edge["id"]]:
            is_pattern = practice["kind"] == "pattern"
            credit += 0.2 if is_pattern else -0.3
            reasons.append(f"it is part of {practice['name']}")
        credit = round(max(-1.0, min(1.0, credit)), 4)
        found.append(outputs.InteractionCredit(
            interaction_id=edge["id"], type=edge["type"], from_role=_role(edge["from"]), to_role=_role(edge["to"]),
            value="helpful" if credit > 0.2 else "harmful" if credit < -0.2 else "neutral", credit_score=credit,
            reasoning="; ".join(reasons) + ".", necessity=_necessity(credit, edge["id"] in critical),
            content_quality=_content_quality(edge["content"]),
        ))  # fmt: skip
    return found


def agent_credits(read: Read, edges: list[outputs.InteractionCredit]) -> list[outputs.AgentCredit]:
    """A credit for each member, 0 to 1.

    It starts from 0.5; up to 0.25 come or go with the mean credit of what the member sent (of those interactions of
    which something is known), up to 0.25 with its share of the critical steps against an equal share; up to 0.25 go
    with the share of its steps that failed.
    """
    graph = {e["id"]: e for e in read["graph"]["interactions"]}
    sent: dict[str, list[float]] = defaultdict(list)
    for edge in edges:
        if edge.reasoning != f"{UNKNOWN}.":  # of those nothing is known, so they weigh nothing
            sent[graph[edge.interaction_id]["from"]["agent_id"]].append(edge.credit_score)
    steps = read["critical-moments"]["critical_steps"]
    critical = Counter(s["agent_id"] for s in steps)
    members = read["team-config"]["members"]
    roles = Counter(m["role"] for m in members)
    fair = len(steps) / len(members) if members else 0
    found = []
    for member in members:
        agent = member["agent_id"]
        trajectory = read["trajectories"].get(agent, {"step_numbers": [], "failed_steps": []})
        count, failed = len(trajectory["step_numbers"]), set(trajectory["failed_steps"])
        mean = statistics.fmean(sent[agent]) if sent[agent] else 0.0
        share = max(-1.0, min(1.0, critical[agent] / fair - 1)) if fair else 0.0
        score = 0.5 + 0.25 * mean + 0.25 * share - 0.25 * (len(failed) / count if count else 0)
        score = round(max(0.0, min(1.0, score)), 4)
        said = f"{critical[agent]} of {len(steps)} critical steps, "
        said += (
            f"{counted(len(sent[agent]), 'interaction')} sent with a mean credit of {mean:.2f}"
            if sent[agent]
            else "no interaction sent of which it is known how it went"
        )
        said += (
            f", {len(failed)} of {count} steps failed." if count else "; none of its steps is in the input."
        )
        marks = [
            outputs.StepAttribution(
                step_index=s["step_index"],
                attribution=round(
                    (-1 if s["step_index"] in failed else 1) * min(1.0, s["scores"]["total"]), 4
                ),
                reasoning="a critical step that failed" if s["step_index"] in failed else "a critical step",
            )
            for s in steps
            if s["agent_id"] == agent and s["scores"]["total"] is not None
        ]
        found.append(outputs.AgentCredit(
            agent_id=agent, role=member["role"], contribution_score=score, assessment=said, step_attributions=marks,
            role_assessment=_role_assessment(score, is_alone=roles[member["role"]] == 1, is_seen=bool(count)),
        ))  # fmt: skip
    return found


def _necessity(credit: float, is_critical: bool) -> Literal["critical", "useful", "unnecessary", "harmful"]:
    if credit < -0.5:
        return "harmful"
    if credit < 0:
        return "unnecessary"
    return "critical" if is_critical and credit >= 0.2 else "useful"


def _content_quality(content: str | None) -> float:
    """Half for saying something (full from 200 characters), half for identifiers (full from five)."""
    if not content:
        return 0.0
    return round(0.5 * min(1.0, len(content) / 200) + 0.1 * min(5, len(identifiers(content))), 4)


def _role_assessment(score: float, *, is_alone: bool, is_seen: bool) -> outputs.RoleAssessment:
    if not is_seen:
        return "neutral"  # of who has no steps in the transcripts nothing can be said
    if score >= 0.6:
        return "essential" if is_alone else "helpful"
    return "helpful" if score >= 0.5 else "neutral" if score >= 0.3 else "redundant"


def _practices(read: Read, kind: str) -> list[Any]:
    return [p for p in read["detected-practices"] if p["kind"] == kind]


def _coordination(read: Read, edges: list[outputs.InteractionCredit]) -> outputs.CoordinationAssessment:
    success = read["outcome"]["success"] is True
    good, bad = _practices(read, "pattern"), _practices(read, "anti_pattern")
    failed = sum(e["ok"] is False for e in read["graph"]["interactions"])
    emergent = [e for e in read["graph"]["interactions"] if e["was_expected"] is False]
    helpful = sum(e.value == "helpful" for e in edges)
    quality: outputs.Quality = (
        "poor"
        if len(bad) > 2
        else "acceptable"
        if bad or failed
        else "excellent"
        if good and success
        else "good"
    )
    mean = {e.interaction_id: e.credit_score for e in edges}
    kinds = sorted({(e["type"], _role(e["from"]), _role(e["to"])) for e in emergent})
    narrative = [
        f"{counted(len(edges), 'interaction')} between {counted(len(read['team-config']['members']), 'member')}: {helpful} helpful, "
        f"{sum(e.value == 'harmful' for e in edges)} harmful, {failed} failed.",
        "Patterns: " + (", ".join(p["name"] for p in good) or "none") + ".",
        "Anti-patterns: " + (", ".join(p["name"] for p in bad) or "none") + ".",
    ]
    if not read["team-config"]["expected_patterns"]:
        narrative.append("No pattern was declared for the team, so none is compared.")
    return outputs.CoordinationAssessment(
        quality=quality,
        observed_patterns=[
            outputs.ObservedPattern(
                name=p["name"], description=p["description"], roles=p["roles"], interaction_ids=p["interaction_ids"],
                correlated_with_success=success,
            )
            for p in good
        ],
        observed_anti_patterns=[
            outputs.ObservedAntiPattern(
                name=p["name"], description=p["description"], roles=p["roles"], interaction_ids=p["interaction_ids"],
                impact=p["says"], suggested_fix=p["avoid"],
            )
            for p in bad
        ],
        pattern_comparison=[
            outputs.PatternComparison(
                expected=e["name"],
                observed="followed" if e["count"] else "deviated" if e["others"] else "absent",
                impact=f"{counted(e['count'], 'interaction')} followed it"
                + (f", {e['others']} between the same roles did not." if e["others"] else "."),
            )
            for e in read["team-config"]["expected_patterns"]
        ],
        emergent_coordination=[
            outputs.EmergentCoordination(
                description=f"{kind} from {one} to {other}, which no template declares",
                was_helpful=(helps := _mean([mean[e["id"]] for e in emergent if _is(e, kind, one, other=other)])) > 0.2,
                should_be_formalized=helps > 0.2 and sum(_is(e, kind, one, other=other) for e in emergent) > 1,
            )
            for kind, one, other in kinds
        ],
        narrative="\n\n".join(narrative),
    )  # fmt: skip


def _role_lesson(
    read: Read, credit: outputs.AgentCredit, edges: list[outputs.InteractionCredit]
) -> outputs.RoleLesson:
    mine = [
        p for p in read["detected-practices"] if credit.agent_id in p["agents"] and credit.role in p["told"]
    ]
    graph = {e["id"]: e for e in read["graph"]["interactions"]}
    together: dict[tuple[str, str], list[tuple[Any, float]]] = defaultdict(list)
    for edge in edges:
        raw = graph[edge.interaction_id]
        for own, other in (("from", "to"), ("to", "from")):
            if raw[own]["agent_id"] == credit.agent_id != raw[other]["agent_id"]:
                together[_role(raw[other]), edge.type].append((raw, edge.credit_score))
    steps = [(a, n, p) for p in mine for a, n in p["steps"] if a == credit.agent_id]
    steps += [
        (credit.agent_id, raw[side]["step_index"], p)
        for p in mine
        for raw in (graph[k] for k in p["interaction_ids"] if k in graph)
        for side in ("from", "to")
        if raw[side]["agent_id"] == credit.agent_id and raw[side]["step_index"] is not None
    ]
    return outputs.RoleLesson(
        role=credit.role,
        agent_id=credit.agent_id,
        strengths=[p["do"] for p in mine if p["kind"] == "pattern"],
        improvements=[p["avoid"] for p in mine if p["kind"] == "anti_pattern"],
        role_assessment=credit.role_assessment,
        interaction_assessment=[
            _teamwork(role, kind, found=found, agent=credit.agent_id)
            for (role, kind), found in sorted(together.items())
        ],
        evidence=[
            outputs.StepEvidence(step_index=n, description=f"{p['name']}: {p['description']}")
            for _, n, p in sorted(steps, key=lambda s: (s[1], s[2]["name"]))
        ],
    )


def _teamwork(
    role: str, kind: Any, *, found: list[tuple[Any, float]], agent: str
) -> outputs.InteractionAssessment:
    failed = sum(raw["ok"] is False for raw, _ in found)
    mean = _mean([c for _, c in found])
    quality: Any = (
        "poor"
        if failed * 2 > len(found) or mean < -0.2
        else "effective"
        if mean > 0.2 and not failed
        else "adequate"
    )
    what, who = kind.replace("_", " "), "all members" if role == EVERYONE else role
    # only what the exchange itself shows is worth telling, and only to who sent it: a general "well done" is not
    sent = [raw["content"] for raw, _ in found if raw["from"]["agent_id"] == agent and raw["content"]]
    named = statistics.fmean([min(1.0, len(identifiers(text)) / 3) for text in sent] or [0.0])
    advice = ""
    if quality == "poor":
        advice = f"Make sure that each {what} between you and {who} arrives, and say what is needed."
    elif sent and quality == "effective" and named >= 0.5:
        advice = f"Go on naming files and symbols in each {what} that you send to {who}."
    elif sent and quality == "adequate" and named < 0.5:
        advice = f"Name the files and symbols that it is about in each {what} that you send to {who}."
    return outputs.InteractionAssessment(
        with_role=role, interaction_type=kind, quality=quality, recommendation=advice,
        observation=f"{counted(len(found), 'interaction')}, {failed} failed, mean credit {mean:.2f}.",
    )  # fmt: skip


def _team_lessons(read: Read, members: list[outputs.AgentCredit]) -> outputs.TeamLessons:
    composition = [
        outputs.CompositionLesson(
            category="role-necessity",
            lesson=f"The role {c.role} was {c.role_assessment} here.",
            evidence=c.assessment,
            confidence=0.3,  # one run
        )
        for c in members
        if c.role_assessment in ("essential", "redundant")
    ]
    coordination = [
        outputs.CoordinationLesson(
            category=_CATEGORY.get(p["name"], "communication"),
            lesson=p["do"] if p["kind"] == "pattern" else p["avoid"],
            evidence=f"{p['name']}: {p['description']} "
            f"({counted(len(p['interaction_ids']), 'interaction')}, {counted(len(p['steps']), 'step')})",
            confidence=0.3,
        )
        for p in read["detected-practices"]
    ]
    return outputs.TeamLessons(
        composition_lessons=composition,
        coordination_lessons=coordination,
        recommendations=[p["avoid"] for p in _practices(read, "anti_pattern")],
    )


def _meta(read: Read, members: list[outputs.AgentCredit]) -> outputs.MetaObservations:
    names = {p["name"] for p in read["detected-practices"]}
    steps = {
        m["agent_id"]: len(read["trajectories"].get(m["agent_id"], {}).get("step_numbers", []))
        for m in read["team-config"]["members"]
    }
    total = sum(steps.values())
    use: dict[str, float] = defaultdict(float)
    for member in read["team-config"]["members"]:
        use[member["role"]] += steps[member["agent_id"]] / total if total else 0.0
    redundant = sorted({c.role for c in members if c.role_assessment == "redundant"})
    success = read["outcome"]["success"]
    bad = _practices(read, "anti_pattern")
    emergent = sorted(
        {
            f"{e['type']} from {_role(e['from'])} to {_role(e['to'])}"
            for e in read["graph"]["interactions"]
            if e["was_expected"] is False
        }
    )
    label = read["outcome"]["label"]
    return outputs.MetaObservations(
        formation=outputs.FormationAssessment(
            was_effective=success is True,
            reasoning=f"The outcome is {label}; roles that gave little: {', '.join(redundant) or 'none'}.",
        ),
        composition=outputs.Composition(
            role_utilization={r: round(min(1.0, v), 4) for r, v in sorted(use.items())},
            missing_roles=[],  # a rule cannot see who is not there
            redundant_roles=redundant,
            team_size_assessment="too-large"
            if redundant
            else "too-small"
            if "bottleneck" in names
            else "right-sized",
        ),
        coordination=outputs.Coordination(
            topology_assessment="hindering"
            if "bottleneck" in names
            else "effective"
            if success and not bad
            else "neutral",
            enforcement_assessment="appropriate",
            emergent_patterns=emergent,
        ),
        formation_suggestions=[f"Leave out {role}, or give it a part of its own." for role in redundant],
        coordination_suggestions=[p["avoid"] for p in bad],
    )


def _role(end: Mapping[str, Any]) -> str:
    return str(end["role"] or end["agent_id"])


def _is(edge: Mapping[str, Any], kind: str, one: str, *, other: str) -> bool:
    return edge["type"] == kind and _role(edge["from"]) == one and _role(edge["to"]) == other


def _mean(values: list[float]) -> float:
    return statistics.fmean(values) if values else 0.0
