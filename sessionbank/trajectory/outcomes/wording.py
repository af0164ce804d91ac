"""Reading English about work: what was done, only analysed, left open, failed or given up. Patterns, no model.

A word such as "fail" says little: "fixed the failing test" is good news, "the second run failed as well" is not. So a
text is read clause by clause, what stands in a subordinate clause ("a bug where the upload fails") is description, and
what a later clause mends ("at first ... but then ...") is not held against it. Nothing here knows of sessions.
"""

# ruff: noqa: E501 - a pattern or a table row is read as one line

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 20_000  # characters that are read
LONGEST_CLAUSE = 800
KINDS = ("done", "acted", "analysed", "open", "unmade", "failed", "given_up")


@dataclass(frozen=True, slots=True)
class Cue:
    """What a clause says of the work, and the words that say it."""

    kind: str  # one of KINDS
    words: str
    clause: str


def _r(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns), re.IGNORECASE)


_NUMBERS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_NUMBER = rf"(\d{{1,5}}|{'|'.join(_NUMBERS[1:])})"
_OF = re.compile(
    rf"\b{_NUMBER} (?:out )?of (?:about |around |some |roughly |the |all )?{_NUMBER}\b(?! (?:ms|MB|kB|GB|%|percent|seconds|minutes))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"```.*?(?:```|$)|`[^`\n]*`|[\"“][^\"“”\n]{1,300}[\"”]", re.DOTALL)
# A run of white space is tried from its beginning alone: from each of its characters a long one would take for ever.
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+|(?<!\s)\s+[-–—]+\s+")
_CONTRAST = re.compile(
    r"(?<!\s),?\s*\b(?=(?:but|however|although|though|(?<=, )yet|whereas|except that|nevertheless)\b)"
    r"|,\s+(?=(?:and|so|then|while|the|it|they|nothing|no)\b)",
    re.IGNORECASE,
)
_TURN = _r(
    r"\b(?:but|however|then|finally|eventually|afterwards|in the end|now|second|instead|after (?:that|which|all|a|the)|"
    r"retry|retried|next|later|so)\b"
)
_EARLIER = _r(
    r"\b(?:at first|initial(?:ly)?|first|original(?:ly)?|previous(?:ly)?|earlier|formerly|used to|temporarily)\b"
)
# From one of these on, a clause describes a thing and does not say how the work went.
_SUBORDINATE = _r(
    r"\b(?:where|(?<!, )which|whose|when|whenever|because|since|causing|caused|if|unless|why|how|whether|so that|in case|"
    r"due to|"
    r"(?:bug|issue|error|test|tests|case|cases|problem|code|logic|path|check|guard|fallback|ensures?|ensured|meant|"
    r"found|identified|discovered|noted|noticed|showed|confirmed|documented|explained|reported|requests?|jobs?|files?|"
    r"calls?|sessions?|users?|mails?|items?|those|entries) (?P<that>that))\b"
)

_WORK = (
    r"(?:implemented|fixed|finished|completed|done|solved|resolved|addressed|written|started|begun|tested|verified|"
    r"merged|committed|pushed|deployed|released|reached|repaired|removed yet|replaced|met|achieved|delivered|executed|run|made|built|added|applied|"
    r"found|installed|migrated|ported|converted|covered|proven|shown|handled|touched yet|wired|integrated|created|"
    r"attempted|documented|translated|measured|confirmed|reproduced)"
)
# What can be dropped, reverted, rejected: the work itself, not a table column or a bad request.
_EFFORT = (
    r"(?:attempt|approach|plan|work|changes?|feature|idea|it|this|that|everything|all of it|session|task|spike|fix|\w+ing|"
    r"implementation|branch|pull request|pr|proposal|migration|experiment|effort|state|result|code|edits?|commits?|"
    r"rest|refactor(?:ing)?|they|solution|suggestions?|patch|prototype|rewrite|upgrade|project|job|runner|design|topic)"
)

_GIVEN_UP = _r(
    r"\b(?:gave|given|giving|give) up\b",
    r"\babandon(?:ed|ing|s)?\b",
    r"\b(?:threw|thrown|throwing) (?:it |them |everything |all |this )?away\b",
    rf"\b{_EFFORT}\b(?:\W+\w+){{0,5}}?\W+(?:was|were|has been|have been|had been|got|had to be)\s+(?:\w+ ){{0,2}}?"
    r"(?:dropped|discarded|scrapped|cancell?ed|aborted|shelved|rolled back|reverted|undone|rejected|stopped|withdrawn|"
    r"backed out|lost|refused|declined|turned down|deleted again|removed again)\b",
    r"\b(?:and|then) (?:later |then |was |were )?(?:dropped|discarded|scrapped|reverted|rolled back|withdrawn)\b(?! (?:the|an?|all|old|once|to|for)\b)",
    r"\b(?:was|were|got|been) (?:rejected|refused|declined|turned down|denied|blocked) by\b",
    r"\bleft (?:as (?:it was|is|before)|unchanged|untouched)\b|\bto (?:keep|stay with|stick (?:to|with)|live with) (?:the )?(?:old|current|existing|\w+) and\b",
    r"\b(?:declared|became|is now|was) obsolete\b|\bbackup (?:was|had to be) restored\b|\bthrown out\b|\bput to rest\b|\bclosed as (?:won['’]t fix|wontfix|not planned)\b",
    r"\bnot kept\b|\bnothing (?:was|is|has been|got|could be) (?:committed|kept|saved|merged|delivered)\b(?! (?:yet|as|on purpose|so far|until))",
    r"\b(?:user|person|developer|customer|maintainer|owner|they|he|she)\b(?:(?!\b(?:was|were|is|are|be|been)\b)[^.;]){0,50}?\s(?:stopped|cancell?ed|aborted|"
    r"rejected|abandoned|took (?:\w+ ){0,3}?over|discarded|reverted|undid|closed the session|called it off|lost patience|gave up)\b",
    r"\bcalled off\b|\bdead end\b|\bback to square one\b|\bmade (?:it|things|matters) worse\b",
    r"\bstopp(?:ed|ing) (?:here|there|the (?:work|attempt|session)|without|before)\b",
    r"\b(?:accidentally|by mistake|mistakenly|wrongly)\s+(?:deleted|removed|overwrote|dropped|wiped|destroyed)\b",
    r"\b(?:deleted|removed|overwrote|dropped|wiped|destroyed)\b[^.]{0,60}\b(?:by mistake|accidentally|instead of)\b",
)
_FAILED = _r(
    r"\b(?:unable|not able|failed|failing) to\b",
    r"\b(?:could not|couldn['’]t)\b(?! be (?:shown|verified|tested|confirmed|measured|checked|proven|proved|tried))",
    r"\b(?:I|we|it|agent|assistant) (?:cannot|can['’]t|can not)\b(?! (?:test|verify|check|confirm|measure|prove|try)\b)",
    r"\b(?:cannot|can['’]t|can not) (?:be (?:installed|built|done|fixed|solved|used|run|reached|reproduced|made|implemented|met)|work)\b",
    r"\b(?:did not|didn['’]t) (?:work|help|succeed|solve|fix|manage|find|get|reach|pass|compile|build|change anything|"
    r"make (?:any|a) difference|happen)\b",
    r"\b(?:does not|doesn['’]t|do not|don['’]t|would not|won['’]t) (?:work|compile|build|pass|run|start|help|load|terminate)\b",
    r"\b(?:is not|isn['’]t|are not|not|never) work(?:ing|ed|s)?\b",
    r"\bwithout (?:success|a result|any result|a fix|a solution|an answer)\b|\bto no avail\b|\bin vain\b|\bunsuccessful(?:ly)?\b",
    r"\bno (?:fix|solution|cause|explanation|progress|code|changes?|approach|way|attempt|option|variant|root cause)\b[^.,;]{0,40}"
    r"\b(?:was|were|could|worked|found|made|written|helped|enough|available|exists?)\b",
    r"\bneither\b[^.]{0,60}\b(?:worked|works|helped|was|were|is|has|have|had|can|could|does|did)\b|\bnone of\b[^.]{0,40}\b(?:work(?:s|ed)?|help(?:s|ed)?|fast enough|pass(?:es|ed)?)\b",
    r"\bnothing (?:was|is|has been|got|could be) (?:written|done|changed|achieved|found|fixed|solved)\b",
    r"\b(?:is|are|was|were|remains?|still|stays?) (?:\w+ )?(?:broken|stuck|impossible|blocked|unusable|red)\b|\bblocked (?:by|on)\b",
    r"\b(?:is|are|was|were) (?:\w+ )?(?:unavailable|not available)\b|\b(?:see|saw|found|find|know|there (?:is|was)) no (?:\w+ )?(?:way|option|solution|approach|fix)\b",
    r"\bran out of\b|\b(?:usage|rate|context|token|time|session) limit\b[^.]{0,25}\b(?:reached|hit|ended|exceeded|stopped|ran)\b",
    r"\b(?:hit|reached|exceeded) (?:the|a|its|their) (?:usage|rate|context|token|time|session) limit\b",
    r"\bstill (?:\w+ )?(?:fails?|failing|crash(?:es|ing)?|hangs?|breaks?|overlaps?|leaks?|times out|errors?|wrong|happens|shows? (?:the|an) error)\b",
    r"\b(?:keeps?|kept|continues? to) (?:fail|crash|break|hang)(?:ing)?\b",
    r"\bbroke (?:existing|other|several|production|more|the (?:build|tests?|site|app|api|ui|page|deploy\w*|login|imports?))\b|\brefus(?:es|ed) to\b|\bregress(?:ed|es)\b|\btoo slow\b|\bno longer (?:works?|compiles?|builds?|starts?|pass(?:es)?)\b",
    r"\b(?:aborted|crashed|bailed|died|broke down|choked|stalled|collapsed|tripped) (?:with|on|at|in|before|after|half)\b",
    r"\bconnection (?:is |was )?refused\b|\b(?:made|makes|leaves|left) (?:\w+ ){0,3}(?:tests? )?(?:fail|broken|worse|unusable)\b",
    r"\bas (?:wrong|slow|bad|broken|flaky|unstable|red) as (?:before|ever)\b|\bno (?:better|change|effect|difference|improvement)\b(?! (?:in|to|of) behaviou?r)",
    r"\b(?:does not|doesn['’]t|do not|don['’]t) (?:start|boot|respond|connect|exist|appear)\b|\b(?:every|each|any|no) (?:attempt|workaround|approach|variant|try) (?:broke|fails?|failed|ended|worked)\b",
    r"\b(?:going|went|running|ran) in circles\b|\bwithout luck\b|\bno luck\b|\bno trace\b|\bkeeps? (?:rejecting|refusing|failing|crashing|breaking)\b",
    r"\b(?:do not|don['’]t|did not|didn['’]t) (?:see|know|find) (?:a|any) (?:way|fix|solution|cause)\b|\b(?:brought|gained|changed|helped) (?:almost |next to |close to )?nothing\b",
    r"\bpersists?\b|\bstill (?:there|the same)\b",
    r"\bended (?:before|without|in the middle)\b|\bbr(?:oke|eaks|oken) off\b",
)
_FAIL_WORD = re.compile(r"\b(?:fails?|failed|failing|timed out|crash(?:es|ed))\b", re.IGNORECASE)
_FAIL_HARMLESS_AFTER = re.compile(
    r"^\s+(?:(?:unit|integration|e2e|ci|flaky|\w+)\s+)?(?:tests?|builds?|checks?|jobs?|requests?|logins?|payments?|uploads?|runs?|steps?|cases?|"
    r"assertions?|imports?|deliver(?:y|ies)|attempts?|commits?|state|status|calls?|transactions?|mails?|hooks?|jobs?|messages?|pipelines?|orders?|"
    r"without|before|as expected|as it should|fast|gracefully|safe|loudly|closed|open|early|over|with a (?:clear|helpful|useful))\b",
    re.IGNORECASE,
)
_FAIL_HARMLESS_BEFORE = re.compile(
    r"(?:\b(?:0|zero|no|none|nothing|never|no longer|not|without|n['’]t|(?:no|zero) (?:tests?|checks?|\w+)) (?:\w+ )?$)"
    r"|\b(?:the|a|an|of|all|any|every|each|for|from|on|after|these|those|two|three|four|five|\d+|previously|formerly|once|of the|intermittently) $"
    r"|\bfix(?:e[ds])? $",
    re.IGNORECASE,
)
_NEGATED_FAIL = re.compile(
    r"\b(?:0|zero|none|nothing|never|no longer|not|without|n['’]t|(?:no|zero) \w+) (?:\w+ )?$", re.IGNORECASE
)

_NONE_OF_IT = re.compile(
    r"\b(?:nothing|none|no (?:\w+ ){1,3}?|(?:without|never) (?:\w+ )?)\s*(?:was |is |are |were |has been )?$",
    re.IGNORECASE,
)

_OPEN = _r(
    r"\bnot (?:yet|fully|completely|entirely|quite)\b(?: (?:been |be )?\w+)?|\bnot (?:all|everything|every|finished|complete)\b|n['’]t (?:fully|completely|entirely|yet)\b",
    r"\bdo(?:es)? not yet\b|\byet to\b(?! another)",
    r"\bremain(?:s|ed|ing)? (?:to be|to do|open|unfinished|unresolved|undone|untested|unclear|unsolved|unverified|for)\b|\bremains?(?=[.,;)]|$)",
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|some|others?|many|several|a few|the rest) (?:\w+ ){0,2}?remains?\b",
    r"\b(?:is|are|was|were|been|being|stays?|stayed) (?:still )?(?:left|open|missing|pending|outstanding|unfinished|incomplete|unresolved|untested|unverified|unproven|undone)\b",
    r"\bleft (?:open|undone|unfinished|incomplete|for (?:later|another|a later|the next|others|now)|to (?:do|others))\b|\bstays? open\b",
    r"\bstill (?:open|missing|needs?|need|to (?:do|be|come)|pending|todo|outstanding|white|required?|lacks?|necessary|untested|has to|have to|must)\b",
    r"\b(?:\d+|rest|work|some|several|others?|part) (?:\w+ )?(?:is |are )?pending\b|\bto be (?:done|finished|completed|implemented|written|fixed|added|investigated|decided)\b",
    r"\bpartial(?:ly)?\b(?= (?:done|implemented|complete|completed|fixed|working|works|success|successful|progress|fix|solution|implementation|migrated|resolved|finished|solved|successful))",
    r"\bpartially\b|\bpartly\b|\bin part\b|\bhalf(?:way)?(?: of| done| finished| the)\b|\bincomplete\b|\bunfinished\b|\bunverified\b|\buntested\b",
    r"\b(?:currently |still )?in progress\b|\bwork in progress\b|\bWIP\b",
    r"\b(?:was|were|been) (?:skipped|put on hold|omitted|excluded|disabled)\b|\bon hold\b|\bexists? only as\b|\bonly (?:marked|drafted|sketched|planned|started|stubbed)\b",
    r"\b(?:nobody|no one) has\b|\bas (?:a )?(?:drafts?|mock-?ups?|sketch(?:es)?|stubs?|placeholders?)\b|\bstill (?:embedded|embeds|uses|used|hard-?coded|present|visible)\b",
    r"\b(?:deferred|postponed|put off|parked|saved for later|moved to a later)\b",
    r"\b(?:could not|couldn['’]t|cannot|can['’]t|can not) (?:be )?(?:shown?|verified|verify|tested?|confirm(?:ed)?|measured?|check(?:ed)?|prove[nd]?|tried|try)\b",
    r"\binterrupted\b|\bran out of time\b|\btime ran out\b|\bneeds? (?:another|a second|a follow[- ]?up|more work|further work|to be (?:done|fixed|added|written))\b",
    r"\b(?:not|below|short of|under|missed|misses|missing) the (?:\w+ ){0,3}?(?:asked|wanted|requested|hoped|target|goal|demanded|required|\d+[^.]{0,30}(?:asked|wanted|requested|hoped|target))\b",
    r"\bonly (?:the (?:first|front|back|simple|easy)|half|part|one of|two of|three of|\w+ of (?:the )?\w+)\b",
    r"^(?:still |items? )?(?:open|remaining|to ?do|left to do|unfinished|missing|pending|not done)(?: items?| work| points?| tasks?)?:$",
    r"\bleft (?:it|them|that|this) (?:in|as|out|open|alone|for|to)\b|\bstill (?:above|below|under|over|short of|more than|less than|far from)\b",
    r"\b(?:will|would) (?:still )?need (?:a change|changes|work|another|more|a follow|someone|to be)\b",
    r"\bparts? (?:that|which) works?\b|\b(?:has|have|had) to wait\b|\b(?:is|are|was|were) left out\b",
    r"\b(?:is|are) (?:still )?(?:awaiting|waiting (?:for|on))\b|\bmust (?:still )?be \w+ed before\b|\btracked (?:as|in) (?:a |an )?(?:follow|separate)",
    r"\b(?:is|are) still (?:on|in|at|using)\b",
    r"\bstill un\w+ed\b|\b(?:is|are|remains?|stays?|left) un(?:touched|protected|handled|fixed|covered|supported|solved|tested|verified|finished)\b",
    r"\b(?:goals?|targets?|aim|limit|deadline|budget)\b[^.;]{0,40}\b(?:was|were|is) (?:missed|not)\b",
    r"\b(?:todo|to-do|stubbed|placeholder only|known (?:gap|limitation))\b|\bexcept (?:for )?(?:the|one|two|in)\b",
)
_UNMADE = _r(
    rf"\b(?:not|never|n['’]t)\s+(?:\w+ly\s+)?(?:been\s+|be\s+|get\s+)?(?:\w+ly\s+)?{_WORK}\b",
    rf"\b(?:have|has|had)(?: not|n['’]t)\s+(?:yet\s+)?(?:been\s+)?(?:\w+ly\s+)?{_WORK}\b",
    r"\bwithout (?:implementing|finishing|fixing|solving|completing|writing any)\b|\bbefore any (?:code|change|work)\b",
)

_STRONG = _r(
    r"\bsuccessful(?:ly)?\b",
    r"\b(?:all|every|everything|both|\d+)\b[^.;]{0,60}\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b",
    r"\b(?:tests?|lint(?:ing|er)?|build|builds|checks?|suite|suites|formatting|ci|typecheck|it)\b[^.;,]{0,25}\b(?:pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?)\b",
    r"\bworks?\b(?! in progress| (?:item|flow|tree|space|around|was|is|remains?|had|has|on the|needs?|left|to))|\bis in place\b|\bare in place\b|\bdone\b|\ball set\b|\bready (?:to|for)\b",
    r"\b(?:merged|committed|pushed|deployed|shipped|released|completed|finished|resolved|solved|fixed|verified)\b",
    r"\b(?:fully|now) (?:implemented|working|functional|works?|supports?|handles?|returns?|uses?|runs?|shows?|loads?)\b",
    r"\bno (?:open|remaining|further|more|known|regressions?|errors?|failures?|issues?|warnings?|findings?|offen[cs]es)\b|\bno longer (?:fails?|crash(?:es)?|hangs?|leaks?|happens?|occurs?|breaks?|overlaps?|flickers?)\b",
    r"\bnothing (?:is |was )?(?:left|open|missing|remains)\b",
    r"\b(?:is|are|was|were) (?:now )?(?:complete|ready|live|gone|available|fixed|included|covered)\b",
    r"\b(?:went|rose|fell|dropped|shrank|grew|improved|decreased|increased) (?:from|by|to)\b",
)
_ANALYSIS = (
    r"(?:identified|investigated|analy[sz]ed|planned|explored|discovered|proposed|designed|reviewed|discussed|researched|diagnosed|"
    r"found|outlined|listed|noted|explained|answered|confirmed|understood|located|traced|reproduced|measured|profiled|summari[sz]ed|"
    r"recommended|suggested|reported|estimated|considered|evaluated|compared|drafted|started|began|attempted|tried|looked|examined|"
    r"studied|narrowed|wrote (?:an? |the )?(?:\w+ )?(?:plan|proposal|report|analysis)|created (?:an? |the )?(?:\w+ )?(?:branch|ticket|issue|plan)|"
    r"updated (?:the )?(?:\w+ )?(?:ticket|issue|tracker|plan|linear|jira))"
)
_ANALYSED = re.compile(rf"\b{_ANALYSIS}\b", re.IGNORECASE)
_IRREGULAR = "made|wrote|written|built|rebuilt|ran|set|cut|split|rewrote|rewritten|put|got|brought|sped|shrunk|kept|took|taken|rose|fell|went|drew|drawn|sent|shown|given"
_NO_WORK = "needed|supposed|based|named|called|used|required|asked|wanted|allowed|supported|related|expected|failed|stopped|rejected|dropped|abandoned|noticed|hoped|intended|deferred|interrupted|postponed|left|said|told"
_ACTED = re.compile(
    rf"(?:^|\b(?:was|were|is|are|been|now|and|then|also|I|I['’]ve|we|we['’]ve|agent|assistant|has|have|both|all|\w+ly|,)\s+)"
    rf"(?!(?:{_NO_WORK})\b)(?:\w{{2,}}ed|{_IRREGULAR})\b",
    re.IGNORECASE,
)

_MAKE = re.compile(
    r"\b(?:fix|implement|add|build|create|merge|refactor|migrate|upgrade|update|remove|delete|write|make|convert|replace|address|resolve|"
    r"improve|speed|stop|support|enable|move|port|validate|limit|rename|introduce|integrate|rewrite|set up|install|consolidate|clean|"
    r"solve|debug and fix|commit|push|deploy|prevent|allow|show|store|send|round|reduce|optimi[sz]e|simplify|split|extract|translate)\b",
    re.IGNORECASE,
)


def wants_work(text: str | None) -> bool:
    """Whether a request asks for something to be made, and not only for an answer."""
    return bool(text and _MAKE.search(text))


def asks_to_undo(text: str | None) -> bool:
    """Whether a request is itself about taking something back."""
    return bool(
        text
        and re.search(
            r"\b(?:revert|undo|roll(?:ing)? back|back out|drop|remove|abandon|discard)\b", text, re.I
        )
    )


def clauses(text: str) -> list[str]:
    """The text cut at sentences and where a new statement begins."""
    parts = [c for s in _SENTENCE.split(text) for c in _CONTRAST.split(s)]
    return [p.strip(" ,*_`>#\t") for p in parts if p and p.strip(" ,*_`>#\t.")]


