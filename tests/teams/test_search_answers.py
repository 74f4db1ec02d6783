"""Which passages answer, as a person who asks would judge: the right place first, and nothing where nothing answers."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hitl_tui.extraction.markup import line_blocks
from hitl_tui.teams.contract import quoted
from hitl_tui.teams.passages import Passage
from hitl_tui.teams.search.counted_files import Counted
from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.passage_search import MAX_PASSAGE_CHARS, SearchHits
from hitl_tui.teams.search.query_terms import parse_question
from hitl_tui.teams.search.search_report import NOTHING, make_report
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
        "사내 어린이집은 어떻게 신청하나요?",
    ],
)
def test_common_words_alone_answer_nothing(folder: Path, question: str) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    assert ask(folder, question) == ()


def test_a_question_of_which_no_word_stands_there_is_never_answered(folder: Path) -> None:
    for number, text in enumerate(
        (
            "We give 5 years on furniture and 2 years on repairs. Glass is excluded.",
            "Meals on business trips are refunded up to 28 euros a day.",
            "Suppliers: Lutz for oak and beech, Roth for bread.",
            "Call Marta before 8:00 on the first day.",
        )
    ):
        (folder / f"note{number}.md").write_text(f"# Note {number}\n\n{text}\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query("Which insurance covers a broken window?")
    assert hits.weak or not hits.passages


@pytest.mark.parametrize(
    ("question", "weak"),
    [
        ("병가는 며칠까지 유급이야?", False),
        ("점심시간은 몇 시야?", False),
        ("병가는 며칠까지 쓸 수 있어?", False),
        ("병가를 10일 내달래. 유급으로 쓸 수 있어?", False),
        ("노트북이 고장나면 언제 교체해?", False),
        ("병가를 11일 내면 며칠까지 유급이야?", False),
        ("유급 육아휴직은 며칠까지야?", True),
    ],
)
def test_what_a_korean_question_ends_with_need_not_stand_in_a_document(folder: Path, question: str, weak: bool) -> None:
    (folder / "안내서.md").write_text(
        "# 직원 안내서\n\n## 휴가\n\n- 연차는 1년이 지나면 15일이 생깁니다.\n"
        "- 병가는 진단서가 있으면 1년에 10일까지 유급으로 쓸 수 있습니다.\n\n"
        "## 근무\n\n점심시간은 12시 30분부터 한 시간입니다.\n\n## 장비\n\n노트북은 3년마다 교체합니다.\n"
    )
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        assert index.query(question).weak is weak


def test_a_passage_on_part_of_a_question_only_comes_near(folder: Path) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query("Who waters the plants of the neighbours in summer?")
    assert hits.weak or not hits.passages
    assert hits.missing == ("neighbours",)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Can I do laundry at 7 in the morning?", ("meetings.md", 4)),
        ("Do kids pay less?", ("fees.md", 3)),
        ("When is the paper collected?", ("bins.txt", 2)),
    ],
)
def test_a_small_folder_is_searched_for_what_is_said_in_other_words(
    folder: Path, question: str, place: tuple[str, int]
) -> None:
    (folder / "meetings.md").write_text(
        "# Meetings\n\n- Bikes stand in the cellar.\n- Washing machine: wait until 8 am, the neighbours complained.\n"
    )
    (folder / "fees.md").write_text("# Fees\n\nChildren under 14 have a discount of half the price.\n")
    (folder / "bins.txt").write_text(
        "yellow is packaging, on Tuesdays\nblue is paper, first Friday of the month\nbrown is food scraps\n"
    )
    (folder / "rooms.md").write_text("# Rooms\n\nThe front room has 18 square metres, the small one 11.\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(question)
    found = (hits.passages or hits.far)[0]
    assert found.path == place[0] and found.line <= place[1] <= found.end_line


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
    assert best.line == 11 and best.end_line >= 14
    assert "- Rental cars" in best.text
    assert best.text.split("\n")[3 - 1] == "- Lodging"


def test_a_value_stands_with_what_it_is_the_value_of(folder: Path) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    best = ask(folder, "How many seconds does the traveller portal wait?")[0]
    assert best.text.startswith("Default: `180`")
    assert (best.line, best.end_line) == (16, 18)


LICENCE = """# Licence

