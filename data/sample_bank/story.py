"""The story in order: the project begins, then month by month. What happened is in the chapters that it calls."""

from __future__ import annotations

from . import (
    april,
    april_end,
    april_refs,
    february,
    february_end,
    february_last,
    february_money,
    march,
    march_end,
    march_middle,
)
from .ids import parse
from .shopcode import FILES
from .world import World

CHAPTERS = (
    february,
    february_money,
    february_end,
    february_last,
    march,
    march_middle,
    march_end,
    april,
    april_refs,
    april_end,
)


def tell(world: World) -> None:
    """Tell everything; the world holds it afterwards. The order is the order of the code's history."""
    world.code.trees["main"] = dict(FILES)
    world.code.commit("main", "ada", parse("2026-01-30T15:00"), message="Start of the shop")
    for chapter in CHAPTERS:
        for part in chapter.PARTS:
            part(world)
