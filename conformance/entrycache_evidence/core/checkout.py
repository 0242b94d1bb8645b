"""Locate the files that only a source checkout holds: the folders `spec/`, `tests/` and `docs/`.

The package runs from a source checkout or from an installed wheel. `locate_checkout` tells the two apart. The texts of
the rules are in both, since a wheel carries a copy of `spec/`; `locate_spec_folder` returns the right one. Committed
results, such as `docs/evidence.json`, exist in a checkout only: the functions about files of `docs/` return None
without one. The module imports nothing heavy, because light commands need the paths too.
"""

import json
from pathlib import Path
from typing import Any, Final

import entrycache_conformance
from entrycache_protocol import errors, files

PACKAGE: Final = Path(entrycache_conformance.__file__).parent


def locate_checkout() -> Path | None:
    """Return the source checkout that this package runs from, or None in an installed wheel."""
    root = PACKAGE.parent.parent
    return root if (root / "spec" / "README.md").is_file() and (root / "tests").is_dir() else None


def locate_spec_folder() -> Path:
    """Return the folder of the rules' texts: in a checkout, or the copy in the package.

    Raises:
        UsageError: neither is there.
    """
    root = locate_checkout()
    folder = PACKAGE / "spec" if root is None else root / "spec"
    if not folder.is_dir():
        raise errors.UsageError(
            "the texts of the rules are not there: no folder `spec` in a checkout or in the package"
        )
    return folder


def locate_docs_file(name: str) -> Path | None:
    """Return the path of a file of docs/, or None outside of a source checkout."""
    root = locate_checkout()
    return None if root is None else root / "docs" / name


def read_docs_json(path: Path | None) -> Any:
    """Return the JSON content of a file, or None if there is no such file."""
    return None if path is None or not path.is_file() else json.loads(path.read_text(encoding="utf-8"))


def write_docs_file(name: str, path: Path | None, text: str) -> None:
    """Write a file of docs/.

    Raises:
        FileNotFoundError: there is no such path, since this is not a source checkout.
    """
    if path is None:
        raise FileNotFoundError(f"docs/{name} is written in a source checkout only")
    files.write_text(path, text)
