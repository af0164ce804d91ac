"""A repository that belongs to another user: git refuses it, and what to do is said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sessionbank as sb
from sessionbank.errors import RepositoryError
from tests.makers.checkpoints import CheckpointRepo

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file to another user"
)


def test_git_refuses_it_and_the_advice_names_the_folder(tmp_path, monkeypatch):
    repo = CheckpointRepo(tmp_path / "repo").path
    for path in [repo, *Path(repo).rglob("*")]:
        os.chown(path, 65534, 65534)
    for name in ("GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    told = pytest.raises(RepositoryError, match=r"belongs to another user.*safe\.directory")
    with sb.open_bank(repo, cache=tmp_path / "cache", state_dir=tmp_path, progress=False) as bank, told:
        bank.sessions()
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "*")
    with sb.open_bank(repo, cache=tmp_path / "cache", state_dir=tmp_path, progress=False) as bank:
        assert bank.sessions().empty
