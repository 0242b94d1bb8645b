"""The site builds without a warning, its links lead somewhere, and it loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import markdown
import material
import pytest
import yaml

from entrycache_dev.pages import evidence
from entrycache_dev.pages.links import UNTOUCHED, Site, link_names, rewrite_links
from entrycache_dev.pages.site import PAGES, draw_pictures, render_site, stage_pages
from entrycache_evidence.pulsar_pip430.runs import A, H, at, play
from entrycache_reference.pulsar_pip430.change import entry_at
from entrycache_reference.pulsar_pip430.ops import Advance, Expire, Insert, Read, ReadOne, Release, RemoveRange
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import HoldName
from tests.support import ROOT


class Page(HTMLParser):
    """The links and anchors of a page, and the files that a browser loads for it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif "src" in attributes or (tag == "link" and "href" in attributes):
            self.loaded.append(attributes.get("src") or attributes["href"])


def broken(site: Path) -> list[str]:
    """Return broken links and files from elsewhere; outside links are checked by their form only."""
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    problems = []
    for path, page in pages.items():
        name = path.relative_to(site)
        problems += [f"{name} loads {what}" for what in page.loaded if re.match(r"(https?:)?//", what)]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.scheme not in {"https", "http", "mailto"} or (parts.scheme != "mailto" and not parts.netloc):
                    problems.append(f"{name}: {link}")
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.is_file():
                problems.append(f"{name}: {link}")
            elif parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].anchors:
                problems.append(f"{name}: {link} has no such place")
    return problems


