"""Run files: the hand-made ones edge by edge, and every wrong thing told with its place."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime

import pytest

from sessionbank.errors import FormatError, NotFoundError, QueryError
from sessionbank.team import from_input, validate
from sessionbank.team.run_file import SCHEMA_FILE, RunFile, schema_text

# file, topology, members, steps, and (type, from, step, to, step, latency in seconds) by hand from the file
RUNS = {
    "hierarchical.json": ("hierarchical", 3, 12, [
        ("spawn", "planner", 1, "backend", 0, 30),  # the call is under way from 01:00 on, the other starts at 01:30
        ("result_return", "backend", 4, "planner", 1, 0),  # 20:00, while the planner's call waits
        ("spawn", "planner", 2, "frontend", 0, 60),
        ("result_return", "frontend", 2, "planner", 2, 0),
    ]),
    "flat.yaml": ("flat", 3, 5, [
        ("message", "ana", 0, "ben", 0, 50), ("message", "ana", 0, "cleo", 0, 110),
        ("message", "ben", 0, "ana", 1, 220), ("message", "ben", 0, "cleo", 0, 40),
        ("message", "cleo", 1, "ana", 1, 100),
    ]),
    "wave.json": ("wave", 5, 12, [
        ("delegation", "orchestrator", 0, "scout-1", 0, 60), ("delegation", "orchestrator", 0, "scout-2", 0, 60),
        ("result_return", "scout-1", 1, "orchestrator", 1, 60), ("result_return", "scout-2", 1, "orchestrator", 1, 0),
        ("signal", "orchestrator", 2, "executor-1", 0, 60), ("signal", "orchestrator", 2, "executor-2", 0, 60),
        ("signal", "executor-1", 1, "orchestrator", 3, 300), ("signal", "executor-2", 1, "orchestrator", 3, 60),
    ]),
    "custom.yaml": ("custom", 3, 7, [
        ("delegation", "triager", 1, "investigator", 0, 230), ("message", "investigator", 1, "fixer", 0, 595),
        ("escalation", "fixer", 1, "triager", 2, 595),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_hand_made_runs(root, name):
    topology, members, steps, edges = RUNS[name]
    team = from_input(root / "data" / "team-runs" / name)
    assert (team.topology, len(team.member_list), len(team.step_list)) == (topology, members, steps)
    found = [
        (e.type, e.from_agent, e.from_step, e.to_agent, e.to_step, e.latency_ms)
        for e in team.interaction_list
    ]
    assert found == [(*e[:5], e[5] * 1000) for e in edges]
    for edge in team.interaction_list:
        assert edge.interaction_id in team.step_lists[edge.from_agent][edge.from_step].interaction_ids
        assert edge.interaction_id in team.step_lists[edge.to_agent][edge.to_step].interaction_ids
        assert edge.session_id is None and edge.evidence == "run_file"
    assert not [p for p in validate(team) if p.code != "undeclared_interaction"]


def test_what_a_run_says_of_itself(root):
    team = from_input(root / "data" / "team-runs" / "hierarchical.json")
    assert (team.id, team.name, team.domain, team.complexity) == (
        "run-hierarchical",
        "delivery-date",
        "web shop",
        "moderate",
    )
    assert (team.template, team.enforcement, team.outcome, team.cost_usd) == (
        "feature-team",
        "permissive",
        "success",
        0.42,
    )
    backend = team.member("backend")
    assert (backend.steps, backend.tool_calls, backend.tokens) == (5, 4, 500 + 200 + 400 + 200 + 100)
    assert (backend.outcome, team.member("planner").outcome) == ("completed", "completed")
    assert team.member("planner").is_lead and team.member("planner").tokens == 400 + 300 + 300 + 200
    first = team.step_lists["backend"][0]
    assert first.started_at == datetime(2026, 5, 4, 9, 1, 30, tzinfo=UTC)
    assert (first.duration_ms, json.loads(first.action_input)["file_path"]) == (210_000, "api/orders.py")
    assert [e.was_expected for e in team.interaction_list] == [True] * 4


def test_camel_case_and_tags_in_metadata(root):
    team = from_input(root / "data" / "team-runs" / "custom.yaml")
    assert (team.name, team.template, team.topology) == ("night-payments", "incident-line", "custom")
    assert team.outcome == "failure" and team.member("triager").is_lead
    assert [e.was_expected for e in team.interaction_list] == [True, True, False]
    assert [(p.severity, p.code) for p in validate(team)] == [("error", "undeclared_interaction")]


def test_a_flat_run_declares_nothing(root):
    team = from_input(root / "data" / "team-runs" / "flat.yaml")
    assert [e.was_expected for e in team.interaction_list] == [None] * 5
    assert team.interactions()["was_expected"].isna().all()


def test_same_input_same_output(root):
    path = root / "data" / "team-runs" / "wave.json"
    assert from_input(path) == from_input(json.loads(path.read_text()))


# -- what is wrong is told, all at once ------------------------------------------------------------------------


def tag(key="i", role="source", who="b", kind="message", **more):
    return {"interaction_id": key, "interaction_type": kind, "counterpart": who, "step_role": role, **more}


def run(*members, **more):
    return {"objective": "o", "members": [{"agent_id": a, "role": a, "steps": s} for a, s in members], **more}


def test_all_errors_at_once_with_their_places():
    value = run(
        (
            "a",
            [
                {"tokens": -1, "interactions": [{**tag(), "interaction_type": "gossip", "step_role": None}]},
                {"started_at": "2026-01-01T10:00:00"},
            ],
        ),
        ("b", [{"step": 4}, {"step": 4}, {"mood": "good"}]),
        ("a", []),
        topology="ring", outcome="fine", enforcement=7,
    )  # fmt: skip
    del value["objective"]
    before = copy.deepcopy(value)
    with pytest.raises(FormatError) as told:
        from_input(value)
    lines = str(told.value).splitlines()
    places = {line.strip().split(": ")[0] for line in lines[1:]}
    assert places == {
        "objective", "topology", "outcome.label", "enforcement", "members[0].steps[0].tokens",
        "members[0].steps[0].interactions[0].interaction_type", "members[0].steps[0].interactions[0].step_role",
        "members[0].steps[1].started_at", "members[1].steps[1].step", "members[1].steps[2].mood", "members[2].agent_id",
    }  # fmt: skip
    assert lines[0] == "team run file has 11 errors:"
    assert value == before


def test_files_that_are_no_files(tmp_path):
    with pytest.raises(NotFoundError, match=r"absent\.json"):
        from_input(tmp_path / "absent.json")
    cases = {
        "cut.json": '{"objective": ', "nan.json": '{"objective": NaN}', "cut.yaml": "a: [1", "list.json": "[1]",
        "tag.yaml": "!!python/object/apply:os.system ['true']", "deep.json": "[" * 100_000,
    }  # fmt: skip
    for name, text in cases.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(FormatError, match=name):
            from_input(tmp_path / name)
    (tmp_path / "latin.json").write_bytes(b'{"objective": "\xe9"}')
    with pytest.raises(FormatError, match="UTF-8"):
        from_input(tmp_path / "latin.json")
    with pytest.raises(QueryError, match="path or a mapping"):
        from_input(3)


def test_yaml_that_grows_through_its_own_references_is_refused(tmp_path):
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    (tmp_path / "bomb.yaml").write_text(bomb)
    with pytest.raises(FormatError, match="more than"):
        from_input(tmp_path / "bomb.yaml")
    (tmp_path / "circle.yaml").write_text("objective: &o {members: [*o]}\n")
    with pytest.raises(FormatError, match="refers to itself"):
        from_input(tmp_path / "circle.yaml")
    (tmp_path / "shared.yaml").write_text(
        "objective: o\nmembers: [{agent_id: a, role: r, steps: &s [{tokens: 1}]}, {agent_id: b, role: r, steps: *s}]\n"
    )
    assert len(from_input(tmp_path / "shared.yaml").step_list) == 2


def test_one_side_missing_is_an_edge_with_a_diagnostic():
    team = from_input(
        run(
            ("a", [{"interactions": [tag("lost")]}]), ("b", [{"interactions": [tag("found", "target", "a")]}])
        )
    )
    found = [
        (e.interaction_id, e.from_agent, e.from_step, e.to_agent, e.to_step) for e in team.interaction_list
    ]
    assert found == [("lost", "a", 0, "b", None), ("found", "a", None, "b", 0)]
    assert [p.code for p in team.problems] == ["unlinked_target", "unlinked_source"]
    assert [p.code for p in validate(team)] == ["unlinked_target", "unlinked_source"]  # told once


def test_sides_that_disagree_are_told():
    team = from_input(run(
        ("a", [{"interactions": [tag("x", kind="message", who="c")]}]),
        ("b", [{"interactions": [tag("x", "target", "a", kind="signal")]}]), ("c", []),
    ))  # fmt: skip
    assert [(e.type, e.from_agent, e.to_agent) for e in team.interaction_list] == [("message", "a", "b")]
    assert [p.code for p in team.problems] == ["type_mismatch", "counterpart_mismatch"]


def test_one_source_that_several_hear_is_several_edges():
    hear = {"interactions": [tag("s", "target", "a", kind="signal", channel="c", signal="GO")]}
    team = from_input(
        run(("a", [{"interactions": [tag("s", who="*", kind="signal")]}]), ("b", [hear]), ("c", [hear]))
    )
    found = [(e.interaction_id, e.to_agent, e.signal) for e in team.interaction_list]
    assert found == [("s", "b", "GO"), ("s:2", "c", "GO")]
    assert team.step_lists["a"][0].interaction_ids == ("s", "s:2")
    assert [s.interaction_ids for s in (team.step_lists["b"][0], team.step_lists["c"][0])] == [
        ("s",),
        ("s:2",),
    ]
    assert validate(team) == ()


def test_step_numbers_are_kept_and_gaps_are_filled():
    team = from_input(
        run(
            ("a", [{}, {"step": 5, "interactions": [tag()]}, {}]),
            ("b", [{"interactions": [tag(role="target", who="a")]}]),
        )
    )
    assert [s.step for s in team.step_lists["a"]] == [0, 5, 6]
    assert team.interaction_list[0].from_step == 5


def test_no_tokens_is_missing_and_no_steps_are_none():
    team = from_input(run(("a", [{}]), ("b", [])))
    frame = team.members().set_index("agent_id")
    assert frame["tokens"].isna().all()
    assert frame["steps"].tolist() == [1, 0]
    assert team.steps()["status"].isna().all()


def test_the_shipped_schema_is_that_of_the_models():
    assert SCHEMA_FILE.read_text() == schema_text()
    schema = json.loads(SCHEMA_FILE.read_text())
    assert set(schema["properties"]) == set(RunFile.model_fields)
    assert schema["required"] == ["objective", "members"]


def test_the_schema_accepts_the_runs_and_refuses_what_we_refuse(root):
    jsonschema = pytest.importorskip(
        "jsonschema", reason="an outside checker of the schema; not needed to run"
    )
    checker = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    for name in ("hierarchical.json", "wave.json"):
        assert not list(checker.iter_errors(json.loads((root / "data" / "team-runs" / name).read_text())))
    for wrong in ({"members": []}, run(("a", []), topology="ring"), run(("a", [{"mood": "good"}]))):
        assert list(checker.iter_errors(wrong))
        with pytest.raises(FormatError):
            from_input(wrong)


def test_a_run_without_an_id_gets_one_of_what_happened():
    def run(text, **more):
        steps = [{"action_name": "Read", "observation": text, "started_at": "2026-05-04T09:00:00Z"}]
        return from_input(
            {"objective": "x", "members": [{"agent_id": "a", "role": "a", "steps": steps}], **more}
        ).id

    assert run("1") == run("1")
    assert run("1") != run("2"), "the same team on the same objective, another run"
    assert run("1") == run("1", outcome="success"), "a verdict that is added later makes no other run"
    assert run("\ud800") != run("\ud801")
    assert run("1", id="mine") == "mine"
