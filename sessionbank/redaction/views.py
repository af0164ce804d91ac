"""What a view may show of a text: HTML pages, labels of pictures, alt texts and log lines ask here.

Views leave out secrets and names by default; `redact_views` is the switch. Placeholders are the same for as long as the
process lives. Data (frames, Arrow tables, records) is no view and is never changed. Escaping is the view's work.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessionbank.redaction.passes import Pass, Placeholders

SWITCH = "SESSIONBANK_REDACT_VIEWS"  # the environment variable; "0" leaves texts as they are
_MARGIN = 4096  # beyond the limit, so that what begins before it is known for what it is
_KEPT = 4096  # texts whose answer is remembered
_LONGEST_KEPT = 4096  # characters of a text whose answer is remembered

_answers: dict[str, str] = {}
_is_on = os.environ.get(SWITCH, "1").strip().lower() not in ("0", "false", "no", "off")


def redact_views(on: bool = True) -> ExitStack:
    """Whether HTML views, pictures and log lines leave out secrets, addresses and names of people; they do by default.

    Holds for the whole process, or for a ``with`` block. The environment variable SESSIONBANK_REDACT_VIEWS=0 turns it
    off from the start. Exports have an option of their own (``redact=``), data frames are never changed.

    Example:
        >>> from sessionbank.redaction import redact_views, shown
        >>> shown("cd /Users/mkowalczyk/src").startswith("cd /Users/redacted_user_")
        True
        >>> with redact_views(False):
        ...     shown("cd /Users/mkowalczyk/src")
        'cd /Users/mkowalczyk/src'
    """
    global _is_on
    undo = ExitStack()
    undo.callback(redact_views, _is_on)
    _is_on = bool(on)
    return undo


def are_views_redacted() -> bool:
    """Whether `shown` takes anything out."""
    return _is_on


def shown(text: str | None, *, limit: int | None = None) -> str:
    """A text as a view may show it; "" for None. `limit` (characters) cuts it, with an ellipsis, after cleaning.

    Never cut a text before it comes here: half a key is not known for one. Not escaped. See `redact_views`.

    Example:
        >>> shown("mail to lea@studio-nord.eu", limit=9)
        'mail to …'
    """
    if not text:
        return ""
    return shown_all((text,), limit=limit)[0]


def shown_all(texts: Iterable[str | None], *, limit: int | None = None) -> list[str]:
    """Several texts of one view, as `shown`; what one of them tells is taken out of all."""
    given = [t or "" for t in texts]
    if limit is not None:
        given = [t if len(t) <= limit + _MARGIN else t[: limit + _MARGIN] for t in given]
    if _is_on:
        given = [_one(given[0])] if len(given) == 1 else _cleaned(given)
    return given if limit is None else [cut(t, limit) for t in given]


def _cleaned(texts: list[str]) -> list[str]:
    done = _pass(texts).cleaned
    return [done[t][0] if t in done else t for t in texts] if done else texts


def _one(text: str) -> str:
    answer = _answers.get(text)
    if answer is None:
        answer = _pass((text,)).text(text)
        if len(text) <= _LONGEST_KEPT:
            if len(_answers) >= _KEPT:
                _answers.clear()
            _answers[text] = answer
    return answer


def _pass(texts: Iterable[str]) -> Pass:
    from sessionbank.redaction.passes import (
        Pass,  # its rules are compiled when a view is drawn, not at the start
    )

    return Pass(_placeholders(), texts)


@lru_cache(maxsize=1)
def _placeholders() -> Placeholders:
    from sessionbank.redaction.passes import Placeholders

    return Placeholders()


def cut(text: str, limit: int) -> str:
    """The text, or as much of it as makes `limit` characters with an ellipsis at its end."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"
