"""Files that hold trajectories: read back equal, whole or not there, in the shapes that other programs read."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace

import pytest

import sessionbank as sb
from sessionbank.errors import FormatError, QueryError
from sessionbank.trajectory import Outcome, Redactor, read_jsonl, synthesize, write_jsonl
from sessionbank.trajectory.export import UnredactedWarning
from tests.trajectory.made_sessions import Script, small, with_subagent


def plain(trajectories, path, **options):
    with pytest.warns(UnredactedWarning):
        return write_jsonl(trajectories, path, redact=False, **options)


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def judged(session):
    made = synthesize(session, outcome=None)
    return made.with_outcome(
        Outcome("partial", 0.5, 0.8, "checks", "one of two", ({"seq": 3, "checks": ["pytest"]},))
    )


# -- ours ----------------------------------------------------------------------------------------------------------


def test_our_format_reads_back_equal(tmp_path):
    given = [judged(small()), judged(with_subagent()), synthesize(Script().session(files=()), outcome=None)]
    written = plain(given, tmp_path / "t.jsonl")
    assert read_jsonl(written.path) == given
    assert (written.trajectories, written.rows, written.bytes) == (3, 3, written.path.stat().st_size)


def test_hostile_text_reads_back_equal(tmp_path):
    s = Script()
    s.prompt('half a pair \ud83d, a null \x00, a line \u2028 and a quote " \\ </script>')
    s.tool("m1", "t1", "Bash", "not json {", output="\ud83d\n\r\n")
    given = [synthesize(s.session(), outcome=None)]
    assert read_jsonl(plain(given, tmp_path / "t.jsonl").path) == given


def test_a_line_tells_its_format_and_stands_alone(tmp_path):
    (line,) = lines(plain([judged(small())], tmp_path / "t.jsonl").path)
    assert (line["format"], line["version"]) == ("sessionbank-trajectory", 1)
    assert line["steps"][1]["thought"] == "Where is the rounding?\n\nI look at the cart."
    assert line["outcome"]["label"] == "partial"
    assert line["replies"][1]["before"][0]["text"] == "Also the tax, please"


def test_redaction_is_on_by_default(tmp_path):
    write_jsonl(synthesize(small(), outcome=None), tmp_path / "t.jsonl")
    assert "mkowalczyk" not in (tmp_path / "t.jsonl").read_text("utf-8")


def test_placeholders_of_one_redactor_are_the_same_over_files(tmp_path):
    redactor = Redactor()
    for name in ("a", "b"):
        write_jsonl(synthesize(small(), outcome=None), tmp_path / name, redact=redactor)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"format":"sessionbank-trajectory","version":99}', "version '99'"),
        ('{"messages":[]}', "chat rows"),
        ("[]", "something else"),
        ('{"schema_version":"ATIF-v1.7","steps":3}', "list of `steps`"),
        ("{", "neither lines of JSON nor"),
        ('{"format":"sessionbank-trajectory","version":1,"id":"a"}\n{', "line 2"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, text, says):
    path = tmp_path / "t.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(FormatError, match=says):
        read_jsonl(path)


# -- files ---------------------------------------------------------------------------------------------------------


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("old", "utf-8")

    def breaking():
        yield synthesize(small(), outcome=None)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        write_jsonl(breaking(), path)
    assert path.read_text("utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["t.jsonl"]


def test_memory_does_not_grow_with_the_number(tmp_path):
    s = Script()
    s.prompt("Go")
    for number in range(20):
        s.tool(f"m{number}", f"t{number}", "Bash", "{}", output="x" * 20_000)
    made = synthesize(s.session(), outcome=None)

    def peak(count):
        tracemalloc.start()
        write_jsonl((replace(made, id=f"t{n}") for n in range(count)), tmp_path / "t.jsonl")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)
    assert peak(60) < 1.3 * peak(6)


def test_unknown_options_are_refused_before_anything_is_written(tmp_path):
    for options in ({"format": "xml"}, {"arguments": "yaml"}, {"thinking": "loud"}, {"context": "half"}):
        with pytest.raises(QueryError, match="there are"):
            write_jsonl([], tmp_path / "t.jsonl", **options)
    assert list(tmp_path.iterdir()) == []


def test_what_a_format_cannot_hold_is_told(tmp_path):
    empty = synthesize(Script().session(), outcome=None)
    for form in ("atif", "messages"):
        written = write_jsonl([empty, synthesize(small(), outcome=None)], tmp_path / form, format=form)
        assert (written.trajectories, written.skipped) == (1, ((empty.id, "nothing was said in it"),))


# -- ATIF ----------------------------------------------------------------------------------------------------------


def atif(session, tmp_path, **options):
    (document,) = lines(
        plain([synthesize(session, outcome=None)], tmp_path / "t.jsonl", format="atif", **options).path
    )
    return document


def test_atif_holds_every_word_call_and_number(tmp_path):
    document = atif(small(), tmp_path)
    assert document["schema_version"] == "ATIF-v1.7"
    assert [(s["step_id"], s["source"], s["message"]) for s in document["steps"]] == [
        (1, "user", "Make the cart round to cents"),
        (2, "agent", "I look at the cart."),
        (3, "user", "Also the tax, please"),
        (4, "agent", "Both are done."),
        (5, "user", "[Request interrupted by user]"),
    ]
    step = document["steps"][1]
    assert step["reasoning_content"] == "Where is the rounding?"
    assert [(c["function_name"], c["arguments"]) for c in step["tool_calls"]] == [
        ("Read", {"file_path": "cart.py"}),
        ("Bash", {"command": "pytest -q", "timeout": 5}),
    ]
    assert [(r["source_call_id"], r["content"]) for r in step["observation"]["results"]] == [
        ("t1", "def total(): ..."),
        ("t2", "1 failed"),
    ]
    metrics = step["metrics"]
    assert (
        metrics["prompt_tokens"],
        metrics["cached_tokens"],
        metrics["completion_tokens"],
        metrics["cost_usd"],
    ) == (60, 30, 5, 0.5)
    assert "cost_usd" not in document["steps"][3]["metrics"]  # no price is no cost
    final = document["final_metrics"]
    assert (
        final["total_prompt_tokens"],
        final["total_completion_tokens"],
        final["total_steps"],
        final["total_cost_usd"],
    ) == (120, 10, 5, 0.5)


def test_atif_embeds_subagents_and_points_at_them(tmp_path):
    document = atif(with_subagent(), tmp_path)
    (child,) = document["subagent_trajectories"]
    (result,) = document["steps"][1]["observation"]["results"]
    assert result["subagent_trajectory_ref"][0]["trajectory_id"] == child["trajectory_id"]
    assert child["steps"][0]["message"] == "Look for the leak"
    deeper = child["subagent_trajectories"][0]["steps"]
    assert (deeper[0]["source"], deeper[0]["message"]) == (
        "user",
        "Read pool.py",
    )  # it stands in the call alone
    assert deeper[0]["extra"]["is_inferred"] is True
    last = document["steps"][-1]
    assert last["tool_calls"][0]["function_name"] == "mcp__db__query"
    assert "observation" not in last  # the call stayed open


@pytest.mark.parametrize("make", [small, with_subagent])
def test_atif_reads_back(tmp_path, make):
    given = judged(make())
    plain([given], tmp_path / "t.jsonl", format="atif")
    (back,) = read_jsonl(tmp_path / "t.jsonl")
    (tmp_path / "pretty.json").write_text(json.dumps(lines(tmp_path / "t.jsonl")[0], indent=2), "utf-8")
    assert read_jsonl(tmp_path / "pretty.json") == [back]
    assert [t.id for t in back.walk()] == [t.id for t in given.walk()]
    for a, b in zip(given.walk(), back.walk(), strict=True):
        assert (a.task, a.own_steps, a.total_tokens, a.outcome) == (
            b.task,
            b.own_steps,
            b.total_tokens,
            b.outcome,
        ) or a.subagents
        assert [(r.text, r.thinking, r.before) for r in a.replies] == [
            (r.text, r.thinking, r.before) for r in b.replies
        ]
    assert read_jsonl(plain([back], tmp_path / "again.jsonl", format="atif").path) == [back]


def test_atif_of_another_program_is_read(tmp_path):
    document = {
        "schema_version": "ATIF-v1.4",
        "session_id": "x1",
        "agent": {"name": "other", "version": "3"},
        "steps": [
            {"step_id": 1, "source": "system", "message": "You are"},
            {
                "step_id": 2,
                "source": "user",
                "message": [
                    {"type": "text", "text": "Do it"},
                    {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
                ],
            },
            {
                "step_id": 3,
                "source": "agent",
                "message": "ok",
                "model_name": "m",
                "tool_calls": [{"tool_call_id": "c", "function_name": "ls", "arguments": {}}],
                "observation": {"results": [{"source_call_id": "c", "content": "a b"}]},
                "metrics": {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 2},
            },
            {"step_id": 4, "source": "agent", "message": "done"},
        ],
    }
    (tmp_path / "t.jsonl").write_text(json.dumps(document), "utf-8")
    (made,) = read_jsonl(tmp_path / "t.jsonl")
    assert made.task.description == "Do it\n[image: image/png]"
    assert [(s.action_name, s.observation, s.tokens) for s in made.own_steps] == [
        ("ls", "a b", 12),
        ("respond", None, None),
    ]
    assert (made.replies[0].input_tokens, made.replies[0].cache_read_tokens, made.agent) == (6, 4, "other")


# -- real input ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    with sb.open_bank(root / "data" / "shop.bundle", cache=folder, state_dir=folder, progress=False) as bank:
        yield [synthesize(s, outcome=None) for s in bank.iter_sessions()]


def test_the_sample_bank_reads_back_equal(shop, tmp_path):
    assert read_jsonl(plain(shop, tmp_path / "t.jsonl").path) == shop


def test_no_call_and_no_word_is_lost_in_any_format(shop, tmp_path):
    calls = Counter(s.tool_call_id for t in shop for x in t.walk() for s in x.own_steps if s.tool_call_id)
    results = Counter(
        s.observation for t in shop for x in t.walk() for s in x.own_steps if s.observation is not None
    )
    documents = lines(plain(shop, tmp_path / "a", format="atif").path)
    rows = lines(plain(shop, tmp_path / "m", format="messages").path)

    def every(document):
        yield document
        for child in document.get("subagent_trajectories", []):
            yield from every(child)

    steps = [s for d in documents for x in every(d) for s in x["steps"]]
    assert Counter(c["tool_call_id"] for s in steps for c in s.get("tool_calls", [])) == calls
    found = Counter(
        r["content"] for s in steps for r in s.get("observation", {}).get("results", []) if "content" in r
    )
    assert not results - found
    assert Counter(c["id"] for r in rows for m in r["messages"] for c in m.get("tool_calls", [])) == calls
    assert not results - Counter(m["content"] for r in rows for m in r["messages"] if m["role"] == "tool")


def test_sessions_may_be_given_as_they_are(tmp_path):
    write_jsonl(small(), tmp_path / "a", format="atif")
    write_jsonl([synthesize(small())], tmp_path / "b", format="atif")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_canonical_records_are_of_sessions_that_a_bank_holds(root, tmp_path):
    for given in (small(), synthesize(small(), outcome=None)):
        with pytest.raises(QueryError, match="stored lines"):
            write_jsonl([given], tmp_path / "c", format="canonical")
    with sb.open_bank(
        root / "data" / "shop.bundle", cache=tmp_path / "x", state_dir=tmp_path, progress=False
    ) as bank:
        sessions = list(bank.iter_sessions())
        asis = plain(sessions, tmp_path / "plain", format="canonical")
        clean = write_jsonl(sessions, tmp_path / "clean", format="canonical")
        wanted = sessions[0].canonical().records
    assert lines(asis.path)[: len(wanted)] == [dict(r) for r in wanted]
    written = {r["source_group_id"] for r in lines(asis.path)}
    assert {sid for sid, _ in asis.skipped} == {s.session_id for s in sessions} - written
    assert "/home/ada" in asis.path.read_text("utf-8")
    assert "/home/ada" not in clean.path.read_text("utf-8")
    for before, after in zip(lines(asis.path), lines(clean.path), strict=True):
        assert before["record_id"] == after["record_id"]
        assert hashlib.sha256(after["record_json"].encode()).hexdigest() == after["record_hash"]
        assert (before["record_hash"] == after["record_hash"]) == (
            before["content_hash"] == after["content_hash"]
        )


@pytest.mark.slow
@pytest.mark.shared
def test_five_real_sessions_pass_the_validators_of_others(shared, tmp_path, root):
    with sb.open_bank(
        shared / "data" / "go-cli.bundle", cache=tmp_path / "c", state_dir=tmp_path, progress=False
    ) as bank:
        made = [t for t in (synthesize(s, outcome=None) for s in bank.iter_sessions()) if t.own_steps]
        made.sort(key=lambda t: (-len(t.subagents), t.id))  # those with subagents are the hardest
        write_jsonl(made[:5], tmp_path / "t.jsonl", format="atif")
    command = [sys.executable, str(root / "checkers" / "run.py"), str(tmp_path / "t.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip("a checker cannot be installed")
    assert done.returncode == 0, done.stdout + done.stderr
