"""Bytes to objects: what can be read is read, each repair and loss is told with its line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.sniff import sniff


def read(data):
    told = []
    found = jsonl.lines(
        data, lambda severity, code, message, line=None: told.append((code, line)), id_key="uuid"
    )
    return [(f[0], f[1], f[2], f[3]) for f in found], told


def test_lines_have_number_and_offset():
    data = b'{"uuid":"a"}\n\n{"uuid":"b"}\r\n{"uuid":""}'
    found, told = read(data)
    assert found == [("a", {"uuid": "a"}, 0, 0), ("b", {"uuid": "b"}, 2, 14), (None, {"uuid": ""}, 3, 28)]
    assert told == []


def test_a_byte_order_mark_moves_offsets_not_lines():
    found, told = read(b'\xef\xbb\xbf{"uuid":"a"}\n{"uuid":"b"}')
    assert [(f[0], f[2], f[3]) for f in found] == [("a", 0, 3), ("b", 1, 16)]
    assert told == []


@pytest.mark.parametrize(
    ("line", "uuids", "codes"),
    [
        (b'{"uuid":"a"}{"uuid":"b"}', ["a", "b"], ["glued_objects"]),
        (b'{"uuid":"a"} \x00 {"uuid":"b"}', ["a", "b"], ["glued_objects"]),
        (b'{"uuid":"a"}}}', ["a"], ["invalid_json_line"]),
        (b'{"uuid":"a', [], ["invalid_json_line"]),
        (b"\0\0\0", [], ["nul_line"]),
        (b'\0{"uuid":"a"}\0', ["a"], ["nul_bytes"]),
        (b"[1]", [], ["non_object_line"]),
        (b"null", [], ["non_object_line"]),
        (b'"x"', [], ["non_object_line"]),
        (b'{"uuid":"a","x":NaN}', ["a"], []),
        (b'{"uuid":"a","x":"\\ud83d"}', ["a"], ["lone_surrogate"]),
        (b'{"uuid":"a\xff"}', ["a\ufffd"], None),
        (b"[" * 20_000, [], ["too_deep"]),
        (b"   \t", [], []),
    ],
)
def test_each_kind_of_line(line, uuids, codes):
    found, told = read(b'{"uuid":"first"}\n' + line + b'\n{"uuid":"last"}')
    assert [f[0] for f in found] == ["first", *uuids, "last"]
    if codes is not None:
        assert told == [(c, 1) for c in codes]


def test_surrogates_that_belong_together_stay():
    found, told = read(b'{"uuid":"a","x":"\\ud83d\\ude00 \\ud83d"}')
    assert found[0][1]["x"] == "\U0001f600 \ufffd"
    assert told == [("lone_surrogate", 0)]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.builds(
                lambda v: json.dumps({"uuid": "u", "v": v}).encode(),
                st.recursive(
                    st.none() | st.text(max_size=5) | st.integers(),
                    lambda c: st.lists(c, max_size=3),
                    max_leaves=6,
                ),
            ),
        ),
        max_size=8,
    )
)
def test_no_bytes_stop_it(parts):
    data = b"\n".join(parts)
    found, told = read(data)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for identity, value, number, offset in found:
        assert isinstance(value, dict)
        assert 0 <= number < len(lines) and 0 <= offset <= len(data)
        assert identity is None or identity == value["uuid"]
        json.dumps(value, ensure_ascii=False).encode()  # storable as it is
    # each line that is not blank gave an object or a word
    spoken = {f[2] for f in found} | {line for _, line in told}
    blank = {n for n, line in enumerate(lines) if not line or line.isspace()}
    assert spoken | blank >= set(range(len(lines)))
    sniff(data)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.text(alphabet='{}[]",:\\\n\0u019dab ', max_size=60), max_size=4))
def test_nothing_that_looks_like_json_stops_it(parts):
    data = "\n".join(parts).encode()
    read(data)
    sniff(data)
    jsonl.documents(data, lambda *_: None)
