"""Late April 2026: docs, alerts past midnight, a hotfix, a session that breaks off."""

from __future__ import annotations

from .claude import HAIKU, SONNET
from .ids import ulid
from .outputs import pytest_fail, pytest_ok
from .telling import refs, session
from .tools import rejected, unanswered
from .world import World, summary


def webhook_docs(w: World) -> None:
    """A page of docs; an implausible attribution."""
    session(
        w,
        "webhook-docs",
        "2026-04-21T00:20",
        who="dora",
        version="2.1.90",
        model=HAIKU,
        ask="Document the payment webhooks for operations: what comes in, how to replay, what to watch.",
        look=("shop/webhooks.py",),
        change=(
            (
                "docs/webhooks.md",
                "# Payment webhooks\n\n`POST /webhooks/payment` stores "
                "an event once per id. `process` handles what is not done.\n\nReplay: set "
                "`done = 0`. Watch: rows older than an hour with `done = 0`.\n",
            ),
        ),
        done="docs/webhooks.md says what comes in, how to replay and what to watch.",
        subject="Docs: payment webhooks",
        commit={
            "attribution": {
                "agent_lines": 6,
                "agent_removed": 0,
                "human_added": 2495,
                "human_modified": 0,
                "human_removed": 0,
                "total_committed": 2501,
                "total_lines_changed": 2501,
                "agent_percentage": 6 / 2501 * 100,
                "metric_version": 2,
            },
        },
        own_ref=True,
        outcome=(
            "success",
            "The page covers the three points and is committed; its stored attribution is implausible.",
        ),
    )


def stock_alerts(w: World) -> None:
    """A session that runs past midnight UTC."""
    s = w.claude("stock-alerts", "2026-04-22T23:40", "bruno", version="2.1.92")
    s.prompt("Alert purchasing when stock falls below a minimum per article. Once a day, one mail.")
    s.reply(s.read("shop/inventory.py"), s.read("shop/outbox.py"))
    s.reply(
        s.write("migrations/012_minimum.sql", "ALTER TABLE stock ADD COLUMN minimum INTEGER DEFAULT 0;\n"),
        s.write(
            "shop/alerts.py",
            '"""Stock below its minimum."""\n\n\ndef low(db):\n'
            '    return db.all("SELECT sku, quantity FROM stock WHERE quantity < minimum")\n\n\n'
            "def mail(db, to):\n    rows = low(db)\n    if rows:\n"
            "        text = \"\\n\".join(f\"{r['sku']}: {r['quantity']}\" for r in rows)\n"
            '        db.insert("outbox", recipient=to, subject="Low stock", body=text)\n',
        ),
    )
    s.reply(say="Table column and mail are there. Where should it be called from?")
    s.enqueue("cron in infra, 6 in the morning")
    s.dequeue("dequeue")
    s.prompt("cron in infra, 6 in the morning", pause=24)
    s.reply(
        s.write("infra/crontab", "0 6 * * * docker exec shop python -m shop.alerts\n"),
        s.bash("pytest -q", pytest_ok(16)),
    )
    s.reply(say="Cron runs it at 6; tests pass.")
    w.commit(s, "Daily mail for low stock", attribution=(0, 0, 1), **refs(s))
    s.ended("success", "Alert, mail and cron done in one evening, tests pass, committed.")


def release_notes(w: World) -> None:
    """A changelog that is liked at once."""
    session(
        w,
        "release-notes",
        "2026-04-24T03:00",
        who="chen",
        version="2.1.92",
        model=SONNET,
        ask="Write CHANGELOG.md for 1.4 from the commits since March, for customers, not for developers.",
        look=("README.md",),
        change=(
            (
                "CHANGELOG.md",
                "# 1.4\n\n- Checkout in three steps\n- Mails in German and "
                "French\n- Search ignores accents\n- Mail when an article is back\n",
            ),
        ),
        checks=(("git log --oneline --since=2026-03-01 | wc -l", "34", 0),),
        done="Four points that customers notice; internal work is left out.",
        after=("perfect", "Glad it fits."),
        subject="Changelog for 1.4",
        commit={"attribution": (0, 1, 0)},
        own_ref=True,
        outcome=("success", "The text was accepted and committed."),
    )


