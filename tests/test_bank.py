"""The front door: queries, getting, marking, caching; two processes at once; what is killed or damaged in between."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, date, datetime

import pytest

import sessionbank as sb
from tests.makers.banks import all_tables, codes, opened
from tests.makers.checkpoints import BRANCH, CheckpointRepo, session
from tests.makers.claude import Claude

IDS = [f"11111111-2222-4333-8444-{n:012d}" for n in range(6)]


def story(number, text="please"):
    c = Claude(IDS[number])
    c.prompt(f"{text} {number}")
    c.reply(message_id=f"msg_{number}", output=10 + number)
    return c


@pytest.fixture
def repo(tmp_path):
    """Five sessions on five days: two branches, two strategies, one summary; session 0 stands in two checkpoints."""
    made = CheckpointRepo(tmp_path / "repo")
    stated = [
        {"branch": "main", "agent": "Claude Code"},
        {"branch": "fix", "summary": {"intent": "mend", "outcome": "done"}},
        {"branch": "main", "strategy": "auto-commit", "agent": "Agent"},
        {"branch": None},
        {"branch": "fix", "prompt": "Straße 100% _"},
    ]
    for n, keys in enumerate(stated):
        c = story(n)
        made.add_checkpoint(
            f"00000000000{n}",
            sessions=[session(c.session_id, c.bytes(), created_at=f"2026-02-0{n + 1}T23:30:00Z", **keys)],
        )
    c = story(0)
    c.prompt("more")
    made.add_checkpoint(
        "00000000000f",
        sessions=[
            session(c.session_id, c.bytes(), created_at="2026-02-07T10:00:00Z", branch="late", start=2)
        ],
    )
    made.code = [made.commit(f"Work {n}\n\nEntire-Checkpoint: 00000000000{n}\n") for n in range(2)]
    return made


@pytest.fixture
def bank(repo, tmp_path):
    with opened(repo.path, tmp_path) as found:
        yield found


# -- query -----------------------------------------------------------------------------------------------------------


def chosen(bank, **filters):
    return [IDS.index(s) for s in bank.query(**filters).session_ids]


def test_newest_first_by_the_latest_record(bank):
    assert chosen(bank) == [0, 4, 3, 2, 1]
    assert chosen(bank, sort="oldest") == [1, 2, 3, 4, 0]
    assert [s.session_id for s in bank.discover()] == [IDS[n] for n in (0, 4, 3, 2, 1)]
    assert len(bank) == 5


def test_dates_select_sessions_that_have_a_record_in_them(bank):
    assert chosen(bank, since="2026-02-05") == [0, 4]
    assert chosen(bank, before="2026-02-02") == [0]
    assert chosen(bank, since=date(2026, 2, 2), before=datetime(2026, 2, 4, tzinfo=UTC)) == [3, 2, 1][1:]
    # since <= created_at < before, to the moment
    assert chosen(bank, since="2026-02-02T23:30:00+00:00", before="2026-02-03T23:30:00+00:00") == [1]
    assert chosen(bank, since="2026-02-02T23:30:00.000001Z", before="2026-02-03T23:30:00.000001Z") == [2]


def test_a_day_is_a_day_in_the_zone_that_is_named(bank):
    assert chosen(bank, since="2026-02-03", before="2026-02-04", tz="Europe/Berlin") == [
        1
    ]  # 23:30 UTC is 00:30 there
    assert chosen(bank, since="2026-02-02", before="2026-02-03", tz="America/Los_Angeles") == [1]


def test_each_filter(bank):
    assert chosen(bank, branch="main") == [0, 2]
    assert chosen(bank, branch="late") == [0]
    assert chosen(bank, strategy="auto-commit") == [2]
    assert chosen(bank, has_summary=True) == [1]
    assert chosen(bank, has_summary=False) == [0, 4, 3, 2]
    assert chosen(bank, agent="claude-code") == [0, 4, 3, 2, 1]
    assert chosen(bank, agent="codex") == []
    assert chosen(bank, agent="Claude Code") == [0, 4, 3, 2, 1]  # what the bytes show: labels lie
    assert chosen(bank, agent="claude CODE") == [0, 4, 3, 2, 1]
    assert chosen(bank, search="PLEASE 3") == [3]
    assert chosen(bank, search="strasse") == []
    assert chosen(bank, search="straße 100%") == [4]  # a percent sign is a percent sign
    assert chosen(bank, search=".*") == []
    assert chosen(bank, search="more") == [0]


def test_a_session_needs_one_record_that_passes_all_filters(bank):
    assert (
        chosen(bank, branch="main", since="2026-02-06") == []
    )  # its record on main is old, its new one is elsewhere
    assert chosen(bank, branch="late", since="2026-02-06") == [0]


def test_limit_and_total_count_sessions(bank):
    found = bank.query(limit=2)
    assert (len(found), found.total, bank.count(limit=2)) == (2, 5, 5)
    assert bank.query(limit=0).total == 5
    assert bank.count(branch="main") == 2
    assert len(found[1:]) == 1
    assert found[-1].session_id == IDS[4]
    with pytest.raises(IndexError):
        found[2]
    assert found.sessions()["session_id"].tolist() == list(found.session_ids)


def test_a_query_as_an_object(bank):
    query = sb.SessionQuery(branch="fix", limit=1)
    assert list(bank.query(query).session_ids) == [IDS[4]]
    assert list(bank.query(query, limit=None).session_ids) == [IDS[4], IDS[1]]


@pytest.mark.parametrize(
    "filters",
    [
        {"colour": "red"},
        {"since": "yesterday"},
        {"since": 5},
        {"before": "2026-13-01"},
        {"tz": "Mars/Base"},
        {"tz": "../../etc/passwd"},
        {"limit": -1},
        {"limit": "3"},
        {"limit": True},
        {"sort": "random"},
        {"query": {"limit": 1}},
    ],
    ids=repr,
)
def test_a_wrong_query_says_what_is_wrong(filters, bank):
    with pytest.raises(sb.SessionBankError) as error:
        bank.query(**filters)
    key, value = next(iter(filters.items()))
    assert any(str(part) in str(error.value) for part in (key, value, "dict"))


@pytest.mark.parametrize(
    "call",
    [
        lambda b: b.explain("colour"),
        lambda b: b.explain("api_calls", rows_of=99),
        lambda b: b.totals("colour"),
        lambda b: b.totals([]),
        lambda b: b.totals("day", tz="Mars"),
        lambda b: b.arrow("colour"),
        lambda b: b.raw({}),
        lambda b: b.raw({"session_id": "none", "seq": 1}),
        lambda b: b.raw({"session_id": IDS[0]}),
        lambda b: b.raw("text"),
        lambda b: b.mark_processed(b.discover()[0], metadata={"x": object()}),
        lambda b: b.mark_processed(b.discover()[0], metadata="text"),
        lambda b: b.mark_processed(b.discover()[0], consumer=None),
    ],
)
def test_a_wrong_call_raises_an_error_of_ours(call, bank):
    with pytest.raises(sb.SessionBankError):
        call(bank)


def test_getting(bank, repo):
    assert bank.get_by_session_id("none") is None
    assert [r.checkpoint_id for r in bank.get_by_session_id(IDS[0]).records] == [
        "000000000000",
        "00000000000f",
    ]
    assert [r.session_id for r in bank.get_by_checkpoint_id("000000000001")] == [IDS[1]]
    assert bank.get_by_checkpoint_id("none") == []
    for name in (repo.code[1], repo.code[1][:8], repo.code[1].upper()):
        assert [r.checkpoint_id for r in bank.get_by_commit(name)] == ["000000000001"]
    for name in ("", "x", "HEAD", "--all", "main", "0" * 40, "$(id)", "deadbeef^{/x}"):
        assert bank.get_by_commit(name) == []


def test_a_selection_gives_the_rows_of_its_sessions(bank):
    some = bank.query(branch="fix")
    wanted = {IDS[1], IDS[4]}
    for name in (
        "records",
        "sessions",
        "messages",
        "blocks",
        "tool_calls",
        "token_usage",
        "learnings",
        "files",
        "reconcile",
    ):
        assert set(some.arrow(name)["session_id"].to_pylist()) <= wanted
    assert set(some.messages()["session_id"]) == wanted
    assert sorted(some.checkpoints()["checkpoint_id"]) == ["000000000001", "000000000004"]
    assert some.commits()["checkpoint_id"].tolist() == ["000000000001"]
    assert int(some.totals("day")["output_tokens"].sum()) == 25
    assert int(some.explain("output_tokens")["value"].iloc[-1]) == 25
    assert [r.session_id for r in some.iter_records()] == [IDS[4], IDS[1]]


def test_transcripts_are_read_when_asked_for(repo, tmp_path):
    with opened(repo.path, tmp_path) as bank:
        found = bank.query(branch="main", since="2026-01-01")
        (
            bank.list_checkpoints(),
            bank.checkpoints(),
            bank.attribution,
            found[0].records,
            found.total,
            repr(found),
        )
        assert bank.records(transcripts=False)["agent"].isna().all()
        assert not list((tmp_path / "cache").rglob("*.arrow"))
        assert found[0].messages
        assert list((tmp_path / "cache").rglob("*.arrow"))


def test_strict_raises_on_the_first_fault(repo, tmp_path):
    with opened(repo.path, tmp_path, strict=True) as bank:
        assert len(bank.sessions()) == 5
        repo.add_checkpoint("00000000000e", sessions=[session("s", b"[]\n{cut", raw_metadata=b"[]")])
        with pytest.raises(sb.SessionBankError, match="metadata"):
            bank.sessions()


def test_a_closed_bank_says_so(repo, tmp_path):
    bank = opened(repo.path, tmp_path)
    frame = bank.messages()
    bank.close()
    bank.close()
    assert len(frame) == 11
    assert frame["text"].notna().any()
    with pytest.raises(sb.SessionBankError, match="closed"):
        bank.sessions()


def test_no_cache_leaves_nothing_behind(repo, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", None)
    with opened(repo.path, tmp_path, cache=False) as bank:
        assert len(bank.messages()) == 11
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "cache").exists()


# -- processing ------------------------------------------------------------------------------------------------------


def test_a_session_that_grew_is_unprocessed_again(bank, repo):
    one = bank.get_by_session_id(IDS[1])
    assert not bank.is_processed(one)
    bank.mark_processed(one, metadata={"score": 1})
    assert bank.is_processed(one)
    assert not bank.is_processed(one, consumer="other")
    assert chosen(bank, unprocessed_only=True) == [0, 4, 3, 2]
    assert chosen(bank, unprocessed_only=True, consumer="other") == [0, 4, 3, 2, 1]
    c = story(1)
    c.prompt("again")
    repo.add_checkpoint(
        "0000000000aa", sessions=[session(c.session_id, c.bytes(), created_at="2026-02-09T10:00:00Z")]
    )
    assert not bank.is_processed(bank.get_by_session_id(IDS[1]))
    assert chosen(bank, unprocessed_only=True)[0] == 1
    c.prompt("in place")  # the same checkpoint rewritten
    bank.mark_processed(bank.get_by_session_id(IDS[1]))
    repo.add_checkpoint(
        "0000000000aa", sessions=[session(c.session_id, c.bytes(), created_at="2026-02-09T10:00:00Z")]
    )
    assert not bank.is_processed(bank.get_by_session_id(IDS[1]))
    assert [e.metadata for e in bank.processing_log()][:1] == [{"score": 1}]


def test_marks_of_another_process_are_seen(repo, tmp_path):
    with opened(repo.path, tmp_path) as one, opened(repo.path, tmp_path) as two:
        assert not two.is_processed(two.discover()[0])
        one.mark_processed(one.discover()[0])
        assert two.is_processed(two.discover()[0])


@pytest.mark.parametrize(
    "damage",
    [b"garbage\n", b"{}\n", b'{"consumer": 1}\n', b"\0\0\0", b'{"consumer":"default","check', b"\xff\xfe\n"],
)
def test_a_damaged_log_is_set_aside_and_its_good_lines_live_on(damage, repo, tmp_path):
    with opened(repo.path, tmp_path) as bank:
        bank.mark_processed(bank.discover()[0])
        bank.mark_processed(bank.discover()[1])
    (log,) = (tmp_path / "state").rglob("processed.jsonl")
    good = log.read_bytes()
    first, second = good.splitlines(keepends=True)[:2]
    damaged = first + damage + (second if damage.endswith(b"\n") else b"")
    log.write_bytes(damaged)
    with opened(repo.path, tmp_path) as bank:
        with pytest.warns(UserWarning, match="damaged lines in the processing log"):
            assert bank.is_processed(bank.discover()[0].records[0])
        bank.mark_processed(bank.discover()[4])
        assert len(bank.processing_log()) == (3 if damage.endswith(b"\n") else 2)
    (aside,) = (tmp_path / "state").rglob("processed.damaged-1.jsonl")
    assert aside.read_bytes() == damaged


# -- the cache -------------------------------------------------------------------------------------------------------


def test_a_warm_cache_reads_no_transcript(repo, tmp_path):
    with opened(repo.path, tmp_path) as bank:
        before = all_tables(bank)
    # objects that were read are gone: what the cache holds is still there
    for path in repo.git("ls-tree", "-r", "--name-only", BRANCH).decode().split():
        if path.endswith("full.jsonl") and repo.object_path(repo.blob_at(BRANCH, path)).exists():
            repo.delete_object(repo.blob_at(BRANCH, path))
    with opened(repo.path, tmp_path) as bank:
        for name in ("messages", "blocks", "tool_calls", "token_usage"):
            assert bank.arrow(name).to_pylist() == before[name]


def test_invalidate_cache_reads_anew(bank, repo, tmp_path):
    before = all_tables(bank)
    segments = set((tmp_path / "cache").rglob("seg-*"))
    bank.invalidate_cache()
    assert not [p for p in segments if p.exists()]
    assert all_tables(bank) == before


def damaged_files(folder):
    return [p for p in folder.rglob("*") if p.is_file() and p.suffix in (".arrow", ".json")]


@pytest.mark.parametrize("how", ["empty", "cut", "gone", "garbage", "head", "middle", "tail"])
def test_a_damaged_cache_is_rebuilt(how, repo, tmp_path):
    """Whatever file of it is damaged, in whatever way: the tables are those of a cold load."""
    with opened(repo.path, tmp_path) as bank:
        expected = all_tables(bank)
    names = sorted({p.name for p in damaged_files(tmp_path / "cache")})
    assert "manifest.json" in names and "messages.arrow" in names
    for name in names:
        for path in [p for p in damaged_files(tmp_path / "cache") if p.name == name]:
            data = path.read_bytes()
            if how == "gone":
                path.unlink()
                continue
            changed = {
                "empty": b"",
                "cut": data[: len(data) // 2],
                "garbage": bytes(len(data)),
                "head": b"\xff" * 16 + data[16:],
                "middle": data[: len(data) // 2] + b"0" * 16 + data[len(data) // 2 + 16 :],
                "tail": data[:-16] + b"\xff" * 16,
            }[how]
            path.write_bytes(changed)
        with opened(repo.path, tmp_path) as bank:
            assert all_tables(bank) == expected, name


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"[]",
        b"null",
        b'{"version": 1}',
        b'{"version": 2, "sessions": 3, "files": [], "fingerprint": 1, "bank": 2}',
        b'{"version": 999}',
    ],
)
def test_a_manifest_of_another_shape_is_no_manifest(data, repo, tmp_path):
    with opened(repo.path, tmp_path) as bank:
        expected = all_tables(bank)
    (manifest,) = (tmp_path / "cache").rglob("manifest.json")
    manifest.write_bytes(data)
    with opened(repo.path, tmp_path) as bank:
        assert all_tables(bank) == expected


def test_a_segment_that_another_process_swept_is_read_anew(repo, tmp_path):
    """Another process refreshed and swept while this one held on to its state."""
    with opened(repo.path, tmp_path) as bank:
        expected = [m["uuid"] for m in bank.arrow("messages").to_pylist()]
        with opened(repo.path, tmp_path) as other:
            other.invalidate_cache()
        assert len(bank.blocks()) == 11
        assert [m["uuid"] for m in bank.arrow("messages").to_pylist()] == expected


def test_a_cache_folder_that_cannot_be_made_says_so(repo, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(sb.SessionBankError), opened(repo.path, tmp_path, cache=tmp_path / "file") as bank:
        bank.sessions()


# -- two processes ---------------------------------------------------------------------------------------------------


def work(path, folder, number, rounds, out):
    """What one of several processes does: open, read, mark, invalidate, again and again."""
    from pathlib import Path

    try:
        for at in range(rounds):
            with opened(path, Path(folder)) as bank:
                n = len(bank.messages()), len(bank.sessions())
                bank.mark_processed(bank.discover()[at % 3], consumer=f"p{number}-{at}")
                assert bank.is_processed(bank.discover()[at % 3], consumer=f"p{number}-{at}")
                if number == 0 and at % 2:
                    bank.invalidate_cache()
                out.put(n)
        out.put("done")
    except BaseException as error:
        out.put(f"{type(error).__name__}: {error}")
        raise


def test_two_processes_open_cache_and_mark_at_once(repo, tmp_path):
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    rounds = 6
    each = [
        context.Process(target=work, args=(str(repo.path), str(tmp_path), n, rounds, out)) for n in range(3)
    ]
    for process in each:
        process.start()
    said = []
    while sum(s == "done" for s in said) < 3:
        said.append(out.get(timeout=120))
        assert not isinstance(said[-1], str) or said[-1] == "done", said[-1]
    for process in each:
        process.join(60)
        assert process.exitcode == 0
    assert {s for s in said if s != "done"} == {(11, 5)}
    with opened(repo.path, tmp_path) as bank:
        marks = bank.processing_log()
        assert {e.consumer for e in marks} == {f"p{n}-{a}" for n in range(3) for a in range(rounds)}
        assert len(bank.messages()) == 11


SLOW = """
import sys, time
sys.path.insert(0, {root!r})
import sessionbank as sb
from sessionbank.tables import cache
from sessionbank.sources import locking
stop = {stop!r}

