"""Words of the grammar of quantities, in Korean and English: what changes, what came before, where a sentence ends."""

from __future__ import annotations

import re

from hitl_tui.tables.words import lexicon

_RISE = re.compile(
    r"증액|인상|올[라려렸리린릴랐]|오[르른]|상승|증가|늘[어었려리]|뛰|\b(?:increas|rais|ris(?:e|ing)|rose|hike|gr[eo]w|"
    r"(?:go|went|goes)\sup|higher|climb|jump|extra)",
    re.IGNORECASE,
)
_FALL = re.compile(
    r"감액|인하|내[려렸리린]|하락|감소|줄[어었여였이]|할인|떨어|\b(?:decreas|reduc|lower|cut|drop|f[ae]ll|"
    r"(?:go|went|goes)\sdown|declin|shr[aiu]nk|discount)",
    re.IGNORECASE,
)
MOVES = re.compile(
    r"변[경동하했화]\S*|바[꾸꿨뀌뀐]\S*|옮\S*|미[뤄룬뤘루]\S*|연기\S*|앞당\S*|늦[어었춰]\S*|차이\S*|"
    r"\b(?:chang|mov(?:e[ds]?|ing)\b|differ|postpon|delay|shift|reschedul)\w*|\b(?:later|earlier|more|less|fewer)\b|\bhow\smuch\s[a-z]{3,}er\b|\b[a-z]{3,}er\s(?:\w+\s){0,6}than\b|보다|→",
    re.IGNORECASE,
)
SOONER = re.compile(
    r"\b(?:until|till|before|previous(?:ly)?|former(?:ly)?|used\sto|original(?:ly)?|planned|promised|scheduled|"
    r"last\s(?:year|month|week))\b|까지는|이전|종전|기존|원래|당초|작년|지난해|전년|예정",
    re.IGNORECASE,
)
LATER = re.compile(
    r"\b(?:since|from\s(?=\d|[A-Z]|next|now)|will|now|currently|as\sof|this\s(?:year|month|week)|next|after|new|postponed)\b|"
    r"부터|현재|지금|올해|금년|내년|앞으로|이후|오른다|인상",
    re.IGNORECASE,
)
TOTAL = re.compile(
    r"\b(?:total|altogether|in\sall|sum|overall)\b|모두|전부|총(?=\s|합|액|계)|합계|합하\S*|다\s?(?:합|해서)",
    re.IGNORECASE,
)
LIMIT = re.compile(r"한도\S*|상한\S*|하한\S*|제한\S*|\b(?:limit\w*|cap|maximum|minimum|ceiling)\b", re.IGNORECASE)
MONEY = re.compile(
    r"(?<![가-힣])(?:금액|비용|가격|요금|값)(?![가-힣]{2})\S?|\b(?:amount|money|cost|price)s?\b", re.IGNORECASE
)
HOW_MUCH = re.compile(
    r"얼마\S*|몇|며칠|차액|\bhow\s(?:much|many|far|long)\b|"
    r"\bwhat\s(?:do|does|did|is|was)\b(?=[^?]*\b(?:cost|price|total|sum|difference)\b)",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"(?:도|수)\s?(?:돼|되|괜찮|있)|가능|괜찮|허용|적법|합법|[가-힣]\s?돼요?\s*\?|"
    r"\b(?:may|(?:can|could)\b(?!\syou)|should|must|allow|fine|ok(?:ay)?\b|permit|legal|acceptable|possible|enough)",
    re.IGNORECASE,
)
ABOVE = re.compile(r"초과\S*|넘\S*|웃돌\S*|벗어\S*|너무|\b(?:over|above|beyond|exceed\w*|excess|too)\b", re.IGNORECASE)
UNDER = re.compile(
    r"밑도\S*|밑돌\S*|미달|모자라\S*|부족\S*|이하|이내|미만|\b(?:below|under|short\sof|within|less\sthan)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"얼마|몇|며칠|어떻|무엇|무슨|뭐|뭘|언제|어디|누구|왜|어느|어떤|방법|\b(?:how|what|which|who|whom|when|where|why)\b",
    re.IGNORECASE,
)
NEGATED = re.compile(r"(?:^|\s)안\s|지\s?않|못\s?|n[o']t\b", re.IGNORECASE)
_ASKED = re.compile(
    r"^\W*(?:is|are|was|were|am|do|does|did|can|could|may|might|will|would|should|shall|has|have|had|must)(?:n['’]t)?\b|"
    r"(?:[가-힣](?<![은는])\s*\?|(?:까|까요|나요|가요|[돼되해]요?))\s*[?.]?\s*$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")
