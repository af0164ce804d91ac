"""From an analyst's outputs to memory: the experience of a team's run, the observation about forming teams, its row.

Ids are those of the run, so collecting the same run again replaces and counts nothing twice. The experience is stored
first; what is drawn from it can be drawn again, whatever was killed when (`complete`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.learning import experience as x
from sessionbank.learning import outputs
from sessionbank.learning.inputs import agents, edge_record, outcome_of
from sessionbank.learning.playbooks import Evidence
from sessionbank.learning.readback import Outputs
from sessionbank.learning.rule_analyst import RuleAnalyst

if TYPE_CHECKING:
    from sessionbank.learning.memory import Memory
    from sessionbank.team.model import Team

QUALITY = {"excellent": 3, "good": 2, "acceptable": 1, "poor": 0}
MOST_SHOWN = 2  # interactions that stand for an assessment of work between two roles
MOST_PLACES = 5  # places of one practice in one run that its row keeps


def team_experience(
    team: Team, found: Outputs, *, read: Mapping[str, Any], metrics: x.AnalysisMetrics | None = None
) -> x.TeamExperience:
    """The experience of one run, of the team and what its analyst wrote; `read` is the workspace's input."""
    roles = agents(team)
    members = {m.agent_id: m for m in team.member_list}
    coordination = found.coordination_assessment
    outcome = outcome_of(team)
    if outcome.quality is None and coordination is not None and outcome.success is not None:
        # a run that failed is poor however well the team worked together
        outcome.quality = (
            coordination.quality if outcome.success else ("acceptable" if outcome.score else "poor")
        )
    record = x.TeamRecord(
        id=team.id,
        objective=team.objective,
        domain=team.domain,
        complexity=_known(team.complexity, "complexity"),
        team_name=team.name,
        template_name=team.template,
        topology_type=_known(team.topology, "topology"),
        enforcement=_known(team.enforcement, "enforcement"),
        session_ids=list(team.session_ids),
        members=[
            x.MemberRecord(
                agent_id=agent,
                role=role,
                agent_type=m.agent_type if (m := members.get(agent)) else None,
                model=m.model if m else None,
                session_id=m.session_id if m else None,
                steps=m.steps if m else None,
                tokens=m.tokens if m else None,
                outcome=m.outcome if m else None,
            )
            for agent, role in roles.items()
        ],
        structural_metrics={
            k: v
            for k, v in read["structural-metrics"].items()
            if isinstance(v, int | float | str | None) or k.startswith("max_")
        },
    )
    analysis = x.TeamAnalysisResult(
        team_trajectory_id=team.id,
        agent_credits=found.agent_credits.credits if found.agent_credits else [],
        interaction_credits=found.interaction_credits.credits if found.interaction_credits else [],
        coordination_assessment=coordination,
        role_lessons=sorted(found.role_lessons, key=lambda r: (r.role, r.agent_id)),
        team_lessons=found.team_lessons,
        meta_observation=found.meta_observations,
        analysis_metrics=metrics or x.AnalysisMetrics(),
    )
    assessed = _assessed(team, analysis)
    made = x.TeamExperience(
        id=team.id,
        revision="",
        team_trajectory=record,
        outcome=outcome,
        score=outcome.score,
        analysis=analysis,
        assessed=assessed,
        places=_places(team, analysis, read, assessed=assessed),
        detected_practices=list(read["detected-practices"]),
        compression_stats=dict(read["compression"]),
        written_by=dict(found.by),
        problems=[str(p) for p in found.problems],
        timestamp=_time(team),
    )
    made.revision = team_row(made).revision
    return made


