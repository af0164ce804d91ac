"""Edges that two sessions tell of, as one: what a sender's session records and what the receiver's shows.

The sender's edge is kept, with the step that receives it. A peer edge inferred from an idle notification gives way to
the message that the peer's own session records. Which sessions belong together is `loose`' business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sessionbank.team.events import Event, milliseconds
from sessionbank.team.model import EVERYONE, Interaction

Edge = tuple[Interaction, Event]
Key = tuple[Any, ...]


def once(edges: list[Edge]) -> list[Edge]:
    """The edges by time, each once; edges of one session are never merged with each other."""
    order = sorted(range(len(edges)), key=lambda i: (_time(edges[i][0]), i))
    gone = set(_peers(edges, order))
    sent: dict[Key, list[int]] = {}
    for i in order:
        if edges[i][0].evidence not in ("teammate_message", "idle_summary"):
            for key in _sent_as(*edges[i]):
                sent.setdefault(key, []).append(i)
    merged: dict[int, Edge] = {}
    used: set[int] = set()
    for i in order:
        edge, event = edges[i]
        if edge.evidence != "teammate_message":
            continue
        found = next(
            (
                j
                for key in _received_as(edge, event)
                for j in sent.get(key, ())
                if edges[j][0].session_id != edge.session_id
                and (j not in used or edges[j][0].to_agent == EVERYONE)
            ),
            None,
        )
        if found is None:
            continue
        gone.add(i)
        used.add(found)
        first, source = merged.get(found, edges[found])
        if first.to_agent == EVERYONE:
            continue  # each receiver has a copy of a broadcast, which is one edge
        latency = first.latency_ms if first.type == "spawn" else milliseconds(first.timestamp, edge.timestamp)
        merged[found] = (replace(first, to_step=edge.to_step, latency_ms=latency), source)
    return [merged.get(i, edges[i]) for i in order if i not in gone]


def _time(edge: Interaction) -> tuple[bool, float]:
    return (edge.timestamp is None, edge.timestamp.timestamp() if edge.timestamp else 0.0)


def _peers(edges: list[Edge], order: list[int]) -> Iterator[int]:
    """Inferred peer edges that another session records: each stands for the last free message before it."""
    free: dict[tuple[str, str], list[int]] = {}
    for i in order:
        edge = edges[i][0]
        pair = (edge.from_agent, edge.to_agent)
        if edge.subtype == "message" and edge.evidence == "tool_result":
            free.setdefault(pair, []).append(i)
        elif edge.evidence == "idle_summary":
            for j in reversed(free.get(pair, [])):
                if edges[j][0].session_id != edge.session_id:
                    free[pair].remove(j)
                    yield i
                    break


def _sent_as(edge: Interaction, event: Event) -> Iterator[Key]:
    if edge.subtype in ("message", "broadcast"):
        yield ("message", edge.from_agent, edge.to_agent, _plain(edge.content))
    elif edge.subtype == "teammate":
        yield ("spawn", edge.from_agent, edge.to_agent, _plain(edge.content))
    elif edge.subtype == "shutdown_request":
        yield ("shutdown_request", edge.from_agent, edge.to_agent, event.about)
    elif edge.subtype == "shutdown_response":
        yield ("shutdown_end", edge.from_agent, event.about)
    elif edge.subtype == "task_owner":
        yield ("task", edge.to_agent, event.about)


def _received_as(edge: Interaction, event: Event) -> Iterator[Key]:
    """What the sender's session may call it, the closest first."""
    if edge.subtype == "incoming_text":
        said = _plain(edge.content)
        yield ("message", edge.from_agent, edge.to_agent, said)
        yield ("spawn", edge.from_agent, edge.to_agent, said)
        yield ("message", edge.from_agent, EVERYONE, said)
    elif edge.subtype == "shutdown_request":
        yield ("shutdown_request", edge.from_agent, edge.to_agent, event.about)
    elif edge.subtype == "shutdown_approved":
        yield ("shutdown_end", edge.from_agent, event.about)
    elif edge.subtype == "task_assignment":
        yield ("task", edge.to_agent, event.about)


def _plain(content: str | None) -> str:
    return " ".join((content or "").split())
