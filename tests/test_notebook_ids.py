"""A notebook with widgets is the same file each time it is made: ids that the widgets drew are counted through."""

from __future__ import annotations

import json

from nbformat.v4 import new_code_cell, new_notebook, new_output

from scripts import notebooks


def made(box, child, unseen):
    """A notebook that shows a box with one child; a third widget is shown nowhere."""
    state = {
        box: {"model_name": "VBoxModel", "state": {"children": [f"IPY_MODEL_{child}"]}},
        child: {"model_name": "HTMLModel", "state": {"value": "words"}},
        unseen: {"model_name": "HTMLModel", "state": {"value": "old"}},
    }
    view = {notebooks.VIEW: {"model_id": box, "version_major": 2, "version_minor": 0}, "text/plain": "VBox()"}
    cell = new_code_cell("box", id="cell-01", outputs=[new_output("display_data", data=view)])
    return new_notebook(cells=[cell], metadata={"widgets": {notebooks.STATE: {"state": state}}})


def test_ids_follow_from_what_is_shown():
    one = notebooks.steady(made("f" * 32, "a" * 32, "b" * 32))
    two = notebooks.steady(made("0a" * 16, "9c" * 16, "1d" * 16))
    assert json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
    state = one.metadata["widgets"][notebooks.STATE]["state"]
    assert sorted(state) == [f"{1:032x}", f"{2:032x}"]
    assert state[f"{1:032x}"]["state"]["children"] == [f"IPY_MODEL_{2:032x}"]


def test_a_notebook_without_widgets_stays_as_it_is():
    plain = new_notebook(cells=[new_code_cell("1", id="cell-01")])
    assert notebooks.steady(plain) == plain
