"""Sessions that go on from another one without its lines, as Claude Code's lines tell: after a compaction, from a plan
that was made there, or as a teammate that the other one started.

Edges that rest on shared lines, and those that other agents record, are `lineage`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from sessionbank.tables.state import State

Edge = tuple[str, str, str, int | None, str]  # from, to, relation, shared lines, evidence
_LEADS = frozenset({"team-lead", "lead"})


def continued(state: State) -> list[Edge]:
    """Edges of relation ``compacted`` and ``teammate``, one a pair and relation, in the order of the sessions."""
    found: dict[tuple[str, str, str], Edge] = {}
    for edge in (*_boundaries(state), *_transcripts_named(state), *_teammates(state)):
        if edge[0] != edge[1]:
            found.setdefault(edge[:3], edge)
    return sorted(found.values(), key=lambda e: (e[0], e[1]))


def _boundaries(state: State) -> Iterator[Edge]:
    """A compaction whose last line before it stands in another session."""
    before = {sid: orjson.loads(f["follows"]) for sid, f in state.facts.items() if f["follows"]}
    owners = _owners(state, {uuid for uuids in before.values() for uuid in uuids}) if before else {}
    for sid, uuids in before.items():
        for uuid in uuids:
            holders = owners.get(uuid, ())
            if holders and sid not in holders:
                yield holders[0], sid, "compacted", None, f"its compaction follows that session's line {uuid}"


def _transcripts_named(state: State) -> Iterator[Edge]:
    """A summary or plan that names the transcript in which what it leaves out can be read."""
    for sid, facts in state.facts.items():
        for named, what in orjson.loads(facts["continues"] or "{}").items():
            yield named, sid, "compacted", None, f"{what} names that session's transcript"


def _teammates(state: State) -> Iterator[Edge]:
    """A session whose lines name a team and its own name in it, and the session that started an agent of that name."""
    mates: dict[str, tuple[str, str]] = {}  # session -> team, name
    for row in _matching(state, "agentName", ["session_id", "extra", "is_subagent"]):
        own = _read(row["extra"])
        team, name = own.get("teamName"), own.get("agentName")
        if isinstance(team, str) and isinstance(name, str) and not row["is_subagent"] and name not in _LEADS:
            mates.setdefault(row["session_id"], (team, name))
    if not mates:
        return
    started: dict[tuple[str, str], tuple[str, str]] = {}
    for sid, call_id, name, team in _spawns(state):
        started.setdefault((team, name), (sid, call_id))
    for mate, named in mates.items():
        if named in started:
            lead, call_id = started[named]
            team, name = named
            yield lead, mate, "teammate", None, f"its lines say {name} of {team}, whom call {call_id} started"


def _spawns(state: State) -> Iterator[tuple[str, str, str, str]]:
    """Calls that started a teammate: session, call, its name, its team."""
    import pyarrow.compute as pc

    calls = state.spoken("tool_calls").select(["session_id", "tool_call_id", "result_data", "inherited_from"])
    told = pc.match_substring(calls["result_data"], "teammate_spawned").fill_null(False)
    for row in calls.filter(told).to_pylist():
        result = _read(row["result_data"])
        name, team = result.get("name"), result.get("team_name")
        if isinstance(name, str) and isinstance(team, str) and not row["inherited_from"]:
            yield row["session_id"], row["tool_call_id"], name, team


def _matching(state: State, key: str, columns: list[str]) -> list[dict[str, Any]]:
    """The messages whose further keys hold that one, as a text search finds them."""
    import pyarrow.compute as pc

    messages = state.spoken("messages").select(columns)  # not the texts
    hit = pc.match_substring(messages["extra"], f'"{key}":').fill_null(False)
    rows: list[dict[str, Any]] = messages.filter(hit).to_pylist()
    return rows


def _owners(state: State, uuids: Iterable[str]) -> dict[str, list[str]]:
    """The sessions that hold each line, the one that it belongs to first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    messages = state.spoken("messages").select(["session_id", "uuid", "inherited_from"])
    hit = pc.is_in(messages["uuid"], pa.array(sorted(uuids), pa.large_string()))
    found: dict[str, list[str]] = {}
    for row in messages.filter(hit).to_pylist():
        holders = found.setdefault(row["uuid"], [])
        holders.insert(0 if row["inherited_from"] is None else len(holders), row["session_id"])
    return found


def _read(text: str | None) -> dict[str, Any]:
    try:
        found = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
