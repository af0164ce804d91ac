"""Mid February 2026: passwords, mails, CI, money and stock; delta records, a revert."""

from __future__ import annotations

from .claude import HAIKU, SONNET
from .outputs import RUFF_OK, pytest_ok, ruff_fail
from .telling import session
from .tools import rejected
from .world import World, summary


def login_scrypt(w: World) -> None:
    """The second try at passwords, with a refused edit; merged."""
    s = w.claude("login-scrypt", "2026-02-05T08:30", "ada", branch="fix/login-hash", version="2.1.29")
    s.prompt(
        "Second try at password hashing: use hashlib.scrypt from the standard library, no new package. Old sha256 "
        "hashes must still log in and be upgraded on login."
    )
    s.reply(
        s.read("shop/auth.py"),
        think="Store `scrypt$salt$hash`. On login with a bare hex hash: verify sha256, then "
        "rewrite. Compare with hmac.compare_digest.",
    )
    s.reply(
        s.todo(
            ("scrypt with a salt per user", "in_progress"),
            ("accept and upgrade old hashes", "pending"),
            ("tests for both", "pending"),
        )
    )
    first = s.edit(
        "shop/auth.py",
        "    return hashlib.sha256(password.encode()).hexdigest()\n",
        '    return hashlib.scrypt(password.encode(), salt=b"shop", n=2**14, r=8, p=1).hex()\n',
        apply=False,
    )
    s.reply(
        rejected(first, "no fixed salt please, one salt per user"), say="Replacing the hash function first."
    )
    s.reply(
        s.edit(
            "shop/auth.py",
            "def hash_password(password):\n    return hashlib.sha256(password.encode()).hexdigest()\n",
            "def hash_password(password, salt=None):\n    salt = salt or secrets.token_bytes(16)\n"
            "    key = hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)\n"
            '    return f"scrypt${salt.hex()}${key.hex()}"\n\n\ndef check_password(password, stored):\n'
            '    if not stored.startswith("scrypt$"):\n'
            "        return hmac.compare_digest(stored, hashlib.sha256(password.encode()).hexdigest())\n"
            '    salt = bytes.fromhex(stored.split("$")[1])\n'
            "    return hmac.compare_digest(stored, hash_password(password, salt))\n",
        ),
        s.edit("shop/auth.py", "import hashlib\n", "import hashlib\nimport hmac\n"),
    )
    s.reply(
        s.edit(
            "shop/auth.py",
            '    if user and user["password"] == hash_password(password):\n',
            '    if user and check_password(password, user["password"]):\n'
            '        if not user["password"].startswith("scrypt$"):\n'
            '            db.execute("UPDATE users SET password = ? WHERE id = ?", hash_password(password), '
            'user["id"])\n',
        )
    )
    s.reply(
        s.write(
            "tests/test_login.py",
            "from shop.auth import hash_password, login\n\n\n"
            "def test_old_hash_is_upgraded(db):\n    import hashlib\n"
            '    db.insert("users", email="a@x", password=hashlib.sha256(b"pw").hexdigest())\n'
            '    assert login(db, "a@x", "pw")\n'
            '    assert db.one("SELECT password FROM users")["password"].startswith("scrypt$")\n',
        )
    )
    s.reply(s.bash("pytest -q", pytest_ok(6), slow=True), s.bash("ruff check shop tests", RUFF_OK))
    s.reply(
        say="Login uses scrypt with a salt per user. Old sha256 hashes still log in and are rewritten. 6 tests pass."
    )
    w.commit(
        s,
        "Hash passwords with scrypt, upgrade old hashes on login",
        attribution=(0, 1, 0),
        usage="zero",
        dated=True,
        hash="early",
    )
    w.code.merge("fix/login-hash")
    w.code.commit(
        "main",
        "ada",
        s.clock.jump(minutes=30),
        message="Merge branch 'fix/login-hash'",
        extra_parents=(w.code.heads["fix/login-hash"],),
    )
    s.ended(
        "success",
        "The second approach works with a rejected first edit on the way; tests pass, merged to main.",
    )


