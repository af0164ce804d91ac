"""The four parts of an interaction's score, each in [0, 1], with the reasons in words. Weights are `score`'s.

- ``downstream_success``: how well what followed at the receiver went. 1 when it went on without a failure that
  stayed; 1 / (1 + failures that stayed + a quarter of those mended) over its next steps (until it hears from someone
  again, `WINDOW` at most). 0 when the interaction failed or never arrived. It shrinks when a task was never answered,
  was sent back without work, was given out again, when what it carried was never used, or when an answer passes over
  a failure that stayed.
- ``latency_penalty``: 0 up to the usual time of its type, 1 at 32 times that (a fifth for each doubling); 1 for what
  never arrived. An escalation is late by the failures before it: 0 up to two, 1 from six on.
- ``expected``: 1 expected, 0 emergent.
- ``information_density``: n / (n + 2) for the n identifiers it carries that the receiver writes later; where the
  receiver's steps were not seen, n / (n + 4) for those it carries.

A part is missing where nothing tells it: the receiver's steps are in no transcript, no time is known, no template.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

from sessionbank.team.activity import Links, millis
from sessionbank.team.identifiers import identifiers
from sessionbank.team.model import Interaction, Team
from sessionbank.team.step_facts import AgentFacts

WINDOW = 8  # steps of the receiver that are looked at
LEAST_USUAL_MS = 5000.0  # agents think in seconds: no delay is judged against less
ASKS = frozenset({"delegation", "spawn"})
ANSWERS = frozenset({"result_return", "escalation", "message", "signal"})
PARTS = ("downstream_success", "latency_penalty", "expected", "information_density")
_OWNS_UP = re.compile(
    r"fail|error|broken|block|unable|could ?n[o']t|can(?:no|')t|not (?:done|finish|pass|work|fix)|problem",
    re.I,
)


@dataclass(slots=True)
class Parts:
    """Parts of one interaction, None where nothing tells them, and what to say of it."""

    downstream_success: float | None = None
    latency_penalty: float | None = None
    expected: float | None = None
    information_density: float | None = None
    reasons: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _View:
    """What the parts of all interactions of a team are read from."""

    facts: Mapping[str, AgentFacts]
    arrived: dict[str, int | None]  # interaction_id -> place of the receiver's step, None where none shows it
    heard: dict[str, list[int]]  # agent -> places at which it received something, sorted
    linked: set[str]  # agents of which some step shows that it received something
    words: dict[str, set[str]]  # interaction_id -> identifiers of its content
    again: dict[
        str, Interaction
    ]  # interaction_id -> the first time that the same task was given to another later
    place: dict[str, int]  # interaction_id -> place in the list
    answers: dict[
        tuple[str, str], list[tuple[int, int, Interaction]]
    ]  # (from, to) -> (time, place in list, answer)
    usual: dict[str, float]  # type -> usual delay in milliseconds


def interaction_parts(team: Team, where: Links, facts: Mapping[str, AgentFacts]) -> list[Parts]:
    """Parts of each interaction of the team, in the order of its list."""
    delays = [_delay(team, edge, where) for edge in team.interaction_list]
    view = _view(team, where, facts, delays=delays)
    found = []
    for number, edge in enumerate(team.interaction_list):
        parts = Parts()
        _downstream(parts, edge, number, view=view, sent_from=where.sent_from.get(edge.interaction_id))
        _latency(parts, edge, delays[number], view=view, sent_from=where.sent_from.get(edge.interaction_id))
        if edge.was_expected is not None:
            parts.expected = 1.0 if edge.was_expected else 0.0
            if not edge.was_expected:
                parts.reasons.append("emergent: no expected pattern allows it")
        _density(parts, edge, view)
        found.append(parts)
    return found


def _view(team: Team, where: Links, facts: Mapping[str, AgentFacts], *, delays: list[float | None]) -> _View:
    arrived: dict[str, int | None] = {}
    heard: dict[str, list[int]] = defaultdict(list)
    answers: dict[tuple[str, str], list[tuple[int, int, Interaction]]] = defaultdict(list)
    by_type: dict[str, list[float]] = defaultdict(list)
    for number, edge in enumerate(team.interaction_list):
        at = where.received_at.get(edge.interaction_id)
        mine = facts.get(edge.to_agent)
        if at is None and edge.to_step is not None and mine is not None and mine.steps:
            at = mine.at_seq(edge.to_step)
        arrived[edge.interaction_id] = at
        if at is not None:
            heard[edge.to_agent].append(at)
        if edge.type in ANSWERS and not edge.is_self:
            answers[edge.from_agent, edge.to_agent].append((millis(edge.timestamp) or 0, number, edge))
        if (delay := delays[number]) is not None:
            by_type[edge.type].append(delay)
    for places in heard.values():
        places.sort()
    everything = [d for many in by_type.values() for d in many]
    usual = {
        kind: max(median(many if len(many) > 4 else everything), LEAST_USUAL_MS)
        for kind, many in by_type.items()
    }
    words = {e.interaction_id: identifiers(e.content) for e in team.interaction_list}
    linked = {e.to_agent for e in team.interaction_list if e.interaction_id in where.received_at}
    again: dict[str, Interaction] = {}
    for earlier, later in _given_again(team, words):
        again.setdefault(earlier, later)
    place = {e.interaction_id: k for k, e in enumerate(team.interaction_list)}
    return _View(facts, arrived, heard, linked, words, again, place, answers, usual)


def _given_again(team: Team, words: Mapping[str, set[str]]) -> Iterator[tuple[str, Interaction]]:
    """Tasks whose sender gave the same one (three words in five the same) to someone else later, and that later one."""
    asked: dict[tuple[str, str], list[Interaction]] = defaultdict(list)
    for edge in team.interaction_list:
        if edge.type not in ASKS or not words[edge.interaction_id]:
            continue
        mine = words[edge.interaction_id]
        # the rarest word finds the candidates: comparing all with all would grow with the square
        for earlier in asked[edge.from_agent, min(mine)]:
            theirs = words[earlier.interaction_id]
            if earlier.to_agent != edge.to_agent and len(mine & theirs) >= 0.6 * len(mine | theirs):
                yield earlier.interaction_id, edge
        for word in mine:
            kept = asked[edge.from_agent, word]
            kept.append(edge)
            del kept[:-8]


def _delay(team: Team, edge: Interaction, where: Links) -> float | None:
    """Milliseconds from sending until a step of the receiver shows it, else its own latency."""
    at = where.received_at.get(edge.interaction_id)
    sent = millis(edge.timestamp)
    if sent is None and (k := where.sent_from.get(edge.interaction_id)) is not None:
        sent = millis(team.step_lists[edge.from_agent][k].started_at)
    received = None if at is None else millis(team.step_lists[edge.to_agent][at].started_at)
    if sent is not None and received is not None:
        return float(max(0, received - sent))
    return None if edge.latency_ms is None else float(max(0, edge.latency_ms))


def _is_lost(edge: Interaction, view: _View) -> bool:
    """Whether it never arrived: others reach this receiver, this one reaches none of its steps."""
    return view.arrived[edge.interaction_id] is None and edge.to_step is None and edge.to_agent in view.linked


def _downstream(parts: Parts, edge: Interaction, number: int, *, view: _View, sent_from: int | None) -> None:
    say = parts.reasons.append
    if edge.ok is False:
        parts.downstream_success = 0.0
        say("it failed")
        return
    if _is_lost(edge, view):
        parts.downstream_success = 0.0
        say("no step of the receiver shows it: never received")
        return
    at, mine = view.arrived[edge.interaction_id], view.facts.get(edge.to_agent)
    if at is not None and mine is not None:
        end = _until(view.heard[edge.to_agent], at)
        stays, failed = mine.open_in(at, end), mine.failed_in(at, end)
        parts.downstream_success = 1 / (1 + stays + 0.25 * (failed - stays))
        if stays:
            say(f"{stays} of the receiver's next {min(end, len(mine.steps)) - at} steps failed and stayed so")
    shrink = 1.0
    for factor, why in _faults(edge, number, view=view, sent_from=sent_from):
        shrink *= factor
        say(why)
    if shrink < 1:
        parts.downstream_success = (
            1.0 if parts.downstream_success is None else parts.downstream_success
        ) * shrink


def _until(heard: list[int], at: int) -> int:
    k = bisect_right(heard, at)
    return min(heard[k] if k < len(heard) else at + WINDOW, at + WINDOW)


def _faults(
    edge: Interaction, number: int, *, view: _View, sent_from: int | None
) -> Iterator[tuple[float, str]]:
    """What speaks against an interaction beyond the receiver's next steps: a factor and the reason."""
    mine = view.facts.get(edge.to_agent)
    at = view.arrived[edge.interaction_id]
    if edge.type in ASKS:
        answer = _answer(edge, number, view)
        again = view.again.get(edge.interaction_id)
        if again is not None and not _done_before(edge, number, again=again, view=view):
            yield 0.4, f"the same task was given to {again.to_agent} before it was done"
        known = (edge.to_agent, edge.from_agent) in view.answers
        if answer is None and known:
            yield 0.5, "never answered"
        elif answer is not None and at is not None and mine is not None:
            back = _step_of(answer, mine)
            if back is not None and not any(
                k in ("write", "check", "commit", "run") for k in mine.kinds[at:back]
            ):
                yield 0.5, "sent back without work"
        wanted = view.words[edge.interaction_id]
        if at is not None and mine is not None and len(wanted) > 1 and len(mine.steps) > at + 1:
            used = sum(mine.last_use.get(w, -1) >= at for w in wanted)
            if not used:
                yield 0.5, f"the receiver used none of the {len(wanted)} identifiers that it carries"
    elif edge.type == "result_return" and sent_from is not None:
        theirs = view.facts.get(edge.from_agent)
        if theirs is not None and not _OWNS_UP.search(edge.content or ""):
            since = _last_heard(view.heard.get(edge.from_agent, []), sent_from)
            stays = theirs.open_in(since, sent_from + 1)
            if stays:
                yield 0.4, f"it passes over {stays} failed step{'s' if stays > 1 else ''} of the sender"