def double_charge(w: World) -> None:
    """A hotfix, picked to a release branch: one checkpoint, two commits."""
    s = w.claude("double-charge-hotfix", "2026-04-27T06:10", "ada", version="2.1.92")
    s.prompt("URGENT: customers are charged twice when they click pay twice. Stop it now, server side.")
    s.reply(
        s.read("shop/checkout.py"),
        s.read("shop/payments.py"),
        s.grep("place_order", "shop/"),
        think="An idempotency key "
        "per cart: the provider accepts one in a header, and the same key gives the same charge.",
    )
    s.reply(
        s.edit("shop/payments.py", "def charge(token, amount):", "def charge(token, amount, key=None):"),
        s.edit(
            "shop/payments.py",
            '    request = urllib.request.Request(f"{API}/charges", data=body, method="POST")\n',
            '    request = urllib.request.Request(f"{API}/charges", data=body, method="POST")\n    if key:\n'
            '        request.add_header("Idempotency-Key", key)\n',
        ),
        order="between",
        say="The provider knows idempotency keys. One per cart.",
    )
    s.reply(
        s.edit(
            "shop/checkout.py",
            "payments.charge(card_token, cart.total())",
            'payments.charge(card_token, cart.total(), key=f"cart-{cart.customer_id}-{len(cart.items)}")',
        )
    )
    s.reply(s.bash("pytest -q tests/test_checkout.py tests/test_checkout_release.py", pytest_ok(2)))
    s.reply(w.agent_commit(s, "Charge each cart once", attribution=(0, 0, 0), usage="stale", **refs(s)))
    s.reply(say="Deploying is safe: a second click repeats the same key and gets the same charge.")
    w.finalize(s)
    s.prompt("deployed. the key must change when the cart changes, no? total in it please", pause=12)
    s.reply(
        s.edit("shop/checkout.py", "-{len(cart.items)}", "-{cart.total()}"),
        s.bash("pytest -q", pytest_ok(16)),
    )
    s.reply(say="The total is in the key now.")
    w.commit(
        s,
        "Put the total into the idempotency key",
        **(
            refs(s, 1)
            | {
                "root": {
                    "cli": "0.11.3",
                    "usage_version": 2,
                    "combined": {
                        "agent_lines": 6,
                        "agent_removed": 3,
                        "human_added": 1,
                        "human_modified": 0,
                        "human_removed": 0,
                        "total_committed": 7,
                        "total_lines_changed": 10,
                        "agent_percentage": 90,
                        "metric_version": 2,
                    },
                }
            }
        ),
        summary=summary(
            "Stop double charges on a double click",
            "Fixed with an idempotency key per cart and total; tests pass and it was deployed.",
            code=(
                (
                    "shop/checkout.py",
                    17,
                    None,
                    "The key holds customer and total, so a changed cart is a new charge",
                ),
            ),
        ),
    )
    # the first fix also goes to the release that customers run: the same checkpoint at a second commit
    first = next(c for c in w.code.commits if c.subject == "Charge each cart once")
    w.code.branch("release/1.3", "main")
    w.code.heads["release/1.3"] = w.code.ancestors("main")[4]
    w.code.restore("release/1.3")
    w.code.trees["release/1.3"] |= {
        p: w.code.objects.trees[first.sha][p].decode() for p in ("shop/payments.py", "shop/checkout.py")
    }
    w.code.commit(
        "release/1.3",
        "ada",
        s.clock.jump(minutes=15),
        message=f"Charge each cart once\n\nEntire-Checkpoint: "
        f"{first.trailers[0]}\n(cherry picked from commit {first.sha})",
        trailers=first.trailers,
    )
    s.ended("success", "Hotfix with an idempotency key, deployed and refined, tests pass, two commits.")


def facets(w: World) -> None:
    """It breaks off in the middle of a reply."""
    s = w.claude("search-facets", "2026-04-28T16:00", "bruno", version="2.1.92", model=SONNET)
    s.prompt("Search facets: category, price range, in stock, with counts. Front end and API.")
    s.reply(
        s.read("shop/search.py"), s.read("migrations/001_start.sql"), say="Products have no category yet."
    )
    s.reply(s.write("migrations/013_category.sql", "ALTER TABLE products ADD COLUMN category TEXT;\n"))
    s.reply(
        rejected(s.bash("sqlite3 shop.db < migrations/013_category.sql", "")),
        say="Applying it to the database.",
    )
    s.prompt("not on my database. write a test instead", pause=2, as_list=True)
    s.reply(
        s.write(
            "tests/test_facets.py",
            'from shop.search import facets\n\n\ndef test_counts(db):\n    assert facets(db, "") == {}\n',
        )
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_facets.py",
            pytest_fail(
                0,
                (
                    "tests/test_facets.py::test_counts",
                    "ImportError: cannot import name 'facets' from 'shop.search'",
                ),
            ),
            code=1,
        )
    )
    s.reply(
        unanswered(
            s.edit("shop/search.py", '"""Product search."""\n', '"""Product search."""\n\n\n', apply=False)
        ),
        say="Now the function itself",
    )
    point = w.loose(s, usage="window", root={"cli": "0.11.3", "usage_version": 2})
    point.id, point.layouts = ulid("search-facets/0", s.clock.now), ("refs-v1",)
    w.give_up(s)
    s.ended(
        "failure",
        "It breaks off in the middle: the last test fails, the function was never written, no commit.",
    )


def two_files(w: World) -> None:
    """An empty transcript, and a session whose checkpoint lists one directory of two."""
    session(
        w,
        "cart-limit",
        "2026-04-29T08:00",
        who="ada",
        version="2.1.92",
        ask="Limit a cart to 50 lines, with a clear message.",
        look=("shop/cart.py",),
        change=(
            (
                "shop/cart.py",
                "        self.items.append(Item(sku, price, quantity))\n",
                '        if len(self.items) >= 50:\n            raise ValueError("a cart holds at most 50 lines")\n'
                "        self.items.append(Item(sku, price, quantity))\n",
            ),
        ),
        checks=(("pytest -q", pytest_ok(16), 0),),
        done="The 51st line is refused with a message.",
        subject="Limit a cart to 50 lines",
        commit={"attribution": (0, 0, 0)},
        own_ref=True,
        outcome=("success", "Limit in place, tests pass, committed."),
    )
    point = w.checkpoints[-1]
    idle = w.ghost("opened-and-closed", "2026-04-29T07:50", "ada")
    w.store(
        point,
        idle,
        files=[],
        usage="absent",
        transcript="empty",
        attribution=None,
        listed=False,
        after=-60,
        hash="none",
    )
    point.records.sort(key=lambda r: r.index)


PARTS = (webhook_docs, stock_alerts, release_notes, double_charge, facets, two_files)
