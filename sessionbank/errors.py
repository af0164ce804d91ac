"""How sessionbank fails: one root error and its narrow subclasses.

A wrong call raises: no repository, an unknown option, a bad date, a file that is not ours. The message names the
thing and the mend. Bad data does not raise: each bad line, file or reference becomes a row of ``diagnostics()`` with
its place, and what can be read is read; ``strict=True`` turns the first of them into a `DamagedDataError`.

This module holds the classes only; the rows of diagnostics are `sessionbank.records.Diagnostic`.
"""

from __future__ import annotations


class SessionBankError(Exception):
    """Root of every error that sessionbank raises on purpose."""


class RepositoryError(SessionBankError):
    """The path is no git repository, bundle or agent folder, or git refuses to read it."""


class QueryError(SessionBankError):
    """An option, date, time zone, column or table name that does not exist or cannot be read."""


class NotFoundError(SessionBankError, LookupError):
    """A session, checkpoint, commit or row that the bank does not hold."""


class DamagedDataError(SessionBankError):
    """Raised only with ``strict=True``: the first diagnostics row, as an error."""


class MissingExtraError(SessionBankError, ImportError):
    """An optional library is not installed; the message says what to install."""


class FormatError(SessionBankError, ValueError):
    """A file that we are asked to read (trajectories, team run, template, playbook) is not of its format."""
