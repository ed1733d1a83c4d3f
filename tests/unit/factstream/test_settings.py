"""Settings: named errors, no unknown variables, and a documented table that is the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from factstream.models import build_budgets, build_prices
from factstream.settings import Settings, load_settings, settings_table
from pipeline.errors import SettingError
from streams.metrics import CATALOGUE

OPERATIONS = (Path(__file__).parents[3] / "docs" / "operations.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FACTSTREAM_GATEWAY_PORT", "eighty"),
        ("FACTSTREAM_GATEWAY_PORT", "99999"),
        ("FACTSTREAM_EMBEDDER", "magic"),
        ("FACTSTREAM_PARTITIONS", "0"),
        ("FACTSTREAM_API_KEYS", '{"abc": 1}'),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=name):
        load_settings()


def test_an_unknown_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSTREAM_GATEWAY_PROT", "8080")
    with pytest.raises(SettingError, match="FACTSTREAM_GATEWAY_PROT"):
        load_settings()


def test_the_command_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSTREAM_GATEWAY_PORT", "9000")
    assert load_settings().gateway_port == 9000
    assert load_settings({"gateway_port": 9001}).gateway_port == 9001


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSTREAM_MODEL_KEY", "sk-very-secret")
    assert "very-secret" not in repr(load_settings())


def test_the_documented_table_is_the_real_one() -> None:
    assert settings_table() in OPERATIONS
    assert len(Settings.model_fields) == settings_table().count("| `FACTSTREAM_")


def test_every_metric_is_documented() -> None:
    for metric in CATALOGUE:
        assert f"| `factstream_{metric.name}` | {metric.kind} | {metric.unit} |" in OPERATIONS


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"prices": {"gpt-4.1": {"prompt": "much"}}}, "FACTSTREAM_PRICES: gpt-4.1.prompt"),
        ({"prices": {"gpt-4.1": {"prompt": 2}}, "small_model": "tiny"}, "no price for tiny"),
        (
            {"prices": {"gpt-4.1": {"prompt": 2}}, "embedder": "openai"},
            "no price for text-embedding-3-small",
        ),
        ({"daily_budget": "lots"}, "FACTSTREAM_DAILY_BUDGET.*lots"),
        ({"group_budgets": {"acme": "1 euro"}}, "FACTSTREAM_GROUP_BUDGETS.*1 euro"),
        ({"daily_budget": "5 cost"}, "needs FACTSTREAM_PRICES"),
    ],
)
def test_prices_and_budgets_that_cannot_be_kept_stop_the_start(given: dict[str, object], told: str) -> None:
    settings = load_settings({"extractor": "model", **given})
    build = build_prices if "prices" in given else build_budgets
    with pytest.raises(SettingError, match=told):
        build(settings)


def test_prices_and_budgets_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSTREAM_PRICES", '{"gpt-4.1": {"prompt": 2, "cached": 0.5, "completion": 8}}')
    monkeypatch.setenv("FACTSTREAM_DAILY_BUDGET", "2.50 cost")
    monkeypatch.setenv("FACTSTREAM_GROUP_BUDGETS", '{"acme": "500000 tokens", "lab": null}')
    settings = load_settings({"extractor": "model"})
    assert build_prices(settings)
    budgets = build_budgets(settings)
    assert [str(budgets.of(group)) for group in ("acme", "lab", "rest")] == [
        "500000 tokens",
        "None",
        "2.50 cost",
    ]