def team_row(made: x.TeamExperience) -> x.RunRow:
    """What distillation counts of a run: context, outcome, practices with their places, lessons in own words."""
    record, analysis = made.team_trajectory, made.analysis
    practices = {
        p["name"]: x.Practice(
            name=p["name"], source=p["kind"], roles=list(p["told"]), says=p["says"], fix=p["avoid"],
            evidence=_evidence(made, p["interaction_ids"], p["steps"]),
        )
        for p in made.detected_practices
    }  # fmt: skip
    if (seen := analysis.coordination_assessment) is not None:
        for pattern in seen.observed_patterns:
            name = practice_name(pattern.name)
            practices.setdefault(name, x.Practice(
                name=name, source="pattern", roles=pattern.roles, says=pattern.description,
                evidence=_evidence(made, pattern.interaction_ids, ()),
            ))  # fmt: skip
        for anti in seen.observed_anti_patterns:
            name = practice_name(anti.name)
            practices.setdefault(name, x.Practice(
                name=name, source="anti_pattern", roles=anti.roles, says=anti.description, fix=anti.suggested_fix,
                evidence=_evidence(made, anti.interaction_ids, ()),
            ))  # fmt: skip
        for compared in seen.pattern_comparison:
            if compared.observed == "followed":
                name = f"expected: {compared.expected}"
                says = f"The expected pattern {compared.expected!r} was followed."
                practices.setdefault(
                    name,
                    x.Practice(name=name, source="expected", says=says, evidence=_evidence(made, (), ())),
                )
    roles = Counter(m.role for m in record.members)
    for role in roles:
        name = f"role: {role}"
        practices[name] = x.Practice(
            name=name,
            source="composition",
            roles=[role],
            says=f"The team has the role {role}.",
            evidence=_evidence(made, (), ()),
        )
    tokens = record.structural_metrics.get("total_tokens")
    row = x.RunRow(
        run_id=made.id, revision="", objective=(record.objective or "")[:500], domain=record.domain,
        complexity=record.complexity, topology=record.topology_type, enforcement=record.enforcement,
        roles=dict(sorted(roles.items())), team_size=len(record.members) or None,
        tokens=int(tokens) if isinstance(tokens, int | float) else None, outcome=made.outcome.label, score=made.score,
        practices=[practices[name] for name in sorted(practices)], mentions=_mentions(made), teamwork=_teamwork(made),
        timestamp=made.timestamp,
    )  # fmt: skip
    row.revision = x.revision_of(row)
    return row


def practice_name(name: str) -> str:
    """The name by which a practice is counted: lower case, words joined by hyphens; "Fan out" and "fan_out" are one."""
    from sessionbank.learning.similarity import words

    return "-".join(words(name.replace("_", " ")))[:100] or "unnamed"


def meta_observation(made: x.TeamExperience) -> x.TeamMetaObservation | None:
    """What the run says about forming teams; None where the analyst left no such file."""
    said = made.analysis.meta_observation
    if said is None:
        return None
    figures = made.team_trajectory.structural_metrics
    tokens = figures.get("total_tokens")
    efficiency = made.score / (tokens / 100_000) if made.score is not None and tokens else None
    return x.TeamMetaObservation(
        id=made.id,
        team_trajectory_id=made.id,
        formation=x.ObservedFormation(
            **said.formation.model_dump(), formation_method="template" if made.team_trajectory.template_name else None
        ),
        composition=said.composition,
        coordination=said.coordination,
        outcome=x.ObservedOutcome(
            success=made.outcome.success, quality=made.outcome.quality,
            # members at work at once, on average: what working side by side saved
            speedup_estimate=figures.get("mean_active_members"), cost_efficiency=efficiency,
        ),
        lessons=x.FormationLessons(
            formation_suggestions=said.formation_suggestions,
            coordination_suggestions=said.coordination_suggestions,
            role_suggestions=[
                f"{lesson.role}: {text}" for lesson in made.analysis.role_lessons for text in lesson.improvements
            ],
        ),
        timestamp=made.timestamp,
    )  # fmt: skip


def keep(memory: Memory, made: x.TeamExperience) -> None:
    """Stores an experience and what is drawn from it."""
    made.stored_at = memory.now()
    with memory.locked():
        memory.store("team-experiences", made)
        observed = meta_observation(made)
        if observed is not None:
            memory.store("team-meta-observations", observed)


