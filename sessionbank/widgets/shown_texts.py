"""The texts of one pane as it may show them: redacted together, and cut. Nothing is escaped and nothing drawn here."""

from __future__ import annotations

from collections.abc import Iterable

from sessionbank.redaction import shown, shown_all

_BEYOND = (
    200  # characters that are cleaned beyond a limit, so that a placeholder never hides that a text goes on
)


class Shown:
    """Gives each text as a pane shows it; `is_redacted` False gives texts as they are.

    Example:
        >>> show = Shown(is_redacted=True)
        >>> show("cd /Users/mkowalczyk/src").startswith("cd /Users/redacted_user_")
        True
        >>> Shown(is_redacted=False)("cd /Users/mkowalczyk/src")
        'cd /Users/mkowalczyk/src'
    """

    def __init__(self, *, is_redacted: bool = True) -> None:
        self.is_redacted = is_redacted
        self._ready: dict[str, str] = {}
        self._limit = 0

    def prepare(self, texts: Iterable[str | None], *, limit: int) -> Shown:
        """Cleans the texts of a pane together, for calls with up to `limit` characters: what one tells, all leave out."""
        given = list(dict.fromkeys(t for t in texts if t))
        cleaned = shown_all(given, limit=limit + _BEYOND) if self.is_redacted else given
        self._ready, self._limit = dict(zip(given, cleaned, strict=True)), limit
        return self

    def __call__(self, text: str | None, *, limit: int | None = None) -> str:
        """The text; no more than `limit` characters of it, without a mark: see `left`."""
        if not text:
            return ""
        if not self.is_redacted:
            return text if limit is None else text[:limit]
        ready = self._ready.get(text) if limit is not None and limit <= self._limit else None
        if ready is not None:
            return ready[:limit]
        cleaned = shown(text, limit=None if limit is None else limit + _BEYOND)
        return cleaned if limit is None else cleaned[:limit]


def left(text: str | None, limit: int) -> int:
    """How many characters of a text stand beyond the limit."""
    return max(len(text or "") - limit, 0)
