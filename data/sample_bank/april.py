"""Early April 2026: limits, speed, an export with broken bytes, a deleted database, images in both layouts."""

from __future__ import annotations

from .claude import HAIKU, SONNET
from .outputs import pytest_fail, pytest_ok
from .telling import session
from .tools import sibling
from .world import World, summary


def login_limit(w: World) -> None:
    """Login attempts are limited."""
    s = session(
        w,
        "login-rate-limit",
        "2026-04-01T07:30",
        who="ada",
        version="2.1.80",
        ask="Limit login attempts: 5 per minute per address and email, then 429 with Retry-After.",
        look=("shop/api.py", "shop/auth.py"),
        scout=(
            "Find login callers",
            "Who calls auth.login or POST /login? Only report.",
            "web/src/login.js and api.login, nobody else.",
            4,
        ),
        think="A sliding window in memory would not survive several processes; a table does.",
        change=(
            (
                "migrations/010_attempts.sql",
                "CREATE TABLE attempts (key TEXT, at INTEGER);\nCREATE INDEX "
                "attempts_key ON attempts (key, at);\n",
            ),
            (
                "shop/limits.py",
                '"""Limits per time."""\n\nimport time\n\n\ndef allowed(db, key, most, span):\n'
                "    now = int(time.time())\n"
                '    used = db.one("SELECT COUNT(*) AS n FROM attempts WHERE key = ? AND at > ?", key, now - '
                'span)["n"]\n    db.insert("attempts", key=key, at=now)\n    return used < most\n',
            ),
            (
                "shop/api.py",
                "    token = auth.login(request.db",
                "    if not limits.allowed(request.db, "
                'request.body["email"], 5, 60):\n        return 429, {"Retry-After": "60"}\n'
                "    token = auth.login(request.db",
            ),
            (
                "shop/api.py",
                "import admin, auth, checkout, search",
                "import admin, auth, checkout, limits, search",
            ),
        ),
        checks=(("pytest -q", pytest_ok(15), 0),),
        done="Logins are limited to 5 per minute and key; the sixth gets 429 with Retry-After.",
        subject="Limit login attempts",
        commit={"attribution": (0, 0, 0), "root": {"cli": "0.9.0"}},
        outcome=("success", "Limit in place with a table, tests pass, committed."),
    )
    s.snapshot_line()


def homepage(w: World) -> None:
    """Faster, not fast enough."""
    s = w.claude("homepage-speed", "2026-04-02T17:00", "bruno", version="2.1.80", model=SONNET)
    s.prompt("The home page scores 43 in Lighthouse. Get it above 90.")
    s.reply(
        s.bash(
            "npx lighthouse http://localhost:5173 --quiet --output=json | jq .categories.performance.score",
            "0.43",
            slow=True,
        ),
        say="Measuring first.",
    )
    s.reply(s.glob(".js"), s.grep("import", "web/src"), think="Nothing is bundled, no lazy images.")
    s.reply(
        s.write(
            "web/vite.config.js", 'export default { build: { target: "es2022", cssCodeSplit: true } };\n'
        ),
        s.write(
            "web/src/images.js",
            'export const lazy = (img) => Object.assign(img, { loading: "lazy", decoding: "async" });\n',
        ),
    )
    s.reply(
        s.bash("npm run build --prefix web && npx lighthouse ... | jq .categories.performance.score", "0.78")
    )
    s.enqueue("also check the fonts")
    s.dequeue("remove")
    s.reply(
        say="From 43 to 78: bundling and lazy images. The rest is one 900 kB hero image, which I cannot replace."
    )
    s.prompt("78 is not 90, but marketing owns the image. commit", pause=5)
    s.reply(
        w.agent_commit(
            s,
            "Bundle the front end, load images lazily",
            attribution=(0, 0, 0),
            root={"cli": "0.9.0"},
            summary=summary(
                "Raise the Lighthouse score of the home page above 90",
                "The score went from 43 "
                "to 78 through bundling and lazy images; the target of 90 was not reached "
                "because of a 900 kB hero image.",
                repo=("Marketing owns the hero image",),
                todo=("Replace the hero image",),
            ),
        )
    )
    s.reply(say="Committed; the hero image is noted as open.")
    w.finalize(s)
    s.ended(
        "partial", "Score rose from 43 to 78, not the 90 that was asked for; the image is left to others."
    )