def email_html(w: World) -> None:
    """Mails get an HTML part; a lint finding on the way."""
    session(
        w,
        "email-html",
        "2026-02-05T23:10",
        who="dora",
        model=SONNET,
        ask="Order mails are plain text. Send a multipart mail with an HTML part, same content, inline styles only.",
        look=("shop/emails.py",),
        think="add_alternative on EmailMessage gives multipart/alternative.",
        say="Reading the mail module.",
        change=(
            (
                "shop/emails.py",
                "    message.set_content(text)\n",
                "    message.set_content(text)\n    if html:\n"
                '        message.add_alternative(html, subtype="html")\n',
            ),
            ("shop/emails.py", "def send(to, subject, text):", "def send(to, subject, text, html=None):"),
            (
                "shop/emails.py",
                '    send(order["email"], "Your order", text)\n',
                "    html = f'<p style=\"font:16px sans-serif\">{escape(text)}</p>'\n"
                '    send(order["email"], "Your order", text, html)\n',
            ),
            ("shop/emails.py", "import smtplib\n", "import smtplib\nfrom html import escape\n"),
        ),
        checks=(
            ("ruff check shop", ruff_fail(("shop/emails.py:5:1", "I001", "Import block is un-sorted")), 1),
            ("ruff check shop --fix && pytest -q", RUFF_OK + "\n" + pytest_ok(6), 0),
        ),
        done="Order mails now carry an HTML alternative with the text escaped. Lint and tests pass.",
        subject="Send order mails as text and HTML",
        commit={"attribution": (0, 0, 2), "digits": 4, "dated": True},
        outcome=("success", "Asked change made; lint finding fixed, tests pass, committed."),
    )


def ci_cache(w: World) -> None:
    """CI caches, then a checkpoint of directories without transcript or edits."""
    s = session(
        w,
        "ci-cache",
        "2026-02-06T18:00",
        who="bruno",
        model=HAIKU,
        version="2.1.31",
        cache="5m",
        ask="CI takes 6 minutes, mostly pip and npm installs. Add caching to the workflow.",
        look=(".github/workflows/ci.yml",),
        change=(
            (
                ".github/workflows/ci.yml",
                "      - run: pip install -r requirements.txt\n",
                "      - uses: actions/setup-python@v5\n        with:\n          python-version: '3.12'\n"
                "          cache: pip\n      - uses: actions/setup-node@v4\n        with:\n"
                "          node-version: 22\n          cache: npm\n"
                "          cache-dependency-path: web/package-lock.json\n"
                "      - run: pip install -r requirements.txt\n",
            ),
        ),
        checks=(("python -c \"import yaml; yaml.safe_load(open('.github/workflows/ci.yml'))\"", "", 0),),
        done="Pip and npm caches are keyed on the lock files through setup-python and setup-node.",
        subject="Cache pip and npm in CI",
        agent=True,
        commit={"attribution": (0, 0, 0), "usage": "stale", "hash": "early"},
        outcome=("success", "Workflow changed and committed; the person saw CI go down to 2 minutes."),
    )
    s.prompt("2:10 now, great", pause=20)
    s.reply(say="Good, that matches what the install steps cost.")
    # the checkpoint of a session that goes on without edits: attribution only, no transcript
    point = w.checkpoint(s.clock.now, "main", "bruno")
    w.store(
        point,
        s,
        files=[],
        transcript=False,
        usage="absent",
        attribution={
            "agent_lines": 0,
            "human_added": 12,
            "human_modified": 0,
            "human_removed": 0,
            "total_committed": 12,
            "agent_percentage": 0,
        },
    )
    w.store(
        point,
        s,
        files=[],
        usage="whole",
        attribution={
            "agent_lines": 0,
            "human_added": 12,
            "human_modified": 0,
            "human_removed": 0,
            "total_committed": 12,
            "agent_percentage": 0,
        },
        after=2,
    )
    w.code.trees["main"]["docs/deploy.md"] += "\nCI runs on every push; see `.github/workflows/ci.yml`.\n"
    w.code.commit(
        "main",
        "bruno",
        s.clock.now,
        message=f"Docs: mention CI\n\nEntire-Checkpoint: {point.id}",
        trailers=[point.id],
    )


