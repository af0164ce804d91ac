"""Sums over each session of a batch: counts, tokens, cost, times. The rules of the sessions table, as array sums.

Inherited rows are in no sum; main and subagent work are summed apart. What metadata adds is `sessions`' business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionbank import schema
from sessionbank.records import ACTIVE_GAP_S
from sessionbank.transcripts.rows import as_json

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from sessionbank.tables.batch import Range

_CLASSES = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")


def facts(tables: dict[str, pa.Table], ranges: list[Range], agents: list[tuple[Any, ...]]) -> pa.Table:
    """The table `facts` of a batch: one row a session, in the order of `ranges`."""
    n = len(ranges)
    out: dict[str, list[Any]] = {"session_id": [r.session_id for r in ranges]}
    out["agent"] = [a[0] for a in agents]
    out["cwd"] = [a[1][0] for a in agents]
    out["agent_version"] = [a[1][1] for a in agents]
    out["follows"] = [as_json(a[1][2]) if a[1][2] else None for a in agents]
    out["foreign_ids"] = [as_json(a[2]) if a[2] else None for a in agents]
    out["continues"] = [as_json(a[4]) if a[4] else None for a in agents]
    out["compactions"] = [a[3] for a in agents]
    m = _Sums(tables["messages"], [r.rows["messages"] for r in ranges])
    own = ~m.present("inherited_from")
    main = own & ~m.flag("is_subagent")
    role, kind = m.table.column("role"), m.table.column("kind")
    out["message_count"] = m.count(main & (_is(role, "user") | _is(role, "assistant")))
    out["human_prompts"] = m.count(main & _is(kind, "prompt"))
    out["inherited_messages"] = m.count(~own)
    replies = m.count(main & _is(kind, "reply"))
    out["started_at"], out["ended_at"], out["active_s"] = _times(m, own)
    c = _Sums(tables["tool_calls"], [r.rows["tool_calls"] for r in ranges])
    own = ~c.present("inherited_from")
    sub = c.flag("is_subagent")
    out["tool_calls"] = c.count(own & ~sub)
    out["tool_errors"] = c.count(own & ~sub & _is(c.table.column("status"), "error"))
    out["subagent_tool_calls"] = c.count(own & sub)
    u = _Sums(tables["token_usage"], [r.rows["token_usage"] for r in ranges])
    own = ~u.present("inherited_from")
    sub = u.flag("is_subagent")
    for prefix, mask in (("", own & ~sub), ("subagent_", own & sub)):
        out[f"{prefix}api_calls"] = u.count(mask)
        calls = out[f"{prefix}api_calls"]
        for name in _CLASSES:  # where no call of a session states a class, its sum is not known
            stated = u.count(mask & u.present(name))
            sums = u.sum(name, mask)
            out[f"{prefix}{name}"] = [
                None if c and not k else v for v, k, c in zip(sums, stated, calls, strict=True)
            ]
        priced = mask & u.present("cost_usd")
        some = u.count(priced)
        cost = u.total("cost_usd", priced)
        out[f"{prefix}cost_usd"] = [float(v) if k else None for v, k in zip(cost, some, strict=True)]
    out["uncosted_calls"] = u.count(own & ~u.present("cost_usd"))
    out["models"] = _models(u, own)
    unread = [a[0] == "unknown" for a in agents]  # lines are kept as they are: nothing in them is counted
    for name in ("message_count", "human_prompts", "tool_calls", "tool_errors", "subagent_tool_calls"):
        out[name] = [None if u else v for v, u in zip(out[name], unread, strict=True)]
    out["tool_calls"] = [
        None if a[0] == "plugin" else v for v, a in zip(out["tool_calls"], agents, strict=True)
    ]
    out["tool_errors"] = [
        None if a[0] == "plugin" else v for v, a in zip(out["tool_errors"], agents, strict=True)
    ]
    replies = [r or u for r, u in zip(replies, unread, strict=True)]
    unmeasured = [r and not c for r, c in zip(replies, out["api_calls"], strict=True)]
    for at in range(n):  # replies that no usage is recorded of: neither calls nor tokens are known
        for name in ("api_calls", *_CLASSES):
            if unmeasured[at]:
                out[name][at] = None
    for at in range(n):  # where nothing could be read, nothing was counted
        if agents[at][0] is None:
            for name, column in out.items():
                if name != "session_id":
                    column[at] = None
    order = schema.table("facts").columns
    return schema.arrow_table("facts", list(zip(*(out[c] for c in order), strict=True)))


class _Sums:
    """Sums of a table's columns over runs of rows."""

    def __init__(self, table: pa.Table, runs: list[tuple[int, int]]) -> None:
        import numpy as np

        self.table = table
        self.begin = np.array([r[0] for r in runs], dtype="int64")
        self.end = self.begin + np.array([r[1] for r in runs], dtype="int64")

    def present(self, column: str) -> np.ndarray[Any, Any]:
        import numpy as np

        return np.asarray(self.table.column(column).is_valid())

    def flag(self, column: str) -> np.ndarray[Any, Any]:
        return self.table.column(column).to_numpy(zero_copy_only=False).astype(bool)

    def count(self, mask: np.ndarray[Any, Any]) -> list[int]:
        return [int(v) for v in self._runs(mask.astype("int64"))]

    def sum(self, column: str, mask: np.ndarray[Any, Any]) -> list[int]:
        values = self.table.column(column).fill_null(0).to_numpy()
        return [int(v) for v in self._runs(values * mask)]

    def total(self, column: str, mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Sums of a float column, each run added up by itself: a difference of running sums would leave a rounding."""
        import numpy as np

        values = np.where(mask, self.table.column(column).to_numpy(zero_copy_only=False), 0.0)
        return np.array([values[b:e].sum() for b, e in zip(self.begin, self.end, strict=True)])

    def _runs(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        import numpy as np

        running = np.concatenate([[0], np.cumsum(values)])
        return running[self.end] - running[self.begin]


def _is(column: pa.ChunkedArray, value: str) -> np.ndarray[Any, Any]:
    import numpy as np
    import pyarrow.compute as pc

    return np.asarray(pc.equal(column, value).fill_null(False))


def _times(m: _Sums, own: np.ndarray[Any, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    import numpy as np

    stamps = m.table.column("timestamp").cast("int64").fill_null(-1).to_numpy()
    good = own & (stamps >= 0)
    started: list[Any] = []
    ended: list[Any] = []
    active: list[Any] = []
    for b, e in zip(m.begin, m.end, strict=True):
        here = np.sort(stamps[b:e][good[b:e]])
        if not len(here):
            started.append(None)
            ended.append(None)
            active.append(None)
            continue
        gaps = np.minimum(np.diff(here), ACTIVE_GAP_S * 1_000_000)
        started.append(int(here[0]))
        ended.append(int(here[-1]))
        active.append(float(gaps.sum()) / 1e6)
    return started, ended, active


def _models(u: _Sums, own: np.ndarray[Any, Any]) -> list[Any]:
    names = u.table.column("model").to_pylist()
    found: list[Any] = []
    for b, e in zip(u.begin.tolist(), u.end.tolist(), strict=True):
        counts: dict[str, int] = {}
        for at in range(b, e):
            if own[at] and names[at]:
                counts[names[at]] = counts.get(names[at], 0) + 1
        found.append(as_json(sorted(counts, key=lambda k: (-counts[k], k))) if counts else None)
    return found
