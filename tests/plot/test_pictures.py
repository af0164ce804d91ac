"""Pictures draw what their frames hold, say it in words, survive empty and hostile frames, and leave matplotlib alone.

Frames are written by hand here with the sums beside them; the sample bank is only used to look for colliding labels.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

import sessionbank as sb
from sessionbank import plot, schema
from sessionbank.errors import QueryError
from tests.makers.banks import opened

TOKENS = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")


@pytest.fixture(autouse=True)
def settings_are_left_alone() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


def days(**output: int) -> pd.DataFrame:
    frame = pd.DataFrame({"day": [d.replace("d", "2026-").replace("_", "-") for d in output]}, dtype="str")
    for prefix in ("", "subagent_"):
        for c in TOKENS:
            frame[prefix + c] = pd.array([0] * len(frame), dtype="Int64")
    return frame.assign(output_tokens=pd.array(list(output.values()), dtype="Int64"))


def rows(table: str, *given: dict[str, object]) -> pd.DataFrame:
    names = schema.table(table).columns
    return schema.frame(schema.arrow_table(table, [tuple(r.get(n) for n in names) for r in given]))


def call(name: str, status: str = "ok", **more: object) -> dict[str, object]:
    return {"session_id": "s", "tool_name": name, "status": status, "is_subagent": False, **more}


def time(text: str) -> pd.Timestamp:
    return pd.Timestamp(f"2026-02-01T{text}Z")


# -- tokens ----------------------------------------------------------------------------------------------------


def test_periods_without_calls_are_zero_and_weeks_begin_on_monday() -> None:
    frame = days(d02_02=10, d02_08=5, d02_17=7)  # Monday, Sunday of the same week, Tuesday two weeks later
    frame.loc[0, "subagent_output_tokens"] = 100
    week = plot.tokens_over_time_data(frame, every="week", classes=["output_tokens"])
    assert week["start"].dt.strftime("%Y-%m-%d").tolist() == ["2026-02-02", "2026-02-09", "2026-02-16"]
    assert week["output_tokens"].tolist() == [115, 0, 7]
    assert plot.tokens_over_time_data(frame, who="main")["output_tokens"].sum() == 22
    assert plot.tokens_over_time_data(frame, who="subagents")["output_tokens"].sum() == 100
    assert len(plot.tokens_over_time_data(frame, every="day")) == 16
    ax = plot.tokens_over_time(frame)
    assert sum(bar.get_height() for bar in ax.patches) == 122
    assert "output 122" in plot.alt_text(ax)
    assert ax.get_ylabel() == "tokens"


def test_bridge_draws_each_effect_and_leaves_out_rules_without_one() -> None:
    frame = pd.DataFrame({
        "rule": ["naive", "rule 1", "rule 2", "rule 6", "the true figure"],
        "effect": [100, -60, 0, 5, 0], "value": [100, 40, 40, 45, 45],
    })  # fmt: skip
    ax = plot.bridge(frame, column="output_tokens")
    spans = [(bar.get_x(), bar.get_width()) for bar in ax.patches]
    assert spans == [(0, 100), (40, 60), (40, 5), (0, 45)]
    assert "rule 1: -60" in plot.alt_text(ax)
    assert "rule 2" not in plot.alt_text(ax)


def test_naive_and_true_is_first_beside_last_value() -> None:
    explained = {
        "output_tokens": pd.DataFrame({"value": [300, 200, 150]}),
        "tool_errors": pd.DataFrame({"value": [2, 0]}),
    }
    data = plot.naive_and_true_data(explained)
    assert data[["naive", "true"]].to_numpy().tolist() == [[300, 150], [2, 0]]
    assert data["times"].iloc[0] == 2
    assert pd.isna(data["times"].iloc[1])
    assert [bar.get_width() for bar in plot.naive_and_true(data).patches] == [2]


def test_a_model_without_a_price_has_no_cost() -> None:
    frame = pd.DataFrame({
        "model": ["a", "b", None], "cost_usd": [1.0, float("nan"), 0.5],
        "subagent_cost_usd": [float("nan"), float("nan"), 2.0], "uncosted_calls": [0, 3, 0],
    })  # fmt: skip
    data = plot.cost_by_model_data(frame)
    assert data["uncosted_calls"].tolist() == [0, 0, 3]
    assert pd.isna(data["cost_usd"].iloc[2])
    words = plot.alt_text(plot.cost_by_model(frame))
    assert "b no price (calls without a price: 3)" in words
    assert "model not recorded 2.50" in words


def test_scopes_are_all_shown() -> None:
    data = plot.reconcile_scopes_data(pd.DataFrame({"scope": ["whole", "zero", "whole"]}))
    found = dict(zip(data["scope"], data["records"], strict=True))
    assert found == {"window": 0, "whole": 2, "both": 0, "stale": 0, "zero": 1, "absent": 0, "unknown": 0}


# -- tools and messages ----------------------------------------------------------------------------------------


def test_tools_are_counted_by_status_without_inherited_rows() -> None:
    frame = rows(
        "tool_calls",
        call("Bash"), call("Bash", "error"), call("Bash", "rejected", is_subagent=True),
        call("get", mcp_server="tracker"), call("Read", inherited_from="other"), call("Glob"),
    )  # fmt: skip
    data = plot.tools_by_status_data(frame)
    assert data["tool"].tolist() == ["Bash", "Glob", "tracker: get"]
    assert data.iloc[0][["ok", "error", "rejected", "total"]].tolist() == [1, 1, 1, 3]
    assert plot.tools_by_status_data(frame, who="main")["total"].sum() == 4
    short = plot.tools_by_status_data(frame, top=1)
    assert short["tool"].tolist() == ["Bash", "2 others"]
    assert short["total"].tolist() == [3, 2]
    ax = plot.tools_by_status(frame)
    assert sum(bar.get_width() for bar in ax.patches) == 5
    assert "5 calls" in plot.alt_text(ax)


def test_messages_by_kind_shows_one_role() -> None:
    frame = rows(
        "messages",
        *(
            {"kind": k, "role": "user", "is_subagent": False}
            for k in ("prompt", "tool_result", "tool_result")
        ),
        {"kind": "reply", "role": "assistant", "is_subagent": False},
        {"kind": "prompt", "role": "user", "is_subagent": False, "inherited_from": "other"},
    )
    assert plot.messages_by_kind_data(frame)["lines"].sum() == 4
    assert plot.alt_text(plot.messages_by_kind(frame)).endswith("tool result 2, prompt 1.")


# -- timeline --------------------------------------------------------------------------------------------------


def test_timeline_cuts_pauses_and_keeps_true_times() -> None:
    messages = rows(
        "messages",
        *({"session_id": "s", "kind": k, "timestamp": time(t), "is_subagent": False}
          for k, t in (("prompt", "10:00:00"), ("reply", "10:01:00"), ("prompt", "11:01:00"), ("meta", "11:01:00"))),
    )  # fmt: skip
    calls = rows(
        "tool_calls",
        call("Bash", "error", called_at=time("10:02:00"), returned_at=time("10:04:00")),
        call("Read", called_at=time("11:02:00"), is_subagent=True, agent_id="abc"),
    )
    data = plot.session_timeline_data(messages, calls)
    assert data["lane"].tolist() == ["prompts", "replies", "Bash", "prompts", "subagent abc"]
    assert data["minutes"].tolist() == [0, 1, 2, 61, 62]
    # at work 5 minutes; 57 minutes of pause after 10:04 become 3 % of that: 0.15
    assert data["at_min"].round(3).tolist() == [0, 1, 2, 4.15, 5.15]
    assert data["end_min"].round(3).tolist() == [0, 1, 4, 4.15, 5.15]
    ax = plot.session_timeline(messages, calls)
    assert "1 pause over 5 min" in ax.get_xlabel()
    assert "prompts 2, lines of replies 1, tool calls 2, of them not ok 1" in plot.alt_text(ax)


def test_timeline_refuses_several_sessions() -> None:
    frame = rows("messages", *({"session_id": s, "kind": "prompt", "is_subagent": False} for s in "ab"))
    with pytest.raises(QueryError, match="of one session, the frames hold 2"):
        plot.session_timeline(frame)


# -- commits ---------------------------------------------------------------------------------------------------


def commit(sha: str, checkpoint: str, *, carries: bool = True, main: bool = True) -> dict[str, object]:
    return {
        "commit_sha": sha, "checkpoint_id": checkpoint, "authored_at": time("10:00:00"), "subject": f"work {sha}",
        "on_default_branch": main, "carries_cost": carries, "resolves": True,
    }  # fmt: skip


def test_cost_is_put_at_one_commit_and_nothing_is_lost() -> None:
    names = ("api_calls", "total_tokens", "cost_usd")
    frame = pd.DataFrame({"checkpoint_id": ["c1", "c2", "c3"]}, dtype="str")
    for prefix, factor in (("", 1), ("subagent_", 10)):
        for n in names:
            frame[prefix + n] = [1.0 * factor, 2.0 * factor, 4.0 * factor]
    frame["uncosted_calls"] = [0, 0, 1]
    commits = rows("commits", commit("a", "c1"), commit("b", "c1", carries=False), commit("a", "c2"))
    data = plot.cost_by_commit_data(frame, commits)
    assert data["cost_usd"].tolist() == [44, 33]
    assert data["commit_sha"].isna().tolist() == [True, False]
    assert data["checkpoints"].tolist() == [1, 2]
    assert data["tokens"].sum() == 77
    assert "(no commit) 44.00; work a 33.00" in plot.alt_text(plot.cost_by_commit(frame, commits))


def test_lines_of_a_commit_are_those_of_representative_rows() -> None:
    base = {"human_added": 1, "human_modified": 0, "agent_percentage": 90.0}
    frame = rows(
        "attribution",
        {"checkpoint_id": "c1", "agent_lines": 9, "is_representative": True, **base},
        {"checkpoint_id": "c1", "agent_lines": 9, "is_representative": False, **base},
        {"checkpoint_id": "c2", "agent_lines": 3, "is_representative": True, "warning": "odd", **base},
        {"checkpoint_id": "c3", "agent_lines": 5, "is_representative": True, **base},
    )
    commits = rows(
        "commits", commit("a", "c1"), commit("a", "c2"), commit("b", "c3"), commit("x", "c3", carries=False)
    )
    data = plot.attribution_by_commit_data(frame, commits)
    assert data["agent_lines"].tolist() == [12, 5]
    assert data["agent_percentage"].isna().tolist() == [True, False]
    assert data["warning"].iloc[0] == "odd"
    assert "agent added 17, people added 3, people changed 0; 1 with implausible" in plot.alt_text(
        plot.attribution_by_commit(frame, commits)
    )


def test_a_bar_far_above_the_others_is_cut_and_says_its_height() -> None:
    heights = [10] * 20 + [9000]
    frame = rows("attribution", *(
        {"checkpoint_id": f"c{n}", "agent_lines": h, "human_added": 0, "human_modified": 0, "is_representative": True}
        for n, h in enumerate(heights)
    ))  # fmt: skip
    ax = plot.attribution_by_commit(frame, rows("commits", *(commit(f"{n:02}", f"c{n}") for n in range(21))))
    assert ax.get_ylim()[1] < 20
    assert "9,000 lines" in [t.get_text() for t in ax.texts]


# -- playbooks -------------------------------------------------------------------------------------------------


def test_lines_of_playbooks_are_drawn_once_with_their_runs() -> None:
    one = {"line_id": "a", "text": "Run the tests", "direction": "do", "standing": "tentative"}
    two = {"line_id": "b", "text": "Guess $x$", "direction": "avoid", "standing": "tentative"}
    frame = pd.DataFrame([
        {**two, "confidence": 0.4, "runs": 5, "runs_for": 1, "runs_against": 1},
        {**one, "confidence": 0.9, "runs": 5, "runs_for": 4, "runs_against": 0},
        {**one, "confidence": 0.9, "runs": 5, "runs_for": 4, "runs_against": 0},
    ])  # fmt: skip
    data = plot.line_support_data(frame)
    assert data["text"].tolist() == ["Run the tests", "Guess $x$"]
    assert data["neither"].tolist() == [1, 3]
    ax = plot.line_support(frame)
    assert sum(bar.get_width() for bar in ax.patches) == 10
    assert overlapping(ax) == []
    assert "Run the tests: 4 for, 0 against, confidence 0.90" in plot.alt_text(ax)
    assert plot.alt_text(plot.line_support(pd.DataFrame())).endswith("no lines yet")


def test_compression_is_drawn_before_and_after() -> None:
    frame = pd.DataFrame({
        "agent_id": ["b", "a", "c"], "original_tokens": [100, 200, 0], "boundary_tokens": [20, 50, 0],
        "inner_tokens": [5, 50, 0], "tokens": [25, 100, 0],
    })  # fmt: skip
    data = plot.compression_sizes_data(frame)
    assert data["agent_id"].tolist() == ["a", "b"]
    assert data["share"].tolist() == [0.5, 0.25]
    ax = plot.compression_sizes(frame)
    assert [bar.get_width() for bar in ax.patches] == [200, 100, 50, 20, 50, 5]
    assert overlapping(ax) == []
    assert "a 200 to 100; b 100 to 25" in plot.alt_text(ax)


# -- all of them -----------------------------------------------------------------------------------------------

PICTURES: dict[str, Callable[[sb.SessionBank, plt.Axes | None], plt.Axes]] = {
    "tokens_over_time": lambda b, ax: plot.tokens_over_time(b.totals("day"), ax=ax),
    "cost_by_model": lambda b, ax: plot.cost_by_model(b.totals("model"), ax=ax),
    "bridge": lambda b, ax: plot.bridge(b.explain("output_tokens"), ax=ax),
    "naive_and_true": lambda b, ax: plot.naive_and_true(
        plot.naive_and_true_data({c: b.explain(c) for c in ("output_tokens", "human_prompts")}), ax=ax
    ),
    "reconcile_scopes": lambda b, ax: plot.reconcile_scopes(b.reconcile(), ax=ax),
    "tools_by_status": lambda b, ax: plot.tools_by_status(b.tool_calls(), ax=ax),
    "messages_by_kind": lambda b, ax: plot.messages_by_kind(b.messages(), ax=ax),
    "session_timeline": lambda b, ax: plot.session_timeline(*_longest(b), ax=ax),
    "attribution_by_commit": lambda b, ax: plot.attribution_by_commit(b.attribution(), b.commits(), ax=ax),
    "cost_by_commit": lambda b, ax: plot.cost_by_commit(b.totals("checkpoint"), b.commits(), ax=ax),
}


def _longest(bank: sb.SessionBank) -> tuple[pd.DataFrame, pd.DataFrame]:
    messages, calls, sessions = bank.messages(), bank.tool_calls(), bank.sessions()
    if sessions.empty:
        return messages, calls
    chosen = sessions.sort_values(["tool_calls", "session_id"], ascending=False)["session_id"].iloc[0]
    return messages[messages["session_id"] == chosen], calls[calls["session_id"] == chosen]


@pytest.fixture(scope="module")
def shop(root, tmp_path_factory) -> Iterator[sb.SessionBank]:
    with opened(root / "data" / "shop.bundle", tmp_path_factory.mktemp("shop")) as bank:
        yield bank


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Iterator[sb.SessionBank]:
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run(["git", "init", "-q", str(folder / "repo")], check=True)
    with opened(folder / "repo", folder) as bank:
        yield bank


def written(ax: plt.Axes) -> list[list[plt.Text]]:
    """What is written: at the x axis, at the y axis, and inside; labels of ticks that are out of view are not drawn."""
    ax.figure.canvas.draw()
    groups = [[*ax.texts, *(ax.get_legend().get_texts() if ax.get_legend() else [])]]
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        groups.append(
            [t.label1 for t in axis.get_major_ticks() if low <= t.get_loc() <= high and t.label1.get_text()]
        )
    return groups


def overlapping(ax: plt.Axes) -> list[tuple[str, str]]:
    """Pairs of texts of one group that cover each other."""
    found = []
    for texts in written(ax):
        shown = [(t.get_text(), t.get_window_extent()) for t in texts]
        found += [(a, b) for i, (a, p) in enumerate(shown) for b, q in shown[i + 1 :] if p.overlaps(q)]
    return found


def test_every_picture_of_a_bank_is_in_the_list() -> None:
    """Pictures of teams, contexts and agents are tested with their rooms, those of playbooks and compression above."""
    rooms = ("tokens", "tools", "timeline", "attribution")
    drawn = {n for n in plot.__all__ if f"{n}_data" in plot.__all__ or n == "bridge"}
    assert {n for n in drawn if getattr(plot, n).__module__.rpartition(".")[2] in rooms} == set(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_labels_do_not_collide_and_nothing_is_cut_off(shop: sb.SessionBank, name: str) -> None:
    ax = PICTURES[name](shop, None)
    assert overlapping(ax) == []
    page = ax.figure.bbox
    for text in [ax.title, *(t for group in written(ax) for t in group)]:
        box = text.get_window_extent()
        assert page.x0 - 1 <= box.x0, text.get_text()
        assert box.x1 <= page.x1 + 1, text.get_text()
    assert ax.get_title(loc="left")
    assert ax.get_xlabel()
    assert len(plot.alt_text(ax)) > 40


@pytest.mark.parametrize("name", PICTURES)
def test_axes_given_are_the_axes_drawn_on_and_given_back(shop: sb.SessionBank, name: str) -> None:
    _, (left, right) = plt.subplots(1, 2)
    assert PICTURES[name](shop, right) is right
    assert not left.has_data()
    assert right.has_data()
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("name", PICTURES)
def test_an_empty_bank_says_that_there_is_nothing(empty: sb.SessionBank, name: str) -> None:
    ax = PICTURES[name](empty, None)
    if name == "reconcile_scopes":
        assert plot.reconcile_scopes_data(empty.reconcile())["records"].sum() == 0
    assert len(ax.texts) == 1
    assert ax.texts[0].get_text() in plot.alt_text(ax)


@pytest.mark.parametrize(
    "function",
    [plot.tokens_over_time, plot.cost_by_model, plot.bridge, plot.naive_and_true, plot.reconcile_scopes,
     plot.tools_by_status, plot.messages_by_kind, plot.session_timeline],
)  # fmt: skip
def test_a_wrong_frame_is_refused_with_what_to_give(function: Callable[..., plt.Axes]) -> None:
    with pytest.raises(QueryError, match=r"has no column .*; give what .* gives"):
        function(pd.DataFrame({"x": [1]}))


@pytest.mark.parametrize("name", ["$x^{$", "a\nb", "\\frac{1}", "<b>&amp;", "x" * 5000, "𝕏\x1b[31m\x00"])
def test_hostile_names_are_drawn_as_text(tmp_path, name: str) -> None:
    ax = plot.tools_by_status(rows("tool_calls", call(name), call("Read")))
    path = plot.save(ax, tmp_path / "x.png")
    assert path.stat().st_size > 1000
    assert max(len(t.get_text()) for t in ax.get_yticklabels()) <= 40


def test_saved_picture_carries_its_words(tmp_path) -> None:
    from PIL import Image

    ax = plot.tools_by_status(rows("tool_calls", call("Read"), call("Read", "error")))
    with Image.open(plot.save(ax, tmp_path / "deep" / "tools.png")) as image:
        assert image.info["Description"] == plot.alt_text(ax) != ""


def test_show_gives_picture_and_words_and_closes_the_figure(monkeypatch) -> None:
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *a, **k: shown.append((a, k)))
    ax = plot.tools_by_status(rows("tool_calls", call("Read")))
    words = plot.alt_text(ax)
    plot.show(ax)
    ((bundle,), named) = shown[0]
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert bundle["text/plain"] == words
    assert named["metadata"]["image/png"]["alt"] == words
    assert plt.get_fignums() == []


def test_importing_the_pictures_loads_no_heavy_library() -> None:
    code = "import sys, sessionbank.plot; print({'matplotlib', 'pandas', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (950, "950"), (999.6, "1 k"), (1234, "1.23 k"), (999_600, "1 M"), (25_049_560, "25 M"),
     (1.76e9, "1.76 G"), (5e13, "50,000 G"), (-1525, "−1.52 k"), (0.25, "0.25")],
)  # fmt: skip
def test_short_numbers(value: float, text: str) -> None:
    from sessionbank.plot import style

    assert style.short(value) == text
