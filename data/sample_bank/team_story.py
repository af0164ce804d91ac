"""Two agent teams: one that redesigns the checkout (March) and one that fails over fraud checks (April)."""

from __future__ import annotations

from .claude import OPUS
from .outputs import npm_ok, pytest_fail, pytest_ok
from .subagents import spawn
from .team import Team
from .tools import Tool
from .world import World, summary


def search_tools(names: tuple[str, ...]) -> Tool:
    """ToolSearch: the team tools are loaded before their first use."""
    return Tool(
        "ToolSearch",
        {"query": "select:" + ",".join(names), "max_results": len(names)},
        content=[{"type": "tool_reference", "tool_name": n} for n in names],
        outcome={"matches": list(names), "query": "select:" + ",".join(names), "total_deferred_tools": 40},
    )


def checkout_team(w: World) -> None:
    """A team of four that works: plan, two builders, a review with two findings."""
    w.code.branch("feature/checkout-steps")
    s = w.claude(
        "team-checkout-steps",
        "2026-03-23T17:00",
        "bruno",
        branch="feature/checkout-steps",
        version="2.1.74",
        model=OPUS,
    )
    s.prompt(
        "Redesign the checkout into three steps: address, shipping, payment. Use an agent team: a planner, a backend "
        "and a frontend developer, and a reviewer. The reviewer must approve before we commit."
    )
    steps = [
        [s.read("shop/checkout.py"), s.read("web/src/checkout.ts")],
        [s.grep("place_order|submitOrder", "")],
    ]
    s.reply(
        spawn(
            s,
            "Explore",
            "Map the checkout",
            prompt="Map the checkout from front end to database. Only report.",
            steps=steps,
            answer="One call: submitOrder posts card and address, place_order does all the rest.",
            name="Agent",
            repeats=1,
        ),
        think="Before a team is spawned, one look at the ground so that the briefs can be concrete.",
        say="First one agent maps the checkout, then I'll set up the team.",
    )
    t = Team(s, "checkout-steps")
    s.reply(search_tools(("TeamCreate", "SendMessage", "TaskCreate", "TaskUpdate", "TeamDelete")))
    s.reply(t.create("Redesign the checkout into three steps"))
    s.reply(
        t.task("Plan the three steps", "API contract and screens"),
        t.task("Backend: draft orders", "Endpoints and migration"),
        t.task("Frontend: step component", "Three steps with back and next"),
        t.task("Review", "Contract, tests, accessibility"),
        order="between",
        say="The board comes first.",
    )
    s.reply(
        t.spawn(
            "planner",
            "planner",
            "You plan the checkout redesign. Write the API contract to docs/checkout.md, then "
            "send it to backend-dev and frontend-dev.",
            model="opus",
        ),
        t.spawn(
            "backend-dev",
            "backend-dev",
            "You build the API of the new checkout. Wait for the contract from planner.",
        ),
        t.spawn(
            "frontend-dev",
            "frontend-dev",
            "You build the three steps in web/. Wait for the contract from planner.",
            named=False,
        ),
        t.spawn(
            "reviewer",
            "reviewer",
            "You review both sides. Approve only when the tests of both sides pass.",
            named=False,
        ),
        say="Spawning the four teammates.",
    )
    s.reply(
        t.update("1", status="in_progress", owner="planner"),
        t.update("2", owner="backend-dev"),
        t.update("3", owner="frontend-dev"),
    )
    s.reply(say="The team is at work: planner writes the contract, the others wait for it.")
    t.incoming(t.idle("backend-dev"), t.idle("frontend-dev"), t.idle("reviewer"))
    s.reply(say="They wait for the plan, as they should.", end=True)
    t.incoming(
        (
            "planner",
            (
                "Contract is ready",
                "The contract is in docs/checkout.md: POST /drafts, PUT "
                "/drafts/{id}/address, PUT /drafts/{id}/shipping, POST /drafts/{id}/pay. A draft holds no stock until "
                "pay.",
            ),
        ),
        t.idle("planner", "[to backend-dev] contract in docs/checkout.md"),
    )
    s.reply(
        t.update("1", status="completed"),
        t.update("2", status="in_progress"),
        t.send(
            "backend-dev",
            "Start with the drafts table",
            "The contract is ready in docs/checkout.md. Start with the "
            "migration, then the four routes. Reserve stock only in pay.",
        ),
        t.send(
            "frontend-dev",
            "Start with the address step",
            "Contract is in docs/checkout.md. Build the address step "
            "first, reuse validate() for postal codes.",
        ),
        say="Plan accepted. Handing out the work.",
    )
    s.reply(say="Both developers have their start.")
    w.code.work(s.branch)["docs/checkout.md"] = (
        "# Checkout\n\nA draft order goes through three steps: address, shipping, "
        "payment. Stock is reserved in the last step only.\n"
    )
    s.worked("docs/checkout.md", 3, 0)
    t.incoming(
        t.idle("planner", "[to frontend-dev] use PUT for each step, the server answers with the whole draft")
    )
    t.incoming(t.idle("frontend-dev", "[to backend-dev] does PUT answer with totals?"), attachment=True)
    s.reply(t.board(), think="", say="Looking at the board while they talk.")
    w.code.work(s.branch)["migrations/009_drafts.sql"] = (
        "CREATE TABLE drafts (id INTEGER PRIMARY KEY, customer TEXT, address TEXT, shipping TEXT);\n"
    )
    w.code.work(s.branch)["shop/drafts.py"] = (
        '"""Draft orders: the steps before payment."""\n\n\ndef create(db, customer):\n'
        '    return db.insert("drafts", customer=customer)\n\n\ndef set_step(db, draft, step, value):\n'
        '    if step not in ("address", "shipping"):\n        raise ValueError(step)\n'
        '    db.execute(f"UPDATE drafts SET {step} = ? WHERE id = ?", value, draft)\n'
    )
    s.worked("migrations/009_drafts.sql", 1, 0)
    s.worked("shop/drafts.py", 12, 0)
    t.incoming(
        t.idle("backend-dev", "[to frontend-dev] yes, totals are in every answer"),
        (
            "backend-dev",
            (
                "Backend done",
                "Migration 009 and shop/drafts.py are in, 14 tests pass. I left the refund "
                "of a cancelled draft out: the contract says nothing.",
            ),
        ),
    )
    s.reply(
        t.update("2", status="completed"),
        t.update("3", status="in_progress"),
        s.bash("pytest -q", pytest_ok(14), slow=True),
        say="Backend reports done; checking for myself.",
    )
    w.code.work(s.branch)["web/src/steps.ts"] = (
        'import { post } from "./api.js";\n\nexport const STEPS = ["address", "shipping", "payment"] as const;\n\n'
        "export function next(step: (typeof STEPS)[number]) {\n  return STEPS[STEPS.indexOf(step) + 1] ?? null;\n}\n\n"
        'export const startDraft = () => post("/drafts", {});\n'
    )
    s.worked("web/src/steps.ts", 9, 0)
    s.reply(say="14 pass. Waiting for the front end.")
    t.incoming(
        (
            "frontend-dev",
            ("Steps are in", "web/src/steps.ts has the three steps; 8 tests pass. Please review."),
        ),
        t.idle("frontend-dev", "[to reviewer] ready for review"),
    )
    s.reply(
        t.update("3", status="completed"),
        t.update("4", status="in_progress", owner="reviewer"),
        t.send(
            "reviewer",
            "Please review both sides",
            "Backend: shop/drafts.py, migration 009. Front end: "
            "web/src/steps.ts. Check stock reservation and keyboard use.",
        ),
        say="Now the review.",
    )
    s.reply(say="The reviewer is on it.")
    t.incoming(
        (
            "reviewer",
            (
                "2 findings",
                "1. MUST: set_step builds SQL from the step name; it is checked against a list, "
                "fine, but add a test. 2. SHOULD: next() has no test for the last step.",
            ),
        ),
        t.idle("reviewer", "[to reviewer] keep notes for round 2"),
    )
    s.reply(
        t.send(
            "backend-dev",
            "Add a test for unknown steps",
            "Review finding 1: add a test that set_step refuses an unknown step.",
        ),
        t.send("frontend-dev", "Test the last step", "Review finding 2: next('payment') must be null."),
        t.update("7", status="completed"),
        say="Two small findings, one each.",
    )
    s.reply(t.board(), say="Task 7 does not exist; the review is task 4.")
    w.code.work(s.branch)["tests/test_drafts.py"] = (
        "import pytest\n\nfrom shop import drafts\n\n\ndef test_unknown_step(db):\n"
        "    with pytest.raises(ValueError):\n"
        '        drafts.set_step(db, 1, "price; --", "x")\n'
    )
    s.worked("tests/test_drafts.py", 8, 0)
    t.incoming(
        ("backend-dev", "Added tests/test_drafts.py, 15 tests pass."),
        ("frontend-dev", "Test for the last step added, 9 pass."),
        t.idle("backend-dev"),
        t.idle("frontend-dev"),
    )
    t.incoming(("reviewer", ("Approved", "Both findings are closed. Approved.")), t.idle("reviewer"))
    s.reply(
        s.bash("pytest -q && npm test --prefix web", pytest_ok(15) + npm_ok(9, 4), slow=True),
        t.update("4", status="completed"),
        say="Approved. One last run of everything.",
    )
    s.reply(w.agent_commit(s, "Checkout in three steps", usage="stale", attribution=(0, 3, 0)))
    s.reply(t.broadcast_shutdown(), say="Committed. Now I'll end the team.")
    asks = [
        t.shutdown(name, "Work complete") for name in ("planner", "backend-dev", "frontend-dev", "reviewer")
    ]
    s.reply(*asks[:2], order="between")
    s.reply(t.delete(active=("frontend-dev", "reviewer")), say="Cleaning up.")
    s.reply(*asks[2:], order="between", say="Two are still active; asking them as well.")
    t.incoming(
        t.gone("planner"),
        t.approved("planner", asks[0]),
        t.gone("backend-dev"),
        t.approved("backend-dev", asks[1]),
    )
    t.incoming(
        t.gone("frontend-dev"),
        t.approved("frontend-dev", asks[2]),
        t.gone("reviewer"),
        t.approved("reviewer", asks[3]),
    )
    s.reply(t.delete())
    s.reply(say="The checkout has three steps, reviewed and committed; the team is closed.")
    w.finalize(s)
    s.prompt("great work. what did the reviewer find?", pause=8)
    s.reply(
        say="A missing test for unknown steps and one for the last step; both were added before the approval."
    )
    w.commit(
        s,
        "Docs: checkout steps",
        only=["docs/checkout.md"],
        attribution=None,
        usage="window",
        files=[],
        summary=summary(
            "Redesign the checkout into three steps with an agent team",
            "All four tasks were completed, the reviewer approved after two small findings, 15 backend and 9 front end "
            "tests pass, and the change is committed.",
            repo=("docs/checkout.md holds the contract between front end and API",),
            code=(("shop/drafts.py", 8, 11, "Step names are checked against a list before they reach SQL"),),
            workflow=(
                "A written contract let both developers work at the same time",
                "The lead ran the tests itself before believing a report",
            ),
            friction=(
                "A structured message cannot be broadcast",
                "TeamDelete fails while members are active",
            ),
            todo=("Refund of a cancelled draft",),
        ),
    )
    w.code.merge("feature/checkout-steps")
    w.code.commit(
        "main",
        "bruno",
        s.clock.jump(minutes=20),
        message="Merge branch 'feature/checkout-steps'",
        extra_parents=(w.code.heads["feature/checkout-steps"],),
    )
    s.ended(
        "success",
        "All tasks of the board done, review approved, both test suites pass, committed and merged.",
    )


