"""Memory: whole files, damaged ones set aside, limits, two writers, and a person who edits."""

from __future__ import annotations

import json
import multiprocessing
import sys
from datetime import UTC, datetime

import pytest

from sessionbank.errors import NotFoundError, QueryError
from sessionbank.learning.experience import Batch, KnowledgeNote, RunRow, TaskExperience
from sessionbank.learning.memory import Memory
from sessionbank.learning.playbooks import Line, RolePlaybook, Use

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def _note(name, text="Tests need the database"):
    return KnowledgeNote(id=name, kind="repo", text=text)


def _experience(name, *, score=1.0, day=1, revision="r"):
    row = RunRow(run_id=name, revision=revision, score=score)
    return TaskExperience(
        id=name,
        revision=revision,
        task=f"task {name}",
        score=score,
        row=row,
        timestamp=datetime(2026, 1, day, tzinfo=UTC),
    )


def _playbook(role="worker", confidence=0.5, **more):
    return RolePlaybook(id=f"role-{role}", name=f"effective-{role}", role=role, confidence=confidence, **more)


def test_what_is_stored_is_there_for_another_reader_and_a_person(tmp_path):
    path = Memory(tmp_path / "m").store("knowledge", _note("a"))
    assert json.loads(path.read_text())["text"] == "Tests need the database"
    assert path.read_text().endswith("}\n")
    other = Memory(tmp_path / "m")
    assert other.get("knowledge", "a") == _note("a")
    assert [n.id for n in other.all("knowledge")] == ["a"]


def test_what_another_writes_later_is_seen(tmp_path):
    one, two = Memory(tmp_path), Memory(tmp_path)
    assert one.count("knowledge") == 0
    two.store("knowledge", _note("a"))
    assert one.count("knowledge") == 1
    path = two.file("knowledge", "a")
    path.write_text(path.read_text().replace("the database", "a server"))  # a person edits
    assert one.get("knowledge", "a").text == "Tests need a server"
    assert one.nearest("knowledge", "server")[0][0]["id"] == "a"
    path.unlink()
    assert one.find("knowledge", "a") is None
    assert one.nearest("knowledge", "server") == []


@pytest.mark.parametrize("name", ["../../escaped", "/abs", "x" * 500, "CON", "", ".", "ä/ö", "a\x00"])
def test_ids_name_files_inside_the_folder_only(tmp_path, name):
    memory = Memory(tmp_path / "m")
    path = memory.store("knowledge", _note(name))
    assert path.resolve().parent == (tmp_path / "m" / "knowledge").resolve()
    assert memory.get("knowledge", name).id == name
    assert {p.name for p in tmp_path.iterdir()} == {"m"}


def test_two_ids_never_share_a_file(tmp_path):
    memory = Memory(tmp_path)
    names = ["a/b", "a%2Fb", "a%252Fb", "a b", "a_b", "x" * 300, "x" * 301, "A/b"]
    for name in names:
        memory.store("knowledge", _note(name))
    assert memory.count("knowledge") == len(names)


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"\x00" * 50, b'{"id": "a"}', b'{"id": "b", "kind": "repo", "text": "x"}']
)
def test_a_damaged_file_is_set_aside_and_told(tmp_path, damage):
    memory = Memory(tmp_path)
    path = memory.store("knowledge", _note("a"))
    memory.store("knowledge", _note("c"))
    path.write_bytes(damage)
    reader = Memory(tmp_path)
    with pytest.warns(UserWarning, match="damaged"):
        assert [n.id for n in reader.all("knowledge")] == ["c"]
    assert not path.exists()
    (aside,) = (tmp_path / "damaged" / "knowledge").iterdir()
    assert aside.read_bytes() == damage
    (problem,) = reader.problems
    assert problem.code == "damaged_memory"
    assert aside.name in problem.path


def test_storing_over_a_damaged_file_keeps_it(tmp_path):
    memory = Memory(tmp_path)
    path = memory.store("knowledge", _note("a"))
    for number in (1, 2):
        path.write_bytes(b"damaged %d" % number)
        with pytest.warns(UserWarning, match="damaged"):
            memory.store("knowledge", _note("a"))
    assert {p.read_bytes() for p in (tmp_path / "damaged" / "knowledge").iterdir()} == {
        b"damaged 1",
        b"damaged 2",
    }
    assert memory.get("knowledge", "a") == _note("a")


def _write(folder, name):
    memory = Memory(folder)
    for number in range(15):
        memory.store("knowledge", _note(f"{name}-{number}"))

        def used(playbook, run=f"{name}-{number}"):
            playbook.evolution.uses.append(Use(run_id=run, success=True, at=NOW))
            return playbook

        memory.update("role-playbooks", "role-worker", used)


