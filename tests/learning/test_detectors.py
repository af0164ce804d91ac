"""Detectors find a practice where it was put, and only there."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from sessionbank.learning.detectors import PRACTICES, detect
from sessionbank.team.model import Interaction, Member, Team
from tests.learning import planted


@pytest.mark.parametrize("name", planted.PRACTICES)
def test_each_planted_practice_is_found_alone(name):
    for other in (False, True):
        flags = dict.fromkeys(planted.PRACTICES, other)
        for here in (False, True):
            found = {d.name for d in detect(planted.team(1, {**flags, name: here}, "success"))}
            assert (name in found) is here
            assert found & set(planted.PRACTICES) == {n for n, f in {**flags, name: here}.items() if f}


def test_all_mixtures_are_told_apart_and_the_outcome_is_not_looked_at():
    chance = random.Random(3)
    for flags in chance.sample(list(itertools.product((False, True), repeat=7)), 40):
        wanted = dict(zip(planted.PRACTICES, flags, strict=True))
        by_outcome = [detect(planted.team(2, wanted, o)) for o in ("success", "failure", None)]
        assert by_outcome[0] == by_outcome[1] == by_outcome[2]
        assert {d.name for d in by_outcome[0]} & set(planted.PRACTICES) == {n for n, f in wanted.items() if f}


def test_evidence_names_edges_and_steps_that_exist():
    team = planted.team(1, dict.fromkeys(planted.PRACTICES, True), "success")
    ids = {e.interaction_id for e in team.interaction_list}
    for found in detect(team):
        assert found.interaction_ids or found.steps
        assert set(found.interaction_ids) <= ids
        assert all(any(s.step == n for s in team.step_lists[a]) for a, n in found.steps)
        assert found.name in PRACTICES
        assert set(found.told) <= set(found.roles)


def test_advice_speaks_to_those_whose_doing_it_is():
    team = planted.team(1, dict.fromkeys(planted.PRACTICES, True), "success")
    told = {d.name: d.told for d in detect(team)}
    assert told["fan-out"] == ("lead",)
    assert told["specific-delegation"] == ("lead",)
    assert told["evidence-in-result"] == told["late-escalation"] == ("worker",)
    assert set(told["ping-pong"]) == {"lead", "checker"}


def _edges(*told, team=None):
    """A team with edges (type, from, to, content), all members without steps."""
    agents = dict.fromkeys(a for _, one, other, *_ in told for a in (one, other))
    edges = [
        Interaction(
            f"x{i}", None, None, kind, None, one, one, None, other, other, None, rest[0] if rest else None
        )
        for i, (kind, one, other, *rest) in enumerate(told)
    ]
    members = tuple(Member(None, a, role=a, is_lead=a == "lead") for a in agents)
    return Team("t", member_list=members, interaction_list=tuple(edges))


def _names(team):
    return {d.name for d in detect(team)}


def test_relay_needs_a_third_member_and_the_same_content():
    text = "The login page fails with error 500 when the password is empty"
    assert "relay" in _names(_edges(("message", "a", "b", text), ("message", "b", "c", f"From a: {text}")))
    assert "relay" not in _names(
        _edges(("message", "a", "b", text), ("message", "b", "a", f"You said: {text}"))
    )
    assert "relay" not in _names(
        _edges(("message", "a", "b", text), ("message", "b", "c", "Lunch is at twelve"))
    )


def test_bottleneck_needs_four_members_and_most_requests():
    star = [("message", x, "hub") for x in "abcde"]
    assert "bottleneck" in _names(_edges(*star))
    assert "bottleneck" not in _names(_edges(*[("message", x, "hub") for x in "abab"], ("message", "a", "b")))
    spread = [
        ("message", "a", "b"),
        ("message", "b", "c"),
        ("message", "c", "d"),
        ("message", "d", "a"),
        ("message", "a", "c"),
    ]
    assert "bottleneck" not in _names(_edges(*spread))


def test_silent_worker_is_who_was_asked_and_never_wrote():
    assert "silent-worker" in _names(
        _edges(("delegation", "lead", "a"), ("delegation", "lead", "b"), ("result_return", "b", "lead"))
    )
    assert "silent-worker" not in _names(_edges(("delegation", "lead", "b"), ("result_return", "b", "lead")))


def test_orphaned_result_is_one_after_which_the_receiver_does_nothing():
    team = planted.team(1, dict.fromkeys(planted.PRACTICES, False), "success")
    assert "orphaned-result" not in _names(team)
    last = next(e for e in reversed(team.interaction_list) if e.type == "result_return")
    place = team.interaction_list.index(last)
    at = next(i for i, s in enumerate(team.step_lists["lead"]) if last.interaction_id in s.interaction_ids)
    cut = replace(
        team, interaction_list=team.interaction_list[: place + 1],
        step_lists={**team.step_lists, "lead": team.step_lists["lead"][: at + 1]},
    )  # fmt: skip
    assert "orphaned-result" in _names(cut)


def test_scope_creep_is_about_files_that_the_task_did_not_name():
    flags = dict.fromkeys(planted.PRACTICES, False)
    team = planted.team(1, {**flags, "specific-delegation": True}, "success")
    assert "scope-creep" not in _names(team)  # cart.py was named
    steps = list(team.step_lists["worker-1"])
    edit = next(s for s in steps if s.action_name == "edit")
    steps += [replace(edit, step=90 + i, action_input=f'{{"path": "elsewhere/{i}.py"}}') for i in range(3)]
    assert "scope-creep" in _names(replace(team, step_lists={**team.step_lists, "worker-1": tuple(steps)}))
