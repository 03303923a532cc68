"""Studies: blind, shuffled, the same rows for all, and the same again from the same inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.errors import OptionError, RatingError
from spider_compose.evaluation.ratings.predictions import Prediction, System
from spider_compose.evaluation.ratings.study import REFERENCE, Key, StudyOptions, make_study

Make = Callable[..., System]


@pytest.fixture
def systems(system: Make) -> list[System]:
    """Two systems that agree on every third of 30 rows."""
    rows = range(30)
    return [
        system("rgt", [f"same {row}" if row % 3 == 0 else f"rgt {row}" for row in rows]),
        system("abs", [f" same {row}" if row % 3 == 0 else f"abs {row}" for row in rows]),
    ]


def test_every_system_is_rated_once_on_every_row(systems: list[System]) -> None:
    study = make_study(systems, StudyOptions(items=12))
    rows = {item.id for item in study.key.items}
    assert len(rows) == study.num_rows == 12
    for name in study.key.systems:
        own = [item for item in study.key.items if name in item.systems]
        assert sorted(item.id for item in own) == sorted(rows)
        for item in own:
            said = next(one for one in systems if one.name == name).predictions[item.id]
            text = study.texts[item.code]
            assert (text.db_id, text.query, text.sentence) == (
                said.db_id,
                said.query,
                said.prediction.strip(),
            )


def test_the_same_sentence_is_rated_once(systems: list[System]) -> None:
    study = make_study(systems, StudyOptions(items=30))
    assert len(study.key.items) == 50
    assert sum(item.systems == ("rgt", "abs") for item in study.key.items) == 10


def test_orders_are_of_all_items_and_differ(systems: list[System]) -> None:
    key = make_study(systems, StudyOptions(items=10, repeats=4, raters=3)).key
    orders = [[item.code for item in key.order(rater)] for rater in (1, 2, 3)]
    assert all(sorted(order) == sorted(item.code for item in key.items) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    assert orders[0] != sorted(orders[0])


def test_a_repeat_comes_later_and_counts_for_nobody(systems: list[System]) -> None:
    study = make_study(systems, StudyOptions(items=10, repeats=6, reference=True))
    repeats = [item for item in study.key.items if item.repeats]
    assert len(repeats) == len({item.repeats for item in repeats}) == 6
    for rater in (1, 2, 3):
        order = [item.code for item in study.key.order(rater)]
        for item in repeats:
            assert item.systems == () and item.repeats is not None
            assert study.texts[item.code] == study.texts[item.repeats]
            assert order.index(item.repeats) < order.index(item.code)


def test_codes_tell_nothing(systems: list[System]) -> None:
    """Neither the system nor a repeat can be read off the order of the codes."""
    key = make_study(systems, StudyOptions(items=30, repeats=20)).key
    kinds = [item.systems or "again" for item in key.items]
    assert len({str(kind) for kind in kinds[:20]}) == len({str(kind) for kind in kinds[-20:]}) == 4


def test_references_join_as_a_system(systems: list[System]) -> None:
    study = make_study(systems, StudyOptions(items=5, reference=True))
    assert study.key.systems == ("rgt", "abs", REFERENCE)
    for item in study.key.items:
        if REFERENCE in item.systems:
            assert study.texts[item.code].sentence == systems[0].predictions[item.id].question


def test_same_inputs_same_study_and_every_input_moves_its_name(systems: list[System], system: Make) -> None:
    first = make_study(systems, StudyOptions(items=5))
    assert make_study(systems, StudyOptions(items=5)) == first
    others = [
        make_study(systems, StudyOptions(items=5, seed=2)),
        make_study(systems, StudyOptions(items=6)),
        make_study(systems, StudyOptions(items=5, raters=4)),
        make_study(systems[:1], StudyOptions(items=5)),
        make_study([system("rgt", ["x"] * 30), systems[1]], StudyOptions(items=5)),
    ]
    assert len({study.key.study for study in [first, *others]}) == 6
    assert {item.id for item in others[0].key.items} != {item.id for item in first.key.items}


def test_golden(golden: Callable[[str, object], None], systems: list[System]) -> None:
    """The same in every process and on every Python: a study of old can be made again."""
    key = make_study(systems, StudyOptions(items=5, repeats=3, reference=True)).key
    golden("ratings/key.json", key.to_dict())
    orders = {f"rater {rater}": " ".join(item.code for item in key.order(rater)) for rater in (1, 2)}
    golden("ratings/orders.json", orders)


def test_rows_that_a_system_lacks_are_counted(system: Make) -> None:
    rows = ["a"] * 8
    study = make_study(
        [system("one", rows), System("two", dict(list(system("two", rows).predictions.items())[:5]))]
    )
    assert (study.num_rows, study.not_shared) == (5, 3)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"name": "rgt"}, OptionError, "'rgt' stands twice"),
        ({"name": "reference"}, OptionError, "'reference' stands twice"),
        ({"first": 100}, RatingError, "no row of the test data"),
        ({"query": "SELECT 2"}, RatingError, "'r0' is not the same for rgt and abs"),
        ({"repeats": 3}, OptionError, "at most 1, half of the items, but got 3"),
    ],
)
def test_refusals(system: Make, change: dict[str, Any], error: type[Exception], says: str) -> None:
    other = system(change.get("name", "abs"), ["b"], first=change.get("first", 0))
    if "query" in change:
        other = System("abs", {"r0": Prediction("r0", "harbour", change["query"], "question 0", "b")})
    options = StudyOptions(reference=True, repeats=change.get("repeats", 0))
    with pytest.raises(error, match=says):
        make_study([system("rgt", ["a", "aa"]), other], options)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        *(({name: value}, f"`{name}` must be [01] or more, but got")
          for name, value in (("items", 0), ("raters", 0), ("repeats", -1))),
        *(({name: value}, f"`{name}` must be a whole number, but got")
          for name in ("items", "seed", "raters", "repeats") for value in (2.5, "2", True, None, [1])),
        ({"raters": 1001}, "`raters` must be 1000 at most, but got 1001"),
        *(({"reference": value}, "`reference` must be true or false, but got") for value in (1, "no", None)),
    ],
)  # fmt: skip
def test_options_have_ranges(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionError, match=says):
        StudyOptions(**wrong)


def test_key_round_trips_without_any_text(systems: list[System]) -> None:
    study = make_study(systems, StudyOptions(items=10, repeats=3, reference=True))
    written = json.dumps(study.key.to_dict())
    assert Key.from_dict(json.loads(written), "key.json") == study.key
    assert not [text for text in study.texts.values() if json.dumps(text.sentence) in written]
    assert "SELECT" not in written


def test_a_system_says_one_sentence_of_a_row(systems: list[System]) -> None:
    """A second one would take the place of the first, and its ratings would be lost."""
    content = make_study(systems, StudyOptions(items=3)).key.to_dict()
    for row in content["items"]:
        row.update(id="r1", systems=["rgt"])
    with pytest.raises(RatingError, match="item 2: it is the second sentence of 'rgt' for 'r1'"):
        Key.from_dict(content, "key.json")


def _damage(content: dict[str, Any], path: str, value: object) -> object:
    *parents, last = path.split(".")
    inner: Any = content
    for name in parents:
        inner = inner[int(name)] if name.isdecimal() else inner[name]
    at = int(last) if isinstance(inner, list) else last
    if value is None:
        del inner[at]
    else:
        inner[at] = value
    return content


DEEP: list[Any] = []  # as deep as JSON is read, and deeper than it can be shown
for _ in range(900):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("format", 2, "is no key of format 1"),
        ("study", None, "is no key"),
        ("study", 7, "damaged key: `study` must be a text"),
        ("scale", [1, 7], r"damaged key: `scale` must be \[1, 5\], but got \[1, 7\]"),
        ("scale", None, "damaged key: `scale`"),
        ("systems", "rgt", "damaged key: `systems` must be a list of texts"),
        ("systems", ["rgt", "rgt"], "damaged key: `systems` must name each once"),
        ("systems", [["rgt"]], "damaged key: `systems` must be a list of texts"),
        ("options", [], "damaged key: `options` must hold"),
        ("options.raters", None, "damaged key: `options` must hold"),
        ("options.raters", 2.5, "damaged key: `raters` must be a whole number"),
        ("options.raters", 10**9, "damaged key: `raters` must be 1000 at most"),
        ("options.seed", [1], "damaged key: `seed` must be a whole number"),
        ("options.reference", "no", "damaged key: `reference` must be true or false"),
        ("options", None, "damaged key"),
        ("options.items", 0, "damaged key"),
        ("options.colour", "red", "damaged key"),
        ("items", 5, "damaged key"),
        ("items.0.code", None, "damaged key"),
        ("items.0", "i1", "damaged key: `items` must be a list of objects"),
        *(
            (f"items.1.{name}", value, f"damaged key: items, item 2: `{name}` must be a text")
            for name in ("code", "id")
            for value in (["r1"], 1, {}, "")
        ),
        *(
            ("items.1.systems", value, "damaged key: items, item 2: `systems` must be a list of texts")
            for value in (None, "rgt", [1], [["rgt"]], {"rgt": 1})
        ),
        ("items.1.systems", ["rgt", "rgt"], "damaged key: items, item 2: `systems` must name each once"),
        ("items.1.repeats", ["i1"], "damaged key: items, item 2: `repeats` must be a text"),
        ("items.1.code", "i1", "damaged key: items, item 2: the code 'i1' stands twice"),
        ("items.0.systems", ["t5"], "damaged key: items, item 1: 't5' is none of the systems"),
        ("items.0.repeats", "i99", "damaged key: .*i99"),
        ("items.0.id", DEEP, "damaged key: items, item 1: `id` must be a text"),
    ],
)
def test_damaged_keys(systems: list[System], path: str, value: object, says: str) -> None:
    content = make_study(systems, StudyOptions(items=3)).key.to_dict()
    with pytest.raises(RatingError, match=rf"key\.json is .*{says.removeprefix('is ')}"):
        Key.from_dict(_damage(content, path, value), "key.json")
    with pytest.raises(RatingError, match="is no key"):
        Key.from_dict([content], "key.json")
