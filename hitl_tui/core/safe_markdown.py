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
_PIECES = re.compile(r"(?P<escaped>\\[!-/:-@\[-`{-~])|(?P<ticks>`+)|(?P<live>\[|<(?=[A-Za-z/!?]))")


def literal(text: str) -> str:
    """Return one line, wherever it stands, in which Markdown finds no markup; rendered it reads as it was.

    Args:
        text: safe text of one line; spaces around it are lost, as Markdown would lose them.
    """
    text = text.strip(" ")
    first = _BEGINS.match(text)
    # `1.` would begin a list: there the mark to escape is what follows the digits.
    at = 0 if first is None else first.end() - (not first[0].isdigit())
    mark = "" if first is None else f"\\{text[at]}"
    return text[:at] + mark + _MARKS.sub(r"\\\g<0>", text[at + len(mark[1:]) :])


def fenced(text: str) -> str:
    """Return `text` as a Markdown block that nothing in it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.removesuffix(chr(10))}\n{fence}"


def tamed(markdown: str, highest: int = 0) -> str:
    """Return Markdown that loads nothing and leads nowhere: HTML, links and images in it become text.

    Code blocks stay as they are, one that was left open is closed, and one in a list stands beside it: where a block
    that is indented ends is not for its own marks alone to say.

    Args:
        markdown: safe text.
        highest: the level of its highest heading, the others go down with it; 0 leaves all of them.
    """
    lines = list(_code_or_not(markdown.split("\n")))
    levels = [len(found[1]) for line, code in lines if not code and (found := _HEADING.match(line))]
    deeper = highest - min(levels, default=highest) if highest else 0
    return "\n".join(line if code else _tamed_line(line, deeper) for line, code in lines)


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


def _tamed_line(line: str, deeper: int) -> str:
    if heading := _HEADING.match(line):
        line = "#" * min(6, len(heading[1]) + deeper) + line[heading.end(1) :]
    return "".join(_harmless(line))


def _harmless(line: str) -> Iterator[str]:
    """Yield the pieces of a line; code in it stays as it is, and backticks that it leaves open become text.

    Those would begin code with the next backticks of the paragraph, and what is text here would be markup there; so
    they would in a table, which ends a cell within code, too.
    """
    at = 0
    while piece := _PIECES.search(line, at):
        yield line[at : piece.start()]
        at = piece.end()
        if piece["escaped"]:
            yield piece[0]
        elif piece["live"]:
            yield f"\\{piece[0]}"
        elif (end := _end_of_code(line, piece[0], at)) and "|" not in line[at:end]:
            at = end
            yield line[piece.start() : end]
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
