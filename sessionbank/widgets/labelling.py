"""A person labels how sessions ended: one session a page, what the strategies say beside it, buttons that write a file.

What a page shows is made by pure functions (`page_html`, `progress_html`); the widget only holds them together. Nothing
is judged here, and text from transcripts is escaped, without secrets and names (`sb.redact_views` is the switch).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.html import box, shortened, table_html
from sessionbank.records import Session
from sessionbank.redaction import shown_all
from sessionbank.trajectory.model import LABELS, Outcome
from sessionbank.trajectory.outcome import outcomes_of
from sessionbank.trajectory.outcomes.commit import CommitFacts
from sessionbank.trajectory.outcomes.labels import Label, read_labels, write_label

if TYPE_CHECKING:
    import ipywidgets

_TEXT = "white-space:pre-wrap;border-left:3px solid #bbb;padding-left:8px;margin:4px 0"
_LONGEST = 12_000  # characters of a text that are looked at; fewer are shown
LAST = 6  # prompts, replies and interruptions at the end that are shown


def page_html(session: Session, outcomes: Mapping[str, Outcome] | None = None) -> str:
    """One session to be labelled: request, end of the conversation, summary, and what each strategy says (if given).

    A person who labels in order to check strategies should not see them first: leave `outcomes` out.

    Example:
        >>> from sessionbank.widgets.labelling import page_html
        >>> "Cart totals are off by a cent" in page_html(bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f"))
        True
    """
    main = [m for m in session.messages if not m.is_subagent and (m.text or "").strip()]
    prompts = [m for m in main if m.kind == "prompt"]
    last = [m for m in main if m.kind in ("prompt", "reply", "interruption")][-LAST:]
    said = [("Request", prompts[0].text if prompts else None)]
    if session.summary is not None:
        said += [("Summary: intent", session.summary.intent), ("Summary: outcome", session.summary.outcome)]
        said += [("Open", item) for item in session.summary.open_items]
    said += [(f"[{m.seq}] {m.kind}", m.text) for m in last]
    # together, so that what one text gives away is taken out of all
    clean = shown_all((text for _, text in said), limit=_LONGEST)
    parts = [_text(title, text) for (title, _), text in zip(said, clean, strict=True)]
    if outcomes:
        rows = [(n, o.label, _two(o.score), _two(o.confidence), o.reason) for n, o in outcomes.items()]
        parts.append(table_html(("strategy", "label", "score", "confidence", "reason"), rows))
    return box(f"Session {session.session_id}", *parts)


def progress_html(labels: Iterable[Label], session_ids: Sequence[str]) -> str:
    """How many of the sessions have a label, and how often each label was given."""
    wanted = set(session_ids)
    given = [x for x in labels if x.session_id in wanted]
    counts = ", ".join(f"{n} {sum(x.label == n for x in given)}" for n in LABELS)
    done = len({x.session_id for x in given})
    return f"<div>{done} of {len(wanted)} sessions labelled ({escape(counts)})</div>"


def labeller(
    sessions: Iterable[Session],
    path: str | Path,
    *,
    by: str = "",
    commits: CommitFacts | None = None,
    show_strategies: bool = False,
) -> ipywidgets.VBox:
    """The labelling widget: pick a session, read its end, press a label; each press adds a line to the file at `path`.

    `by` is who labels. Strategies are shown only when asked for, since they would lead the eye. Raises
    `QueryError` when there is no session, `FormatError` when the file exists and is no file of labels.

    Example:
        >>> from sessionbank.widgets.labelling import labeller
        >>> box = labeller(bank.query(limit=3), "by_hand.jsonl", by="ada")
        >>> "0 of 3 sessions labelled" in box.children[1].value
        True
    """
    import ipywidgets

    by_id = {s.session_id: s for s in sessions}
    if not by_id:
        raise QueryError("there is no session to label")
    ids = list(by_id)

    def given() -> list[Label]:
        return read_labels(path, by=by) if Path(path).exists() else []

    page, progress = ipywidgets.HTML(), ipywidgets.HTML()
    reason = ipywidgets.Text(placeholder="why (kept with the label)", layout={"width": "60%"})
    picker = ipywidgets.Dropdown(
        options=_options(ids, given()), value=_next(ids, given()), description="Session"
    )
    buttons = [ipywidgets.Button(description=label) for label in LABELS]

    def show(_: Any = None) -> None:
        session = by_id[picker.value]
        page.value = page_html(session, outcomes_of(session, commits=commits) if show_strategies else None)
        progress.value = progress_html(given(), ids)
        now = next((x for x in given() if x.session_id == picker.value), None)
        reason.value = now.reason if now else ""

    def press(button: Any) -> None:
        session_id = picker.value
        write_label(path, session_id, button.description, reason=reason.value, by=by)
        labels = given()
        following = _next(ids, labels, after=session_id)
        picker.unobserve(show, "value")
        picker.options = _options(ids, labels)
        picker.value = following
        picker.observe(show, "value")
        show()

    for button in buttons:
        button.on_click(press)
    picker.observe(show, "value")
    show()
    return ipywidgets.VBox([picker, progress, page, reason, ipywidgets.HBox(buttons)])


def _options(ids: Sequence[str], labels: Iterable[Label]) -> list[tuple[str, str]]:
    """What the picker shows: the id, and the label once there is one."""
    given = {x.session_id: x.label for x in labels}
    return [(f"{i}  ({given[i]})" if i in given else i, i) for i in ids]


def _next(ids: Sequence[str], labels: Iterable[Label], *, after: str | None = None) -> str:
    """The next session without a label, from the one after `after` on; that one itself when all have one."""
    given = {x.session_id for x in labels}
    start = ids.index(after) + 1 if after in ids else 0
    order = [*ids[start:], *ids[:start]]
    return next((i for i in order if i not in given), after or ids[0])


def _text(title: str, text: str | None) -> str:
    said = escape(shortened(text, 1500)) if text else "<i>nothing</i>"
    return f'<div><b>{escape(title)}</b><div style="{_TEXT}">{said}</div></div>'


def _two(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
