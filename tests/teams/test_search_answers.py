"""Which passages answer, as a person who asks would judge: the right place first, and nothing where nothing answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.markup import html_extraction, markdown_blocks, rst_blocks
from hitl_tui.teams.search.passage_search import (
    defines,
    introduces,
    is_asking,
    is_code,
    is_field,
    is_item,
    prior,
    subject_of,
)
from hitl_tui.teams.search.query_terms import load_lexicon, parse_question
from hitl_tui.teams.search.ranking import Passage
from hitl_tui.teams.search.tokens import index_tokens, readable

HANDBOOK = """# Handbook

## Annual leave

You can carry over a maximum of 240 hours of annual leave into the next year.

Ask your supervisor before you take leave.

## Travel

The following expenses require receipts:

- Lodging
- Rental cars

Default: `180`

The number of seconds that the traveller portal waits before it logs out.

## Glossary

Dogfooding means to eat your own dog food before others do.

You will have to pay the bill of your travel card within a month.

The garden of the office is on the roof, and everyone may water the plants.

Declare your dependency on a manager early.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "documents"
    root.mkdir()
    return root


def ask(root: Path, question: str) -> tuple[Passage, ...]:
    with SearchIndex(root.parent / "cache.db") as index:
        index.refresh(root)
        return index.query(question).passages


@pytest.mark.parametrize(
    "question",
    [
        "How do I pay the electricity bill of the warehouse?",
        "How do I declare a Maven dependency in Gradle?",
        "Who waters the plants of the neighbours in summer?",
        "Where do I eat lunch in the city with my dog?",
        "사내 어린이집은 어떻게 신청하나요?",
    ],
)
def test_common_words_alone_answer_nothing(folder: Path, question: str) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    assert ask(folder, question) == ()


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("How many hours of annual leave can I carry over?", 5),
        ("How long does the portal wait before it logs me out?", 16),
    ],
)
def test_the_passage_that_answers_comes_first(folder: Path, question: str, line: int) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    best = ask(folder, question)[0]
    assert best.line <= line <= best.end_line


def test_a_passage_that_announces_a_list_comes_with_the_list(folder: Path) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    best = ask(folder, "Which expenses require receipts?")[0]
    assert (best.line, best.end_line) == (11, 14)
    assert "- Rental cars" in best.text
    assert best.text.split("\n")[3 - 1] == "- Lodging"


def test_a_value_stands_with_what_it_is_the_value_of(folder: Path) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    best = ask(folder, "How many seconds does the traveller portal wait?")[0]
    assert best.text.startswith("Default: `180`")
    assert (best.line, best.end_line) == (16, 18)


def test_a_definition_comes_before_mentions(folder: Path) -> None:
    (folder / "glossary.rst").write_text(
        "Glossary\n========\n\n.. glossary::\n\n    Build Backend\n\n        A library that builds distributions.\n\n"
        "        Hatchling is one.\n\n    Wheel Format\n    Wheel\n        The built format.\n"
    )
    (folder / "guide.md").write_text(
        "# Guide\n\n## Choosing a build backend\n\nThe build backend key is the name of an object.\n\n"
        "Popular build backends, a build backend for each taste.\n"
    )
    best = ask(folder, "What is a build backend?")[0]
    assert (best.path, best.line) == ("glossary.rst", 6)
    assert ask(folder, "What is a wheel?")[0].line == 12


def test_words_win_over_code_and_over_questions(folder: Path) -> None:
    (folder / "a.md").write_text(
        "# Tones\n\n```js\nconst duration = 500; sender.tone('1', duration); log({tone: 1, duration});\n```\n\n"
        "A tone has a duration of at most 6000 ms.\n\n1. What is the duration of a tone?\n"
    )
    best = ask(folder, "How long is the duration of a tone at most?")[0]
    assert best.line == 7


def test_targets_of_links_are_not_read(folder: Path) -> None:
    (folder / "a.md").write_text("See [here](https://example.org/travel/receipts/expenses) for more.\n")
    assert ask(folder, "Which travel expenses need receipts?") == ()
    assert index_tokens(readable('<a class="travel">x</a> List<String> [y](z)')).split() == ["x", "list", "string", "y"]


def test_a_heading_within_a_list_item_heads_what_follows() -> None:
    blocks = markdown_blocks(
        ["##### Conditions", "", "1. ##### Hold and wait", "", "   > keeps one", "", "## Next {#next}", "", "x"]
    )
    assert [(block.line, block.heading) for block in blocks] == [(5, "Conditions > Hold and wait"), (9, "Next")]


def test_a_glossary_keeps_its_terms_and_ends_with_its_indent() -> None:
    head = [".. glossary::", "   :sorted:", ""]
    entries = ["   One", "   Two", "     First.", "", "     - an item", "", "   Three", "", "     Second.", ""]
    lines = [*head, *entries, "After."]
    found = [(block.line, block.end_line, block.heading, block.text.strip()[-7:]) for block in rst_blocks(lines)]
    assert found == [
        (4, 6, "One, Two", " First."),
        (8, 8, "One, Two", "an item"),
        (10, 12, "Three", "Second."),
        (14, 14, "", "After."),
    ]


def test_a_term_of_a_definition_list_stands_with_what_is_said_of_it() -> None:
    page = (
        "<h2>Modes</h2>\n<dl>\n<dt>standalone</dt>\n<dd><p>Looks native.</p>\n<p>More.</p></dd>\n"
        "<dt>a</dt><dt>b</dt>\n</dl>\n<p>End</p><ul><li>one</li></ul>"
    )
    blocks = [(block.line, block.end_line, block.heading, block.text) for block in html_extraction(page).blocks]
    assert blocks == [
        (3, 4, "Modes > standalone", "standalone: Looks native."),
        (5, 5, "Modes > standalone", "More."),
        (6, 6, "Modes > a, b", "a, b"),
        (8, 8, "Modes", "End"),
        (8, 8, "Modes", "- one"),
    ]


