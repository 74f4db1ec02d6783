"""Figures that a question makes of two columns itself: products, quotients, differences and sums of each row."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import shared

from hitl_tui.tables.ask import Answer, again, ask
from hitl_tui.tables.files import table_files
from hitl_tui.tables.query import Formula, TableQuery
from hitl_tui.teams.analysis.table_answer import brief

ORDERS = """order_id,region,product,quantity,price
1,North,Widget,10,2.50
2,South,Gadget,3,19.99
3,North,Gadget,2,19.99
4,East,Widget,25,2.40
5,South,Widget,8,2.50
"""
STOCK = (
    "주문번호,지점,품목,수량,단가\n1,강남,볼펜,10,2500\n2,홍대,노트,3,1990\n3,강남,노트,2,1990\n4,홍대,볼펜,25,2400\n"
)
DEALS = "product,units,price,cost,tax\nA,10,50,30.5,5\nB,4,80,90,\nC,0,20,12,2\n"


def folder(at: Path, **tables: str) -> Path:
    for name, content in tables.items():
        (at / f"{name}.csv").write_text(content, encoding="utf-8")
    return at


def asked(at: Path, question: str, before: TableQuery | None = None) -> Answer:
    return ask(question, table_files(shared(at)), before)


def figures(answer: Answer) -> dict[str, float]:
    assert answer.result is not None, answer
    return {str(row[0]): round(row[1], 4) for row in answer.result.rows}


@pytest.mark.parametrize(
    "question",
    [
        "What was the revenue (price times quantity) per region in orders.csv?",
        "What was the revenue, price * quantity, per region in orders.csv?",
        "total of price times quantity by region",
        "sum of quantity × price by region",
        "the product of price and quantity by region in orders.csv",
        "revenue = price multiplied by the quantity for each region in orders.csv",
        "orders.csv에서 지역별 가격 곱하기 수량 합계",
        "orders.csv에서 지역별 가격과 수량을 곱한 금액의 합계",
        "지역별 매출(가격 × 수량)은 orders.csv에서 얼마야?",
    ],
)
def test_a_product_of_two_columns_for_each_of_something(tmp_path: Path, question: str) -> None:
    answer = asked(folder(tmp_path, orders=ORDERS), question)
    assert figures(answer) == {"North": 64.98, "South": 79.97, "East": 60.0}
    assert '"price" * "quantity"' in answer.sql or '"quantity" * "price"' in answer.sql


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("주문.csv에서 지점별 단가 × 수량 합계", {"강남": 28980, "홍대": 65970}),
        ("품목별로 수량과 단가를 곱한 합계", {"볼펜": 85000, "노트": 9950}),
        ("수량에 단가를 곱한 금액이 가장 큰 지점은?", {"홍대": 65970}),
        ("주문.csv에서 지점별 (단가×수량) 합계를 구해줘", {"강남": 28980, "홍대": 65970}),
    ],
)
def test_a_product_in_korean(tmp_path: Path, question: str, expected: dict[str, float]) -> None:
    assert figures(asked(folder(tmp_path, 주문=STOCK), question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("profit = price minus cost by product in deals.csv", {"A": 19.5, "B": -10, "C": 8}),
        ("deals.csv에서 product별로 가격에서 원가를 뺀 이익", {"A": 19.5, "B": -10, "C": 8}),
        ("price per unit as price divided by units for each product in deals.csv", {"A": 5, "B": 20, "C": None}),
        ("deals.csv에서 product별로 cost를 units로 나눈 값", {"A": 3.05, "B": 22.5, "C": None}),
        ("total of price plus tax by product in deals.csv", {"A": 55, "B": 80, "C": 22}),
    ],
)
def test_other_figures_of_two_columns(tmp_path: Path, question: str, expected: dict[str, float | None]) -> None:
    answer = asked(folder(tmp_path, deals=DEALS), question)
    assert answer.result is not None, answer
    assert dict(answer.result.rows) == expected


def test_which_has_most_of_it_and_which_rows_are_beyond_a_bound(tmp_path: Path) -> None:
    folder(tmp_path, orders=ORDERS, deals=DEALS)
    assert figures(asked(tmp_path, "Which region has the highest price times quantity?")) == {"South": 79.97}
    most = asked(tmp_path, "Which product has the highest price minus cost in deals.csv?")
    assert most.result is not None and most.result.rows[0][:2] == ("A", 19.5)
    assert "**3**" in brief(asked(tmp_path, "How many orders have a price times quantity over 30?"), "en").answer


def test_the_columns_may_be_of_two_tables(tmp_path: Path) -> None:
    products = "product_id,name,unit_price\n1,Widget,2.5\n2,Gadget,20\n3,Bolt,1\n"
    sales = "sale_id,product_id,region,quantity\n1,1,North,10\n2,2,North,2\n3,2,South,3\n4,3,South,7\n"
    folder(tmp_path, products=products, sales=sales)
    answer = asked(tmp_path, "total of quantity times unit price by region")
    assert figures(answer) == {"North": 65, "South": 67}


@pytest.mark.parametrize(
    "question",
    [
        "total of price times 2 in orders.csv",
        "total of price times discount in orders.csv",
        "total of quantity * price * 0.9 in orders.csv",
        "total of price times quantity minus order id in orders.csv",
        "orders.csv에서 가격 곱하기 할인율 합계",
    ],
)
def test_what_it_cannot_work_out_is_not_dropped(tmp_path: Path, question: str) -> None:
    answer = asked(folder(tmp_path, orders=ORDERS), question)
    assert answer.result is None
    assert "Not answered" in " ".join(brief(answer, "en").absent)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many times was the price over 10 in orders.csv?", "**2**"),
        ("which region has a price less than 2.45?", "East"),
        ("how many orders have a quantity less than 5?", "**2**"),
    ],
)
def test_other_uses_of_these_words_are_no_arithmetic(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in brief(asked(folder(tmp_path, orders=ORDERS), question), "en").answer


def test_a_question_goes_on_from_one_of_a_formula(tmp_path: Path) -> None:
    folder(tmp_path, orders=ORDERS)
    first = asked(tmp_path, "total of price times quantity in the North in orders.csv")
    assert first.mapped is not None
    stored = TableQuery.from_dict(first.mapped.query.to_dict())
    assert stored == first.mapped.query
    assert "**64.98**" in brief(again(stored, table_files(tmp_path)), "en").answer
    assert "**79.97**" in brief(asked(tmp_path, "and in the South?", stored), "en").answer


def test_a_sum_of_two_columns_as_it_was_stored_before() -> None:
    old = {"source": "a.csv", "aggregate": "sum", "measure": "men", "other": "women"}
    query = TableQuery.from_dict(old)
    assert (query.measure, query.formula) == ("men + women", Formula("men", "+", "women"))
    assert query.names == {"men", "women"}


@pytest.mark.parametrize(
    ("question", "language", "reading"),
    [
        ("Which region has the highest revenue in orders.csv?", "en", 'Reading "revenue" as price: '),
        ("orders.csv에서 매출이 가장 높은 지역은?", "ko", "→ price)"),
    ],
)
def test_a_word_that_only_may_mean_a_column_is_told(tmp_path: Path, question: str, language: str, reading: str) -> None:
    assert reading in brief(asked(folder(tmp_path, orders=ORDERS), question), language).answer
    named = brief(asked(tmp_path, "Which region has the highest price in orders.csv?"), "en").answer
    assert "Reading" not in named
