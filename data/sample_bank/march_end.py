"""Late March 2026: webhooks that are squashed, a usage limit, gift cards that fail, a team; Agent instead of Task."""

from __future__ import annotations

from .claude import SONNET
from .ids import parse
from .outputs import npm_ok, pytest_fail, pytest_ok, tsc_fail
from .subagents import spawn
from .team_story import checkout_team
from .telling import session
from .tools import rejected, sibling
from .world import World, summary


def webhooks(w: World) -> None:
    """Three sessions on one branch, squashed into one commit with all trailers in its body."""
    w.code.branch("feature/webhooks")
    a = w.claude(
        "webhooks-receive",
        "2026-03-12T03:00",
        "chen",
        branch="feature/webhooks",
        version="2.1.63",
        cache="both",
    )
    a.prompt("Receive payment webhooks: POST /webhooks/payment, store the event, answer 200 at once.")
    a.reply(
        a.read("shop/api.py"),
        a.read("shop/payments.py"),
        think="Store first, process later. Idempotent by event id.",
    )
    a.reply(
        a.write(
            "migrations/007_events.sql",
            "CREATE TABLE payment_events (id TEXT PRIMARY KEY, body TEXT, done INTEGER DEFAULT 0);\n",
        ),
        a.write(
            "shop/webhooks.py",
            '"""Events of the payment provider."""\n\nimport json\n\n\n'
            "def receive(db, body):\n    event = json.loads(body)\n"
            '    sql = "INSERT OR IGNORE INTO payment_events (id, body) VALUES (?, ?)"\n'
            '    db.execute(sql, event["id"], body)\n',
        ),
    )
    a.reply(
        a.edit(
            "shop/api.py",
            '@route("POST", "/orders")',
            '@route("POST", "/webhooks/payment")\n'
            "def payment_event(request):\n    webhooks.receive(request.db, request.raw)\n    return {}\n\n\n"
            '@route("POST", "/orders")',
        ),
        a.edit("shop/api.py", "checkout, search\n", "checkout, search, webhooks\n"),
    )
    a.reply(a.bash("pytest -q", pytest_ok(9)))
    a.reply(say="Events are stored once per id and answered at once.")
    one = w.commit(a, "Receive payment webhooks", attribution=(0, 0, 0))
    b = w.claude("webhooks-signature", "2026-03-13T08:00", "ada", branch="feature/webhooks", version="2.1.63")
    b.prompt(
        "The webhook endpoint trusts everybody. Verify the provider's HMAC signature; see their documentation."
    )
    b.reply(
        b.fetch(
            "https://pay.example/docs/webhooks",
            "How are webhooks signed?",
            "Header Pay-Signature: "
            "t=<unix time>,v1=<hex HMAC-SHA256 of time + '.' + body>. Reject when older than 5 minutes.",
        ),
        b.read("shop/webhooks.py"),
        order="between",
        say="Reading the provider's documentation.",
    )
    b.reply(
        b.edit(
            "shop/webhooks.py",
            "def receive(db, body):\n",
            "def verify(secret, header, body, now=None):\n"
            '    parts = dict(p.split("=", 1) for p in header.split(","))\n'
            "    signed = f\"{parts['t']}.{body}\".encode()\n"
            "    good = hmac.new(secret, signed, hashlib.sha256).hexdigest()\n"
            '    fresh = abs((now or time.time()) - int(parts["t"])) < 300\n'
            '    return fresh and hmac.compare_digest(good, parts["v1"])\n\n\ndef receive(db, body):\n',
        ),
        b.edit(
            "shop/webhooks.py", "import json\n", "import hashlib\nimport hmac\nimport json\nimport time\n"
        ),
    )
    b.reply(
        b.write(
            "tests/test_webhooks.py",
            "from shop.webhooks import verify\n\n\ndef test_old_signature():\n"
            '    assert not verify(b"k", "t=1,v1=00", "{}", now=1000)\n',
        )
    )
    b.reply(b.bash("pytest -q tests/test_webhooks.py", pytest_ok(1)))
    b.reply(say="Signatures are verified, old ones refused.")
    two = w.commit(b, "Verify webhook signatures", attribution=(0, 0, 0), also=(a,))
    c = w.claude(
        "webhooks-retry",
        "2026-03-16T17:00",
        "bruno",
        branch="feature/webhooks",
        version="2.1.63",
        model=SONNET,
    )
    c.prompt("Process stored events with retry, and alert when one fails 5 times.")
    c.reply(c.read("shop/webhooks.py"), c.grep("payment_events", ""))
    c.reply(
        c.edit(
            "shop/webhooks.py",
            "def receive(",
            "def process(db, handle):\n"
            '    for row in db.all("SELECT * FROM payment_events WHERE done = 0"):\n        try:\n'
            '            handle(json.loads(row["body"]))\n'
            '            db.execute("UPDATE payment_events SET done = 1 WHERE id = ?", row["id"])\n'
            "        except Exception:\n            continue\n\n\ndef receive(",
        )
    )
    c.reply(c.bash("pytest -q", pytest_ok(10)))
    c.reply(
        say="Stored events are processed and retried on every run. There is no alert yet: a count of tries is missing "
        "and I do not know where alerts should go."
    )
    three = w.commit(c, "Process stored events", attribution=(0, 5, 0), root={"doubled": True})
    w.code.merge("feature/webhooks")
    body = "\n\n".join(
        f"* {text}\n\nEntire-Checkpoint: {p.id}"
        for text, p in (
            ("Receive payment webhooks", one),
            ("Verify webhook signatures", two),
            ("Process stored events", three),
            ("Receive payment webhooks (fixup)", one),
        )
    )
    w.code.commit(
        "main",
        "ada",
        parse("2026-03-17T09:00"),
        message=f"Payment webhooks (#31)\n\n{body}\n\nCo-authored-by: Chen "
        "Moreau <chen@shop.example>\nCo-authored-by: Bruno Okafor <bruno@shop.example>",
        trailers=[one.id, two.id, three.id],
    )
    a.ended("success", "Endpoint works, tested, committed on the branch and squashed into main.")
    b.ended("success", "Signature check with a test, committed and squashed into main.")
    c.ended("partial", "Processing and retry are done; the alert after 5 failures was not.")


