"""Reading what a person writes to an agent: complaint, giving up, a half acceptance, thanks. Patterns, no model.

How agents write of their work is read in `wording`.
"""

# ruff: noqa: E501 - a pattern or a table row is read as one line

from __future__ import annotations

import re

LONG = 1500  # characters; a longer prompt is a pasted plan or log, and its words are not the person's mood


def _r(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns), re.IGNORECASE)


_GIVES_UP = _r(
    r"\btoo bad\b|\bnot possible(?: then)?\b|\b(?:let['’]s|lets|we) (?:just )?stop\b|\b(?:close|abort|cancel) (?:it|this|that)\b|--abort\b",
    r"\bforget (?:it|about (?:it|this|that)|this|that)\b",
    r"\bnever ?mind\b",
    r"\b(?:drop|leave|scrap|bin|ditch|kill|shelve|park|abandon|discard) (?:it|this|that|the (?:idea|whole thing|branch|feature|attempt)|all of (?:it|this))\b(?! (?:open|as|in|out|there|alone for|at|to|where|running|like|for))",
    r"\bthrow (?:it|this|that|them|everything|all of (?:it|this)|the \w+) (?:all )?away\b",
    r"\b(?:i['’]ll|i will|i['’]m going to|let me|i am|i['’]m) (?:just |rather |better )?(?:do(?:ing)?|fix(?:ing)?|writ(?:e|ing)|tak(?:e|ing)|handl(?:e|ing)) (?:it|this|that|the rest)?\s*(?:over\b|by hand|myself|manually|on my own|from here)",
    r"\b(?:i['’]m|i am|i['’]ll|i will|let me) (?:just )?(?:restor(?:e|ing)|revert(?:ing)?|undo(?:ing)?|roll(?:ing)? (?:it |this )?back)\b",
    r"\bgiv(?:e|ing) up\b|\bcall it off\b|\bwaste of (?:time|tokens|money)\b|\buseless\b|\bpointless\b",
    r"\b(?:stop|shut) (?:it|this|that|them|everything|here|now|down)\b|^(?:ok[,.]? |no[,.]? |please |just )*stop[.! ]*(?:$|,|\bi\b)|\benough(?: of this)?[.!]*$",
    r"\b(?:i['’]ll|i will|we['’]ll|let['’]s) (?:think about|find|try|look for|use|ask for|get) (?:another|a different|some other|someone|somebody) ?(?:way|approach|tool|solution|else)?\b",
    r"\b(?:this|it) (?:is(?:n['’]t| not)|was(?:n['’]t| not)) (?:going anywhere|working out|worth it|helping|leading anywhere)\b",
    r"\b(?:clos(?:e|ing)|end(?:ing)?) (?:this|the) (?:session|chat)\b|\bi['’]m (?:done|out) (?:here|with this|with you)\b|\bwe(?:['’]re| are) done here\b",
    r"\b(?:revert|undo|roll back|back out) (?:(?:your|the|this|that|these|those|all|my) )?(?:last )?(?:commits?|changes?|work|edits?|everything|all|pr|whole thing)\b",
)
_COMPLAINS = _r(
    r"\b(?:is|are) still (?!running|open|going|in|on|there|here|ok|fine|good|valid|possible|to)\w+",
    r"^(?:still )?nothing\b(?! (?:else|more|to))|\bno \w+ anywhere\b|\b(?:don['’]t|do not|can['’]t|cannot) see (?:it|any|the|that)\b|\bsame (?:thing|error|problem|issue|result)\b",
    r"\bstill (?:\w+ )?(?:broken|fail(?:s|ing)|crash(?:es|ing)|hangs?|wrong|not|doesn['’]t|does not|red|the same|shows?|see(?:ing)?|get(?:ting)?|happens)\b",
    r"^(?:no|nope|wrong|nonsense)\b(?![,.]? (?:this is fine|that['’]s (?:fine|ok|good)|it['’]s (?:fine|ok|good)|problem|worries|need|changes? needed|rush))",
    r"\b(?:that|this|it)(?:['’]s| is| was|s) (?:\w+ )?(?:wrong|incorrect|not right|not what|not working|not it|broken|worse|a mess|bad)\b",
    r"\b(?:not|n['’]t) what i (?:asked|wanted|meant|said)\b|\bi (?:asked|told you|said|wanted|meant)\b(?! (?:him|her|them|about|for help))",
    r"\b(?:does not|doesn['’]t|did not|didn['’]t|do not|don['’]t) (?:work|compile|build|help|pass|run|start|do (?:it|that|anything)|change anything)\b",
    r"\b(?:is|are|keeps?) (?:\w+ )?(?:failing|broken|crashing)\b|\bfails? (?:again|now|on|with|at|in)\b|\bwe fail\b",
    r"\b(?:you|u) (?:broke|deleted|removed|missed|forgot|ignored|lost|overwrote|reverted|skipped|changed the wrong|made it worse|lied|claimed)\b",
    r"\bwhy (?:did|do|are|would|have) you\b|\bwhat (?:did|have) you (?:just )?(?:do|done|deleted?|break|broken)\b|\bwtf\b|\bdon['’]t (?:touch|do that|change|lie|guess)\b",
    r"\bis it working or not\b|\bthat['’]s not\b|\bnot good\b|\bpaste the output\b|\bhow can (?:that|this|it) (?:pass|work|be)\b|\bnot on my\b",
    r"\b(?:revert|undo|take (?:that|this|it) back|roll (?:it|that|this) back|put (?:it|that) back)\b|!!+|\?!",
    r"\b(?:that|this) (?:broke|breaks|is broken|doesn|didn|fails|failed|made)\w*\b",
)
_HALF = _r(
    r"\bbetter than nothing\b|\bcommit (?:only )?(?:what (?:works|you have|is there|we have|is done)|the (?:working )?part)\b|\b(?:need|have|got) to go\b|\bcall it a day\b|\bgood enough\b|\bhalf(?:way)?\b|\bfor now\b|\bwill have to do\b|\bcan live with\b|\bnot (?:perfect|ideal)\b",
    r"\b(?:the rest|rest|others?|remaining|the other (?:one|half|part)s?)\b[^.?!]{0,30}\b(?:later|tomorrow|another (?:day|time|session|ticket)|next (?:week|time|session)|not now)\b",
    r"\bi['’]ll (?:file|open|make|write|create) (?:a |an |the )?(?:\w+ )?(?:ticket|issue|part|rest|bug)\b|\bfollow[- ]?up (?:ticket|issue|pr)\b",
    r"\b(?:can['’]t|cannot|couldn['’]t|could not) (?:test|check|verify|try)\b|\b(?:leave|keep) (?:the \w+|that|it|this) (?:open|out|as is|for (?:later|another|the next|now))\b",
    r"\b(?:do|finish|continue) (?:it|that|the rest|this) (?:later|tomorrow|another day|next (?:week|time))\b|\blater then\b|\bout of time\b|\b(?:that['’]s|it['’]s) ok(?:ay)? for\b",
)
_THANKS = _r(
    r"\b(?:thanks?|thank you|thx|ty|cheers|merci|danke)\b",
    r"[🎉👍🙏❤🥳🚀💯🙌👏]|\bsaved my (?:day|life)\b|\b(?:life ?saver|you rock|hero)\b",
    r"\b(?:makes sense|got it|understood|i see|that was it|that helps|good to know|much better|agreed)\b",
    r"\b(?:perfect|great|excellent|awesome|amazing|brilliant|wonderful|lovely|love it|nice|good job|well done|exactly|beautiful|fantastic|super)\b(?! (?:but|however))",
    r"\b(?:works|looks good|lgtm|looks great|that did it|that['’]s it|all good|ship it|deployed|merged|approved|solved|fine by me|this is fine|that['’]s fine)\b",
    r"\b(?:i['’]ll|we['’]ll|let['’]s|i will|we will|i|we) use that(?: one)?(?= *(?:[.,!]|then|$))",
    r"\bwe(?:['’]re| are) done\b(?! here)|\bthat['’]s all\b",
)
_ACCEPTS = _r(
    r"[.,!;]\s+(?:please |now |then |you can )?(?:commit|push|merge|ship) (?:it|this|that)\b",
    r"^(?:ok(?:ay)?|yes|yep|sure|please|alright|good|great|cool|and|now|then|also|,|\.|\s)*\b(?:commit|push|merge|ship|release|deploy|tag|open (?:a |the )?(?:draft )?pr|create (?:a |the )?(?:draft )?pr|make (?:a |the )?pr)\b",
)
_NO_MOOD = re.compile(r"```.*?```|^[ \t]*>[^\n]*$|`[^`]*`|https?://\S+", re.DOTALL | re.MULTILINE)


def mood(text: str | None) -> str | None:
    """gives_up, complains, half, thanks, accepts (asks to commit or ship), or None for a plain request.

    Giving up is looked for first, a half acceptance before thanks. Code, quotes and pasted text are left out.
    """
    said = _NO_MOOD.sub(" ", text or "").strip()
    if not said or len(said) > LONG:
        return None
    words = len(said.split())
    if words <= 40 and _GIVES_UP.search(said):
        return "gives_up"
    if words <= 40 and _HALF.search(said):
        return "half"
    if _COMPLAINS.search(said) and words <= 60:
        return "complains"
    if _ACCEPTS.search(said):
        return "accepts"
    if _THANKS.search(said) and words <= 25:
        return "thanks"
    return None
