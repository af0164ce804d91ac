"""Mid April 2026: checkpoints have a ref each; accessibility, mails, a linter, load, a team that fails."""

from __future__ import annotations

from .claude import HAIKU, SONNET
from .outputs import RUFF_OK, npm_fail, npm_ok, pytest_ok, ruff_fail
from .subagents import finish, spawn
from .team_story import fraud_team
from .telling import refs, session
from .wander import scouting
from .world import World, summary


def accessibility(w: World) -> None:
    """Three snapshots with refs of their own; a screenshot."""
    s = w.claude("a11y-cart", "2026-04-13T00:30", "chen", version="2.1.88")
    s.prompt(
        "Screen readers say nothing when an item goes into the cart. See the screenshot of the audit.",
        image=True,
    )
    s.reply(s.read("web/src/cart.js"), think="", say="A live region is missing.")
    s.reply(
        s.edit(
            "web/src/cart.js",
            '  return post("/cart", cart);',
            '  announce(`${sku} added, ${cart.lines.length} items`);\n  return post("/cart", cart);',
        ),
        s.edit(
            "web/src/cart.js",
            "export function cartTotal",
            "export function announce(text) {\n"
            '  const region = document.querySelector("[aria-live]");\n  if (region) region.textContent = text;\n}\n\n'
            "export function cartTotal",
        ),
        order="between",
    )
    s.reply(
        s.bash(
            "npm test --prefix web", npm_fail(8, ("cart.test.js > adds", "document is not defined")), code=1
        )
    )
    s.reply(
        s.edit(
            "web/src/cart.js",
            "  const region = document.querySelector",
            "  const region = globalThis.document?.querySelector",
        )
    )
    s.reply(s.bash("npm test --prefix web", npm_ok(9, 4)))
    s.reply(say="Adding to the cart is announced through a live region; tests pass.")
    w.commit(s, "Announce cart changes", attribution=(0, 2, 0), **refs(s))
    s.prompt("the same for removing", pause=4)
    s.reply(
        s.edit(
            "web/src/cart.js",
            "export const loadCart",
            "export function removeFromCart(cart, sku) {\n"
            "  cart.lines = cart.lines.filter((l) => l.sku !== sku);\n  announce(`${sku} removed`);\n"
            '  return post("/cart", cart);\n}\n\nexport const loadCart',
        )
    )
    s.reply(s.bash("npm test --prefix web", npm_ok(9, 4)))
    s.reply(say="Removing is announced too.")
    w.commit(s, "Announce removed items", attribution=(0, 0, 0), **refs(s, 1))
    s.prompt("and a test", pause=3)
    s.reply(
        s.write(
            "web/test/announce.test.js",
            'import { expect, test } from "vitest";\nimport { removeFromCart } from '
            '"../src/cart.js";\n\ntest("removes", () => {\n  const cart = { lines: [{ sku: "a" }] };\n'
            '  removeFromCart(cart, "a");\n  expect(cart.lines).toEqual([]);\n});\n',
        )
    )
    s.reply(s.bash("npm test --prefix web", npm_ok(10, 5)))
    s.reply(say="One test for removing.")
    w.commit(
        s,
        "Test removing from the cart",
        attribution=(0, 0, 0),
        **refs(s, 2),
        summary=summary(
            "Announce cart changes to screen readers",
            "Adding and removing are announced through a live region, with tests. Everything passes.",
            code=(
                (
                    "web/src/cart.js",
                    10,
                    13,
                    "The live region is optional so that tests run without a document",
                ),
            ),
            workflow=("Small steps with a commit each",),
        ),
    )
    s.ended("success", "Both changes announced and tested, three commits.")


