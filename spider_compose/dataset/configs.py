"""The configs of the dataset: what each holds, and which one `load_dataset` takes when none is named."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_CONFIG = "compose_paper"


@dataclass(frozen=True)
class ConfigSpec:
    """One config.

    Attributes:
        name: second argument of `load_dataset`.
        kind: which rows it holds, a key of `features.COLUMNS`: "pairs", "alignment" or "spider".
        splits: in the order they are written.
        description: one line, for the card and `load_dataset_builder`.
        aligner: the aligner it stands for, which the option `aligner` may replace; None where it has none
            of its own and takes the default of `BuildOptions`.
    """

    name: str
    kind: str
    splits: tuple[str, ...]
    description: str
    aligner: str | None = None


CONFIGS: dict[str, ConfigSpec] = {
    spec.name: spec
    for spec in (
        ConfigSpec(
            "compose_paper",
            "pairs",
            ("train", "validation", "test"),
            "pairs for every non-empty subset of a query's clauses, aligned by the paper's keyword rules",
            aligner="keyword",
        ),
        ConfigSpec(
            "alignment",
            "alignment",
            ("train", "validation"),
            "one row per source pair: tokens, tags, clauses, character spans and fragments",
        ),
        ConfigSpec("spider", "spider", ("train", "validation"), "the source pairs, unchanged"),
    )
}


def pair_config(aligner: str) -> ConfigSpec:
    """The config of recombined pairs that `aligner` makes; one without a config of its own gets a name."""
    for spec in CONFIGS.values():
        if spec.kind == "pairs" and spec.aligner == aligner:
            return spec
    model = CONFIGS[DEFAULT_CONFIG]
    return ConfigSpec(
        f"compose_{aligner}",
        model.kind,
        model.splits,
        f"pairs for every non-empty subset of a query's clauses, aligned by the aligner {aligner!r}",
        aligner,
    )
