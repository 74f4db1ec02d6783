"""Text that others wrote as part of Markdown that is ours: readable, and nothing in it is followed, loaded or run."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEADING = re.compile(r" {0,3}(#{1,6})(?= |$)")
_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)")
_BEGINS = re.compile(r"[>#+=-]|\d{1,9}(?=[.)])")
# An underscore within a word marks nothing, so that `todo_001` stays readable.
_MARKS = re.compile(r"[\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w])|#(?=#* *$)")
_OPENS = re.compile(r"^\s*(?:[#>*+-]+\s+|`{3,}\w*|\d+\.\s+)+")
_MARKUP = re.compile(r"\\(?P<said>[!-/:-@\[-`{-~])|(?P<ticks>`+)(?P<code>[^`]+)(?P=ticks)(?!`)|\*\*|`")
_TICKS = re.compile("`+")
_UNDERLINE = re.compile(r"^( {0,3})(?=(?:=+|-+) *$)")
_ENDS = r"[^\s<`|\\]*[^\s<`|\\.,:;!?'\")\]*_~]"
# What GitHub makes a link of though it is in no brackets; bounded, so that a long word isn't read once for each letter.
_ADDRESS = (
    rf"(?:[A-Za-z][A-Za-z0-9+.-]{{0,30}}://|www\.|mailto:|xmpp:){_ENDS}"
    r"|[\w.+\-;:&=$,\"]{1,64}@[\w-]+(?:\.[\w-]+)+"
)
# What editors do besides. Two letters may end the name of a file, too: those that usually do are left out.
_ENDINGS = (
    "com|net|org|edu|gov|mil|int|info|biz|name|pro|museum|aero|coop|asia|shop|web|xxx|рф"
    "|(?!c[cs]|gz|hs|js|m[dkl]|p[lsy]|rs|s[hoq]|t[fs]|vb)[a-z]{2}"
)
_DOMAIN = rf"(?:(?<![\w:/])//|(?<![\w.:/@-]))(?:[\w-]+\.)+(?:{_ENDINGS})(?![\w-])(?:/{_ENDS})?"
_LINKED = re.compile(f"(?:{_ADDRESS}|{_DOMAIN})+", re.IGNORECASE)
_PIECES = re.compile(r"(?P<escaped>\\[!-/:-@\[-`{-~])|(?P<ticks>`+)|(?P<live>\[|<(?=[A-Za-z/!?])|&(?=[#\w]))")
_PIECES_LINKED = re.compile(rf"{_PIECES.pattern}|(?P<lone>\\?)(?P<address>{_LINKED.pattern})", re.IGNORECASE)


def literal(text: str, *, addresses: bool = False) -> str:
    """Return one line, wherever it stands, in which Markdown finds no markup; rendered it reads as it was.

    Args:
        text: safe text of one line; spaces around it are lost, as Markdown would lose them.
        addresses: write addresses as code: GitHub and editors make links of them wherever they stand.
    """
    text = text.strip(" ")
    first = _BEGINS.match(text)
    # `1.` would begin a list: there the mark to escape is what follows the digits.
    at = 0 if first is None else first.end() - (not first[0].isdigit())
    mark = "" if first is None else f"\\{text[at]}"
    rest = text[at + len(mark[1:]) :]
    begins, pieces = 0, []
    for address in _LINKED.finditer(rest) if addresses else ():
        pieces += [_MARKS.sub(r"\\\g<0>", rest[begins : address.start()]), f"`{address[0]}`"]
        begins = address.end()
    return "".join([text[:at], mark, *pieces, _MARKS.sub(r"\\\g<0>", rest[begins:])])


def fenced(text: str) -> str:
    """Return `text` as a Markdown block that nothing in it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.removesuffix(chr(10))}\n{fence}"


def tamed(markdown: str, highest: int = 0, *, addresses: bool = False) -> str:
    """Return Markdown that loads nothing and leads nowhere: HTML, entities, links and images in it become text.

    A line below another one makes that no heading. Code blocks stay as they are, one that was left open is closed, and
    one in a list stands beside it: where a block that is indented ends is not for its own marks alone to say.

    Args:
        markdown: safe text.
        highest: the level of its highest heading, the others go down with it; 0 leaves all of them.
        addresses: see `literal`.
    """
    lines = list(_code_or_not(markdown.split("\n")))
    levels = [len(found[1]) for line, code in lines if not code and (found := _HEADING.match(line))]
    deeper = highest - min(levels, default=highest) if highest else 0
    pieces = _PIECES_LINKED if addresses else _PIECES
    return "\n".join(line if code else _tamed_line(line, deeper, pieces) for line, code in lines)


def _code_or_not(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line with whether it belongs to a block of code; such blocks begin at the left edge."""
    fence, indent = "", 0
    for line in lines:
        found = _FENCE.fullmatch(line)
        if not fence:
            if found:
                indent, fence = len(found[1]), found[2]
            # A bar would make its first line the head of a table, and what follows no code.
            yield (line[indent:].replace("|", "&#124;"), True) if found else (line, False)
        elif found and found[2].startswith(fence) and not found[3].strip(" "):
            fence = ""
            yield found[2], True
        else:
            yield line[min(indent, len(line) - len(line.lstrip(" "))) :], True
    if fence:
        yield fence, True


def _tamed_line(line: str, deeper: int, pieces: re.Pattern[str]) -> str:
    if heading := _HEADING.match(line):
        line = "#" * min(6, len(heading[1]) + deeper) + line[heading.end(1) :]
    return "".join(_harmless(_UNDERLINE.sub(r"\1\\", line, count=1), pieces))


def _harmless(line: str, pieces: re.Pattern[str]) -> Iterator[str]:
    """Yield the pieces of a line; code in it stays as it is, and backticks that it leaves open become text.

    Those would begin code with the next backticks of the paragraph, and what is text here would be markup there; so
    they would in a table, which ends a cell within code, too.
    """
    at, code = 0, -1
    while piece := pieces.search(line, at):
        yield line[at : piece.start()]
        beside = " " if code == piece.start() else ""  # two pieces of code would be one, or none
        at = piece.end()
        if piece["escaped"]:
            yield piece[0]
        elif piece["live"]:
            yield f"\\{piece[0]}"
        elif (address := piece.groupdict().get("address")) is not None:
            code = at  # a backslash before it would make its mark a plain one
            yield f"{beside}{2 * piece['lone']}`{address}`"
        elif (end := _end_of_code(line, piece[0], at)) and "|" not in line[at:end]:
            code = at = end
            yield beside + line[piece.start() : end]
        else:
            yield "\\`" * len(piece[0])
    yield line[at:]


def _end_of_code(line: str, ticks: str, start: int) -> int:
    """Return where code ends that as many backticks began; 0 where nothing ends it."""
    return next((run.end() for run in _TICKS.finditer(line, start) if run[0] == ticks), 0)


def first_words(markdown: str) -> str:
    """Return the first line of Markdown that says something, without its marks; empty for none."""
    return plain_words(markdown).partition("\n")[0]


def plain_words(markdown: str) -> str:
    """Return the lines of Markdown that say something, without their marks."""
    lines = (_MARKUP.sub(_kept, _OPENS.sub("", line)) for line in markdown.split("\n"))
    return "\n".join(" ".join(line.split()) for line in lines if any(map(str.isalnum, line)))


def _kept(mark: re.Match[str]) -> str:
    """Return what stays of a mark: what it made a plain character, or code."""
    return mark["said"] or mark["code"] or ""
