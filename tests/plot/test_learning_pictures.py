"""Pictures of credits, recommended teams and forecasts: what they draw, and that their words hold the figures."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from sessionbank import plot
from sessionbank.errors import QueryError
from sessionbank.plot.learning import (
    agent_credits,
    agent_credits_data,
    forecast_gain,
    forecast_gain_data,
    forecast_skill,
    team_options,
    team_options_data,
)


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    plt.close("all")


def credits(*given: tuple[str, str, float]) -> pd.DataFrame:
    frame = pd.DataFrame(given, columns=["agent_id", "role", "contribution_score"])
    return frame.assign(role_assessment="helpful")


def test_credits_go_from_the_highest_and_start_at_one_half():
    frame = credits(("b", "executor", 0.4), ("lead", "lead", 0.9), ("a", "executor", 0.4))
    assert agent_credits_data(frame)["agent_id"].to_list() == ["lead", "a", "b"]
    ax = agent_credits(frame)
    assert [(round(b.get_x(), 6), round(b.get_width(), 6)) for b in ax.patches] == [
        (0.5, 0.4), (0.5, -0.1), (0.5, -0.1),
    ]  # fmt: skip
    assert [t.get_text() for t in ax.get_yticklabels()] == ["lead", "a (executor)", "b (executor)"]
    assert "lead 0.90; a (executor) 0.40" in plot.alt_text(ax)
    assert plot.alt_text(agent_credits(frame.head(0))).endswith("no credits")
    with pytest.raises(QueryError, match="role_assessment"):
        agent_credits(frame.drop(columns="role_assessment"))


def recommended(**more: object) -> SimpleNamespace:
    role = SimpleNamespace(role="lead", count=1), SimpleNamespace(role="executor", count=2)
    given = {
        "basis": True, "roles": role, "topology": "hierarchical", "evidence": ("r1", "r2", "r3"), "success": 0.75,
        "low": 0.5, "high": 0.9,
        "alternatives": ({"topology": None, "roles": {"lead": 1}, "estimate": 0.4, "runs": 2},),
    }  # fmt: skip
    return SimpleNamespace(**(given | more))


def test_teams_to_choose_from_hold_the_first_choice_and_the_others():
    data = team_options_data(recommended())
    assert data["team"].to_list() == ["2 executor + 1 lead", "1 lead"]
    assert data["runs"].to_list() == [3, 2]
    assert data["low"].isna().to_list() == [False, True]
    ax = team_options(data)
    assert [line.get_xdata().tolist() if hasattr(line.get_xdata(), "tolist") else list(line.get_xdata())
            for line in ax.lines] == [[0.5, 0.9], [0.75], [0.4]]  # fmt: skip
    assert "2 executor + 1 lead: 0.75, runs 3, interval 0.50 to 0.90; 1 lead: 0.40, runs 2." in plot.alt_text(
        ax
    )
    assert "no basis" in plot.alt_text(team_options(team_options_data(recommended(basis=False))))
    with pytest.raises(QueryError, match="estimate"):
        team_options(pd.DataFrame({"team": ["x"]}))


def forecasts(name: str, *given: tuple[float, float, float]) -> pd.DataFrame:
    frame = pd.DataFrame(given, columns=["forecast", "base_rate", "score"])
    return frame.assign(run=range(1, len(given) + 1), forecaster=name)


def test_gain_is_the_error_of_the_base_rate_less_that_of_the_forecast():
    """By hand: base 0.5 against 1 errs 0.25, a forecast of 1 errs 0; then 0.5 against 0 errs 0.25, and 1 errs 1."""
    frame = pd.concat([forecasts("sure", (1, 0.5, 1), (1, 0.5, 0)), forecasts("base", (0.5, 0.5, 1))])
    data = forecast_gain_data(frame)
    assert data[data["forecaster"].eq("sure")]["gain"].to_list() == [0.25, -0.75]
    assert data[data["forecaster"].eq("sure")]["total"].to_list() == [0.25, -0.5]
    assert data[data["forecaster"].eq("base")]["total"].to_list() == [0.0]
    words = plot.alt_text(forecast_gain(frame))
    assert "sure -0.50; base +0.00" in words
    assert plot.alt_text(forecast_gain(frame.head(0))).endswith("no forecasts")
    with pytest.raises(QueryError, match="base_rate"):
        forecast_gain(frame.drop(columns="base_rate"))


def test_skill_is_told_only_where_the_interval_leaves_nothing_out():
    frame = pd.DataFrame(
        [("a", 0.1, 0.02, 0.2), ("b", 0.1, -0.01, 0.2), ("c", -0.1, -0.2, -0.01), ("d", 0.0, 0.0, 0.0)],
        columns=["forecaster", "gain", "low", "high"],
    )
    ax = forecast_skill(frame)
    assert [t.get_text() for t in ax.texts] == ["better", "cannot tell", "worse", "cannot tell"]
    assert "a +0.100 (+0.020 to +0.200), better" in plot.alt_text(ax)
    assert plot.alt_text(forecast_skill(frame.head(0))).endswith("no forecasters")


def test_hostile_names_are_drawn_as_they_are():
    name = "$\\frac{x}$\n<b>"
    agent_credits(credits((name, name, 0.7))).get_figure().canvas.draw()
    forecast_gain(forecasts(name, (1, 0.5, 1))).get_figure().canvas.draw()
    team_options(team_options_data(recommended(alternatives=(
        {"topology": None, "roles": {name: 1}, "estimate": 0.4, "runs": 2},
    )))).get_figure().canvas.draw()  # fmt: skip
