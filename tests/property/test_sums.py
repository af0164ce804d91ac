"""Sums by session, day, model and checkpoint agree, and are the generator's truth, over generated histories."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from sessionbank import schema
from tests.makers.banks import TABLES, assert_agreement, opened
from tests.makers.histories import History, histories

SETTINGS = settings(
    report_multiple_bugs=False,
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@SETTINGS
@given(histories())
def test_every_sum_is_the_truth(history: History):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repo = history.make(folder / "repo")
        with opened(repo.path, folder) as bank:
            found = assert_agreement(bank)
            truth = history.truth()
            assert {k: found[k] for k in truth} == truth
            messages = bank.messages()
            # rows lie in file order, each identity once
            assert (
                not messages[messages["uuid"].notna() & messages["role"].ne("progress")]
                .duplicated(["session_id", "uuid"])
                .any()
            )
            for table in TABLES:
                assert schema.problems(table, bank.arrow(table)) == []
