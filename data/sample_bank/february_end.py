"""Late February 2026: a finalized turn, the front end, half of an address check, a flake, invoices, a README."""

from __future__ import annotations

from .claude import SONNET
from .outputs import npm_fail, npm_ok, pytest_ok
from .telling import session
from .tools import rejected, unanswered
from .world import World, summary


def payment_cents(w: World) -> None:
    """One turn with three commits, finalized: three checkpoints hold the same full transcript."""
    s = w.claude("payment-cents", "2026-02-12T17:30", "bruno", version="2.1.38")
    s.prompt(
        "int(amount * 100) charges 1998 cents for 19.99. Fix charge, then refund, then document the rule. One commit "
        "each."
    )
    s.reply(
        s.read("shop/payments.py"),
        s.grep("payments\\.", "shop/"),
        think="int() truncates; round via Decimal.",
    )
    s.reply(
        s.edit("shop/payments.py", '"amount": int(amount * 100)', '"amount": cents(amount)'),
        s.edit(
            "shop/payments.py",
            "def charge(",
            "def cents(amount):\n"
            "    return int((Decimal(str(amount)) * 100).to_integral_value(ROUND_HALF_UP))\n\n\ndef charge(",
        ),
        s.edit(
            "shop/payments.py", "import json\n", "import json\nfrom decimal import ROUND_HALF_UP, Decimal\n"
        ),
        order="between",
        say="First the charge.",
    )
    s.reply(s.bash("pytest -q", pytest_ok(6)))
    s.reply(w.agent_commit(s, "Charge whole cents", usage="stale", attribution=(0, 0, 0)))
    s.reply(
        s.edit(
            "shop/payments.py", '"amount": amount}', '"amount": None if amount is None else cents(amount)}'
        ),
        say="Now the refund.",
    )
    s.reply(s.bash("pytest -q", pytest_ok(6)))
    s.reply(w.agent_commit(s, "Refund whole cents", usage="stale", attribution=(0, 0, 0)))
    s.reply(
        s.edit(
            "docs/architecture.md",
            "# Architecture\n",
            "# Architecture\n\nMoney is a decimal number of euros in "
            "Python and whole cents at the payment provider; `payments.cents` converts, half up.\n",
        )
    )
    s.reply(w.agent_commit(s, "Document how money is rounded", usage="stale", attribution=(0, 0, 0)))
    s.reply(say="Three commits: charge, refund, documentation. 19.99 is charged as 1999 cents.")
    w.finalize(s)
    s.ended("success", "All three parts were done in order, each tested and committed.")


def debounce(w: World) -> None:
    """The search box waits; a failing test is mended."""
    session(
        w,
        "search-debounce",
        "2026-02-13T00:30",
        who="chen",
        model=SONNET,
        version="2.1.38",
        ask="The search box fires a request for every key. Debounce it, 200 ms, and encode the query.",
        look=("web/src/search.js",),
        change=(
            (
                "web/src/search.js",
                '  input.addEventListener("input", async () => {\n'
                "    render(await get(`/products?q=${input.value}`));\n  });\n",
                '  let timer;\n  input.addEventListener("input", () => {\n    clearTimeout(timer);\n'
                "    timer = setTimeout(async () => {\n"
                "      render(await get(`/products?q=${encodeURIComponent(input.value)}`));\n    }, 200);\n  });\n",
            ),
            (
                "web/test/search.test.js",
                'import { expect, test, vi } from "vitest";\n'
                'import { attachSearch } from "../src/search.js";\n\ntest("waits 200 ms", () => {\n'
                "  vi.useFakeTimers();\n"
                "  const input = new EventTarget();\n  attachSearch(input, vi.fn());\n});\n",
            ),
        ),
        checks=(
            (
                "npm test --prefix web",
                npm_fail(4, ("search.test.js > waits 200 ms", "fetch is not defined")),
                1,
            ),
            ("npm test --prefix web", npm_ok(5), 0),
        ),
        fix=(
            (
                "web/test/search.test.js",
                "  vi.useFakeTimers();\n",
                '  vi.useFakeTimers();\n  vi.stubGlobal("fetch", vi.fn());\n',
            ),
        ),
        done="Debounced by 200 ms and encoded. Front end tests pass.",
        subject="Debounce the search box",
        commit={"attribution": (1, 0, 0), "label": "Agent"},
        outcome=("success", "Change and test made; a failing first run was fixed; committed."),
    )


