"""What is kept between runs goes when unused or too much, and never while somebody uses it, in this process or another."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sessionbank as sb
from sessionbank.tables.cache_rotation import InUse, opening, rotate

pytest.importorskip("fcntl", reason="on Windows nothing is taken away")
DAY = 86400
OLD, NEW, OTHER = "0" * 24, "1" * 24, "2" * 24


def kept(root: Path, name: str, *, days: float, size: int = 10, kind: str = "tables") -> Path:
    folder = root / kind / name
    (folder / "seg-1").mkdir(parents=True)
    (folder / "seg-1" / "messages.arrow").write_bytes(b"x" * size)
    mark = root / "used" / name
    mark.parent.mkdir(exist_ok=True)
    mark.touch()
    then = time.time() - days * DAY
    os.utime(mark, (then, then))
    return folder


def left(root: Path) -> set[str]:
    return {p.name for kind in ("tables", "bundles") for p in (root / kind).glob("*")}


def test_what_was_not_used_for_thirty_days_goes(tmp_path: Path) -> None:
    old, bundle = kept(tmp_path, OLD, days=31), kept(tmp_path, "a" * 32, days=31, kind="bundles")
    kept(tmp_path, NEW, days=29)
    assert set(rotate(tmp_path)) == {old, bundle}
    assert left(tmp_path) == {NEW}
    assert not list(tmp_path.glob(".trash-*")) and {p.name for p in (tmp_path / "used").iterdir()} == {NEW}


def test_above_the_limit_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    for name, days in ((OLD, 3), (OTHER, 2), (NEW, 1)):
        kept(tmp_path, name, days=days, size=100_000)
    rotate(tmp_path, most_bytes=250_000)
    assert left(tmp_path) == {OTHER, NEW}


def test_what_an_open_bank_uses_stays(tmp_path: Path) -> None:
    folder = kept(tmp_path, OLD, days=0)
    using = InUse(tmp_path, [folder])
    then = time.time() - 40 * DAY  # opened long ago, and still open
    os.utime(tmp_path / "used" / OLD, (then, then))
    assert rotate(tmp_path, most_bytes=0, every_s=0) == []
    using.release()
    assert rotate(tmp_path, every_s=0) == [folder]


def test_what_another_process_uses_stays(tmp_path: Path) -> None:
    folder = kept(tmp_path, OLD, days=40)
    code = (
        "import sys; from pathlib import Path; from sessionbank.tables.cache_rotation import InUse;"
        "u = InUse(Path(sys.argv[1]), [Path(sys.argv[2])]); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        assert rotate(tmp_path, unused_s=0, every_s=0) == []
        other.communicate()
    assert rotate(tmp_path, unused_s=0, every_s=0) == [folder]


def test_nothing_goes_while_a_bank_is_being_opened_nor_twice_a_day(tmp_path: Path) -> None:
    folder = kept(tmp_path, OLD, days=31)
    with opening(tmp_path):
        assert rotate(tmp_path) == []
    assert rotate(tmp_path) == [folder]
    kept(tmp_path, OLD, days=31)
    assert rotate(tmp_path) == []


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    mine = tmp_path / "tables" / "my thesis"
    mine.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "tables" / OLD).symlink_to(tmp_path / "elsewhere")
    assert rotate(tmp_path, unused_s=-1, most_bytes=0) == []
    assert left(tmp_path) == {"my thesis", OLD}


def test_a_bank_marks_its_tables_and_its_bundle(root: Path, tmp_path: Path) -> None:
    with sb.open_bank(root / "data" / "shop.bundle", cache=tmp_path, progress=False) as bank:
        sessions = len(bank.sessions())
        assert len(left(tmp_path) - {"lock"}) == 2
        assert rotate(tmp_path, unused_s=-1, every_s=0) == []
        assert len(bank.messages()) > 0
    assert {p.parent.name for p in rotate(tmp_path, unused_s=-1, every_s=0)} == {"tables", "bundles"}
    with sb.open_bank(root / "data" / "shop.bundle", cache=tmp_path, progress=False) as bank:
        assert len(bank.sessions()) == sessions


def test_only_the_users_own_cache_folder_is_looked_through(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "home"))
    in_home, named = kept(tmp_path / "home", OLD, days=31), kept(tmp_path / "named", OLD, days=31)
    for cache in (tmp_path / "named", True):
        sb.open_bank(root / "data" / "shop.bundle", cache=cache, progress=False).close()
    assert named.is_dir() and not in_home.exists()