def tsc_strict(w: World) -> None:
    """The compiler becomes strict."""
    session(
        w,
        "tsc-strict",
        "2026-03-17T23:00",
        who="dora",
        version="2.1.63",
        model=SONNET,
        ask="Turn on strict in tsconfig and fix what breaks.",
        look=("web/src/checkout.ts",),
        change=(
            (
                "web/tsconfig.json",
                '{ "compilerOptions": { "strict": true, "target": "es2022", "allowJs": true }, '
                '"include": ["src"] }\n',
            ),
        ),
        checks=(
            (
                "npx tsc --noEmit -p web",
                tsc_fail(
                    (
                        "web/src/checkout.ts:14:65",
                        "TS7053",
                        "Element implicitly has "
                        "an 'any' type because expression of type 'string' can't be used to index type 'Zips'",
                    )
                ),
                2,
            ),
            ("npx tsc --noEmit -p web && npm test --prefix web", npm_ok(5), 0),
        ),
        fix=(
            (
                "web/src/checkout.ts",
                "export async function submitOrder(card: string, address: Address) {",
                "export async function submitOrder(card: string, address: Address): Promise<{ id: number }> {",
            ),
        ),
        done="strict is on, the compiler is silent, tests pass.",
        subject="TypeScript strict mode",
        commit={"attribution": (0, 0, 0)},
        outcome=("success", "Compiler errors were fixed, both checks pass, committed."),
    )


