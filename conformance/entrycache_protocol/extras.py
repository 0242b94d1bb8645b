"""What a user types to add an extra of the package: what works for the package as it was installed here."""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution, requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from entrycache_protocol.errors import MissingPrerequisite


def missing(what: str, package: str, extra: str) -> MissingPrerequisite:
    """The error of `what`, a command or an engine, that lacks a Python package of an extra."""
    return MissingPrerequisite(f"{what} needs the Python package {package}: {install(extra)}")


def install(extra: str) -> str:
    """The command line that adds an extra to this installation."""
    source = _source()
    told = shlex.quote(f"{source['path']}[{extra}]" if source else f"entrycache[{extra}]")
    if source and not Path(source["path"]).exists():  # as in an image that does not keep what it was made from
        source, told = None, " ".join(map(shlex.quote, _packages(extra)))
    if "pipx" in Path(sys.prefix).parts:
        return f"pipx install --force {told}"
    if Path(sys.prefix).parts[-3:-1] == ("uv", "tools"):
        return f"uv tool install --force {told}"
    if re.search(r"/uv/(archive|environments)-v\d+/", sys.prefix):  # of uvx, which makes one a run
        return f"uvx --from {told} entrycache"
    pip = "pip install" if find_spec("pip") is not None else f"uv pip install --python {shlex.quote(sys.executable)}"
    return f"{pip} {'-e ' if source and source['editable'] else ''}{told}"


def _packages(extra: str) -> list[str]:
    """What an extra brings, and the extras that it names."""
    found = []
    for line in requires("entrycache") or ():
        package, _, condition = line.partition(";")
        if re.search(rf"""extra == ['"]{re.escape(extra)}['"]""", condition) is not None:
            own = re.match(r"entrycache\[(.+)\]", package)
            found += (
                [package.strip()] if own is None else [one for name in own[1].split(",") for one in _packages(name)]
            )
    return found


def _source() -> dict[str, Any] | None:
    """The wheel or the folder that this package was installed from (PEP 610); None: it came from an index."""
    try:
        text = distribution("entrycache").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    told = json.loads(text) if text else {}
    url = urlsplit(told.get("url", ""))
    if url.scheme != "file":
        return None
    return {"path": unquote(url.path), "editable": told.get("dir_info", {}).get("editable", False)}
