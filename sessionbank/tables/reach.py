"""What a session asks its bank for, answered by one state: commit facts, stored bytes as canonical records, context.

The answers are worked out in `trajectory` and `transcripts`; this only fetches what they need.
"""

from __future__ import annotations

from sessionbank.errors import FormatError, NotFoundError, QueryError
from sessionbank.records import Message, Session, SessionRecord
from sessionbank.tables.raw import raw_lines
from sessionbank.tables.state import State
from sessionbank.tables.union import COMPACT
from sessionbank.trajectory.canonical import Canonical, canonical_records
from sessionbank.trajectory.outcomes.commit import CommitFacts
from sessionbank.transcripts.context import view
from sessionbank.transcripts.jsonl import lines, untold


class StateReach:
    """The reach of every session of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def commit_facts(self) -> CommitFacts:
        """What git says of the bank's checkpoints."""
        return self._state.commit_facts

    def context(self, session: Session, message: Message | None) -> tuple[Message, ...]:
        """The messages that the main agent's model was sent when `message` came."""
        messages = session.messages
        if message is not None:
            if message not in messages:
                raise NotFoundError(f"the message is not of session {session.session_id}")
            messages = messages[: messages.index(message) + 1]
        if self._is_compact(session):
            raise QueryError(
                "what the model saw cannot be told: Entire's compact form does not show compactions"
            )
        images = frozenset(n for n, m in enumerate(messages) if any(b.type == "image" for b in m.blocks))
        found = view(session.agent, messages, images=images)
        if found.refused is not None:
            raise QueryError(f"what the model saw cannot be told: {found.refused}")
        return tuple(messages[n] for n in found.order)

    def canonical(self, session: Session, record: SessionRecord | None) -> Canonical:
        """Canonical records of a record's transcript, or of all stored lines of the session, each once."""
        if record is not None and record not in session.records:
            raise NotFoundError(f"the record is not of session {session.session_id}")
        wanted = session.records if record is None else (record,)
        files = [data for r in wanted if (data := self._bytes(r)) is not None]
        if not files:
            raise NotFoundError(f"session {session.session_id} has no transcript in this clone")
        if self._is_compact(session):
            raise FormatError(
                "canonical records are made of an agent's own transcript; only Entire's compact form is here"
            )
        return canonical_records(_joined(files), source=session.agent)

    def raw(self, session: Session, message: Message) -> list[bytes]:
        """The stored lines behind a message."""
        place = {
            "session_id": session.session_id,
            "seq": message.seq,
            "line_index": message.line_index,
            "blob_oid": message.blob_oid,
        }
        return raw_lines(self._state, place)

    def _is_compact(self, session: Session) -> bool:
        shots = (
            self._state.snapshots.get((r.checkpoint_id, r.session_index, r.session_id))
            for r in session.records
        )
        formats = {s["format"] for s in shots if s and s["format"]}
        return formats == {COMPACT}

    def _bytes(self, record: SessionRecord) -> bytes | None:
        chunks = [data for _, data in self._state.source.blobs(record.transcript_blobs) if data is not None]
        return b"\n".join(chunks) if chunks else None


def _joined(files: list[bytes]) -> bytes:
    """Snapshots as one transcript: the longest of each chain, then of later chains the lines that are new."""
    whole = files[0]
    for data in files[1:]:
        if data.startswith(whole):
            whole = data
        elif not whole.startswith(data):
            known = {s[0] for s in lines(whole, untold, id_key="uuid") if s[0]}
            fresh = [s for s in lines(data, untold, id_key="uuid") if s[0] is None or s[0] not in known]
            ends = {s[3]: data.find(b"\n", s[3]) for s in fresh}
            parts = [data[at : end if end >= 0 else len(data)] for at, end in ends.items()]
            whole = b"\n".join([whole.rstrip(b"\n"), *parts])
    return whole
