"""The sample bank comes out of its script again, is small, and is sound. What its figures mean is tested elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent / "data"
BUNDLE, TRUTH = DATA / "shop.bundle", DATA / "shop.truth.json"


def git(*args, cwd):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {
        "GIT_CONFIG_GLOBAL": os.devnull
    }
    return subprocess.run(["git", *args], cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


def refs_of(bundle, cwd):
    pairs = [line.split() for line in git("bundle", "list-heads", str(bundle), cwd=cwd).splitlines()]
    return {name: oid for oid, name in pairs if name != "HEAD"}


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    """The script's output in another folder, under another hash seed, zone and git configuration."""
    folder = tmp_path_factory.mktemp("bank")
    env = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "GIT_AUTHOR_NAME": "Somebody"}
    command = [sys.executable, "-W", "error", str(DATA / "make_sample_bank.py"), str(folder)]
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
    return folder


def test_script_gives_the_same_objects_and_truth(again):
    assert (again / TRUTH.name).read_bytes() == TRUTH.read_bytes()
    made = refs_of(again / BUNDLE.name, again)
    assert made == refs_of(BUNDLE, again)
    assert made == json.loads(TRUTH.read_text(encoding="utf-8"))["refs"]


def test_bundle_is_small_and_sound(tmp_path):
    assert BUNDLE.stat().st_size < 2_000_000
    git("init", "-q", "--bare", ".", cwd=tmp_path)
    assert "complete history" in git("bundle", "verify", str(BUNDLE), cwd=tmp_path)
    git("fetch", "-q", str(BUNDLE), "refs/*:refs/*", cwd=tmp_path)
    git("fsck", "--strict", "--no-dangling", cwd=tmp_path)
    assert (
        git("rev-parse", "refs/heads/main", cwd=tmp_path).strip()
        == refs_of(BUNDLE, tmp_path)["refs/heads/main"]
    )


def test_script_stands_alone():
    """Its truth is independent only if it takes nothing from the package whose figures it checks."""
    for path in [DATA / "make_sample_bank.py", *sorted((DATA / "sample_bank").glob("*.py"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not line.strip().startswith(("import sessionbank", "from sessionbank")), path.name
