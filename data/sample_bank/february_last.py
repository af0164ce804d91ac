"""Last days of February 2026: sessions in the database with a compaction and a fork, mails, a theme."""

from __future__ import annotations

from .claude import SONNET
from .outputs import npm_ok, pytest_ok
from .subagents import finish, spawn
from .telling import session
from .tools import failed
from .world import World, summary


def session_expiry(w: World) -> None:
    """A compaction, and a session that another one is forked from."""
    s = w.claude("session-expiry", "2026-02-23T17:00", "bruno", version="2.1.45")
    s.prompt(
        "Login sessions never expire and are lost on restart. Put them in the database, 14 days, sliding."
    )
    s.reply(
        s.read("shop/auth.py"),
        s.read("migrations/001_start.sql"),
        s.read("shop/db.py"),
        think="Table sessions(token, "
        "user, expires). Sliding: update on use, at most once an hour to spare writes.",
    )
    s.reply(
        s.todo(
            ("migration", "in_progress"),
            ("login writes, current_user reads", "pending"),
            ("sliding", "pending"),
        ),
        think="",
    )
    s.reply(
        s.write(
            "migrations/004_sessions.sql",
            "CREATE TABLE sessions (token TEXT PRIMARY KEY, user INTEGER, expires INTEGER);\n",
        ),
        s.edit(
            "shop/auth.py",
            '        SESSIONS[token] = user["id"]\n',
            '        db.insert("sessions", token=token, user=user["id"], expires=int(time.time()) + LIFETIME)\n',
        ),
        s.edit("shop/auth.py", "SESSIONS = {}\n", "LIFETIME = 14 * 24 * 3600\n"),
    )
    s.reply(
        s.edit(
            "shop/auth.py",
            "def current_user(token):\n    return SESSIONS.get(token)\n",
            "def current_user(db, token):\n    now = int(time.time())\n"
            '    row = db.one("SELECT * FROM sessions WHERE token = ? AND expires > ?", token, now)\n'
            '    if not row:\n        return None\n    if row["expires"] - now < LIFETIME - 3600:\n'
            '        db.execute("UPDATE sessions SET expires = ? WHERE token = ?", now + LIFETIME, token)\n'
            '    return row["user"]\n',
        ),
        s.edit("shop/auth.py", "import secrets\n", "import secrets\nimport time\n"),
    )
    s.reply(s.bash("pytest -q", pytest_ok(7), slow=True))
    s.reply(say="Sessions live in the database for 14 days and slide, at most one write an hour.")
    fork_at = s.size
    w.commit(s, "Keep login sessions in the database", attribution=(0, 0, 0), old_keys=False)
    s.compact(
        "1. Primary request: sessions in the database, 14 days, sliding.\n2. Done: migration 004, auth.py, tests "
        "pass, committed.\n3. Pending: cleanup of expired rows.",
        trigger="manual",
    )
    s.prompt("now a cleanup for expired rows, called from the deploy script", pause=3)
    s.reply(
        s.edit(
            "infra/deploy.sh",
            "docker run -d",
            "docker run --rm shop python -m shop.auth cleanup\ndocker run -d",
        ),
        s.edit(
            "shop/auth.py",
            "def current_user(",
            "def cleanup(db):\n"
            '    return db.execute("DELETE FROM sessions WHERE expires < ?", int(time.time()))\n\n\n'
            "def current_user(",
        ),
    )
    s.reply(s.bash("pytest -q && sh -n infra/deploy.sh", pytest_ok(7)))
    s.reply(say="`cleanup` deletes expired sessions; the deploy script calls it before the start.")
    w.commit(
        s,
        "Clean up expired sessions on deploy",
        attribution=(0, 1, 0),
        summary=summary(
            "Persist login sessions and expire them",
            "Sessions are stored in the database with a sliding 14 day lifetime and "
            "expired rows are cleaned up on deploy. All tests pass.",
            code=(("shop/auth.py", 40, None, "Expiry slides at most once an hour to spare writes"),),
            workflow=("After a compaction the summary was enough to continue",),
        ),
    )
    s.ended("success", "Persistence and cleanup were both done, tested and committed.")
    f = w.fork(s, "logout-everywhere", "2026-02-24T18:10", upto=fork_at)
    f.prompt("Continue from here: I want a 'log out everywhere' button.", pause=0)
    f.reply(
        f.edit(
            "shop/auth.py",
            "def cleanup(",
            "def logout_everywhere(db, user):\n"
            '    db.execute("DELETE FROM sessions WHERE user = ?", user)\n\n\ndef cleanup(',
        ),
        f.edit(
            "shop/api.py",
            '@route("POST", "/orders")',
            '@route("POST", "/logout-everywhere")\n'
            "def logout(request):\n    auth.logout_everywhere(request.db, request.user)\n    return {}\n\n\n"
            '@route("POST", "/orders")',
        ),
    )
    f.reply(f.bash("pytest -q", pytest_ok(7)))
    f.reply(say="The route deletes every session of the user.")
    w.commit(f, "Log out everywhere", attribution=(0, 0, 0), start=0, usage="window")
    f.ended("success", "The route was added on top of the forked conversation, tests pass, committed.")