def _done_before(edge: Interaction, number: int, *, again: Interaction, view: _View) -> bool:
    """Whether a result came back before the task was given again: then that is a review or the next round."""
    first = (millis(edge.timestamp) or 0, number)
    last = (millis(again.timestamp) or 0, view.place[again.interaction_id])
    answers = view.answers.get((edge.to_agent, edge.from_agent), [])
    return any(first < a[:2] < last and a[2].type == "result_return" for a in answers)


def _answer(edge: Interaction, number: int, view: _View) -> Interaction | None:
    answers = view.answers.get((edge.to_agent, edge.from_agent), [])
    k = bisect_left(answers, (millis(edge.timestamp) or 0, number), key=lambda a: a[:2])
    return answers[k][2] if k < len(answers) else None


def _step_of(edge: Interaction, mine: AgentFacts) -> int | None:
    return None if edge.from_step is None else mine.at_seq(edge.from_step)


def _last_heard(heard: list[int], at: int) -> int:
    """Place of the last step before `at` at which the agent received something; its first step when there is none."""
    k = bisect_left(heard, at)
    return heard[k - 1] if k else 0


def _latency(
    parts: Parts, edge: Interaction, delay: float | None, *, view: _View, sent_from: int | None
) -> None:
    if edge.ok is not False and _is_lost(edge, view):
        parts.latency_penalty = 1.0
        return
    if delay is not None:
        times = delay / view.usual[edge.type]
        parts.latency_penalty = min(1.0, max(0.0, math.log2(times) / 5)) if times > 0 else 0.0
        if times >= 4:
            usual = view.usual[edge.type] / 1000
            parts.reasons.append(f"took {delay / 1000:.0f} s, {times:.0f} times the usual {usual:.0f} s")
    theirs = view.facts.get(edge.from_agent)
    if edge.type == "escalation" and sent_from is not None and theirs is not None:
        since = _last_heard(view.heard.get(edge.from_agent, []), sent_from)
        failed = theirs.failed_in(since, sent_from)
        late = min(1.0, max(0.0, (failed - 2) / 4))
        parts.latency_penalty = max(late, parts.latency_penalty or 0.0)
        if late:
            parts.reasons.append(f"escalated only after {failed} failures")


def _density(parts: Parts, edge: Interaction, view: _View) -> None:
    carried = view.words[edge.interaction_id]
    at, mine = view.arrived[edge.interaction_id], view.facts.get(edge.to_agent)
    if at is not None and mine is not None:
        n = sum(mine.last_use.get(w, -1) >= at for w in carried)
        parts.information_density = n / (n + 2)
        if n >= 2:
            parts.reasons.append(f"the receiver used {n} identifiers that it carries")
    elif edge.content:
        parts.information_density = len(carried) / (len(carried) + 4)
