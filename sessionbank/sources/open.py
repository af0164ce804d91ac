"""What a caller names, as a source: a repository, a bundle, an agent's folder, or several. Which it is, is told here."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from sessionbank.errors import QueryError, RepositoryError
from sessionbank.sources.folders import Folder, is_known_place, transcripts_below
from sessionbank.sources.repository import Repository
from sessionbank.sources.several import Several

_URL = re.compile(r"(?:[a-z+]+://|git@)", re.IGNORECASE)
Place = str | os.PathLike[str]
Source = Repository | Folder | Several


def open_source(place: Place | Sequence[Place], *, branch: str | None, cache_dir: Path) -> Source:
    """The source at a path, or all sources of a list of paths as one.

    Raises `RepositoryError` where there is none, with what to name instead.
    """
    if not isinstance(place, str | os.PathLike):
        if not _are_places(place):
            raise QueryError(f"open_bank takes a path or a list of paths, not {place!r:.80}")
        places = list(place)
        if not places:
            raise QueryError("the list of places to open is empty")
        return Several([_one(p, branch, cache_dir) for p in places])
    return _one(place, branch, cache_dir)


def _are_places(places: object) -> bool:
    return isinstance(places, Sequence) and all(isinstance(p, str | os.PathLike) for p in places)


def _one(place: Place, branch: str | None, cache_dir: Path) -> Repository | Folder:
    if _URL.match(os.fspath(place)):
        url = re.sub(r"(?<=//)[^/@]*@", "", os.fspath(place))  # without a password
        raise RepositoryError(
            f"{url} is on another machine, and nothing is fetched here; "
            f"run: git clone --mirror {url} repo.git, then open repo.git"
        )
    where = Path(place).expanduser()
    if not where.exists():
        raise RepositoryError(
            f"{where} does not exist; name a git repository, a .bundle file or an agent's folder"
        )
    if where.is_file() and where.suffix in (".jsonl", ".json"):
        raise RepositoryError(f"{where} is a single transcript; name the folder that holds it")
    if where.is_dir() and is_known_place(where.resolve()):
        return Folder(where)
    try:
        found = Repository(where, branch=branch, cache_dir=cache_dir)
    except RepositoryError as error:
        if where.is_dir() and "is not a git repository" in str(error) and any(transcripts_below(where, 1)):
            return Folder(where)
        raise
    inside = where.is_dir() and not (where / ".git").exists() and not (where / "HEAD").exists()
    if inside and not found.has_checkpoints(found.refs()) and any(transcripts_below(where, 1)):
        found.close()  # a folder of transcripts that happens to lie in some repository
        return Folder(where)
    return found
