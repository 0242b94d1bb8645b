"""Settings of a Kafka Streams client in a Spring Boot file, `application.yml` or `application.properties`.

`client_settings` reads a file and returns its settings under the names of Kafka Streams. A file that has a key below
`spring` is read as Spring Boot reads it: `spring.kafka.streams.properties.*` comes before
`spring.kafka.streams.state-store-cache-max-size` (a data size such as `10MB`), and that before
`spring.kafka.properties.*`. Any other file has the names of Kafka Streams themselves. A document of YAML that applies
to a profile is left out, and a note says so.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_cli.settings.properties import GivenSetting, read_properties
from entrycache_protocol import errors, files

YAML_SUFFIXES: Final = (".yml", ".yaml")
YAML_BYTES_MAX: Final = 1 << 20
NODES_MAX: Final = 100_000
"""The most values of a YAML file, repeated ones of aliases included."""

DEPTH_MAX: Final = 100

TOTAL: Final = "statestore.cache.max.bytes"
DEPRECATED: Final = "cache.max.bytes.buffering"
STREAMS: Final = "spring.kafka.streams."
MAPS: Final = (f"{STREAMS}properties", "spring.kafka.properties")
"""The maps of Kafka's own names; the first one wins."""

SIZES: Final = {"statestorecachemaxsize": TOTAL, "cachemaxsizebuffering": DEPRECATED}
"""Spring's own names after `spring.kafka.streams.`, without dashes and capitals, with the names that they set."""

PROFILES: Final = re.compile(r"spring\.config\.activate\.on-?profile|spring\.profiles", re.IGNORECASE)
DATA_SIZE: Final = re.compile(r"([0-9]{1,18})(B|KB|MB|GB|TB)?")
UNITS: Final = {"B": 0, "KB": 10, "MB": 20, "GB": 30, "TB": 40}


class ClientSettings(NamedTuple):
    """The settings of a file under the names of Kafka Streams; `notes` say what was left out."""

    given: list[GivenSetting]
    notes: list[str]


def client_settings(path: Path) -> ClientSettings:
    """Read the settings of a client from Java properties or from YAML.

    Raises:
        UsageError: the file cannot be read, or a value that counts is malformed.
        MissingPrerequisite: the file is YAML and no YAML parser is installed.
    """
    notes: list[str] = []
    if path.suffix.lower() in YAML_SUFFIXES:
        settings = list(_yaml_settings(path, notes))
    else:
        settings = read_properties(path, "the properties file", "a client")
        profile = next((each for each in settings if PROFILES.fullmatch(each.name)), None)
        if profile is not None:
            raise errors.UsageError(
                f"{path}: line {profile.line}: {profile.name} makes a document for a profile, which is not read; "
                "expected one document, or --total and --threads"
            )
    if any(each.name.startswith("spring.") for each in settings):
        settings = list(_kafka_settings(path, settings))
    return ClientSettings(settings, notes)


def _kafka_settings(path: Path, settings: list[GivenSetting]) -> Iterator[GivenSetting]:
    """Yield what a Spring Boot file sets, under the names of Kafka Streams; a setting that loses is left out."""
    names: set[str] = set()
    sources = (_map_settings(settings, MAPS[0]), _sizes(path, settings), _map_settings(settings, MAPS[1]))
    for source in map(list, sources):
        yield from (each for each in source if each.name not in names)
        names |= {each.name for each in source}


def _map_settings(settings: Iterable[GivenSetting], prefix: str) -> Iterator[GivenSetting]:
    for each in settings:
        rest = each.name.removeprefix(prefix)
        if rest != each.name and rest[:1] in {".", "["}:
            yield each._replace(name=rest.lstrip(".").removeprefix("[").removesuffix("]"))


def _sizes(path: Path, settings: Iterable[GivenSetting]) -> Iterator[GivenSetting]:
    for each in settings:
        name = SIZES.get(re.sub("[-_]", "", each.name.removeprefix(STREAMS)).lower())
        if each.name.startswith(STREAMS) and name is not None and each.text.strip():
            yield each._replace(name=name, text=str(_data_size(path, each)))


def _data_size(path: Path, setting: GivenSetting) -> int:
    """Return the bytes of a Spring data size; a number without a unit is bytes."""
    match = DATA_SIZE.fullmatch(setting.text.strip())
    if match is None:
        raise errors.UsageError(
            f"{path}: line {setting.line}: {setting.name} is {errors.describe_value(setting.text)}; "
            "expected a data size such as 10MB (B, KB, MB, GB, TB)"
        )
    return int(match[1]) << UNITS[match[2] or "B"]


def _yaml_settings(path: Path, notes: list[str]) -> Iterator[GivenSetting]:
    """Yield the scalar values of all documents that apply without a profile, under their dotted names."""
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError:
        raise errors.missing_extra(f"reading {path}", "pyyaml", "spring") from None
    text = files.read_bytes(path, "the configuration", YAML_BYTES_MAX)
    try:
        documents = [list(_scalars(node, "", 0, [0], path)) for node in yaml.compose_all(text, yaml.SafeLoader)]
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise errors.UsageError(f"{path}: no YAML ({errors.shorten(' '.join(str(error).split()), 200)})") from None
    for settings in documents:
        profile = next((each for each in settings if PROFILES.fullmatch(each.name)), None)
        if profile is None:
            yield from settings
        else:
            notes.append(f"{path}: the document for the profile {profile.text} (line {profile.line}) was not read")


def _scalars(node: Any, name: str, depth: int, count: list[int], path: Path) -> Iterator[GivenSetting]:
    """Yield the scalars below a node of YAML; `count` has the number of nodes so far."""
    count[0] += 1
    if count[0] > NODES_MAX or depth > DEPTH_MAX:
        raise errors.UsageError(f"{path}: too many values; expected {NODES_MAX} at most, {DEPTH_MAX} levels deep")
    if node is None or node.id == "sequence":
        return
    if node.id == "scalar":
        if node.tag != "tag:yaml.org,2002:null":
            yield GivenSetting(name, node.value, node.start_mark.line + 1)
        return
    for key, value in node.value:
        if key.id == "scalar":
            yield from _scalars(value, f"{name}.{key.value}" if name else key.value, depth + 1, count, path)