def shipping(w: World) -> None:
    """Two of three rules."""
    s = session(
        w,
        "shipping-rules",
        "2026-02-25T03:10",
        who="chen",
        version="2.1.45",
        ask="Shipping: free above 50 in DE, 9.90 flat to FR and AT, heavy items +5. Weight is not in the data yet.",
        look=("shop/pricing.py",),
        find=("shipping", "shop/"),
        change=(
            (
                "shop/pricing.py",
                "def shipping(total):\n    return 0 if total > 50 else 4.9\n",
                'def shipping(total, country="DE"):\n    if country != "DE":\n        return 9.9\n'
                "    return 0 if total > 50 else 4.9\n",
            ),
        ),
        checks=(("pytest -q", pytest_ok(7), 0),),
        done="Country rates are in. The surcharge for heavy items is not: products have no weight, so it needs a "
        "migration and data first.",
        subject="Shipping rates by country",
        commit={
            "attribution": (0, 0, 0),
            "summary": summary(
                "Shipping rules by country and weight",
                "Country rates work and are committed. The heavy item surcharge "
                "was not implemented because products have no weight.",
                todo=("Add products.weight and fill it", "Heavy item surcharge"),
            ),
        },
        outcome=("partial", "Two of three rules done; the weight rule was left open."),
    )
    s.snapshot_line()


def mail_retry(w: World) -> None:
    """A background subagent and a prompt in mid-turn."""
    s = w.claude("mail-retry", "2026-02-26T00:10", "dora", version="2.1.45", cache="both")
    s.prompt(
        "SMTP hiccups lose order mails. Queue them in the database and retry with backoff. Look up in the background "
        "how other modules do retries while you start."
    )
    task = spawn(
        s,
        "general-purpose",
        "Find retry code",
        prompt="List every place in the repository that retries anything, with file and line.",
        background=True,
        steps=[[s.grep("retry|sleep|backoff", ""), s.glob(".py")]],
        answer="Nothing retries today. The closest is infra/deploy.sh with `|| true`.",
    )
    s.reply(
        task,
        s.read("shop/emails.py"),
        say="The lookup runs in the background; I'll read the mail module meanwhile.",
    )
    s.reply(
        s.write(
            "migrations/005_outbox.sql",
            "CREATE TABLE outbox (id INTEGER PRIMARY KEY, recipient TEXT, subject "
            "TEXT, body TEXT, tries INTEGER DEFAULT 0, next_try INTEGER DEFAULT 0);\n",
        )
    )
    finish(s, task)
    s.reply(
        s.write(
            "shop/outbox.py",
            '"""Mails that wait to be sent."""\n\nimport time\n\nfrom shop import emails\n\n\n'
            "def deliver(db):\n    now = int(time.time())\n"
            '    for row in db.all("SELECT * FROM outbox WHERE next_try <= ? AND tries < 8", now):\n'
            '        try:\n            emails.send(row["recipient"], row["subject"], row["body"])\n'
            '            db.execute("DELETE FROM outbox WHERE id = ?", row["id"])\n        except OSError:\n'
            '            wait = 60 * 2 ** row["tries"]\n'
            '            db.execute("UPDATE outbox SET tries = tries + 1, next_try = ? WHERE id = ?", now + wait, '
            'row["id"])\n',
        ),
        say="Nothing else retries, so I set the rule: doubling from one minute, 8 tries.",
    )
    s.queued("use 10 tries please, the provider was down 5 hours last time")
    s.reply(s.edit("shop/outbox.py", "tries < 8", "tries < 10"), s.bash("pytest -q", pytest_ok(7)))
    s.reply(say="Mails wait in `outbox` and are retried up to 10 times, doubling from a minute.")
    w.commit(s, "Queue mails and retry with backoff", attribution=(0, 2, 1), usage="whole")
    s.ended(
        "success",
        "Outbox with the number of tries that the person asked for in mid-turn; tests pass, committed.",
    )


def dark_mode(w: World) -> None:
    """A switch that reaches half of the pages."""
    w.code.branch("feature/theme")
    s = w.claude(
        "dark-mode", "2026-02-27T09:00", "ada", branch="feature/theme", version="2.1.50", model=SONNET
    )
    s.prompt("Dark mode for the front end with a switch that remembers.")
    s.reply(s.glob(".js"), failed(s.read("web/src/theme.css"), "File does not exist."), order="between")
    s.reply(
        s.write(
            "web/src/theme.css",
            ":root { --bg: #fff; --fg: #222; }\n[data-theme=dark] { --bg: #161616; --fg: "
            "#eee; }\nbody { background: var(--bg); color: var(--fg); }\n",
        ),
        s.write(
            "web/src/theme.js",
            "export function setTheme(name) {\n  document.documentElement.dataset.theme = name;\n"
            '  localStorage.setItem("theme", name);\n}\n\nexport const startTheme = () => '
            'setTheme(localStorage.getItem("theme") ?? "light");\n',
        ),
    )
    s.reply(s.bash("npm test --prefix web", npm_ok(5), slow=True))
    s.enqueue("wait, also the product cards")
    s.dequeue("popAll", "wait, also the product cards")
    s.reply(say="The theme switch works for page colours and is remembered.")
    s.prompt("product cards and the admin are still white, but I need to go. commit what works", pause=14)
    s.reply(
        w.agent_commit(s, "Theme switch, page colours only", attribution=(0, 0, 0)),
        say="Committing the part that works.",
    )
    s.reply(say="Committed on feature/theme. Open: product cards and admin pages.")
    w.finalize(s)
    s.ended(
        "partial",
        "The switch works, product cards and admin are still white; committed on a branch that never merged.",
    )


PARTS = (
    session_expiry,
    shipping,
    mail_retry,
    dark_mode,
)
