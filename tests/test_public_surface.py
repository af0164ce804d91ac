"""The public names: documented, at most three positional parameters, typed frames, rows that lead back to bytes."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys

import pytest

import sessionbank as sb
from sessionbank import schema
from tests.makers.banks import TABLES, opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, nested_reply, tool

DTYPES = {"str": "str", "int": "Int64", "bool": "boolean", "float": "float64", "time": "datetime64[us, UTC]"}
COUNTED = (
    "input_tokens",
    "cache_creation_tokens",
    "cache_read_tokens",
    "output_tokens",
    "total_tokens",
    "subagent_input_tokens",
    "subagent_cache_creation_tokens",
    "subagent_cache_read_tokens",
    "subagent_output_tokens",
    "api_calls",
    "subagent_api_calls",
    "human_prompts",
    "tool_calls",
    "tool_errors",
    "message_count",
)


def public_callables():
    for name in sb.__all__:
        thing = getattr(sb, name)
        yield name, thing
        if inspect.isclass(thing):
            for key, member in inspect.getmembers(thing):
                own = any(key in vars(k) for k in thing.__mro__ if k.__module__.startswith("sessionbank"))
                if not key.startswith("_") and own and (callable(member) or isinstance(member, property)):
                    yield f"{name}.{key}", member


@pytest.mark.parametrize(("name", "thing"), list(public_callables()), ids=[n for n, _ in public_callables()])
def test_every_public_name_says_what_it_is(name, thing):
    text = inspect.getdoc(thing)
    assert text and len(text) > 20, name
    if inspect.isroutine(thing) or inspect.isclass(thing):
        try:
            parameters = inspect.signature(thing).parameters.values()
        except ValueError:
            return
        if inspect.isclass(thing) and not issubclass(thing, sb.SessionBank):
            return  # records are made by the package; their fields are named
        positional = [
            p
            for p in parameters
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != "self"
        ]
        assert len(positional) <= 3, (name, positional)


def test_all_is_all():
    assert sorted(sb.__all__) == sorted(set(sb.__all__))
    for name in sb.__all__:
        assert hasattr(sb, name)
    assert re.fullmatch(r"\d+\.\d+\.\d+", sb.__version__)


def test_the_import_is_light():
    heavy = ["pandas", "pyarrow", "numpy", "matplotlib", "networkx", "genai_prices", "IPython", "tqdm", "git"]
    script = f"import sys, sessionbank; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


# -- frames ----------------------------------------------------------------------------------------------------------


def check_frames(bank):
    for name in TABLES:
        arrow = bank.arrow(name)
        assert schema.problems(name, arrow) == []
        frame = getattr(bank, name)()
        assert list(frame.columns) == list(schema.table(name).columns)
        assert {c: str(t) for c, t in frame.dtypes.items()} == {
            f.name: DTYPES[f.type] for f in schema.table(name).fields
        }
        assert len(frame) == arrow.num_rows


@pytest.fixture(scope="module")
def shop(root, tmp_path_factory):
    with opened(root / "data" / "shop.bundle", tmp_path_factory.mktemp("shop")) as bank:
        yield bank


def test_frames_of_the_sample_bank_are_of_the_schema(shop):
    check_frames(shop)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["many-agents", "per-checkpoint-refs", "teams", "codex", "opencode"])
def test_frames_of_real_banks_are_of_the_schema(name, shared, tmp_path):
    with opened(shared / "data" / f"{name}.bundle", tmp_path) as bank:
        check_frames(bank)


def test_an_empty_selection_gives_empty_typed_frames(shop):
    nothing = shop.query(search="no such words anywhere")
    assert len(nothing) == 0
    for name in TABLES:
        assert getattr(nothing, name)().dtypes.equals(schema.empty_frame(name).dtypes)
    assert nothing.totals("day").empty
    for column in COUNTED:
        assert nothing.explain(column)["value"].iloc[-1] == 0


def test_parquet_opens_elsewhere_with_equal_counts(shop, tmp_path):
    import duckdb
    import polars

    paths = shop.to_parquet(tmp_path / "out")
    assert {p.stem for p in paths} >= set(TABLES)
    for path in paths:
        expected = shop.arrow(path.stem).num_rows
        assert duckdb.sql(f"select count(*) from read_parquet('{path}')").fetchall() == [(expected,)]
        assert polars.read_parquet(path).height == expected
    total = int(shop.sessions()["output_tokens"].sum())
    folder = tmp_path / "out"
    assert duckdb.sql(
        f"select sum(output_tokens) from read_parquet('{folder}/sessions.parquet')"
    ).fetchall() == [(total,)]
    assert (
        polars.scan_parquet(folder / "sessions.parquet")
        .select(polars.col("output_tokens").sum())
        .collect()
        .item()
        == total
    )
    calls, sessions = (
        f"read_parquet('{folder}/tool_calls.parquet')",
        f"read_parquet('{folder}/sessions.parquet')",
    )
    sql = f"select count(*) from {calls} t join {sessions} s using (session_id)"
    assert duckdb.sql(sql).fetchall() == [(shop.arrow("tool_calls").num_rows,)]
    again = shop.to_parquet(tmp_path / "out")
    assert again == paths
    assert not [p for p in folder.iterdir() if p.suffix != ".parquet"]


# -- explain ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", COUNTED)
def test_explain_ends_at_the_sum_of_the_sessions(column, shop):
    steps = shop.explain(column)
    sessions = shop.sessions()
    assert int(steps["value"].iloc[-1]) == int(sessions[column].sum())
    assert steps["effect"].cumsum().tolist() == steps["value"].tolist()
    assert steps["step"].tolist() == list(range(len(steps)))
    assert steps["rule"].iloc[0].startswith("naive")
    for n in range(len(steps) - 1):
        rows = shop.explain(column, rows_of=n)
        assert len(rows) == steps["rows"].iloc[n]
        assert int(rows["effect"].sum()) == steps["effect"].iloc[n]
        for _, row in rows.head(2).iterrows():
            assert shop.raw(row)


def test_explain_of_a_selection(shop):
    some = shop.query(limit=7)
    for column in COUNTED:
        assert int(some.explain(column)["value"].iloc[-1]) == int(some.sessions()[column].sum())


def test_naive_sums_are_what_a_naive_reader_counts(tmp_path):
    """One session stored twice, a reply on three lines: counted by hand."""
    c = Claude()
    c.prompt()
    for out in (9, 9, 159):
        c.reply(message_id="msg_1", output=out)
    c.reply("API Error", message_id="x", model="<synthetic>", output=0)
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("00000000000a", sessions=[session(c.session_id, c.bytes(0, 3))])
    repo.add_checkpoint(
        "00000000000b", sessions=[session(c.session_id, c.bytes(), created_at="2026-02-02T10:00:00Z")]
    )
    with opened(repo.path, tmp_path) as bank:
        assert bank.explain("output_tokens")["value"].tolist()[:3] == [9 + 9 + 9 + 9 + 159, 9 + 9 + 159, 159]
        calls = bank.explain("api_calls")
        assert calls["value"].tolist()[:4] == [2 + 4, 4, 3, 1]
        assert calls["value"].iloc[-1] == 1


# -- back to the bytes -----------------------------------------------------------------------------------------------


def stored_lines(bank, session_id):
    """All lines of all stored transcripts of a session, by uuid, read with git alone."""
    found = {}
    record_blobs = {b for r in bank.get_by_session_id(session_id).records for b in r.transcript_blobs}
    for blob in record_blobs:
        data = subprocess.run(
            ["git", "cat-file", "blob", blob], cwd=bank._source._git.path, capture_output=True, check=True
        ).stdout
        for line in data.split(b"\n"):
            found.setdefault(line, set()).add(blob)
    return found


def test_raw_gives_the_exact_stored_lines(shop):
    for name in ("messages", "blocks", "tool_calls", "token_usage"):
        frame = getattr(shop, name)()
        sample = frame.iloc[:: max(len(frame) // 25, 1)]
        for _, row in sample.iterrows():
            lines = shop.raw(row)
            assert lines == shop.raw(row.to_dict())
            one = shop.get_by_session_id(row["session_id"])
            if one.agent != "claude-code":
                assert all(json.loads(line) for line in lines)
                continue
            known = stored_lines(shop, row["session_id"])
            assert lines and all(line in known for line in lines)
            if name == "messages":
                assert len(lines) == 1
                assert lines[0] in known and row["blob_oid"] in known[lines[0]]
                assert (
                    row["uuid"] is None or str(row["uuid"]).encode() in lines[0] or row["uuid"] != row["uuid"]
                )
            if name == "tool_calls":
                assert all(row["tool_call_id"].encode() in line for line in lines) or row[
                    "tool_call_id"
                ].endswith("REDACTED")
                assert len(lines) == (1 if row["status"] == "no_result" else 2)
            if name == "token_usage":
                assert all(b'"usage"' in line for line in lines)


def test_raw_of_each_table_by_hand(tmp_path):
    c = Claude()
    c.prompt()
    c.reply("a", message_id="msg_1", output=1)
    c.progress(nested_reply("n1", tool("toolu_nested"), message_id="msg_n", output=3), call_id="toolu_1")
    c.reply(tool("toolu_1"), message_id="msg_1", output=5)
    c.result("toolu_1")
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(
        "00000000000a", sessions=[session(c.session_id, b"\n" + c.bytes().replace(b"\n", b"\r\n\r\n"))]
    )
    lines = [json.dumps(v).encode() + (b"\r" if n < 4 else b"") for n, v in enumerate(c.lines)]
    with opened(repo.path, tmp_path) as bank:
        usage = {r["message_id"]: r for r in bank.arrow("token_usage").to_pylist()}
        assert bank.raw(usage["msg_1"]) == [lines[1], lines[3]]
        assert bank.raw(usage["msg_n"]) == [lines[2]]
        calls = {r["tool_call_id"]: r for r in bank.arrow("tool_calls").to_pylist()}
        assert bank.raw(calls["toolu_1"]) == [lines[3], lines[4]]
        assert bank.raw(calls["toolu_nested"]) == [lines[2]]
        assert [bank.raw(b) for b in bank.arrow("blocks").to_pylist()][-1] == [lines[4]]


def test_raw_across_parts_of_a_session_is_in_its_order(tmp_path):
    """Two delta files: the call stands in the first, its result in the second, at a smaller line number."""
    c = Claude()
    for n in range(3):
        c.prompt(str(n))
    c.reply(tool("toolu_1"), message_id="msg_1")
    c.result("toolu_1")
    c.reply("more", message_id="msg_1", output=30)
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("00000000000a", sessions=[session(c.session_id, c.bytes(0, 4))])
    repo.add_checkpoint(
        "00000000000b",
        sessions=[session(c.session_id, c.bytes(4), created_at="2026-02-02T10:00:00Z", start=4)],
    )
    lines = [json.dumps(v).encode() for v in c.lines]
    with opened(repo.path, tmp_path) as bank:
        assert bank.raw(bank.tool_calls().iloc[0]) == [lines[3], lines[4]]
        assert bank.raw(bank.token_usage().iloc[0]) == [lines[3], lines[5]]


def test_raw_says_when_the_bytes_are_gone(tmp_path):
    c = Claude()
    c.prompt()
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("00000000000a", sessions=[session(c.session_id, c.bytes())])
    with opened(repo.path, tmp_path) as bank:
        row = bank.messages().iloc[0]
        repo.delete_object(row["blob_oid"])
        with pytest.raises(sb.SessionBankError, match="not in this clone"):
            bank.raw(row)


def test_polars_duckdb_and_pandas_read_arrow_without_a_file(shop):
    """`arrow(name)` gives a table with the Arrow stream interface; nobody needs pandas or a file in between."""
    import duckdb
    import polars

    calls = shop.arrow("tool_calls")
    assert hasattr(calls, "__arrow_c_stream__")
    expected = sorted(shop.tool_calls()["status"].value_counts().to_dict().items())
    found = polars.DataFrame(calls).group_by("status").len().sort("status")
    assert found.rows() == expected
    counted = "select status, count(*) from calls group by status order by status"
    assert duckdb.sql(counted).fetchall() == expected