def test_two_writers_at_once_lose_nothing(tmp_path):
    Memory(tmp_path).store("role-playbooks", _playbook())
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(tmp_path, name)) for name in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    memory = Memory(tmp_path)
    assert memory.count("knowledge") == 30
    assert len({u.run_id for u in memory.get("role-playbooks", "role-worker").evolution.uses}) == 30


def test_over_the_limit_only_what_is_counted_goes_unknown_first_then_oldest(tmp_path):
    memory = Memory(tmp_path, limits={"experiences": 3}, clock=lambda: NOW)
    for name, score, day in (("old", 1.0, 1), ("unknown", None, 9), ("new", 0.0, 5)):
        memory.store("experiences", _experience(name, score=score, day=day))
    memory.store("experiences", _experience("fourth", day=6))
    assert memory.count("experiences") == 4  # no batch has counted any: nothing may go
    assert [p.code for p in memory.problems] == ["memory_over_limit"]
    rows = [_experience(n).row for n in ("old", "unknown", "new", "fourth")]
    memory.store("batches", Batch(id="b", kind="task", number=1, status="done", rows=rows, started_at=NOW))
    memory.store("experiences", _experience("fifth", day=7))
    assert set(memory.raw("experiences")) == {"new", "fourth", "fifth"}
    gone = [json.loads(line) for line in (tmp_path / "let-go.jsonl").read_text().splitlines()]
    assert [g["id"] for g in gone] == ["unknown", "old"]


def test_a_reviewed_playbook_never_goes(tmp_path):
    memory = Memory(tmp_path, limits={"role-playbooks": 2})
    decision = {"action": "accept", "reviewer": "Ada", "at": NOW, "reason": "seen it"}
    line = Line(id="l", text="Report", decisions=[decision])
    memory.store("role-playbooks", _playbook("a", 0.1, guidance={"responsibilities": [line]}))
    memory.store("role-playbooks", _playbook("b", 0.9))
    memory.store("role-playbooks", _playbook("c", 0.5))
    assert set(memory.raw("role-playbooks")) == {"role-a", "role-b"}


def test_versions_of_a_playbook_are_kept(tmp_path):
    memory = Memory(tmp_path)
    memory.store("role-playbooks", _playbook())
    for version in ("1.1.0", "1.2.0", "1.10.0"):
        new = _playbook(confidence=0.6)
        new.evolution.version = version
        memory.store("role-playbooks", new)
    assert [p.evolution.version for p in memory.versions("role-playbooks", "role-worker")] == [
        "1.0.0",
        "1.1.0",
        "1.2.0",
        "1.10.0",
    ]


def test_a_plain_text_in_a_playbook_is_a_line_without_evidence(tmp_path):
    memory = Memory(tmp_path)
    path = memory.store("role-playbooks", _playbook())
    value = json.loads(path.read_text())
    value["guidance"]["responsibilities"] = ["Report what you did"]
    path.write_text(json.dumps(value))
    (line,) = memory.get("role-playbooks", "role-worker").guidance.responsibilities
    assert (line.text, line.standing, line.evidence, line.confidence) == (
        "Report what you did",
        "claimed",
        [],
        0,
    )
    assert line.id


def test_wrong_calls_name_the_thing(tmp_path):
    memory = Memory(tmp_path)
    with pytest.raises(QueryError, match="no kind of memory"):
        memory.all("thoughts")
    with pytest.raises(QueryError, match="KnowledgeNote"):
        memory.store("knowledge", _playbook())
    with pytest.raises(NotFoundError, match="'x'"):
        memory.get("knowledge", "x")
    with pytest.raises(QueryError, match="'nothing'"):
        Memory(tmp_path, limits={"nothing": 3})


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on file sizes")
@pytest.mark.parametrize("room", [0, 300])
def test_a_full_disk_is_raised_and_nothing_is_lost(tmp_path, room):
    import resource

    memory = Memory(tmp_path)
    path = memory.store("knowledge", _note("n", "short"))
    before = path.read_bytes()
    had = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, had[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            memory.store("knowledge", _note("n", "long " * 200))
        with pytest.raises(OSError, match="too large"):
            memory.store("knowledge", _note("other", "long " * 200))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, had)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # no half of a file stays
    for reader in (memory, Memory(tmp_path)):
        assert [n.text for n in reader.all("knowledge")] == ["short"]
        assert reader.problems == []
    memory.store("knowledge", _note("other"))
    assert memory.count("knowledge") == 2
