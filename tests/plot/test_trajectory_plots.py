"""Pictures of trajectories and outcomes draw what their frames hold, say it in words, and survive odd frames.

Frames are written by hand with the expected figures beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

from sessionbank import plot, schema
from sessionbank.errors import QueryError
from sessionbank.plot import trajectory as drawn
from sessionbank.trajectory.outcomes.agreement import accuracy, agreement


@pytest.fixture(autouse=True)
def settings_are_left_alone() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


def steps(*given: dict[str, object]) -> pd.DataFrame:
    """A frame of table ``steps``; `at` is the second at which a step starts."""
    names = schema.table("steps").columns
    rows = []
    for number, row in enumerate(given):
        full = {"session_id": "s", "trajectory_id": "t", "step": number, **row}
        if full.get("at") is not None:
            full["started_at"] = pd.Timestamp("2026-02-01T10:00:00Z") + pd.Timedelta(full["at"], "s")
        rows.append(tuple(full.get(n) for n in names))
    return schema.frame(schema.arrow_table("steps", rows))


def bash(command: str, status: str = "ok", **more: object) -> dict[str, object]:
    return {"action_name": "Bash", "action_input": f'{{"command": "{command}"}}', "status": status, **more}


def did(name: str, status: str | None = "ok", **more: object) -> dict[str, object]:
    return {"action_name": name, "status": status, **more}


def outcomes(**by_strategy: str) -> pd.DataFrame:
    """One letter a session: s, p, f, u."""
    words = {"s": "success", "p": "partial", "f": "failure", "u": "unknown"}
    return pd.DataFrame(
        [
            {"session_id": str(n), "strategy": name, "label": words[letter]}
            for name, letters in by_strategy.items()
            for n, letter in enumerate(letters)
        ]
    )


# -- timeline ------------------------------------------------------------------------------------------------------


RUN = steps(
    did("Task", at=0, tokens=100),
    did("Read", at=9, tokens=300),
    did("Edit", "error", at=10, tokens=0),
    did("respond", None, at=12, tokens=None),
    did("Grep", "rejected", at=3, tokens=50, agent_id="abcdefabcdefabcdef", step=0, trajectory_id="t-sub"),
    did("Grep", at=None, tokens=0, agent_id="abcdefabcdefabcdef", step=1, trajectory_id="t-sub"),
)


def test_timeline_orders_steps_of_all_agents_by_time() -> None:
    data = drawn.trajectory_timeline_data(RUN)
    sub = "subagent abcdefabcdef"
    # the subagent's second step has no time, and stays behind its first
    assert data["lane"].tolist() == ["Task", sub, sub, "Read", "Edit", "respond"]
    assert data["at"].tolist() == list(range(6))
    assert data["tokens"].fillna(-1).tolist() == [100, 50, 0, 300, 0, -1]


def test_timeline_draws_a_mark_a_step_and_says_the_sums() -> None:
    ax = drawn.trajectory_timeline(RUN)
    assert sum(len(c.get_offsets()) for c in ax.collections) == 6
    words = plot.alt_text(ax)
    assert "of 6 steps: 5 tool calls, of them not ok 2; 450 tokens, not recorded for 1 of the steps" in words
    assert ax.get_title(loc="left") == "Trajectory: 6 steps, 2 not ok"
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        "respond",
        "Edit",
        "Read",
        "Task",
        "subagent abcdefabcdef",
    ]
    shown = [t.get_text() for t in ax.get_legend().get_texts()]
    assert shown == ["ok (3)", "error (1)", "rejected (1)", "no call (1)"]


def test_timeline_bars_stand_in_proportion_to_tokens() -> None:
    ax = drawn.trajectory_timeline(RUN)
    heights = {round(b.get_x() + b.get_width() / 2): abs(b.get_height()) for b in ax.patches}
    assert set(heights) == {0, 1, 3}
    assert heights[0] / heights[3] == pytest.approx(1 / 3)
    assert heights[1] / heights[3] == pytest.approx(1 / 6)


def test_timeline_refuses_several_sessions() -> None:
    with pytest.raises(QueryError, match="of one session, the frame holds 2"):
        drawn.trajectory_timeline(steps(did("Read"), did("Read", session_id="other")))


def test_timeline_without_tokens_has_no_bars() -> None:
    ax = drawn.trajectory_timeline(steps(did("Read", at=0), did("Read", at=1)))
    assert len(ax.patches) == 0
    assert "not recorded for 2 of the steps" in plot.alt_text(ax)


# -- funnel --------------------------------------------------------------------------------------------------------


def test_funnel_counts_stages_at_all_and_in_order() -> None:
    def of(name: str, *given: dict[str, object]) -> list[dict[str, object]]:
        return [{**g, "trajectory_id": name, "session_id": name, "step": n} for n, g in enumerate(given)]

    passed = {"observation": "3 passed in 0.1s"}
    frame = steps(
        *of("whole", did("Read"), did("Edit"), bash("pytest -q", **passed), bash("git commit -m x")),
        # the check ran before anything was changed, so it is not in order
        *of("early", did("Read"), bash("pytest -q", **passed), did("Edit")),
        # the check failed by its status; the commit that failed is none
        *of("failed", did("Read"), did("Edit"), bash("pytest -q", "error"), bash("git commit -m x", "error")),
        # the check says ok, and prints that it failed
        *of("silent", did("Read"), did("Edit"), bash("pytest -q", observation="2 failed, 1 passed in 0.2s")),
        *of("talk", did("respond", None)),
        # a subagent's steps are its own
        *of("sub", did("Edit", agent_id="a")),
    )
    data = drawn.step_funnel_data(frame).set_index("stage")
    assert data["trajectories"].tolist() == [5, 4, 4, 4, 2, 1]
    assert data["in_order"].tolist() == [5, 4, 4, 3, 1, 1]
    assert data["share"].tolist() == [1.0, 0.8, 0.8, 0.6, 0.2, 0.2]
    assert data["steps"].tolist() == [15, 4, 4, 4, 2, 1]
    ax = drawn.step_funnel(frame)
    assert [b.get_width() for b in ax.patches] == [5, 4, 4, 4, 2, 1, 5, 4, 4, 3, 1, 1]
    assert (
        "of 5: any step 5, looked 4, changed files 4, ran a check 3, a check passed 1, committed 1."
        in plot.alt_text(ax)
    )


# -- outcomes ------------------------------------------------------------------------------------------------------


def test_labels_are_counted_by_strategy_in_the_order_given() -> None:
    frame = outcomes(checks="sspu", summary="sffu")
    data = drawn.outcome_labels_data(frame)
    assert data["strategy"].tolist() == ["checks", "summary"]
    assert data[["success", "partial", "failure", "unknown"]].to_numpy().tolist() == [
        [2, 1, 0, 1],
        [1, 0, 2, 1],
    ]
    ax = drawn.outcome_labels(frame)
    assert sum(b.get_width() for b in ax.patches) == 8
    assert (
        "checks success 2, partial 1, unknown 1; summary success 1, failure 2, unknown 1."
        in plot.alt_text(ax)
    )


def test_agreement_is_a_symmetric_matrix_with_gaps_where_nothing_is_known() -> None:
    # a and b: 4 of 4 known, agree 3; by hand: chance 3/4*1/2 + 1/4*1/2 = 1/2, kappa (3/4 - 1/2) / (1/2) = 1/2
    pairs = agreement(outcomes(a="sssf", b="ssff", c="uuuu"))
    matrix = drawn.outcome_agreement_data(pairs)
    assert matrix.loc["a", "b"] == matrix.loc["b", "a"] == pytest.approx(0.5)
    assert math.isnan(matrix.loc["a", "a"])
    assert math.isnan(matrix.loc["a", "c"])
    assert drawn.outcome_agreement_data(pairs, value="share").loc["a", "b"] == 0.75
    ax = drawn.outcome_agreement(pairs)
    assert sorted(t.get_text() for t in ax.texts) == sorted(["0.50"] * 2 + ["–"] * 4)
    assert "Lowest: a and b 0.50; highest: a and b 0.50" in plot.alt_text(ax)
    with pytest.raises(QueryError, match="kappa or share, not 'x'"):
        drawn.outcome_agreement(pairs, value="x")


def test_accuracy_is_drawn_with_its_interval() -> None:
    frame = outcomes(a="ssss", b="ssff")
    found = accuracy(frame, {"0": "success", "1": "success", "2": "failure", "3": "failure"})
    ax = drawn.outcome_accuracy(found)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    points = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    assert points == [0.5, 1.0]
    # Wilson's interval of 2 of 4 and 4 of 4, from the formula with z = 1.96 on paper
    assert [[round(x, 2) for x in line.get_xdata()] for line in lines] == [[0.15, 0.85], [0.51, 1.0]]
    assert "b 1.00 (0.51 to 1.00)" in plot.alt_text(ax)
    assert "share of 4 labelled sessions" in ax.get_xlabel()
    balanced = drawn.outcome_accuracy(found, value="balanced")
    assert "a 0.50" in plot.alt_text(balanced)
    with pytest.raises(QueryError, match="accuracy or balanced, not 'low'"):
        drawn.outcome_accuracy(found, value="low")


# -- all of them ---------------------------------------------------------------------------------------------------

NONE = outcomes(a="s").iloc[:0]
PICTURES: dict[str, tuple[Callable[..., plt.Axes], pd.DataFrame, pd.DataFrame]] = {
    "timeline": (drawn.trajectory_timeline, RUN, steps()),
    "funnel": (drawn.step_funnel, RUN, steps()),
    "labels": (drawn.outcome_labels, outcomes(a="spfu", b="ssss"), NONE),
    "agreement": (drawn.outcome_agreement, agreement(outcomes(a="ssf", b="sff")), agreement(outcomes(a="s"))),
    "accuracy": (
        drawn.outcome_accuracy, accuracy(outcomes(a="sf", b="ss"), {"0": "success", "1": "failure"}),
        accuracy(outcomes(a="s"), {"0": "success"}).iloc[:0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_axes_given_are_drawn_on_and_given_back(name: str) -> None:
    function, frame, _ = PICTURES[name]
    _, (left, right) = plt.subplots(1, 2)
    assert function(frame, ax=right) is right
    assert not left.has_data()
    assert right.has_data()
    assert len(plot.alt_text(right)) > 40


@pytest.mark.parametrize("name", PICTURES)
def test_an_empty_frame_says_that_there_is_nothing(name: str) -> None:
    function, _, empty = PICTURES[name]
    ax = function(empty)
    assert len(ax.texts) == 1
    assert ax.texts[0].get_text() in plot.alt_text(ax)


@pytest.mark.parametrize("name", PICTURES)
def test_labels_do_not_collide(name: str) -> None:
    function, frame, _ = PICTURES[name]
    ax = function(frame)
    ax.figure.canvas.draw()
    groups = [ax.texts, ax.get_yticklabels(), ax.get_legend().get_texts() if ax.get_legend() else []]
    for texts in groups:
        boxes = [t.get_window_extent() for t in texts if t.get_text()]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    page = ax.figure.bbox
    for text in [ax.title, *(t for texts in groups for t in texts)]:
        assert page.x0 - 1 <= text.get_window_extent().x0
        assert text.get_window_extent().x1 <= page.x1 + 1


@pytest.mark.parametrize("name", PICTURES)
def test_a_wrong_frame_is_refused_with_what_to_give(name: str) -> None:
    with pytest.raises(QueryError, match=r"has no column .*; give what .* gives"):
        PICTURES[name][0](pd.DataFrame({"x": [1]}))


@pytest.mark.parametrize("name", ["$x^{$", "a\nb", "<b>&amp;", "x" * 5000, "𝕏\x1b[31m\x00"])
def test_hostile_names_are_drawn_as_text(tmp_path, name: str) -> None:
    frame = steps(
        did(name.replace("\x00", ""), at=0, tokens=5), did("Read", agent_id=name.replace("\x00", ""), at=1)
    )
    ax = drawn.trajectory_timeline(frame)
    assert plot.save(ax, tmp_path / "x.png").stat().st_size > 1000
    assert max(len(t.get_text()) for t in ax.get_yticklabels()) <= 34


def test_forty_lanes_and_a_thousand_steps_are_drawn() -> None:
    frame = steps(*(did(f"tool {n % 40}", "ok" if n % 7 else "error", at=n, tokens=n) for n in range(1000)))
    ax = drawn.trajectory_timeline(frame)
    assert sum(len(c.get_offsets()) for c in ax.collections) == 1000
    assert len(ax.get_yticklabels()) == 40
