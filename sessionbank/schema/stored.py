"""Columns of what Entire stored and git knows: checkpoints, records, attribution, commits, learnings, files.

No transcript needs to be read for these tables. The columns of what was said are in `spoken`.
"""

from __future__ import annotations

from sessionbank.schema.fields import Field as F
from sessionbank.schema.fields import Table

NEVER = "never"
META = "session metadata.json"
ROOT = "root metadata.json"
GIT = "git"

STORED = (
    Table("checkpoints", "One checkpoint, whatever layouts it is stored in.", (
        F("checkpoint_id", "str", "12 hex characters or a 26-character ULID", missing=NEVER, origin=GIT),
        F("created_at", "time", "earliest record's created_at: when it was condensed, not when work began", origin=META),
        F("branch", "str", "code branch of the latest record that names one", missing="detached HEAD", origin=META),
        F("strategy", "str", "manual-commit or auto-commit", origin=META),
        F("cli_version", "str", "version of Entire that wrote it", missing="before about 0.5", origin=META),
        F("layout", "str", "branch-v1, v2, refs-v1 or sessions-v0; the one that was read", missing=NEVER, origin=GIT),
        F("ref", "str", "ref that holds it", missing=NEVER, origin=GIT),
        F("record_count", "int", "stored session directories", "directories", NEVER, GIT),
        F("session_count", "int", "distinct sessions in them", "sessions", NEVER, META),
        F("commit_count", "int", "code commits whose message names it, over all refs", "commits", NEVER, GIT),
        F("files_touched", "str", "files of all records, sorted (JSON list)", missing="no record names files", origin=META),
        F("storage_commit_sha", "str", "tip of the ref when it was read", origin=GIT),
    )),
    Table("records", "One stored session directory of one checkpoint.", (
        F("checkpoint_id", "str", "checkpoint it stands in", missing=NEVER, origin=GIT),
        F("session_index", "int", "number of the directory; gaps are normal", missing=NEVER, origin=GIT),
        F("session_id", "str", "session, canonical: without the date that older writers put in front", missing=NEVER, origin=META),
        F("raw_session_id", "str", "session id as stored", missing="metadata unreadable", origin=META),
        F("layout", "str", "branch-v1, v2, refs-v1, sessions-v0 or folder", missing=NEVER, origin=GIT),
        F("agent_label", "str", "what the metadata calls the agent; often wrong", origin=META),
        F("agent", "str", "agent that the bytes show", missing="no transcript could be read"),
        F("format", "str", "transcript format that the bytes show", missing="no transcript could be read"),
        F("created_at", "time", "when it was condensed, not when the session began", origin=META),
        F("branch", "str", "code branch", missing="detached HEAD", origin=META),
        F("strategy", "str", "manual-commit or auto-commit", origin=META),
        F("cli_version", "str", "version of Entire that wrote it", origin=META),
        F("transcript_state", "str", "present, empty, absent (never written) or missing_blob (not in this clone)", missing=NEVER, origin=GIT),
        F("transcript_bytes", "int", "size of the transcript, chunks joined", "bytes", "no transcript could be read", GIT),
        F("transcript_name", "str", "name of the file that was read", missing="no transcript", origin=GIT),
        F("start_offset", "int", "first line (or message) of this checkpoint's window, from 0, as stored", origin=META),
        F("hash_state", "str", "match, mismatch (hash taken before redaction), or absent", missing="no transcript could be read", origin="content_hash.txt"),
        F("meta_input_tokens", "int", "as the metadata states it; scope varies, see reconcile", "tokens", origin=META),
        F("meta_cache_creation_tokens", "int", "as the metadata states it", "tokens", origin=META),
        F("meta_cache_read_tokens", "int", "as the metadata states it", "tokens", origin=META),
        F("meta_output_tokens", "int", "as the metadata states it", "tokens", origin=META),
        F("meta_api_call_count", "int", "as the metadata states it", "calls", origin=META),
        F("has_summary", "bool", "whether it holds a summary", missing=NEVER, origin=META),
        F("is_task", "bool", "whether it is a task (subagent) checkpoint", missing=NEVER, origin=META),
        F("tool_use_id", "str", "call that started the task", missing="not a task", origin=META),
        F("prompt_text", "str", "prompt.txt", missing="not stored", origin="prompt.txt"),
        F("path", "str", "directory inside the ref's tree", missing=NEVER, origin=GIT),
        F("model_label", "str", "model that the metadata names", missing="before about 0.5", origin=META),
        F("extra", "str", "metadata that no column holds (JSON)", missing="nothing", origin=META),
        F("ref", "str", "ref that holds it", missing=NEVER, origin=GIT),
        F("storage_commit_sha", "str", "tip of the checkpoint ref when it was read", origin=GIT),
        F("linked_commit_sha", "str", "code commit that carries the checkpoint's cost (see commits)", missing="no commit names it", origin=GIT),
    )),
    Table("attribution", "One record that states who wrote the committed lines.", (
        F("checkpoint_id", "str", "checkpoint", missing=NEVER, origin=GIT),
        F("session_index", "int", "number of the directory", missing=NEVER, origin=GIT),
        F("session_id", "str", "session", missing=NEVER, origin=META),
        F("calculated_at", "time", "when Entire worked it out", origin=META),
        F("agent_lines", "int", "committed lines that the agent added", "lines", origin=META),
        F("human_added", "int", "other added lines since the base commit (merges and branch switches too)", "lines", origin=META),
        F("human_modified", "int", "lines of the agent that a person changed", "lines", origin=META),
        F("human_removed", "int", "lines that a person removed", "lines", origin=META),
        F("total_committed", "int", "lines in the commit", "lines", origin=META),
        F("agent_percentage", "float", "agent's share, 0 to 100", "%", origin=META),
        F("agent_contribution", "float", "agent's share, 0 to 1", "share", origin=META),
        F("metric_version", "int", "2: (agent_lines + agent_removed) / total_lines_changed; missing: agent_lines / total_committed", missing="old formula", origin=META),
        F("agent_removed", "int", "lines that the agent removed (metric_version 2)", "lines", origin=META),
        F("total_lines_changed", "int", "lines added and removed (metric_version 2)", "lines", origin=META),
        F("is_representative", "bool", "true for exactly one row a checkpoint: the one to add up", missing=NEVER, origin="inferred"),
        F("is_combined", "bool", "the row is the checkpoint's combined_attribution (root metadata), not one session's", missing=NEVER, origin=ROOT),
        F("warning", "str", "why the row is implausible", missing="nothing is", origin="inferred"),
    )),
    Table("commits", "One code commit that names one checkpoint (many to many).", (
        F("commit_sha", "str", "code commit", missing=NEVER, origin=GIT),
        F("checkpoint_id", "str", "checkpoint its message names", missing=NEVER, origin="Entire-Checkpoint trailer"),
        F("resolves", "bool", "whether the bank holds that checkpoint; false: dangling", missing=NEVER, origin=GIT),
        F("authored_at", "time", "author date", missing="the commit states none that can be", origin=GIT),
        F("subject", "str", "first line of the message", missing=NEVER, origin=GIT),
        F("on_default_branch", "bool", "reachable from the default branch", missing="no default branch found", origin=GIT),
        F("carries_cost", "bool", "true for one commit a checkpoint: its earliest on the default branch, else its earliest", missing=NEVER, origin="inferred"),
        F("is_inferred", "bool", "linked by time and path, not by a trailer", missing=NEVER, origin="inferred"),
    )),
    Table("learnings", "One sentence of a summary that says what was learned, or what hindered.", (
        F("session_id", "str", "session", missing=NEVER, origin=META),
        F("checkpoint_id", "str", "checkpoint", missing=NEVER, origin=META),
        F("kind", "str", "repo, code, workflow, friction or open_item", missing=NEVER, origin=META),
        F("text", "str", "the sentence", missing=NEVER, origin=META),
        F("path", "str", "file it speaks of", missing="not code", origin=META),
        F("line", "int", "first line, from 1", missing="not stated", origin=META),
        F("end_line", "int", "last line", missing="not stated", origin=META),
    )),
    Table("files", "One file that a session touched, by one kind of evidence.", (
        F("session_id", "str", "session", missing=NEVER),
        F("checkpoint_id", "str", "checkpoint: of the record, or of the first call on the file", missing=NEVER),
        F("path", "str", "relative to the repository where that can be told", missing=NEVER),
        F("source", "str", "metadata (files_touched) or tool (a call that edits or writes)", missing=NEVER),
    )),
)  # fmt: skip