The *otter* package is licensed under both the Apache License and the MIT licence.

Any contribution that is submitted for inclusion is licensed under both, too, without any additional terms.

---

That protects against patent claims by contributors, and lets it be used within GPLv2 software.
"""


def test_what_answers_is_shown_where_it_stands_before_or_after_what_is_asked(folder: Path) -> None:
    (folder / "licence.md").write_text(LICENCE)
    best = ask(folder, "Why is otter licensed under both the Apache License and the MIT licence?")[0]
    assert best.line == 3 and "patent claims" in best.text
    best = ask(folder, "What about patent claims by contributors?")[0]
    assert best.line == 9 and best.before.startswith("The *otter* package is")
    assert best.full_text == best.before + best.text and len(best.full_text) <= MAX_PASSAGE_CHARS
    said = make_report("patent claims", SearchHits((best,), (), 1), {**NOTHING, "searched": 1}).text
    assert "licence.md:9" in said and "> The *otter* package" in said


def test_a_row_of_a_table_is_shown_without_the_rows_before(folder: Path) -> None:
    (folder / "pets.csv").write_text("name,food\notter,fish\npanda,bamboo\nquokka,leaves\n")
    best = ask(folder, "the food of the quokka")[0]
    assert (best.line, best.before, best.text) == (4, "", "name: quokka, food: leaves")


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
    blocks = line_blocks(
        ["##### Conditions", "", "1. ##### Hold and wait", "", "   > keeps one", "", "## Next {#next}", "", "x"], "md"
    )
    assert [(block.line, block.heading) for block in blocks] == [(5, "Conditions > Hold and wait"), (9, "Next")]


@pytest.mark.parametrize(
    ("question", "surfaces"),
    [
        ("v-if와 v-show의 차이점은 무엇인가요?", {"v-if", "v-show"}),
        ("429는 무슨 뜻인가요?", {"429"}),
        ("RBAC이 뭐예요?", {"RBAC"}),
    ],
)
def test_what_a_question_looks_for(question: str, surfaces: set[str]) -> None:
    terms = parse_question(question)
    assert surfaces <= {term.surface for term in terms}
    assert not {"뭐예요", "무엇인가요", "if"} & {term.surface for term in terms}


def test_words_that_ask_for_arithmetic_need_not_stand_in_a_document(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("district,price\nGangnam,185000\nSeocho,192000\n")
    assert ask(tmp_path, "average price in Gangnam")[0].path == "prices.csv"
    (tmp_path / "prices.csv").write_text("지역,시세\n강남구,185000\n서초구,192000\n")
    with SearchIndex(tmp_path / "second.db") as index:
        index.refresh(tmp_path, ["*.csv"])
        hits = index.query("강남구 평균 시세는 얼마야?", 4)
    assert hits.passages and hits.missing == ()


@pytest.mark.long
def test_a_few_of_many_rows_are_no_answer_to_what_has_to_be_worked_out(tmp_path: Path) -> None:
    bridges, kinds, ways = ("Harbour", "Castle", "Mill", "Abbey"), ("car", "bus", "lorry", "bicycle"), range(240)
    rows = [f"{b} Bridge,{k} crossing on way {n},{n}" for b in bridges for k in kinds for n in ways]
    (tmp_path / "crossings.csv").write_text("\n".join(["bridge,what,number", *rows]))
    with SearchIndex(tmp_path / "many.db") as index:
        index.refresh(tmp_path, ["*.csv"])
        hits = index.query("Which bridge has the most lorry crossings?", 4)
        named = index.query("Which bridge has the most lorry crossings, by crossings.csv?", 4)

    assert (hits.passages, {one.path for one in hits.far}) == ((), {"crossings.csv"})
    assert named.weak or not named.passages


TRAVEL = """Travel rules

