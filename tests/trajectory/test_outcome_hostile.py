"""Texts made to be slow or to break a reader: each is read within its time, and nothing raises."""

from __future__ import annotations

import time

import pytest

from sessionbank.trajectory.outcome import outcomes_of
from tests.trajectory.outcome_sessions import bash, session, told

LONG = 60_000
TEXTS = {
    "newlines": "\n" * LONG,
    "spaces": " " * LONG,
    "digits": "1" * LONG,
    "one word": "a" * LONG,
    "words": "was ing " * (LONG // 8),
    "failed": "failed " * (LONG // 7),
    "numbers": "1 of 2 " * (LONG // 7),
    "quotes": '"' * LONG,
    "backquotes": "`" * LONG,
    "fences": "```" * (LONG // 3),
    "heredocs": "<<A\n" * (LONG // 4),
    "brackets": "$(" * (LONG // 2),
    "hashes": " #" * (LONG // 2),
    "braces": "{" * LONG,
    "dots": ". " * (LONG // 2),
    "playwright": "  1 failed\n" * (LONG // 11),
    "surrogates": "\ud800 could not \udfff" * 100,
    "gits": "git " * (LONG // 4),
    "dashes": " - " * (LONG // 3),
    "commas": ", " * (LONG // 2),
    "nul": "\x00" * 1000,
}


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_is_read_in_time(name):
    text = TEXTS[name]
    made = session(
        ("prompt", text[:1000]),
        bash("pytest -q " + text, "error", text),
        bash(text, "ok", text),
        ("reply", text),
        ("prompt", text),
        summary=told(text, text, open_items=[text]),
    )
    start = time.perf_counter()
    said = outcomes_of(made)
    assert time.perf_counter() - start < 15, name  # far above what it takes, far below what a square costs
    assert all(o.label in ("success", "partial", "failure", "unknown") for o in said.values())
    assert all(len(e["what"]) <= 200 for o in said.values() for e in o.evidence)
