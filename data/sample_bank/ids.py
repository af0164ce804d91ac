"""Deterministic ids and clocks. No randomness that is not seeded by a name, no wall clock.

Does not know what the ids are for.
"""

from __future__ import annotations

import hashlib
import random
from datetime import UTC, datetime, timedelta

BASE62 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


class Ids:
    """A stream of ids, seeded by a name: the same name gives the same ids."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rng = random.Random(f"sessionbank-sample/{name}")

    def hex(self, length: int) -> str:
        """`length` hex digits."""
        return "".join(self.rng.choice("0123456789abcdef") for _ in range(length))

    def uuid(self) -> str:
        """A version 4 UUID."""
        h = self.hex(32)
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) % 4]}{h[17:20]}-{h[20:]}"

    def text(self, length: int, alphabet: str = BASE62) -> str:
        """`length` characters of an alphabet."""
        return "".join(self.rng.choice(alphabet) for _ in range(length))

    def message(self) -> str:
        """A reply's id."""
        return "msg_01" + self.text(22)

    def request(self) -> str:
        """A request's id."""
        return "req_011C" + self.text(20)

    def tool(self) -> str:
        """A tool call's id."""
        return "toolu_01" + self.text(22)

    def signature(self) -> str:
        """A thinking block's signature (short: it is noise that does not compress)."""
        return "EoYJCkYICxgCKkC" + self.text(40, BASE64) + "=="


def fixed_uuid(name: str) -> str:
    """A UUID that is a function of a name."""
    h = hashlib.sha256(name.encode()).hexdigest()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) % 4]}{h[17:20]}-{h[20:32]}"


def ulid(name: str, when: datetime) -> str:
    """A 26 character ULID whose time part is `when`."""
    value = int(when.timestamp() * 1000)
    head = ""
    for _ in range(10):
        head = CROCKFORD[value % 32] + head
        value //= 32
    return head + Ids(f"ulid/{name}").text(16, CROCKFORD)


def parse(text: str) -> datetime:
    """`2026-02-03T09:10` as a UTC time."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Clock:
    """Time inside a session: it only goes forward, by seconds that the session's seed chooses."""

    def __init__(self, start: datetime, rng: random.Random) -> None:
        self.now = start + timedelta(milliseconds=rng.randrange(1000))
        self.rng = rng

    def tick(self, low: float = 1.0, high: float = 6.0) -> datetime:
        """Advance by between `low` and `high` seconds and return the new time."""
        self.now += timedelta(milliseconds=int(1000 * self.rng.uniform(low, high)))
        return self.now

    def jump(self, *, minutes: float) -> datetime:
        """Advance by a pause."""
        self.now += timedelta(minutes=minutes)
        return self.now


def stamp(when: datetime) -> str:
    """The form of transcript times: milliseconds and Z."""
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}Z"


def offset_stamp(when: datetime, *, hours: float = 0, digits: int = 6) -> str:
    """The form of `created_at`: a zone offset (0 gives Z) and 4 to 9 digits of a second."""
    local = when + timedelta(hours=hours)
    fraction = f"{local.microsecond:06d}{(when.microsecond * 7919) % 1000:03d}"[:digits]
    if not hours:
        zone = "Z"
    else:
        minutes = round(abs(hours) * 60)
        zone = f"{'+' if hours > 0 else '-'}{minutes // 60:02d}:{minutes % 60:02d}"
    return local.strftime("%Y-%m-%dT%H:%M:%S.") + fraction + zone