Hotels are reimbursed up to 180 USD per night.

Boxes of samples are sent by the office, which keeps the list of addresses up to date.
"""


def test_words_that_carry_no_content_are_not_reported_missing(folder: Path) -> None:
    (folder / "travel.txt").write_text(TRAVEL, encoding="utf-8")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        assert index.query("What is the entire hotel limit for a whole night?").missing == ()
        assert index.query("What is the hotel limit in Paris for the whole night?").missing == ("Paris",)


@pytest.mark.parametrize(
    ("question", "places", "counted"),
    [
        ("list the TODO comments in the code", ["app.py:2", "app.py:4"], Counted("", "TODO", "", 2, 1)),
        ("how many documents mention badgers?", ["a.md:1", "b.md:3"], Counted("", "badgers", "", 3, 2)),
        ("badger를 언급하는 문서는 몇 개야?", ["a.md:1", "b.md:3"], Counted("", "badger", "", 3, 2)),
        ("수달이 언급된 문서는 몇 개야?", ["d.md:1"], Counted("", "수달", "", 1, 1)),
        ("수달 얘기가 적힌 문서 목록", ["d.md:1"], Counted("", "수달", "", 1, 1)),
        ("how many files start with LIST-?", ["LIST-1.0:1", "LIST-1.1:1"], Counted("LIST-*", "", "", 2, 2)),
        ("list the TODO comments in a.md", [], None),
        (
            "how many documents in the notes folder mention otters?",
            ["notes/c.md:3"],
            Counted("notes/**", "otters", "", 1, 1, 1),
        ),
        ("how many *.py files are there?", ["app.py:1"], Counted("*.py", "", "", 1, 1)),
        ("notes 폴더에 c로 시작하는 파일은 몇 개야?", ["notes/c.md:3"], Counted("notes/c*", "", "", 1, 1, 1)),
        ("notes에 c로 시작하는 스크립트 뭐뭐 있지?", ["notes/c.md:3"], Counted("notes/c*", "", "", 1, 1, 1)),
        ("How many documents have a title that starts with Weas?", ["notes/c.md:3"], Counted("", "", "Weas", 1, 1)),
        ("how many notes/*.md files are there?", ["notes/c.md:3"], Counted("notes/*.md", "", "", 1, 1, 1)),
        ("how many documents are about weasels?", ["notes/c.md:3"], Counted("", "weasels", "", 1, 1)),
        ("how many *.md files are in the notes folder?", ["notes/c.md:3"], Counted("notes/*.md", "", "", 1, 1, 1)),
        ("notes 폴더에 문서가 모두 몇 개야?", ["notes/c.md:3"], Counted("notes/*", "", "", 1, 1, 1)),
        ("app.py에 남아 있는 TODO 주석을 다 보여줘", ["app.py:2", "app.py:4"], Counted("", "TODO", "", 2, 1)),
        (
            "notes 폴더에 weasel 안내 문서가 몇 개야?",
            ["notes/weasel-den.md:1"],
            Counted("notes/ weasel", "", "", 1, 1, 1),
        ),
        ("notes 아래 md 파일은 몇 개야?", ["notes/c.md:3"], Counted("notes/*.md", "", "", 1, 1, 1)),
        ("how many weasel notes files are in the notes folder?", ["notes/c.md:3"], Counted("notes/*", "", "", 1, 1, 1)),
        ("which files use the OtterPool class?", ["app.py:6"], Counted("", "OtterPool", "", 1, 1)),
        ("how many list 1.1 files are there?", ["LIST-1.1:1"], Counted("1.1", "", "", 1, 1)),
        ("How many badgers does the guide of dens list?", [], None),
        ("Which documents have to be read by otters?", [], None),
        ("From how many otters on do files help?", [], None),
        ("How many otters do you start with?", [], None),
        ("notes 폴더에 둘 수 있는 파일은 몇 개까지야?", [], None),
    ],
)
def test_what_is_counted_or_listed(folder: Path, question: str, places: list[str], counted: Counted | None) -> None:
    (folder / "notes").mkdir()
    (folder / "d.md").write_text("여기 수달은 헤엄친다.\n", encoding="utf-8")
    for name in ("LIST-1.0", "LIST-1.1"):
        (folder / name).write_text("A list.\n")
    (folder / "a.md").write_text("Badgers sleep; many badgers snore.\n\nOtters swim.\n")
    (folder / "b.md").write_text("# Notes\n\nOne badgers' den.\n\nTwo badgers.\n")
    (folder / "notes" / "c.md").write_text("# Weasels\n\nUnlike otters, they climb.\n")
    (folder / "notes" / "weasel-den.md").write_text("A den.\n") if "안내" in question else None
    (folder / "app.py").write_text("x = 1\n# TODO: otters\ny = 2\n# TODO: weasels\n# todos\nOtterPool()\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(question)
    assert hits.counted == counted
    if counted:
        assert [f"{passage.path}:{passage.line}" for passage in hits.passages] == places


READ = ("notes/c.md", "notes/d.md", "orders.csv", "tools/run.py", "tools/clean.sh", "글/하나.md", "글/둘.md")
UNREAD = ("notes/plan.xlsx", "budget.xlsx", "pics/a.png", "pics/b.jpg")


@pytest.mark.parametrize(
    ("question", "files"),
    [
        ("How many Excel workbooks (.xlsx) do we have in this folder?", ["budget.xlsx", "notes/plan.xlsx"]),
        ("엑셀 파일이 몇 개 있어?", ["budget.xlsx", "notes/plan.xlsx"]),
        ("how many xlsx files are there?", ["budget.xlsx", "notes/plan.xlsx"]),
        ("how many csv files do I have?", ["orders.csv"]),
        ("list all markdown files", ["notes/c.md", "notes/d.md", "글/둘.md", "글/하나.md"]),
        ("마크다운 파일 목록 보여줘", ["notes/c.md", "notes/d.md", "글/둘.md", "글/하나.md"]),
        ("What files are in notes?", ["notes/c.md", "notes/d.md", "notes/plan.xlsx"]),
        ("list the files in notes", ["notes/c.md", "notes/d.md", "notes/plan.xlsx"]),
        ("what's in the notes folder?", ["notes/c.md", "notes/d.md", "notes/plan.xlsx"]),
        ("노트 폴더에 뭐가 들어 있어?", ["notes/c.md", "notes/d.md", "notes/plan.xlsx"]),
        ("How many notes are there?", ["notes/c.md", "notes/d.md", "notes/plan.xlsx"]),
        ("글 폴더에 글이 모두 몇 편 있어?", ["글/둘.md", "글/하나.md"]),
        ("how many pictures are in pics?", ["pics/a.png", "pics/b.jpg"]),
        ("사진이 모두 몇 장 있어?", ["pics/a.png", "pics/b.jpg"]),
        ("파이썬 스크립트는 몇 개야?", ["tools/run.py"]),
        ("Which python files are in tools?", ["tools/run.py"]),
        ("이 폴더에 엑셀은 뭐가 있어?", ["budget.xlsx", "notes/plan.xlsx"]),
        ("주문 csv 목록", ["orders.csv"]),
        ("주문 파일은 몇 개야?", ["orders.csv"]),
        ("which of the clean up scripts in tools are written in python?", ["tools/run.py"]),
        ("which tools are in the tools folder?", ["tools/clean.sh", "tools/run.py"]),
        ("list the files with plan in their name", ["notes/plan.xlsx"]),
        ("이름에 plan 들어간 파일 뭐 있어?", ["notes/plan.xlsx"]),
        ("how many scripts (*run) are in tools?", ["tools/run.py"]),
        ("how many runners (tools/*.py) are there?", ["tools/run.py"]),
        ("How many of the office's papers have a file name that begins with bud?", ["budget.xlsx"]),
        ("회의용 tools 폴더에는 어떤 파일들이 있어?", ["tools/clean.sh", "tools/run.py"]),
        ("which tools do I need on a boat trip?", None),
        ("파일 전송 도구에서 실패하면 나올 수 있는 오류 코드 다 알려줘", None),
        ("tools 스크립트에 동물 이름이 몇 개 들어 있어?", None),
        ("how many sheets are in budget.xlsx?", None),
        ("How many rows does the csv file have?", None),
        ("What is in the notes about weasels?", None),
        ("Which files in here hold the shop order numbers?", None),
        ("Which files hold the plan notes numbers?", ["notes/plan.xlsx"]),
        ("what files do we have here?", sorted([*READ, *UNREAD])),
        ("이 폴더에 어떤 파일들이 있는지 다 알려줘", sorted([*READ, *UNREAD])),
        ("What documents do I need?", None),
        ("어떤 문서가 필요해?", None),
        ("What does the tools folder need?", None),
        ("사진 폴더에 뭐가 들어 있어?", None),
        ("how many files are in the letters folder?", None),
        ("노트에 뭐라고 적혀 있어?", None),
        ("찍은 사진은 무슨 파일 형식으로 저장돼?", None),
        ("설정 파일에 비밀번호를 적기 싫은데 다른 방법 뭐 있어?", None),
    ],
)
def test_files_are_counted_and_listed_by_kind_and_folder_whether_or_not_they_are_searched(
    folder: Path, question: str, files: list[str] | None
) -> None:
    for name in (*UNREAD, "notes/.secret.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\x00\x01")
    for name in READ:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"Weasels of {name.partition('.')[0]}.\n", encoding="utf-8")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(question)
    assert (hits.counted and [passage.path for passage in hits.passages]) == files


def test_a_word_that_is_nearly_there_is_offered(folder: Path) -> None:
    (folder / "alerts.md").write_text("# Alerts\n\nThe alertmanager listens at port 9093.\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query("What port does the alertmanger listen at?")
    assert hits.nearly == (("alertmanger", "alertmanager"),)
    assert hits.passages[0].line == 3


@pytest.mark.parametrize(
    ("question", "nearly"),
    [
        ("주차증은 어디서 받아?", ()),
        ("주차중은 어디서 받아?", (("주차중", "주차증"),)),
        ("주차장은 어디서 받아?", (("주차장", "주차증"),)),
        ("야영장은 어디서 받아?", ()),
    ],
)
def test_a_korean_word_that_is_nearly_there_is_offered(
    folder: Path, question: str, nearly: tuple[tuple[str, str], ...]
) -> None:
    (folder / "안내.md").write_text("# 방문 안내\n\n주차증은 정문 경비실에서 받는다.\n", encoding="utf-8")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(question)
    assert hits.nearly == nearly
    if nearly:
        assert hits.passages[0].line == 3


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("What do we pay the gardener Edwin Marsh?", ("pay",)),
        ("What tools does the gardener Edwin Marsh keep in the shed?", ()),
    ],
)
def test_what_the_only_passage_does_not_say_is_named(folder: Path, question: str, unsaid: tuple[str, ...]) -> None:
    (folder / "people.md").write_text("# People\n\nThe gardener Edwin Marsh keeps his tools in the shed.\n")
    (folder / "fees.md").write_text("# Fees\n\nStudents pay half of the membership fee.\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(question)
    assert ([one.path for one in hits.passages], hits.unsaid) == (["people.md"], unsaid)
    text = make_report(question, hits, {**NOTHING, "searched": 2}).text
    assert ("Found in one passage, without the words: pay." in text) == bool(unsaid)


def test_packed_manual_pages_are_read(folder: Path) -> None:
    page = ".TH WUMP 6\n.SH OPTIONS\n.TP\n.B \\-a\nSpecifies the number of \\fIarrows\\fR; the default is five.\n"
    (folder / "wump.6.gz").write_bytes(gzip.compress(page.encode()))
    best = ask(folder, "How many arrows are the default?")[0]
    assert (best.path, best.heading) == ("wump.6.gz", "OPTIONS") and "arrows; the default is five" in best.text


@pytest.mark.parametrize("question", ["전세금을 올려달래", "청구서 공급가액은 얼마인가요?"])
def test_the_end_of_a_word_is_no_word_that_stands_nowhere(folder: Path, question: str) -> None:
    (folder / "청구서.md").write_text("# 청구서\n\n- 공급가: 88,000원. 전세금을 올린 적은 없다.\n", encoding="utf-8")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        assert not {"달래", "액"} & set(index.query(question).missing)
        assert "식대" in index.query("직원 식대는 얼마인가요?").missing


def test_a_name_and_something_else_that_stand_apart_only_come_near(folder: Path) -> None:
    (folder / "handbook.md").write_text(
        "# Office\n\n## Pay\n\nSalaries are paid on the 25th.\n\n## Welcome\n\nLena shows new colleagues around.\n"
    )
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        assert index.query("Lena's salary").weak
        assert not index.query("when are salaries paid?").weak
        assert not index.query("who shows new colleagues around?").weak


def test_lines_that_a_document_breaks_are_quoted_as_a_paragraph() -> None:
    text = (
        "When the limit is reached, the oldest entry of the cache is dropped and\n"
        "the next request is slow.\n"
        "- an item of a list that goes on over the end of its line needs another\n"
        "  one\n"
        "-a   a column\n"
        "-b   another column\n"
    )
    passage = Passage("a.txt", 1, 6, text, score=1.0)
    report = make_report("limit", SearchHits((passage,), (), 1), {**NOTHING, "searched": 1})
    quote = [line for line in report.text.split("\n") if line.startswith(">")]
    assert quote == [
        "> When the limit is reached, the oldest entry of the cache is dropped and the next request is slow.",
        "> - an item of a list that goes on over the end of its line needs another one",
        "> -a   a column",
        "> -b   another column",
    ]


@pytest.mark.parametrize(
    ("path", "text", "quote"),
    [
        (
            "run.md",
            "Applies to web-1. In\nshort: measure;\n`rm` never.",
            ["Applies to web-1. In short: measure; `rm` never."],
        ),
        ("a.md", "보증금은 갱신할 때\n5% 이내에서\n올릴 수 있다.", ["보증금은 갱신할 때 5% 이내에서 올릴 수 있다."]),
        ("a.md", "Two ways:\n- one\n  more\n1. two\n\nThe\nend", ["Two ways:", "- one more", "1. two", "", "The end"]),
        (
            "a.md",
            "Run\nthis:\n\n```sh\nuv sync\nuv run x\n```\nthen\ngo",
            ["Run this:", "", "```sh", "uv sync", "uv run x", "```", "then go"],
        ),
        ("a.md", "uv sync\nuv run x\n```\nThen\ngo", ["uv sync", "uv run x", "```", "Then go"]),
        (
            "a.md",
            "name | price\n--- | ---\nbread | 2\nsalt | 1",
            ["name | price", "--- | ---", "bread | 2", "salt | 1"],
        ),
        ("a.md", "title: A page\nauthor: Ann", ["title: A page", "author: Ann"]),
        ("a.toml", f'what = "{"a" * 50}"\nrun = ["du"]', [f'what = "{"a" * 50}"', 'run = ["du"]']),
        ("a.md", "Edit its input to `days=30` before,\nand see.", ["Edit its input to `days=30` before, and see."]),
        ("a.md", "# Rent\nThe rent is\nlow.", ["# Rent", "The rent is low."]),
        (
            "a.txt",
            "All of the long line that is full here, and then in\nshort: measure it.",
            ["All of the long line that is full here, and then in short: measure it."],
        ),
        ("a.py", "import os\nimport sys", ["import os", "import sys"]),
    ],
)
def test_a_paragraph_is_one_line_and_lists_tables_code_and_headings_keep_theirs(
    path: str, text: str, quote: list[str]
) -> None:
    passage = Passage(path, 1, 9, text, score=1.0)
    report = make_report("rent", SearchHits((passage,), (), 1), {**NOTHING, "searched": 1})
    lines = [line for line in report.text.split("\n") if line.startswith(">")]
    assert lines == [f"> {line}".rstrip() for line in quote]


def test_what_isn_t_found_in_another_language_is_said_to_be_sought_there(folder: Path) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        asked = index.query("주차장은 언제 열어?")
        assert not asked.passages
        assert "다른 언어" in make_report("주차장은 언제 열어?", asked, {**NOTHING, "searched": 1}).text
        assert not index.query("when does the parking garage open?").foreign


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Duplicate records without a key are kept until the store is cleaned.", "중복된 레코드는 어떻게 처리돼?"),
        ("키가 없는 중복 기록은 저장소를 정리할 때까지 남는다.", "What happens to duplicate entries without a key?"),
    ],
)
def test_words_of_another_language_than_the_answer_s_are_not_missing(folder: Path, text: str, question: str) -> None:
    (folder / "README.md").write_text(f"# recsync\n\n{text}\n")
    (folder / "bread.md").write_text("# Bread\n\n500 g of rye flour. 호밀가루 500그램.\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(question)
        assert [passage.path for passage in hits.passages[:1]] == ["README.md"] and hits.missing == ()
        korean = index.query("Foobar의 중복된 레코드는 어떻게 처리돼?")
        assert "Foobar" in korean.missing


def test_a_part_of_a_question_is_answered_by_nothing_that_only_comes_near(folder: Path) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        near = index.query("carry over annual leave hours of a zeppelin")
        assert near.weak and near.passages
        part = index.query("carry over annual leave hours of a zeppelin", part=True)
        assert not part.passages and part.far


@pytest.mark.parametrize(
    ("text", "question", "weak"),
    [
        ("The landlord will repair the roof before Christmas.", "Who repairs the coffee machine?", True),
        ("The landlord will repair the roof before Christmas.", "When will the roof be repaired?", False),
        ("- 카드 단말기 비밀번호 바꾸기", "사무실 인터넷 비밀번호는 뭐야?", True),
        ("내용: 10월 복합기 임대료\n금액: 165,000원", "새 사무실 임대료는 얼마야?", True),
        ("내용: 10월 복합기 임대료\n금액: 165,000원", "복합기 임대료는 얼마야?", False),
    ],
)
def test_what_lacks_a_good_part_of_what_is_asked_is_merely_near(
    tmp_path: Path, text: str, question: str, weak: bool
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "note.md").write_text(f"# 1\n\n{text}\n")
    (root / "other.md").write_text("# Bread\n\n500 g of rye flour. 호밀가루 500그램.\n")
    with SearchIndex(tmp_path / "cache" / "search.db") as index:
        index.refresh(root)
        hits = index.query(question)
    assert (hits.weak or not hits.passages) if weak else (hits.passages and not hits.weak)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("One sentence here. Another that goes on. A third", "> One sentence here. Another that goes on. …"),
        ("word " * 20, "> " + "word " * 8 + "…"),
        ("x" * 60, "> " + "x" * 43 + "…"),
        ("a line with some words\na second line\na third line", "> a line with some words\n> a second line\n> …"),
        ("short", "> short"),
    ],
)
def test_a_quotation_ends_where_a_sentence_or_a_word_does(text: str, shown: str) -> None:
    assert quoted(text, 44) == shown


@pytest.mark.parametrize(
    ("question", "session", "found"),
    [
        ("How much is the deposit?", "보증금은 얼마야?", "Found"),
        ("deposit", "보증금은 얼마야?", "찾았습니다"),
        ("deposit", "How much is the deposit?", "Found"),
        ("보증금은 얼마야?", "How much is the rent?", "찾았습니다"),
    ],
)
def test_an_answer_is_in_the_language_of_its_own_question_and_that_of_the_session_where_it_is_a_bare_name(
    question: str, session: str, found: str
) -> None:
    passage = Passage("a.md", 1, 1, "The deposit is 300. 보증금은 300이다.", score=1.0)
    text = make_report(question, SearchHits((passage,), (), 1), {**NOTHING, "searched": 1}, session).text
    assert found in text


@pytest.mark.parametrize(
    ("question", "times", "lines"),
    [
        ("'수달'이라는 말이 몇 번 나와?", 4, 3),
        ("수달이라는 단어가 몇 번 나오나요?", 4, 3),
        ("How many times does the word otter appear in a.md?", 3, 2),
        ("how often is “otter” mentioned?", 3, 2),
        ("how many times does otter come up?", 3, 2),
        ("a.md에 otter가 몇 번 나와?", 3, 2),
        ("how many entries in NEWS are marked as BREAKING?", 0, 2),
        ("how many seconds does an 'otter' dive?", None, None),
    ],
)
def test_a_word_is_counted_as_often_as_it_stands_there(
    folder: Path, question: str, times: int | None, lines: int | None
) -> None:
    (folder / "a.md").write_text("An otter dives. Another otter waits.\n\nOne more otter.\n")
    (folder / "b.md").write_text("수달은 수달을 안다.\n\n수달이다.\n\n저 수달.\n", encoding="utf-8")
    (folder / "NEWS").write_text("1.0\n* BREAKING: no more dens.\n* A fix.\n* BREAKING: no more fish.\n")
    (folder / "c.md").write_text("BREAKING news of dens.\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(question)
    counted = hits.counted
    if times:
        answer = make_report(question, hits, {**NOTHING, "searched": 4}).text
        assert f"모두 {times}번 나옵니다" in answer or f"appears {times} times on" in answer
    assert (counted and (counted.times, counted.lines)) == ((times, lines) if lines else None)


def test_a_count_of_a_folder_tells_how_many_are_in_the_folder_itself(folder: Path) -> None:
    (folder / "notes" / "old").mkdir(parents=True)
    for name in ("a.md", "b.md", "old/c.md"):
        (folder / "notes" / name).write_text("Otters swim.\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        assert index.query("how many documents are in the notes folder?").counted == Counted("notes/*", "", "", 3, 3, 2)


def test_what_goes_on_from_an_answer_is_looked_for_near_its_place_first(folder: Path) -> None:
    for machine in ("mixer", "pump"):
        text = f"# The {machine}\n\nIt starts by itself.\n\n## Reset\n\nPress the button to reset it.\n"
        (folder / f"{machine}.md").write_text(text, encoding="utf-8")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        for machine in ("mixer", "pump"):
            assert index.query("How do I reset it?", near=[(f"{machine}.md", 3)]).passages[0].path == f"{machine}.md"


@pytest.mark.parametrize(("thing", "nothing"), [("Snowflake", True), ("postgres", False), ("an unknown brand", False)])
def test_nothing_is_said_of_a_thing_whose_name_stands_nowhere(folder: Path, thing: str, nothing: bool) -> None:
    (folder / "guide.md").write_text(
        "# Connecting\n\nA Database object represents a connection to a database.\n\n"
        "The class for Postgres is PostgresqlDatabase.\n"
    )
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(f"Which database class do I use to connect to {thing}?")
    assert (not hits.passages, bool(hits.far)) == (nothing, nothing)
