"""What survives compression: the share of later used identifiers that still stand in their own line or sentence.

An identifier counts when an inner step holds it and the agent writes it again in a later step (thought or arguments).
It survives when the compressed inner steps hold it inside a whole line (of long lines: a whole sentence) of one of the
agent's original inner steps. A bare list of words therefore scores nothing by that rule, though it would score full
marks if words were enough: both figures are given, for it and for lines dropped at random to the same size. Text is
compared here, nothing is compressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from sessionbank.team import fold
from sessionbank.team.compress import Compressed, CompressionConfig, compress, is_boundary
from sessionbank.team.fold import Work
from sessionbank.team.identifiers import TOKEN_CHARS, identifiers, lines

if TYPE_CHECKING:
    import pandas as pd

    from sessionbank.team.actions import StepLike

METHODS = ("compressed", "identifier list", "random lines")
COLUMNS = {
    "method": "str", "agent_id": "str", "tokens": "Int64", "original_tokens": "Int64", "later_used": "Int64",
    "surviving": "Int64", "survival": "float64", "surviving_bare": "Int64", "survival_bare": "float64",
}  # fmt: skip
SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4)


def survival(compressed: Compressed, *, seed: int = 0) -> pd.DataFrame:
    """One row a method and agent: how many later used identifiers of its inner steps survive, and at what size.

    Methods: compressed; identifier list (the bare words, as many as fit: the cheat); random lines (original lines of
    inner steps, drawn with `seed` until the size of the compressed inner steps is reached). tokens: size of the inner
    steps by that method; surviving: inside an original line or sentence; surviving_bare: anywhere. Agents without
    later used identifiers are in it with 0 and a missing share.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.team.survival(sb.team.compress(run))["method"].unique().tolist()
        ['compressed', 'identifier list', 'random lines']
    """
    entries = compressed.entries
    inner_text: dict[str, list[str]] = {}
    for agent, kind, text in zip(entries["agent_id"], entries["kind"], entries["text"], strict=True):
        if kind != "boundary":
            inner_text.setdefault(agent, []).append(text)
    rows: list[tuple[Any, ...]] = []
    config = compressed.config
    for agent, steps in compressed.steps.items():
        rows.extend(
            _agent_rows(
                agent, steps, "\n".join(inner_text.get(agent, ())), seed=seed,
                keep_edges=config.preserve_interaction_boundaries, patterns=config.strip_patterns,
            )
        )  # fmt: skip
    rows.sort(key=lambda r: METHODS.index(r[0]))
    from sessionbank.team.metrics import typed_frame

    return typed_frame(rows, COLUMNS)


def survival_totals(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of `survival` added up, one row a method: tokens, later_used, surviving and the shares of the sums.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> kept = sb.team.survival_totals(sb.team.survival(sb.team.compress(run)))
        >>> kept.set_index("method")["survival"].round(2).to_dict()
        {'compressed': 1.0, 'identifier list': 0.0, 'random lines': 0.0}
    """
    sums = frame.groupby("method", sort=False)[
        ["tokens", "original_tokens", "later_used", "surviving", "surviving_bare"]
    ].sum()
    used = sums["later_used"].astype("float64").where(sums["later_used"] > 0)
    sums["survival"] = sums["surviving"].astype("float64") / used
    sums["survival_bare"] = sums["surviving_bare"].astype("float64") / used
    sums["size"] = sums["tokens"].astype("float64") / sums["original_tokens"].astype("float64").where(
        sums["original_tokens"] > 0
    )
    return sums.reset_index()


def frontier(
    source: Any, config: CompressionConfig | None = None, *, shares: Iterable[float] = SHARES
) -> pd.DataFrame:
    """Size against what survives: `survival_totals` at each of the `shares` of the inner steps' tokens.

    The budget an agent is set aside, so that the share alone decides. One row a share and method; column inner_share
    is what was asked for, size what came out.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> curve = sb.team.frontier(run, shares=(0.05, 0.2))
        >>> curve[curve["method"] == "compressed"][["inner_share", "survival"]].round(2).values.tolist()
        [[0.05, 0.0], [0.2, 1.0]]
    """
    import dataclasses

    import pandas as pd

    config = config or CompressionConfig()
    frames = []
    for share in shares:
        free = dataclasses.replace(config, inner_share=share, max_tokens_per_agent=1 << 40, summarise=None)
        totals = survival_totals(survival(compress(source, free)))
        totals.insert(0, "inner_share", share)
        frames.append(totals)
    return pd.concat(frames, ignore_index=True)


def _agent_rows(
    agent: str,
    steps: Sequence[StepLike],
    text: str,
    *,
    keep_edges: bool,
    patterns: tuple[str, ...],
    seed: int,
) -> Iterable[tuple[Any, ...]]:
    boundary = [keep_edges and is_boundary(s) for s in steps]
    work = Work(steps, boundary, ())
    held = fold.used_later(work)
    used: set[str] = set().union(*held.values()) if held else set()
    original = [line for at in work.inner for line in work.lines(at)]
    # Stripping may change a line that it matches in part; what is left of it is still that line.
    work.patterns = patterns
    known = {*original, *(line for at in held for line in work.lines(at))}
    size = sum(len(fold.whole(steps[at], with_thought=not work.shared_thought(at))) for at in work.inner)
    for method, candidate in (
        ("compressed", text),
        ("identifier list", _fitted(sorted(used), len(text))),
        ("random lines", _fitted(Random(f"{seed}/{agent}").sample(original, len(original)), len(text))),
    ):
        present = {line for line in lines(candidate) if line in known}
        surviving = len(used & set().union(*map(identifiers, present))) if present else 0
        bare = len(used & identifiers(candidate))
        yield (
            method, agent, -(-len(candidate) // TOKEN_CHARS), -(-size // TOKEN_CHARS), len(used), surviving,
            surviving / len(used) if used else None, bare, bare / len(used) if used else None,
        )  # fmt: skip


def _fitted(pieces: Iterable[str], room: int) -> str:
    """The pieces, a line each, as many as fit into `room` characters; one that does not fit is passed over."""
    taken = []
    for piece in pieces:
        if len(piece) + 1 <= room:
            taken.append(piece)
            room -= len(piece) + 1
    return "\n".join(taken)