def address_check(w: World) -> None:
    """Half of a wish: the front end only."""
    session(
        w,
        "address-validation",
        "2026-02-13T21:00",
        who="dora",
        version="2.1.38",
        model=SONNET,
        ask="Checkout accepts 'asdf' as a postal code. Validate DE, FR and AT, front end and API.",
        look=("web/src/checkout.ts", "shop/api.py"),
        change=(
            (
                "web/src/checkout.ts",
                "  country: string;\n}",
                "  country: string;\n  zip: string;\n}\n\n"
                "const ZIP: Record<string, RegExp> = { DE: /^\\d{5}$/, FR: /^\\d{5}$/, AT: /^\\d{4}$/ };",
            ),
            (
                "web/src/checkout.ts",
                "address.city && address.country);",
                "address.city && ZIP[address.country]?.test(address.zip));",
            ),
        ),
        checks=(("npx tsc --noEmit -p web", "", 0), ("npm test --prefix web", npm_ok(5), 0)),
        done="The front end checks postal codes for DE, FR and AT. I did not get to the API side: `POST /orders` "
        "does not receive the address yet, so there is nothing to validate there.",
        after=(
            "ok, front end is better than nothing, I'll file the API part",
            "Thanks. The API needs an address in the order body first.",
        ),
        subject="Validate postal codes in the front end",
        commit={
            "attribution": (0, 2, 0),
            "summary": summary(
                "Validate postal codes in front end and API",
                "The front end validates DE, FR and AT. The API does not yet: it receives no address.",
                todo=("Send the address with the order", "Validate it in the API"),
            ),
        },
        outcome=("partial", "Front end done and committed; the API half was not done."),
    )


def merge_search(w: World) -> None:
    """A true merge: the checkpoints of the branch reach main."""
    from .ids import parse

    w.code.merge("feature/search")
    w.code.commit(
        "main",
        "chen",
        parse("2026-02-14T05:00"),
        message="Merge branch 'feature/search'",
        extra_parents=(w.code.heads["feature/search"],),
    )


def flaky(w: World) -> None:
    """A flake that nobody finds; interrupted, on a detached HEAD."""
    s = w.claude("flaky-checkout-test", "2026-02-16T10:00", "ada", branch="HEAD", version="2.1.40")
    s.prompt("test_declined_card_releases_stock fails about once in 30 CI runs. Find the flake.")
    s.reply(
        s.bash(
            "for i in $(seq 30); do pytest -q tests/test_checkout_release.py || break; done",
            "\n".join(["1 passed in 0.05s"] * 8),
            slow=True,
        ),
        think="",
    )
    s.reply(
        s.read("tests/test_checkout_release.py"),
        s.read("tests/conftest.py"),
        say="30 local runs pass. Let me read the fixture.",
    )
    s.reply(
        s.bash("pytest -q -p randomly --count 200", "ERROR: file or directory not found: randomly", code=4)
    )
    s.reply(s.bash("pytest -q -n 4 tests", "ERROR: unrecognized arguments: -n 4", code=4), think="")
    s.reply(
        unanswered(s.bash("for i in $(seq 500); do pytest -q || break; done", slow=False)),
        say="I'll run the whole suite 500 times.",
    )
    s.interrupt()
    s.prompt("that will take an hour and it's not reproducing. forget it", pause=1)
    s.reply(say="I could not reproduce the failure locally; I have no explanation for it yet.")
    w.loose(s, usage="window", files_null=True, label="Agent")
    s.ended("failure", "The flake was not reproduced, the person interrupted and dropped it, no commit.")


