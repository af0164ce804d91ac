"""Keys and tokens that are told by how they begin: the prefix that their maker gives them, and the shape of the rest.

A table, and the few that need more than a prefix. What is told by the words around it is in `rules`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

W = "-A-Za-z0-9_"  # what tokens are mostly made of


class Rule(NamedTuple):
    """Where `anchor` stands, `pattern` is matched; the span is that of its group "v", or of the whole."""

    kind: str
    anchor: str
    pattern: re.Pattern[str]
    is_bounded: bool = True  # whether the anchor must begin a word
    check: Callable[[re.Match[str]], bool] | None = None


def mixed(match: re.Match[str]) -> bool:
    """Digits and letters: what a made-up word of the same shape has not."""
    value = match["v"] if "v" in match.re.groupindex else match[0]
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


# Kind, prefixes (each begins a word), and what follows.
_PREFIXES = (
    ("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", r"[A-Za-z0-9_]{30,255}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    (
        "gitlab-token",
        "glpat-|gldt-|glft-|glsoat-|glrt-|glptt-|glcbt-|glimt-|glagent-|gloas-|glffct-",
        rf"[{W}.]{{16,}}",
    ),
    ("aws-access-key", "AKIA|ASIA|ABIA|ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("anthropic-key", "sk-ant-", rf"[{W}]{{16,}}"),
    ("openai-key", "sk-proj-|sk-svcacct-|sk-admin-|sk-or-v1-|sess-", rf"[{W}]{{24,}}"),
    ("google-key", "AIza", rf"[{W}]{{35}}"),
    ("google-oauth", "GOCSPX-", rf"[{W}]{{20,}}"),
    ("google-oauth", "ya29.", rf"[{W}.]{{20,}}"),
    ("slack-token", "xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xoxo-|xoxe-|xoxe.", rf"[{W}.]{{10,}}"),
    ("slack-token", "xapp-", rf"[{W}]{{20,}}"),
    ("stripe-key", "sk_live_|rk_live_|sk_test_|rk_test_|whsec_", r"[A-Za-z0-9]{16,}"),
    ("sendgrid-key", "SG.", rf"[{W}]{{16,32}}\.[{W}]{{30,60}}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{30,}"),
    ("pypi-token", "pypi-AgE", rf"[{W}]{{40,}}"),
    ("huggingface-token", "hf_|api_org_", r"[A-Za-z0-9]{30,}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    ("digitalocean-token", "dop_v1_|doo_v1_|dor_v1_", r"[0-9a-f]{40,}"),
    ("shopify-token", "shpat_|shpss_|shpca_|shppa_", r"[0-9a-fA-F]{32}"),
    ("square-token", "sq0atp-|sq0csp-", rf"[{W}]{{22,}}"),
    ("square-token", "EAAA", rf"[{W}]{{56,}}"),
    ("dropbox-token", "sl.", rf"[{W}]{{100,}}"),
    ("linear-key", "lin_api_|lin_oauth_", r"[A-Za-z0-9]{32,}"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
    ("figma-token", "figd_", rf"[{W}]{{30,}}"),
    ("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("atlassian-token", "ATATT3|ATCTT3|ATBB", rf"[{W}=]{{20,}}"),
    ("doppler-token", "dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit.", rf"[{W}.]{{40,}}"),
    ("newrelic-key", "NRAK-|NRII-|NRJS-", rf"[{W}]{{19,}}"),
    ("grafana-token", "glsa_", r"[A-Za-z0-9_]{32,}"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    ("sentry-token", "sntrys_|sntryu_", r"[A-Za-z0-9_+/=]{40,}"),
    ("vault-token", "hvs.|hvb.|hvr.", rf"[{W}]{{20,}}"),
    ("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    ("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    ("crates-token", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("docker-token", "dckr_pat_|dckr_oat_", rf"[{W}]{{20,}}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    ("planetscale-token", "pscale_tkn_|pscale_pw_|pscale_oauth_", rf"[{W}.]{{30,}}"),
    ("supabase-key", "sbp_", r"[0-9a-f]{40}"),
    ("supabase-key", "sb_secret_", rf"[{W}]{{20,}}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{36,}"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    ("xai-key", "xai-", r"[A-Za-z0-9]{60,}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{32,}"),
    ("langsmith-key", "lsv2_pt_|lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    ("tavily-key", "tvly-", rf"[{W}]{{28,}}"),
    ("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{50,}"),
    ("fly-token", "FlyV1 ", r"[A-Za-z0-9_,+/=]{40,}"),
    ("fly-token", "fo1_", rf"[{W}]{{40,}}"),
    ("netlify-token", "nfp_|nfc_", r"[A-Za-z0-9]{36,}"),
    ("heroku-key", "HRKU-", rf"[{W}]{{36,}}"),
    ("circleci-token", "CCIPAT_|CCIPRJ_", r"[A-Za-z0-9_]{40,}"),
    ("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    ("jfrog-key", "AKCp", r"[A-Za-z0-9]{60,}"),
    ("sourcegraph-token", "sgp_", r"[A-Za-z0-9_]{40,}"),
    ("sonar-token", "squ_|sqp_|sqa_", r"[0-9a-f]{40}"),
    ("prefect-key", "pnu_|pnb_", r"[A-Za-z0-9]{36}"),
    ("1password-token", "ops_eyJ", rf"[{W}=]{{60,}}"),
    ("mapbox-token", "pk.eyJ|sk.eyJ", rf"[{W}]{{20,}}\.[{W}]{{16,}}"),
    ("alibaba-key", "LTAI", r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),
    ("tencent-key", "AKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("jina-key", "jina_", r"[A-Za-z0-9_]{50,}"),
    ("typeform-token", "tfp_", rf"[{W}.]{{40,}}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("contentful-token", "CFPAT-", rf"[{W}]{{40,}}"),
    ("dynatrace-token", "dt0c01.|dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    ("facebook-token", "EAAC|EAAB|EAAG", r"[A-Za-z0-9]{80,}"),
    ("cloudflare-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("cerebras-key", "csk-", r"[a-z0-9]{40,}"),
    ("fireworks-key", "fw_", r"[A-Za-z0-9]{22,24}(?![A-Za-z0-9])"),
    ("asana-token", "2/", r"\d{12,}/\d{12,}:[0-9a-f]{32}"),
    ("yandex-key", "AQVN", rf"[{W}]{{35,38}}"),
)

# A key may stand inside JSON text, or inside JSON in JSON, so line ends are not looked for.
_OTHERS = (
    Rule("openai-key", "sk-", re.compile(r"sk-(?P<v>[A-Za-z0-9]{32,})"), check=mixed),
    Rule("google-oauth", "1//0", re.compile(rf"1//0[{W}]{{30,}}")),
    Rule(
        "slack-webhook",
        "hooks.slack.com/",
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9_/+-]{20,})"),
        False,
    ),
    Rule(
        "discord-webhook",
        "/api/webhooks/",
        re.compile(rf"/api/webhooks/(?P<v>\d{{15,}}/[{W}]{{30,}})"),
        False,
    ),
    Rule(
        "teams-webhook",
        "webhook.office.com/",
        re.compile(rf"webhook\.office\.com/(?P<v>[{W}@/]{{40,}})"),
        False,
    ),
    Rule("twilio-key", "SK", re.compile(r"SK[0-9a-f]{32}(?![A-Za-z0-9])")),
    Rule("mailgun-key", "key-", re.compile(r"key-[0-9a-f]{32}(?![A-Za-z0-9])")),
    Rule("telegram-token", ":AA", re.compile(rf":AA[{W}]{{32,34}}(?![{W}])"), False),
    Rule("terraform-token", ".atlasv1.", re.compile(rf"\.atlasv1\.[{W}]{{60,}}"), False),
    Rule("azure-secret", "8Q~", re.compile(rf"8Q~[{W}.~]{{31,34}}"), False),
    Rule("azure-secret", "7Q~", re.compile(rf"7Q~[{W}.~]{{31,34}}"), False),
    Rule("jwt", "eyJ", re.compile(rf"eyJ[{W}]{{10,}}\.eyJ[{W}]{{8,}}(?:\.[{W}=+/]*)?")),
    Rule("jwt", "eyJ", re.compile(rf"eyJ[{W}]{{10,}}\.[{W}]*\.[{W}]*\.[{W}]+\.[{W}]+")),
    Rule(
        "private-key",
        "-----BEGIN ",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"(?P<v>.*?(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|\Z))",
            re.DOTALL,
        ),
        False,
    ),
    Rule(
        "private-key",
        "PuTTY-User-Key-File",
        re.compile(r"PuTTY-User-Key-File-\d.*?Private-Lines: \d+(?P<v>.*?)(?:Private-MAC|\Z)", re.DOTALL),
        False,
    ),
)

EXACT: tuple[Rule, ...] = (
    *(
        Rule(kind, a, re.compile(re.escape(a) + rest))
        for kind, anchors, rest in _PREFIXES
        for a in anchors.split("|")
    ),
    *_OTHERS,
)