def halt(name):
    if name == stop:
        print("here", flush=True)
        time.sleep(60)

add, write, whole = cache.Cache.add, cache.Cache.write, locking.write_whole
def slow_add(self, *args, **options):
    halt("before segment")
    found = add(self, *args, **options)
    halt("after segment")
    return found
def slow_write(self, *args):
    halt("before manifest")
    found = write(self, *args)
    halt("after manifest")
    return found
import os
replace = os.replace
cache.Cache.add, cache.Cache.write = slow_add, slow_write
cache.write_whole = lambda path, data: (halt("in manifest lock"), whole(path, data))
bank = sb.open_bank({path!r}, cache={cache!r}, state_dir={state!r}, progress=False)
bank.messages()
"""


@pytest.mark.parametrize(
    "stop", ["before segment", "after segment", "before manifest", "in manifest lock", "after manifest"]
)
def test_a_process_killed_while_it_writes_leaves_a_cache_that_the_next_repairs(stop, repo, root, tmp_path):
    with opened(repo.path, tmp_path / "other") as bank:
        expected = all_tables(bank)
    script = SLOW.format(
        root=str(root),
        stop=stop,
        path=str(repo.path),
        cache=str(tmp_path / "cache"),
        state=str(tmp_path / "state"),
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        line = process.stdout.readline()
        assert line == b"here\n", process.stderr.read().decode()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()
    with opened(repo.path, tmp_path) as bank:
        assert all_tables(bank) == expected


def test_a_process_killed_at_any_moment(repo, root, tmp_path):
    """Killed after ever longer times, over one cache: the next run is right."""
    with opened(repo.path, tmp_path / "other") as bank:
        expected = all_tables(bank)
    script = SLOW.format(
        root=str(root),
        stop="never",
        path=str(repo.path),
        cache=str(tmp_path / "cache"),
        state=str(tmp_path / "state"),
    )
    for wait in (0.3, 0.6, 0.8, 1.0):
        process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.kill()
        process.wait()
    with opened(repo.path, tmp_path) as bank:
        assert all_tables(bank) == expected


def test_a_lock_that_is_left_behind_holds_nobody_up(repo, tmp_path):
    with opened(repo.path, tmp_path) as bank:
        bank.messages()
    for lock in (tmp_path / "cache").rglob("lock"):
        lock.write_bytes(b"stale")
    repo.add_checkpoint("0000000000bb", sessions=[session(IDS[5], story(5).bytes())])
    with opened(repo.path, tmp_path) as bank:
        assert len(bank.sessions()) == 6


# -- odds ------------------------------------------------------------------------------------------------------------


def test_a_bank_follows_its_repository(bank, repo):
    assert len(bank.sessions()) == 5
    head = bank.head
    c = story(5)
    repo.add_checkpoint("0000000000cc", sessions=[session(c.session_id, c.bytes())])
    assert bank.head != head
    assert len(bank.sessions()) == 6
    assert len(bank.list_checkpoints()) == 7
    code = repo.commit("More\n\nEntire-Checkpoint: 0000000000cc")
    assert code in bank.commits()["commit_sha"].tolist()
    assert bank.sessions().set_index("session_id").loc[IDS[5], "commit_count"] == 1


def test_commits_anywhere_many_to_many(repo, bank):
    two = "Entire-Checkpoint: 000000000001\n"
    body = f"Squashed (#12)\n\n* one\n\nEntire-Checkpoint: 000000000000\n\n* two\n\n{two}{two}\nmore text\n"
    squash = repo.commit(body, branch="refs/pull/12/merge")
    dangling = repo.commit("Lost\n\nEntire-Checkpoint: ffffffffffff\n", branch="refs/heads/lost")
    repo.commit(
        "Not one: Entire-Checkpoint: 00000000000, nor Entire-Checkpoint: 0000000000001234\n",
        branch="refs/heads/lost",
    )
    rows = bank.commits()
    assert rows[rows["commit_sha"] == squash]["checkpoint_id"].tolist() == ["000000000000", "000000000001"]
    lost = rows[rows["commit_sha"] == dangling]
    assert lost["resolves"].tolist() == [False]
    assert codes(bank)["dangling_checkpoint"] == 1
    assert (rows.groupby("checkpoint_id")["carries_cost"].sum() == 1).all()
    # the one on main carries the cost, not the squash that is elsewhere
    assert rows[(rows["checkpoint_id"] == "000000000001") & rows["carries_cost"].astype(bool)][
        "commit_sha"
    ].tolist() == [repo.code[1]]


def test_the_environment_of_git_points_nowhere_else(repo, tmp_path, monkeypatch):
    """A hook sets GIT_DIR; a bank that was named by its path reads that path."""
    other = CheckpointRepo(tmp_path / "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    with opened(repo.path, tmp_path) as bank:
        assert len(bank.sessions()) == 5


def test_a_bundle_opened_in_a_hook_leaves_the_repository_alone(repo, tmp_path, monkeypatch):
    """Git runs hooks with GIT_DIR set: unpacking a bundle must not write into that repository."""
    bundle = tmp_path / "x.bundle"
    repo.git("bundle", "create", str(bundle), "--all")
    other = CheckpointRepo(tmp_path / "elsewhere")
    other.commit("mine")
    before = other.git("for-each-ref"), (other.git_dir / "HEAD").read_bytes()
    with monkeypatch.context() as patch:
        patch.setenv("GIT_DIR", str(other.git_dir))
        with opened(bundle, tmp_path) as bank:
            assert len(bank.sessions()) == 5
    assert (other.git("for-each-ref"), (other.git_dir / "HEAD").read_bytes()) == before


def test_metadata_of_a_mark_is_kept_as_json(bank):
    bank.mark_processed(bank.discover()[0].records[0], metadata={"näme": [1, None, "x\ny"]})
    assert bank.processing_log()[-1].metadata == {"näme": [1, None, "x\ny"]}
    assert json.dumps(bank.processing_log()[-1].metadata)
    assert os.environ.get("GIT_DIR") is None
