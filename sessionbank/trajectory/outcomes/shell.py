"""A shell line as the commands that it runs, with how each is joined to the next. For reading only; nothing is run.

It knows quotes, heredocs, ``cd x &&``, pipes, variables in front, and the usual wrappers (``npx``, ``uv run``,
``timeout 60``, ``bash -c "..."``). It is no shell: substitutions and loops are read as plain words.
"""

# ruff: noqa: E501 - a pattern or a table row is read as one line

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 30_000  # characters that are read; behind a longer script a check goes unseen
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
MOST_HEREDOCS = 50
_SPECIAL = re.compile(r"[\\'\"`$()#&|;\n]")
_QUOTES = re.compile(r"[\\'\"]")
_WORD = re.compile(r"[^ \t\r\n]+")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_LEAD = {"do", "then", "else", "{", "(", "!", "time", "if", "while", "until", "elif"}
_PLAIN = {
    "sudo",
    "command",
    "nohup",
    "exec",
    "builtin",
    "stdbuf",
    "nice",
    "ionice",
    "xvfb-run",
    "doas",
    "chronic",
    "npx",
    "bunx",
    "pnpx",
    "rtk",
}
_RUN = {  # program -> words that make it a wrapper of what follows
    "uv": ("run",), "uvx": (), "poetry": ("run",), "pipenv": ("run",), "pdm": ("run",), "hatch": ("run",), "rye": ("run",), "pixi": ("run",),
    "pnpm": ("exec", "dlx"), "yarn": ("exec", "dlx"), "npm": ("exec",), "bundle": ("exec",), "mise": ("exec", "x"), "direnv": ("exec",),
    "conda": ("run",), "micromamba": ("run",), "nix": ("develop",), "devbox": ("run",), "coverage": ("run",), "opam": ("exec",), "arch": (),
}  # fmt: skip
_TAKES_VALUE = {
    "uv": {"--with", "--extra", "--group", "--package", "--python", "-p", "--directory", "--project", "--env-file"},
    "conda": {"-n", "-p", "--name"}, "micromamba": {"-n", "-p"}, "npx": {"-p", "--package"}, "nice": {"-n"}, "sudo": {"-u"},
    "stdbuf": {"-o", "-e", "-i"}, "xvfb-run": {"-s"}, "pdm": {"-p"}, "mise": {"-C"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command: its words without wrappers, and what stands behind it (``&&``, ``|``, ``;`` ... or "")."""

    words: tuple[str, ...]
    then: str
    is_piped_into: bool = False  # reads another command's output

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].rsplit("/", 1)[-1]


def commands(line: str) -> list[Command]:
    """The simple commands of a shell line, in order."""
    return list(_commands(line[:LONGEST], depth=0))


def _commands(line: str, *, depth: int) -> Iterator[Command]:
    text = _without_heredocs(line.replace("\\\n", " "))
    piped = False
    for part, then in _parts(text):
        words = _bare(_words(part))
        if not words:
            piped = then in ("|", "|&")
            continue
        inner = _inner(words) if depth < 2 else None
        if inner is None:
            yield Command(tuple(words), then, piped)
        else:
            within = list(_commands(inner, depth=depth + 1))
            yield from within[:-1]
            if within:
                yield Command(within[-1].words, then or within[-1].then, piped)
        piped = then in ("|", "|&")


def _without_heredocs(text: str) -> str:
    """The script without the texts that it feeds to commands; the rest of a heredoc's first line stays."""
    kept, at = [], 0
    for found in [*_HEREDOC.finditer(text)][:MOST_HEREDOCS]:
        newline = text.find("\n", found.end())
        if found.start() < at or newline < 0:
            continue
        end = re.compile(rf"^[ \t]*{re.escape(found[2])}\b", re.MULTILINE).search(text, newline + 1)
        if end is not None:
            kept.append(text[at : found.start()] + text[found.end() : newline] + "\n")
            at = end.end()
    return "".join(kept) + text[at:]


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The text cut at operators outside quotes and substitutions."""
    at, start, quote, depth = 0, 0, "", 0
    while (special := _SPECIAL.search(text, at)) is not None:
        at = special.start()
        c = text[at]
        if c == "\\" and quote != "'":
            at += 2
            continue
        if quote:
            if c == quote:
                quote = ""
        elif c in "'\"`":
            quote = c
        elif text.startswith("$(", at) or (c == "(" and depth):
            depth += 1
            at += 1 if c == "$" else 0
        elif c == ")" and depth:
            depth -= 1
        elif not depth:
            if c == "#" and (at == 0 or text[at - 1] in " \n\t;"):
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                text = text[:at] + text[end:]
                continue
            found = next(
                (o for o in ("&&", "||", "|&", ";;", "|", ";", "\n", "&") if text.startswith(o, at)), None
            )
            if found == "&" and (text[at - 1 : at] in "><" or text[at + 1 : at + 2] == ">"):
                found = None  # 2>&1, &>file
            if found:
                yield text[start:at], found
                at += len(found)
                start = at
                continue
        at += 1
    yield text[start:], ""


def _words(part: str) -> list[str]:
    part = part.strip().strip("()").strip()
    try:  # without quotes the two are the same, and shlex reads a character at a time
        words = shlex.split(part, comments=False) if _QUOTES.search(part) else _WORD.findall(part)
    except ValueError:
        words = part.split()
    bare = [bool(re.fullmatch(r"\d*(?:>>?|<|&>)", w)) for w in words]  # its file is the next word
    return [
        w for at, w in enumerate(words) if not re.match(r"^\d*(?:>>?|<|&>)", w) and not (at and bare[at - 1])
    ]


def _bare(words: list[str]) -> list[str]:
    """Without variables in front and without wrappers that run what follows."""
    for _ in range(12):
        if not words:
            return words
        head = words[0].rsplit("/", 1)[-1]
        if _ASSIGNMENT.match(words[0]) or head in _LEAD or (head == "env" and len(words) > 1):
            words = words[1:]
        elif head in ("timeout", "gtimeout"):
            words = _after_options("timeout", words[1:])[1:]
        elif head in _PLAIN:
            words = _after_options(head, words[1:])
        elif head in _RUN and (not _RUN[head] or (len(words) > 1 and words[1] in _RUN[head])):
            words = _after_options(head, words[2 if _RUN[head] else 1 :])
        elif re.fullmatch(r"python[\d.]*|py|pypy\d?", head) and "-m" in words[1:4]:
            words = words[words.index("-m") + 1 :]
        elif head == "docker" and "run" not in words[:3] and "exec" in words[:3]:
            words = _after_options("docker", words[words.index("exec") + 1 :])[1:]
        elif (
            head in ("docker", "docker-compose", "podman")
            and "compose" in (head.partition("-")[2], *words[1:2])
            and "run" in words[:4]
        ):
            words = _after_options("docker", words[words.index("run") + 1 :])[1:]
        else:
            return words
    return words


def _after_options(program: str, words: list[str]) -> list[str]:
    valued = _TAKES_VALUE.get(program, set())
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            return words[at + 1 :]
        at += 2 if words[at] in valued else 1
    return words[at:]


def _inner(words: list[str]) -> str | None:
    """The script of ``bash -c "..."``."""
    if words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh", "dash"):
        for at, word in enumerate(words[1:-1], 1):
            if re.fullmatch(r"-[a-z]*c", word):
                return words[at + 1]
    return None
