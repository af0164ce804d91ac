"""Which session comes from which: edges inferred from lines that two sessions share, and those that agents record.

A session that repeats another's lines and goes on is `resumed` where the other ends there, `forked` where the other
goes on as well. What some agents record themselves comes after it; what Claude Code's lines tell of sessions without
shared lines is worked out in `continued`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from sessionbank.tables.continued import continued
from sessionbank.tables.state import State


def lineage_rows(state: State) -> list[tuple[Any, ...]]:
    """Rows in schema order."""
    import pyarrow.compute as pc

    told = _told(state)
    columns = ["session_id", "inherited_from", "uuid", "seq"]
    messages = state.spoken("messages").select(columns)
    copied = messages.filter(pc.is_valid(messages["inherited_from"])).to_pylist()
    shared = Counter((r["inherited_from"], r["session_id"]) for r in copied)
    last_shared: dict[tuple[str, str], str] = {}
    for r in copied:
        last_shared[r["inherited_from"], r["session_id"]] = r["uuid"]
    ends = _last_spoken(state, {pair[0] for pair in shared})
    rows = []
    for (origin, copy), count in sorted(shared.items()):
        relation = "resumed" if ends.get(origin) == last_shared[origin, copy] else "forked"
        rows.append((origin, copy, relation, count, f"{count} lines with the same uuid"))
    rows += [row for row in told if (row[0], row[1]) not in shared]
    return rows + continued(state)


# What agents record of where a session comes from: keys of a header line -> relation.
_HEADERS = {
    "parentID": "spawned",
    "subagent": "spawned",
    "forked_from_id": "forked",
    "parentSession": "forked",
}


def _told(state: State) -> list[tuple[Any, ...]]:
    """Edges that agents record themselves: OpenCode's child sessions, Codex's and Pi's forks."""
    import orjson
    import pyarrow as pa
    import pyarrow.compute as pc

    parents = {}
    for sid, facts in state.facts.items():
        if facts["foreign_ids"] and facts["agent"] != "claude-code":
            parents[sid] = next(iter(orjson.loads(facts["foreign_ids"])))
    if not parents:
        return []
    messages = state.spoken("messages").select(["session_id", "extra"])
    messages = messages.filter(pc.is_in(messages["session_id"], pa.array(sorted(parents), pa.large_string())))
    rows = []
    for key, relation in _HEADERS.items():
        hit = pc.match_substring(messages["extra"], f'"{key}":').fill_null(False)
        told = dict.fromkeys(messages.filter(hit)["session_id"].to_pylist())
        why = f"the session's own header names it ({key})"
        rows += [(parents.pop(sid), sid, relation, None, why) for sid in told if sid in parents]
    return rows


def _last_spoken(state: State, sessions: set[str]) -> dict[str, str]:
    """The last line with a uuid of each session that says something."""
    import pyarrow as pa
    import pyarrow.compute as pc

    messages = state.spoken("messages").select(["session_id", "uuid", "role"])
    theirs = pc.is_in(messages["session_id"], pa.array(sorted(sessions), pa.large_string()))
    spoken = pc.is_in(messages["role"], pa.array(["user", "assistant"], pa.large_string()))
    messages = messages.filter(pc.and_(pc.and_(theirs, spoken), pc.is_valid(messages["uuid"])))
    return dict(zip(messages["session_id"].to_pylist(), messages["uuid"].to_pylist(), strict=True))