def invoices(w: World) -> None:
    """A plan that is refused twice."""
    w.code.branch("feature/invoices")
    s = w.claude("invoice-pdf", "2026-02-18T02:00", "chen", branch="feature/invoices", version="2.1.40")
    s.custom_command(
        "plan-feature",
        "Plan the feature that the user names. Ask before you choose a library. Write no code "
        "before the plan is approved.",
    )
    s.reply(
        s.ask(
            "How should invoices be made?",
            ["reportlab", "HTML and a headless browser", "Plain text"],
            "reportlab",
        ),
        think="",
    )
    s.reply(
        rejected(s.write("shop/invoice.py", "from reportlab.pdfgen import canvas\n", apply=False)),
        say="I'll start with the layout.",
    )
    s.prompt("I said plan first. show me the plan", pause=1)
    s.reply(
        s.plan("1. Number range per year\n2. One page layout with reportlab\n3. Attach to the order mail"),
        say="Here is the plan.",
    )
    s.reply(rejected(s.bash("pip install reportlab", "")), say="Installing the library.")
    s.prompt(
        "no. legal says the number range has to come from accounting, so the plan is wrong anyway", pause=3
    )
    s.reply(say="Then invoices have to wait for accounting's number range. I have written nothing.")
    s.prompt("yes. drop it for now", pause=1)
    s.reply(say="Dropped.")
    w.loose(
        s,
        usage="window",
        summary=summary(
            "Create PDF invoices for orders",
            "Not implemented. The plan was rejected because the invoice number range has to "
            "come from accounting; the work was dropped before any code was written.",
            repo=("There is no invoice code in the repository",),
            workflow=("A plan was expected before any edit",),
            friction=(
                "An edit was rejected because the plan had not been approved",
                "An install was rejected",
            ),
            todo=("Get the number range from accounting",),
        ),
        dated="2026-02-18",
    )
    w.give_up(s)
    s.ended("failure", "Two rejected calls, the plan turned out wrong, the feature was dropped without code.")


def gemini_readme(w: World) -> None:
    """Gemini: the README, stored twice."""
    g = w.gemini("readme-setup", "2026-02-19T01:00", "dora")
    g.prompt("Rewrite the README so that a new colleague can start the shop in five minutes")
    g.reply(
        "I'll look at what there is.",
        g.look("README.md"),
        g.look("Makefile"),
        thought="Reading the build files. The Makefile has test and lint but no dev target.",
    )
    g.reply(
        "The README promises `make dev`, which the Makefile does not have. I'll add it.",
        g.change("Makefile", "test:\n", "dev:\n\tpython -m shop & npm run dev --prefix web\n\ntest:\n"),
        g.change(
            "README.md",
            "- `make dev` starts",
            "1. `python -m venv .venv && .venv/bin/pip install -r "
            "requirements.txt`\n2. `npm ci --prefix web`\n3. `make dev`\n\n- `make dev` starts",
        ),
    )
    g.reply("", g.shell("make -n dev", "python -m shop & npm run dev --prefix web"))
    g.reply("README.md now has the three commands, and `make dev` exists.")
    w.commit(g, "README: start in five minutes", attribution=(0, 0, 0), usage="absent", label=None)
    g.prompt("mention the ports too", parts=True)
    g.reply(
        "They are mentioned already: 8000 for the API and 5173 for the front end.",
        thought="Checking. Ports are in the list below the commands.",
    )
    point = w.checkpoint(g.clock.now, "main", "dora")
    w.store(point, g, usage="absent", label="Agent", attribution=None, files=[])
    g.ended(
        "success", "README and Makefile were changed as asked and committed; the last wish was already met."
    )


PARTS = (
    payment_cents,
    debounce,
    address_check,
    merge_search,
    flaky,
    invoices,
    gemini_readme,
)
