"""Figures against values worked out by hand or from tables; similarity that tells a turned-round text apart."""

from __future__ import annotations

import math

import pytest

from sessionbank.learning.confidence import beta_below, beta_quantile, effects, rate
from sessionbank.learning.filenames import file_stem
from sessionbank.learning.similarity import TextIndex, groups, opposed, similarity


@pytest.mark.parametrize(
    ("x", "a", "b", "wanted"),
    [
        (0.3, 1, 1, 0.3),  # uniform
        (0.5, 2, 1, 0.25),  # x squared
        (0.5, 1, 3, 1 - 0.5**3),
        (0.3, 2, 5, 1 - 0.7**6 - 6 * 0.3 * 0.7**5),  # at least two of six: binomial
        (0.9, 50, 50, 1.0),
        (0.5, 7.5, 7.5, 0.5),
    ],
)
def test_beta_below(x, a, b, wanted):
    assert math.isclose(beta_below(x, a, b=b), wanted, abs_tol=1e-9)


def test_quantiles_turn_the_function_round():
    assert math.isclose(beta_quantile(0.25, 2, b=1), 0.5, abs_tol=1e-9)
    for p in (0.1, 0.5, 0.9):
        assert math.isclose(beta_below(beta_quantile(p, 3.5, b=9), 3.5, b=9), p, abs_tol=1e-8)


def test_a_rate_shrinks_with_little_data():
    assert (rate(0, 0).mean, round(rate(0, 0).low, 6), round(rate(0, 0).high, 6)) == (0.5, 0.1, 0.9)
    few, many = rate(3, 0), rate(30, 0)
    assert few.mean == 4 / 5
    assert few.low < many.low
    assert few.high - few.low > many.high - many.low


def test_effects_credit_the_practice_that_does_it_and_not_its_companion():
    does = [i % 2 == 0 for i in range(40)]
    along = [d if i % 5 else not d for i, d in enumerate(does)]  # there with it in four runs of five
    found = effects({"does": does, "along": along}, [float(d) for d in does])
    assert found["does"].probability > 0.99
    assert found["does"].change == pytest.approx(1, abs=0.05)
    assert found["along"].probability < 0.3


def test_effects_say_what_cannot_be_told():
    flags = [True, False] * 10
    scores = [1.0, 0.0] * 10
    found = effects(
        {"one": flags, "same": flags, "turned": [not f for f in flags], "always": [True] * 20}, scores
    )
    assert found["one"].alike == ("same", "turned")
    assert (found["one"].change > 0, found["turned"].change < 0) == (True, True)
    assert (found["always"].probability, found["always"].change) == (0.0, 0.0)
    assert effects({"one": flags}, [1.0] * 20)["one"].probability == 0.0
    assert effects({"one": flags[:3]}, scores[:3])["one"].probability == 0.0


def test_similarity_and_its_negation():
    assert similarity("Run the tests before the commit", "Run the tests before the commit") == 1.0
    assert similarity("Run the tests before the commit", "run tests before commit!") > 0.85
    assert similarity("Run the tests before the commit", "The database is slow on Mondays") < 0.3
    assert similarity("", "x") == 0.0
    assert opposed("Run the tests", "Do not run the tests")
    assert not opposed("Do not run the tests", "Never run the tests")
    texts = ["Run the tests first", "run tests first", "Do not run the tests first", "Ask the lead"]
    assert groups(texts) == [[0, 1], [2], [3]]


def test_the_nearest_are_found_and_forgotten():
    index = TextIndex()
    for key, text in (
        ("a", "add a payment form"),
        ("b", "fix the export of orders"),
        ("c", "add a login form"),
    ):
        index.add(key, text)
    found = index.nearest("payment form")
    assert [k for k, _ in found] == ["a", "c"]
    assert all(0 < s <= 1 for _, s in found)
    assert index.nearest("add a payment form")[0] == ("a", pytest.approx(1.0))
    index.remove("a")
    index.remove("a")
    assert [k for k, _ in index.nearest("payment form")] == ["c"]
    assert index.nearest("") == []


def test_file_names_of_ids():
    assert file_stem("run-1.2_x") == "run-1.2_x"
    assert file_stem("../a b") == "%2E.%2Fa%20b"
    assert file_stem("") == "%"
    assert file_stem("nul.txt") != "nul.txt"
    assert len(file_stem("é" * 300)) <= 120
    assert file_stem("x" * 300) != file_stem("x" * 301)
