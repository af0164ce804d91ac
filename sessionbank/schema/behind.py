"""Tables that stand in the cache behind the public ones: what `reconcile`, `explain` and the sessions table need.

Nobody outside the package sees them; their columns may change with any version.
"""

from __future__ import annotations

from sessionbank.schema.fields import Field as F
from sessionbank.schema.fields import Table

NEVER = "never"

BEHIND = (
    Table("usage_lines", "One stored line that states usage.", (
        F("session_id", "str", "session", missing=NEVER),
        F("seq", "int", "of its message", missing=NEVER),
        F("call", "str", "message_id in token_usage", missing=NEVER),
        F("input_tokens", "int", "as the line states it", "tokens"),
        F("cache_creation_tokens", "int", "as the line states it", "tokens"),
        F("cache_read_tokens", "int", "as the line states it", "tokens"),
        F("output_tokens", "int", "as the line states it", "tokens"),
        F("is_subagent", "bool", "not the main agent's", missing=NEVER),
        F("chain", "int", "run of snapshots that holds it", missing=NEVER),
        F("line", "int", "line in that run's longest file", missing=NEVER),
        F("is_kept", "bool", "whether the reply's usage is this line's", missing="repeat of a line of an earlier chain"),
    )),
    Table("snapshots", "One stored transcript that was read.", (
        F("session_id", "str", "session", missing=NEVER),
        F("checkpoint_id", "str", "checkpoint", missing=NEVER),
        F("session_index", "int", "directory", missing=NEVER),
        F("chain", "int", "run of snapshots it belongs to", missing="it could not be read"),
        F("lines", "int", "lines (of documents: messages)", "lines", "it could not be read"),
        F("bytes", "int", "size, chunks joined", "bytes", "it could not be read"),
        F("format", "str", "format that the bytes show", missing="it could not be read"),
        F("agent", "str", "agent that the bytes show", missing="it could not be read"),
        F("state", "str", "present, empty or missing_blob", missing=NEVER),
        F("hash_state", "str", "match, mismatch or absent", missing="it could not be read"),
        F("blobs", "str", "its objects in order (JSON)", missing=NEVER),
    )),
    Table("facts", "One session, as its transcript shows it.", (
        F("session_id", "str", "session", missing=NEVER),
        F("agent", "str", "agent that the bytes show", missing="no transcript could be read"),
        F("cwd", "str", "working directory named first"),
        F("agent_version", "str", "version of the agent named first", missing="none is named"),
        F("foreign_ids", "str", "other session ids that its lines name (JSON)", missing="none"),
        F("continues", "str", "sessions whose transcripts its summaries and plans name, and what names them (JSON)", missing="none"),
        F("follows", "str", "uuids of lines that its compactions follow and that are not its own (JSON)", missing="none"),
        F("started_at", "time", "earliest own timestamp"),
        F("ended_at", "time", "latest own timestamp"),
        F("active_s", "float", "sum of capped gaps", "s"),
        *(
            F(name, "int", "counted", missing="no transcript could be read")
            for name in (
                "message_count", "human_prompts", "tool_calls", "tool_errors", "api_calls", "input_tokens",
                "cache_creation_tokens", "cache_read_tokens", "output_tokens", "subagent_api_calls",
                "subagent_tool_calls", "subagent_input_tokens", "subagent_cache_creation_tokens",
                "subagent_cache_read_tokens", "subagent_output_tokens", "uncosted_calls", "inherited_messages",
                "compactions",
            )
        ),
        F("cost_usd", "float", "main agent's priced calls", "USD"),
        F("subagent_cost_usd", "float", "subagents' priced calls", "USD"),
        F("models", "str", "most calls first (JSON)"),
    )),
)  # fmt: skip
