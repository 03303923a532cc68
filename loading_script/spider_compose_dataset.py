"""The dataset script for datasets 3.x, and a program that writes the Hub folder with any version.

As a script (datasets up to 3.6 asks for consent to run code by `trust_remote_code=True`):

    load_dataset("loading_script/spider_compose_dataset.py", "compose_paper", source="bundled",
                 trust_remote_code=True)

As a program:

    python loading_script/spider_compose_dataset.py --source bundled --output FOLDER

after which `load_dataset("FOLDER")` reads the folder with every version of datasets.
"""

import sys

import spider_compose.dataset.builder


class SpiderComposeDataset(spider_compose.dataset.builder.SpiderCompose):
    """The builder of the package, under the name of this script."""


def main(arguments: list[str] | None = None) -> int:
    """Write the Hub folder; print its path.

    Args:
        arguments: the command line, `sys.argv` by default.

    Returns:
        0, or 2 on bad input.
    """
    import argparse

    from spider_compose.composition.build import BuildOptions
    from spider_compose.dataset.configs import composed_config, further_configs
    from spider_compose.dataset.hub_folder import check_target, write_hub_folder
    from spider_compose.dataset.tables import Tables
    from spider_compose.errors import SpiderComposeError
    from spider_compose.source import read_source

    parser = argparse.ArgumentParser(
        description="Build SpiderCompose and write it as a folder for load_dataset."
    )
    parser.add_argument("--source", default="bundled", help="bundled, a folder, or owner/name on the Hub")
    parser.add_argument("--revision", help="commit, branch or tag of a source on the Hub")
    parser.add_argument("--schemas", help="file in the format of Spider's tables.json")
    parser.add_argument("--aligner", help="default: segment; keyword is the paper's")
    parser.add_argument(
        "--deduplicate", default=BuildOptions.deduplicate, help="train, all or none; default: %(default)s"
    )
    parser.add_argument("--dialect", default=BuildOptions.dialect, help="SQL dialect; default: %(default)s")
    parser.add_argument(
        "--resolve-aliases",
        action=argparse.BooleanOptionalAction,
        help="table names instead of aliases in clauses without FROM; default: yes, with keyword no",
    )
    parser.add_argument("--strict", action="store_true", help="stop at the first row that cannot be used")
    parser.add_argument("--configs", help="further configs: all, none, or names between commas")
    parser.add_argument("--output", required=True, help="folder to write")
    parser.add_argument("--force", action="store_true", help="replace whatever the folder holds")
    chosen = parser.parse_args(arguments)
    try:
        names = ("aligner", "dialect", "deduplicate", "resolve_aliases", "strict")
        given = {name: value for name in names if (value := getattr(chosen, name)) is not None}
        spec, _ = composed_config(given)
        further = further_configs(chosen.configs, spec, given)
        target = check_target(chosen.output, force=chosen.force)  # before the work, not after it
        source = read_source(
            chosen.source,
            revision=chosen.revision,
            dialect=chosen.dialect,
            strict=chosen.strict,
            schemas=chosen.schemas,
        )
        tables = Tables(source, given, progress=True)
        built = tables.build(spec)
        also, without = tables.further(further, chosen.configs)
        folder = write_hub_folder(built, target, also=also, force=chosen.force)
    except SpiderComposeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name, reason in without.items():
        print(f"not written: {name}: {reason}", file=sys.stderr)
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
