"""Mid March 2026: order filters, a spike with another model, a smaller image, a lost checkpoint."""

from __future__ import annotations

from .claude import HAIKU, SONNET
from .ids import parse
from .outputs import pytest_ok
from .telling import session
from .world import World


def admin_filter(w: World) -> None:
    """Carry-forward: the second checkpoint starts again at 0."""
    s = session(
        w,
        "admin-order-filter",
        "2026-03-09T17:00",
        who="bruno",
        version="2.1.60",
        model=SONNET,
        ask="Admin orders: filter by date range and customer, not just status.",
        look=("shop/admin.py",),
        change=(
            (
                "shop/admin.py",
                "def orders(db, status=None):\n    if status:\n"
                '        return db.all("SELECT * FROM orders WHERE status = ?", status)\n'
                '    return db.all("SELECT * FROM orders")\n',
                "def orders(db, status=None, customer=None, since=None, until=None):\n"
                '    wanted = {"status = ?": status, "customer = ?": customer, "day >= ?": since, "day < ?": '
                "until}\n    used = {k: v for k, v in wanted.items() if v is not None}\n"
                '    where = " AND ".join(used) or "1"\n'
                '    return db.all(f"SELECT * FROM orders WHERE {where}", *used.values())\n',
            ),
        ),
        checks=(("pytest -q", pytest_ok(9), 0),),
        done="`orders` takes status, customer, since and until; values are bound, names are fixed.",
        subject="Filter admin orders",
        commit={"attribution": (0, 0, 0)},
        outcome=("success", "Filters work in function and route, tests pass, two commits."),
    )
    s.prompt("the route needs the new parameters too", pause=3)
    s.reply(
        s.edit(
            "shop/api.py",
            '    return admin.orders(request.db, request.query.get("status"))\n',
            '    names = ("status", "customer", "since", "until")\n'
            "    return admin.orders(request.db, **{n: request.query.get(n) for n in names})\n",
        )
    )
    s.reply(s.bash("pytest -q", pytest_ok(9)))
    s.reply(say="Done, the route passes them on.")
    w.commit(s, "Pass order filters through the route", start=0, attribution=(0, 0, 0))


def search_typo(w: World) -> None:
    """Another model behind a gateway: no request ids, no cache fields, no price. A cut last line."""
    w.code.branch("spike/fuzzy")
    s = w.claude(
        "search-typos",
        "2026-03-10T09:30",
        "ada",
        branch="spike/fuzzy",
        model="orchid-coder-2",
        version="2.1.60",
    )
    s.prompt("Make search tolerate typos ('lapm' finds lamp). Spike only, on this branch.")
    s.reply(s.read("shop/search.py"), think=None)
    s.reply(
        s.bash(
            "python -c \"import sqlite3; sqlite3.connect(':memory:').load_extension('spellfix')\"",
            "sqlite3.OperationalError: not authorized",
            code=1,
        ),
        say="Trying the spellfix extension.",
    )
    s.reply(s.bash("pip install rapidfuzz", "ERROR: No matching distribution found for rapidfuzz", code=1))
    s.reply(
        s.write(
            "shop/fuzzy.py",
            "def distance(a, b):\n    return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))\n",
        )
    )
    s.reply(s.bash("python -m shop.bench fuzzy", "14.2s for one query over 40k names", slow=True))
    s.reply(
        say="A comparison in Python takes 14 seconds per query and both libraries are unavailable. I see no good way "
        "inside this spike.",
        end=False,
    )
    s.row("system", {"subtype": "turn_duration", "durationMs": 95000, "isMeta": False})
    w.loose(s, usage="window", cut=70, prompt=False, hash="none")
    w.give_up(s)
    s.ended("failure", "No approach was fast enough or available; the spike ended without a commit.")


def docker_slim(w: World) -> None:
    """A smaller image; the session stands twice in its checkpoint."""
    s = session(
        w,
        "docker-slim",
        "2026-03-11T00:15",
        who="dora",
        version="2.1.60",
        model=HAIKU,
        ask="The image is 1.1 GB. Get it below 200 MB.",
        look=("infra/Dockerfile", "requirements.txt"),
        change=(
            (
                "infra/Dockerfile",
                "COPY . /app\nWORKDIR /app\nRUN pip install -r requirements.txt\n",
                "WORKDIR /app\nCOPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n"
                "COPY shop shop\nCOPY migrations migrations\n",
            ),
            (".dockerignore", ".git\nnode_modules\nweb\ntests\n*.db\n"),
        ),
        checks=(
            (
                "docker build -t shop -f infra/Dockerfile . && docker images shop",
                "shop  latest  3f1c  164MB",
                0,
            ),
        ),
        done="164 MB: only code and migrations are copied, and pip keeps no cache.",
        after=("nice. does it still start?", "Yes: `python -m shop` is unchanged and the build ran it once."),
        subject="Slim image",
        commit={"attribution": (0, 0, 3), "zone": 9.5, "digits": 7},
        outcome=("success", "Image is below the wanted size, build ran, committed."),
    )
    # the same session twice in the checkpoint: an earlier state in directory 3
    point = w.checkpoints[-1]
    w.store(point, s, hi=s.size - 6, start=0, index=3, files=[], after=-20, attribution=None, usage="window")
    point.records.sort(key=lambda r: r.index)


def lost_checkpoint(w: World) -> None:
    """A commit whose trailer names a checkpoint that nobody has."""
    w.code.trees["main"]["docs/deploy.md"] += (
        "\nThe image is built from `infra/Dockerfile` and holds no front end.\n"
    )
    w.code.commit(
        "main",
        "dora",
        parse("2026-03-11T06:00"),
        message="Docs: what the image holds\n\nEntire-Checkpoint: 5ca1ab1e0000",
        trailers=["5ca1ab1e0000"],
    )


PARTS = (
    admin_filter,
    search_typo,
    docker_slim,
    lost_checkpoint,
)