def build(pages: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build a site of these pages, as `make site` does; nothing that it could fetch is within reach."""
    options = yaml.unsafe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    assert options["docs_dir"] == "build/pages"
    config = site.parent / "mkdocs.yml"
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    config.write_text(text.replace("build/pages", str(pages)).replace("build/site", str(site)), "utf-8")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    argv = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config)]
    environment = {**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    stage_pages(ROOT, folder / "all", render_site(ROOT))
    return folder / "all"


def test_every_rule_has_a_page_and_links_run_both_ways(pages: Path) -> None:
    assert {path.stem for path in (pages / "rules").glob("*-*.md")} == {rule.value for rule in Rule}
    assert (pages / "docs" / "tutorials/test-your-cache.md").read_text("utf-8") == (
        ROOT / "docs" / "tutorials/test-your-cache.md"
    ).read_text("utf-8")
    finding = (pages / "docs/findings/heap-removal-breaks-order/README.md").read_text("utf-8")
    assert "| Rule | [R-CURSOR-9](../../../rules/R-CURSOR-9.md) |" in finding
    rule = (pages / "rules" / "R-CURSOR-9.md").read_text("utf-8")
    assert "](../docs/findings/heap-removal-breaks-order/README.md)" in rule
    expire = (pages / "rules" / "R-EXPIRE-1.md").read_text("utf-8")
    assert "```sql\n" in expire
    assert "| proved |" in expire
    assert "test_r_expire_1__" in expire
    assert "| `expire` |" in (pages / "rules" / "frames.md").read_text("utf-8")


def test_a_link_to_the_data_of_a_page_leads_to_the_page(tmp_path: Path) -> None:
    site = Site(tmp_path, frozenset({"docs/table.md", "docs/plot.svg"}), {"tool/data.jsonl": "docs/table.md"})
    linked: set[Path] = set()
    text = "[a](../../tool/data.jsonl#row) ![b](../plot.svg) [c](../../tool/data.json)\n"
    text += "```\n[d](../../tool/data.jsonl)\n```"
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool/data.json").write_text("{}", "utf-8")
    assert rewrite_links(text, tmp_path / "docs/how-to/page.md", site, linked) == text.replace(
        "[a](../../tool/data.jsonl#row)", "[a](../table.md#row)"
    )
    assert linked == {tmp_path / "tool/data.json"}


def test_each_rendered_page_has_its_source_in_the_checkout_and_no_other_file(pages: Path) -> None:
    for page in PAGES:
        assert (ROOT / page.source).is_file(), page.source
        assert page.source == page.name or not (ROOT / page.name).exists(), page.name
        assert (pages / page.name).read_text("utf-8").startswith("# "), page.name


def test_the_page_of_evidence_has_a_part_at_each_of_its_places(pages: Path) -> None:
    text, staged = ((root / evidence.PAGE).read_text("utf-8") for root in (ROOT, pages))
    assert text.count("<!-- ") == 8
    assert "<!-- " not in staged
    assert re.search(r"Of \d+ rules \d+ are proved", staged)
    with pytest.raises(ValueError, match="expected one for each of summary"):
        evidence.render_page(text.replace("<!-- models -->", ""), (), (), (), (), ())


KINDS = {"Tutorials": "tutorials", "How-to guides": "how-to", "Reference": "reference", "Explanation": "explanation"}


def menu() -> dict[str, list[tuple[str, str]]]:
    """Return the entries of each section of the menu: the title if one is given, and the page."""
    sections = yaml.unsafe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    return {
        name: [("", entry) if isinstance(entry, str) else next(iter(entry.items())) for entry in entries]
        for section in sections
        for name, entries in section.items()
        if isinstance(entries, list)
    }


def test_the_menu_is_sorted_by_the_kinds_of_pages_and_holds_each_once(pages: Path) -> None:
    assert list(menu()) == [*KINDS, "Findings"]
    for name, folder in KINDS.items():
        own = [page for _, page in menu()[name] if page.startswith(f"docs/{folder}/")]
        assert sorted(own) == sorted(
            path.relative_to(pages).as_posix() for path in (pages / "docs" / folder).glob("*.md")
        )
        others = {f"docs/{other}/" for other in KINDS.values()} - {f"docs/{folder}/"}
        assert not [page for _, page in menu()[name] if page.startswith(tuple(others))]


def test_no_two_entries_of_the_menu_have_one_name(pages: Path) -> None:
    titles = [
        title or (pages / page).read_text("utf-8").partition("\n")[0].removeprefix("# ")
        for entries in menu().values()
        for title, page in entries
    ]
    assert len(titles) > 40
    assert sorted(titles) == sorted(set(titles))


def test_the_copy_button_leaves_out_prompts_and_output_and_long_lines_break(pages: Path) -> None:
    """Check the style beside what it relies on: the classes of Pygments and the mark that the button sets."""
    options = yaml.unsafe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    assert options["extra_css"] == ["site.css"]
    style = re.sub(r"/\*.*?\*/|\s+", " ", (pages / "site.css").read_text("utf-8"), flags=re.DOTALL)
    assert ".highlight code[data-md-copying] .gp, .highlight code[data-md-copying] .go { display: none; }" in style
    assert "> pre > code { white-space: pre-wrap;" in style
    block = "```console\n$ entrycache doctor  # what this machine lacks\nall there\n```"
    (highlight,) = (each for each in options["markdown_extensions"] if "pymdownx.highlight" in each)
    html = markdown.markdown(block, extensions=[*highlight, "pymdownx.superfences"], extension_configs=highlight)
    assert '<div class="language-console highlight"><pre>' in html
    assert ".highlight:not(.language-text) > pre > code {" in style
    assert '<span class="gp">$ </span>' in html
    assert '<span class="go">all there</span>' in html
    (script,) = (Path(material.__file__).parent).glob("**/javascripts/bundle.*.min.js")
    assert 'setAttribute("data-md-copying","")' in script.read_text("utf-8")


def test_what_a_page_names_is_a_link_at_its_first_naming() -> None:
    page = "# PIP-430\n\nPIP-430 and `PIP-430`, PR 24363, PIP-430; KAFKA-4609, [PR 15955](x), managed-ledger 5.0.1.\n"
    pulsar = "https://github.com/apache/pulsar"
    assert link_names(page) == (
        f"# PIP-430\n\n[PIP-430]({pulsar}/blob/master/pip/pip-430.md) and `PIP-430`, [PR 24363]({pulsar}/pull/24363), "
        "PIP-430; [KAFKA-4609](https://issues.apache.org/jira/browse/KAFKA-4609), [PR 15955](x), "
        f"[managed-ledger 5.0.1]({pulsar}/tree/v5.0.1/managed-ledger).\n"
    )
    kafka = "https://github.com/apache/kafka"
    assert link_names("PR 6448", "docs/findings/kafka-x/ISSUE.md") == f"[PR 6448]({kafka}/pull/6448)"
    for untouched in ("```text\nPIP-430\n```\n", "<a title='PIP-430'>", "https://x.example/PIP-430", "    PIP-430\n"):
        assert link_names(untouched) == untouched


def test_no_page_of_the_site_names_a_proposal_or_a_pull_request_without_a_link(pages: Path) -> None:
    bare = [
        (path.relative_to(pages).as_posix(), name)
        for path in pages.rglob("*.md")
        for name in ("PIP-430", "PIP-174")
        if name in UNTOUCHED.sub("", text := path.read_text("utf-8")) and f"[{name}](https://" not in text
    ]
    assert bare == []
    rule = (pages / "rules" / "R-EVICT-8.md").read_text("utf-8")
    assert re.search(
        r"^\*Source\.\* \[`RangeCacheRemovalQueue\.\w+`\]\(https://github.com/apache/pulsar/blob/", rule, re.M
    )


@pytest.mark.long
def test_the_site_is_built_and_every_link_leads_somewhere(pages: Path, tmp_path: Path) -> None:
    draw_pictures(ROOT, pages)
    done = build(pages, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "site").rglob("*.html"))) > 300
    assert broken(tmp_path / "site") == []


def test_a_broken_link_is_detected_by_the_build_and_by_our_own_check(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<a href="gone.html"></a><a href="#no"></a><a id="yes" href="#yes"></a><a href="https:x"></a>'
        '<a href="https://example.org/a"></a><script src="https://cdn.example/x.js"></script>',
        "utf-8",
    )
    assert broken(tmp_path) == [
        "index.html loads https://cdn.example/x.js",
        "index.html: gone.html",
        "index.html: #no has no such place",
        "index.html: https:x",
    ]
    pages = tmp_path / "pages"
    nav = re.findall(r"[\w./-]+\.md$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M)
    for name in nav:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        (pages / name).write_text(f"# A page\n\n[{'up'}](#a-page)\n", "utf-8")
    assert build(pages, tmp_path / "site").returncode == 0
    (pages / nav[0]).write_text("# A page\n\n[up](#nowhere)\n", "utf-8")
    assert "nowhere" in build(pages, tmp_path / "site").stderr


def words(name: str) -> str:
    """Return the words that a reader of a picture sees, without its title and description."""
    root = ElementTree.parse(ROOT / "docs" / "explanation" / name).getroot()
    return " ".join("".join(part.itertext()) for part in root.iter("{http://www.w3.org/2000/svg}text"))


def test_the_pictures_show_the_words_of_the_queue_and_of_an_entry() -> None:
    shown_words = words("removal-queue.svg") + words("life-of-an-entry.svg")
    for word in ("slot", "dead slot", "stamp", "count", "hold", "fill", "pass", "trigger", "life"):
        assert re.search(rf"\b{word}s?\b", shown_words), word
        assert f"- **{word}**" in (ROOT / "docs" / "reference/glossary.md").read_text("utf-8")
    for page, folder in (("reference/glossary.md", "../explanation/"), ("explanation/what-it-is.md", "")):
        text = (ROOT / "docs" / page).read_text("utf-8")
        assert f"]({folder}removal-queue.svg)" in text
        assert f"]({folder}life-of-an-entry.svg)" in text


def test_the_picture_of_the_removal_queue_is_what_the_reference_does() -> None:
    offered = [Insert(A, at(entry), size, reads) for entry, size, reads in ((0, 40, None), (1, 5, None), (2, 20, 1))]
    removed = RemoveRange(A, at(1), at(1), True)
    later = [each for entry, size in ((3, 30), (4, 20)) for each in (Advance(1), Insert(A, at(entry), size))]
    run = play(*offered, removed, Advance(2), *later, max_size_bytes=100, watermark=0.5)
    assert run.queue() == [4, 2]
    assert [run.find(entry) is not None for entry in range(5)] == [False, False, True, False, True]
    assert (run.entry(2).size_bytes, run.entry(4).size_bytes) == (20, 20)
    assert (run.entry(2).stamp_nanos, run.entry(4).stamp_nanos) == (4, 4)
    assert "1:2, 20 bytes count 1" in words("removal-queue.svg")


def test_the_picture_of_a_life_is_what_the_reference_does() -> None:
    held = [Read(A, at(0), at(0), 2, H), Advance(4), Release(H), Advance(6), Expire(5), Advance(4)]
    again = [ReadOne(A, at(0), HoldName("h2")), Advance(2), Release(HoldName("h2")), Advance(2)]
    run = play(*held, *again, Expire(5), extend_recently_accessed=False)
    stamps: list[tuple[int, int, int | None]] = []
    for state in run.states[:-1]:
        entry = entry_at(state, A, at(0))
        if entry is not None:
            stamps.append((state.now_nanos, entry.stamp_nanos, entry.expected_reads))
    assert list(dict.fromkeys((stamp, count) for _, stamp, count in stamps)) == [(0, 2), (0, 1), (10, 1), (10, 0)]
    assert list(dict.fromkeys(now for now, _, _ in stamps)) == [0, 4, 10, 14, 16, 18]
    assert run.find(0) is None
    assert "0 4 10 14 16 18" in words("life-of-an-entry.svg")
