"""What one may name to open a bank, and what is said of what one may not."""

from __future__ import annotations

import pytest

import sessionbank as sb
from sessionbank.errors import QueryError, RepositoryError


@pytest.mark.parametrize("place", [None, 3, b"repo", [None], {"a": 1}])
def test_what_is_no_path_is_told_so(place):
    with pytest.raises(QueryError, match="takes a path or a list of paths"):
        sb.open_bank(place)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://example.org/a/b.git", "git clone --mirror https://example.org/a/b.git"),
        ("https://me:secret@example.org/b.git", "git clone --mirror https://example.org/b.git"),
        ("git@example.org:a/b.git", "git clone --mirror git@example.org:a/b.git"),
    ],
)
def test_a_url_is_not_fetched_and_how_to_fetch_it_is_said(url, told):
    with pytest.raises(RepositoryError, match="nothing is fetched") as caught:
        sb.open_bank(url)
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)
