"""What memory knows, as Markdown that an agent reads: playbooks for a role, a team, an analysis. Nothing is chosen here
by a model, and rejected lines are never told.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sessionbank.learning import playbooks as pb
from sessionbank.learning.distill import role_key
from sessionbank.team.model import EVERYONE

if TYPE_CHECKING:
    from sessionbank.learning.memory import Memory

ANALYSIS_DOMAIN = "team-analysis"
TASK_OF_ANALYSIS = "analyse multi-agent team execution extract learning signals"


def find_matching(
    memory: Memory,
    kind: str,
    text: str = "",
    *,
    role: str | None = None,
    topology: str | None = None,
    domain: str | None = None,
    limit: int = 5,
) -> list[tuple[Any, float]]:
    """Things of a kind that fit, as (model, match from 0 to 1), best first; ties in order of id.

    The match is the mean of how alike the text is to the thing's task types (where there is a text) and of whether
    domain and topology fit (1), are open (0.5) or are others (0). A role must be the very one (a number at its end
    aside).

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, find_matching
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> [(playbook.id, match) for playbook, match in find_matching(memory, "role-playbooks", role="tester")]
        [('role-tester', 0.5)]
    """
    values, alike = memory.look(kind, text, limit=200)
    # without a context to fit, only what is alike at all can match
    ids = alike if text and role is None and domain is None and topology is None else values
    asked = [(n, wanted) for n, wanted in enumerate((domain, topology)) if wanted is not None]
    scored = []
    for identifier in ids:
        value = values[identifier]
        if role is not None and role_key(str(value.get("role"))) != role_key(role):
            continue
        match, parts = (alike.get(identifier, 0.0), 1) if text else (0.0, 0)
        if asked:
            here = _contexts(kind, value)
            for place, wanted in asked:
                match += 1.0 if wanted in here[place] else 0.0 if here[place] else 0.5
            parts += len(asked)
        match = match / parts if parts else 0.5
        if match > 0 or role is not None:
            scored.append((-match, identifier))
    best = heapq.nsmallest(limit, scored)
    return [(memory.get(kind, identifier), -match) for match, identifier in best]


def _contexts(kind: str, value: dict[str, Any]) -> tuple[Sequence[str], Sequence[str]]:
    if kind == "role-playbooks":
        return value["team_context"]["domains"], value["team_context"]["topologies"]
    if kind == "team-playbooks":
        topology = value["composition"].get("topology")
        return value["applicability"]["domains"], _own(topology)
    if kind == "team-experiences":
        record = value["team_trajectory"]
        return _own(record.get("domain")), _own(record.get("topology_type"))
    return _own(value.get("domain")), ()


def _own(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()


def role_guidance(
    memory: Memory,
    role: str,
    *,
    task: str = "",
    topology: str | None = None,
    domain: str | None = None,
    limit: int = 2,
) -> str:
    """The section "Team Role Guidance" of an agent's prompt; empty when memory has no playbook for the role.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, role_guidance
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> print(role_guidance(memory, "tester").strip())
        ## Team Role Guidance
        <BLANKLINE>
        ### tester (0% confidence)
        **Your Role:** tester
        **Responsibilities:**
          - Run the tests. (claimed: 0 runs for, 0 against)
    """
    found = find_matching(
        memory, "role-playbooks", task, role=role, topology=topology, domain=domain, limit=limit
    )
    parts = [
        role_text(playbook) for playbook, _ in found if any(line.is_active for _, line in playbook.lines())
    ]
    return _may_leave("\n\n".join(["## Team Role Guidance", *parts]) + "\n") if parts else ""


def _may_leave(text: str) -> str:
    """Without secrets, addresses and names of users: prompts of agents go to models."""
    from sessionbank.trajectory.redact import Redactor

    return Redactor().text(text)


def role_text(playbook: pb.RolePlaybook) -> str:
    """A role playbook as an agent reads it."""
    guidance = playbook.guidance
    where = "/".join(playbook.team_context.topologies)
    out = [
        f"### {_flat(playbook.name)} ({playbook.confidence:.0%} confidence)",
        f"**Your Role:** {_flat(playbook.role)}" + (f" in {where} team" if where else ""),
        *_section("**Responsibilities:**", guidance.responsibilities),
    ]
    for item in guidance.interaction_guidance:
        lines = _section(
            f"**Working with {'all members' if item.with_role == EVERYONE else _flat(item.with_role)}:**",
            [item.guidance],
        )
        out += lines
        if lines:
            out += [f"  - Example: {_flat(e)}" for e in item.examples]
            out += [f"  - Not: {_flat(line.text)}" for line in item.anti_patterns if line.is_active]
    for choice in guidance.decision_frameworks:
        out += _section(f"**When {_flat(choice.when)}:**", [choice.guidance])
    out += _section("**Avoid:**", guidance.anti_patterns)
    return "\n".join(out)


def team_text(playbook: pb.TeamPlaybook, *, match: float | None = None) -> str:
    """A team playbook as an agent reads it."""
    roles = " + ".join(f"{slot.typical} {_flat(slot.role)}" for slot in playbook.composition.roles)
    fit = playbook.applicability
    out = [
        f"#### {_flat(playbook.name)}" + (f" ({match:.0%} match)" if match is not None else ""),
        f"**Composition:** {roles or 'not known'} in {playbook.composition.topology or 'any'} topology",
        f"**Runs:** {fit.runs}, of which {fit.successes:g} succeeded",
        *_section("**Composition advice:**", playbook.composition.lines),
        *_section("**Key Patterns:**", playbook.coordination.patterns),
        *_section("**Avoid:**", playbook.coordination.anti_patterns),
        *_section("**Success Indicators:**", playbook.success_indicators),
    ]
    return "\n".join(out)


def task_text(playbook: pb.TaskPlaybook) -> str:
    """A task playbook as an agent reads it."""
    out = [
        f"### {_flat(playbook.name)} ({playbook.confidence:.0%} confidence)",
        *_section("**Strategy:**", playbook.strategy),
        *_section("**Avoid:**", playbook.anti_patterns),
    ]
    return "\n".join(out)


def _section(title: str, lines: Iterable[pb.Line]) -> list[str]:
    told = [f"  - {_flat(line.text)}{_how_sure(line)}" for line in lines if line.is_active]
    return [title, *told] if told else []


def _how_sure(line: pb.Line) -> str:
    """Established and accepted lines stand by themselves; of others the reader is told what they rest on."""
    if line.standing == "established" or (line.decisions and line.decisions[-1].action in ("accept", "edit")):
        return ""
    return f" ({line.standing}: {pb.counted(line.support.runs_for)} for, {line.support.runs_against} against)"


def _flat(text: str) -> str:
    """On one line: a text out of a transcript may not start a heading or a list of its own."""
    return " ".join(text.split())


def analysis_knowledge(
    memory: Memory, *, objective: str | None, domain: str | None, topology: str | None
) -> dict[str, str]:
    """What an analyst of a team is given: file name -> Markdown. Files without content are left out."""
    text = objective or ""
    teams = find_matching(memory, "team-playbooks", text, domain=domain, topology=topology, limit=3)
    past = find_matching(memory, "team-experiences", text, domain=domain, limit=3) if text else []
    how = find_matching(memory, "playbooks", TASK_OF_ANALYSIS, domain=ANALYSIS_DOMAIN, limit=5)
    ours = [p for p, _ in how if p.domain == ANALYSIS_DOMAIN]
    files = {
        "team-playbooks.md": _page("Applicable Team Playbooks", [team_text(p, match=m) for p, m in teams]),
        "past-analyses.md": _page("Analyses of Similar Teams", [_past(e, m) for e, m in past]),
        "analysis-guidance.md": _page("Analysis Guidance", [task_text(p) for p in ours]),
    }
    return {name: page for name, page in files.items() if page}


def _page(title: str, parts: Sequence[str]) -> str:
    return "\n\n".join([f"### {title}", *parts]) + "\n" if parts else ""


def _past(made: Any, match: float) -> str:
    seen = made.analysis.coordination_assessment
    names = (
        [p.name for p in seen.observed_patterns] + [p.name for p in seen.observed_anti_patterns]
        if seen
        else []
    )
    return (
        f"#### {_flat(made.team_trajectory.objective or made.id)[:200]} ({match:.0%} match)\n"
        f"**Outcome:** {made.outcome.label}; **patterns:** {_flat(', '.join(names)) or 'none'}\n\n"
        f"{_flat(seen.narrative)[:1500] if seen else ''}"
    )


def member_config(
    memory: Memory,
    role: str,
    *,
    task: str,
    topology: str | None = None,
    domain: str | None = None,
    agent_type: str = "claude-code",
) -> dict[str, Any]:
    """What starts a member: role, task, and the text to add to its system prompt, with the playbooks that it is from.

    Nothing is started. Hand `playbooks` back to `feedback` when the outcome is known.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, member_config
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> member = member_config(memory, "tester", task="Test the checkout")
        >>> member["agent_type"], member["playbooks"]["role-playbooks"]
        ('claude-code', ['role-tester'])
    """
    skills = [
        p
        for p, _ in find_matching(memory, "playbooks", task, domain=domain, limit=3)
        if p.domain != ANALYSIS_DOMAIN
    ]
    texts = [task_text(p) for p in skills if any(line.is_active for _, line in p.lines())]
    parts = ["\n\n".join(["## Task Skills", *texts]) + "\n"] if texts else []
    guidance = role_guidance(memory, role, task=task, topology=topology, domain=domain)
    used = [
        p.id
        for p, _ in find_matching(
            memory, "role-playbooks", task, role=role, topology=topology, domain=domain, limit=2
        )
    ]
    return {
        "agent_type": agent_type, "role": role, "task": {"description": task, "domain": domain},
        "system_prompt_additions": _may_leave("\n".join([*parts, guidance] if guidance else parts)),
        "playbooks": {"playbooks": [p.id for p in skills], "role-playbooks": used if guidance else []},
    }  # fmt: skip


def feedback(
    memory: Memory, playbooks: dict[str, list[str]], *, run_id: str, success: bool | None, note: str = ""
) -> list[str]:
    """Notes that a run used playbooks and how it ended; the same run told again changes its entry. Returns their ids.

    `playbooks` maps a kind of memory to ids, as `member_config` gives.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, feedback
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> feedback(memory, {"role-playbooks": ["role-tester"]}, run_id="run-1", success=True)
        ['role-tester']
        >>> memory.get("role-playbooks", "role-tester").evolution.success_count
        1
    """
    told = []
    for kind, ids in playbooks.items():
        for identifier in ids:

            def noted(playbook: pb.Playbook) -> pb.Playbook:
                now = memory.now()
                evolution = playbook.evolution
                old = next((u for u in evolution.uses if u.run_id == run_id), None)
                evolution.uses = [u for u in evolution.uses if u.run_id != run_id]
                evolution.uses.append(
                    pb.Use(run_id=run_id, success=success, at=old.at if old else now, note=note)
                )
                evolution.uses.sort(key=lambda u: (u.at, u.run_id))
                evolution.success_count = sum(u.success is True for u in evolution.uses)
                evolution.failure_count = sum(u.success is False for u in evolution.uses)
                evolution.last_used = max(u.at for u in evolution.uses)
                return playbook

            memory.update(kind, identifier, noted)
            told.append(identifier)
    return told