def back_in_stock(w: World) -> None:
    """A background agent whose work is stored nowhere but in its answer."""
    s = w.claude("back-in-stock-mail", "2026-04-14T08:00", "ada", version="2.1.88", cache="both")
    s.prompt(
        "Customers want a mail when an article is back in stock. Table, route, mail. Let an agent check the "
        "unsubscribe rules meanwhile."
    )
    task = spawn(
        s,
        "general-purpose",
        "Check mail rules",
        prompt="Which rules hold for back-in-stock mails in the EU? Short list.",
        background=True,
        steps=[],
        answer="One mail per request, consent by the request itself, an unsubscribe "
        "link, delete the address after the mail.",
    )
    s.reply(task, s.read("shop/emails.py"), s.read("shop/inventory.py"), think="")
    s.reply(
        s.write(
            "migrations/011_waiting.sql",
            "CREATE TABLE waiting (sku TEXT, email TEXT, PRIMARY KEY (sku, email));\n",
        ),
        s.write(
            "shop/waiting.py",
            '"""Who waits for which article."""\n\nfrom shop import emails\n\n\n'
            "def restocked(db, sku):\n"
            '    for row in db.all("SELECT email FROM waiting WHERE sku = ?", sku):\n'
            '        emails.send(row["email"], "Back in stock", f"{sku} is back.")\n'
            '    db.execute("DELETE FROM waiting WHERE sku = ?", sku)\n',
        ),
    )
    finish(s, task, queued=True)
    s.reply(
        s.edit("shop/waiting.py", 'f"{sku} is back."', 'f"{sku} is back. Your address has been deleted."'),
        say="The rules fit: one mail, then the address is deleted. Saying so in the mail.",
    )
    s.reply(s.bash("pytest -q", pytest_ok(16), slow=True))
    s.queued("use the outbox, not send directly")
    s.reply(
        s.edit(
            "shop/waiting.py",
            '        emails.send(row["email"], "Back in stock", f"{sku} is back. Your address has '
            'been deleted.")\n',
            '        text = f"{sku} is back. Your address has been deleted."\n'
            '        db.insert("outbox", recipient=row["email"], subject="Back in stock", body=text)\n',
        ),
        s.edit("shop/waiting.py", "from shop import emails\n\n\n", "\n"),
    )
    s.reply(s.bash("pytest -q && ruff check shop", pytest_ok(16) + "\n" + RUFF_OK))
    s.reply(say="Mails go through the outbox, once per request; addresses are deleted afterwards.")
    w.commit(
        s,
        "Back in stock mails",
        attribution=(0, 0, 0),
        **refs(s),
        summary=summary(
            "Mail customers when an article is back",
            "Implemented with a waiting table and the outbox; one mail per request, "
            "then the address is deleted. Tests and lint pass.",
            code=(("shop/waiting.py", 4, 9, "Mails go through the outbox, never sent directly"),),
            workflow=("A background agent can check rules while the code is written",),
        ),
    )
    s.ended(
        "success",
        "Feature built by the rules that the background agent listed; tests and lint pass, committed.",
    )


def autofill(w: World) -> None:
    """One browser stays untested."""
    session(
        w,
        "address-autofill",
        "2026-04-15T01:30",
        who="dora",
        version="2.1.88",
        model=SONNET,
        ask="Browsers do not autofill our checkout. Set autocomplete attributes and test in Chrome and Safari.",
        look=("web/src/checkout.ts",),
        change=(
            (
                "web/src/fields.ts",
                'export const AUTOFILL = { street: "street-address", city: "address-level2", zip: '
                '"postal-code", country: "country" };\n',
            ),
        ),
        checks=(("npx tsc --noEmit -p web", "", 0),),
        done="The attributes are set. I can only check types here: no browser is installed, so Chrome and Safari are "
        "untested.",
        after=("chrome works. safari I can't test either", "Then Safari stays open."),
        subject="Autofill attributes in the checkout",
        commit={"attribution": (0, 6, 0)},
        own_ref=True,
        outcome=("partial", "Chrome works by hand, Safari is untested; committed."),
    )


