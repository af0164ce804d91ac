"""No reader stumbles over a value of another type: each value of the hand-made transcripts is replaced in its turn."""

from __future__ import annotations

import copy
import json

import pytest

from tests.transcripts.test_plugin import SAMPLES

ODD = (None, 7, "odd", [1, None, {}], {"a": [1]})


def places(value, path=()):
    """The paths of every value in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for at in range(len(value)):
            yield from places(value[at], (*path, at))


def replaced(value, path, odd):
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    return value


def variants(data, is_document):
    """The transcript with one value of it replaced; of a JSONL file, each line by itself among the others."""
    if is_document:
        whole = json.loads(data)
        for path in places(whole):
            if path:
                for odd in ODD:
                    yield path, json.dumps(replaced(whole, path, odd)).encode()
        return
    lines = data.splitlines()
    for at, line in enumerate(lines):
        value = json.loads(line)
        for path in places(value):
            if path:
                for odd in ODD:
                    new = json.dumps(replaced(value, path, odd)).encode()
                    yield (at, *path), b"\n".join([*lines[:at], new, *lines[at + 1 :]])


@pytest.mark.parametrize("name", SAMPLES)
def test_odd_values(sample, read, name):
    texts = (
        "uuid",
        "parent_uuid",
        "role",
        "kind",
        "text",
        "model",
        "message_id",
        "timestamp",
        "agent_id",
        "line_type",
        "extra",
    )
    for path, data in variants(sample(name), name.endswith(".json")):
        session = read(data)  # whatever is thrown fails the test
        for message in session.messages:
            assert all(message[c] is None or type(message[c]) is str for c in texts), path
        for block in session.blocks:
            assert type(block["type"]) is str, path
            assert block["text"] is None or type(block["text"]) is str, path
        for call in session.calls:
            assert type(call["tool_call_id"]) is type(call["tool_name"]) is type(call["status"]) is str, path
            assert all(
                call[c] is None or type(call[c]) is str for c in ("input", "result_text", "returned_at")
            ), path
        for row in session.usage:
            numbers = [v for k, v in row.items() if k.endswith("_tokens")]
            assert all(v is None or (type(v) is int and v >= 0) for v in numbers), path
            assert type(row["message_id"]) is str, path
