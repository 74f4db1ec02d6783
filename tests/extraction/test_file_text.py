"""What files give: blocks with real lines, whatever the files hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hitl_tui.extraction.blocks import MAX_BLOCK_CHARS, Block, Unreadable
from hitl_tui.extraction.file_text import decode, extract_bytes, kind_of, read_source

ENDINGS = (".md", ".html", ".csv", ".rst", ".txt", ".rst.txt", ".py", ".6", "README")


def make_pdf(pages: list[list[str]]) -> bytes:
    """Return a PDF with these lines of ASCII text on its pages."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for lines in pages:
        drawn = " T* ".join(f"({line}) Tj" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {drawn} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    xref = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    return out + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n".encode()


def blocks_of(text: str, suffix: str = ".md") -> tuple[Block, ...]:
    return extract_bytes(text.encode(), suffix).blocks


def places(blocks: tuple[Block, ...]) -> list[tuple[int, int, str]]:
    return [(block.line, block.end_line, block.text) for block in blocks]


def test_markdown_gives_paragraphs_items_rows_and_code_with_their_lines() -> None:
    text = "\n".join(
        [
            "# Guide",  # 1
            "",
            "First paragraph",  # 3
            "goes on.",
            "",
            "- one",  # 6
            "- two",
            "  more of two",
            "",
            "| Name | Value |",  # 10
            "|------|-------|",
            "| retries | 5 |",
            "",
            "Setext",  # 14
            "------",
            "```sh",  # 16
            "# not a heading",
            "run",
            "```",
        ]
    )
    blocks = blocks_of(text)
    assert places(blocks) == [
        (3, 4, "First paragraph\ngoes on."),
        (6, 6, "- one"),
        (7, 8, "- two\n  more of two"),
        (10, 10, "| Name | Value |"),
        (12, 12, "| retries | 5 |"),
        (16, 19, "```sh\n# not a heading\nrun\n```"),
    ]
    assert [block.heading for block in blocks] == [
        "Guide",
        "Guide",
        "Guide",
        "Guide > Name Value",
        "Guide > Name Value",
        "Guide > Setext",
    ]


def test_markdown_headings_nest_and_an_empty_section_can_be_found() -> None:
    blocks = blocks_of("# A\n## B\ntext\n## D\n# C\n")
    assert [(block.line, block.text, block.heading) for block in blocks] == [
        (3, "text", "A > B"),
        (4, "D", "A > D"),
        (5, "C", "C"),
    ]


def test_front_matter_title_is_the_outermost_heading() -> None:
    blocks = blocks_of('---\ntitle: "Paying"\nowner: team\n---\n\nText.\n')
    assert places(blocks) == [(3, 3, "owner: team"), (6, 6, "Text.")]
    assert blocks[1].heading == "Paying"


def test_articles_of_a_law_are_headings_in_plain_text() -> None:
    blocks = blocks_of("법\n\n제7조(증감청구권) ① 청구할 수 있다.\n② 20분의 1을 초과하지 못한다.\n", ".txt")
    assert [(block.line, block.heading) for block in blocks] == [
        (1, ""),
        (3, "제7조(증감청구권)"),
        (4, "제7조(증감청구권)"),
    ]


def test_rst_headings_by_underline_and_overline() -> None:
    blocks = blocks_of("=====\nTitle\n=====\n\nIntro.\n\nPart\n----\n\n- item\n", ".rst")
    assert [(b.line, b.text, b.heading) for b in blocks] == [
        (5, "Intro.", "Title"),
        (10, "- item", "Title > Part"),
    ]


def test_html_gives_lines_of_the_source_and_drops_scripts_and_styles() -> None:
    source = (
        "<html><head><title>Rules</title>\n<style>p { color: red }</style></head>\n<body>\n<h2>Leave</h2>\n"
        "<p>Ten\n days &amp; more</p><script>\nvar hidden = 1;\n</script>\n<table><tr><td>a</td><td>b</td></tr>\n"
        "</table></body></html>"
    )
    blocks = blocks_of(source, ".html")
    assert places(blocks) == [(5, 6, "Ten days & more"), (9, 9, "a | b")]
    assert blocks[0].heading == "Rules > Leave"
    assert not any("hidden" in block.text or "color" in block.text for block in blocks)


def test_a_script_that_holds_text_for_people_is_read_and_a_program_is_not() -> None:
    source = (
        '<script type="text/html" data-help-name="wait">\n<h3>Details</h3>\n<p>Waits <b>250 ms</b>.</p>\n</script>\n'
        '<script>var a = "<p>no</p>";</script><script type="module">b</script><script type="application/json">{"c": 1}'
        "</script><p>After.</p>"
    )
    blocks = blocks_of(source, ".html")
    assert places(blocks) == [(3, 3, "Waits 250 ms."), (5, 5, "After.")]
    assert blocks[0].heading == "Details"


def test_what_a_tag_within_a_line_parts_is_one_word_where_it_reads_so() -> None:
    source = (
        "<p>Set <code>payload</code>, <b>not</b> <i>topic</i> (<i>msg</i>).</p><p><code>payload</code>를 보냅니다</p>"
    )
    source += "<p><a>a</a><a>b</a></p>"
    assert [text for *_, text in places(blocks_of(source, ".html"))] == [
        "Set payload, not topic (msg).",
        "payload를 보냅니다",
        "a b",
    ]
    assert [text for *_, text in places(blocks_of("<tr><td>a</td><td>, b</td></tr>", ".html"))] == ["a | , b"]


def test_preformatted_text_of_html_keeps_its_lines() -> None:
    source = (
        "<p>See:</p>\n<pre>\n<b>NAME</b>\n       mark - leaves\n       a <i>mark</i> or\n       more<br>\n\n"
        "       -d &lt;days&gt;\n              How long.\n</pre><p>After\nit.</p><ul><li><pre>a\n b</pre></li></ul>"
    )
    assert places(blocks_of(source, ".html")) == [
        (1, 1, "See:"),
        (3, 6, "NAME\n       mark - leaves\n       a mark or\n       more"),
        (8, 9, "       -d <days>\n              How long."),
        (10, 11, "After it."),
        (11, 12, "a\n b"),
    ]
    assert places(blocks_of("<pre>a</pre><pre>b</pre>", ".html")) == [(1, 1, "a"), (1, 1, "b")]
    assert places(blocks_of("<pre><br>a\nb</pre>", ".html")) == [(1, 2, "a\nb")]
    assert places(blocks_of("<literallayout>a\nb</literallayout>", ".docbook")) == [(1, 2, "a\nb")]


def test_html_that_never_ends_is_read_as_far_as_it_goes_and_quickly() -> None:
    found = extract_bytes(b"<p>start</p>\n" + b"<!--" * 500_000, ".html")
    assert places(found.blocks) == [(1, 1, "start")]
    assert "never ends" in found.note


def test_csv_names_values_and_keeps_lines_of_rows_that_span_several() -> None:
    blocks = blocks_of('district,price\n강남구,21억\n"a\nb",3\n송파구,9억\n', ".csv")
    assert places(blocks) == [
        (1, 1, "district, price"),
        (2, 2, "district: 강남구, price: 21억"),
        (3, 4, "district: a b, price: 3"),
        (5, 5, "district: 송파구, price: 9억"),
    ]


def test_csv_without_header_or_with_an_open_quote_is_still_read() -> None:
    assert places(blocks_of("1;2\n3;4\n", ".csv")) == [(1, 1, "1, 2"), (2, 2, "3, 4")]
    rows = "".join(f"row {number}\n" for number in range(100))
    found = extract_bytes(f'name,text\n"open,1\n{rows}'.encode(), ".csv")
    assert "plain text" in found.note
    assert any("row 50" in block.text and block.line <= 53 <= block.end_line for block in found.blocks)


def test_pdf_gives_page_and_line_within_the_page() -> None:
    data = make_pdf([["First page", "Refunds take ten days."], ["Second page", "", "Nothing else."]])
    blocks = extract_bytes(data, ".pdf").blocks
    assert [(b.page, b.line) for b in blocks] == [(1, 1), (2, 1)]
    assert blocks[0].text == "First page\nRefunds take ten days."


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a pdf",
        b"%PDF-1.7\n",
        b"%PDF-1.4\n1 0 obj\n<< /Type",
        make_pdf([["text"]])[:200],
        b"\0" * 5000,
    ],
)
def test_broken_pdf_is_a_reason_not_a_traceback(data: bytes) -> None:
    with pytest.raises(Unreadable, match="PDF"):
        extract_bytes(data, ".pdf")