def api_timeout(w: World) -> None:
    """The usage limit ends the session in the middle of the work."""
    s = w.claude("api-timeouts", "2026-03-18T04:00", "chen", version="2.1.70")
    s.prompt(
        "Calls to the payment provider have no timeout and no retry. Add both, with tests for each case."
    )
    s.reply(s.read("shop/payments.py"), think="", say="Both calls share the urlopen line.")
    s.reply(
        s.edit(
            "shop/payments.py",
            "    with urllib.request.urlopen(request) as response:",
            "    with urllib.request.urlopen(request, timeout=10) as response:",
        )
    )
    s.reply(s.bash("pytest -q", pytest_ok(10)))
    s.reply(
        s.read("tests/test_checkout_release.py"),
        say="Now retry. I need to see how tests stub the provider",
        stub=True,
    )
    s.synthetic("You've hit your limit · resets 3pm (UTC)")
    s.prompt("go on", pause=30)
    s.synthetic("You've hit your limit · resets 3pm (UTC)")
    s.prompt("ok, tomorrow then", pause=2)
    s.synthetic("You've hit your limit · resets 3pm (UTC)")
    w.loose(
        s,
        usage="window",
        summary=summary(
            "Add timeouts and retries to payment calls",
            "A timeout was added to one of two calls. The session stopped at a usage "
            "limit before retry and tests; nothing was committed.",
            friction=("Usage limit reached",),
            todo=("Timeout for refund", "Retry", "Tests"),
        ),
    )
    w.give_up(s)
    s.ended(
        "failure",
        "The usage limit ended it after one of several parts, nothing was committed, nobody continued.",
    )


def gift_cards(w: World) -> None:
    """Nobody listens; three refusals."""
    w.code.branch("feature/gift-cards")
    s = w.claude("gift-cards", "2026-03-19T08:00", "ada", branch="feature/gift-cards", version="2.1.70")
    s.prompt("Gift cards: buy, redeem, balance. Keep it as small as possible, one table.")
    s.reply(
        s.read("shop/cart.py"),
        s.read("shop/pricing.py"),
        s.read("shop/checkout.py"),
        think="A ledger would be right, but one table was asked for.",
    )
    s.reply(
        s.write(
            "migrations/008_gift_cards.sql",
            "CREATE TABLE gift_cards (code TEXT PRIMARY KEY, balance REAL);\n"
            "CREATE TABLE gift_card_ledger (id INTEGER PRIMARY KEY, code TEXT, amount REAL);\n",
        )
    )
    s.prompt("one table, I said", pause=0.5)
    s.reply(
        rejected(s.write("shop/giftcards/models.py", "class GiftCard:\n    ...\n", apply=False)),
        say="I'll put the model into its own package.",
    )
    s.prompt("no package! a function in pricing.py", pause=1)
    s.reply(
        rejected(
            s.write("shop/giftcards/service.py", "class GiftCardService:\n    ...\n", apply=False),
            "stop adding layers",
        ),
        rejected(s.edit("shop/pricing.py", "COUPONS = {", "GIFT = {}\nCOUPONS = {", apply=False)),
        say="A small service class then.",
    )
    s.prompt("you are not listening. I'm closing this", pause=1)
    s.command("exit", out="Goodbye!")
    w.loose(
        s,
        usage="window",
        index=1,
        summary=summary(
            "Gift cards with one table",
            "Abandoned: the user rejected three edits that added layers and closed the session.",
            workflow=("When one table is asked for, write one table",),
            friction=(
                "A second table was created against the request",
                "Edits into new packages were rejected",
            ),
        ),
    )
    w.give_up(s)
    s.ended(
        "failure", "Three edits were rejected, the person closed the session annoyed, nothing was committed."
    )


