"""What API calls cost, by genai-prices: offline, at the price of the call's date.

Rates are resolved once a model and day, and whole columns multiplied; models with tiers are priced call by call. A
model without a known price costs nothing known: missing, never zero.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_CLASSES = ("input", "cache_creation", "cache_creation_1h", "cache_read", "output")
_MILLION = 1_000_000


@lru_cache(maxsize=4096)
def _rates(model: str, day: date) -> tuple[float, ...] | str | None:
    """USD a token for each of `_CLASSES`; the name to price by where the model has tiers; None without a price."""
    from genai_prices.types import TieredPrices

    for name in _names(model):
        try:
            plain = _priced(name, day, {"input_tokens": _MILLION})
        except (LookupError, ValueError):
            continue
        if any(isinstance(v, TieredPrices) for v in vars(plain.model_price).values()):
            return name
        parts = ({"input_tokens": _MILLION}, {"input_tokens": _MILLION, "cache_write_tokens": _MILLION},
                 {"input_tokens": _MILLION, "cache_write_tokens": _MILLION, "cache_write_1h_tokens": _MILLION},
                 {"input_tokens": _MILLION, "cache_read_tokens": _MILLION}, {"output_tokens": _MILLION})  # fmt: skip
        return tuple(float(_priced(name, day, p).total_price) / _MILLION for p in parts)
    return None


def _names(model: str) -> list[str]:
    """The model's name as recorded, then without what gateways put around it; never a shorter name of another model."""
    bare = re.sub(r"\[[^\]]*\]$", "", model.strip())
    tail = bare.rsplit("/", 1)[-1]
    return list(dict.fromkeys(n for n in (model, bare, tail, tail.replace(".", "-")) if n))


def _priced(model: str, day: date, counts: dict[str, int]) -> Any:
    from genai_prices import Usage, calc_price

    return calc_price(Usage(**counts), model_ref=model, genai_request_timestamp=datetime(day.year, day.month, day.day))


def version() -> str:
    """The version of the price list."""
    from importlib.metadata import version as installed

    return installed("genai-prices")


def costs(usage: pa.Table) -> np.ndarray[Any, Any]:
    """USD of each row of a token_usage table; NaN where model, time, counts or price are unknown."""
    import numpy as np

    n = len(usage)
    counts = {c: _filled(usage, f"{c}_tokens") for c in _CLASSES}
    found = np.full(n, np.nan)
    known = ~_null(usage, "total_tokens") & ~_null(usage, "timestamp") & ~_null(usage, "model")
    if not known.any():
        return found
    models = usage.column("model").combine_chunks().dictionary_encode()
    codes = models.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    days = usage.column("timestamp").cast("int64").fill_null(0).to_numpy() // 86_400_000_000
    keys = np.stack([codes[known], days[known]], axis=1)
    pairs, which = np.unique(keys, axis=0, return_inverse=True)
    rows = np.flatnonzero(known)
    names = models.dictionary.to_pylist()
    for at, (code, day) in enumerate(pairs):
        here = rows[which.reshape(-1) == at]
        day_ = date(1970, 1, 1).fromordinal(719163 + int(day))
        rate = _rates(names[int(code)], day_)
        if rate is None:
            continue
        if isinstance(rate, str):
            for row in here:
                found[row] = _one(rate, day_, {c: int(v[row]) for c, v in counts.items()})
            continue
        short = counts["cache_creation"][here] - counts["cache_creation_1h"][here]
        found[here] = (
            counts["input"][here] * rate[0] + np.maximum(short, 0) * rate[1] + counts["cache_creation_1h"][here] * rate[2]
            + counts["cache_read"][here] * rate[3] + counts["output"][here] * rate[4]
        )  # fmt: skip
    return found


def _one(name: str, day: date, counts: dict[str, int]) -> float:
    whole = {
        "input_tokens": counts["input"] + counts["cache_creation"] + counts["cache_read"],  # theirs includes cache
        "cache_write_tokens": counts["cache_creation"],
        "cache_write_1h_tokens": min(counts["cache_creation_1h"], counts["cache_creation"]),
        "cache_read_tokens": counts["cache_read"],
        "output_tokens": counts["output"],
    }
    return float(_priced(name, day, {k: v for k, v in whole.items() if v}).total_price)


def _filled(table: pa.Table, column: str) -> np.ndarray[Any, Any]:
    return table.column(column).fill_null(0).to_numpy().astype("float64")


def _null(table: pa.Table, column: str) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.asarray(table.column(column).is_null())
