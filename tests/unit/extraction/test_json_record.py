from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pipeline.extraction.json_record import JsonRecordReader
from pipeline.model.episode import Source
from pipeline.model.extraction import Cardinality, Extraction
from pipeline.timeline.precision import Precision
from tests.unit.extraction.conftest import REFERENCE, episode, facts


def read(content: Any) -> Extraction:
    return JsonRecordReader().read(episode(content, Source.json))


def kinds(found: Extraction) -> dict[str, str | None]:
    return {m.name: m.type for m in found.mentions}


def test_keys_become_relations_of_the_main_entity() -> None:
    found = read({"customer": "Brightwell Ltd", "account_manager": "Sofia Reyes", "city": "Leeds"})
    assert kinds(found) == {"Brightwell Ltd": "Organization", "Sofia Reyes": "Person", "Leeds": "Place"}
    assert facts(found) == {
        ("asserts", "Brightwell Ltd", "ACCOUNT_MANAGER", "Sofia Reyes"),
        ("asserts", "Brightwell Ltd", "CITY", "Leeds"),
    }
    assert found.statements[0].fact == "The account manager of Brightwell Ltd is Sofia Reyes"
    assert found.statements[0].cardinality is Cardinality.one
    assert found.statements[0].valid_at == REFERENCE


def test_numbers_flags_and_free_text_are_attributes() -> None:
    found = read(
        {"name": "Brightwell Ltd", "employees": 40, "active": True, "email": "a@b.example", "note": None}
    )
    assert found.mentions[0].attributes == {"employees": 40, "active": True, "email": "a@b.example"}
    assert found.statements == ()


def test_a_nested_record_with_a_name_is_an_entity_of_its_own() -> None:
    found = read({"order": "Order 77", "customer": {"name": "Ana Soto", "city": "Lima"}})
    assert facts(found) == {
        ("asserts", "Order 77", "CUSTOMER", "Ana Soto"),
        ("asserts", "Ana Soto", "CITY", "Lima"),
    }


def test_a_nested_record_without_a_name_is_part_of_its_parent() -> None:
    found = read({"name": "Ana Soto", "address": {"city": "Lima", "zip": 15001}})
    assert facts(found) == {("asserts", "Ana Soto", "ADDRESS_CITY", "Lima")}
    assert found.mentions[0].attributes == {"address_zip": 15001}


def test_a_list_gives_one_fact_an_item() -> None:
    found = read({"company": "Acme", "products": [{"name": "Anvil"}, {"name": "Rocket"}]})
    assert facts(found) == {
        ("asserts", "Acme", "PRODUCTS", "Anvil"),
        ("asserts", "Acme", "PRODUCTS", "Rocket"),
    }
    assert {s.cardinality for s in found.statements} == {Cardinality.many}


def test_camel_case_and_chinese_keys() -> None:
    assert read({"name": "Acme", "accountManager": "Sofia Reyes"}).statements[0].relation == "ACCOUNT_MANAGER"
    found = read({"客户": "极光科技", "客户经理": "张伟", "城市": "上海"})
    assert ("asserts", "极光科技", "城市", "上海") in facts(found)
    assert found.statements[0].fact == "极光科技的客户经理是张伟"


def test_dates_of_the_record_are_the_dates_of_its_facts() -> None:
    (s,) = read({"name": "Acme", "city": "Leeds", "valid_from": "2019", "valid_until": "2021-05"}).statements
    assert (s.valid_at, s.valid_at_precision) == (datetime(2019, 1, 1, tzinfo=UTC), Precision.year)
    assert (s.invalid_at, s.invalid_at_precision) == (datetime(2021, 5, 1, tzinfo=UTC), Precision.month)


def test_a_list_of_records_and_bare_values() -> None:
    assert kinds(read([{"name": "Ana Soto"}, {"name": "Ben Ode"}])) == {"Ana Soto": None, "Ben Ode": None}
    assert all(read(value).empty for value in (None, 3, "text", [], {}, [[1]], {"a": 1}))


def test_depth_is_bounded() -> None:
    deep: Any = {"name": "Bottom"}
    for _ in range(500):
        deep = {"inner": deep}
    assert read(deep).empty