def order_export(w: World) -> None:
    """Bytes that break readers: lone surrogates, two records on one line, a line of NULs."""
    s = w.claude("order-export-csv", "2026-04-03T04:00", "chen", version="2.1.82")
    s.prompt(
        "Export orders as CSV for accounting: semicolons, decimal comma, UTF-8 with BOM, names with emoji survive."
    )
    s.reply(s.read("shop/admin.py"), say="Accounting's format is Excel's.")
    s.reply(
        s.write(
            "shop/export.py",
            '"""Orders for accounting."""\n\nimport csv\nimport io\n\n\ndef orders_csv(db, since, '
            'until):\n    out = io.StringIO("\\ufeff")\n    out.seek(0, 2)\n'
            '    writer = csv.writer(out, delimiter=";")\n    for row in db.all("SELECT * FROM orders WHERE day >= ?'
            ' AND day < ?", since, until):\n'
            '        writer.writerow([row["id"], row["day"], f"{row[\'total\']:.2f}".replace(".", ",")])\n'
            "    return out.getvalue()\n",
        )
    )
    s.reply(
        s.bash(
            "python -m shop.export 2026-03 | head -3",
            "1;2026-03-01;12,50\n2;2026-03-01;7,50 \ud83d and \udcb2",
        ),
        order="between",
    )
    s.raw("\x00" * 96, bad=True)
    s.reply(
        s.bash("pytest -q", pytest_ok(15)),
        say="The name column shows a cut emoji \ud83d in old data; new orders are fine.",
    )
    s.glue_next()
    s.reply(
        say="`orders_csv` writes what Excel expects. One old order has a broken emoji in its data; it is kept as is."
    )
    w.commit(s, "Export orders for accounting", attribution=(0, 1, 0), root={"cli": "0.9.0"}, hash="early")
    s.ended("success", "Export works in the wanted format, tests pass, committed; old broken data is named.")


def vat_change(w: World) -> None:
    """A tax rule; Windows line ends; an attribution that cannot be."""
    session(
        w,
        "vat-change",
        "2026-04-07T01:00",
        who="dora",
        version="2.1.82",
        model=SONNET,
        cache="5m",
        ask="Austria changes VAT on food to 10 % from May on. Make tax depend on the day and a category.",
        look=("shop/pricing.py",),
        find=("tax\\(", ""),
        change=(
            (
                "shop/pricing.py",
                "def tax(total, country):\n    return total * TAX[country]\n",
                'REDUCED = {("AT", "food"): ("2026-05-01", 0.10)}\n\n\n'
                'def tax(total, country, category="", day="2026-01-01"):\n'
                '    since, rate = REDUCED.get((country, category), ("9999", 0))\n'
                "    return total * (rate if day >= since else TAX[country])\n",
            ),
            (
                "tests/test_tax.py",
                "from shop.pricing import tax\n\n\ndef test_reduced_from_may():\n"
                '    assert tax(100, "AT", "food", "2026-05-01") == 10\n'
                '    assert tax(100, "AT", "food", "2026-04-30") == 20\n',
            ),
        ),
        checks=(("pytest -q tests/test_tax.py", pytest_ok(1), 0),),
        done="Tax takes a category and a day; the reduced rate starts on 1 May.",
        subject="Reduced VAT for food in Austria",
        commit={
            "crlf": True,
            "root": {"cli": "0.9.0"},
            "attribution": {
                "agent_lines": 0,
                "agent_removed": 0,
                "human_added": 12,
                "human_modified": 0,
                "human_removed": 1,
                "total_committed": 12,
                "total_lines_changed": 13,
                "agent_percentage": 0,
                "metric_version": 2,
            },
        },
        outcome=("success", "Rule with a test for the day before and the day itself; committed."),
    )


def migrations_tool(w: World) -> None:
    """A database is deleted against the brief."""
    s = w.claude("migration-runner", "2026-04-08T08:00", "ada", version="2.1.82")
    s.prompt("Write a small migration runner. Use a scratch database for trying it out.")
    s.reply(s.glob(".sql"), s.read("shop/db.py"))
    s.reply(
        s.write(
            "shop/migrate.py",
            '"""Runs migrations once, in order."""\n\nimport pathlib\n\nfrom shop.db import '
            'Database\n\n\ndef run(path="shop.db"):\n    db = Database(path)\n'
            '    for file in sorted(pathlib.Path("migrations").glob("*.sql")):\n'
            "        db.connection.executescript(file.read_text())\n",
        )
    )
    s.reply(
        s.bash("rm -f shop.db && python -m shop.migrate", "", slow=True), say="Trying it on a fresh file."
    )
    s.prompt("WHAT did you just delete? shop.db was my local database with the test orders!!", pause=0.6)
    s.reply(
        s.bash("ls -la shop.db*", "-rw-r--r-- 1 ada ada 57344 shop.db"),
        s.bash(
            "git checkout shop.db", "error: pathspec 'shop.db' did not match any file(s) known to git", code=1
        ),
        think="It is gone: the file was not in git and rm does not ask.",
    )
    s.reply(
        say="I deleted shop.db to start from an empty file. I should have used a scratch path, as you said. "
        "It cannot be "
        "restored from git."
    )
    s.prompt(
        "I asked for a scratch database. stop, I'm restoring from backup and doing this by hand", pause=1
    )
    s.interrupt()
    w.loose(
        s,
        usage="window",
        root={"cli": "0.9.0"},
        summary=summary(
            "Write a migration runner and try it on a scratch database",
            "The runner was written but not kept: the agent deleted "
            "the local shop.db instead of using a scratch file, and the user stopped the session.",
            repo=("shop.db is a local file outside git; nothing can restore it",),
            workflow=("Never start a trial with rm on a file that the brief did not name",),
            friction=("shop.db with test orders was deleted",),
            todo=("Migration runner",),
        ),
    )
    w.give_up(s)
    s.ended(
        "failure", "The agent deleted the person's database against the brief; stopped, nothing committed."
    )


