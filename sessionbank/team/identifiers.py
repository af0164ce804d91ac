"""What counts as an identifier in the text of a step, and what its lines and sentences are.

Identifiers are paths, symbols, error names and error messages, and ids: the words that a later step needs letter for
letter. Compression keeps the lines that hold them, survival counts which are left. Nothing is kept or counted here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

import orjson

LONG_LINE = 160  # characters; a longer line is read sentence by sentence
TOKEN_CHARS = 4  # an estimated token is this many characters, everywhere in this room

_WORD = re.compile(r"[A-Za-z0-9_#][A-Za-z0-9_./@-]{2,}[A-Za-z0-9_]")
_ERROR = re.compile(r"\b(?:[Ee]rror|ERROR|panic|fatal|FAIL(?:ED)?)(?:\[\w+\])?: *([^\n]{8,120})")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_HEX = re.compile(r"(?=[0-9a-f-]*[a-f])(?=[0-9a-f-]*[0-9])[0-9a-f]{7,}(?:-[0-9a-f]{4,}){0,4}")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_CODE = re.compile(r"E[A-Z]{4,}|[A-Z]{1,3}\d{4}")  # ENOENT, TS2345, E0308
_SUFFIXES = frozenset(
    ("bash", "c", "cc", "cfg", "cpp", "cs", "css", "csv", "env", "go", "h", "hpp", "html", "ini", "ipynb", "java", "js",
     "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "md", "mjs", "mod", "php", "proto", "py", "rb", "rs", "rst",
     "scala", "sh", "sql", "sum", "svg", "svelte", "swift", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml",
     "yml", "zig")
)  # fmt: skip


def is_identifier(word: str) -> bool:
    """Whether a word (as `words` gives it, without punctuation around it) is an identifier.

    Paths have a known suffix or two slashes; symbols an underscore or a capital inside; ids are hexadecimal with
    letters and digits (7 or more) or ``#`` and a number; error names are codes such as ``ENOENT`` or ``TS2345``.
    """
    if word.startswith("#"):
        return word[1:].isdigit()
    if word.isdigit():
        return False
    stem, _, suffix = word.rpartition(".")
    if "/" in word:
        return suffix.lower() in _SUFFIXES or word.count("/") > 1
    if stem and suffix.lower() in _SUFFIXES:
        return True
    if _HEX.fullmatch(word) or _CODE.fullmatch(word):
        return True
    return bool(_NAME.fullmatch(word) and ("_" in word.strip("_") or _HUMP.search(word)))


class _Known(dict[str, bool]):
    """Words that were looked at: the same come up all day, and the text of a run is read more than once."""

    def __missing__(self, word: str) -> bool:
        if len(self) > 1 << 18:
            self.clear()
        found = self[word] = is_identifier(word)
        return found


_known = _Known()


def words(text: str | None) -> set[str]:
    """All words of a text that could be identifiers (most are none), and the messages that follow ``error:``.

    To look for known identifiers in a text, meet this set with them: that is quicker than `identifiers`.
    """
    if not text:
        return set()
    found = set(_WORD.findall(text))
    if "rror" in text or "ERROR" in text or "panic" in text or "fatal" in text or "FAIL" in text:
        found.update(m.rstrip(" .") for m in _ERROR.findall(text))
    return found


def identifiers(text: str | None) -> set[str]:
    """All identifiers of a text: paths, symbols, ids, error names, and the messages that follow ``error:``."""
    return {w for w in words(text) if " " in w or _known[w]}


def lines(text: str | None) -> Iterator[str]:
    """The units that an identifier may survive in: whole lines, of lines longer than `LONG_LINE` whole sentences.

    White space around them is no part of them; empty ones are left out.
    """
    for line in (text or "").splitlines():
        if len(line) <= LONG_LINE:
            if line := line.strip():
                yield line
        else:
            yield from (s for s in map(str.strip, _SENTENCE_END.split(line)) if s)


@lru_cache(maxsize=1 << 13)
def arguments(action_input: str | None) -> dict[str, str] | None:
    """Arguments (JSON text of an object) as names and text; values that are no text as JSON. None for other text."""
    if not action_input or action_input[0] != "{":
        return None
    try:
        value = orjson.loads(action_input)
    except orjson.JSONDecodeError:  # lone surrogates, NaN
        try:
            value = json.loads(action_input)
        except ValueError:
            return None
    return {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in value.items()}


def plain_input(action_input: str | None) -> str:
    """Arguments as readable lines, ``name: value`` each; text that is no JSON object as it is."""
    named = arguments(action_input)
    return action_input or "" if named is None else "\n".join(f"{k}: {v}" for k, v in named.items())


def written(thought: str | None, action_input: str | None) -> set[str]:
    """Identifiers that an agent wrote in a step: in its thought and in the values of the arguments, not their names."""
    found = identifiers(thought)
    if action_input:
        named = arguments(action_input)
        found |= identifiers(action_input if named is None else "\n".join(named.values()))
    return found


def estimated_tokens(text: str | None) -> int:
    """Tokens of a text by the rule of thumb: its length in characters over `TOKEN_CHARS`, rounded up."""
    return -(-len(text) // TOKEN_CHARS) if text else 0
