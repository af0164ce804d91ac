"""A team as a graph of networkx, and its edges counted by type. Figures of the whole graph are `metrics`' business."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionbank.team.model import EVERYONE, NOT_AGENTS, Interaction, Team

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

_NODE = (
    "role",
    "agent_type",
    "model",
    "session_id",
    "steps",
    "tool_calls",
    "tokens",
    "outcome",
    "is_lead",
    "is_declared",
)
_EDGE = (
    "type", "subtype", "from_step", "to_step", "content", "channel", "signal", "timestamp", "latency_ms", "ok",
    "was_expected", "is_inferred", "evidence", "tokens",
)  # fmt: skip


def to_networkx(team: Team, *, collapse: bool = False) -> nx.MultiDiGraph | nx.DiGraph:
    """The team as a directed graph: a node an agent, an edge an interaction with its id as key.

    Nodes have the columns of ``members`` and `kind`: agent, everyone (receiver of broadcasts and of the task board),
    system, or absent (an agent that is named and not a member: it never started, or is not of this team). Edges have
    the columns of ``interactions``. With `collapse`, a plain `DiGraph` instead: one edge a pair of agents with
    `weight` (interactions) and `types` (a dict of counts).

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> graph = sb.team.to_networkx(run, collapse=True)
        >>> graph["team-lead"]["reviewer"]["weight"]
        4
    """
    import networkx as nx

    graph: nx.MultiDiGraph = nx.MultiDiGraph(name=team.name or team.id)
    for member in team.member_list:
        graph.add_node(member.agent_id, kind="agent", **{k: getattr(member, k) for k in _NODE})
    for edge in team.interaction_list:
        for agent in (edge.from_agent, edge.to_agent):
            if agent not in graph:
                graph.add_node(agent, kind=_kind(agent))
        graph.add_edge(
            edge.from_agent, edge.to_agent, key=edge.interaction_id, **{k: getattr(edge, k) for k in _EDGE}
        )
    return _collapsed(graph) if collapse else graph


def _kind(agent: str) -> str:
    if agent in NOT_AGENTS:
        return "everyone" if agent == EVERYONE else "system" if agent == "system" else "absent"
    return "absent"


def _collapsed(graph: nx.MultiDiGraph) -> nx.DiGraph:
    import networkx as nx

    plain: nx.DiGraph = nx.DiGraph(name=graph.graph["name"])
    plain.add_nodes_from(graph.nodes(data=True))
    for source, target, data in graph.edges(data=True):
        if not plain.has_edge(source, target):
            plain.add_edge(source, target, weight=0, types={})
        held: dict[str, Any] = plain.edges[source, target]
        held["weight"] += 1
        held["types"][data["type"]] = held["types"].get(data["type"], 0) + 1
    return plain


def edges_by_type(team: Team) -> pd.DataFrame:
    """Edges counted by type and subtype, most frequent first.

    Columns: type, subtype, edges, ok, failed, inferred, expected, emergent (whole numbers; ok and failed leave out
    what nothing tells of, expected and emergent what is not judged), median_latency_ms (missing without a latency),
    first_at, last_at.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.team.edges_by_type(run).loc[:1, ["type", "subtype", "edges"]].values.tolist()
        [['signal', 'idle', 12], ['message', 'incoming_text', 7]]
    """
    import pandas as pd

    groups: dict[tuple[str, str | None], list[Interaction]] = {}
    for edge in team.interaction_list:
        groups.setdefault((edge.type, edge.subtype), []).append(edge)
    rows = []
    for (kind, subtype), edges in sorted(groups.items(), key=lambda g: (-len(g[1]), g[0][0], g[0][1] or "")):
        times = [e.timestamp for e in edges if e.timestamp is not None]
        waits = sorted(e.latency_ms for e in edges if e.latency_ms is not None)
        middle = len(waits) // 2
        median = (
            None
            if not waits
            else waits[middle]
            if len(waits) % 2
            else (waits[middle - 1] + waits[middle]) // 2
        )
        rows.append((
            kind, subtype, len(edges), sum(e.ok is True for e in edges), sum(e.ok is False for e in edges),
            sum(e.is_inferred for e in edges), sum(e.was_expected is True for e in edges),
            sum(e.was_expected is False for e in edges), median, min(times, default=None), max(times, default=None),
        ))  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(_BY_TYPE))
    return frame.astype(_BY_TYPE)


_BY_TYPE = {
    "type": "str", "subtype": "str", "edges": "Int64", "ok": "Int64", "failed": "Int64", "inferred": "Int64",
    "expected": "Int64", "emergent": "Int64", "median_latency_ms": "Int64", "first_at": "datetime64[us, UTC]",
    "last_at": "datetime64[us, UTC]",
}  # fmt: skip
