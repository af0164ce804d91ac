"""What the runs say of every line that they can bear out, also of those that no playbook would name now.

A reviewer's line stays when the data no longer give it; its figures must not stay with it. Ids are those that
`distill` and `teamwork` give, so a line is found again whatever a person made of its text.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessionbank.learning.distill import Findings, role_key
from sessionbank.learning.experience import RunRow
from sessionbank.learning.playbooks import Line
from sessionbank.learning.teamwork import every_line


def measured(rows: Sequence[RunRow], found: Findings) -> dict[str, Line]:
    """Lines by id: practices in both directions, lessons in own words, work with other roles."""
    lines = {line.id: line for line in found.every}
    lines.update({line.id: line for told in found.lessons.values() for line in told})
    for role in {role_key(r) for row in rows for r in row.roles}:
        mine = [row for row in rows if role in {role_key(r) for r in row.roles}]
        lines.update({line.id: line for line in every_line(mine, role)})
    lines.update({line.id: line for line in found.lines.values()})
    return lines
