"""Who a text gives away by its paths and addresses: home folders, user names, names of authors, e-mail addresses.

Finding only; what they are replaced with is `passes`'s work. Account names that nobody is called by (root, runner,
ubuntu) are left, so that paths of machines stay readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Found(NamedTuple):
    """A piece of a text that should not leave, and of what kind it is."""

    start: int
    end: int
    kind: str


NOBODY = frozenset({
    "user", "users", "username", "runner", "runneradmin", "ubuntu", "debian", "centos", "fedora", "root", "admin",
    "administrator", "vscode", "codespace", "codespaces", "gitpod", "node", "app", "dev", "shared", "public", "default",
    "guest", "jovyan", "ec2-user", "vagrant", "circleci", "git", "www-data", "nobody", "me", "you", "name", "your",
    "your-username", "your_username", "yourname", "yourusername", "test", "tester", "testuser", "linuxbrew", "agent",
    "claude", "work", "workspace", "project", "projects", "repo", "src", "actions", "sandbox", "pi", "deploy", "build",
    "builder", "jenkins", "travis", "postgres", "docker", "someone", "somebody", "home", "usr", "opt", "tmp", "var",
    "example", "foo", "bar", "baz", "xxx", "redacted", "library", "documents", "desktop", "all", "bin", "data",
    "service", "go",
})  # fmt: skip
_NAME = r"[^\s/\\\"'`:;,<>|*?()\[\]{}$%&=#!@+~^.…-][^\s/\\\"'`:;,<>|*?()\[\]{}$%&=#!@+~^…]{0,62}"
_HOME = {
    "/Users/": re.compile(rf"/Users/(?P<v>{_NAME})"),
    "/home/": re.compile(rf"/home/(?P<v>{_NAME})"),
    "\\Users\\": re.compile(rf"\\Users\\+(?P<v>{_NAME})"),
    "-Users-": re.compile(r"-Users-(?P<v>[A-Za-z0-9_]{2,32})(?=-|[/\"'\\\s]|\Z)"),
    "-home-": re.compile(r"-home-(?P<v>[A-Za-z0-9_]{2,32})(?=-|[/\"'\\\s]|\Z)"),
}
_BEFORE_HOME = re.compile(r"(?:^|[^A-Za-z0-9_.-]|\\[nrt]|/export|/usr|/var|/mnt/[a-z]|/[a-z]|[A-Za-z]:)\Z")
_BEFORE_DASHED = re.compile(r"(?:^|[/\"'\s]|\\[nrt\\]|[A-Za-z]-)\Z")
_SHELL_NAME = re.compile(r"(?:USER|USERNAME|LOGNAME)=(?P<v>[A-Za-z][A-Za-z0-9._-]{1,31})(?![A-Za-z0-9_(/])")
_LOCAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}\Z")
_DOMAIN = re.compile(
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}(?P<top>[A-Za-z]{2,24})(?![A-Za-z0-9-]|_(?!_)|\.[A-Za-z0-9])"
)
_NO_ADDRESS = frozenset({
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "js", "mjs", "cjs", "ts", "tsx", "jsx", "css", "scss", "json",
    "html", "yaml", "yml", "toml", "xml", "txt", "map", "lock", "tgz", "gz", "zip", "xz", "service", "timer", "target",
    "socket", "jar", "log", "latest", "internal",
})  # fmt: skip
_ROBOTS = frozenset({"git", "noreply", "no-reply", "donotreply", "hg", "svn"})
_IN_LINK = re.compile(
    r"://(?P<user>[^\s/@]*)\Z"
)  # what stands before the @ of a link is a login, not a mailbox
_AUTHOR = re.compile(
    r"(?:author|committer|commit|co-authored-by|signed-off-by|reviewed-by|tested-by|acked-by|reported-by|from|by)\"?:\s*\"?"
    r"(?P<v>[^<>\n\\\"@:;,=(){}\[\]]{2,60}?)\s*<\Z",
    re.IGNORECASE,
)


def is_person(name: str) -> bool:
    """Whether a name may be somebody's."""
    words = name.lower().split()
    return (
        len(name) >= 2
        and any(w not in NOBODY for w in words)
        and any(c.isalpha() for c in name)
        and not name.startswith("redacted_")  # what was cleaned once stays as it is
    )


def begins_word(text: str, at: int) -> bool:
    """Whether a word may begin at `at`. In JSON a line end is two characters, of which the second is a letter."""
    if at == 0:
        return True
    before = text[at - 1]
    if not (before.isalnum() or before == "_"):
        return True
    if before in "nrtbf" and at > 1 and text[at - 2] == "\\":
        return True
    return at > 5 and text[at - 6 : at - 4] == "\\u"


def users(text: str) -> Iterator[Found]:
    """Names of users in paths of home folders and in shell variables; only the name is the span."""
    for anchor, pattern in _HOME.items():
        at = text.find(anchor)
        while at >= 0:
            before = text[max(0, at - 8) : at]
            fits = (_BEFORE_DASHED if anchor[0] == "-" else _BEFORE_HOME).search(before) or anchor[0] == "\\"
            match = pattern.match(text, at) if fits else None
            if match and is_person(match["v"]):
                end = match.end("v")
                while text[end - 1] == ".":  # the end of a sentence
                    end -= 1
                yield Found(match.start("v"), end, "user")
            at = text.find(anchor, at + len(anchor))
    if "USER" in text or "LOGNAME=" in text:
        for match in _SHELL_NAME.finditer(text):
            if begins_word(text, match.start()) and is_person(match["v"]):
                yield Found(match.start("v"), match.end("v"), "user")


def addresses(text: str) -> Iterator[Found]:
    """E-mail addresses, and the names of authors that stand before them."""
    at = text.find("@")
    while at > 0:
        if text[at - 1].isalnum() or text[at - 1] in "._%+-":
            domain = _DOMAIN.match(text, at)
            local = _LOCAL.search(text, max(0, at - 64), at) if domain else None
            if domain and local and domain["top"].lower() not in _NO_ADDRESS:
                start = local.start()
                if start and text[start - 1] == "\\" and text[start] in "nrt" and at - start > 1:
                    start += 1  # of an escaped line end
                link = _IN_LINK.search(text, max(0, start - 150), start)
                if link:
                    if is_person(text[start:at]) and not link["user"]:
                        yield Found(start, at, "user")
                elif text[start:at].lower() not in _ROBOTS:
                    yield Found(start, domain.end(), "email")
                    author = _AUTHOR.search(text, max(0, start - 100), start)
                    if author:
                        yield Found(author.start("v"), author.end("v"), "person")
        at = text.find("@", at + 1)
