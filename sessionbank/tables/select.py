"""Which sessions a query selects: whole sessions that have a record passing every filter.

Dates without an offset are read in the zone that the caller names. Tables are not made here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sessionbank.errors import QueryError
from sessionbank.records import AGENTS, SessionRecord
from sessionbank.tables.state import State


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """What to select. Times are compared with a record's ``created_at``: since <= created_at < before."""

    since: datetime | date | str | None = None
    before: datetime | date | str | None = None
    branch: str | None = None
    agent: str | None = (
        None  # one of `AGENTS` (what the bytes show; "Claude Code" will do), or another stored label
    )
    search: str | None = None  # in what people typed, whatever the case
    strategy: str | None = None
    has_summary: bool | None = None
    limit: int | None = None
    sort: str = "newest"  # or "oldest"; by the latest created_at of the session's records
    unprocessed_only: bool = False
    consumer: str = "default"
    tz: str = "UTC"


def matching(
    state: State, query: SessionQuery, is_processed: Callable[[SessionRecord], bool]
) -> tuple[list[str], int]:
    """Ids of the selected sessions in the order asked for, and how many there were before the limit.

    Raises `QueryError` for a bad date, zone, sort or limit.
    """
    if query.sort not in ("newest", "oldest"):
        raise QueryError(f"sort is 'newest' or 'oldest', not {query.sort!r}")
    if query.limit is not None and (type(query.limit) is not int or query.limit < 0):
        raise QueryError(f"limit is a whole number from 0, not {query.limit!r}")
    for name in ("branch", "agent", "search", "strategy"):
        value = getattr(query, name)
        if value is not None and not isinstance(value, str):
            raise QueryError(f"{name} is a text, not {value!r}")
    if query.has_summary not in (None, True, False):
        raise QueryError(f"has_summary is True, False or None, not {query.has_summary!r}")
    since, before = moment_of(query.since, query.tz), moment_of(query.before, query.tz)
    agents = _sessions_of_agent(state, query.agent)
    found = set(_searched(state, query.search)) if query.search else None
    chosen = []
    for sid, records in state.sessions.items():
        if (found is not None and sid not in found) or (agents is not None and sid not in agents):
            continue
        if any(_passes(r, query, since, before, is_processed) for r in records):
            chosen.append(sid)
    never = datetime.min.replace(tzinfo=UTC)
    latest = {sid: max(r.created_at or never for r in state.sessions[sid]) for sid in chosen}
    chosen.sort(key=lambda sid: (latest[sid], sid), reverse=query.sort == "newest")
    return chosen[: query.limit], len(chosen)


def _passes(
    r: SessionRecord,
    query: SessionQuery,
    since: datetime | None,
    before: datetime | None,
    is_processed: Callable[[SessionRecord], bool],
) -> bool:
    if since is not None and (r.created_at is None or r.created_at < since):
        return False
    if before is not None and (r.created_at is None or r.created_at >= before):
        return False
    if query.branch is not None and r.branch != query.branch:
        return False
    if query.strategy is not None and r.strategy != query.strategy:
        return False
    if query.has_summary is not None and (r.summary is not None) != query.has_summary:
        return False
    return not (query.unprocessed_only and is_processed(r))


def _sessions_of_agent(state: State, agent: str | None) -> set[str] | None:
    if agent is None:
        return None
    plain = agent.strip().casefold().replace(" ", "-").replace("_", "-")
    agent = plain if plain in AGENTS else agent
    if agent in AGENTS:
        return {
            sid for sid in state.sessions if ((state.facts.get(sid) or {}).get("agent") or "unknown") == agent
        }
    label = agent.casefold()
    found = {
        sid
        for sid, records in state.sessions.items()
        if any((r.agent_label or "").casefold() == label for r in records)
    }
    if not found and state.sessions:
        raise QueryError(
            f"no agent {agent!r}; agents are {', '.join(AGENTS)}, or a label of the records table"
        )
    return found


def _searched(state: State, text: str) -> set[str]:
    """Sessions in whose prompts (typed ones of the transcript, and prompt.txt) the text stands."""
    import pyarrow.compute as pc

    messages = state.spoken("messages").select(["session_id", "kind", "text"])
    typed = messages.filter(pc.equal(messages["kind"], "prompt"))
    hit = pc.match_substring(typed["text"], text, ignore_case=True).fill_null(False)
    found = set(typed.filter(hit)["session_id"].to_pylist())
    records = state.table("records").select(["session_id", "prompt_text"])
    hit = pc.match_substring(records["prompt_text"], text, ignore_case=True).fill_null(False)
    return found | set(records.filter(hit)["session_id"].to_pylist())


def zone(name: str) -> ZoneInfo:
    """The time zone of that IANA name; `QueryError` where there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise QueryError(
            f"no time zone {name!r}; use an IANA name such as 'Europe/Berlin' or 'UTC'"
        ) from None


def moment_of(value: datetime | date | str | None, tz: str) -> datetime | None:
    """A date or time as given, in UTC; without an offset it is read in `tz`, and a day means its first moment."""
    here = zone(tz)
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
        except ValueError:
            raise QueryError(
                f"{value!r} is not a date; write 2026-02-01 or 2026-02-01T10:00:00+01:00"
            ) from None
    if not isinstance(value, date):
        raise QueryError(f"{value!r} is not a date")
    if not isinstance(value, datetime):
        value = datetime.combine(value, time.min)
    return (value if value.tzinfo else value.replace(tzinfo=here)).astimezone(UTC)