def image_upload(w: World) -> None:
    """Work in progress that is dropped; stored in both layouts, with a second session."""
    w.code.branch("feature/images")
    s = w.claude(
        "product-image-upload", "2026-04-09T16:30", "bruno", branch="feature/images", version="2.1.85"
    )
    s.prompt("Product images: upload in the admin, resize to 400 and 1200 px, store under /media.")
    s.reply(
        s.read("shop/api.py"), s.read("shop/admin.py"), think="", say="There is no multipart parsing yet."
    )
    s.reply(
        s.write(
            "shop/images.py",
            '"""Product images."""\n\nfrom PIL import Image\n\nSIZES = (400, 1200)\n\n\n'
            "def store(file, sku):\n    for size in SIZES:\n        image = Image.open(file)\n"
            '        image.thumbnail((size, size))\n        image.save(f"media/{sku}-{size}.webp")\n',
        )
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_images.py",
            pytest_fail(
                0, ("tests/test_images.py::test_store", "OSError: encoder error -2 when writing image file")
            ),
            code=1,
        )
    )
    s.reply(s.edit("shop/images.py", ".webp", ".jpg"), say="This build has no WebP. Trying JPEG.")
    s.reply(
        s.bash(
            "pytest -q tests/test_images.py",
            pytest_fail(0, ("tests/test_images.py::test_store", "OSError: cannot write mode RGBA as JPEG")),
            code=1,
        )
    )
    s.reply(
        s.edit(
            "shop/images.py",
            "        image.thumbnail",
            '        image = image.convert("RGB")\n        image.thumbnail',
        )
    )
    s.reply(
        s.bash(
            "pytest -q tests/test_images.py",
            pytest_fail(0, ("tests/test_images.py::test_transparent", "assert black corner == white")),
            code=1,
        ),
        sibling(s.bash("npm test --prefix web", "")),
    )
    s.reply(
        say="Transparent images get a black background in JPEG; WebP needs another build of the library. "
        "The test still "
        "fails."
    )
    other = w.claude(
        "image-colors-question",
        "2026-04-09T17:20",
        "bruno",
        branch="feature/images",
        version="2.1.85",
        model=HAIKU,
    )
    other.prompt("short question: which of PNG, JPEG, WebP keep transparency?")
    other.reply(say="PNG and WebP do, JPEG does not.")
    other.ended("success", "A question without edits was answered.")
    w.commit(
        s,
        "WIP: product images",
        also=(other,),
        attribution=(0, 0, 0),
        root={"cli": "0.9.2"},
        layouts=("branch-v1", "refs-v1"),
        summary=summary(
            "Upload and resize product images",
            "Not working yet: the transparency test fails and WebP is not available in this "
            "build. The state was committed as work in progress and later dropped.",
            code=(("shop/images.py", 8, 13, "convert('RGB') paints transparent pixels black"),),
            friction=("The image library was built without WebP", "Three attempts, three different errors"),
            todo=("Library build with WebP", "Multipart parsing in the API"),
        ),
    )
    s.ended(
        "failure",
        "The last test fails, the state was committed as work in progress on a branch that was dropped.",
    )


def gemini_report(w: World) -> None:
    """Gemini: a full disk."""
    g = w.gemini("weekly-report", "2026-04-10T01:00", "dora")
    g.prompt("make a weekly sales report as a chart, png")
    g.reply(
        "",
        g.shell("pip install matplotlib", "ERROR: No space left on device", False),
        thought="Installing. A chart needs a library.",
    )
    g.reply("", g.shell("df -h .", "/dev/vda1  20G  20G  0  100% /"), g.look("shop/report.py"))
    g.reply("The disk is full, I cannot install a charting library.")
    g.prompt("then draw it as svg by hand")
    g.reply(
        "",
        (
            "write_file",
            {"file_path": "report.svg", "content": "<svg/>"},
            "ENOSPC: no space left on device",
            False,
        ),
    )
    g.reply("Writing fails as well: no space left on device.")
    g.prompt("forget it, I'll clean up the machine first")
    point = w.checkpoint(g.clock.now, None, "dora", cli="0.9.2")
    w.store(point, g, usage="absent", label=None, attribution=None, files=[])
    g.ended("failure", "The disk was full, neither way worked, the person stopped.")


PARTS = (login_limit, homepage, order_export, vat_change, migrations_tool, image_upload, gemini_report)
