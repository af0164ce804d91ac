"""What API calls cost, by genai-prices: offline, at the price of the call's date.

Rates are resolved once a price, and whole columns multiplied; where a price has tiers, each call by its own size. A
model without a known price costs nothing known: missing, never zero.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_CLASSES = ("input", "cache_creation", "cache_creation_1h", "cache_read", "output")
_MILLION = 1_000_000


@lru_cache(maxsize=1024)
def _model(name: str) -> Any:
    """The price list's model for a recorded name, or None."""
    from genai_prices import Usage, calc_price

    for candidate in _names(name):
        try:
            return calc_price(Usage(input_tokens=1), model_ref=candidate).model
        except (LookupError, ValueError):
            continue
    return None


_BANDS: dict[
    int, tuple[Any, list[tuple[int, tuple[float, ...]]]]
] = {}  # id of a price -> the price, its bands


def _bands(price: Any) -> list[tuple[int, tuple[float, ...]]]:
    """USD a token for each of `_CLASSES`, by the size of the call: (more input tokens than, rates), smallest first.

    Most prices have one band. In a tiered one the call's whole input, cache included, decides for all its tokens.
    """
    from genai_prices.types import ModelPrice, TieredPrices

    if id(price) not in _BANDS:
        stated = {k: v for k, v in vars(price).items() if v is not None}
        tiered = [v for v in stated.values() if isinstance(v, TieredPrices)]
        starts = sorted({t.start for v in tiered for t in v.tiers})
        found = []
        for start in (-1, *starts):
            flat = {k: _at(v, start) if isinstance(v, TieredPrices) else v for k, v in stated.items()}
            found.append((start, _rates(ModelPrice(**flat))))
        _BANDS[id(price)] = (price, found)
    return _BANDS[id(price)][1]


def _at(tiers: Any, start: int) -> Any:
    return next((t.price for t in reversed(tiers.tiers) if start >= t.start), tiers.base)


def _rates(price: Any) -> tuple[float, ...]:
    parts = ({"input_tokens": _MILLION}, {"input_tokens": _MILLION, "cache_write_tokens": _MILLION},
             {"input_tokens": _MILLION, "cache_write_tokens": _MILLION, "cache_write_1h_tokens": _MILLION},
             {"input_tokens": _MILLION, "cache_read_tokens": _MILLION}, {"output_tokens": _MILLION})  # fmt: skip
    return tuple(_usd(price, p) / _MILLION for p in parts)


def _names(model: str) -> list[str]:
    """The model's name as recorded, then without what gateways put around it; never a shorter name of another model."""
    bare = re.sub(r"\[[^\]]*\]$", "", model.strip())
    tail = bare.rsplit("/", 1)[-1]
    return list(dict.fromkeys(n for n in (model, bare, tail, tail.replace(".", "-")) if n))


def _usd(price: Any, counts: dict[str, int]) -> float:
    from genai_prices import Usage

    return float(price.calc_price(Usage(**counts))["total_price"])


@cache
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
        model = _model(names[int(code)])
        if model is None:
            continue
        here = rows[which.reshape(-1) == at]
        price = model.get_prices(datetime.fromtimestamp(int(day) * 86_400, UTC))
        short = np.maximum(counts["cache_creation"][here] - counts["cache_creation_1h"][here], 0)
        hour = np.minimum(counts["cache_creation_1h"][here], counts["cache_creation"][here])
        size = counts["input"][here] + counts["cache_creation"][here] + counts["cache_read"][here]
        for start, rate in _bands(price):
            usd = (
                counts["input"][here] * rate[0] + short * rate[1] + hour * rate[2] + counts["cache_read"][here] * rate[3]
                + counts["output"][here] * rate[4]
            )  # fmt: skip
            found[here] = np.where(size > start, usd, found[here])
    return found


def _filled(table: pa.Table, column: str) -> np.ndarray[Any, Any]:
    return table.column(column).fill_null(0).to_numpy().astype("float64")


def _null(table: pa.Table, column: str) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.asarray(table.column(column).is_null())