def complete(memory: Memory) -> int:
    """Draws anew what is missing of stored experiences because something was killed in between; returns how many."""
    with memory.locked():
        have = memory.raw("team-meta-observations")
        lost = [i for i in memory.raw("team-experiences") if i not in have]
        mended = 0
        for identifier in lost:
            observed = meta_observation(memory.get("team-experiences", identifier))
            if observed is not None:
                memory.store("team-meta-observations", observed)
                mended += 1
    return mended


def _known(value: str | None, kind: str) -> Any:
    """A word of an enumeration, or None for one that is not of it (the team says its own name for it)."""
    from sessionbank.team import model

    allowed = {
        "complexity": model.COMPLEXITIES,
        "topology": model.TOPOLOGIES,
        "enforcement": model.ENFORCEMENTS,
    }[kind]
    return value if value in allowed else None


def _time(team: Team) -> datetime | None:
    times = [m.ended_at or m.started_at for m in team.member_list]
    times += [e.timestamp for e in team.interaction_list]
    known = [t if t.tzinfo else t.replace(tzinfo=UTC) for t in times if t is not None]
    return max(known) if known else None


def _places(
    team: Team, analysis: x.TeamAnalysisResult, read: Mapping[str, Any], *, assessed: Mapping[str, list[str]]
) -> dict[str, Evidence]:
    """Where in the transcripts stands what the analysis refers to."""
    edges: dict[str, None] = {}
    steps: dict[tuple[str, int], None] = {}
    for credit in analysis.agent_credits:
        steps.update({(credit.agent_id, s.step_index): None for s in credit.step_attributions})
    for lesson in analysis.role_lessons:
        steps.update({(lesson.agent_id, e.step_index): None for e in lesson.evidence})
    for shown in assessed.values():
        edges.update(dict.fromkeys(shown))
    if analysis.coordination_assessment:
        seen = analysis.coordination_assessment
        for shown in (
            *(p.interaction_ids for p in seen.observed_patterns),
            *(p.interaction_ids for p in seen.observed_anti_patterns),
        ):
            edges.update(dict.fromkeys(shown))
    for practice in read["detected-practices"]:
        edges.update(dict.fromkeys(practice["interaction_ids"][:MOST_PLACES]))
        steps.update(dict.fromkeys((str(a), int(n)) for a, n in practice["steps"][:MOST_PLACES]))
    places = {}
    for edge in team.interaction_list:
        if edge.interaction_id in edges:
            raw = edge_record(team, edge)
            places[f"interaction {edge.interaction_id}"] = Evidence(
                run_id=team.id,
                interaction_id=edge.interaction_id,
                agent_id=edge.from_agent,
                step_index=raw["from"]["step_index"],
                session_id=edge.session_id,
                message_uuid=edge.message_uuid,
                tool_call_id=edge.tool_call_id,
                note=f"{edge.type} to {edge.to_role or edge.to_agent}: {_short(edge.content)}",
            )
    for agent, number in steps:
        for step in team.step_lists.get(agent, ()):
            if step.step == number:
                places[f"step {agent} {number}"] = Evidence(
                    run_id=team.id, agent_id=agent, step_index=number, session_id=step.session_id,
                    message_uuid=step.message_uuid, tool_call_id=step.tool_call_id,
                    note=f"{step.action_name}: {_short(step.action_input or step.thought)}",
                )  # fmt: skip
    return places


def _assessed(team: Team, analysis: x.TeamAnalysisResult) -> dict[str, list[str]]:
    """The interactions that each assessment of work between two roles is about, those that the agent sent first."""
    roles = agents(team)
    found: dict[str, list[str]] = {}
    for lesson in analysis.role_lessons:
        own = lesson.agent_id
        for item in lesson.interaction_assessment:
            sent: list[str] = []
            received: list[str] = []
            for edge in team.interaction_list:
                if edge.type != item.interaction_type or own not in (edge.from_agent, edge.to_agent):
                    continue
                is_sent = edge.from_agent == own
                other = (edge.to_agent, edge.to_role) if is_sent else (edge.from_agent, edge.from_role)
                if item.with_role in (*other, roles.get(other[0])):
                    (sent if is_sent else received).append(edge.interaction_id)
            found[_pair(lesson, item)] = [*sent, *received][:MOST_SHOWN]
    return found


