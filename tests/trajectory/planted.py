"""Secrets made up for the tests, one a kind, in a text as an agent would see it. None was ever valid.

Values are put together at run time from a seeded source, so that no line of this file looks like a secret to a scanner.
"""

from __future__ import annotations

import random
import string

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def planted(seed: int = 7) -> list[tuple[str, str, str]]:
    """(kind, what must not leave, the text around it) of each."""
    draw = random.Random(seed)

    def some(count: int, letters: str = ALNUM) -> str:
        while True:
            made = "".join(draw.choice(letters) for _ in range(count))
            if any(c.isdigit() for c in made) and (letters.isupper() or any(c.isalpha() for c in made)):
                return made

    upper = string.ascii_uppercase + string.digits
    url64 = ALNUM + "-_"
    body = "\n".join(some(64, ALNUM + "+/") for _ in range(4))
    pem = f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{body}\n-----END RSA PRIVATE {'KEY'}-----"
    ssh = f"-----BEGIN OPENSSH PRIVATE {'KEY'}-----\n{body}\n-----END OPENSSH PRIVATE {'KEY'}-----"
    jwt = f"eyJ{some(30, url64)}.eyJ{some(60, url64)}.{some(43, url64)}"
    kinds: list[tuple[str, str, str]] = []

    def add(kind: str, value: str, text: str) -> None:
        kinds.append((kind, value, text.replace("@@", value)))

    add("github classic", "ghp_" + some(36), "remote: https://x-access-token:@@@github.com/o/r.git")
    add("github fine grained", "github_pat_" + some(22) + "_" + some(59), "GH_TOKEN=@@ gh pr list")
    add("github app", "ghs_" + some(36), 'git config http.extraheader "AUTHORIZATION: @@"')
    add(
        "gitlab",
        "glpat-" + some(20, url64),
        "curl --header 'PRIVATE-TOKEN: @@' https://gitlab.com/api/v4/user",
    )
    add("aws key id", "AKIA" + some(16, upper), "aws_access_key_id = @@\nregion = eu-west-1")
    add("aws secret", some(40, ALNUM + "/+"), 'export AWS_SECRET_ACCESS_KEY="@@"')
    add("anthropic", "sk-ant-api03-" + some(93, url64), "ANTHROPIC_API_KEY=@@")
    add("openai project", "sk-proj-" + some(74, url64), "client = OpenAI(api_key='@@')")
    add("openai old", "sk-" + some(20) + "T3BlbkFJ" + some(20), "using @@ for the run")
    add("google api", "AIza" + some(35, url64), "https://maps.googleapis.com/maps/api/js?key=@@&v=3")
    add("google oauth secret", "GOCSPX-" + some(28, url64), '"client_secret":"@@"')
    add(
        "slack bot",
        "xoxb-" + some(12, string.digits + "1a")[:11].replace("a", "1") + "-" + some(24),
        "SLACK=@@",
    )
    add(
        "slack webhook",
        "T" + some(8, upper) + "/B" + some(8, upper) + "/" + some(24),
        "https://hooks.slack.com/services/@@",
    )
    add("stripe", "sk_live_" + some(24), "stripe.api_key = '@@'")
    add("sendgrid", "SG." + some(22, url64) + "." + some(43, url64), "SENDGRID: @@")
    add("twilio", "SK" + some(32, HEX), "twilio key @@ was rotated")
    add("npm", "npm_" + some(36), "//registry.npmjs.org/:_authToken=@@")
    add("pypi", "pypi-AgEIcHlwaS5vcmc" + some(80, url64), "twine upload -u __token__ -p @@")
    add("hugging face", "hf_" + some(34), "huggingface-cli login --token @@")
    add("databricks", "dapi" + some(32, HEX), "DATABRICKS_TOKEN: @@")
    add("digitalocean", "dop_v1_" + some(64, HEX), "doctl auth init -t @@")
    add("telegram bot", some(9, "123456789a").replace("a", "7") + ":AA" + some(33, url64), "BOT=@@")
    add(
        "discord webhook",
        some(18, "123456789a").replace("a", "7") + "/" + some(68, url64),
        "https://discord.com/api/webhooks/@@",
    )
    add("json web token", jwt, "cookie jar: session @@ ok")
    add("bearer", some(40), "Authorization: Bearer @@")
    add(
        "basic authorization",
        "dXNlcjE6" + some(20) + "==",
        "curl -H 'Authorization: Basic @@' https://intern.example",
    )
    add("password in a url", "tr0ub4dor" + some(4), "postgres://app:@@@db.internal:5432/app")
    add("password in env", some(10), "DB_PASSWORD=@@\nDB_HOST=localhost")
    add("password in yaml", some(12), "database:\n  password: @@\n  user: app")
    add("password in json", some(14) + "!%", '{"username":"app","password":"@@"}')
    add("password in code", "s3cret-" + some(6), 'connect(host, password="@@")')
    add("password option", some(12), "mysqladmin --password=@@ status")
    add("mysql -p", some(12), "mysql -uroot -p@@ shop < dump.sql")
    add("curl -u", some(12), "curl -s -u deploy:@@ https://nexus.example/repo")
    add("netrc", some(16), "machine api.example.org login bot password @@")
    add(
        "azure storage",
        some(86, ALNUM + "+/") + "==",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@;",
    )
    add(
        "azure client secret",
        some(3) + "8Q~" + some(34, url64),
        "the app registration's value is @@ until June",
    )
    add("generic api key", some(32, HEX), 'X_API_KEY: "@@"')
    add("generic token", some(40, url64), "access_token=@@&expires_in=3600")
    add("rsa private key", body.split("\n")[1], pem)
    add("ssh private key", body.split("\n")[2], ssh)
    add("docker auth", some(40), '{"auths":{"ghcr.io":{"auth":"@@"}}}')
    add("vault", "hvs." + some(90, url64), "vault login @@")
    add("age", "AGE-SECRET-KEY-1" + some(58, upper), "# public key: age1x\n@@")
    add("linear", "lin_api_" + some(40), "LINEAR=@@")
    add("groq", "gsk_" + some(52), "export GROQ=@@")
    add("e-mail", "marta.kowalczyk@studio-nord.eu", "please write to @@ about it")
    add("home folder mac", "mkowalczyk", "/Users/@@/src/shop/main.go:12: undefined: x")
    add("home folder linux", "jdoe42", "cd /home/@@/src && ls")
    add("home folder windows", "Henrik", "C:\\Users\\@@\\AppData\\Local\\Temp\\x.log")
    add("author", "Marta Kowalczyk", "Author: @@ <marta@studio-nord.eu>\nDate:   Mon Feb 2 2026")
    return kinds
