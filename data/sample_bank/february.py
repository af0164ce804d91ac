"""Early February 2026: the first fixes. Older transcripts: Task subagents, no stop reasons."""

from __future__ import annotations

from .claude import SONNET
from .outputs import pytest_fail, pytest_ok
from .subagents import spawn
from .tools import failed, sibling
from .world import World, summary


def cart_rounding(w: World) -> None:
    """Totals off by a cent, fixed with decimals."""
    s = w.claude("cart-rounding", "2026-02-02T08:12", "ada")
    s.prompt(
        "Cart totals are off by a cent for some baskets (3 x 0.35 shows 1.0499999). Please fix it and add a test."
    )
    s.reply(
        s.read("shop/cart.py"),
        s.read("tests/test_cart.py"),
        think="Prices are floats and total() never rounds. "
        "Rounding half up with Decimal is the usual answer; the stored price column is REAL, so convert at the edge.",
        say="I'll look at how the total is built and what is tested today.",
    )
    s.reply(s.grep(r"\.total\(\)", "shop/"), say="Let me see who uses `total()` before I change its type.")
    s.reply(
        s.edit(
            "shop/cart.py",
            "        return sum(i.price * i.quantity for i in self.items)\n",
            "        exact = sum(Decimal(str(i.price)) * i.quantity for i in self.items)\n"
            '        return float(exact.quantize(Decimal("0.01"), ROUND_HALF_UP)) if self.items else 0\n',
        ),
        s.edit(
            "shop/cart.py",
            "from dataclasses import dataclass, field\n",
            "from dataclasses import dataclass, field\nfrom decimal import ROUND_HALF_UP, Decimal\n",
        ),
    )
    s.reply(
        s.edit(
            "tests/test_cart.py",
            "def test_remove():",
            'def test_total_is_rounded_half_up():\n    cart = Cart("c1")\n    cart.add("sticker", 0.35, 3)\n'
            "    assert cart.total() == 1.05\n\n\ndef test_remove():",
        )
    )
    s.reply(s.bash("pytest -q tests/test_cart.py", pytest_ok(3), why="Run the cart tests"))
    s.reply(
        say="Totals are now computed with `Decimal` and rounded half up to cents; a test covers 3 x 0.35. All cart "
        "tests pass."
    )
    w.commit(
        s,
        "Round cart totals half up",
        usage="absent",
        dated=True,
        hash="early",
        zone=1.0,
        attribution=(0, 2, 0),
        old_keys=True,
        summary=summary(
            "Fix cart totals that are off by a cent",
            "Totals are rounded half up with Decimal; a new test covers the "
            "reported basket and all cart tests pass.",
            repo=("Prices are REAL in the database",),
            code=(
                ("shop/cart.py", 26, 28, "Convert with Decimal(str(price)); Decimal(price) keeps the error"),
            ),
        ),
    )
    s.ended("success", "The asked fix and test were made, the tests pass, the commit is on main.")


def checkout_leak(w: World) -> None:
    """A declined card keeps its stock; ends in the agent's commit."""
    s = w.claude("checkout-stock-leak", "2026-02-02T17:40", "bruno", model=SONNET, version="2.1.27")
    s.prompt(
        "When the card is declined, stock stays reserved. We lost 14 mugs on the weekend. Find out why and fix."
    )
    s.reply(
        s.read("shop/checkout.py"),
        s.read("shop/inventory.py"),
        order="between",
        think="reserve() commits at once, charge() may raise, nothing releases.",
        say="I'll read checkout and inventory together.",
    )
    s.reply(
        s.edit(
            "shop/checkout.py",
            "    charge = payments.charge(card_token, cart.total())\n",
            "    try:\n        charge = payments.charge(card_token, cart.total())\n    except Exception:\n"
            "        for item in cart.items:\n            inventory.release(db, item.sku, item.quantity)\n"
            "        raise\n",
        ),
        say="`charge` can raise after `reserve` has committed, and nothing gives the "
        "stock back. I'll release it when the charge fails.",
    )
    s.reply(
        s.write(
            "tests/test_checkout_release.py",
            "import pytest\n\nfrom shop import checkout, payments\nfrom shop.cart import Cart\n\n\n"
            "def test_declined_card_releases_stock(db, monkeypatch):\n"
            '    db.insert("stock", sku="mug", quantity=3)\n    cart = Cart("c1")\n    cart.add("mug", 7.5, 2)\n'
            '    monkeypatch.setattr(payments, "charge", lambda *a: 1 / 0)\n'
            '    with pytest.raises(ZeroDivisionError):\n        checkout.place_order(db, cart, "tok")\n'
            '    assert db.one("SELECT quantity FROM stock")["quantity"] == 3\n',
        )
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_checkout.py tests/test_checkout_release.py",
            pytest_fail(
                1,
                (
                    "tests/test_checkout_release.py::test_declined_card_releases_stock",
                    "fixture 'db' not found",
                ),
            ),
            code=1,
        )
    )
    s.reply(
        s.write(
            "tests/conftest.py",
            "import pathlib\n\nimport pytest\n\nfrom shop.db import Database\n\n\n"
            "@pytest.fixture\ndef db():\n    database = Database()\n"
            '    for path in sorted(pathlib.Path("migrations").glob("*.sql")):\n'
            "        database.connection.executescript(path.read_text())\n    return database\n",
        ),
        say="There is no `db` fixture yet. I'll add one that runs the migrations in memory.",
    )
    s.reply(s.bash("pytest -q", pytest_ok(6), slow=True))
    s.reply(
        w.agent_commit(
            s,
            "Release reserved stock when the charge fails",
            cut=True,
            usage="absent",
            dated=True,
            hash="early",
            attribution=(3, 0, 1),
        )
    )
    s.reply(
        say="Committed. The reservation is released when the provider refuses the card, with a test for it."
    )
    s.ended("success", "The leak was found and fixed with a test, all tests pass, the agent committed.")


