"""Pictures of the support matrix and of contexts: what they draw, and that their words hold the figures."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from sessionbank import plot
from sessionbank.errors import QueryError
from sessionbank.plot.context import context_growth, context_growth_data
from sessionbank.plot.support import support_matrix, support_matrix_data
from sessionbank.transcripts.support import Cell
from tests.makers.banks import opened

CELLS = (
    Cell("messages", "uuid", "pi", "recorded", "id", True),
    Cell("messages", "uuid", "cursor", "absent", None, False),
    Cell("messages", "uuid", "kiro", "recorded", "id", False),
    Cell("token_usage", "model", "pi", "inferred", "x", True),
    Cell("token_usage", "model", "cursor", "absent", None, False),
    Cell("token_usage", "model", "kiro", "absent", None, False),
)
QUESTIONS = {"Which line?": ("messages", "uuid"), "Which model?": ("token_usage", "model")}


@pytest.fixture(scope="module")
def agents(root, tmp_path_factory):
    with opened(root / "data" / "agents.bundle", tmp_path_factory.mktemp("agents")) as bank:
        yield bank


@pytest.fixture(scope="module")
def by_key(root):
    truth = json.loads((root / "data" / "agents.truth.json").read_text(encoding="utf-8"))
    return {v["key"]: {**v, "session_id": k} for k, v in truth["sessions"].items()}


def test_matrix_has_a_row_a_question_and_a_column_an_agent():
    data = support_matrix_data(CELLS, QUESTIONS)
    assert data.index.to_list() == list(QUESTIONS)
    assert data.to_dict("list") == {
        "pi": ["recorded", "inferred"],
        "cursor": ["absent", "absent"],
        "kiro": ["unseen", "absent"],
    }
    with pytest.raises(QueryError, match=r"messages\.mood"):
        support_matrix_data(CELLS, {"How?": ("messages", "mood")})


def test_matrix_marks_each_cell_and_tells_how_many_are_answered():
    ax = support_matrix(support_matrix_data(CELLS, QUESTIONS))
    assert sorted(t.get_text() for t in ax.texts) == ["(●)", "–", "–", "–", "○", "●"]
    assert [t.get_text() for t in ax.get_yticklabels()] == list(QUESTIONS)
    assert plot.alt_text(ax).endswith("pi 2, cursor 0, kiro 0.")
    assert plot.alt_text(support_matrix(pd.DataFrame())).endswith("no questions")
    with pytest.raises(QueryError, match="maybe"):
        support_matrix(pd.DataFrame({"pi": ["maybe"]}, index=["?"]))


def test_context_growth_is_the_storys(agents, by_key):
    """At each moment that the story tells of, as many messages are seen as it names by hand."""
    for key in ("first-calculator", "moon-phase"):
        stated = by_key[key]
        data = context_growth_data(agents.get_by_session_id(stated["session_id"]))
        assert data["said"].to_list() == list(range(1, len(stated["context"]) + len(stated["left_out"]) + 1))
        assert int(data["seen"].iloc[-1]) == len(stated["context"])
        seen = data.set_index("uuid")["seen"].to_dict()
        assert stated["views"]
        for moment, view in stated["views"].items():
            assert seen[moment] == len(view), (key, moment)
        words = plot.alt_text(context_growth(data))
        assert f"{len(stated['context'])} of them are in the context" in words
        assert f"compactions: {stated['compactions']}." in words


def test_a_context_that_cannot_be_told_is_refused(agents, by_key):
    for key, why in (("two-branches", "branches"), ("tide-table", "cursor")):
        with pytest.raises(QueryError, match=why):
            context_growth_data(agents.get_by_session_id(by_key[key]["session_id"]))