def fraud_team(w: World) -> None:
    """A team without teamName on its lines that talks past each other and is stopped."""
    w.code.branch("feature/fraud")
    s = w.claude(
        "team-fraud-rules", "2026-04-20T08:00", "ada", branch="feature/fraud", version="2.1.90", cache="5m"
    )
    s.prompt(
        "Fraud checks before payment: velocity per card and per address. Small team please, one backend-dev and one "
        "reviewer. I need it by noon."
    )
    t = Team(s, "fraud-rules")
    made = t.create("Fraud checks before payment")
    made.before = None
    s.reply(search_tools(("TeamCreate", "SendMessage")), say="Setting up a team of two.")
    s.reply(made)
    s.reply(
        t.spawn("backend-dev", "backend-dev", "Build fraud checks: at most 3 payments per card and hour."),
        t.spawn("reviewer", "reviewer", "Review the fraud checks; think of families that share an address."),
    )
    s.reply(say="Both are running.")
    t.incoming(t.idle("backend-dev", "[to reviewer] do we have the card number? payments only sees tokens"))
    t.incoming(
        t.idle("reviewer", "[to orchestrator] tokens change per payment, velocity per card is impossible")
    )
    s.reply(
        t.send(
            "backend-dev",
            "Use the fingerprint",
            "The provider returns a card fingerprint with each charge. Use that.",
        ),
        say="The provider has a fingerprint; passing that on.",
    )
    s.reply(say="Told backend-dev.")
    t.incoming(
        (
            "backend-dev",
            (
                "Blocked",
                "The fingerprint only arrives after the charge. A check before payment cannot use it.",
            ),
        ),
        t.idle("backend-dev"),
    )
    s.reply(
        s.read("shop/payments.py"),
        s.bash(
            "pytest -q tests/test_fraud.py",
            pytest_fail(
                0,
                (
                    "tests/test_fraud.py::test_velocity",
                    "AttributeError: 'NoneType' object has no attribute 'fingerprint'",
                ),
            ),
            code=1,
        ),
        say="Let me see what they have.",
    )
    s.prompt("it's noon. is it working or not?", pause=40)
    s.reply(
        say="No. The check needs a fingerprint that exists only after the charge; the one test fails. It needs a "
        "pre-authorisation at the provider, which is a contract question."
    )
    s.prompt("ok stop it. shut them down, throw it away", pause=2)
    asks = [t.shutdown("backend-dev", "Stopped by the user"), t.shutdown("reviewer", "Stopped by the user")]
    s.reply(*asks)
    t.incoming(t.gone("backend-dev"), t.approved("backend-dev", asks[0]), t.gone("reviewer"))
    s.reply(t.delete(active=("reviewer",)))
    s.reply(say="Both were asked to stop; the team folder is still there because reviewer had not left yet.")
    w.loose(s, usage="window", root={"cli": "0.9.4"})
    w.give_up(s)
    s.ended(
        "failure",
        "The idea cannot work before payment, the only test fails, the person stopped the team; no commit.",
    )
