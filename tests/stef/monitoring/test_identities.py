"""Identities in sorted arrays: what was put in is found, at any size."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spider_compose.stef.monitoring import identities
from spider_compose.stef.monitoring.identities import Identities

# Digests that end in zeros are where numpy's texts could go wrong.
DIGESTS = st.binary(min_size=16, max_size=16) | st.binary(max_size=3).map(lambda b: b.ljust(16, b"\0"))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(DIGESTS, DIGESTS, max_size=30), st.lists(DIGESTS, max_size=5))
def test_what_was_put_in_is_found(rows: dict[bytes, bytes], others: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identities, "_RECENT", 7)
        found = Identities()
        for identity, content in rows.items():
            found.add(identity, content)
    assert len(found) == len(rows)
    assert {identity: found.get(identity) for identity in rows} == rows
    assert all(found.get(other) is None for other in others if other not in rows)
