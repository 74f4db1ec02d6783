"""What a question or a sentence is about: the words that say something, and a few matters in two languages."""

from __future__ import annotations

import re

RISE, FALL = "rise", "fall"
_MATTERS = {
    RISE: r"증액|인상|올[라려렸리린랐]|오[르른]|상승|증가|늘[어었려리]|뛰|\b(?:increas|rais|ris(?:e|ing)|rose|hike|"
    r"gr[eo]w|(?:go|went|goes)\sup|higher|climb|jump|extra|more\s(?:rent|money|pay))",
    FALL: r"감액|인하|내[려렸리린]|하락|감소|줄[어었여였이]|할인|떨어|\b(?:decreas|reduc|lower|cut|drop|f[ae]ll|"
    r"(?:go|went|goes)\sdown|declin|shr[aiu]nk|discount)",
    "deposit": r"보증금|전세|\b(?:deposit|jeonse)",
    "rent": r"차임|임대료|월세|\brent",
    "price": r"매매가|가격|시세|집값|요금|\bprice",
    "pay": r"연봉|급여|임금|월급|기본급|\b(?:salar|wage|pay\b)",
    "budget": r"예산|\bbudget",
    "cost": r"비용|경비|\b(?:cost|expens)",
    "storage": r"용량|저장|디스크|\b(?:stor|disk)",
    "staff": r"인원|직원|\b(?:staff|headcount|employee)",
}
_PATTERNS = {matter: re.compile(pattern) for matter, pattern in _MATTERS.items()}
MOVES = re.compile(
    r"변[경동하했화]|바[꾸꿨뀌뀐]|조정|옮|미[뤄룬뤘]|연기|앞당|늦|→|\b(?:chang|adjust|mov|differ|postpon|delay|shift|reschedul|"
    r"later|earlier|brought|becom|be[ce]ame|(?:more|less|fewer)\b.*\b(?:than|this|now)|how\s(?:much|many)\s(?:more|less|fewer))|\b[a-z]{3,}er\b.*\bthan\b|보다",
    re.IGNORECASE,
)
ASKS_HOW_MUCH = re.compile(
    r"얼마|몇|며칠|차이|차액|\bwhat\s(?:do|does|did|will|would|is|was|are|were)\b[^?]*\b(?:cost|price|total|sum)\b|퍼센트|[률율폭액]|%|\b(?:how\s(?:much|many|far|long)|percent|difference|ratio)",
    re.IGNORECASE,
)
SOONER = re.compile(
    r"\b(?:until|till|before|previous(?:ly)?|former(?:ly)?|used\sto|originally|(?:first|was|were)\s(?:planned|promised|scheduled|due)|"
    r"last\s(?:year|month|week))\b|까지는|이전|종전|기존|원래|당초|작년|지난해|전년|예정이었",
    re.IGNORECASE,
)
LATER = re.compile(
    r"\b(?:since|from\s(?=\d|[A-Z]|next|now)|will|now|currently|as\sof|this\s(?:year|month|week)|next|after|new|postponed|moved)\b|부터|현재|지금|올해|금년|내년|앞으로|이후|오른다|인상",
    re.IGNORECASE,
)
PLANNED = re.compile(r"\bbudget|\bplan|\bset\saside|\ballow|\bestimat|\bquot|예산|계획|목표|견적|배정", re.IGNORECASE)
USED = re.compile(
    r"\bspent|\bactual|\bused\b|\btook\b|\btaken\b|\bpaid\b|\bexpense|\boutcome|\bresult|지출|결산|집행|실적|사용|썼|쓴|냈|소진",
    re.IGNORECASE,
)
LEFT = re.compile(
    r"\b(?:left|remain(?:s|ing|der)?|still\s(?:have|available)|unspent)\b|남[은는았아을]|잔액|잔여|모자라|부족",
    re.IGNORECASE,
)
TOTAL = re.compile(
    r"\b(?:total|altogether|in\sall|sum|all\stogether|overall)\b|모두|전부|총(?=\s|합|액|계)|합계|합하|다\s?(?:합|해서)",
    re.IGNORECASE,
)
EACH = re.compile(
    r"\b(?:per|each|a)\s(?:person|head|employee|member|guest|hour|day|night|month|piece|unit|kg|litre|km)\b|\b(?:each|apiece)\b|"
    r"(?:1인|인|명|시간|개|회|팀|월|하루|박|개월|달|권|장)\s?당|한\s(?:명|사람|팀|개)에|하루에|한\s달에",
    re.IGNORECASE,
)
SHARE = re.compile(
    r"%|퍼센트|프로(?=[^가-힣]|$)|백분율|비율|비중|[가-힣][률율](?=[은는이가을를]?(?:\s|\?|$))|\bper\s?cent|\bpercent|\bshare\b|\bproportion|\bfraction",
    re.IGNORECASE,
)
HOW_LONG = re.compile(
    r"며칠|몇\s?(?:일|주|달|개월)|기간|\bhow\s(?:long|many\s(?:days|weeks|months|nights))|\bdays\b", re.IGNORECASE
)
JOINED = re.compile(r"\b(?:with|including|plus|and|together)\b|포함|더해|합쳐|까지\s", re.IGNORECASE)
OPERATORS = re.compile(
    r"\b(?:cheap\w*|chang\w*|adjust\w*|mov(?:e|ed|es)|postpon\w*|delay\w*|shift\w*|differ\w*|share|proportion|fraction|"
    r"expensive|cost\w*|within|limit\w*|allow\w*|exceed\w*|over|above|below|under|much|many|pay|paid|spend|spent|buy|bought|"
    r"percent\w*|earlier|later|higher|lower|larger|bigger|smaller|longer|shorter|planned|average|still|already|money|amount|"
    r"need|needed|take[sn]?|took|last\w*|due|more|less|fewer|most|least|between|with|without|according)\b|"
    r"넘[었는을어나]\S*|초과\S*|한도\S*|이내\S*|상한\S*|얼마\S*|몇|며칠\S*|차이\S*|미[뤄룬뤘]\S*|연기\S*|퍼센트\S*|비싸\S*|싸\S*|저렴\S*|"
    r"바[꾸꿨뀌뀐]\S*|변[경동하했화]\S*|늦\S*|앞당\S*|옮\S*|조정\S*|보다|비율\S*|비중\S*|프로|필요\S*|들[어었]\S*|걸[려리렸]\S*|"
    r"내야\S*|지키\S*|평균\S*|금액\S*",
    re.IGNORECASE,
)
_ABOVE = re.compile(r"초과|넘|웃돌|벗어|너무|\b(?:over|above|beyond|exceed|excess|too\s|more\sthan)", re.IGNORECASE)
_UNDER = re.compile(
    r"밑돌|미달|모자라|부족|이하|이내|미만|\b(?:below|under|short\sof|within|less\sthan)", re.IGNORECASE
)
ASKS_WHAT_MAY_BE = re.compile(
    r"(?:도|수)\s?(?:돼|되|괜찮|있)|가능|괜찮|허용|적법|합법|[가-힣]\s?돼요?\s*\?|"
    r"\b(?:may|(?:can|could)\b(?!\syou)|should|must|allow|fine|ok(?:ay)?\b|permit|legal|acceptable|possible|enough)",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"얼마|몇|며칠|어떻|무엇|무슨|뭐|뭘|언제|어디|누구|왜|어느|어떤|방법|\b(?:how|what|which|who|whom|when|where|why)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"(?:^|\s)안\s|지\s?않|못\s?|n[o']t\b", re.IGNORECASE)
_ASKED = re.compile(
    r"^\W*(?:is|are|was|were|am|do|does|did|can|could|may|might|will|would|should|shall|has|have|had|must)(?:n['’]t)?\b|"
    r"(?:[가-힣]\s*\?|(?:까|까요|나요|가요|[돼되해]요?))\s*[?.]?\s*$",
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


def matters(text: str) -> frozenset[str]:
    """Return the matters that a text names, in Korean or English."""
    lowered = text.lower()
    return frozenset(matter for matter, pattern in _PATTERNS.items() if pattern.search(lowered))


def _goes_on(text: str, at: int) -> bool:
    """Whether the line that ends at a position was wrapped there: it is long, and no item, cell or row begins."""
    line, after = text[text.rfind("\n", 0, at) + 1 : at].rstrip(), text[at + 1 : at + 40]
    if re.match(r"\s*(?:[-*#|\d]|\n|$)", after) or line.endswith((".", "!", "?", ":", "|")):
        return False
    return (
        len(line) >= (_WRAPPED_KO if re.search("[가-힣]", line) else _WRAPPED)
        or re.match(r"\s*[a-z]", after) is not None
    )


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


def closed(question: str) -> bool:
    """Whether a question asks for yes or no."""
    return not _OPEN.search(question) and _ASKED.search(question) is not None


def negated(question: str) -> bool:
    """Whether a question is asked with a not."""
    return _NEGATED.search(question) is not None


def beyond(question: str) -> bool:
    """Whether a question asks whether something is above something."""
    return _ABOVE.search(question) is not None


def under(question: str) -> bool:
    """Whether a question asks whether something is below something, or within it."""
    return _UNDER.search(question) is not None