def test_pdf_without_text_says_so() -> None:
    with pytest.raises(Unreadable, match="holds no text"):
        extract_bytes(make_pdf([[""]]), ".pdf")


@settings(max_examples=40)
@given(st.data())
def test_damaged_pdf_never_raises_anything_else(data: st.DataObject) -> None:
    whole = bytearray(make_pdf([["Some text here"], ["and there"]]))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        extract_bytes(bytes(whole), ".pdf")
    except Unreadable as error:
        assert str(error)


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("전세금".encode(), "전세금", ""),
        ("\ufeffa".encode(), "a", ""),
        ("전세금 보증금".encode("cp949"), "전세금 보증금", "CP949"),
        ("café où".encode("latin-1"), "café où", "Latin-1"),
        ("전세".encode("utf-16"), "전세", "UTF-16"),
    ],
)
def test_encodings(data: bytes, text: str, note: str) -> None:
    read, remark = decode(data)
    assert read == text
    assert note in remark and bool(note) == bool(remark)


def test_binary_files_are_refused_and_text_with_a_stray_nul_is_not() -> None:
    with pytest.raises(Unreadable, match="binary"):
        extract_bytes(bytes(range(256)) * 10, ".txt")
    text = "word " * 100 + "\0 end"
    assert extract_bytes(text.encode(), ".txt").blocks[0].text == text


