"""The repository of the leaderboard: a Space that shows reports, and takes new ones by pull request.

    app.py, requirements.txt, README.md    the app
    reports/*.json                         the reports it shows

Reports that others have added there stay when it is pushed again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from spider_compose.experiments.reports import no_report, read_reports, report_paths
from spider_compose.hub.space import copy_app


def write_leaderboard(reports: Path, folder: Path, spaces: Path | None = None) -> None:
    """Write the repository of the leaderboard.

    Args:
        reports: folder of the reports to begin with.
        folder: where to; it is there and empty.
        spaces: folder of the apps, if it is not the package's.

    Raises:
        ReportError: a report cannot be read, or there is none.
        HubError: the app is not there.
    """
    if not read_reports(reports):
        raise no_report(reports)
    copy_app("leaderboard", folder, spaces)
    (folder / "reports").mkdir(exist_ok=True)
    for name, path in report_paths(reports).items():
        shutil.copyfile(path, folder / "reports" / name)
