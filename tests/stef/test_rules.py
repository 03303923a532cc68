"""Application rules: the schema, its messages, what each part does, and which rules a sample never uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spider_compose.stef.rules import ApplicationRules, BenignFilter, RulesError, schema
from spider_compose.stef.specification.sql import read_sql

WHOLE: dict[str, Any] = {
    "dialect": "postgres",
    "lambda_min": 500,
    "column_mappings": {"region": ["A3"], "shop": "store_name"},
    "value_synonyms": {"male": ["M", "m"]},
    "metrics": {"revenue": "SUM(amount)"},
    "benign_filters": [{"column": "is_deleted", "operator": "=", "value": 0}, {"column": "tenant_*"}],
    "default_order": ["created_at DESC"],
    "disabled_rules": ["safety_limit"],
    "notes": ["Amounts are in cents."],
}


def test_round_trip_through_json() -> None:
    rules = ApplicationRules.from_dict(WHOLE)
    again = ApplicationRules.from_dict(json.loads(json.dumps(rules.as_dict())))
    assert again == rules and again.digest == rules.digest
    assert ApplicationRules.from_dict({}) == ApplicationRules()


def test_every_part_moves_the_digest() -> None:
    digests = [ApplicationRules.from_dict({key: value}).digest for key, value in WHOLE.items()]
    assert len({*digests, ApplicationRules().digest}) == len(WHOLE) + 1


def test_our_checker_agrees_with_json_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(WHOLE, schema())
    for document, _, _ in BROKEN:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, schema())


BROKEN = [
    ([], "$", "expected object"),
    ({"lamda_min": 5}, "$", "Did you mean 'lambda_min'"),
    ({"lambda_min": "5"}, "$.lambda_min", "expected integer"),
    ({"lambda_min": True}, "$.lambda_min", "expected integer"),
    ({"lambda_min": 0}, "$.lambda_min", "at least 1"),
    ({"dialect": ""}, "$.dialect", "empty"),
    ({"benign_filters": [{"column": "a"}, {"colum": "a"}]}, "$.benign_filters[1]", "Did you mean 'column'"),
    ({"benign_filters": [{"operator": "=="}]}, "$.benign_filters[0].operator", "Did you mean '='"),
    ({"column_mappings": {"the region": 3}}, "$.column_mappings['the region']", "expected string or array"),
    ({"metrics": {"revenue": ["SUM(a)"]}}, "$.metrics.revenue", "expected string"),
    ({"default_order": "created_at"}, "$.default_order", "expected array"),
    ({"column_mappings": {"": ["a"]}}, "$.column_mappings['']", "empty"),
    ({"value_synonyms": {"": ["a"]}}, "$.value_synonyms['']", "empty"),
    ({"metrics": {"": "SUM(a)"}}, "$.metrics['']", "empty"),
]


@pytest.mark.parametrize(("document", "path", "says"), BROKEN, ids=[p for _, p, _ in BROKEN])
def test_errors_name_the_path_and_the_nearest_name(document: Any, path: str, says: str) -> None:
    with pytest.raises(RulesError) as error:
        ApplicationRules.from_dict(document)
    assert error.value.path == path
    assert says in str(error.value)


def test_read_takes_what_callers_have(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(WHOLE))
    rules = ApplicationRules.from_dict(WHOLE)
    assert (
        ApplicationRules.read(path)
        == ApplicationRules.read(str(path))
        == ApplicationRules.read(WHOLE)
        == rules
    )
    assert ApplicationRules.read(None) == ApplicationRules()
    with pytest.raises(RulesError, match="cannot read"):
        ApplicationRules.read(tmp_path / "none.json")
    path.write_text("\ufeff" + json.dumps(WHOLE), encoding="utf-8")
    assert ApplicationRules.read(path) == rules
    for text in ("{", '{"lambda_min": ' + "9" * 5000 + "}", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"):
        path.write_text(text)
        with pytest.raises(RulesError, match=r"not JSON|unknown"):
            ApplicationRules.read(path)
    with pytest.raises(RulesError, match="null"):
        ApplicationRules.read("rules\0.json")
    with pytest.raises(RulesError, match="but got 5"):
        ApplicationRules.read(5)  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="expected string, but got 1"):
        ApplicationRules.read({"column_mappings": {1: ["a"]}})


def test_a_benign_column_without_a_word_covers_nothing() -> None:
    (item,) = read_sql("SELECT name FROM users WHERE is_deleted = 0").filters
    assert not BenignFilter("!").covers(item)
    assert BenignFilter("is_*").covers(item) and BenignFilter().covers(item)


def test_usage_counts_and_finds_what_never_fires() -> None:
    pytest.importorskip("spacy")
    from spider_compose.stef.usage import rule_usage

    rules = ApplicationRules.from_dict({**WHOLE, "dialect": "sqlite"})
    rows = [
        {
            "question": "How many shops are in the region 'Oslo'?",
            "sql": "SELECT COUNT(*) FROM s WHERE A3 = 'Oslo' AND is_deleted = 0",
        },
        {
            "question": "What is the revenue of male clients?",
            "sql": "SELECT SUM(amount) FROM c WHERE sex = 'M'",
        },
        {"question": "nonsense", "sql": ""},
    ]
    usage = rule_usage(rules, rows)
    assert {path for path, count in usage.items() if count} == {
        "$.column_mappings['region']", "$.value_synonyms['male']", "$.metrics['revenue']",
        "$.benign_filters[0]",
    }  # fmt: skip
    assert {path for path, count in usage.items() if not count} == {
        "$.column_mappings['shop']", "$.benign_filters[1]", "$.default_order[0]",
    }  # fmt: skip


@pytest.mark.parametrize(("text", "path"), [
    ('{"lambda_min": 5, "lambda_min": 6}', "$.lambda_min"),
    ('{"metrics": {"a b": "SUM(x)", "a b": "SUM(y)"}}', "$.metrics['a b']"),
    ('{"benign_filters": [{}, {"column": "a", "column": "b"}]}', "$.benign_filters[1].column"),
])  # fmt: skip
def test_a_name_twice_is_refused(text: str, path: str, tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text(text)
    with pytest.raises(RulesError) as caught:
        ApplicationRules.read(tmp_path / "rules.json")
    assert caught.value.path == path
