"""Pictures of teams draw what their frames hold, for 3 and for 40 members, and survive empty and hostile ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from sessionbank.errors import QueryError
from sessionbank.plot import style, swimlanes
from sessionbank.plot import team as pictures
from sessionbank.team.activity import member_time
from sessionbank.team.metrics import TeamMetrics, handover_matrix, metrics
from sessionbank.team.model import Interaction, Member, Team
from sessionbank.team.score import score
from tests.team.generated import Run, generate, work


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def three() -> Team:
    run = Run(Random(1), 1)
    path, symbol = run.words()
    run.send("lead", "worker-1", "delegation", content=f"change {symbol} in {path}")
    work(run, "worker-1", path, symbol, failing=1)
    run.send("worker-1", "lead", "result_return", content="done", expected=False)
    run.send("lead", "verifier", "delegation", content="review", lost=True)
    run.act("verifier", "Read", {"file_path": path})
    return run.team()


def draw_all(team: Team, m: TeamMetrics) -> dict[str, object]:
    return {
        "graph": pictures.team_graph(team.interactions(), members=list(m.members["agent_id"])),
        "timeline": swimlanes.team_timeline(member_time(team), m.interactions),
        "matrix": pictures.handover_matrix(m.handover),
        "cost": pictures.member_cost(m.members),
        "scores": pictures.score_profile(score(team).steps, threshold=0.3),
    }


@pytest.mark.parametrize("members", [3, 40])
def test_all_pictures_draw_and_name_every_member(members: int) -> None:
    team = three() if members == 3 else generate(3, workers=38, rounds=1)[0]
    m = metrics(team)
    assert m.graph["team_size"] == members
    drawn = draw_all(team, m)
    for name, ax in drawn.items():
        ax.figure.canvas.draw()
        assert style.alt_text(ax), name
    names = set(m.members["agent_id"])
    assert names <= {t.get_text() for t in drawn["graph"].texts}
    for picture in ("cost", "matrix"):
        assert names == {t.get_text() for t in drawn[picture].get_yticklabels()}
    # labels of members do not cover each other
    for ax in (drawn["timeline"], drawn["cost"], drawn["matrix"]):
        boxes = [t.get_window_extent() for t in ax.get_yticklabels()]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


@pytest.mark.parametrize("members", [3, 8, 12, 40])
def test_long_names_of_a_graph_meet_neither_legend_nor_title_nor_edge(members: int) -> None:
    names = [f"a-rather-long-name-of-an-agent-{n:02}" for n in range(members)]
    kinds = list(style.COLOURS["interaction"])
    pairs = [(names[n], names[m]) for n in range(members) for m in {(n + 1) % members, 0} - {n}]
    edges = pd.DataFrame({
        "from_agent": [a for a, _ in pairs], "to_agent": [b for _, b in pairs], "ok": True, "was_expected": True,
        "type": [kinds[n % len(kinds)] for n in range(len(pairs))],
    })  # fmt: skip
    ax = pictures.team_graph(edges)
    ax.figure.canvas.draw()
    page = ax.figure.bbox
    legend, title = ax.get_legend().get_window_extent(), ax.title.get_window_extent()
    assert len({t.get_text() for t in ax.texts}) == members, "what is cut still tells them apart"
    for text in ax.texts:
        box = text.get_window_extent()
        assert not box.overlaps(legend) and not box.overlaps(title)
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1


def test_a_key_in_a_name_is_not_half_shown() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    edges = pd.DataFrame(
        {"from_agent": [key], "to_agent": ["b"], "ok": True, "was_expected": True, "type": "message"}
    )
    texts = " ".join(t.get_text() for t in pictures.team_graph(edges).texts)
    assert key[:12] not in texts and key[-11:] not in texts


def test_graph_data_and_its_lines() -> None:
    team = three()
    data = pictures.team_graph_data(team.interactions()).set_index(["from_agent", "to_agent"])
    assert data["count"].to_dict() == {
        ("lead", "worker-1"): 1,
        ("worker-1", "lead"): 1,
        ("lead", "verifier"): 1,
    }
    assert data["is_emergent"].to_dict() == {
        ("lead", "worker-1"): False,
        ("worker-1", "lead"): True,
        ("lead", "verifier"): False,
    }
    ax = pictures.team_graph(team.interactions())
    assert sorted(p.get_linestyle() == "-" for p in ax.patches) == [False, True, True]


def test_timeline_marks_what_nobody_received() -> None:
    team = three()
    data = swimlanes.team_timeline_data(member_time(team), metrics(team).interactions)
    assert data["handovers"]["is_received"].tolist() == [True, True, False]
    assert data["pieces"]["begin_min"].min() == 0
    assert "1 not seen to arrive" in style.alt_text(
        swimlanes.team_timeline(member_time(team), metrics(team).interactions)
    )
    assert swimlanes.team_timeline_data(member_time(team))["handovers"].empty


def test_a_member_without_steps_has_a_lane_that_says_so() -> None:
    """A mate's steps stand in no transcript; what it was sent does. A word to everyone is no hand-over between two."""
    team = three()
    away = [dataclasses.replace(e, to_agent="away") for e in team.interaction_list[:1]]
    loud = [dataclasses.replace(e, interaction_id="loud", to_agent="*") for e in team.interaction_list[:1]]
    team = dataclasses.replace(team, interaction_list=(*away, *loud, *team.interaction_list[1:]))
    m = metrics(team)
    lanes = swimlanes.team_timeline_data(member_time(team), m.interactions)["lanes"].set_index("agent_id")[
        "has_steps"
    ]
    assert not lanes["away"] and lanes.drop("away").all() and "*" not in lanes.index
    ax = swimlanes.team_timeline(member_time(team), m.interactions)
    assert "away (no steps)" in [t.get_text() for t in ax.get_yticklabels()]
    assert "1 members without steps" in style.alt_text(ax)
    drawn = pictures.team_graph(team.interactions())
    assert "everyone" in [t.get_text() for t in drawn.texts]


