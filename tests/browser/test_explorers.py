"""The explorers in a real JupyterLab, by mouse and by keyboard."""

from __future__ import annotations

import nbformat
import pytest

CELLS = (
    'import sessionbank as sb\nbank = sb.open_bank("../data/shop.bundle", cache=False, progress=False)\nsb.browse(bank)',
    'sb.browse(sb.team.from_session(bank.query(search="agent team")[0]), bank=bank)',
    "from sessionbank.learning import Atlas, Memory\nimport tempfile\nfolder = tempfile.mkdtemp()\n"
    "own = sb.open_bank('../data/shop.bundle', cache=False, state_dir=folder + '/s', progress=False)\n"
    "atlas = Atlas(own, Memory(folder + '/m'))\n_ = atlas.ingest_sessions(limit=29), atlas.run_batch()\n"
    "sb.review(atlas, reviewer='Ada')",
)


@pytest.fixture(scope="module")
def panel(page, address, lab_folder):
    """A notebook with an explorer of the sample bank and one of a team, run."""
    from tests.browser.lab import Lab

    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = nbformat.v4.new_notebook(
        metadata={"kernelspec": kernel}, cells=[nbformat.v4.new_code_cell(c) for c in CELLS]
    )
    nbformat.write(book, lab_folder / "notebooks" / "explorers.ipynb")
    opened = Lab(page, address)
    opened.open("explorers.ipynb")
    opened.run_all()
    found = page.locator(".jp-NotebookPanel:visible")
    found.get_by_role("button", name="Read 1", exact=True).wait_for()
    return found


def button(panel, name):
    return panel.get_by_role("button", name=name, exact=True).first


def test_a_session_is_picked_by_mouse_and_left_by_keyboard(lab, panel):
    assert panel.get_by_text("60 sessions, stored 2026-02-02 to 2026-04-29").count()
    button(panel, "Read 3").click()
    button(panel, "Next error").wait_for()
    lab.text("2 errors")
    button(panel, "Next error").click()
    lab.text("error 1 of 2")
    button(panel, "Next error").focus()
    lab.page.keyboard.press("Enter")
    lab.text("error 2 of 2")
    button(panel, "Stored line").click()
    lab.text('"sessionId"')
    button(panel, "Back to the sessions").focus()
    lab.page.keyboard.press("Enter")
    button(panel, "Read 3").wait_for()


def test_words_narrow_the_bank(lab, panel):
    box = panel.get_by_placeholder("words that were said").first
    box.fill("CSRF")
    box.press("Enter")
    lab.text("1 session")
    assert panel.get_by_role("button", name="Read 2", exact=True).count() == 0
    button(panel, "Clear filters").click()
    button(panel, "Read 2").wait_for()


def test_an_edge_of_a_team_is_picked_and_read(lab, panel):
    edges = panel.locator("select").filter(has_text="team-lead → planner").first
    edges.select_option(index=1)
    lab.text("What was said")
    button(panel, "Timeline").click()
    panel.locator("svg[aria-label], svg[role=img]").last.wait_for()
    button(panel, "Hand-overs").click()
    button(panel, "Weights").click()
    slider = panel.locator(".widget-slider, .jupyter-widget-slider").filter(has_text="step threshold")
    handle = slider.locator(".noUi-handle, .ui-slider-handle").first
    handle.focus()
    handle.press("ArrowRight")
    lab.text("Read a critical step")


def test_a_line_is_reviewed_by_keyboard(lab, panel):
    accept = panel.get_by_role("button", name="Accept", exact=True)
    accept.wait_for()
    accept.scroll_into_view_if_needed()
    lab.text("the stored line")
    accept.focus()
    lab.page.keyboard.press("Enter")
    lab.text("a decision names its reviewer and its reason")
    reason = panel.get_by_placeholder("kept with the decision")
    reason.fill("seen it help")
    reason.press("Tab")
    accept.focus()
    lab.page.keyboard.press("Enter")
    lab.text("accept, by Ada; now version 1.1.0")
    lab.text("accept by Ada")
