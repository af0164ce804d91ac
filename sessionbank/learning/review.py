"""What a reviewer does with playbooks: read each line with its evidence, accept, edit, reject, merge, compare versions.

Every decision is kept with its line (who, when, why, what the text was), makes a new version, and survives later
distillation. Plain functions, for a notebook; their widget is elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sessionbank.errors import NotFoundError, QueryError
from sessionbank.learning import playbooks as pb
from sessionbank.learning.guidance import role_guidance
from sessionbank.learning.recommend import recommend_team
from sessionbank.learning.revise import bumped, difference

if TYPE_CHECKING:
    from sessionbank.bank import SessionBank
    from sessionbank.learning.memory import Memory

KINDS = ("role-playbooks", "team-playbooks", "playbooks")


def lines(
    memory: Memory, playbook_id: str | None = None, *, undecided_only: bool = False
) -> list[dict[str, Any]]:
    """One dict a line of a playbook (of all, without an id): kind, playbook_id, version, section, line_id, text,
    direction, standing, confidence, basis, runs, runs_for, runs_against, evidence (count), contradictions, variants,
    decision, reviewer. In order of playbook and section; `undecided_only` leaves out what a reviewer decided.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, lines
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> [(row["line_id"], row["section"], row["runs_for"], row["decision"]) for row in lines(memory)]
        [('line-1', 'responsibilities', 0, None)]
    """
    rows = []
    for kind in KINDS:
        for playbook in memory.all(kind):
            if playbook_id is not None and playbook.id != playbook_id:
                continue
            for section, line in playbook.lines():
                if undecided_only and line.decisions:
                    continue
                last = line.decisions[-1] if line.decisions else None
                rows.append({
                    "kind": kind, "playbook_id": playbook.id, "version": playbook.evolution.version, "section": section,
                    "line_id": line.id, "text": line.text, "direction": line.direction, "standing": line.standing,
                    "confidence": line.confidence, "basis": line.basis, "runs": line.support.runs,
                    "runs_for": line.support.runs_for, "runs_against": line.support.runs_against,
                    "evidence": len(line.evidence), "contradictions": line.contradictions, "variants": line.variants,
                    "decision": last.action if last else None, "reviewer": last.reviewer if last else None,
                })  # fmt: skip
    return rows


def evidence(
    memory: Memory, playbook_id: str, line_id: str, *, bank: SessionBank | None = None
) -> list[dict[str, Any]]:
    """One dict a place that the line rests on: the fields of `playbooks.Evidence`, ``objective`` and ``outcome`` of the
    run, and, where `bank` holds the session, of the message there ``seq``, ``message`` (its text, else what it called)
    and ``raw`` (the stored transcript lines). These are None where the place is no message, and as stored: not redacted.
    """
    _, playbook = _find(memory, playbook_id)
    line = _line(playbook, line_id)
    runs = {**memory.raw("team-experiences"), **memory.raw("experiences")}
    rows = []
    for place in line.evidence:
        run = runs.get(place.run_id)
        row = place.model_dump()
        row["objective"] = (
            (run.get("task") or run.get("team_trajectory", {}).get("objective")) if run else None
        )
        outcome = run.get("outcome") if run else None
        row["outcome"] = outcome.get("label") if isinstance(outcome, dict) else outcome
        row.update(_message(place, bank))
        rows.append(row)
    return rows


def _message(place: pb.Evidence, bank: SessionBank | None) -> dict[str, Any]:
    found: dict[str, Any] = {"seq": None, "message": None, "raw": None}
    session = bank.get_by_session_id(place.session_id) if bank is not None and place.session_id else None
    message = session.message(place.message_uuid) if session and place.message_uuid else None
    if session is None or message is None:
        return found
    calls = [f"{c.tool_name} {c.input or ''}".strip() for c in session.tool_calls if c.seq == message.seq]
    found["seq"], found["message"] = message.seq, message.text or "\n".join(calls) or None
    with suppress(NotFoundError):  # a clone may lack the bytes
        found["raw"] = session.raw(message)
    return found


def accept(memory: Memory, playbook_id: str, line_id: str, *, reviewer: str, reason: str) -> pb.Playbook:
    """Accepts a line: it is told without a caveat and stays, whatever runs say later. Returns the playbook.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, accept
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> accept(memory, "role-tester", "line-1", reviewer="ada", reason="as we do it").evolution.version
        '1.1.0'
    """
    return _decide(memory, playbook_id, line_id, decision=_decision(memory, "accept", reviewer, reason))


def edit(
    memory: Memory, playbook_id: str, line_id: str, *, text: str, reviewer: str, reason: str
) -> pb.Playbook:
    """Gives a line another text; the old one stays among its variants. Returns the playbook.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, edit
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> edit(memory, "role-tester", "line-1", text="Run all tests.", reviewer="ada", reason="as we do it").line("line-1").variants
        ['Run the tests.']
    """
    if not text.strip():
        raise QueryError("the new text of a line must not be empty; reject the line instead")

    def change(line: pb.Line, decision: pb.Decision) -> None:
        decision.before, decision.after = line.text, text.strip()
        line.variants = sorted({*line.variants, line.text} - {text.strip()})
        line.text = text.strip()

    return _decide(
        memory, playbook_id, line_id, decision=_decision(memory, "edit", reviewer, reason), change=change
    )


def reject(memory: Memory, playbook_id: str, line_id: str, *, reviewer: str, reason: str) -> pb.Playbook:
    """Rejects a line: it stays in the playbook with the decision, and is told to nobody. Returns the playbook.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, reject, role_guidance
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> reject(memory, "role-tester", "line-1", reviewer="ada", reason="as we do it").line("line-1").is_active
        False
        >>> role_guidance(memory, "tester")
        ''
    """
    return _decide(memory, playbook_id, line_id, decision=_decision(memory, "reject", reviewer, reason))


def merge(
    memory: Memory, playbook_id: str, line_id: str, *, into: str, reviewer: str, reason: str
) -> pb.Playbook:
    """Merges a line into another of the same playbook: text and evidence go there, the line itself is told no more.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, merge
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line, "Do run tests."]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> other = tester.guidance.responsibilities[1]
        >>> merge(memory, "role-tester", other.id, into="line-1", reviewer="ada", reason="as we do it").line("line-1").variants
        ['Do run tests.']
    """
    if into == line_id:
        raise QueryError("a line cannot be merged into itself")
    _line(_find(memory, playbook_id)[1], into)
    decision = _decision(memory, "merge", reviewer, reason)
    decision.into = into

    def change(playbook: pb.Playbook, line: pb.Line) -> None:
        target = _line(playbook, into)
        target.variants = sorted({*target.variants, line.text, *line.variants} - {target.text})
        known = {e.model_dump_json() for e in target.evidence}
        target.evidence += [e for e in line.evidence if e.model_dump_json() not in known]

    return _decide(memory, playbook_id, line_id, decision=decision, also=change)


def compare(memory: Memory, playbook_id: str, version: str, *, to: str | None = None) -> list[str]:
    """What changed from one version to another (None: the present one), a sentence a line.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, accept, compare
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> accept(memory, "role-tester", "line-1", reviewer="ada", reason="as we do it").evolution.version
        '1.1.0'
        >>> compare(memory, "role-tester", "1.0.0")
        ['responsibilities: accept by ada: Run the tests.']
    """
    kind, _ = _find(memory, playbook_id)
    by_version = {p.evolution.version: p for p in memory.versions(kind, playbook_id)}
    wanted = to or list(by_version)[-1]
    for name in (version, wanted):
        if name not in by_version:
            raise NotFoundError(f"{playbook_id} has no version {name!r}; there are {', '.join(by_version)}")
    return difference(by_version[version], by_version[wanted])


def changes_recommendations(
    memory: Memory, playbook_id: str, line_id: str, *, tasks: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Which recommendations tell this line, and would not if it were rejected: one dict a task (task, where, text).

    `tasks` are tasks in words; without them, the objectives of the runs in memory, at most 50.

    Example:
        >>> from sessionbank.learning import Line, Memory, RolePlaybook, changes_recommendations
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> memory = Memory("memory")
        >>> memory.store("role-playbooks", tester).name
        'role-tester.json'
        >>> changes_recommendations(memory, "role-tester", "line-1", tasks=["Test the checkout"])
        []
    """
    kind, playbook = _find(memory, playbook_id)
    line = _line(playbook, line_id)
    if tasks is None:
        objectives = [
            v["team_trajectory"].get("objective") for _, v in sorted(memory.raw("team-experiences").items())
        ]
        tasks = list(dict.fromkeys(o for o in objectives if o))[:50]
    found = []
    for task in tasks:
        told = recommend_team(memory, task)
        if (
            kind == "team-playbooks"
            and playbook_id in told.team_playbooks
            and line.text in (*told.do, *told.avoid)
        ):
            found.append(
                {"task": task, "where": "do" if line.text in told.do else "avoid", "text": line.text}
            )
        for role in told.roles if kind == "role-playbooks" else ():
            text = " ".join(line.text.split())
            if playbook_id in role.playbooks and text in role_guidance(
                memory, role.role, task=task, topology=told.topology
            ):
                found.append({"task": task, "where": f"guidance of {role.role}", "text": line.text})
    return found


