"""All four ways in which Entire stores checkpoints, alone and together, and all the ways in which a clone may look."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.makers.banks import all_tables, assert_agreement, codes, opened
from tests.makers.checkpoints import BRANCH, LAYOUTS, V2_FULL, CheckpointRepo, session
from tests.makers.claude import Claude, tool

HEX, ULID = "0123456789ab", "01KPYQ9JYKNCENFXAAHJ64Y10F"


def story(number=1, prompts=2):
    c = Claude(f"11111111-2222-4333-8444-{number:012d}")
    for n in range(prompts):
        c.prompt(f"prompt {n}")
        c.reply(tool(f"toolu_{number}_{n}"), message_id=f"msg_{number}_{n}", output=10 + n)
        c.result(f"toolu_{number}_{n}")
    return c


def texts(bank):
    return [m["text"] for m in bank.arrow("messages").to_pylist() if m["kind"] == "prompt"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_read(layout, tmp_path):
    c = story()
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(
        HEX, layout=layout, sessions=[session(c.session_id, c.bytes(), prompt="prompt 0", hash=True)]
    )
    with opened(repo.path, tmp_path) as bank:
        assert bank.is_available
        assert bank.layouts == (layout,)
        assert [(k.checkpoint_id, k.session_count) for k in bank.list_checkpoints()] in (
            [(HEX, 1)],
            [(HEX, 0)],
        )
        assert texts(bank) == ["prompt 0", "prompt 1"]
        record = bank.arrow("records").to_pylist()[0]
        assert (record["layout"], record["transcript_state"], record["session_id"]) == (
            layout,
            "present",
            c.session_id,
        )
        assert record["transcript_bytes"] == len(c.bytes())
        assert record["prompt_text"] == "prompt 0"
        assert next(m["blob_oid"] for m in bank.arrow("messages").to_pylist())
        assert assert_agreement(bank)["output_tokens"] == 21


@pytest.mark.parametrize("identity", [HEX, ULID])
def test_a_ref_of_its_own_holds_either_id(identity, tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(identity, layout="refs-v1", sessions=[session(story().session_id, story().bytes())])
    code = repo.commit(f"Work\n\nEntire-Checkpoint: {identity}\n")
    with opened(repo.path, tmp_path) as bank:
        assert [c.checkpoint_id for c in bank.list_checkpoints()] == [identity]
        assert [r.checkpoint_id for r in bank.get_by_commit(code)] == [identity]
        assert bank.commits()["resolves"].tolist() == [True]


def test_a_ulid_may_stand_on_the_branch_too(tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(ULID, sessions=[session(story().session_id, story().bytes())])
    with opened(repo.path, tmp_path) as bank:
        assert bank.checkpoints()["checkpoint_id"].tolist() == [ULID]


def test_several_layouts_are_one_bank_without_counting_twice(tmp_path):
    """One checkpoint stands in three layouts, each layout has one of its own."""
    repo = CheckpointRepo(tmp_path / "repo")
    shared = story(9)
    for number, layout in enumerate(LAYOUTS):
        if layout != "sessions-v0":
            repo.add_checkpoint(
                "fedcba987654", layout=layout, sessions=[session(shared.session_id, shared.bytes())]
            )
        own = story(number)
        repo.add_checkpoint(
            f"00000000000{number}", layout=layout, sessions=[session(own.session_id, own.bytes())]
        )
    with opened(repo.path, tmp_path) as bank:
        assert sorted(bank.layouts) == sorted(LAYOUTS)
        assert len(bank.checkpoints()) == 5
        assert len(bank.records()) == 5
        assert bank.sessions()["human_prompts"].tolist() == [2] * 5
        assert codes(bank)["stored_twice"] == 2
        assert assert_agreement(bank)["api_calls"] == 10


def test_before_v1_the_latest_session_lies_at_the_root(tmp_path):
    first, last = story(1), story(2)
    repo = CheckpointRepo(tmp_path / "repo")
    stored = [session(first.session_id, first.bytes()), session(last.session_id, last.bytes())]
    repo.add_checkpoint(HEX, layout="sessions-v0", sessions=stored)
    with opened(repo.path, tmp_path) as bank:
        rows = {r["session_index"]: r["session_id"] for r in bank.arrow("records").to_pylist()}
        assert rows == {0: last.session_id, 1: first.session_id}
        assert len(texts(bank)) == 4


def test_v2_without_its_full_ref_still_lists_its_records(tmp_path):
    """Only the compact transcript is there; whoever reads it, no row is lost without a word."""
    repo = CheckpointRepo(tmp_path / "repo")
    compact = (
        b'{"v":1,"agent":"claude-code","cli_version":"0.5","type":"user","ts":"2026-04-01T10:00:00Z",'
        b'"content":[{"type":"text","text":"hi"}]}'
    )
    repo.add_checkpoint(
        HEX, layout="v2", sessions=[session(story().session_id, story().bytes(), compact=compact)]
    )
    repo.git("update-ref", "-d", V2_FULL)
    with opened(repo.path, tmp_path) as bank:
        record = bank.arrow("records").to_pylist()[0]
        assert record["transcript_name"] == "transcript.jsonl"
        assert len(bank.messages()) == 1


def test_v2_keeps_its_transcript_in_numbered_archives(tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, layout="v2", sessions=[session(story().session_id, story().bytes())])
    repo.git("update-ref", "refs/entire/checkpoints/v2/full/0000000000001", V2_FULL)
    repo.git("update-ref", "-d", V2_FULL)
    with opened(repo.path, tmp_path) as bank:
        assert len(texts(bank)) == 2


# -- refs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ref",
    [
        "refs/remotes/origin/entire/checkpoints/v1",
        "refs/entire/checkpoints/v1",
        "refs/remotes/up/entire/checkpoints/v1",
    ],
)
def test_the_branch_is_found_wherever_it_stands(ref, tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, ref=ref, sessions=[session(story().session_id, story().bytes())])
    with opened(repo.path, tmp_path) as bank:
        assert bank.is_available
        assert bank.head == repo.resolve(ref)
        assert bank.checkpoints()["ref"].tolist() == [ref]
        assert len(texts(bank)) == 2


def test_a_local_branch_and_its_remote_are_read_once(tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, sessions=[session(story().session_id, story().bytes())])
    repo.git("update-ref", "refs/remotes/origin/entire/checkpoints/v1", BRANCH)
    with opened(repo.path, tmp_path) as bank:
        assert bank.checkpoints()["ref"].tolist() == [BRANCH]
        assert len(bank.records()) == 1
        assert "stored_twice" not in codes(bank)


def test_what_only_the_remote_has_is_read_too(tmp_path):
    """The local branch is behind its remote: the checkpoints of both count, each once."""
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, sessions=[session(story(1).session_id, story(1).bytes())])
    repo.git("update-ref", "refs/remotes/origin/entire/checkpoints/v1", BRANCH)
    repo.add_checkpoint(
        "fedcba987654",
        ref="refs/remotes/origin/entire/checkpoints/v1",
        sessions=[session(story(2).session_id, story(2).bytes())],
    )
    with opened(repo.path, tmp_path) as bank:
        assert len(bank.checkpoints()) == len(bank.records()) == 2
        assert assert_agreement(bank)["human_prompts"] == 4


def test_a_finalized_copy_at_the_remote_loses_no_line(tmp_path):
    """The same checkpoint stands shorter in the local branch and longer at the remote, which finalized it."""
    repo = CheckpointRepo(tmp_path / "repo")
    c = story(1)
    repo.add_checkpoint(HEX, sessions=[session(c.session_id, c.bytes(0, 3))])
    repo.add_checkpoint(
        HEX, ref="refs/remotes/origin/entire/checkpoints/v1", sessions=[session(c.session_id, c.bytes())]
    )
    with opened(repo.path, tmp_path) as bank:
        assert len(bank.records()) == 1
        assert texts(bank) == ["prompt 0", "prompt 1"]


def test_one_branch_may_be_asked_for(tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, sessions=[session(story(1).session_id, story(1).bytes())])
    repo.add_checkpoint(
        "fedcba987654",
        ref="refs/heads/backup/checkpoints",
        sessions=[session(story(2).session_id, story(2).bytes())],
    )
    with opened(repo.path, tmp_path, branch="backup/checkpoints") as bank:
        assert bank.checkpoints()["checkpoint_id"].tolist() == ["fedcba987654"]
    with opened(repo.path, tmp_path, branch="entire/checkpoints/v1") as bank:
        assert bank.checkpoints()["checkpoint_id"].tolist() == [HEX]
    with opened(repo.path, tmp_path, branch="no/such") as bank:
        assert not bank.is_available


@pytest.mark.parametrize(
    "name",
    ["odd\u2028name", "tab\u0085x", "ünïcode", "-dash", "a;rm -rf x", "$(id)", "x'y\"z", "%s{0}", "<script>"],
)
def test_odd_ref_names_stand_in_nobodys_way(name, tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, sessions=[session(story().session_id, story().bytes(), branch=name)])
    code = repo.commit(f"Work\n\nEntire-Checkpoint: {HEX}")
    packed = repo.git_dir / "packed-refs"
    lines = [
        f"{code} refs/heads/{name.replace(' ', '_')}".encode(),
        f"{repo.resolve(BRANCH)} refs/remotes/{name.replace(' ', '_')}/entire/checkpoints/v1".encode(),
    ]
    packed.write_bytes(b"# pack-refs with: peeled fully-peeled \n" + b"".join(line + b"\n" for line in lines))
    with opened(repo.path, tmp_path) as bank:
        assert bank.records()["branch"].tolist() == [name]
        assert len(bank.records()) == 1
        assert bank.commits()["commit_sha"].tolist() == [code]
        all_tables(bank)


def test_a_ref_whose_name_is_not_utf_8(tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, ref="refs/heads/tmp", sessions=[session(story().session_id, story().bytes())])
    packed = repo.git_dir / "packed-refs"
    packed.write_bytes(
        b"# pack-refs with: peeled fully-peeled \n"
        + repo.resolve("refs/heads/tmp").encode()
        + b" refs/remotes/\xff\xfe/entire/checkpoints/v1\n"
    )
    repo.git("update-ref", "-d", "refs/heads/tmp")
    with opened(repo.path, tmp_path) as bank:
        assert len(texts(bank)) == 2
        all_tables(bank)


def test_a_broken_ref_and_a_tag_stand_in_nobodys_way(tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, sessions=[session(story().session_id, story().bytes())])
    code = repo.commit(f"Work\n\nEntire-Checkpoint: {HEX}")
    repo.git("tag", "-a", "v1", "-m", f"Entire-Checkpoint: {HEX}", code)
    repo.git("tag", "blob", repo.blob_at("refs/heads/main", "code.txt"))
    (repo.git_dir / "refs" / "heads" / "empty").write_bytes(b"")
    with opened(repo.path, tmp_path) as bank:
        assert len(texts(bank)) == 2
        assert bank.commits()["commit_sha"].tolist() == [code]


def test_the_branch_may_point_to_no_commit(tmp_path):
    """A checkpoint ref that is a tag object, a tree or a blob: read, or said."""
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(HEX, layout="refs-v1", sessions=[session(story().session_id, story().bytes())])
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
    repo.git("update-ref", "refs/entire/checkpoints/ba/fedcba9876ba", blob)
    with opened(repo.path, tmp_path) as bank:
        assert len(texts(bank)) == 2
        assert HEX in bank.checkpoints()["checkpoint_id"].tolist()
        assert "fedcba9876ba" in repr(bank.diagnostics().to_dict("records"))


# -- clones ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def origin(tmp_path):
    repo = CheckpointRepo(tmp_path / "origin")
    c = story(1)
    repo.add_checkpoint(HEX, sessions=[session(c.session_id, c.bytes(0, 3))])
    repo.add_checkpoint(
        "fedcba987654",
        sessions=[session(c.session_id, c.bytes()), session(story(2).session_id, story(2).bytes())],
    )
    repo.add_checkpoint(ULID, layout="refs-v1", sessions=[session(story(3).session_id, story(3).bytes())])
    repo.commit(f"Work\n\nEntire-Checkpoint: {HEX}")
    repo.git("reset", "-q", "--hard", "refs/heads/main")
    repo.git("config", "uploadpack.allowFilter", "true")
    return repo


def clone(origin, target, *options):
    subprocess.run(
        ["git", "clone", "-q", *options, "--", f"file://{origin.path}", str(target)],
        check=True,
        capture_output=True,
    )
    return target


def whole(path, folder):
    with opened(path, folder) as bank:
        return [
            (s["session_id"], s["human_prompts"], s["output_tokens"])
            for s in bank.arrow("sessions").to_pylist()
        ]


def test_a_fresh_clone_a_mirror_a_bundle_and_a_worktree_give_the_same_sessions(origin, tmp_path):
    expected = sorted(whole(origin.path, tmp_path / "0"))
    assert [e[1:] for e in expected] == [(2, 21)] * 3
    fresh = clone(origin, tmp_path / "fresh")
    assert sorted(whole(fresh, tmp_path / "1")) == expected[:2]  # a plain clone brings no refs/entire/*
    assert sorted(whole(clone(origin, tmp_path / "mirror.git", "--mirror"), tmp_path / "2")) == expected
    bundle = tmp_path / "all.bundle"
    origin.git("bundle", "create", str(bundle), "--all")
    assert sorted(whole(bundle, tmp_path / "3")) == expected
    origin.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"), "refs/heads/main")
    assert sorted(whole(tmp_path / "tree", tmp_path / "4")) == expected
    (origin.path / "some" / "folder").mkdir(parents=True)
    assert sorted(whole(origin.path / "some" / "folder", tmp_path / "5")) == expected
    assert sorted(whole(origin.path / ".git", tmp_path / "6")) == expected


def test_a_bundle_of_one_branch_whose_head_is_that_branch(origin, tmp_path):
    bundle = tmp_path / "one.bundle"
    origin.git("bundle", "create", str(bundle), "entire/checkpoints/v1")
    assert len(whole(bundle, tmp_path / "b")) == 2


def test_a_bare_repository_without_a_config_file(origin, tmp_path):
    bare = clone(origin, tmp_path / "bare.git", "--mirror")
    (bare / "config").unlink()
    assert len(whole(bare, tmp_path / "b")) == 3


def test_a_shallow_clone(origin, tmp_path):
    shallow = clone(origin, tmp_path / "shallow", "--depth", "1", "--no-single-branch")
    assert len(whole(shallow, tmp_path / "b")) == 2


def test_a_repository_with_sha_256_ids(tmp_path):
    path = tmp_path / "repo"
    path.mkdir()
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(path)], check=True)
    repo = CheckpointRepo(path, clone_of=path)
    repo.add_checkpoint(HEX, sessions=[session(story().session_id, story().bytes())])
    assert whole(path, tmp_path / "b") == [(story().session_id, 2, 21)]


def test_a_partial_clone_says_what_is_not_there_and_fetches_nothing(origin, tmp_path):
    partial = clone(origin, tmp_path / "partial.git", "--mirror", "--filter=blob:none")
    shutil.rmtree(origin.path)  # were anything fetched, it would fail now
    with opened(partial, tmp_path / "b") as bank:
        all_tables(bank)
        assert len(bank.checkpoints()) == 3
        assert set(bank.records(transcripts=True)["transcript_state"]) == {"missing_blob"}
        assert bank.sessions()["output_tokens"].isna().all()
        assert codes(bank)["missing_blob"] == 4


def test_a_partial_clone_that_holds_some_transcripts_gives_each_to_its_session(origin, tmp_path):
    """Present and absent blobs come in the order asked for: no session gets another's lines."""
    partial = clone(origin, tmp_path / "partial.git", "--mirror", "--filter=blob:none")
    wanted = [origin.blob_at(BRANCH, "fe/dcba987654/1/full.jsonl")]
    for ref, root, dirs in ((BRANCH, "01/23456789ab/", 1), (BRANCH, "fe/dcba987654/", 2)):
        wanted += [origin.blob_at(ref, f"{root}metadata.json")] + [
            origin.blob_at(ref, f"{root}{n}/metadata.json") for n in range(dirs)
        ]
    subprocess.run(
        ["git", "cat-file", "--batch"],
        cwd=partial,
        input="\n".join(wanted).encode(),
        check=True,
        capture_output=True,
    )
    shutil.rmtree(origin.path)
    with opened(partial, tmp_path / "b") as bank:
        rows = {r["session_id"]: r for r in bank.arrow("sessions").to_pylist()}
        assert rows[story(2).session_id]["output_tokens"] == 21
        assert rows[story(2).session_id]["transcript_state"] == "present"
        assert rows[story(1).session_id]["transcript_state"] == "missing_blob"
        assert rows[story(1).session_id]["output_tokens"] is None
        assert {m["session_id"] for m in bank.arrow("messages").to_pylist()} == {story(2).session_id}


def test_nothing_is_written_to_the_repository(origin, tmp_path):
    before = {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in origin.path.rglob("*")}
    with opened(origin.path, tmp_path / "b") as bank:
        all_tables(bank)
        bank.mark_processed(bank.discover()[0])
    assert {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in origin.path.rglob("*")} == before