def search_speed(w: World) -> None:
    """Four growing snapshots of one session, with a subagent."""
    w.code.branch("feature/search")
    s = w.claude("search-speed", "2026-02-03T01:05", "chen", branch="feature/search", version="2.1.27")
    s.prompt("Search takes 1.8s with 40k products. Make it fast. Start by finding out where the time goes.")
    steps = [
        [s.grep("search", "shop/", mode="files_with_matches"), s.read("shop/search.py")],
        [s.read("shop/db.py"), failed(s.read("shop/cache.py"), "File does not exist.")],
        [
            s.bash(
                "python -m cProfile -m shop.bench search",
                "1.79s in search(): 40212 rows fetched, 40212 lower()",
                explicit=False,
            )
        ],
    ]
    s.reply(
        spawn(
            s,
            "Explore",
            "Profile product search",
            prompt="Find out where time goes in product search. Report files, "
            "functions and what dominates. Do not change anything.",
            steps=steps,
            repeats=2,
            answer="All time is in shop/search.py: every request loads the whole products table and lowers every "
            "name in Python. There is no index and no LIMIT in SQL.",
        ),
        think="",
        say="I'll send a subagent to profile first, so that this context stays small.",
    )
    s.reply(
        s.edit(
            "shop/search.py",
            '    rows = db.all("SELECT * FROM products")\n    words = text.lower().split()\n'
            '    hits = [r for r in rows if all(w in r["name"].lower() for w in words)]\n'
            "    return hits[(page - 1) * size : page * size]\n",
            "    words = text.lower().split()\n"
            '    where = " AND ".join("lower(name) LIKE ?" for _ in words) or "1"\n'
            '    sql = f"SELECT * FROM products WHERE {where} LIMIT ? OFFSET ?"\n'
            '    return db.all(sql, *[f"%{w}%" for w in words], size, (page - 1) * size)\n',
        ),
        say="Filtering and paging belong in SQL. First step: push both down.",
    )
    s.reply(s.bash("pytest -q tests/test_search.py", pytest_ok(1)))
    s.reply(
        say="Search now filters and pages in SQL: 1.8s became 0.21s on the 40k set. The rest is the full scan; an "
        "FTS table would remove it. Shall I?"
    )
    w.commit(
        s,
        "Filter and page products in SQL",
        dated="2026-02-02",
        digits=6,
        attribution=(0, 0, 0),
        hash="early",
    )
    s.prompt("yes, go for FTS5, with a migration", pause=9)
    s.reply(
        s.write(
            "migrations/002_search.sql",
            "CREATE VIRTUAL TABLE products_fts USING fts5(sku UNINDEXED, name);\n"
            "INSERT INTO products_fts SELECT sku, name FROM products;\n"
            "CREATE TRIGGER products_added AFTER INSERT ON products BEGIN\n"
            "  INSERT INTO products_fts VALUES (new.sku, new.name);\nEND;\n",
        ),
        s.edit(
            "shop/search.py",
            '    where = " AND ".join("lower(name) LIKE ?" for _ in words) or "1"\n'
            '    sql = f"SELECT * FROM products WHERE {where} LIMIT ? OFFSET ?"\n'
            '    return db.all(sql, *[f"%{w}%" for w in words], size, (page - 1) * size)\n',
            '    if not words:\n        return db.all("SELECT * FROM products LIMIT ? OFFSET ?", size, '
            "(page - 1) * size)\n"
            '    match = " ".join(f\'"{w}"*\' for w in words)\n'
            '    sql = "SELECT p.* FROM products_fts f JOIN products p USING (sku) WHERE products_fts MATCH ? '
            'LIMIT ? OFFSET ?"\n    return db.all(sql, match, size, (page - 1) * size)\n',
        ),
        think="Prefix match per word, quoted so that user text cannot be FTS syntax.",
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_search.py",
            pytest_fail(0, ("tests/test_search.py::test_search_finds_all_words", "assert [] == ['mug-red']")),
            code=1,
        )
    )
    s.reply(
        s.read("tests/test_search.py"),
        s.bash("sqlite3 --version", "3.45.1"),
        say="The trigger runs, so why is the list empty? Let me look at the test's data.",
    )
    s.reply(s.edit("shop/search.py", "f'\"{w}\"*'", "f'\"{w.replace(chr(34), chr(34) * 2)}\"*'"))
    s.reply(s.bash("pytest -q tests/test_search.py", pytest_ok(1)))
    s.reply(say="FTS5 is in, 6 ms per search. A double quote in the search text is escaped.")
    w.commit(s, "Full text index for product search", dated="2026-02-03", attribution=(4, 1, 0))
    s.prompt("an umlaut search (`tee für zwei`) finds nothing, can you check?", pause=35)
    s.reply(s.bash('python -c "..."', "[]", why="Reproduce with an umlaut"))
    s.reply(
        s.edit(
            "migrations/002_search.sql",
            "fts5(sku UNINDEXED, name);",
            "fts5(sku UNINDEXED, name, tokenize='unicode61 remove_diacritics 2');",
        ),
        s.edit(
            "tests/test_search.py",
            "def test_search_finds",
            "def test_search_ignores_accents(db):\n"
            '    db.insert("products", sku="tea", name="Tee für zwei", price=4)\n'
            '    assert search(db, "fur")\n\n\ndef test_search_finds',
        ),
    )
    s.reply(s.bash("pytest -q tests/test_search.py", pytest_ok(2)))
    s.reply(say="The tokenizer now removes diacritics; `fur` and `für` both match, with a test.")
    w.commit(s, "Ignore accents in search", attribution=(0, 0, 0), prompt=False)
    s.prompt("add a line to docs/architecture.md about the FTS table, then we're done", pause=4)
    s.reply(
        s.edit(
            "docs/architecture.md",
            "only.\n",
            "only. Search reads `products_fts`, which triggers keep in step with `products`.\n",
        )
    )
    s.reply(say="Added.")
    w.commit(
        s,
        "Document the search table",
        zone=11.0,
        digits=9,
        summary=summary(
            "Make product search fast for 40k products",
            "Search went from 1.8s to 6ms with an FTS5 table kept in step by "
            "triggers; accents are ignored. Tests pass and everything is committed on feature/search.",
            repo=("Migrations in migrations/*.sql are run in name order by the test fixture",),
            code=(
                ("shop/search.py", 4, 10, "Words are quoted before MATCH, so user text cannot be FTS syntax"),
                (
                    "migrations/002_search.sql",
                    None,
                    None,
                    "A trigger keeps products_fts in step on insert only",
                ),
            ),
            workflow=("Profile before changing: the subagent found the full table load in one pass",),
            friction=("First FTS query returned nothing because of quoting",),
            todo=("Updates and deletes of products do not reach products_fts yet",),
        ),
    )
    s.ended("success", "Search became fast step by step, each step tested and committed, docs written.")


