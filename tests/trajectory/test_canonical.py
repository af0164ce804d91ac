"""Canonical records: the golden files of the original, hashes written out by hand, and properties over generated files."""

from __future__ import annotations

import hashlib
import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sessionbank as sb
from sessionbank.errors import FormatError
from sessionbank.trajectory import javascript as js
from sessionbank.trajectory.canonical import canonical_records
from sessionbank.trajectory.canonical_bounds import cut_arguments, cut_text
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude

GOLDEN = ("meta_prompts", "replayed_uuid", "result_shapes", "streaming_growth")


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.shared
@pytest.mark.parametrize("name", GOLDEN)
def test_golden_records(shared, name):
    """Made by the original's source 0.3.0 (canonical schema 3): equal in every field, diagnostics too."""
    golden = json.loads((shared / "cases" / "canonical" / f"{name}.json").read_text())
    found = canonical_records((shared / "cases" / f"{name}.jsonl").read_bytes())
    assert list(found.records) == golden["records"]
    assert list(found.diagnostics) == golden["diagnostics"]
    assert found.canonical_schema_version == golden["canonical_schema_version"]
    assert found.normalizer_version == golden["normalizer_version"]
    assert found.config == golden["config"]


@pytest.mark.shared
@pytest.mark.parametrize("checkpoint", ["26dcd5518fea", "966462b9a8e7", "de1b4494d570"])
def test_golden_hashes_of_real_sessions(shared, bundle_repo, checkpoint):
    golden = json.loads((shared / "cases" / "canonical" / f"go-cli-{checkpoint}-0.json").read_text())
    path = f"entire/checkpoints/v1:{checkpoint[:2]}/{checkpoint[2:]}/{golden['session_index']}/full.jsonl"
    stored = subprocess.run(
        ["git", "-C", bundle_repo("go-cli"), "show", path], capture_output=True, check=True
    ).stdout
    found = canonical_records(stored)
    assert [[r[c] for c in golden["columns"]] for r in found.records] == golden["records"]
    assert list(found.diagnostics) == golden["diagnostics"]
    with sb.open_bank(bundle_repo("go-cli"), cache=False, progress=False) as bank:
        record = bank.get_by_checkpoint_id(checkpoint)[golden["session_index"]]
        by_session = bank.get_by_session_id(record.session_id).canonical(record)
    assert by_session.records == found.records


def test_hashes_written_out_by_hand():
    """Two lines; ids and hashes are those of the texts below, which follow the schema's description."""
    lines = (
        '{"type":"user","uuid":"u-1","sessionId":"s-1","cwd":"/w","timestamp":"2026-02-01T10:00:01.000Z","message":{"content":"é <b>"}}\n'
        '{"type":"assistant","uuid":"u-2","sessionId":"s-1","timestamp":"2026-02-01T10:00:02.500Z",'
        '"message":{"model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"b":1.0,"a":"x"}}]}}\n'
    )
    meta, user, call = canonical_records(lines.encode()).records
    assert meta["record_json"] == '{"cwd":"/w","model":"m","role":"meta","source":"claude-code"}'
    assert user["record_json"] == '{"content":"é <b>","role":"user","timestamp":"2026-02-01T10:00:01.000Z"}'
    assert user["record_hash"] == sha(user["record_json"])
    assert user["content_hash"] == sha('{"content":{"content":"é <b>"},"type":"user"}')
    assert user["record_id"] == sha('["s-1","u-1","message:0"]')
    assert user["source_order_id"] == "1|2026-02-01T10:00:01.000Z|00000000000000000000|u-1"
    assert (
        call["tool_arguments_json"] == '{"b":1,"a":"x"}'
    )  # JavaScript prints 1.0 as 1, and keeps the order of keys
    assert call["record_id"] == sha('["s-1","u-2","tool-call:t1"]')
    assert call["content_hash"] == sha(
        r'{"content":{"args":"{\"b\":1,\"a\":\"x\"}","name":"Bash"},"type":"assistant-tool-call"}'
    )
    assert (call["tool_name"], call["content"], call["source_identity_kind"]) == ("Bash", None, "native")


def test_what_is_dropped_or_made_up_is_told():
    talk = Claude()
    talk.prompt("<command-name>/clear</command-name>")
    talk.prompt("hello")
    talk.reply({"type": "tool_use", "name": "", "input": [1]}, uuid=None, timestamp=None)
    talk.result("nobody", "x")
    talk.line("user", isSidechain=True, message={"role": "user", "content": "sub"})
    found = canonical_records(b"{broken\n[1]\n" + talk.bytes())
    codes = [d["code"] for d in found.diagnostics]
    assert codes == [
        "invalid_json_line", "non_object_json_line", "sidechain_record_dropped", "noise_record_dropped",
        "tool_call_id_synthesized", "unknown_tool_name", "tool_arguments_reshaped", "orphan_tool_result",
        "timestamps_interpolated",
    ]  # fmt: skip
    call = next(r for r in found.records if r["record_type"] == "assistant-tool-call")
    assert call["source_identity_kind"] == "location"
    assert call["tool_arguments_json"] == '{"_raw":"[1]"}'
    assert call["record_timestamp"] == "2026-02-01T10:00:02.000Z"  # a second after the only line that is left


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "missing_user_records"),
        (["prompt"], "missing_assistant_records"),
        (["prompt", "reply", "other"], "source_group_required"),
    ],
)
def test_refusals_carry_the_originals_code(lines, code):
    talk = Claude()
    for what in lines:
        {"prompt": talk.prompt, "reply": talk.reply, "other": lambda: talk.prompt("x", sessionId="another")}[
            what
        ]()
    with pytest.raises(FormatError, match=code):
        canonical_records(talk.bytes())


