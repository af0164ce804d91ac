"""Templates: what each rule allows, what a bad file is told, conformance by hand, a template from what a team did."""

from __future__ import annotations

import copy

import pytest
import yaml

from sessionbank.errors import FormatError, NotFoundError, QueryError
from sessionbank.team import (
    apply_template,
    conformance,
    from_input,
    from_session,
    load_template,
    to_team_yaml,
    validate,
)
from sessionbank.team.model import Interaction, Member, Team
from tests.makers.banks import opened

BASE = {
    "name": "t", "version": 1, "roles": ["lead", "judge", "planner", "worker", "scout"],
    "topology": {
        "root": {"role": "lead"}, "companions": [{"role": "judge"}],
        "spawn_rules": {"planner": ["worker"], "worker": []},
    },
    "communication": {
        "enforcement": "audit",
        "channels": {"work": {"signals": ["DONE", "FAILED"]}, "plan": {"signals": ["READY", "DONE"]}},
        "subscriptions": {"planner": [{"channel": "work", "signals": ["DONE"]}], "scout": [{"channel": "plan"}]},
        "emissions": {"worker": ["DONE", "FAILED"], "planner": ["READY"]},
        "routing": {
            "peers": [
                {"from": "scout", "to": "planner", "via": "direct", "signals": ["FOUND"]},
                {"from": "judge", "to": "scout", "via": "direct"},
            ]
        },
    },
}  # fmt: skip

# type, from, to, channel, signal -> whether the template allows it, and by which rule
CASES = [
    ("message", "lead", "judge", None, None, True),  # root and companion
    ("message", "judge", "lead", None, None, True),  # and back
    ("message", "lead", "planner", None, None, False),  # root is not everybody's parent
    ("spawn", "planner", "worker", None, None, True),  # spawn rule
    ("delegation", "planner", "worker", None, None, True),
    ("result_return", "worker", "planner", None, None, True),  # the way back
    ("escalation", "worker", "planner", None, None, True),
    ("spawn", "worker", "planner", None, None, False),  # a child does not start its parent
    ("spawn", "worker", "scout", None, None, False),
    ("signal", "worker", "planner", "work", "DONE", True),
    ("signal", "worker", "scout", "plan", "DONE", True),  # scout hears all of plan, worker may emit DONE
    ("signal", "worker", "scout", "work", "DONE", False),  # not on the channel that scout hears
    ("signal", "worker", "scout", None, "done", True),  # no channel named; signals are told apart by letters alone
    ("signal", "worker", "scout", "plan", "FAILED", False),  # plan holds no FAILED
    ("signal", "scout", "scout", "plan", "READY", False),  # scout may not emit it
    ("signal", "planner", "scout", "plan", "READY", True),
    ("message", "scout", "planner", None, "FOUND", True),  # peer route with that signal
    ("message", "scout", "planner", None, "LOST", False),
    ("message", "scout", "planner", None, None, False),  # the route lists signals, and this is none of them
    ("message", "judge", "scout", None, None, True),  # a route without a list carries everything
    ("message", "scout", "judge", None, None, False),  # one way only
]  # fmt: skip


def edge(n, kind, source, target, channel=None, signal=None, **more):
    return Interaction(
        f"e{n}",
        None,
        None,
        kind,
        None,
        source,
        source,
        None,
        target,
        target,
        None,
        None,
        channel,
        signal,
        **more,
    )


def team_of(*edges, members=("lead", "judge", "planner", "worker", "scout")):
    return Team(
        "x",
        member_list=tuple(Member(None, m, m, is_lead=m == "lead") for m in members),
        interaction_list=tuple(edges),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]} {c[1]}-{c[2]} {c[4]}")
def test_what_is_expected(case):
    *what, allowed = case
    judged = apply_template(team_of(edge(0, *what)), BASE)
    assert judged.interaction_list[0].was_expected is allowed


