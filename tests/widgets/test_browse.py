"""`browse` knows what it is given, and says what it takes."""

from __future__ import annotations

import pytest

import sessionbank as sb
from sessionbank.errors import QueryError
from tests.makers.banks import opened


def test_by_what_is_given(root, tmp_path):
    with opened(root / "data" / "shop.bundle", tmp_path) as bank:
        assert "60 sessions" in sb.browse(bank).children[0].value
        assert "4 sessions" in sb.browse(bank.query(agent="gemini-cli")).children[0].value
        session = bank.query(limit=1)[0]
        assert session.session_id in sb.browse(session, page=5).children[0].value
        assert sb.browse(session, page=5).children[4].value.count("<article") <= 5
        with pytest.raises(QueryError, match="pages"):
            sb.browse(session, pages=5)


@pytest.mark.parametrize("thing", [None, 3, "path", [], object()])
def test_of_anything_else(thing):
    with pytest.raises(QueryError, match=r"a SessionBank, a Selection, a Session or a Team, not \w+"):
        sb.browse(thing)


def test_widgets_are_not_imported_before():
    import subprocess
    import sys

    script = "import sys, sessionbank; print('ipywidgets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
