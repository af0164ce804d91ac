"""What a secret looks like: one rule a kind, each with a literal that must be there before its pattern is tried.

Rules only: finding and replacing is `passes`'s work. Keys of known makers are told by their prefix (`prefixes`);
everything else by what stands before it ("password = ..."), where `guess` decides whether the value is a secret or
code. detect-secrets brings its own patterns on top (see `kept`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable

from sessionbank.redaction.prefixes import EXACT, Rule, mixed

_QUOTE = r"\\*[\"'`]"
_VALUE = (
    rf"(?:(?P<q>{_QUOTE})(?P<quoted>(?:(?!\\*[\"'`\n]|\\+n).){{4,300}})"
    r"|(?P<bare>[^\s\"'`,;|&<>(){}\[\]\\]{4,300}))"
)
# What follows a word such as "password": the rest of the name, a sign of assignment, the value.
ASSIGNED = (
    r"(?P<suffix>[A-Za-z0-9_]{0,20})(?:\\*[\"'`\]]){0,2}(?P<eq>\s{0,8}(?::=|=>|={1,3}|:)\s{0,8})"
    rf"(?:[bru]{{1,2}}(?=[\"']))?{_VALUE}"
)
_PASSWORDS = ("password", "passwd", "passphrase", "pwd", "secret", "passwort", "contraseña")
_KEYS = (
    "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "auth_key", "authkey", "private_key",
    "secret_key", "account_key", "accountkey", "encryption_key", "signing_key", "master_key", "license_key",
    "sharedaccesskey", "token", "credential", "_auth", "authorization", "session_id=",
)  # fmt: skip
_WORDS = re.compile(r"[A-Za-z]+(?:[-_./ :@#+]+[A-Za-z]+)*[.!?:]*")
_PATHLIKE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+(?:\(.*)?"
    r"|[.~]{0,2}/[\w@./-]+|[\w@.-]+(?:/[\w@.-]+)+|https?://\S*"
)
_NOT_SECRET = re.compile(
    r"\[?redacted|[*x.•…_-]+$|\$|%[({s]|\{\{|<[a-z]"
    r"|process\.env|os\.|env[.\[(]|import\.meta|getenv|config\.|settings\.|self\.|this\.|secrets\."
    r"|(?:your|example|sample|dummy|fake|placeholder|changeme|change-me)(?:\b|[-_])"
    r"|(?:none|null|nil|true|false|undefined|string|str|int|bool|bytes|optional|required|password|secret|token|hidden"
    r"|prompt)\W*$",
    re.IGNORECASE,
)
# After "token", "key" and the like: it names something about the secret, not the secret.
_ABOUT = re.compile(
    r"s$|s?[_.-]?(ids?|hash|count|type|kind|name|file|path|url|uri|len|length|limit|usage|expir\w*|index|size|budget|ttl"
    r"|field|header|prefix|at|policy|version|status|table|class|list|map|regex|pattern|rotation|scope|manager|store"
    r"|provider|error|min|max|env|var|ref|arn|format)s?$",
    re.IGNORECASE,
)


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


def guess(match: re.Match[str]) -> bool:
    """Whether the value that is assigned to something called password, token or key is one, and not code or words."""
    quoted = match["quoted"] is not None
    value = (match["quoted"] if quoted else match["bare"]).strip()
    suffix, word = match["suffix"], match["word"].lower()
    if (
        len(value) < 4
        or _NOT_SECRET.match(value)
        or _ABOUT.search(suffix)
        or (not quoted and _PATHLIKE.fullmatch(value))
    ):
        return False
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    odd = len(value) - digits - letters
    if not quoted and value.endswith((".", ":")) and digits == 0:
        return False
    if word in _PASSWORDS:
        if " " in value:
            return quoted and digits > 0 and len(value) <= 64 and value.count(" ") <= 6
        if _WORDS.fullmatch(value):
            shell = match["eq"] == "=" and match["word"].isupper()
            return (quoted and len(value) >= 12 and value.isalpha()) or (shell and len(value) >= 6)
        if quoted or match["eq"] == "=":
            return digits > 0 or odd >= 2
        return (
            digits > 0
            and len(value) >= 6
            and (not value.isidentifier() or digits >= 2 or _is_own_line(match))
        )
    if " " in value or len(value) < 12 or _WORDS.fullmatch(value) or not letters:
        return False
    return digits >= 2 and entropy(value) >= 2.8 and (len(value) >= 16 or not value.isidentifier())


def _is_own_line(match: re.Match[str]) -> bool:
    """Whether the line says nothing else, as in YAML and env files; in code something follows the value."""
    text = match.string
    before = text[max(0, match.start() - 60) : match.start()]
    return bool(_LINE_BEGINS.search(before)) and bool(_LINE_ENDS.match(text, match.end()))


_LINE_BEGINS = re.compile(r"(?:^|\n|\\n|[\"'])[ \t>-]*[A-Za-z0-9_.-]*\Z")
_LINE_ENDS = re.compile(r"[ \t]*(?:\Z|\n|\\+[nr]|\\*[\"'])")


def _assigned(word: str, kind: str) -> Rule:
    return Rule(
        kind, word, re.compile(rf"(?P<word>{re.escape(word)}){ASSIGNED}", re.IGNORECASE), False, guess
    )


def _spoken(kind: str, anchor: str, rest: str, check: Callable[[re.Match[str]], bool] | None = None) -> Rule:
    return Rule(kind, anchor, re.compile(re.escape(anchor) + rest, re.IGNORECASE), True, check)


def _is_base64(match: re.Match[str]) -> bool:
    value = match["v"]
    return entropy(value) > 3 and (
        value.endswith("=") or (value.lower() != value and any(c.isdigit() for c in value))
    )


def _is_value(match: re.Match[str]) -> bool:
    return not _NOT_SECRET.match(match["v"])


# Anchors in lower case, sought in the lower-cased text.
_CONTEXT = (
    *(_assigned(w, "password") for w in _PASSWORDS),
    *(_assigned(w, "token" if w in ("token", "_auth", "authorization") else "key") for w in _KEYS),
    _spoken("bearer-token", "bearer ", r"+(?P<v>[A-Za-z0-9._~+/-]{16,}={0,2})", mixed),
    _spoken("basic-auth", "basic ", r"+(?P<v>[A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/])", _is_base64),
    Rule(
        "url-password",
        "://",
        re.compile(r"://(?P<user>[^\s:/@\"'`<>\\]{0,80}):(?P<v>[^\s/@\"'`<>\\]{1,200})@[A-Za-z0-9.\[-]"),
        False,
        _is_value,
    ),
    _spoken("password", "--password", rf"(?:=|\s+)(?:{_QUOTE})?(?P<v>[^\s\"'`\\]{{4,}})", _is_value),
    _spoken("password", "--pass ", rf"(?:{_QUOTE})?(?P<v>[^\s\"'`\\]{{4,}})", _is_value),
    _spoken("password", "--token", rf"(?:=|\s+)(?:{_QUOTE})?(?P<v>[^\s\"'`\\]{{12,}})", mixed),
    _spoken(
        "password",
        "curl ",
        rf"[^\n|;]{{0,200}}?\s(?:-u|--user)[\s=]*(?:{_QUOTE})?[^\s:\"'`$]+:(?P<v>[^\s\"'`\\]{{3,}})",
        _is_value,
    ),
    _spoken(
        "password",
        "mysql",
        r"[a-z]*(?=\s)[^\n|;]{0,200}?\s-p(?P<v>[^\s\"'`\\-][^\s\"'`\\]{3,})",
        lambda m: _is_value(m) and not m["v"].startswith(("rotocol", "ort", "lugin")),
    ),
    _spoken("password", "machine ", r"\S+\s+login\s+\S+\s+password\s+(?P<v>[^\s\"'`\\]{3,})"),
    _spoken("password", "identified by ", rf"(?:password\s+)?{_QUOTE}(?P<v>[^\"'`\n\\]{{4,}})"),
    _spoken("password", "password is ", rf"(?:{_QUOTE})?(?P<v>[^\s\"'`\\,]{{5,}}[^\s\"'`\\,.])", mixed),
    _spoken("azure-key", "accountkey=", r"(?P<v>[A-Za-z0-9+/]{40,}={0,2})"),
    _spoken("azure-key", "sig=", r"(?P<v>[A-Za-z0-9%+/]{30,}={0,2})", mixed),
    _spoken(
        "docker-auth",
        "auth",
        r"(?:\\*[\"'])\s*:\s*\\*[\"'](?P<v>[A-Za-z0-9+/]{16,}={0,2})(?=\\*[\"'])",
        _is_base64,
    ),
    _spoken("cookie", "cookie: ", r"(?P<v>[^\n\"'\\]{8,})", mixed),
    _spoken("user", "user.name", rf"[ =]+(?:{_QUOTE})(?P<v>[^\"'`\n\\]{{2,60}})"),
)
_AWS_SECRET = Rule(
    "aws-secret-key",
    "aws",
    re.compile(
        r"aws.{0,40}?(?:key|secret|token|pw).{0,20}?[=:\"'\s]" r"(?P<v>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        re.IGNORECASE,
    ),
    False,
    mixed,
)

__all__ = ["EXACT", "FOLDED", "Rule", "guess"]
FOLDED: tuple[Rule, ...] = (_AWS_SECRET, *_CONTEXT)