def coupon_stack(w: World) -> None:
    """A change that is committed and reverted."""
    s = session(
        w,
        "coupon-stacking",
        "2026-02-09T00:20",
        who="chen",
        version="2.1.31",
        ask="Marketing wants coupons to stack: WELCOME10 plus SPRING5 in one cart. Make it so.",
        look=("shop/pricing.py", "shop/cart.py"),
        find=("coupon", ""),
        think="coupon is a single string on the cart. Make it a list and add the shares.",
        say="Coupons are a single string today; I'll make it a list.",
        scout=(
            "Find coupon uses",
            "Find every place that reads or writes a coupon, tests and front end too. Only report.",
            "cart.coupon is set nowhere but in tests; pricing.discount is the only reader.",
            4,
        ),
        change=(
            (
                "shop/pricing.py",
                "    return total * COUPONS.get(coupon, 0)\n",
                "    codes = [coupon] if isinstance(coupon, str) else coupon or []\n"
                "    return total * sum(COUPONS.get(c, 0) for c in codes)\n",
            ),
            (
                "shop/cart.py",
                "    coupon: str | None = None\n",
                "    coupon: list[str] | str | None = None\n",
            ),
        ),
        checks=(("pytest -q", pytest_ok(6), 0),),
        done="Coupons stack: their shares are added. Tests pass.",
        subject="Let coupons stack",
        commit={"attribution": (0, 0, 0), "dated": True, "label": None},
        outcome=(
            "failure",
            "The change let the same coupon be used many times; it was reverted the next day.",
        ),
    )
    when = s.clock.jump(minutes=60 * 31)
    w.code.trees["main"]["shop/pricing.py"] = w.code.trees["main"]["shop/pricing.py"].replace(
        "    codes = [coupon] if isinstance(coupon, str) else coupon or []\n"
        "    return total * sum(COUPONS.get(c, 0) for c in codes)\n",
        "    return total * COUPONS.get(coupon, 0)\n",
    )
    w.code.trees["main"]["shop/cart.py"] = w.code.trees["main"]["shop/cart.py"].replace(
        "    coupon: list[str] | str | None = None\n", "    coupon: str | None = None\n"
    )
    bad = w.code.commits[-1].sha
    w.code.commit(
        "main",
        "ada",
        when,
        message=f'Revert "Let coupons stack"\n\nThis reverts commit {bad}.\n\nA customer used '
        "WELCOME10 ten times in one cart.",
    )


def oversell(w: World) -> None:
    """A race that is half closed."""
    session(
        w,
        "oversell-race",
        "2026-02-10T09:00",
        who="ada",
        ask="Two customers bought the last lamp at the same second. reserve() must not oversell.",
        look=("shop/inventory.py", "shop/db.py"),
        think="Check then update is a race. A conditional UPDATE and "
        "the row count decide it atomically in one database. Several app processes share one file, fine.",
        say="`reserve` checks and updates in two steps. I'll read the database layer too.",
        scout=(
            "Check writers of stock",
            "Which code writes to the stock table, and in which transaction? Only report.",
            "inventory.reserve and inventory.release, each with its own commit. checkout calls both.",
            3,
        ),
        change=(
            (
                "shop/inventory.py",
                "    if level(db, sku) < quantity:\n        raise OutOfStock(sku)\n"
                '    db.execute("UPDATE stock SET quantity = quantity - ? WHERE sku = ?", quantity, sku)\n',
                "    changed = db.execute(\n"
                '        "UPDATE stock SET quantity = quantity - ? WHERE sku = ? AND quantity >= ?", quantity, '
                "sku, quantity\n    )\n    if not changed:\n        raise OutOfStock(sku)\n",
            ),
            (
                "shop/db.py",
                "        self.connection.execute(sql, values)\n        self.connection.commit()\n",
                "        cursor = self.connection.execute(sql, values)\n        self.connection.commit()\n"
                "        return cursor.rowcount\n",
            ),
        ),
        checks=(
            ("pytest -q", pytest_ok(6), 0),
            (
                "python -m shop.bench reserve --threads 8",
                "7 of 8 threads: sqlite3.ProgrammingError: SQLite "
                "objects created in a thread can only be used in that same thread",
                1,
            ),
        ),
        done="The reservation is now one conditional UPDATE, so a single process cannot oversell. I could not "
        "prove it under threads: the Database object is bound to one thread. That needs a connection per "
        "thread, which I have not done.",
        subject="Reserve stock in one conditional update",
        commit={
            "attribution": (0, 3, 0),
            "dated": True,
            "summary": summary(
                "Stop overselling when two customers buy the last item",
                "reserve() became a single conditional UPDATE and tests pass, but the behaviour under several threads "
                "could not be shown: the Database object is bound to one thread.",
                repo=("Database wraps one sqlite3 connection that belongs to the thread that made it",),
                code=(
                    (
                        "shop/inventory.py",
                        14,
                        20,
                        "A conditional UPDATE and its row count replace check-then-act",
                    ),
                ),
                friction=("The threaded benchmark fails with sqlite3.ProgrammingError",),
                todo=("One connection per thread", "A concurrency test for reserve"),
            ),
        },
        outcome=(
            "partial",
            "The race is closed in one process; the proof under threads and a connection per "
            "thread were left open.",
        ),
    )


