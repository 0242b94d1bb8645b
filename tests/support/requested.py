"""Choose the results that a fixture builds: those that the tests of a run need."""

from __future__ import annotations

import pytest


def requested_names(request: pytest.FixtureRequest, fixture: str) -> set[str]:
    """The parameters `name` of the tests of this run that use that fixture."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    using = [item for item in items if fixture in item.fixturenames and hasattr(item, "callspec")]
    return {item.callspec.params["name"] for item in using if "name" in item.callspec.params}
