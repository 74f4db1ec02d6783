"""Names that Korean questions spell by their sound, kinds that they add to them, and values called by a part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables.test_numbers_and_codes import rows

RULERS = "ruler,country,years_in_office\nPark Chung Hee,Korea,18\nChun Doo Hwan,Korea,7\nLee Kuan Yew,Singapore,31\n"
PORTS = (
    "name,city,elevation\nGimpo International Airport,Seoul,58\nGimpo Bus Terminal,Seoul,40\nJeju Airport,Jeju,118\n"
)
SCHOOLS = "school,fee\nHartford College,9\nHarvard University,18\nHavana College,4\n"
SHOPS = "county,brand,shops\n" + "".join(
    f"{county},{brand},{n}\n"
    for county in ("Avon", "Bute", "Clare", "Down")
    for brand, n in (("dunkin_donuts", 7), ("starbucks", 3), ("costa", 1))
)
FLATS = "district,price\nPraga,10\nWola,12\nBemowo,9\nWola,14\nPraga,12\n"
STATES = "Name,STATE_FIPS,income\n" + "".join(f"State {n},{n},{300 - n}\n" for n in range(1, 49))
CASES = "district,cases_jan,dec\nColombo,90,2500\nKandy,30,1900\n"


@pytest.mark.parametrize(
    ("question", "expected"),
    [("박정희는 years in office가 몇이야?", 18.0), ("전두환의 years in office는?", 7.0)],
)
def test_a_name_of_several_words_is_found_by_its_sound(tmp_path: Path, question: str, expected: float) -> None:
    assert expected in rows(tmp_path, "rulers.csv", RULERS, question)[0]


def test_a_kind_is_added_to_a_name(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, "ports.csv", PORTS, "김포공항의 elevation은?")
    assert 58.0 in found


def test_of_two_names_the_one_with_the_same_consonants_is_meant(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, "schools.csv", SCHOOLS, "하버드대 fee가 얼마야?")
    assert 18.0 in found


@pytest.mark.parametrize("question", ["Dunkin' and Starbucks: how many shops does each of both have?"])
def test_a_part_of_a_name_stands_beside_another_one(tmp_path: Path, question: str) -> None:
    found = rows(tmp_path, "shops.csv", SHOPS, question)
    assert {row[0] for row in found} == {"dunkin_donuts", "starbucks"}


def test_a_city_is_no_district(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, "flats.csv", FLATS, "바르샤바 아파트의 평균 price는?")
    assert found[0] == 11.4


def test_how_many_states_is_no_state(tmp_path: Path) -> None:
    (found, *_) = rows(tmp_path, "states.csv", STATES, "which of the 48 states has the highest income?")
    assert "State 1" in found


def test_a_year_is_no_figure(tmp_path: Path) -> None:
    (found, *_) = rows(tmp_path, "cases.csv", CASES, "Kandy의 2021년 dec는?")
    assert 1900.0 in found