def admin_slow(w: World) -> None:
    """A delta session: two checkpoints hold disjoint parts, with one line lost in between."""
    s = w.claude("admin-report-n-plus-1", "2026-02-11T22:00", "dora", version="2.1.14")
    s.prompt("The sales report for one day runs 900 queries. One should do.")
    s.reply(s.read("shop/admin.py"), say="That is a query per order.")
    s.reply(
        s.edit(
            "shop/admin.py",
            "    total = 0\n"
            '    for order in db.all("SELECT * FROM orders WHERE day = ?", day):\n'
            '        for item in db.all("SELECT * FROM order_items WHERE order_id = ?", order["id"]):\n'
            '            total += item["price"] * item["quantity"]\n    return total\n',
            '    sql = "SELECT SUM(i.price * i.quantity) AS total FROM order_items i JOIN orders o ON o.id = '
            'i.order_id WHERE o.day = ?"\n    return db.one(sql, day)["total"] or 0\n',
        )
    )
    s.reply(s.bash("pytest -q", pytest_ok(6)))
    s.reply(say="One joined query now. A day without orders gives 0.")
    w.commit(s, "Sales report in one query", dated=True, usage="absent", attribution=None, old_keys=True)
    gap = s.size
    s.prompt("also per product please, and an index if it helps", pause=12)
    s.reply(
        s.bash("sqlite3 shop.db 'EXPLAIN QUERY PLAN SELECT ...'", "SCAN order_items", why="Look at the plan")
    )
    lost = gap + next(n for n, line in enumerate(s.lines[gap:]) if any(f[0] == "tool" for f in line.facts))
    s.reply(
        s.write(
            "migrations/003_order_items_index.sql",
            "CREATE INDEX order_items_order ON order_items (order_id);\n"
            "CREATE INDEX orders_day ON orders (day);\n",
        ),
        s.edit(
            "shop/admin.py",
            "def sales_report(",
            "def sales_by_product(db, day):\n"
            '    return db.all("SELECT i.sku, SUM(i.quantity) AS sold FROM order_items i JOIN orders o ON o.id = '
            'i.order_id WHERE o.day = ? GROUP BY i.sku", day)\n\n\ndef sales_report(',
        ),
    )
    s.reply(s.bash("pytest -q", pytest_ok(6)))
    s.reply(say="`sales_by_product` is in, with two indexes; the plan uses them now.")
    w.commit(
        s,
        "Sales by product, with indexes",
        dated="2026-02-12",
        lo=lost + 1,
        start=853,
        usage="absent",
        attribution=(0, 0, 0),
        old_keys=True,
    )
    s.ended("success", "Both wishes were done, tests pass, both commits are on main.")


PARTS = (
    login_scrypt,
    email_html,
    ci_cache,
    coupon_stack,
    oversell,
    admin_slow,
)