@pytest.mark.parametrize(
    ("question", "surfaces"),
    [
        ("v-if와 v-show의 차이점은 무엇인가요?", {"v-if", "v-show"}),
        ("How long before a request times out?", {"time out", "request"}),
        ("429는 무슨 뜻인가요?", {"429"}),
        ("RBAC이 뭐예요?", {"RBAC"}),
    ],
)
def test_what_a_question_looks_for(question: str, surfaces: set[str]) -> None:
    terms = parse_question(question, load_lexicon())
    assert surfaces <= {term.surface for term in terms}
    assert not {"뭐예요", "무엇인가요", "if"} & {term.surface for term in terms}


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What is a build backend?", "build backend"),
        ("What does yanking mean?", "yank"),
        ("교착 상태가 뭐예요?", "교착 상태"),
        ("How do I build?", ""),
        ("What is the best way to build a package on a small machine?", ""),
    ],
)
def test_the_subject_of_a_definition(question: str, subject: str) -> None:
    assert subject_of(question) == subject


def test_forms_of_passages() -> None:
    assert defines("**Build backend** - a library", "build backend")
    assert defines("A build backend is a library", "build backend")
    assert not defines("Build backends of many kinds exist", "backend")
    assert introduces("The keys are:") and not introduces("The keys are few.")
    assert is_item("- one") and is_item("3. three") and not is_item("three")
    assert is_field("Default: ``180``") and not is_field("He said it was so; she said nothing: a long silence. " * 3)
    assert is_asking("1. What is a **tone**?") and not is_asking("It is a tone.")
    assert is_code("```\nx\n```") and not is_code("See [the guide](https://example.org) for {{PaymentRequest/show()}}.")


@given(st.text(max_size=400), st.text(max_size=400), st.text(max_size=120))
def test_any_passage_has_a_positive_prior(question: str, text: str, heading: str) -> None:
    lexicon = load_lexicon()
    assert 0 < prior(question, parse_question(question, lexicon), lexicon.stop_tokens, heading, text) < 10


def test_words_that_ask_for_arithmetic_need_not_stand_in_a_document(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("district,price\nGangnam,185000\nSeocho,192000\n")
    assert ask(tmp_path, "average price in Gangnam")[0].path == "prices.csv"
    (tmp_path / "prices.csv").write_text("지역,시세\n강남구,185000\n서초구,192000\n")
    with SearchIndex(tmp_path / "second.db") as index:
        index.refresh(tmp_path, ["*.csv"])
        hits = index.query("강남구 평균 시세는 얼마야?", 4)
    assert hits.passages and hits.missing == ()


TRAVEL = """Travel rules

Hotels are reimbursed up to 180 USD per night.

Boxes of samples are sent by the office, which keeps the list of addresses up to date.
"""


@pytest.mark.parametrize(
    "question",
    [
        "What is the hotel limit?",
        "What is the hotel limit for the whole night?",
        "Is there a maximum for hotels?",
        "How much does a hotel reimburse?",
    ],
)
def test_a_limit_given_by_its_amount_answers_who_asks_for_a_limit(folder: Path, question: str) -> None:
    (folder / "travel.txt").write_text(TRAVEL, encoding="utf-8")
    assert [(p.path, p.line) for p in ask(folder, question)][:1] == [("travel.txt", 3)]


def test_up_to_date_is_no_limit(folder: Path) -> None:
    (folder / "travel.txt").write_text(TRAVEL.replace("up to 180 USD", "in full"), encoding="utf-8")
    assert ask(folder, "What is the limit for boxes?") == ()


def test_words_that_carry_no_content_are_not_reported_missing(folder: Path) -> None:
    (folder / "travel.txt").write_text(TRAVEL, encoding="utf-8")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        assert index.query("What is the entire hotel limit for a whole night, roughly?").missing == ()
        assert index.query("What is the hotel limit in Paris for the whole night?").missing == ("Paris",)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("API 키 들을 출장비 규정 들에서 찾아줘", ("API", "키")),
        ("숙박비가 찼어. 절대 건드리면 안 되는 보험을 찾아줘", ("보험",)),
        ("출장비를 받아야 하는데 영수증들까지 줘야 해?", ("영수증",)),
        ("집주인이 숙박비를 올려달래. 언어와 육아는?", ("집주인", "언어", "육아")),
        ("배포하려면 프로그램이 필요한가요", ("배포", "프로그램", "필요")),
    ],
)
def test_only_nouns_of_a_korean_question_are_reported_missing(
    folder: Path, question: str, missing: tuple[str, ...]
) -> None:
    (folder / "travel.txt").write_text("출장비 규정\n\n숙박비는 하루 10만 원까지 지급한다.\n", encoding="utf-8")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        assert index.query(question).missing == missing


@pytest.mark.parametrize(("question", "first"), [("shipping container", "b.md"), ("shipping containers", "a.md")])
def test_the_word_as_written_stands_before_another_form_of_it(folder: Path, question: str, first: str) -> None:
    (folder / "a.md").write_text("Our shipping containers are blue and stand in the yard.\n", encoding="utf-8")
    (folder / "b.md").write_text("Our shipping container is blue and stands in the yard, too.\n", encoding="utf-8")
    found = ask(folder, question)
    assert next(p.path for p in found) == first
