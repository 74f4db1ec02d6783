"""Words: tokens, questions and the passages chosen for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.passage_search import MAX_PASSAGE_CHARS, SearchHits
from hitl_tui.teams.search.query_terms import alike, parse_question
from hitl_tui.teams.search.tokens import index_tokens, stem

ACT = """주택임대차보호법

제6조의3(계약갱신 요구 등)
① 임차인은 계약갱신요구권을 1회에 한하여 행사할 수 있다.

제7조(차임 등의 증감청구권)
① 당사자는 약정한 차임이나 보증금이 적절하지 아니하게 된 때에는 그 증감을 청구할 수 있다.
② 제1항에 따른 증액청구는 약정한 차임이나 보증금의 20분의 1의 금액을 초과하지 못한다.

제14조(주택임대차분쟁조정위원회)
① 주택임대차와 관련된 분쟁을 심의ㆍ조정하기 위하여 조정위원회를 둔다.
"""
SERVICE = """# Payment service

## Retry policy

Failed calls are retried five times with exponential backoff, starting at 200 ms.

## Ownership

The payments team answers within a day.

## Limits

| Setting | Default |
|---------|---------|
| max_connections | 40 |
| requestTimeout | 3 s |
"""


def ask(folder: Path, question: str, limit: int = 8) -> list[str]:
    """Return `path:line` of the passages found, best first."""
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        return [f"{p.path}:{p.line}" for p in index.query(question, limit).passages]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


def test_korean_words_become_pairs_and_short_words_with_particles_stand_alone() -> None:
    assert index_tokens("전세금을") == "전세 세금 금을"
    assert index_tokens("법은 집") == "법은 집 법"


def test_the_same_tokens_come_of_every_spelling_of_a_name() -> None:
    assert f" {index_tokens('max retries')} " in f" {index_tokens('maxRetries')} "
    assert index_tokens("CVEs") == index_tokens("CVE")
    assert f" {index_tokens('all URLs')} " in f" {index_tokens('getAllURLs')} "
    assert index_tokens("max_retries") == index_tokens("max-retries") == index_tokens("Max Retries")
    assert index_tokens("Café") == index_tokens("cafe\u0301") == index_tokens("CAFE")
    assert index_tokens("제7조의2") == index_tokens("제 7 조의 2")
    assert index_tokens("제7조") == index_tokens("Article 7")


@pytest.mark.parametrize(
    "words",
    [
        "retry retries retried retrying",
        "terminate terminated termination",
        "policy policies",
        "run running runs",
        "hotel hotels",
        "box boxes",
        "tax taxes taxed taxing",
        "day days",
        "key keys",
        "try tries tried trying",
        "file files filed filing",
        "move moves moved moving",
        "cap caps capped",
        "reimburse reimburses reimbursed",
        "child children",
        "person people",
        "pay pays paid paying",
        "analysis analyses",
    ],
)
def test_inflections_share_a_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    "words", ["hop hope", "fill file", "plan plane", "status state", "bus business", "thing think", "won win one"]
)
def test_other_words_keep_stems_of_their_own(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == len(words.split())


@pytest.mark.parametrize("word", ["x86", "v2", "css", "dns", "os", "utf8", "café", "전세", "r", "pi", "gas"])
def test_what_is_short_or_no_english_word_isn_t_bent(word: str) -> None:
    assert stem(word) == word


def test_a_question_keeps_what_it_is_about() -> None:
    terms = {
        term.surface for term in parse_question("집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘")
    }
    assert {"집주인", "전세금"} <= terms
    terms = parse_question("What is the retry policy of X?")
    assert {"retry", "policy"} <= {term.surface for term in terms} and "the" not in {t.surface for t in terms}


def test_a_question_of_stop_words_is_looked_for_by_them() -> None:
    assert [term.surface for term in parse_question("to be or not to be")] == [
        "to",
        "be",
        "or",
        "not",
    ]


@settings(max_examples=200)
@given(st.text(max_size=200))
@example("\ud800\udfff 전세\x00금 \ud800")
@example("\"' OR AND NEAR(* ^ : - + ) 1,,2..3 제 조 $ ₩")
def test_tokens_and_questions_are_total(text: str) -> None:
    for token in index_tokens(text).split(" "):
        assert token.isalnum() or token == "" or any(ch in "々ー" or not ch.isascii() for ch in token)
    for term in parse_question(text):
        assert term.forms and all(form.phrase.strip() for form in term.forms)


def test_syllables_that_the_documents_have_in_one_piece_are_one_word() -> None:
    question = "예초기를 쓸 수 있는 사람은?"
    assert [term.surface for term in parse_question(question)][:2] == ["예", "초기"]
    assert parse_question(question, written=lambda word: word == "예초기")[0].surface == "예초기"


@given(
    st.lists(
        st.sampled_from(["전세금", "retry", "법", "policy", "3", "漢字", "maxRetries"]),
        min_size=1,
        max_size=12,
    )
)
def test_a_word_of_a_text_is_a_run_of_its_tokens(words: list[str]) -> None:
    whole = f" {index_tokens(' '.join(words))} "
    for word in words:
        assert f" {index_tokens(word)} " in whole


def test_two_syllable_words_are_found_with_particles_and_inside_compounds(folder: Path) -> None:
    (folder / "a.md").write_text("전세금을 돌려받지 못했다.\n\n세금은 구청에 낸다.\n\n임대차 계약서를 쓴다.\n")
    assert ask(folder, "전세") == ["a.md:1"]
    assert ask(folder, "전세금은?")[0] == "a.md:1"
    assert ask(folder, "임대차계약서는 어떻게 쓰나요")[0] == "a.md:5"


def test_a_question_in_everyday_words_finds_the_article_of_the_law(folder: Path) -> None:
    (folder / "act.txt").write_text(ACT)
    assert ask(folder, "세입자가 계약 갱신을 몇 번 요구할 수 있나요")[0] == "act.txt:4"
    assert ask(folder, "분쟁은 어디에 신청하나요")[0] == "act.txt:11"


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("How long before a disk is full is an alarm raised?", {"disk-full.md"}),
        ("디스크가 가득 차면 어떤 로그를 지워도 되나요?", {"disk-full.md"}),
        ("데이터베이스 백업은 어떻게 하나요?", {"disk-full.md", "backup.md"}),
    ],
)
def test_questions_cross_languages(folder: Path, question: str, places: set[str]) -> None:
    (folder / "disk-full.md").write_text(
        "# Disk full\n\nAn alarm is raised when a disk is 90 % full.\n\nLogs older than a week may be deleted.\n"
    )
    (folder / "backup.md").write_text("# Backup\n\nThe database is backed up with pg_dump every night.\n")
    (folder / "lunch.md").write_text("# Lunch\n\nThe canteen opens at noon.\n")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        assert index.query(question).passages[0].path in places


def test_english_questions_find_paragraphs_and_rows(folder: Path) -> None:
    (folder / "payments.md").write_text(SERVICE)
    (folder / "lunch.md").write_text("# Lunch\n\nThe policy on lunch is to try the soup.\n")
    assert ask(folder, "What is the retry policy of the payment service?")[0] == "payments.md:5"
    assert ask(folder, "What is the default of max connections?")[0] == "payments.md:15"
    assert ask(folder, "default request timeout")[0] == "payments.md:16"


@pytest.mark.parametrize(
    "question",
    [
        "How do I configure a Kubernetes ingress controller with TLS?",
        "쿠버네티스 인그레스 컨트롤러 설정 방법 알려줘",
        "강남구 아파트 시세 조회",
        "best pizza recipe",
        "???",
        "",
    ],
)
def test_nothing_is_found_where_nothing_speaks_of_it(folder: Path, question: str) -> None:
    (folder / "act.txt").write_text(ACT)
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query(question)
    assert hits.passages == ()
    assert hits.searched == 1


def test_words_that_stand_nowhere_are_named(folder: Path) -> None:
    (folder / "payments.md").write_text(SERVICE)
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        hits = index.query("exponential backoff of failed calls in Zanzibar")
    assert hits.passages[0].line == 5
    assert hits.missing == ("Zanzibar",)


def test_passages_come_of_several_files_and_not_twice(folder: Path) -> None:
    for name in ("a", "b", "c"):
        text = "\n\n".join(f"Refunds of kind {name}{number} take {number} days to arrive." for number in range(8))
        (folder / f"{name}.md").write_text(text)
    (folder / "copy.md").write_text((folder / "a.md").read_text())
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        passages = index.query("refunds arrive", 6).passages
    assert len({passage.path for passage in passages}) >= 3
    assert len({passage.text for passage in passages}) == len(passages)


def test_a_long_passage_is_cited_where_the_words_stand(folder: Path) -> None:
    lines = [f"Line {number} is about nothing in particular." for number in range(1, 12)]
    lines[8] = "The escrow account is closed after ninety days."
    (folder / "long.txt").write_text("\n".join(lines))
    (folder / "wide.txt").write_text("filler words " * 400 + "the quokka sleeps " + "more filler " * 400)
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        best = index.query("When is the escrow account closed?").passages[0]
        assert (best.path, best.line) == ("long.txt", 9)
        wide = index.query("where does the quokka sleep").passages[0]
    assert "quokka" in wide.text and len(wide.text) <= MAX_PASSAGE_CHARS and wide.line == 1


@pytest.mark.long
@settings(max_examples=60)
@given(st.text(max_size=120))
@example('"a" OR NEAR("b')
@example("nul\x00 \ud800 전세")
def test_any_question_can_be_asked(tmp_path_factory: pytest.TempPathFactory, question: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "any" / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "act.txt").write_text(ACT + '\n"a" or b, nul\n')
    for passage in (hits := _query(folder, question)).passages:
        assert passage.path == "act.txt" and 1 <= passage.line <= 14
    assert hits.searched == 1


def _query(folder: Path, question: str) -> SearchHits:
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        return index.query(question)


def test_of_two_dated_notes_the_later_one_comes_first(folder: Path) -> None:
    texts = {
        "2026-03-03-meeting.md": "# Meeting 3 March\n\n- Priya orders tyres.\n- The next stocktake is on 27 June.\n",
        "2026-05-12-meeting.md": "# Meeting 12 May\n\n- Stocktake moved to 4 July because of an order.\n",
        "2026-06-01-meeting.md": "# Meeting 1 June\n\n- The alarm code is changed.\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = ask(folder, "When is the next stocktake?")
    assert found[:2] == ["2026-05-12-meeting.md:3", "2026-03-03-meeting.md:3"]


def test_a_list_under_a_heading_that_asks_for_it_is_quoted_whole(folder: Path) -> None:
    items = ["`var/log/audit`: evidence.", "`srv/data`: orders.", "Logs without `.gz`, which must stay as they are."]
    text = "# Runbook\n\n## What must never be touched\n\n" + "".join(f"- {item}\n" for item in items)
    (folder / "runbook.md").write_text(text, encoding="utf-8")
    with SearchIndex(folder.parent / "cache.db") as index:
        index.refresh(folder)
        (passage, *_) = index.query("Which logs must never be touched?", 8).passages
    assert all(item in passage.text for item in items) and passage.line == 5


def test_what_sounds_foreign_says_no_more_than_its_korean_words() -> None:
    def sounding(word: str) -> list[tuple[str, float]]:
        return [("eaten", 0.9)] if word in ("있는", "와이어가드") else []

    says = {term.surface: term.telling for term in parse_question("여기 있는 와이어가드", sounding)}
    assert says.get("있는", 0.0) < 0.5
    assert says["와이어가드"] == 1.0


def test_a_word_is_looked_for_in_the_other_language_too() -> None:
    (theft,) = [term for term in parse_question("도난 신고 기한은?") if term.surface == "도난"]
    assert "theft" in {form.phrase for form in theft.forms}
    (reported,) = [term for term in parse_question("when must theft be reported?") if term.surface == "theft"]
    assert "도난" in alike("theft") and "도난" in alike("thefts") and len(reported.forms) > 1