def read(text: str, *, undo: bool = False) -> list[Cue]:
    """What the clauses say of the work, in order, without what a later clause mends.

    `undo` says that taking something back was the task, so that it is no sign of giving up.
    """
    text = re.sub(r"[ \t]+", " ", text[:LONGEST])
    found: list[Cue] = []
    for clause in clauses(_QUOTED.sub("X", text)):  # what is quoted is another's text, or code
        cues = _clause(clause[:LONGEST_CLAUSE], undo)
        if any(c.kind in ("done", "acted") for c in cues) and _TURN.search(clause):
            found = (
                [c for c in found if c.kind not in ("failed", "given_up")] if _mends(found, clause) else found
            )
        found.extend(cues)
    return found


def _mends(before: list[Cue], clause: str) -> bool:
    """A turn such as "but then" mends the trouble right before it, if it brings none of its own."""
    return bool(before) and before[-1].kind in ("failed", "given_up") and not _FAILED.search(clause)


def _clause(clause: str, undo: bool) -> list[Cue]:
    told = _main_clause(clause)
    earlier = bool(_EARLIER.search(told))
    cues: list[tuple[int, Cue]] = []

    def note(kind: str, match: re.Match[str]) -> None:
        cues.append((match.start(), Cue(kind, match.group(0).strip(), clause)))

    taken: list[tuple[int, int]] = []
    for kind, pattern in (("given_up", _GIVEN_UP), ("failed", _FAILED), ("unmade", _UNMADE), ("open", _OPEN)):
        for m in pattern.finditer(told):
            if any(a < m.end() and m.start() < b for a, b in taken):
                continue
            taken.append(m.span())
            if kind == "open" and _NONE_OF_IT.search(told[: m.start()]):
                note("done", m)  # "nothing was left open"
                continue
            if not ((kind == "given_up" and undo) or (earlier and kind in ("failed", "given_up"))):
                note(kind, m)
    for m in _FAIL_WORD.finditer(told):
        if any(a < m.end() and m.start() < b for a, b in taken):
            continue
        taken.append(m.span())
        if _NEGATED_FAIL.search(told[: m.start()]):
            note("done", m)
        elif m.group(0).lower() == "failing" and not re.search(
            r"\b(?:is|are|was|were|still|keeps?) (?:\w+ )?$", told[: m.start()], re.I
        ):
            continue  # "the failing test": which one, not how it went
        elif not (
            earlier
            or _FAIL_HARMLESS_BEFORE.search(told[: m.start()])
            or _FAIL_HARMLESS_AFTER.search(told[m.end() :])
        ):
            note("failed", m)
    free = _blank(told, taken)
    for m in _ANALYSED.finditer(free):
        note("analysed", m)
        taken.append(m.span())
    free = _blank(free, taken)
    for m in _OF.finditer(told):  # "14 of 22 endpoints"
        if _number(m[1]) < _number(m[2]) and not any(c.kind == "failed" for _, c in cues):
            note("open", m)
    strong = _STRONG.search(free)
    acted = strong or _ACTED.search(free)
    if acted and not any(c.kind in ("failed", "given_up") for _, c in cues):  # "ran it without success"
        note("done" if strong else "acted", acted)
    return [c for _, c in sorted(cues, key=lambda pair: pair[0])]


def _main_clause(clause: str) -> str:
    """What stands before a subordinate clause, or behind the comma of one that comes first."""
    limit = _SUBORDINATE.search(clause)
    if limit is None:
        return clause
    start = limit.start("that") if limit["that"] else limit.start()
    if start > 0:
        return clause[:start]
    _, comma, behind = clause.partition(",")
    return _main_clause(behind.strip()) if comma else ""


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.index(word.lower())


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    for a, b in spans:
        text = text[:a] + "\x00" * (b - a) + text[b:]
    return text