def test_a_line_of_a_megabyte_is_split_and_keeps_its_number() -> None:
    blocks = blocks_of("first\n\n" + "A sentence of words. " * 50_000 + "\n\nlast\n", ".md")
    assert blocks[0].line == 1 and blocks[-1].line == 5
    middle = blocks[1:-1]
    assert {(block.line, block.end_line) for block in middle} == {(3, 3)}
    assert all(len(block.text) <= MAX_BLOCK_CHARS for block in middle)
    assert all(block.text.rstrip().endswith(".") for block in middle)


@pytest.mark.parametrize(
    "line", ["# " + " " * 300_000 + "x", "|" * 300_000, "-" * 300_000, ":a" * 150_000, "`" * 300_000]
)
@pytest.mark.parametrize("suffix", [".md", ".rst", ".txt"])
def test_long_odd_lines_take_no_quadratic_time(line: str, suffix: str) -> None:
    assert extract_bytes(f"{line}\nend\n".encode(), suffix).blocks[-1].text.endswith("end")


def test_a_file_larger_than_the_limit_costs_nothing(tmp_path: Path) -> None:
    big = tmp_path / "big.md"
    with big.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    with pytest.raises(Unreadable, match="200 MB is larger than the limit of 20 MB"):
        read_source(big)


def test_a_pipe_and_a_link_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "real.txt").write_text("x")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    with pytest.raises(Unreadable, match="not a regular file"):
        read_source(tmp_path / "pipe.txt")
    with pytest.raises(Unreadable, match="can't be read"):
        read_source(tmp_path / "link.txt")


@settings(max_examples=150)
@given(
    st.text(
        alphabet=st.sampled_from("#-=*|`~>. \n\r\t:,\"'<>/!&;[]()①1제조a가漢\x00\x0b\x0c\x85\u2028"),
        max_size=300,
    ),
    st.sampled_from(ENDINGS),
)
def test_extraction_is_total_and_lines_are_in_the_file(text: str, suffix: str) -> None:
    try:
        found = extract_bytes(text.encode(), suffix)
    except Unreadable as error:
        assert "binary" in str(error)
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for block in found.blocks:
        assert 1 <= block.line <= block.end_line <= len(lines)
        assert block.text.strip()
        if suffix in (".md", ".txt", ".rst"):
            standing = "\n".join(lines[block.line - 1 : block.end_line])
            assert block.text.split("\n")[0].strip() in standing


@given(st.binary(max_size=200), st.sampled_from([*ENDINGS, ".pdf"]))
@example(b"<![ ", ".html")
@settings(max_examples=150)
def test_any_bytes_give_blocks_or_a_reason(data: bytes, suffix: str) -> None:
    try:
        found = extract_bytes(data, suffix)
    except Unreadable as error:
        assert str(error)
    else:
        assert all(block.text for block in found.blocks)


def test_what_is_text_is_read_whatever_its_name_ends_in() -> None:
    days = extract_bytes(b"03/18\tDestruction of the Ring\n", "calendar.lotr")
    assert [block.text for block in days.blocks] == ["03/18\tDestruction of the Ring"]
    page = "<?xml version='1.0'?><page><title>Battery</title><p>It <em>may</em> turn off.</p><p>Charge it.</p></page>"
    assert [(b.heading, b.text) for b in extract_bytes(page.encode(), "power.page").blocks] == [
        ("Battery", "It may turn off."),
        ("Battery", "Charge it."),
    ]
    with pytest.raises(Unreadable, match="binary"):
        extract_bytes(bytes(range(256)), "tool.xyz")
    assert not any(map(kind_of, ("photo.jpg", "style.css", "app.po", "server.key", "prices.parquet")))


def test_keys_and_names_of_settings_files_are_headings() -> None:
    catalogue = (
        b"sources:\n  plants:\n    # all of them\n    unit: MW\n    columns:\n      - name\n      - fuel\n"
        b"  prices: {unit: EUR}\n  carbon:\n    unit: EUR/tonne\n    freq: W\n    from: 2017\nversion: 2\n"
    )
    found = [(b.line, b.heading) for b in extract_bytes(catalogue, "catalogue.yaml").blocks]
    assert found == [(3, "sources > plants"), (8, "sources"), (10, "sources > carbon"), (13, "")]
    settings = b"colour = red\n\n[server]\nport = 8080\n\n[[hooks]]\nrun = make\n"
    assert [(b.line, b.heading) for b in extract_bytes(settings, "settings.toml").blocks] == [
        (1, ""),
        (4, "server"),
        (7, "hooks"),
    ]
