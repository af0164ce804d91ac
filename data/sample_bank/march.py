"""Early March 2026: an import, refunds that fail, CSRF tokens, a grid, prices in two delta records."""

from __future__ import annotations

from .outputs import npm_ok, pytest_fail, pytest_ok
from .telling import session
from .tools import failed
from .world import World, summary


def stock_import(w: World) -> None:
    """An MCP tracker, a failing MCP call, a clean import."""
    s = w.claude("stock-import", "2026-03-02T18:20", "bruno", version="2.1.55")
    s.prompt("SHOP-88: import stock levels from the warehouse CSV. Read the ticket first.")
    s.reply(
        s.mcp(
            "tracker",
            "get_issue",
            {"id": "SHOP-88"},
            answer={
                "id": "SHOP-88",
                "title": "Import warehouse CSV",
                "body": "Columns: article;count;bin. Semicolons, Windows-1252, thousands separators. "
                "Unknown articles are "
                "reported, not created.",
            },
        ),
        say="Reading the ticket.",
    )
    s.reply(
        s.read("shop/inventory.py"),
        failed(
            s.mcp("tracker", "get_comments", {"id": "SHOP-88"}, answer=""),
            "Entity not found: Comment",
            wrap=False,
        ),
        think="cp1252, `;`, dots as thousands separators.",
    )
    s.reply(
        s.write(
            "shop/stock_import.py",
            '"""Import of the warehouse file."""\n\nimport csv\n\n\n'
            "def run(db, path):\n    unknown = []\n"
            '    with open(path, encoding="cp1252", newline="") as file:\n'
            '        for row in csv.DictReader(file, delimiter=";"):\n'
            '            count = int(row["count"].replace(".", ""))\n'
            '            sql = "UPDATE stock SET quantity = ? WHERE sku = ?"\n'
            '            if not db.execute(sql, count, row["article"]):\n'
            '                unknown.append(row["article"])\n    return unknown\n',
        ),
        s.write(
            "tests/test_stock_import.py",
            "from shop.stock_import import run\n\n\ndef test_import(db, tmp_path):\n"
            '    db.insert("stock", sku="mug", quantity=1)\n    file = tmp_path / "w.csv"\n'
            '    file.write_text("article;count;bin\\nmug;1.200;A1\\nxyz;3;B2\\n", encoding="cp1252")\n'
            '    assert run(db, file) == ["xyz"]\n',
        ),
    )
    s.reply(s.bash("pytest -q tests/test_stock_import.py", pytest_ok(1)))
    s.reply(
        s.mcp("tracker", "update_issue", {"id": "SHOP-88", "state": "done"}, answer="updated"),
        say="The import works; moving the ticket.",
    )
    s.reply(say="`shop/stock_import.py` reads the file and returns unknown articles. SHOP-88 is set to done.")
    s.bash_io("git status --short", "?? shop/stock_import.py\n?? tests/test_stock_import.py")
    w.commit(
        s,
        "Import stock from the warehouse file",
        attribution=(0, 4, 0),
        summary=summary(
            "Import stock levels from the warehouse CSV",
            "The importer handles encoding, separators and unknown articles; its "
            "test passes and the ticket is closed.",
            repo=("Tickets are in the tracker; read them before coding",),
            code=(
                ("shop/stock_import.py", 8, 15, "The file is Windows-1252 with dots as thousands separators"),
            ),
        ),
    )
    s.ended("success", "Ticket read, import written and tested, committed, ticket closed.")


