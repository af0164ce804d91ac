"""Agreement, kappa, accuracy and their intervals against figures from textbooks and by hand; the labels file."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from multiprocessing import get_context

import pandas as pd
import pytest

from sessionbank.errors import FormatError, QueryError
from sessionbank.trajectory.outcomes.agreement import accuracy, agreement, balanced, kappa, wilson
from sessionbank.trajectory.outcomes.labels import label_map, read_labels, write_label


def frame(**strategies):
    return pd.DataFrame(
        [(f"s{i}", name, label) for name, labels in strategies.items() for i, label in enumerate(labels)],
        columns=["session_id", "strategy", "label"],
    )


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_that_of_newcombe_1998(right, of, low, high):
    # table I of Newcombe, Two-sided confidence intervals for the single proportion, method 3
    assert wilson(right, of) == pytest.approx((low, high), abs=6e-5)


def test_wilson_at_the_ends():
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(5, 5)[1] == 1.0
    assert wilson(0, 5)[0] == 0.0


def test_kappa_of_a_table_known_from_books():
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed 0.7, by chance 0.5
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert kappa(pairs) == pytest.approx(0.4)
    assert kappa([("y", "y"), ("n", "n")]) == 1.0
    assert kappa([("y", "n"), ("n", "y")]) == -1.0
    assert math.isnan(kappa([]))
    assert math.isnan(kappa([("y", "y")] * 3))


def test_balanced_by_hand():
    mean, low, high = balanced([(8, 10), (1, 2), (0, 0)])
    assert mean == pytest.approx(0.65)
    assert 0 < low < mean < high <= 1
    assert math.isnan(balanced([])[0])


def test_agreement_leaves_unknown_out():
    made = frame(
        a=["success", "failure", "partial", "unknown"],
        b=["success", "partial", "partial", "success"],
        c=["unknown"] * 4,
    )
    table = agreement(made)
    assert list(zip(table["a"], table["b"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    first, second = table.iloc[0], table.iloc[1]
    assert (first["sessions"], first["agree"]) == (3, 2)
    assert first["share"] == pytest.approx(2 / 3)
    assert first["kappa"] == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert (second["sessions"], second["low"], second["high"]) == (0, 0.0, 1.0)
    assert math.isnan(second["share"])


def test_accuracy_by_hand():
    truth = {f"s{i}": label for i, label in enumerate(["success"] * 3 + ["failure"] * 2)} | {"s5": "unknown"}
    made = frame(
        always=["success"] * 6, good=["success", "success", "partial", "failure", "unknown", "success"]
    )
    table = accuracy(made, truth).set_index("strategy")
    assert table.loc["always", "accuracy"] == pytest.approx(0.6)
    assert table.loc["always", "balanced"] == pytest.approx(0.5)
    assert table.loc["good", ["sessions", "answered", "right"]].tolist() == [5, 4, 3]
    assert table.loc["good", "balanced"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert table.loc["good", "success_right"] == pytest.approx(2 / 3)
    assert math.isnan(table.loc["good", "partial_right"])
    assert (table["low"] <= table["accuracy"]).all()
    assert (table["accuracy"] <= table["high"]).all()


def test_accuracy_takes_labels_in_three_shapes(tmp_path):
    made = frame(a=["success", "failure"])
    path = tmp_path / "labels.jsonl"
    for sid, label in (("s0", "success"), ("s1", "success")):
        write_label(path, sid, label, by="ada")
    labels = read_labels(path)
    shapes = [labels, {"s0": "success", "s1": "success"}, pd.DataFrame([vars_of(x) for x in labels])]
    assert [accuracy(made, x)["right"].tolist() for x in shapes] == [[1], [1], [1]]


def vars_of(label):
    return {"session_id": label.session_id, "label": label.label}


def test_wrong_calls():
    with pytest.raises(QueryError, match="no column label"):
        agreement(pd.DataFrame({"session_id": [], "strategy": []}))
    with pytest.raises(QueryError, match="none of the labelled"):
        accuracy(frame(a=["success"]), {"other": "success"})


def test_labels_keep_their_history(tmp_path):
    path = tmp_path / "deep" / "labels.jsonl"
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    write_label(path, "s1", "success", reason="it works\nwell", by="ada", at=at)
    write_label(path, "s1", "failure", by="bruno", at=at.replace(hour=11))
    write_label(path, "s1", "partial", reason="on second thought", by="ada", at=at.replace(hour=10))
    assert len(path.read_text("utf-8").splitlines()) == 3
    labels = read_labels(path)
    assert {(x.by, x.label) for x in labels} == {("ada", "partial"), ("bruno", "failure")}
    assert [x.label for x in read_labels(path, by="ada")] == ["partial"]
    assert label_map(labels) == {"s1": "failure"}  # the latest
    assert labels[-1].at == "2026-03-02T10:00:00Z"


def test_labels_file_with_bad_lines(tmp_path):
    path = tmp_path / "labels.jsonl"
    write_label(path, "s1", "success")
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"session_id": "s2", "label": "great"}\n[]\n{"session_id": "s3", "lab')
    write_label(path, "s4", "failure")  # a cut line does not take the next one with it
    with pytest.raises(FormatError) as caught:
        read_labels(path)
    assert all(f"line {n}" in str(caught.value) for n in (2, 3, 4))
    assert [x.session_id for x in read_labels(path, strict=False)] == ["s1", "s4"]
    with pytest.raises(QueryError, match="no labels file"):
        read_labels(tmp_path / "absent.jsonl")
    with pytest.raises(QueryError, match="no label 'good'"):
        write_label(path, "s1", "good")
    with pytest.raises(QueryError):
        write_label(path, "", "success")


def label_many(path, who):
    for i in range(100):
        write_label(path, f"s{i}", "success", reason="x" * 200, by=who)


def test_two_processes_do_not_mix_their_lines(tmp_path):
    path = tmp_path / "labels.jsonl"
    context = get_context("spawn")
    running = [context.Process(target=label_many, args=(path, who)) for who in ("ada", "bruno")]
    for process in running:
        process.start()
    for process in running:
        process.join(60)
        assert process.exitcode == 0
    assert len(read_labels(path)) == 200
