"""What a secret looks like: one rule a kind, each with a literal that must be there before its pattern is tried.

Rules only: finding and replacing is `redact`'s work. Keys of known makers are told by their prefix; everything else by
what stands before it ("password = ..."), where `guess` decides whether the value is a secret or code. detect-secrets
brings its own patterns on top (see `kept_rules`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

W = "-A-Za-z0-9_"  # what tokens are mostly made of


class Rule(NamedTuple):
    """Where `anchor` stands, `pattern` is matched; the span is that of its group "v", or of the whole."""

    kind: str
    anchor: str
    pattern: re.Pattern[str]
    is_bounded: bool = True  # whether the anchor must begin a word
    check: Callable[[re.Match[str]], bool] | None = None


def _prefixed(kind: str, anchor: str, rest: str, *, is_bounded: bool = True) -> Rule:
    return Rule(kind, anchor, re.compile(re.escape(anchor) + rest), is_bounded)


def _mixed(match: re.Match[str]) -> bool:
    """Digits and letters: what a made-up word of the same shape has not."""
    value = match["v"] if "v" in match.re.groupindex else match[0]
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _several(kind: str, anchors: str, rest: str) -> list[Rule]:
    return [_prefixed(kind, a, rest) for a in anchors.split()]


_SIMPLE = (
    *_several("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{30,255}"),
    _prefixed("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    *_several("gitlab-token", "glpat- gldt- glft- glsoat- glrt- glptt- glcbt- glimt- glagent- gloas- glffct-", rf"[{W}.]{{16,}}"),
    *_several("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *_several("anthropic-key", "sk-ant-", rf"[{W}]{{16,}}"),
    *_several("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-or-v1- sess-", rf"[{W}]{{24,}}"),
    Rule("openai-key", "sk-", re.compile(r"sk-(?P<v>[A-Za-z0-9]{32,})"), check=_mixed),
    *_several("google-key", "AIza", rf"[{W}]{{35}}"),
    *_several("google-oauth", "GOCSPX-", rf"[{W}]{{20,}}"), *_several("google-oauth", "ya29.", rf"[{W}.]{{20,}}"),
    Rule("google-oauth", "1//0", re.compile(rf"1//0[{W}]{{30,}}")),
    *_several("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.", rf"[{W}.]{{10,}}"),
    *_several("slack-token", "xapp-", rf"[{W}]{{20,}}"),
    Rule("slack-webhook", "hooks.slack.com/", re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9_/+-]{20,})"), False),
    Rule("discord-webhook", "/api/webhooks/", re.compile(rf"/api/webhooks/(?P<v>\d{{15,}}/[{W}]{{30,}})"), False),
    Rule("teams-webhook", "webhook.office.com/", re.compile(rf"webhook\.office\.com/(?P<v>[{W}@/]{{40,}})"), False),
    *_several("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", r"[A-Za-z0-9]{16,}"),
    *_several("sendgrid-key", "SG.", rf"[{W}]{{16,32}}\.[{W}]{{30,60}}"),
    Rule("twilio-key", "SK", re.compile(r"SK[0-9a-f]{32}(?![A-Za-z0-9])")),
    Rule("mailgun-key", "key-", re.compile(r"key-[0-9a-f]{32}(?![A-Za-z0-9])")),
    *_several("npm-token", "npm_", r"[A-Za-z0-9]{30,}"),
    *_several("pypi-token", "pypi-AgE", rf"[{W}]{{40,}}"),
    *_several("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    *_several("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    *_several("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}"),
    *_several("shopify-token", "shpat_ shpss_ shpca_ shppa_", r"[0-9a-fA-F]{32}"),
    *_several("square-token", "sq0atp- sq0csp-", rf"[{W}]{{22,}}"), *_several("square-token", "EAAA", rf"[{W}]{{56,}}"),
    Rule("telegram-token", ":AA", re.compile(rf":AA[{W}]{{32,34}}(?![{W}])"), False),  # digits before it: see redact
    *_several("dropbox-token", "sl.", rf"[{W}]{{100,}}"),
    *_several("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}"), *_several("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
    *_several("figma-token", "figd_", rf"[{W}]{{30,}}"), *_several("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    *_several("atlassian-token", "ATATT3 ATCTT3 ATBB", rf"[{W}=]{{20,}}"),
    *_several("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", rf"[{W}.]{{40,}}"),
    *_several("newrelic-key", "NRAK- NRII- NRJS-", rf"[{W}]{{19,}}"), *_several("grafana-token", "glsa_", r"[A-Za-z0-9_]{32,}"),
    *_several("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    *_several("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9_+/=]{40,}"),
    Rule("terraform-token", ".atlasv1.", re.compile(rf"\.atlasv1\.[{W}]{{60,}}"), False),
    *_several("vault-token", "hvs. hvb. hvr.", rf"[{W}]{{20,}}"), *_several("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    *_several("rubygems-key", "rubygems_", r"[0-9a-f]{48}"), *_several("crates-token", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    *_several("docker-token", "dckr_pat_ dckr_oat_", rf"[{W}]{{20,}}"), *_several("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    *_several("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", rf"[{W}.]{{30,}}"),
    *_several("supabase-key", "sbp_", r"[0-9a-f]{40}"), *_several("supabase-key", "sb_secret_", rf"[{W}]{{20,}}"),
    *_several("replicate-token", "r8_", r"[A-Za-z0-9]{36,}"), *_several("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    *_several("xai-key", "xai-", r"[A-Za-z0-9]{60,}"), *_several("perplexity-key", "pplx-", r"[A-Za-z0-9]{32,}"),
    *_several("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"), *_several("tavily-key", "tvly-", rf"[{W}]{{28,}}"),
    *_several("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{50,}"), _prefixed("fly-token", "FlyV1 ", r"[A-Za-z0-9_,+/=]{40,}"),
    *_several("fly-token", "fo1_", rf"[{W}]{{40,}}"), *_several("netlify-token", "nfp_ nfc_", r"[A-Za-z0-9]{36,}"),
    *_several("heroku-key", "HRKU-", rf"[{W}]{{36,}}"), *_several("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_]{40,}"),
    *_several("buildkite-token", "bkua_", r"[0-9a-f]{40}"), *_several("jfrog-key", "AKCp", r"[A-Za-z0-9]{60,}"),
    *_several("sourcegraph-token", "sgp_", r"[A-Za-z0-9_]{40,}"), *_several("sonar-token", "squ_ sqp_ sqa_", r"[0-9a-f]{40}"),
    *_several("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"), *_several("1password-token", "ops_eyJ", rf"[{W}=]{{60,}}"),
    *_several("mapbox-token", "pk.eyJ sk.eyJ", rf"[{W}]{{20,}}\.[{W}]{{16,}}"), *_several("alibaba-key", "LTAI", r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),
    *_several("tencent-key", "AKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"), *_several("jina-key", "jina_", r"[A-Za-z0-9_]{50,}"),
    *_several("typeform-token", "tfp_", rf"[{W}.]{{40,}}"), *_several("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    *_several("contentful-token", "CFPAT-", rf"[{W}]{{40,}}"), *_several("dynatrace-token", "dt0c01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    *_several("facebook-token", "EAAC EAAB EAAG", r"[A-Za-z0-9]{80,}"), *_several("cloudflare-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    *_several("cerebras-key", "csk-", r"[a-z0-9]{40,}"), *_several("fireworks-key", "fw_", r"[A-Za-z0-9]{22,24}(?![A-Za-z0-9])"),
    *_several("asana-token", "2/", r"\d{12,}/\d{12,}:[0-9a-f]{32}"), *_several("yandex-key", "AQVN", rf"[{W}]{{35,38}}"),
    Rule("azure-secret", "8Q~", re.compile(rf"8Q~[{W}.~]{{31,34}}"), False),
    Rule("azure-secret", "7Q~", re.compile(rf"7Q~[{W}.~]{{31,34}}"), False),
    Rule("jwt", "eyJ", re.compile(rf"eyJ[{W}]{{10,}}\.eyJ[{W}]{{8,}}(?:\.[{W}=+/]*)?")),
    Rule("jwt", "eyJ", re.compile(rf"eyJ[{W}]{{10,}}\.[{W}]*\.[{W}]*\.[{W}]+\.[{W}]+")),  # encrypted
    # \s* and the n of an escaped line end: a key may stand inside JSON text, or inside JSON in JSON
    Rule("private-key", "-----BEGIN ", re.compile(
        r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?P<v>.*?(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|\Z))", re.DOTALL), False),
    Rule("private-key", "PuTTY-User-Key-File", re.compile(r"PuTTY-User-Key-File-\d.*?Private-Lines: \d+(?P<v>.*?)(?:Private-MAC|\Z)", re.DOTALL), False),
)  # fmt: skip

_QUOTE = r"\\*[\"'`]"
_VALUE = rf"(?:(?P<q>{_QUOTE})(?P<quoted>(?:(?!\\*[\"'`\n]|\\+n).){{4,300}})|(?P<bare>[^\s\"'`,;|&<>(){{}}\[\]\\]{{4,300}}))"
ASSIGNED = rf"(?P<suffix>[A-Za-z0-9_]{{0,20}})(?:\\*[\"'`\]]){{0,2}}(?P<eq>\s{{0,8}}(?::=|=>|={{1,3}}|:)\s{{0,8}})(?:[bru]{{1,2}}(?=[\"']))?{_VALUE}"
_PASSWORDS = ("password", "passwd", "passphrase", "pwd", "secret", "passwort", "contraseña")
_KEYS = ("api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "auth_key", "authkey", "private_key", "secret_key", "account_key", "accountkey", "encryption_key", "signing_key", "master_key", "token", "credential", "_auth", "authorization", "license_key", "session_id=", "sharedaccesskey")  # fmt: skip
_WORDS = re.compile(r"[A-Za-z]+(?:[-_./ :@#+]+[A-Za-z]+)*[.!?:]*")
_PATHLIKE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+(?:\(.*)?|[.~]{0,2}/[\w@./-]+|[\w@.-]+(?:/[\w@.-]+)+|https?://\S*")
_NOT_SECRET = re.compile(
    r"\[?redacted|[*x.•…_-]+$|\$|%[({s]|\{\{|<[a-z]|process\.env|os\.|env[.\[(]|import\.meta|getenv|config\.|settings\.|self\.|this\.|secrets\."
    r"|(?:your|my|the|some|example|sample|dummy|fake|placeholder|changeme|change-me|insert|enter)\b|(?:your|example|dummy|fake|placeholder)[-_]"
    r"|(?:none|null|nil|true|false|undefined|string|str|int|bool|bytes|optional|required|password|secret|token|hidden|prompt)\b",
    re.IGNORECASE,
)
# After "token", "key" and the like: it names something about the secret, not the secret.
_ABOUT = re.compile(r"s$|s?[_.-]?(ids?|hash|count|type|kind|name|names|file|path|url|uri|len|length|limit|usage|expir\w*|index|size|budget|ttl|field|header|prefix|at|policy|version|status|table|class|list|map|regex|pattern|rotation|scope|scopes|manager|store|provider|error|length|min|max|env|var|ref|arn|format)s?$", re.IGNORECASE)  # fmt: skip


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


def guess(match: re.Match[str]) -> bool:
    """Whether the value that is assigned to something called password, token or key is one, and not code or words."""
    quoted = match["quoted"] is not None
    value = (match["quoted"] if quoted else match["bare"]).strip()
    suffix, word = match["suffix"], match["word"].lower()
    if len(value) < 4 or _NOT_SECRET.match(value) or _ABOUT.search(suffix) or (not quoted and _PATHLIKE.fullmatch(value)):
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
            shell = not match["eq"].strip(" ") != "=" and " " not in match["eq"] and match["word"].isupper()
            return (quoted and len(value) >= 12 and value.isalpha()) or (shell and len(value) >= 6)
        if quoted or "=" in match["eq"].strip() and " " not in match["eq"]:
            return digits > 0 or odd >= 2
        return digits > 0 and len(value) >= 6 and (not value.isidentifier() or digits >= 2 or _is_own_line(match))
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
    return Rule(kind, word, re.compile(rf"(?P<word>{re.escape(word)}){ASSIGNED}", re.IGNORECASE), False, guess)


def _spoken(kind: str, anchor: str, rest: str, check: Callable[[re.Match[str]], bool] | None = None) -> Rule:
    return Rule(kind, anchor, re.compile(re.escape(anchor) + rest, re.IGNORECASE), True, check)


def _is_base64(match: re.Match[str]) -> bool:
    value = match["v"]
    return entropy(value) > 3 and (value.endswith("=") or (value.lower() != value and any(c.isdigit() for c in value)))


def _is_value(match: re.Match[str]) -> bool:
    return not _NOT_SECRET.match(match["v"])


# Anchors in lower case, sought in the lower-cased text.
_CONTEXT = (
    *(_assigned(w, "password") for w in _PASSWORDS),
    *(_assigned(w, "token" if w in ("token", "_auth", "authorization") else "key") for w in _KEYS),
    _spoken("bearer-token", "bearer ", r"+(?P<v>[A-Za-z0-9._~+/-]{16,}={0,2})", _mixed),
    _spoken("basic-auth", "basic ", r"+(?P<v>[A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/])", _is_base64),
    Rule("url-password", "://", re.compile(r"://(?P<user>[^\s:/@\"'`<>\\]{0,80}):(?P<v>[^\s/@\"'`<>\\]{1,200})@[A-Za-z0-9.\[-]"), False, _is_value),
    _spoken("password", "--password", rf"(?:=|\s+)(?:{_QUOTE})?(?P<v>[^\s\"'`\\]{{4,}})", _is_value),
    _spoken("password", "--pass ", rf"(?:{_QUOTE})?(?P<v>[^\s\"'`\\]{{4,}})", _is_value),
    _spoken("password", "--token", rf"(?:=|\s+)(?:{_QUOTE})?(?P<v>[^\s\"'`\\]{{12,}})", _mixed),
    _spoken("password", "curl ", rf"[^\n|;]{{0,200}}?\s(?:-u|--user)[\s=]*(?:{_QUOTE})?[^\s:\"'`$]+:(?P<v>[^\s\"'`\\]{{3,}})", _is_value),
    _spoken("password", "mysql", r"[a-z]*(?=\s)[^\n|;]{0,200}?\s-p(?P<v>[^\s\"'`\\-][^\s\"'`\\]{3,})", lambda m: _is_value(m) and not m["v"].startswith(("rotocol", "ort", "lugin"))),
    _spoken("password", "machine ", r"\S+\s+login\s+\S+\s+password\s+(?P<v>[^\s\"'`\\]{3,})"),
    _spoken("password", "identified by ", rf"(?:password\s+)?{_QUOTE}(?P<v>[^\"'`\n\\]{{4,}})"),
    _spoken("password", "password is ", rf"(?:{_QUOTE})?(?P<v>[^\s\"'`\\,]{{5,}}[^\s\"'`\\,.])", _mixed),
    _spoken("azure-key", "accountkey=", r"(?P<v>[A-Za-z0-9+/]{40,}={0,2})"),
    _spoken("azure-key", "sig=", r"(?P<v>[A-Za-z0-9%+/]{30,}={0,2})", _mixed),
    _spoken("docker-auth", "auth", r"(?:\\*[\"'])\s*:\s*\\*[\"'](?P<v>[A-Za-z0-9+/]{16,}={0,2})(?=\\*[\"'])", _is_base64),
    _spoken("cookie", "cookie: ", r"(?P<v>[^\n\"'\\]{8,})", _mixed),
    _spoken("user-name", "user.name", rf"[ =]+(?:{_QUOTE})(?P<v>[^\"'`\n\\]{{2,60}})"),
)  # fmt: skip
_AWS_SECRET = Rule(
    "aws-secret-key", "aws", re.compile(r"aws.{0,40}?(?:key|secret|token|pw).{0,20}?[=:\"'\s](?P<v>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", re.IGNORECASE), False, _mixed
)  # fmt: skip

EXACT: tuple[Rule, ...] = _SIMPLE
FOLDED: tuple[Rule, ...] = (_AWS_SECRET, *_CONTEXT)

# Classes of detect-secrets that we do not run: guessing by entropy and keyword (ids and code look random too; `guess`
# does it with more care), public IP addresses, encrypted passwords of Artifactory (their pattern takes ordinary words).
_KEPT_SKIPPED = frozenset({
    "Base64HighEntropyString", "HexHighEntropyString", "KeywordDetector", "IPPublicDetector", "ArtifactoryDetector",
    "NpmDetector",  # takes the rest of the line
    "IbmCloudIamDetector",  # any word of 44 letters after "pass:"
    "JwtTokenDetector", "PrivateKeyDetector",  # these two match a part only; the rules above take the whole
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A pattern of detect-secrets."""

    kind: str
    pattern: re.Pattern[str]


@lru_cache(maxsize=1)
def kept_rules() -> tuple[KeptRule, ...]:
    """The patterns of the installed detect-secrets."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    found = []
    for kind, made in get_mapping_from_secret_type_to_class().items():
        if issubclass(made, RegexBasedDetector) and made.__name__ not in _KEPT_SKIPPED:
            label = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")
            found += [KeptRule(label, pattern) for pattern in made().denylist]
    return tuple(found)