def test_every_case_at_once_gives_the_conformance_table():
    judged = apply_template(team_of(*(edge(n, *c[:5]) for n, c in enumerate(CASES))), BASE)
    frame = conformance(judged)
    emergent = frame[frame["status"] == "undeclared_used"]
    assert emergent["uses"].sum() == sum(not c[5] for c in CASES)
    declared = frame[frame["status"] != "undeclared_used"].fillna("")
    uses = {(r.rule, r.from_role, r.to_role, r.channel, r.signal): r.uses for r in declared.itertuples()}
    assert uses == {  # counted by hand in CASES
        ("companion", "lead", "judge", "", ""): 2,
        # spawn, delegation, return, escalation, and DONE, which the subscription allows as well
        ("spawn_rule", "planner", "worker", "", ""): 5,
        ("subscription", "worker", "planner", "work", "DONE"): 1,
        ("subscription", "worker", "scout", "plan", "DONE"): 2,
        ("subscription", "planner", "scout", "plan", "READY"): 1,
        ("peer_route", "scout", "planner", "", "FOUND"): 1,
        ("peer_route", "judge", "scout", "", ""): 1,
    }
    assert set(declared["status"]) == {"declared_used"}


def test_declared_and_unused(root):
    runs = root / "data" / "team-runs"
    team = from_input(runs / "wave.json", template=load_template(runs / "wave.team.yaml"))
    assert (team.template, team.enforcement) == ("wave-team", "audit")
    assert [e.was_expected for e in team.interaction_list] == [True] * 8
    frame = conformance(team).fillna("")
    found = [(r.status, r.rule, r.from_role, r.to_role, r.signal, r.uses) for r in frame.itertuples()]
    assert found == [
        ("declared_unused", "companion", "orchestrator", "verifier", "", 0),
        ("declared_used", "spawn_rule", "orchestrator", "scout", "", 4),
        ("declared_used", "subscription", "orchestrator", "executor", "WAVE_STARTED", 2),
        ("declared_unused", "subscription", "orchestrator", "orchestrator", "WAVE_STARTED", 0),
        ("declared_used", "subscription", "executor", "orchestrator", "TASK_COMPLETE", 2),
        ("declared_unused", "subscription", "executor", "orchestrator", "TASK_FAILED", 0),
        ("declared_unused", "peer_route", "scout", "executor", "FINDINGS_READY", 0),
    ]
    assert team.declared_roles["executor-2"] == "executor"
    assert validate(team) == ()


def test_emissions_left_out_let_every_role_emit():
    value = copy.deepcopy(BASE)
    del value["communication"]["emissions"]
    judged = apply_template(team_of(edge(0, "signal", "judge", "planner", "work", "DONE")), value)
    assert judged.interaction_list[0].was_expected is True


def test_who_has_no_declared_role_is_emergent_and_undeclared():
    team = team_of(
        edge(0, "message", "judge", "stranger"),
        edge(1, "message", "stranger", "judge"),
        members=("lead", "judge", "stranger"),
    )
    judged = apply_template(team, BASE)
    assert [e.was_expected for e in judged.interaction_list] == [False, False]
    assert [m.is_declared for m in judged.member_list] == [True, True, False]
    assert [p.severity for p in validate(judged) if p.code == "undeclared_interaction"] == [
        "warning",
        "warning",
    ]


def test_a_broadcast_is_expected_when_every_receiver_is():
    judge_only = team_of(edge(0, "message", "lead", "*"), members=("lead", "judge"))
    more = team_of(edge(0, "message", "lead", "*"), members=("lead", "judge", "scout"))
    assert apply_template(judge_only, BASE).interaction_list[0].was_expected is True
    assert apply_template(more, BASE).interaction_list[0].was_expected is False


def test_the_harness_is_not_judged():
    judged = apply_template(team_of(edge(0, "signal", "system", "lead")), BASE)
    assert judged.interaction_list[0].was_expected is None


def test_nothing_declared_has_no_conformance(root):
    with pytest.raises(QueryError, match="apply_template"):
        conformance(from_input(root / "data" / "team-runs" / "flat.yaml"))


