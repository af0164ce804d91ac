"""What a caller names, as a source: a repository, a bundle, or later an agent's folder. Which it is, is told here."""

from __future__ import annotations

import os
from pathlib import Path

from sessionbank.errors import RepositoryError
from sessionbank.sources.repository import Repository


def open_source(path: str | os.PathLike[str], *, branch: str | None, cache_dir: Path) -> Repository:
    """The source at `path`.

    Raises `RepositoryError` where there is none, with what to name instead.
    """
    where = Path(path).expanduser()
    if not where.exists():
        raise RepositoryError(
            f"{where} does not exist; name a git repository, a .bundle file or an agent's folder"
        )
    return Repository(where, branch=branch, cache_dir=cache_dir)
