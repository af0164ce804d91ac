"""One name to look at things: `browse` gives the explorer of a bank, a session or a team. Nothing is drawn here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.records import Session
from sessionbank.selection import Tables

if TYPE_CHECKING:
    import ipywidgets


def browse(thing: Any, **options: Any) -> ipywidgets.VBox:
    """The explorer of what is handed in, a widget for a notebook: of a bank, a selection, a session or a team.

    A bank or selection is filtered, and one session picked and read; a session is read a page at a time; a team shows its
    timeline and graph. Options are those of `bank_explorer`, `session_explorer` and `team_explorer`; all take ``redact=``.
    Raises `QueryError` for anything else, and for an option that the explorer does not have.

    Example:
        >>> import sessionbank as sb
        >>> with sb.open_bank("data/shop.bundle", cache=False, progress=False) as bank:
        ...     box = browse(bank.query(limit=1))
        >>> "1 session," in box.children[0].value
        True
    """
    explorer = _explorer(thing)
    try:
        return explorer(thing, **options)
    except TypeError as error:
        if "unexpected keyword argument" in str(error) and explorer.__name__ in str(error):
            raise QueryError(f"browse of a {type(thing).__name__}: {error}") from None
        raise


def _explorer(thing: Any) -> Any:
    if isinstance(thing, Session):
        from sessionbank.widgets.session_explorer import session_explorer

        return session_explorer
    if isinstance(thing, Tables):
        from sessionbank.widgets.bank_explorer import bank_explorer

        return bank_explorer
    from sessionbank.team.model import Team

    if isinstance(thing, Team):
        from sessionbank.widgets.team_explorer import team_explorer

        return team_explorer
    raise QueryError(
        f"browse takes a SessionBank, a Selection, a Session or a Team, not {type(thing).__name__}; "
        "open_bank(path) gives a bank, bank.query() a selection, bank.get_by_session_id(id) a session"
    )
