"""The picture of a team's run in time: a lane a member, what it did, and the hand-overs between lanes.

Frames of `sessionbank.team` are drawn; nothing is measured here. Names come from transcripts and are drawn as plain
text, cut to fit. Other pictures of teams are in `team`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# pale enough that the hand-overs drawn over them are seen; they differ in lightness too
_STATES = {"work": "#8FA3B5", "waiting": "#F6DFB0", "idle": style.FAINT}
_NAME = 18  # characters of a member's name that fit beside a lane
MAX_ARROWS = 400  # more hand-overs than this hide the lanes; the first are drawn and the title says so


def team_timeline_data(
    time: pd.DataFrame, interactions: pd.DataFrame | None = None
) -> dict[str, pd.DataFrame]:
    """What `team_timeline` draws: frames ``lanes``, ``pieces`` and ``handovers``, with minutes since the first piece.

    `time` is what `team.member_time` gives, `interactions` the frame of `team.metrics`. Members whose steps no
    transcript holds have a lane too (has_steps is False), where a hand-over names them. Hand-overs with a known time of
    sending are kept, but for those to everyone; one that no step received arrives where it was sent.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sorted(sb.plot.team_timeline_data(sb.team.member_time(crew), sb.team.metrics(crew).interactions))
        ['handovers', 'lanes', 'pieces']
    """
    import pandas as pd

    from sessionbank.team.model import EVERYONE

    style.need(time, ["agent_id", "kind", "begin", "end"], "team.member_time()")
    start = time["begin"].min()

    def minutes(column: pd.Series[Any]) -> pd.Series[Any]:
        return (column - start).dt.total_seconds() / 60

    pieces = time.assign(begin_min=minutes(time["begin"]), end_min=minutes(time["end"]))
    if interactions is None:
        return {
            "lanes": _lanes(time["agent_id"], []),
            "pieces": pieces,
            "handovers": pd.DataFrame(
                columns=["from_agent", "to_agent", "type", "sent_min", "received_min", "is_received"]
            ),
        }
    style.need(
        interactions,
        ["from_agent", "to_agent", "type", "sent_at", "received_at"],
        "team.metrics().interactions",
    )
    ends = interactions[["from_agent", "to_agent"]]
    shown = interactions[
        interactions["sent_at"].notna()
        & (ends["from_agent"] != ends["to_agent"])
        & (ends != EVERYONE).all(axis=1)
    ]
    sent = minutes(shown["sent_at"])
    received = minutes(shown["received_at"]).fillna(sent)
    return {
        "lanes": _lanes(time["agent_id"], shown[["from_agent", "to_agent"]].to_numpy().ravel().tolist()),
        "pieces": pieces,
        "handovers": shown.assign(
            sent_min=sent, received_min=received, is_received=shown["received_at"].notna()
        ),
    }


def _lanes(seen: pd.Series[Any], named: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    own = list(dict.fromkeys(seen))
    names = list(dict.fromkeys([*own, *named]))
    return pd.DataFrame({"agent_id": names, "has_steps": [n in set(own) for n in names]})


def team_timeline(
    time: pd.DataFrame, interactions: pd.DataFrame | None = None, *, ax: Axes | None = None
) -> Axes:
    """A lane a member along the run: work, waiting and idling, and a line for each hand-over.

    The lane of a member without own steps in the transcripts is empty and says so.

    Frames as in `team_timeline_data`; a hand-over that nobody received ends in a cross. Gives the axes.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.team_timeline(sb.team.member_time(crew), sb.team.metrics(crew).interactions).get_title(loc="left")
        'Team timeline: work, waiting, hand-overs'
    """
    title = "Team timeline"
    if not len(time):
        return style.nothing(style.axes(ax), "no step has a time", title=title)
    data = team_timeline_data(time, interactions)
    pieces, hand = data["pieces"], data["handovers"]
    lanes = data["lanes"]["agent_id"].tolist()
    unseen = set(data["lanes"].loc[~data["lanes"]["has_steps"], "agent_id"])
    place = {name: k for k, name in enumerate(lanes)}
    ax = style.axes(ax, size=(9.2, 1.5 + (0.5 if len(lanes) <= 12 else 0.24) * len(lanes)))
    for kind, tone in _STATES.items():
        mine = pieces[pieces["kind"] == kind]
        ax.barh(
            [place[a] for a in mine["agent_id"]],
            mine["end_min"] - mine["begin_min"],
            left=mine["begin_min"],
            height=0.34 if kind == "idle" else 0.62,
            color=tone,
            linewidth=0,
            label=kind if len(mine) else None,
            zorder=2,
        )
    crowded = len(hand) > 60
    first = hand.sort_values("sent_min").head(MAX_ARROWS)
    labelled: set[str] = set()
    for e in first.to_dict("records"):
        tone = style.colour("interaction", e["type"])
        a, b = (e["sent_min"], place[e["from_agent"]]), (e["received_min"], place[e["to_agent"]])
        label = None if e["type"] in labelled else e["type"]
        labelled.add(e["type"])
        ax.plot(
            [a[0], b[0]],
            [a[1], b[1]],
            color=tone,
            linewidth=0.8 if crowded else 1.3,
            alpha=0.7 if crowded else 0.95,
            label=label,
            zorder=3,
        )
        mark: dict[str, Any] = {"marker": "X", "markersize": 7, "markeredgecolor": "white"}
        if e["is_received"]:
            mark = {"marker": "o", "markersize": 2.5 if crowded else 4, "markeredgecolor": tone}
        ax.plot([b[0]], [b[1]], color=tone, markeredgewidth=0.6, zorder=4, **mark)
    ax.set_yticks(
        range(len(lanes)),
        [style.plain(name, width=_NAME) + (" (no steps)" if name in unseen else "") for name in lanes],
    )
    ax.set_ylim(len(lanes) - 0.4, -0.6)
    lost = int((~hand["is_received"].astype(bool)).sum()) if len(hand) else 0
    cut = f", first {MAX_ARROWS} hand-overs of {len(hand)}" if len(hand) > MAX_ARROWS else ""
    words = (
        f"Swimlanes of {len(lanes)} members over {pieces['end_min'].max():.1f} minutes with {len(first)} hand-overs, "
        f"{lost} not seen to arrive; {len(unseen)} members without steps in the transcripts."
    )
    style.dress(
        ax,
        title=f"{title}: work, waiting, hand-overs{cut}",
        x="minutes since the first step",
        grid="x",
        words=words,
    )
    style.legend(ax)
    return ax