def login_hash(w: World) -> None:
    """A package cannot be installed; given up."""
    w.code.branch("fix/login-hash")
    s = w.claude("login-hash", "2026-02-04T10:20", "ada", branch="fix/login-hash", version="2.1.29")
    s.prompt("Passwords are plain sha256. Move to bcrypt, keep old logins working.")
    s.reply(
        s.read("shop/auth.py"),
        s.grep("hash_password", ""),
        say="Let me see how passwords are stored and checked.",
    )
    s.reply(
        s.edit(
            "shop/auth.py",
            "    return hashlib.sha256(password.encode()).hexdigest()\n",
            "    return bcrypt.hashpw(password.encode(), bcrypt.gensalt()).decode()\n",
        ),
        s.edit("shop/auth.py", "import hashlib\n", "import bcrypt\nimport hashlib\n"),
    )
    s.reply(
        s.bash(
            "pip install bcrypt",
            "ERROR: Could not find a version that satisfies the requirement bcrypt "
            "(from versions: none)\nERROR: No matching distribution found for bcrypt",
            code=1,
        ),
        sibling(s.bash("pytest -q", "")),
        say="I need the package, then the tests.",
    )
    s.reply(
        s.bash("pip download bcrypt -d vendor", "ERROR: Network is unreachable", code=1),
        say="The index is not reachable from here. Trying a download.",
    )
    s.reply(
        s.bash(
            "pytest -q",
            pytest_fail(
                4, ("tests/test_login.py::test_login", "ModuleNotFoundError: No module named 'bcrypt'")
            ),
            code=1,
        ),
        think="",
    )
    s.reply(
        say="bcrypt cannot be installed in this environment, so the login tests fail with ModuleNotFoundError. I "
        "left the change in the working tree; it needs the package before it can run."
    )
    s.prompt("no, then this is useless to me. leave it, I'll think about another way", pause=6)
    s.reply(say="Understood. I'm stopping here; nothing is committed.")
    w.loose(s, files_null=True, usage="absent", dated=True, prompt=True, hash="early")
    w.give_up(s)
    s.ended(
        "failure",
        "The package could not be installed, the last tests fail, the user gave the attempt up, no commit.",
    )


PARTS = (cart_rounding, checkout_leak, search_speed, login_hash)