_WRAPPED, _WRAPPED_KO = 55, 30
"""Characters from which a line may have been wrapped."""
_DATE_GOES_ON = re.compile(r"\d{4}\. *(?=\d{1,2}\.)")
_NO_END = re.compile(r"(?:(?<![\w.])\d{1,2}|\b(?:max|min|art|no|sec|para|vs|approx|e\.g|i\.e))\.$", re.IGNORECASE)


def say(language: str, korean: str, english: str) -> str:
    """Return the sentence in the question's language."""
    return korean if language == "ko" else english


def direction_of(text: str) -> int:
    """Return 1 where a text speaks of a rise, -1 of a fall, 0 of neither or both."""
    return (_RISE.search(text) is not None) - (_FALL.search(text) is not None)


def operators(question: str) -> list[tuple[int, int]]:
    """Return the places of the words of a question that say what is to be done with quantities, not which are meant."""
    known = lexicon()
    named = [known.operations[name] for name in ("share", "change", "how_much", "count", "each")]
    own = (_RISE, _FALL, MOVES, TOTAL, LIMIT, MONEY, HOW_MUCH, _MAY, ABOVE, UNDER)
    patterns = (*named, *known.comparisons.values(), *own)
    return [match.span() for pattern in patterns for match in pattern.finditer(question)]


def asks(question: str, operation: str) -> bool:
    """Whether a question has words of an operation (`share`, `change`, …) of the tables' lexicon."""
    return lexicon().operations[operation].search(question) is not None


def closed(question: str) -> bool:
    """Whether a question asks for yes or no."""
    return not _OPEN.search(question) and _ASKED.search(question) is not None


def _goes_on(text: str, at: int) -> bool:
    """Whether the line that ends at a position was wrapped there: it is long, and no item, cell or row begins."""
    line, after = text[text.rfind("\n", 0, at) + 1 : at].rstrip(), text[at + 1 : at + 40]
    if re.match(r"\s*(?:[-*#|\d]|\n|$)", after) or line.endswith((".", "!", "?", ":", "|")):
        return False
    long = _WRAPPED_KO if re.search("[가-힣]", line) else _WRAPPED
    return len(line) >= long or re.match(r"\s*[a-z]", after) is not None


def _ends_nothing(text: str, start: int, end: int) -> bool:
    """Whether a full stop ends no sentence: after an abbreviation, in a date (`1993. 12. 7.`), within brackets."""
    if _NO_END.search(text, max(start, end - 8), end) or _DATE_GOES_ON.match(text, max(start, end - 5)):
        return True
    line = text.find("\n", end)
    rest = text[end : line if line >= 0 else len(text)]
    opened = text.count("(", start, end) - text.count(")", start, end)
    return opened > 0 and rest.count(")") >= opened


def sentences(text: str) -> list[tuple[int, int]]:
    """Return start and end of the sentences of a text: a wrapped line goes on, an item of a list ends one."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match.group() == "\n" and _goes_on(text, match.start()):
            continue
        if match.group() == "." and _ends_nothing(text, start, match.end()):
            continue
        if text[start : match.end()].strip():
            spans.append((start, match.end()))
        start = match.end()
    return [*spans, (start, len(text))] if text[start:].strip() else spans