# -- bad files -------------------------------------------------------------------------------------------------------


def test_all_errors_of_shape_at_once():
    value = {
        "name": 3,
        "version": 2,
        "roles": [],
        "topology": {},
        "communication": {"enforcement": "rude", "routing": {"peers": [{"from": "a"}]}},
    }
    with pytest.raises(FormatError) as told:
        load_template(value)
    places = {line.strip().split(": ")[0] for line in str(told.value).splitlines()[1:]}
    assert places == {
        "name",
        "version",
        "roles",
        "topology.root",
        "communication.enforcement",
        "communication.routing.peers[0].to",
    }


def test_all_undeclared_names_at_once():
    value = copy.deepcopy(BASE)
    value["topology"]["root"]["role"] = "boss"
    value["topology"]["spawn_rules"]["planner"].append("ghost")
    said = value["communication"]
    said["subscriptions"]["scout"] = [{"channel": "nowhere"}, {"channel": "work", "signals": ["LUNCH"]}]
    said["emissions"]["worker"].append("LUNCH")
    said["routing"]["peers"][0]["to"] = "nobody"
    with pytest.raises(FormatError) as told:
        load_template(value)
    places = {line.strip().split(": ")[0] for line in str(told.value).splitlines()[1:]}
    assert places == {
        "topology.root.role", "topology.spawn_rules.planner[1]", "communication.subscriptions.scout[0].channel",
        "communication.subscriptions.scout[1].signals", "communication.emissions.worker[2]",
        "communication.routing.peers[0].to",
    }  # fmt: skip


def test_files_that_are_no_files(tmp_path):
    with pytest.raises(NotFoundError):
        load_template(tmp_path / "team.yaml")
    (tmp_path / "team.yaml").write_text("name: [")
    with pytest.raises(FormatError, match=r"team\.yaml"):
        load_template(tmp_path / "team.yaml")


def test_keys_of_other_programs_are_kept(root):
    template = load_template(root / "data" / "team-runs" / "wave.team.yaml")
    again = yaml.safe_load(template.to_yaml())
    assert again == yaml.safe_load((root / "data" / "team-runs" / "wave.team.yaml").read_text())


# -- written from what a team did ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hierarchical.json", "flat.yaml", "wave.json", "custom.yaml"])
def test_a_team_conforms_to_the_template_made_from_it(root, name):
    team = from_input(root / "data" / "team-runs" / name)
    made = yaml.safe_load(to_team_yaml(team))
    assert all(e.was_expected for e in apply_template(team, made).interaction_list)
    load_template(made)


def test_template_of_a_wave(root):
    made = yaml.safe_load(to_team_yaml(from_input(root / "data" / "team-runs" / "wave.json")))
    assert made["roles"] == ["orchestrator", "scout", "executor"]
    assert made["topology"] == {"root": {"role": "orchestrator"}, "spawn_rules": {}}
    said = made["communication"]
    assert said["channels"] == {"execution_events": {"signals": ["WAVE_STARTED", "TASK_COMPLETE"]}}
    assert said["emissions"] == {"orchestrator": ["WAVE_STARTED"], "executor": ["TASK_COMPLETE"]}
    assert [(p["from"], p["to"]) for p in said["routing"]["peers"]] == [
        ("orchestrator", "scout"),
        ("scout", "orchestrator"),
    ]


def test_teams_of_the_sample_bank_conform_to_their_own_template(root, tmp_path):
    with opened(root / "data" / "shop.bundle", tmp_path) as bank:
        teams = [from_session(s) for s in bank.discover()]
    checked = 0
    for team in teams:
        if not team.interaction_list:
            continue
        judged = apply_template(team, yaml.safe_load(to_team_yaml(team)))
        assert not [e for e in judged.interaction_list if e.was_expected is False]
        checked += sum(e.was_expected is True for e in judged.interaction_list)
    assert checked > 50
