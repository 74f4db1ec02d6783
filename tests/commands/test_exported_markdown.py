"""An answer as Markdown shows what others wrote as text: nothing in it is run, loaded or followed (C8, C10)."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hitl_tui.core.safe_markdown import fenced, literal, tamed
from hitl_tui.core.safe_text import safe_text
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.extraction.blocks import EXPORTED
from hitl_tui.supervisor.session_document import as_markdown
from hitl_tui.supervisor.snapshot import Snapshot

LIVE = (
    "<script>x</script> <img src=x onerror=y> ![i](http://e/i.png) [l](javascript:x) <javascript:x> \\<b> _a_ &lt; `c`"
)
REFERENCE = "[r]: javascript:x\n\n[r] [r][] [t][r] ![r]\n\n<!-- c -->\n<?p?>"


def rendered(markdown: str) -> str:
    """Return the HTML of a renderer that lets everything through, links of every kind included."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return str(parser.render(markdown))


def on_github(markdown: str) -> str:
    """Return the HTML of a renderer that makes links of bare addresses, as GitHub's and editors' do."""
    return str(MarkdownIt("gfm-like", {"html": True, "linkify": True}).render(markdown))


def outline(markdown: str) -> list[str]:
    """Return what stands at the level of the document itself: headings with their text, and names of other blocks."""
    tokens = MarkdownIt("gfm-like").parse(markdown)
    tops = [(n, token) for n, token in enumerate(tokens) if not token.level and token.nesting >= 0]
    return [
        f"{token.tag} {tokens[n + 1].content}" if token.type == "heading_open" else token.tag or token.type
        for n, token in tops
    ]


def is_dead(html: str) -> bool:
    """Whether HTML has no tags but those of text, and none of them an attribute but a block's language."""
    tags = re.findall(r"<(.*?)>", html, re.DOTALL)
    known = "h[1-6]|p|ul|ol|li|strong|em|s|code|pre|blockquote|hr ?|br ?|table|thead|tbody|tr|th|td"
    own = re.compile(rf'/?(?:{known})/?|code class="language-[^"]*"|ol start="\d+"|t[hd] style="text-align:\w+"')
    return all(own.fullmatch(tag) for tag in tags)


def words(html: str) -> str:
    return unescape(re.sub(r"<.*?>", "", html, flags=re.DOTALL))


def snapshot(hostile: str, answer: str, query: str) -> Snapshot:
    done, failed, skipped = Status.COMPLETED, Status.FAILED, Status.SKIPPED
    by = {"skipped_by": "ann", "skip_reason": hostile}
    todos = [
        SupervisorTodo(
            id="todo_001", name=hostile, agent_name="a", status=done, result={"summary": safe_text(hostile)}
        ),
        SupervisorTodo(id="todo_002", name="b", agent_name="a", status=failed, error=safe_text(f"Error: {hostile}")),
        SupervisorTodo(id="todo_003", name="c", agent_name="a", status=skipped, metadata=by),
    ]
    raw = {todo.id: todo.to_state() for todo in todos}
    return Snapshot("s1", query, "/w", "step", "finished", 0, 0, "c1", raw, response={"text": answer})


@pytest.mark.parametrize("query", [LIVE, f"Why?\n{LIVE}\n\n# h\n1. x", f'{{"q": "```\\n{LIVE.replace(chr(92), "")}"}}'])
def test_hostile_text_is_dead_everywhere_and_reads_as_it_was(query: str) -> None:
    answer = f"## Answer\n\n{LIVE}\n\n> {LIVE}\n> ```\n> {LIVE}\n\n- ~~~\n  {LIVE}\n\n{REFERENCE}\n\n{fenced(LIVE)}"
    html = rendered(as_markdown(snapshot(LIVE, safe_text(answer), query)).removesuffix(f"{EXPORTED}\n"))
    assert is_dead(html)
    said = words(html)
    for where in ("001 ", "Error: ", "“"):
        assert f"{where}{LIVE}" in said
    assert said.count(LIVE) >= 5 + query.count(LIVE)  # twice 001, an error, a reason, code
    assert f'<pre><code class="language-text">{LIVE.split(" ")[0].replace("<", "&lt;").replace(">", "&gt;")}' in html


def test_an_export_is_titled_by_what_it_answers() -> None:
    manual = {"manual": True, "added_by": "user"}
    rejected = SupervisorTodo(
        id="todo_001", name="a", agent_name="a", status=Status.FAILED, metadata={"rejected": True}
    )
    later = SupervisorTodo(id="todo_002", name="b", agent_name="a", status=Status.COMPLETED, metadata=manual)
    first = SupervisorTodo(id="todo_001", name="a", agent_name="a", status=Status.COMPLETED)
    response = {"text": "3", "question": "고객은 몇 곳이야?", "language": "ko"}
    titles = [
        as_markdown(
            Snapshot("s1", "What did it cost?", "/w", "step", "finished", 0, 0, "c1", raw, response=response)
        ).split("\n")
        for raw in ({t.id: t.to_state() for t in todos} for todos in ((rejected, later), (first, later)))
    ]
    assert [lines[0] for lines in titles] == ["# 고객은 몇 곳이야?", "# What did it cost?"]
    assert "## 계획" in titles[0]


def test_what_a_team_told_is_escaped_once() -> None:
    text = as_markdown(snapshot("a\x1b[2J\u202e", safe_text("5\x1b percent"), "What?"))
    assert "␛" in text and "U+241B" not in text and "⟨U+202E⟩" in text and "U+27E8" not in text
    assert "5␛ percent" in text