def _find(memory: Memory, playbook_id: str) -> tuple[str, pb.Playbook]:
    for kind in KINDS:
        found = memory.find(kind, playbook_id)
        if found is not None:
            return kind, found
    raise NotFoundError(f"memory has no playbook {playbook_id!r}")


def _line(playbook: pb.Playbook, line_id: str) -> pb.Line:
    found = playbook.line(line_id)
    if found is None:
        raise NotFoundError(f"{playbook.id} has no line {line_id!r}")
    return found


def _decision(memory: Memory, action: pb.Action, reviewer: str, reason: str) -> pb.Decision:
    if not reviewer.strip() or not reason.strip():
        raise QueryError("a decision names its reviewer and its reason")
    return pb.Decision(action=action, reviewer=reviewer.strip(), at=memory.now(), reason=reason.strip())


def _decide(
    memory: Memory,
    playbook_id: str,
    line_id: str,
    *,
    decision: pb.Decision,
    change: Callable[[pb.Line, pb.Decision], None] | None = None,
    also: Callable[[pb.Playbook, pb.Line], None] | None = None,
) -> pb.Playbook:
    kind, _ = _find(memory, playbook_id)

    def decided(playbook: pb.Playbook) -> pb.Playbook:
        old = playbook.model_copy(deep=True)
        line = _line(playbook, line_id)
        if change is not None:
            change(line, decision)
        if also is not None:
            also(playbook, line)
        line.decisions.append(decision)
        reason = f"{decision.action} by {decision.reviewer}: {decision.reason}"
        return bumped(playbook, at=decision.at, reason=reason, changes=difference(old, playbook))

    changed: pb.Playbook = memory.update(kind, playbook_id, decided)
    return changed