def refund_partial(w: World) -> None:
    """A false claim of success; the person takes over."""
    s = w.claude("partial-refund", "2026-03-03T01:00", "chen", version="2.1.55")
    s.summary_line("Coupon stacking")
    s.prompt(
        "Partial refunds: an order can be refunded line by line, the sum of refunds must not exceed the charge."
    )
    s.reply(s.read("shop/payments.py"), s.read("shop/checkout.py"), say="Refunds have no table yet.")
    s.reply(
        s.write(
            "shop/refunds.py",
            '"""Refunds of single lines."""\n\nfrom shop import payments\n\n\n'
            "def refund_line(db, order, sku):\n"
            '    item = db.one("SELECT * FROM order_items WHERE order_id = ? AND sku = ?", order, sku)\n'
            '    return payments.refund(order, item["price"] * item["quantity"])\n',
        ),
        s.write(
            "tests/test_refunds.py",
            "from shop import payments\nfrom shop.refunds import refund_line\n\n\n"
            "def test_not_more_than_the_charge(db, monkeypatch):\n"
            '    monkeypatch.setattr(payments, "refund", lambda *a: {"id": "r"})\n'
            '    db.insert("order_items", order_id=1, sku="mug", quantity=1, price=7.5)\n'
            '    refund_line(db, 1, "mug")\n    try:\n        refund_line(db, 1, "mug")\n'
            "    except ValueError:\n        return\n    assert False\n",
        ),
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_refunds.py",
            pytest_fail(0, ("tests/test_refunds.py::test_not_more_than_the_charge", "assert False")),
            code=1,
        )
    )
    s.reply(
        s.edit(
            "shop/refunds.py",
            "    return payments",
            '    done = db.one("SELECT SUM(amount) AS a FROM refunds WHERE '
            'order_id = ?", order)["a"] or 0\n    if done:\n        raise ValueError("refunded already")\n'
            "    return payments",
        ),
        think="",
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_refunds.py",
            pytest_fail(
                0,
                (
                    "tests/test_refunds.py::test_not_more_than_the_charge",
                    "sqlite3.OperationalError: no such table: refunds",
                ),
            ),
            code=1,
        )
    )
    s.reply(say="The refunds are in place and everything works now.")
    s.prompt("that's not true, the test still fails: no such table. did you even look?", pause=2)
    s.reply(
        s.edit("shop/refunds.py", "FROM refunds", "FROM order_refunds"),
        say="You're right, I'll fix the table name.",
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_refunds.py",
            pytest_fail(
                0,
                (
                    "tests/test_refunds.py::test_not_more_than_the_charge",
                    "sqlite3.OperationalError: no such table: order_refunds",
                ),
            ),
            code=1,
        )
    )
    s.prompt("there is no such table either. I'm doing this myself", pause=1)
    s.interrupt()
    w.loose(
        s,
        usage="window",
        index=2,
        summary=summary(
            "Refund orders line by line without exceeding the charge",
            "Tests still fail with a missing table. The agent claimed "
            "success once while they failed; the user took the work over.",
            code=(("shop/refunds.py", 7, None, "Reads a refunds table that no migration creates"),),
            workflow=("Run the tests before saying that it works",),
            friction=("Claimed success with a failing test",),
            todo=("Migration for refunds",),
        ),
    )
    w.give_up(s)
    s.ended(
        "failure",
        "The tests failed at the end, a false claim was made, the person took over; nothing committed.",
    )


def csrf(w: World) -> None:
    """A clean change under a wrong label."""
    session(
        w,
        "csrf-tokens",
        "2026-03-04T09:00",
        who="ada",
        version="2.1.55",
        ask="Our POST routes have no CSRF protection. Add a double submit token, SameSite cookies, tests.",
        look=("shop/api.py", "web/src/api.js"),
        scout=(
            "List POST callers",
            "List every call of post() in web/src with its path. Only report.",
            "cart.js, checkout.ts and login.js; all go through api.js.",
            5,
        ),
        think="Double submit: cookie and header compared in constant time.",
        change=(
            (
                "shop/csrf.py",
                '"""Double submit tokens against cross site requests."""\n\nimport hmac\nimport '
                "secrets\n\n\ndef token():\n    return secrets.token_urlsafe(24)\n\n\ndef check(request):\n"
                '    sent, kept = request.headers.get("X-CSRF", ""), request.cookies.get("csrf", "")\n'
                "    return bool(kept) and hmac.compare_digest(sent, kept)\n",
            ),
            (
                "web/src/api.js",
                '{ method: "POST", body',
                '{ method: "POST", headers: { "X-CSRF": cookie("csrf") }, body',
            ),
            (
                "web/src/api.js",
                'const BASE = "/api";\n',
                'const BASE = "/api";\nconst cookie = (name) => '
                'document.cookie.match(`${name}=([^;]*)`)?.[1] ?? "";\n',
            ),
            (
                "tests/test_csrf.py",
                "from types import SimpleNamespace\n\nfrom shop import csrf\n\n\n"
                "def test_wrong_token():\n"
                '    request = SimpleNamespace(headers={"X-CSRF": "a"}, cookies={"csrf": "b"})\n'
                "    assert not csrf.check(request)\n",
            ),
        ),
        checks=(("pytest -q", pytest_ok(9), 0), ("npm test --prefix web", npm_ok(5), 0)),
        done="POST requests carry a token that is compared with the cookie in constant time; wrong and missing tokens "
        "are refused, with tests.",
        subject="CSRF tokens for POST routes",
        commit={
            "attribution": (2, 0, 0),
            "label": "Gemini CLI",
            "summary": summary(
                "Protect POST routes against CSRF",
                "Implemented a double submit token with tests; no failing tests remain "
                "and nothing was left open.",
                code=(("shop/csrf.py", 11, 13, "An empty cookie never matches, even with an empty header"),),
            ),
        },
        outcome=("success", "Protection on both sides with tests, all pass, committed."),
    )


