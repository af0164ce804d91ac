"""No repository stops a load: damaged, hostile or half there, it gives tables and diagnostics, or one clear error."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pytest

import sessionbank as sb
from sessionbank import schema
from sessionbank.errors import RepositoryError
from tests.makers.banks import TABLES, all_tables, assert_agreement, codes, opened
from tests.makers.checkpoints import BRANCH, CheckpointRepo, session
from tests.makers.claude import Claude

HEX = "0123456789ab"
GOOD = "fedcba987654"


def story(number=1, prompts=2):
    c = Claude(f"11111111-2222-4333-8444-{number:012d}")
    for n in range(prompts):
        c.prompt(f"prompt {n}")
        c.reply(message_id=f"msg_{number}_{n}", output=10 + n)
    return c


@pytest.fixture
def repo(tmp_path):
    """A repository with one good checkpoint, to which a test adds a bad one."""
    made = CheckpointRepo(tmp_path / "repo")
    made.add_checkpoint(GOOD, sessions=[session(story(9).session_id, story(9).bytes())])
    return made


def sound(bank):
    """All tables, each of its schema; the good session is whole."""
    rows = all_tables(bank)
    for name in TABLES:
        assert schema.problems(name, bank.arrow(name)) == []
        getattr(bank, name)()
    good = next(s for s in rows["sessions"] if s["session_id"] == story(9).session_id)
    assert (good["human_prompts"], good["output_tokens"]) == (2, 21)
    return rows


# -- metadata --------------------------------------------------------------------------------------------------------

ODD_METADATA = {
    "list": b"[1, 2]",
    "null": b"null",
    "string": b'"x"',
    "number": b"3",
    "empty": b"",
    "cut": b'{"session_id": "s-1", "crea',
    "nul": b"\0" * 100,
    "binary": bytes(range(256)) * 4,
    "bom": b'\xef\xbb\xbf{"session_id": "s-1"}',
    "two": b'{"session_id": "s-1"}{"session_id": "s-2"}',
    "deep_10000": b'{"session_id": "s-1", "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "deep_1000": b'{"session_id": "s-1", "x": ' + b"[" * 1000 + b"]" * 1000 + b"}",
    "deep_300": b'{"session_id": "s-1", "x": ' + b"[" * 300 + b"]" * 300 + b"}",
    "surrogates": b'{"session_id": "s-\\ud83d", "branch": "\\udcb2", "files_touched": ["\\ud800"],'
    b' "\\udc00": "\\udc00"}',
    "nan": b'{"session_id": "s-1", "initial_attribution": {"agent_percentage": NaN, "agent_lines": Infinity}}',
    "huge": json.dumps(
        {
            "session_id": "s-1",
            "token_usage": dict.fromkeys(("input_tokens", "output_tokens", "api_call_count"), 10**30),
            "initial_attribution": {
                "agent_percentage": 10**400,
                "agent_lines": 2**62,
                "total_committed": 2**70,
            },
            "checkpoint_transcript_start": 2**61,
        }
    ).encode(),
    "negative": b'{"session_id": "s-1", "checkpoint_transcript_start": -3, "token_usage": {"input_tokens": -1}}',
    "wrong_types": json.dumps(
        {
            "session_id": ["s"],
            "created_at": 5,
            "branch": {},
            "files_touched": {"a": 1},
            "agent": [],
            "token_usage": [],
            "summary": "x",
            "initial_attribution": 3,
            "is_task": "yes",
            "checkpoint_transcript_start": "7",
            "cli_version": 3,
            "strategy": None,
            "tool_use_id": [],
            "model": {},
            "transcript_identifier_at_start": 4,
        }
    ).encode(),
    "wrong_types_inside": json.dumps(
        {
            "session_id": "s-1",
            "files_touched": [None, 3, "", "a"],
            "summary": {"intent": 3, "learnings": [1], "friction": {"a": 1}, "open_items": [None, "x"]},
            "initial_attribution": {"calculated_at": "x", "agent_percentage": "50"},
        }
    ).encode(),
    "code_learnings": json.dumps(
        {
            "session_id": "s-1",
            "summary": {
                "learnings": {
                    "code": [{"finding": "f", "path": 3, "line": "x"}, "plain", None, {"path": "p"}]
                }
            },
        }
    ).encode(),
    "time_0000": b'{"session_id": "s-1", "created_at": "0000-01-01T00:00:00Z"}',
    "time_9999": b'{"session_id": "s-1", "created_at": "9999-12-31T23:59:59-12:00"}',
    "time_offset": b'{"session_id": "s-1", "created_at": "2026-01-01T00:00:00+99:99"}',
    "hostile": json.dumps(
        {
            "session_id": "../../../etc/passwd\0\n--upload-pack=x",
            "branch": "<img src=x onerror=alert(1)>",
            "agent": "%s%n{0}",
            "created_at": "2026-02-01T00:00:00Z",
        }
    ).encode(),
}


@pytest.mark.parametrize("name", ODD_METADATA)
def test_odd_session_metadata(name, repo, tmp_path):
    c = story(1)
    stored = session(c.session_id, c.bytes(), raw_metadata=ODD_METADATA[name])
    repo.add_checkpoint(HEX, sessions=[stored], root=ODD_METADATA[name])
    with opened(repo.path, tmp_path) as bank:
        rows = sound(bank)
        assert len(rows["records"]) == 2
        # whatever the metadata is, the transcript was read
        assert sum(s["human_prompts"] for s in rows["sessions"]) == 4
        bank.discover()._repr_html_()
        for each in bank.discover():
            each._repr_html_()
            bank.mark_processed(each)
            assert bank.is_processed(each)


def test_no_metadata_at_all(repo, tmp_path):
    repo.add_checkpoint(HEX, sessions=[session("s", story(1).bytes(), raw_metadata=None)])
    repo.write(BRANCH, {f"{HEX[:2]}/{HEX[2:]}/metadata.json": None})
    with opened(repo.path, tmp_path) as bank:
        sound(bank)
        assert codes(bank)["no_root_metadata"] == 1
        assert codes(bank)["metadata_unreadable"] == 1
        assert f"unnamed-{HEX}-0" in bank.sessions()["session_id"].tolist()


@pytest.mark.slow
def test_metadata_of_100_mb(repo, tmp_path):
    c = story(1)
    raw = json.dumps(
        {
            "session_id": c.session_id,
            "created_at": "2026-02-01T10:00:00Z",
            "prompt_attributions": ["x" * (100 << 20)],
        }
    ).encode()
    repo.add_checkpoint(HEX, sessions=[session(c.session_id, c.bytes(), raw_metadata=raw)])
    with opened(repo.path, tmp_path) as bank:
        sound(bank)
        assert codes(bank)["metadata_extra_omitted"] == 1
        assert c.session_id in bank.sessions()["session_id"].tolist()


def test_root_metadata_lies_about_its_sessions(repo, tmp_path):
    """Doubled paths, paths to nothing, a list shorter than the directories: the tree is what counts."""
    a, b = story(1), story(2)
    claims = {"sessions": [{"metadata": f"/01/23456789ab/01/23456789ab/0/metadata.json", "transcript": ""}]}  # noqa: F541
    repo.add_checkpoint(
        HEX, root=claims, sessions=[session(a.session_id, a.bytes()), session(b.session_id, b.bytes())]
    )
    with opened(repo.path, tmp_path) as bank:
        assert len(sound(bank)["records"]) == 3


def test_gaps_in_the_numbers_and_one_session_twice(repo, tmp_path):
    a, b = story(1), story(2)
    early, late = "2026-02-01T10:00:00Z", "2026-02-01T12:00:00Z"
    stored = [
        session(a.session_id, a.bytes(), index=0, created_at=late),
        session(b.session_id, b.bytes(), index=2),
        session(f"2026-02-01-{a.session_id}", a.bytes(0, 3), index=7, created_at=early),
        session("s-only", index=11),
    ]
    repo.add_checkpoint(HEX, sessions=stored)
    with opened(repo.path, tmp_path) as bank:
        rows = sound(bank)
        mine = [r for r in rows["records"] if r["checkpoint_id"] == HEX]
        assert [r["session_index"] for r in mine] == [0, 2, 7, 11]
        assert [r["transcript_state"] for r in mine] == ["present", "present", "present", "absent"]
        one = bank.get_by_session_id(f"2026-02-01-{a.session_id}")
        assert [r.session_index for r in one.records] == [7, 0]  # in the order in which they were stored
        assert len(one.messages) == 4
        bare = next(s for s in rows["sessions"] if s["session_id"] == "s-only")
        assert bare["api_calls"] is None and bare["transcript_state"] == "absent"


# -- objects ---------------------------------------------------------------------------------------------------------


def damage_cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_garbage(path):
    path.write_bytes(os.urandom(200))


def damage_empty(path):
    path.write_bytes(b"")


def damage_gone(path):
    path.unlink()


def damage_body(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


DAMAGES = [damage_cut, damage_garbage, damage_empty, damage_gone, damage_body]


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("what", ["full.jsonl", "metadata.json"])
def test_a_damaged_blob(what, how, repo, tmp_path):
    a, b = story(1, 40), story(2)
    repo.add_checkpoint(HEX, sessions=[session(a.session_id, a.bytes()), session(b.session_id, b.bytes())])
    path = repo.object_path(repo.blob_at(BRANCH, f"01/23456789ab/0/{what}"))
    path.chmod(0o644)
    how(path)
    with opened(repo.path, tmp_path) as bank:
        rows = sound(bank)
        by_id = {s["session_id"]: s for s in rows["sessions"]}
        assert by_id[b.session_id]["human_prompts"] == 2  # its neighbour, which git was asked for next
        if what == "full.jsonl":
            assert by_id[a.session_id]["transcript_state"] == "missing_blob"
            assert by_id[a.session_id]["human_prompts"] is None
            assert codes(bank)["missing_blob"] == 1
        else:
            assert codes(bank)["metadata_unreadable"] == 1
            assert by_id[f"unnamed-{HEX}-0"]["human_prompts"] == 40
        assert bank.get_by_session_id(b.session_id).messages


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("what", ["tree", "subtree", "commit"])
def test_a_damaged_tree_or_commit_hides_what_lies_below_it_alone(what, how, tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, layout="refs-v1", sessions=[session(story(1).session_id, story(1).bytes())])
    repo.add_checkpoint(GOOD, layout="refs-v1", sessions=[session(story(9).session_id, story(9).bytes())])
    code = repo.commit(f"Work\n\nEntire-Checkpoint: {GOOD}")
    ref = f"refs/entire/checkpoints/ab/{HEX}"
    oid = repo.resolve({"tree": f"{ref}^{{tree}}", "subtree": f"{ref}:0", "commit": ref}[what])
    path = repo.object_path(oid)
    path.chmod(0o644)
    how(path)
    with opened(repo.path, tmp_path) as bank:
        sound(bank)
        hidden = {"tree": "ref_unreadable", "commit": "ref_unreadable", "subtree": "tree_unreadable"}[what]
        assert codes(bank)[hidden] == 1
        assert bank.commits()["commit_sha"].tolist() == [code]
        assert GOOD in [c.checkpoint_id for c in bank.list_checkpoints()]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_code_commit_hides_no_session(how, repo, tmp_path):
    first = repo.commit(f"One\n\nEntire-Checkpoint: {GOOD}")
    repo.commit("Two")
    path = repo.object_path(first)
    path.chmod(0o644)
    how(path)
    with opened(repo.path, tmp_path) as bank:
        try:
            sound(bank)
        except sb.SessionBankError as error:
            assert "git cannot read" in str(error)  # one clear error is the other answer that may be given
        assert bank.messages()["kind"].eq("prompt").sum() == 2


@pytest.mark.parametrize(
    "date",
    ["1770000000 +9999", "1770000000 -9959", "99999999999999 +0000", "-5 +0000", "x y", "1770000000 +00"],
)
def test_a_commit_with_an_odd_date(date, repo, tmp_path):
    tree = repo.resolve(f"{BRANCH}^{{tree}}")
    head = f"tree {tree}\nauthor A <a@b.c> {date}\ncommitter A <a@b.c> {date}\n"
    raw = f"{head}\nOdd\n\nEntire-Checkpoint: {GOOD}\n".encode()
    oid = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=raw).decode().strip()
    repo.git("update-ref", "refs/heads/main", oid)
    with opened(repo.path, tmp_path) as bank:
        rows = sound(bank)
        assert [c["commit_sha"] for c in rows["commits"]] == [oid]
        assert rows["commits"][0]["authored_at"] == (
            datetime.fromtimestamp(1_770_000_000, UTC) if "177" in date else None
        )


@pytest.mark.parametrize(
    "message",
    [
        b"\xff\xfe Latin\n\nEntire-Checkpoint: " + GOOD.encode(),
        b"Entire-Checkpoint: " + GOOD.encode() + b"\x1b[31m<script>",
    ],
)
def test_a_commit_message_that_is_not_utf_8(message, repo, tmp_path):
    tree = repo.resolve(f"{BRANCH}^{{tree}}")
    raw = (
        f"tree {tree}\nauthor A <a@b.c> 1770000000 +0000\ncommitter A <a@b.c> 1770000000 +0000\n\n".encode()
        + message
    )
    oid = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=raw).decode().strip()
    repo.git("update-ref", "refs/heads/main", oid)
    with opened(repo.path, tmp_path) as bank:
        sound(bank)


# -- trees -----------------------------------------------------------------------------------------------------------


def test_hostile_names_in_a_tree(repo, tmp_path):
    c = story(1)
    names = {
        b"01/23456789ab/0/\xff\xfe.txt": b"x",
        b"\xff/x": b"x",
        "01/23456789ab/0/-rf": b"x",
        "a/b": b"x",
        "0'; DROP/x": b"x",
        "01/23456789ab/99999999999999999999/full.jsonl": c.bytes(),
        "01/23456789ab/-1/full.jsonl": b"x",
        "README.md": b"x",
        "01/23456789ab/0/full.jsonl.1": b"x",
        "01/23456789ab/0/full.jsonl.tmp": b"x",
        "ZZ/zzzzzzzzzz/0/metadata.json": b"{}",
        "01/23456789ab/\u0663/full.jsonl": b"arabic-indic three",
        "01/23456789ab/00/full.jsonl": b"not number 0",
        "01/23456789ab/0/<img src=x onerror=alert(1)>": b"x",
        "01/23456789ab/0/new\nline\ttab": b"x",
        "01/23456789ab/tasks/../x": b"",
    }
    names.pop("01/23456789ab/tasks/../x")  # fast-import refuses dots; a tree made by hand is tested below
    repo.add_checkpoint(HEX, sessions=[session(c.session_id, c.bytes())])
    repo.write(BRANCH, names)
    with opened(repo.path, tmp_path) as bank:
        rows = sound(bank)
        mine = [r for r in rows["records"] if r["checkpoint_id"] == HEX and r["session_index"] == 0]
        assert len(mine) == 1
        assert mine[0]["transcript_bytes"] == len(c.bytes())
        assert codes(bank)["unknown_path"] >= 8
        bank.diagnostics().to_html()


def test_links_submodules_and_dots_in_a_tree(repo, tmp_path):
    c = story(1)
    repo.add_checkpoint(HEX, sessions=[session(c.session_id, c.bytes())])
    head = repo.resolve(BRANCH).encode()
    links = {
        "01/23456789ab/1/full.jsonl": ("120000", b"/etc/passwd"),
        "01/23456789ab/1/metadata.json": ("120000", b"../../../../../etc/passwd"),
        "01/23456789ab/2": ("120000", b"/"),
        "01/23456789ab/3": ("160000", head),
        "01/23456789ab/metadata.json": ("120000", b"x"),
    }
    repo.write(BRANCH, links)
    with opened(repo.path, tmp_path) as bank:
        rows = sound(bank)
        assert "root:" not in repr(rows)
        assert codes(bank)["not_a_file"] == 5
        assert [r["session_index"] for r in rows["records"] if r["checkpoint_id"] == HEX] == [0]


def test_a_tree_with_dots_and_doubled_entries(repo, tmp_path):
    blob = repo.git("hash-object", "-w", "--stdin", stdin=story(1).bytes()).decode().strip()
    raw = b"".join(
        b"100644 %s\0" % name + bytes.fromhex(blob) for name in (b"..", b"full.jsonl", b"full.jsonl", b".git")
    )
    inner = repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw).decode().strip()
    raw = b"40000 0\0" + bytes.fromhex(inner) + b"40000 ..\0" + bytes.fromhex(inner)
    tree = repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw).decode().strip()
    commit = repo.git("commit-tree", tree, "-m", "odd").decode().strip()
    repo.git("update-ref", f"refs/entire/checkpoints/ab/{HEX}", commit)
    with opened(repo.path, tmp_path) as bank:
        sound(bank)


# -- chunks ----------------------------------------------------------------------------------------------------------


def test_rows_lead_back_to_bytes_across_chunks(repo, tmp_path):
    c = story(1, 12)
    lines = [json.dumps(v).encode() for v in c.lines]
    chunks = [b"\n".join(lines[a:b]) for a, b in ((0, 5), (5, 6), (6, 17), (17, 24))]
    repo.add_checkpoint(HEX, sessions=[session(c.session_id, chunks, hash=True)])
    with opened(repo.path, tmp_path) as bank:
        sound(bank)
        m = bank.messages()
        m = m[m["session_id"] == c.session_id]
        assert [bank.raw(row) for _, row in m.iterrows()] == [[line] for line in lines]
        assert bank.records()["hash_state"].tolist().count("match") == 1
        assert m["blob_oid"].nunique() == 4
        for _, row in m.iterrows():  # the chunk that a row names holds its line
            assert bank.raw(row)[0] in repo.git("cat-file", "blob", row["blob_oid"])


def test_chunks_sort_by_number(repo, tmp_path):
    c = story(1, 600)
    lines = [json.dumps(v).encode() for v in c.lines]
    repo.add_checkpoint(HEX, sessions=[session(c.session_id, lines)])  # .001 to .1199
    with opened(repo.path, tmp_path) as bank:
        m = bank.messages()
        assert m[m["session_id"] == c.session_id]["uuid"].tolist() == [v["uuid"] for v in c.lines]


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_chunk_that_is_missing_takes_only_its_own_lines(gone, repo, tmp_path):
    c = story(1, 9)
    lines = [json.dumps(v).encode() for v in c.lines]
    parts = [lines[:6], lines[6:12], lines[12:]]
    repo.add_checkpoint(HEX, sessions=[session(c.session_id, [b"\n".join(p) for p in parts])])
    name = "full.jsonl" + (f".{gone:03d}" if gone else "")
    repo.delete_object(repo.blob_at(BRANCH, f"01/23456789ab/0/{name}"))
    kept = [line for n, part in enumerate(parts) if n != gone for line in part]
    with opened(repo.path, tmp_path) as bank:
        sound(bank)
        assert codes(bank)["missing_blob"] == 1
        m = bank.messages()
        m = m[m["session_id"] == c.session_id]
        assert len(m) == len(kept)
        assert [bank.raw(row) for _, row in m.iterrows()] == [[line] for line in kept]


def test_a_chunk_that_was_never_written_is_told(repo, tmp_path):
    c = story(1, 4)
    chunks = [c.bytes(0, 4), c.bytes(4, 8)]
    repo.add_checkpoint(
        HEX, sessions=[session(c.session_id, chunks[:1], files={"full.jsonl.002": chunks[1]})]
    )
    with opened(repo.path, tmp_path) as bank:
        sound(bank)
        assert codes(bank)["chunk_gap"] == 1
        assert (bank.messages()["session_id"] == c.session_id).sum() == 8


def test_chunks_of_a_gemini_document(repo, tmp_path):
    """Each chunk is a document of its own; rows lead back to their message in their chunk."""

    def message(n):
        return {
            "id": f"m{n}",
            "type": "user" if n % 2 == 0 else "gemini",
            "content": f"text {n}",
            "timestamp": "2026-02-01T10:00:00Z",
            "tokens": {"input": 10, "cached": 4, "output": 2, "thoughts": 1, "tool": 0, "total": 13},
        }

    chunks = [
        json.dumps({"projectHash": "h", "messages": [message(n) for n in range(a, b)]}, indent=1).encode()
        for a, b in ((0, 4), (4, 6), (6, 9))
    ]
    repo.add_checkpoint(HEX, sessions=[session("gem-1", chunks)])
    with opened(repo.path, tmp_path) as bank:
        sound(bank)
        m = bank.messages()
        m = m[m["session_id"] == "gem-1"]
        assert m["text"].tolist() == [f"text {n}" for n in range(9)]
        assert bank.sessions().set_index("session_id").loc["gem-1", "output_tokens"] == 4 * 3
        assert [json.loads(bank.raw(row)[0])["id"] for _, row in m.iterrows()] == [f"m{n}" for n in range(9)]
        assert "glued_objects" not in codes(bank)


# -- whose it is, and what is not there -----------------------------------------------------------------------------


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a repository away"
)
def test_a_repository_of_another_user(repo, tmp_path):
    for path in [repo.path, *repo.path.rglob("*")]:
        os.chown(path, 12345, 12345)
    script = f"""