def _pair(lesson: outputs.RoleLesson, item: outputs.InteractionAssessment) -> str:
    return f"{lesson.agent_id} with {item.with_role}: {item.interaction_type}"


def _evidence(made: x.TeamExperience, edges: Any, steps: Any) -> list[Evidence]:
    keys = [f"interaction {i}" for i in list(edges)[:MOST_PLACES]]
    keys += [f"step {a} {n}" for a, n in list(steps)[:MOST_PLACES]]
    found = [made.places[k] for k in keys if k in made.places][:MOST_PLACES]
    found = found or [Evidence(run_id=made.id, note="the run as a whole")]
    supports = made.outcome.success if made.outcome.label != "partial" else None
    return [e.model_copy(update={"supports": supports}) for e in found]


def _mentions(made: x.TeamExperience) -> list[x.Mention]:
    """Lessons in an analyst's own words. The rule analyst's only repeat the practices, which are counted already."""
    found: list[x.Mention] = []
    rule = RuleAnalyst.name
    by_role = {n: w for n, w in made.written_by.items() if n.startswith("role-lessons/")}
    if by_role and any(w != rule for w in by_role.values()):
        for lesson in made.analysis.role_lessons:
            evidence = _evidence(made, (), [(lesson.agent_id, e.step_index) for e in lesson.evidence])
            for direction, texts in (("do", lesson.strengths), ("avoid", lesson.improvements)):
                found += [
                    x.Mention(direction=direction, text=t.strip(), role=lesson.role, evidence=evidence)  # type: ignore[arg-type]
                    for t in texts
                    if t.strip()
                ]
    if made.analysis.team_lessons and made.written_by.get("team-lessons.json", rule) != rule:
        lessons = made.analysis.team_lessons
        told = [(item.lesson, item.evidence) for item in lessons.composition_lessons]
        told += [(item.lesson, item.evidence) for item in lessons.coordination_lessons]
        for text, why in told:
            note = Evidence(run_id=made.id, note=why[:300])
            found.append(x.Mention(direction="do", text=text.strip(), source="team lesson", evidence=[note]))
    return [m for m in found if m.text]


def _teamwork(made: x.TeamExperience) -> list[x.Teamwork]:
    found = []
    for lesson in made.analysis.role_lessons:
        for item in lesson.interaction_assessment:
            keys = [f"interaction {i}" for i in made.assessed.get(_pair(lesson, item), ())]
            places = [made.places[k] for k in keys if k in made.places]
            found.append(x.Teamwork(
                role=lesson.role, with_role=item.with_role, interaction_type=item.interaction_type,
                quality=item.quality, recommendation=item.recommendation, example=places[0].note if places else "",
                evidence=places or [Evidence(run_id=made.id, agent_id=lesson.agent_id, note=item.observation)],
            ))  # fmt: skip
    return found


def _short(text: str | None) -> str:
    flat = " ".join((text or "").split())
    return flat if len(flat) <= 160 else flat[:157] + "..."


def gap_filled(found: Outputs, by_rule: Outputs, *, folder: Path) -> list[str]:
    """Puts the rule analyst's value wherever `found` has none, marks it, and writes it; returns the files filled."""
    from sessionbank.learning.readback import attribute, write_outputs

    filled = Outputs()
    for name in found.missing:
        if name == outputs.ROLE_LESSONS:
            found.role_lessons = by_rule.role_lessons
            filled.role_lessons = by_rule.role_lessons
        else:
            value = getattr(by_rule, attribute(name))
            setattr(found, attribute(name), value)
            setattr(filled, attribute(name), value)
    written = write_outputs(folder, filled)
    for name in written:
        found.by[name] = RuleAnalyst.name
    return written