def gemini_grid(w: World) -> None:
    """Gemini: a grid that one browser breaks."""
    g = w.gemini("product-grid-css", "2026-03-05T02:00", "dora")
    g.prompt("the product grid breaks below 600px, make it responsive")
    g.reply("", g.look("web/src/grid.css"), thought="Finding the style sheet. The file may not exist.")
    g.reply(
        "There is no grid.css; I'll create one.",
        g.create(
            "web/src/grid.css",
            ".grid { display: grid; gap: 1rem;\n"
            "  grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); }\n",
        ),
    )
    g.reply("", g.shell("npm test --prefix web", "Tests  5 passed (5)"))
    g.reply("The grid adapts to the width. I could not check it in Safari.")
    g.prompt("safari 15 still overlaps, but ok for now")
    g.note("warning", "Loop detection is off for this session")
    g.reply("Safari 15 has a bug with gap in nested grids; a margin fallback would be the next step.")
    w.commit(g, "Responsive product grid", attribution=(0, 0, 0), usage="absent", label=None)
    g.ended("partial", "Works in current browsers, still overlaps in Safari 15; committed with that known.")


def price_history(w: World) -> None:
    """A second delta session: two disjoint parts, without a loss."""
    s = w.claude("price-history", "2026-03-06T03:00", "chen", version="2.1.58", cache="5m")
    s.prompt("Keep a history of prices: who changed what when. Show it in the admin.")
    s.reply(s.read("shop/admin.py"), say="One function changes prices; good.")
    s.reply(
        s.write(
            "migrations/006_price_history.sql",
            "CREATE TABLE price_history (sku TEXT, price REAL, changed_by TEXT, changed_at INTEGER);\n",
        ),
        s.edit(
            "shop/admin.py",
            "def update_price(db, sku, price):\n",
            "def update_price(db, sku, price, by):\n"
            '    db.insert("price_history", sku=sku, price=price, changed_by=by, changed_at=int(time.time()))\n',
        ),
        s.edit(
            "shop/admin.py",
            '"""Back office: orders, products, reports."""\n',
            '"""Back office: orders, products, reports."""\n\nimport time\n',
        ),
    )
    s.reply(s.bash("pytest -q", pytest_ok(9)))
    s.reply(say="Price changes are recorded.")
    w.commit(s, "Record price changes", attribution=(0, 0, 0), usage="window")
    part = s.size
    s.prompt("and the admin page", pause=25)
    s.reply(
        s.edit(
            "shop/admin.py",
            "def sales_by_product(",
            "def price_history(db, sku):\n"
            '    return db.all("SELECT * FROM price_history WHERE sku = ? ORDER BY changed_at", sku)\n\n\n'
            "def sales_by_product(",
        ),
        s.edit(
            "shop/api.py",
            '@route("GET", "/admin/orders")',
            '@route("GET", "/admin/prices")\ndef admin_prices(request):\n'
            '    return admin.price_history(request.db, request.query["sku"])\n\n\n@route("GET", "/admin/orders")',
        ),
    )
    s.reply(s.bash("pytest -q", pytest_ok(9)))
    s.reply(say="`GET /admin/prices?sku=` lists the history.")
    w.commit(
        s,
        "Show the price history",
        summary=summary(
            "Keep and show a history of prices",
            "Every change is recorded with its author and listed by an admin route. Tests "
            "pass; both parts are committed.",
            code=(("shop/admin.py", 14, 16, "update_price now needs the author"),),
        ),
        lo=part,
        start=part,
        usage="zero",
        attribution=(0, 0, 0),
    )
    s.ended("success", "History is recorded and shown, tests pass, two commits.")


PARTS = (
    stock_import,
    refund_partial,
    csrf,
    gemini_grid,
    price_history,
)