import sessionbank as sb, sys
try:
    bank = sb.open_bank({str(repo.path)!r}, cache={str(tmp_path / "c")!r}, state_dir={str(tmp_path / "s")!r})
    bank.sessions()
except sb.SessionBankError as error:
    print(type(error).__name__, error)
"""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_CONFIG")} | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    out = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
    ).stdout
    assert out.startswith("RepositoryError git refuses to read")
    assert "git config --global --add safe.directory" in out


def test_a_repository_without_checkpoints_and_an_empty_one(tmp_path):
    empty = CheckpointRepo(tmp_path / "empty")
    plain = CheckpointRepo(tmp_path / "plain")
    plain.commit("Nothing of Entire")
    for each in (empty, plain, CheckpointRepo(tmp_path / "bare", bare=True)):
        with opened(each.path, tmp_path) as bank:
            assert not bank.is_available
            assert bank.head is None
            assert bank.layouts == ()
            assert bank.list_checkpoints() == []
            assert len(bank) == len(bank.discover()) == bank.count() == 0
            assert bank._repr_html_()
            for name in TABLES:
                assert len(getattr(bank, name)()) == 0
                assert getattr(bank, name)().dtypes.equals(schema.empty_frame(name).dtypes)


def test_what_is_no_repository(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"hello")
    (tmp_path / "cut.bundle").write_bytes(b"# v2 git bundle\n")
    outside = {"GIT_CEILING_DIRECTORIES": str(tmp_path)}
    os.environ.update(outside)
    try:
        for name in ("none", "folder", "file", "cut.bundle"):
            with pytest.raises(sb.SessionBankError, match=name):
                opened(tmp_path / name, tmp_path).sessions()
    finally:
        del os.environ["GIT_CEILING_DIRECTORIES"]


def test_a_bundle_that_is_cut(repo, tmp_path):
    bundle = tmp_path / "x.bundle"
    repo.git("bundle", "create", str(bundle), "--all")
    bundle.write_bytes(bundle.read_bytes()[:-50])
    with pytest.raises(sb.SessionBankError, match=r"x\.bundle"):
        opened(bundle, tmp_path)
    assert not list((tmp_path / "cache").rglob(".unpacking-*"))


def test_a_bundle_that_needs_commits_that_are_not_in_it(repo, tmp_path):
    old = repo.resolve(BRANCH)
    repo.add_checkpoint(HEX, sessions=[session(story(1).session_id, story(1).bytes())])
    bundle = tmp_path / "part.bundle"
    repo.git("bundle", "create", str(bundle), BRANCH, f"^{old}")
    with pytest.raises(sb.SessionBankError, match=r"part\.bundle"):
        opened(bundle, tmp_path)


def test_a_branch_that_moves_in_mid_read(repo, tmp_path):
    """A selection stays what it was; the bank follows; no table mixes the two."""
    a = story(1)
    with opened(repo.path, tmp_path) as bank:
        chosen = bank.discover()
        before = bank.sessions()
        repo.add_checkpoint(HEX, sessions=[session(a.session_id, a.bytes())])
        assert len(chosen) == 1
        assert chosen.messages()["session_id"].unique().tolist() == [story(9).session_id]
        assert len(chosen.sessions()) == len(before) == 1
        assert len(bank.sessions()) == 2
        repo.remove_checkpoint(GOOD)
        repo.git("reflog", "expire", "--expire=now", "--all")
        repo.git("gc", "-q", "--prune=now")
        assert bank.sessions()["session_id"].tolist() == [a.session_id]
        assert len(chosen.messages()) == 4  # what was read is kept


def test_a_branch_that_goes_before_transcripts_are_read(repo, tmp_path):
    """The objects are gone when they are asked for: missing, said, and no crash."""
    with opened(repo.path, tmp_path) as bank:
        chosen = bank.discover()
        repo.git("update-ref", "-d", BRANCH)
        repo.git("reflog", "expire", "--expire=now", "--all")
        repo.git("gc", "-q", "--prune=now")
        assert len(bank.sessions()) == 0
        assert chosen.sessions()["transcript_state"].tolist() == ["missing_blob"]


def test_a_treeless_clone_fetches_nothing(repo, tmp_path):
    repo.git("config", "uploadpack.allowFilter", "true")
    target = tmp_path / "treeless.git"
    subprocess.run(
        ["git", "clone", "-q", "--mirror", "--filter=tree:0", f"file://{repo.path}", str(target)],
        check=True,
        capture_output=True,
    )
    packs = sorted(p.name for p in target.rglob("*.pack"))
    # No tree is here, so nothing can be told: that is said, and not shown as a bank of zeros.
    with opened(target, tmp_path) as bank, pytest.raises(RepositoryError, match="missing or damaged"):
        bank.sessions()
    assert sorted(p.name for p in target.rglob("*.pack")) == packs
    shutil.rmtree(target)


def test_figures_agree_in_all_this_damage(repo, tmp_path):
    c = story(1, 6)
    lines = [json.dumps(v).encode() for v in c.lines]
    bad = b"\n".join([lines[0], b"\0" * 50, lines[1] + lines[2], b"{cut", *lines[3:]])
    repo.add_checkpoint(
        HEX, sessions=[session(c.session_id, bad), session("x", b"[]"), session("y", b""), session("z")]
    )
    with opened(repo.path, tmp_path) as bank:
        sums = assert_agreement(bank)
        assert sums["human_prompts"] == 8
