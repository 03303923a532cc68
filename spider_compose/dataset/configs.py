"""The configs of the dataset: what each holds, and which one `load_dataset` takes when none is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from spider_compose.composition.build import BuildOptions
from spider_compose.errors import choose

DEFAULT_CONFIG = "compose"

PARTS = ("train", "validation")
"""Splits of a source."""

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class ConfigSpec:
    """One config.

    Attributes:
        name: second argument of `load_dataset`.
        recipe: how its rows are made: "compose", "no_overlap", "alignment", "source", or a split of
            `spider_compose.splits.three_way.SPLITS`.
        splits: in the order they are written.
        description: one line, for the card and `load_dataset_builder`.
        own: build options that the config stands for; an option given by hand replaces them.
    """

    name: str
    recipe: str
    splits: tuple[str, ...]
    description: str
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Which columns it has, a key of `features.COLUMNS`."""
        return "alignment" if self.recipe == "alignment" else "pairs"

    def extra(self, of_source: Sequence[str]) -> tuple[str, ...]:
        """The columns beside those of its kind.

        Args:
            of_source: `Source.extra`. What speaks of a whole pair stands on rows that are whole pairs.
        """
        return () if self.recipe in ("compose", "no_overlap") else tuple(of_source)

    def build_options(self, given: Mapping[str, Any] = MappingProxyType({})) -> BuildOptions:
        """The options of its build.

        Args:
            given: options given by hand.

        Raises:
            OptionError: a value outside its range.
        """
        return BuildOptions(**{**self.own, **given})


_PAPER = {"aligner": "keyword", "resolve_aliases": False}

CONFIGS: dict[str, ConfigSpec] = {
    spec.name: spec
    for spec in (
        ConfigSpec(
            "compose",
            "compose",
            SPLITS,
            "pairs for every non-empty subset of a query's clauses, aligned by segmentation, tables named in "
            "clauses without FROM",
            {"aligner": "segment", "resolve_aliases": True},
        ),
        ConfigSpec(
            "compose_no_overlap",
            "no_overlap",
            SPLITS,
            "`compose` without the training pairs that hold any clause of its test split (experiment 2)",
            {"aligner": "segment", "resolve_aliases": True},
        ),
        ConfigSpec(
            "compose_paper",
            "compose",
            SPLITS,
            "pairs for every non-empty subset of a query's clauses, aligned by the paper's keyword rules",
            _PAPER,
        ),
        ConfigSpec(
            "alignment",
            "alignment",
            PARTS,
            "one row per source pair: tokens, tags, clauses, character spans and fragments",
        ),
        ConfigSpec("spider", "source", PARTS, "the source pairs, unchanged"),
        ConfigSpec(
            "spider_template",
            "template",
            SPLITS,
            "source training pairs split by query template: no template is in two parts",
        ),
        ConfigSpec(
            "spider_tmcd",
            "tmcd",
            SPLITS,
            "source training pairs split for much compound divergence; every atom occurs in training (TMCD)",
        ),
        ConfigSpec(
            "spider_length",
            "length",
            SPLITS,
            "source training pairs split by length: the longest SQL is held out",
        ),
        ConfigSpec("spider_random", "random", SPLITS, "source training pairs split at random, by row"),
    )
}


def composed_config(given: Mapping[str, Any] = MappingProxyType({})) -> tuple[ConfigSpec, BuildOptions]:
    """The config of recombined pairs that these options make, and the options in full.

    Options that no config stands for give a config of another name, such as `compose_keyword_aliases`.

    Args:
        given: build options given by hand.

    Raises:
        OptionError: a value outside its range.
    """
    composed = [spec for spec in CONFIGS.values() if spec.recipe == "compose"]
    aligner = given.get("aligner", CONFIGS[DEFAULT_CONFIG].own["aligner"])
    for spec in composed:
        if spec.own["aligner"] == aligner:
            options = spec.build_options(given)
            if all(getattr(options, name) == value for name, value in spec.own.items()):
                return spec, options
            return _unnamed(options), options
    options = BuildOptions(**given)
    return _unnamed(options), options


def further_configs(asked: str | None, spec: ConfigSpec, given: Mapping[str, Any]) -> list[ConfigSpec]:
    """The configs that a folder holds besides those of every build: its pairs, their alignments, the source.

    Args:
        asked: "all", "none" or names between commas; None takes all, or none where the aligner or its aliases
            were chosen by hand, so that the pairs stand alone.
        spec: the config of the build's pairs.
        given: build options given by hand.

    Raises:
        OptionError: no such config.
    """
    asked = asked or ("none" if {"aligner", "resolve_aliases"} & given.keys() else "all")
    others = [name for name in CONFIGS if name not in (spec.name, "alignment", "spider")]
    if asked in ("all", "none"):
        return [CONFIGS[name] for name in others] if asked == "all" else []
    known = ["all", "none", *CONFIGS]
    names = dict.fromkeys(choose("configs", name.strip(), known) for name in asked.split(","))
    return [CONFIGS[name] for name in names if name in others]


def _unnamed(options: BuildOptions) -> ConfigSpec:
    aliases = "_aliases" if not options.resolve_aliases else "_tables"
    return ConfigSpec(
        f"compose_{options.aligner}{aliases}",
        "compose",
        SPLITS,
        f"pairs for every non-empty subset of a query's clauses, aligned by the aligner {options.aligner!r}, "
        + ("tables named in clauses without FROM" if options.resolve_aliases else "aliases as they stand"),
        {"aligner": options.aligner, "resolve_aliases": options.resolve_aliases},
    )