def test_cost_is_sorted_and_missing_is_said() -> None:
    frame = pd.DataFrame({"agent_id": ["a", "b", "c"], "tokens": pd.array([25, None, 75], dtype="Int64")})
    data = pictures.member_cost_data(frame)
    assert data["agent_id"].tolist() == ["c", "a", "b"]
    assert data["share"].tolist()[:2] == [0.75, 0.25]
    assert [t.get_text().strip() for t in pictures.member_cost(frame).texts] == [
        "75  75%",
        "25  25%",
        "not recorded",
    ]


def test_frontier_and_profile_hold_their_frames() -> None:
    frame = pd.DataFrame(
        {
            "method": ["compressed", "compressed", "random lines"],
            "size": [0.02, 0.1, 0.1],
            "survival": [0.9, 1.0, 0.3],
        }
    )
    ax = pictures.compression_frontier(frame)
    assert [line.get_label() for line in ax.lines[:2]] == ["compressed", "random lines"]
    assert ax.lines[0].get_ydata().tolist() == [0.9, 1.0]
    data = pictures.score_profile_data(score(three()).steps)
    assert data["order"].tolist() == list(range(len(data)))
    assert (data["what"] == "critical").sum() == data["is_critical"].sum()


def test_empty_and_hostile() -> None:
    nobody = Team("nobody")
    m = metrics(nobody)
    for ax in draw_all(nobody, m).values():
        ax.figure.canvas.draw()
    name = "$\\frac{1}{$ <script> {0} %s\n" * 3
    edge = Interaction("i", None, None, "message", None, name, None, None, "b", None, None, "x")
    hostile = Team("h", member_list=(Member(None, name), Member(None, "b")), interaction_list=(edge,))
    for ax in draw_all(hostile, metrics(hostile)).values():
        ax.figure.canvas.draw()
    assert handover_matrix(hostile).loc[name, "b"] == 1
    with pytest.raises(QueryError, match="was_expected"):
        pictures.team_graph(pd.DataFrame({"from_agent": []}))