def ruff_upgrade(w: World) -> None:
    """A linter upgrade, committed by the agent."""
    session(
        w,
        "ruff-upgrade",
        "2026-04-16T17:00",
        who="bruno",
        version="2.1.88",
        model=HAIKU,
        ask="Update ruff to 0.11 and fix what it newly finds.",
        look=("requirements.txt",),
        change=(("requirements.txt", "ruff==0.9.2", "ruff==0.11.4"),),
        checks=(
            (
                "ruff check shop tests",
                ruff_fail(
                    ("shop/emails.py:4:1", "I001", "Import block is un-sorted"),
                    ("shop/payments.py:4:1", "I001", "Import block is un-sorted"),
                ),
                1,
            ),
            ("ruff check shop tests && pytest -q", RUFF_OK + "\n" + pytest_ok(16), 0),
        ),
        fix=(
            (
                "shop/emails.py",
                "import smtplib\nfrom html import escape\nfrom email.message import EmailMessage\n",
                "import smtplib\nfrom email.message import EmailMessage\nfrom html import escape\n",
            ),
            (
                "shop/payments.py",
                "import json\nfrom decimal import ROUND_HALF_UP, Decimal\nimport urllib.request\n",
                "import json\nimport urllib.request\nfrom decimal import ROUND_HALF_UP, Decimal\n",
            ),
        ),
        done="ruff 0.11.4, two import blocks sorted, all green.",
        subject="ruff 0.11",
        agent=True,
        commit={"attribution": (0, 0, 0), "usage": "stale"},
        own_ref=True,
        outcome=("success", "Upgrade, two findings fixed, all checks pass, committed by the agent."),
    )


def load_test(w: World) -> None:
    """A bottleneck shrinks."""
    s = w.claude("load-test", "2026-04-17T02:00", "chen", version="2.1.90", model=SONNET)
    s.prompt(
        "Load test the checkout: 50 orders per second for 5 minutes. Report, and fix the first bottleneck."
    )
    s.reply(
        s.write(
            "tests/load/checkout.js",
            'import http from "k6/http";\n\nexport default () => http.post('
            '"http://localhost:8000/orders", "{}");\n',
        )
    )
    s.reply(
        s.bash(
            "k6 run --vus 50 --duration 30s tests/load/checkout.js",
            "http_reqs 412/s ... http_req_failed 38.2% database is locked",
            slow=True,
        ),
        think="SQLite has one writer. WAL and a busy timeout help; they do not remove it.",
    )
    s.reply(
        spawn(
            s,
            "Explore",
            "Find write transactions",
            prompt="List every write to the database that a checkout makes, in order. Only report.",
            steps=scouting(s, 4),
            answer="Per order: one UPDATE a line in stock, one INSERT in orders, one INSERT a line in order_items; "
            "each commits on its own.",
            repeats=1,
        ),
        spawn(
            s,
            "code-reviewer",
            "Review database settings",
            prompt="Review shop/db.py for settings that hurt under load. Name the setting and the effect.",
            steps=[
                [s.read("shop/db.py")],
                [s.bash("python -m shop.bench --pragmas", "usage: bench", code=2)],
                *scouting(s, 2),
            ],
            answer="journal_mode is DELETE and there is no busy_timeout: every writer blocks every reader.",
            model=SONNET,
        ),
        say="Two agents in parallel: one for the writes, one for the settings.",
    )
    s.reply(
        s.edit(
            "shop/db.py",
            "        self.connection.row_factory",
            '        self.connection.execute("PRAGMA '
            'journal_mode = WAL")\n        self.connection.execute("PRAGMA busy_timeout = 5000")\n'
            "        self.connection.row_factory",
        )
    )
    s.reply(s.bash("k6 run --vus 50 --duration 30s tests/load/checkout.js", "http_req_failed 6.1%"))
    s.reply(
        say="Failures fell from 38 % to 6 % with WAL and a busy timeout. Below that needs another database; the long "
        "run of 5 minutes was not done."
    )
    w.commit(s, "WAL and busy timeout, load script", attribution=(2, 0, 0), **refs(s))
    s.ended("partial", "The first bottleneck is smaller, 6 % still fail, the 5 minute run was not made.")


PARTS = (accessibility, back_in_stock, autofill, ruff_upgrade, load_test, fraud_team)