def test_a_session_in_parts_is_one(tmp_path):
    """Two disjoint stored files and a snapshot of the first: each line once, in order; other agents are refused."""
    talk = Claude("11111111-2222-4333-8444-000000000001")
    for n in range(6):
        talk.prompt(f"p{n}")
        talk.reply(f"r{n}", message_id=f"m{n}")
    repo = CheckpointRepo(tmp_path / "r")
    repo.add_checkpoint(
        "00000000000a",
        sessions=[session(talk.session_id, talk.bytes(0, 4), created_at="2026-02-01T11:00:00Z")],
    )
    repo.add_checkpoint(
        "00000000000b",
        sessions=[session(talk.session_id, talk.bytes(0, 6), created_at="2026-02-01T12:00:00Z")],
    )
    repo.add_checkpoint(
        "00000000000c",
        sessions=[session(talk.session_id, talk.bytes(5, 12), created_at="2026-02-01T13:00:00Z")],
    )
    with sb.open_bank(tmp_path / "r", cache=False) as bank:
        found = bank.get_by_session_id(talk.session_id).canonical()
    assert [r["content"] for r in found.records[1:]] == [t for n in range(6) for t in (f"p{n}", f"r{n}")]
    with pytest.raises(FormatError, match="gemini-cli"):
        canonical_records(b"{}", source="gemini-cli")


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.1, "0.1"), (-0.0, "0"), (1e21, "1e+21"), (1e-7, "1e-7"), (123456789012345680000.0, "123456789012345680000"),
     (1.5e300, "1.5e+300"), (0.000001, "0.000001"), (5e-324, "5e-324"), (2**53 + 1.0, "9007199254740992")],
)  # fmt: skip
def test_numbers_as_javascript_prints_them(value, text):
    """From the ECMAScript rules for Number::toString; checked once with Node 20."""
    assert js.number(value) == text


def test_integer_like_keys_come_first():
    assert js.stringify(js.parse('{"b":1,"10":2,"9":3,"01":4}')) == '{"9":3,"10":2,"b":1,"01":4}'


@given(st.text(max_size=4000), st.integers(40, 3000))
def test_cut_text_keeps_its_bound_and_both_ends(text, limit):
    found = cut_text(text, limit)
    assert len(found) <= limit
    if len(text) <= limit:
        assert found == text
    else:
        assert found[0] == text[0]
        assert "more chars]" in found


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=9000), max_size=5), st.integers(2100, 8000))
def test_cut_arguments_stay_an_object_within_the_bound(given_, limit):
    raw = json.dumps(given_, ensure_ascii=False, separators=(",", ":"))
    text, _, cut = cut_arguments(raw, limit)
    assert len(text) <= limit
    assert isinstance(json.loads(text), dict)
    assert cut == (len(raw) > limit)


texts = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=40)


@given(st.lists(st.tuples(st.sampled_from(["prompt", "reply", "call"]), texts), min_size=1, max_size=20))
def test_generated_transcripts_come_back_whole(story):
    """Every non-blank text and every call of a generated transcript is in exactly one record, in order, hash and all."""
    talk = Claude()
    talk.prompt("start")
    talk.reply("ready", message_id="m")
    said = ["start", "ready"]
    for number, (what, text) in enumerate(story):
        if what == "prompt":
            talk.prompt(text)
        elif what == "reply":
            talk.reply(text, message_id=f"m{number}")
        else:
            use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": text}}
            talk.reply(use, message_id=f"m{number}")
            talk.result(f"t{number}", text)
        if js.strip(text) or what == "call":
            said += (
                [text]
                if what != "call"
                else [json.dumps({"command": text}, ensure_ascii=False, separators=(",", ":")), text]
            )
    noise = ("<local-command", "<command-", "<task-notification")
    if any(t.lstrip(js.SPACE).startswith(noise) for t in said):
        return
    found = canonical_records(talk.bytes())
    assert [
        r["content"] or r["tool_arguments_json"] or r["tool_result_json"] for r in found.records[1:]
    ] == said
    for record in found.records:
        assert record["record_hash"] == sha(record["record_json"])
        assert (
            json.dumps(
                json.loads(record["record_json"]), sort_keys=True, ensure_ascii=False, separators=(",", ":")
            )
            == record["record_json"]
        )
    assert len({r["record_id"] for r in found.records}) == len(found.records)