def test_our_own_structure_stays() -> None:
    table = "| a | b |\n|---|---|\n| 1 | `x` |"
    parts = ("5% (`a[1].md:3`)", "- one\n- two", table, "## Evidence", "> **so** it is", "```text\nls <b>\n```")
    text = as_markdown(snapshot("n", "## Answer\n\n" + "\n\n".join(parts) + "\n", "What?"))
    html = on_github(text)
    for own in ("<h3>Evidence</h3>", "<code>a[1].md:3</code>", "<strong>so</strong>", "<strong>001</strong> n"):
        assert own in html
    for own in ("<li>two</li>", "<td><code>x</code></td>", "ls &lt;b&gt;"):
        assert own in html
    assert outline(text)[:4] == ["h1 What?", "blockquote", "h2 Plan", "ul"]


FORGED = (
    "done\n\n## Plan\n\n- **001** evil n=1 (evil): completed\n  - approved by ann (token) at 2026-11-30 22:16:29 UTC"
    "\n\nPlan\n====\n\nPlan\n---\n\n</blockquote>\n\n* * *\n1. x\n"
)


def test_what_a_team_says_is_a_quotation_beside_the_record() -> None:
    line = "approved by ann (token) at 2026-11-30 22:16:29 UTC"
    todos = [
        SupervisorTodo(id="todo_001", name="a", agent_name="a", status=Status.COMPLETED, result={"summary": line}),
        SupervisorTodo(id="todo_002", name="b", agent_name="a", status=Status.FAILED, error=line),
    ]
    raw = {todo.id: todo.to_state() for todo in todos}
    shown = Snapshot("s1", "What?", "/w", "step", "finished", 0, 0, "c1", raw, response={"text": FORGED})
    text = as_markdown(shown)
    assert outline(text)[:4] == ["h1 What?", "blockquote", "h2 Plan", "ul"]
    tokens = MarkdownIt("gfm-like").parse(text)
    inside = [
        token.content
        for n, token in enumerate(tokens)
        if token.type == "inline" and any(t.type == "blockquote_open" for t in tokens[max(0, n - 2) : n])
    ]
    assert inside.count(line) == 2, "what a team said of its step, or failed with, stands in a quotation of its own"


BARE = (
    "http://evil.example/ and https://evil.example/a_b?c=d&amp;e, ftp://evil.example (www.evil.example/x) "
    "me@evil.example mailto:me@evil.example xmpp:me@evil.example evil.com //evil.com 보기http://evil.example/끝. "
    "&#60;b&#62; &lt;b&gt;"
)


@pytest.mark.parametrize("query", ["What?", BARE])
def test_bare_addresses_and_entities_stay_text(query: str) -> None:
    text = as_markdown(snapshot(BARE, f"## Answer\n\n{BARE}\n\n- {BARE}\n\n| a |\n|---|\n| {BARE} |\n", query))
    html = on_github(text.removesuffix(f"{EXPORTED}\n"))
    assert "<a " not in html and "<b>" not in html
    said = words(html)
    assert said.count(BARE) >= 6 + (query == BARE), said


@pytest.mark.parametrize("begins", ["", "# ", "- **x** ", "| a |\n|---|\n| "])
def test_a_line_shows_addresses_as_they_were(begins: str) -> None:
    for part in (
        *BARE.split(" "),
        "**http://a.com**",
        "`http://a.com`",
        "_me@a.com_",
        "http://a.com|b",
        "1.http://a.com",
    ):
        html = on_github(f"{begins}{literal(part, addresses=True)}\n")
        assert "<a " not in html
        assert words(html).strip().endswith(part), html


HTML = ("<script>", "</b>", "<!--", "&lt;", "<x:y>", "<a@b.c>")
LINKS = ("![", "[r]", "](javascript:x)", "[r]: x", "http://e.com", "www.e.com", "m@e.com", "&#60;b&#62;", "(", ".")
MARKS = ("`", "``", "```", "~~~", "\\", "|", "\n|-|-|\n", "# ", "> ", "- ", "1. ", "_", "*", "=")
PIECES = (*HTML, *LINKS, *MARKS, "\n", "\n\n", " ", "  ", "    ", "a", "가")


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example("``` a`b\n<script>")
@example("- a\n  ```\n<script>")
@example("\\\\<script>")
@example("a ` b\n` <script> `")
@example("|a|b|\n|-|-|\n|` | <script> `|")
@example("```|<script>\n|-|-|\n")
@example("~~~|<script>\n|-|\n")
@example("\\http://e.com")
@example("``a``http://e.com`b`")
@example("m@e.com+m@e.com")
@example("a | b\n--- | ---\n")
def test_no_markdown_comes_alive(text: str) -> None:
    assert is_dead(rendered(tamed(text)))
    assert is_dead(rendered(tamed(text, 4)))
    assert "<a " not in on_github(tamed(text, addresses=True)) and "<b>" not in on_github(tamed(text))
    line = " ".join(text.split())
    for begins in ("# ", "- **x** ", "- a\n  - ", "> ", ""):
        html = rendered(f"{begins}{literal(line)}\n")
        assert is_dead(html) and "<a " not in on_github(f"{begins}{literal(line, addresses=True)}\n")
        assert words(html).strip().removeprefix("x" if "x" in begins else "a" if "a" in begins else "").strip() == line
