"""Quantities of several passages and tables, combined as a question asks."""

from __future__ import annotations

import pytest

from hitl_tui.teams.analysis.analysis_model import Passage
from hitl_tui.teams.analysis.analysis_report import brief
from hitl_tui.teams.analysis.computation import analyse

SHOP = """House blend: 18.40 euros per kg (until June 2025: 16.00 euros per kg).
Lena's hotel in Hamburg was 124 euros a night, two nights, for the coffee fair.
A hotel room may cost at most 110 euros per night.
Meals on business trips are reimbursed up to 28 euros per day.
We had 310 guests on the long night, 248 of them bought a ticket in advance.
The summer terrace opens on 15 June 2025; it was planned for 20 May 2025.
Monthly rent: 1,850 euros until the end of 2024. Since January 2025 the rent is 1,980 euros a month.
Price from 1 July 2024: 31.5 cents per kWh
Price from 1 July 2025: 34.65 cents per kWh
Consumption 2024: 18,200 kWh
Consumption 2025: 19,110 kWh
7 windows, triple glazed, £920 each
Fitting: £95 per window
Bathroom: 12 January 2026 to 6 February 2026
"""
CLUB = """1. 하계 수련회는 7월 19일에서 8월 2일로 연기한다. 숙소는 1박에 140,000원이고 두 채를 2박 빌린다.
2. 6월 5일 회식에는 14명이 참석했고 462,000원을 썼다.
3. 회식비는 1인당 30,000원을 넘을 수 없다.
4. 총회 참석자는 재적 48명 가운데 21명이었다.
5. 코치 강습료는 회당 80,000원이며 7월부터 회당 90,000원으로 오른다.
6. 대회 참가비는 복식 한 팀 40,000원이다. 대회에는 6팀이 나간다.
7. 인솔 교사 한 명이 맡는 학생은 최대 12명이다.
"""


def told(query: str, text: str) -> str:
    analysis = analyse(query, [Passage("notes.md", 2, 2 + text.count("\n"), text)])
    return brief(analysis).answer


@pytest.mark.parametrize(
    ("query", "head"),
    [
        ("How much does it cost to buy 35 kg of the house blend?", "Total: **EUR 644** (EUR 18.4 × 35 kg)"),
        ("Was Lena's hotel in Hamburg within the limit for hotel rooms?", "**No.** EUR 124 is EUR 14 above the limit"),
        ("How many percent of the guests on the long night bought a ticket in advance?", "Share: **80%** (248 ÷ 310"),
        ("How many days later than planned does the summer terrace open?", "**26 days later**"),
        ("How much more rent do we pay per month now than in 2024?", "Difference: **EUR 130**"),
        ("By how many percent did the price per kWh rise in July 2025?", "Change in percent: **10%**"),
        ("By how much did consumption rise from 2024 to 2025?", "Difference: **910 kWh**"),
        ("How long does the bathroom take, in days?", "**25 days**"),
    ],
)
def test_english_quantities(query: str, head: str) -> None:
    assert head in told(query, SHOP)


@pytest.mark.parametrize(
    ("query", "head"),
    [
        ("수련회 숙소비는 모두 얼마야?", "합계: **56만 원** (14만 원 × 2박 × 2채)"),
        ("총회 참석률은 몇 퍼센트였어?", "비율: **43.8%** (21명 ÷ 48명 × 100)"),
        ("코치 강습료는 몇 퍼센트 올랐어?", "변동률: **12.5%**"),
        ("대회 참가비는 총 얼마야?", "합계: **24만 원** (4만 원 × 6팀)"),
        ("수련회가 며칠 미뤄졌어?", "**14일 뒤**"),
        ("교사 한 명이 학생 14명을 맡아도 돼?", "**아니요.** 14명: 문서의 상한 12명보다 2명 많습니다"),
    ],
)
def test_korean_quantities(query: str, head: str) -> None:
    assert head in told(query, CLUB)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("How much does it cost to buy 35 litres of the house blend?", SHOP),
        ("By how much did the energy bill of the cinema rise?", SHOP),
        ("By how many percent did the price of gas per kWh rise in July 2025?", SHOP),
        ("What do 7 windows with fitting cost?", SHOP),
        ("연회비는 몇 퍼센트 올랐어?", CLUB),
    ],
)
def test_what_is_not_stated_is_not_computed(query: str, text: str) -> None:
    assert told(query, text) == ""


def test_where_it_is_not_clear_how_the_nearest_quantities_are_shown() -> None:
    (said,) = brief(analyse("How much is the house blend altogether?", [Passage("notes.md", 2, 20, SHOP)])).absent
    assert said.startswith("Not computed: it isn't clear how. The quantities that come nearest: EUR 18.4 (notes.md:2)")