def cart_merge(w: World) -> None:
    """Carts merge; a false failure; a session without transcript beside it."""
    s = w.claude("cart-merge-on-login", "2026-03-25T03:00", "chen", version="2.1.75")
    s.prompt(
        "When a guest logs in, merge the guest cart into the account's cart. Same sku: add quantities, cap at stock."
    )
    steps = [[s.grep("Cart\\(", "")], [s.read("shop/cart.py"), s.read("shop/inventory.py")]]
    s.reply(
        spawn(
            s,
            "Explore",
            "Find cart creation",
            prompt="Where are carts made and where does login happen? Only report.",
            steps=steps,
            answer="Carts are made in tests and by the request object; login is auth.login.",
            model=SONNET,
            repeats=1,
        ),
        s.read("shop/auth.py"),
        say="One agent looks where carts come from.",
    )
    s.reply(
        s.edit(
            "shop/cart.py",
            "    def total(self):",
            "    def merge(self, other, stock):\n"
            "        for item in other.items:\n"
            "            mine = next((i for i in self.items if i.sku == item.sku), None)\n"
            "            if mine:\n                mine.quantity = min(mine.quantity + item.quantity, "
            "stock(item.sku))\n            else:\n                self.add(item.sku, item.price, "
            "min(item.quantity, stock(item.sku)))\n\n    def total(self):",
        ),
        s.edit(
            "tests/test_cart.py",
            "def test_remove():",
            "def test_merge_caps_at_stock():\n"
            '    mine, guest = Cart("c1"), Cart("guest")\n    mine.add("mug", 7.5, 2)\n'
            '    guest.add("mug", 7.5, 2)\n    mine.merge(guest, lambda sku: 3)\n'
            "    assert mine.items[0].quantity == 3\n\n\ndef test_remove():",
        ),
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_cart.py",
            pytest_fail(3, ("tests/test_cart.py::test_merge_caps_at_stock", "assert 4 == 3")),
            code=1,
        ),
        sibling(s.bash("ruff check", "")),
    )
    s.reply(
        s.read("shop/cart.py", 28, 12),
        think="min binds correctly... the test passes stock as a lambda. Old pyc?",
    )
    s.reply(s.bash("find . -name __pycache__ | xargs rm -r; pytest -q", pytest_ok(11)))
    s.reply(
        say="Guest carts merge on login and are capped at stock. The first failure came from a stale cache file."
    )
    ghost = w.ghost("idle-terminal", "2026-03-25T02:00", "chen")
    point = w.commit(s, "Merge guest cart on login", attribution=(0, 1, 1), index=0)
    w.store(point, ghost, index=2, files=[], usage="absent", transcript=False, attribution=None, after=-30)
    s.ended("success", "Merge works with a test, a false failure was found to be a stale cache, committed.")


def gemini_translate(w: World) -> None:
    """Gemini: mails in two languages."""
    g = w.gemini("translate-mails", "2026-03-26T01:00", "dora")
    g.prompt("order mails in German and French, chosen by the customer's country")
    g.reply("", g.look("shop/emails.py"), thought="Reading the mail module. A small dictionary will do.")
    g.reply(
        "",
        g.change(
            "shop/emails.py",
            'SENDER = "hello@shop.example"\n',
            'SENDER = "hello@shop.example"\n'
            'THANKS = {"DE": "Vielen Dank für Ihre Bestellung", "FR": "Merci pour votre commande"}\n',
        ),
        g.change(
            "shop/emails.py",
            "text = f\"Thank you for your order {order['id']}.",
            'thanks = THANKS.get(order["country"], "Thank you for your order")\n    text = f"{thanks} '
            "{order['id']}.",
        ),
    )
    g.reply("", g.shell("pytest -q", "F.......... 1 failed, 10 passed: KeyError: 'country'", False))
    g.reply(
        "Orders have no country in one test; I'll read it with a default.",
        g.change("shop/emails.py", 'order["country"]', 'order.get("country")'),
        g.shell("pytest -q", "11 passed"),
    )
    g.reply("Mails are in German and French, English otherwise. 11 tests pass.")
    w.commit(g, "Order mails in German and French", attribution=(0, 2, 0), usage="absent", label=None)
    g.ended("success", "Two languages added, a failing test was fixed, committed.")


PARTS = (webhooks, tsc_strict, api_timeout, gift_cards, checkout_team, cart_merge, gemini_translate)
