"""State the promises of PIP-430, and find the shortest trace that breaks each.

A `Promise` is a predicate of one step (`CacheStep`). `find_shortest_trace` tries all traces of its words, the shortest
first. The docstring of each predicate is its text on the page docs/explanation/predecessors.md, which `python -m
entrycache_dev.predecessors.promises` writes.
"""

import inspect
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import click

from entrycache_dev.predecessors import caches
from entrycache_evidence.core.checkout import locate_checkout
from entrycache_protocol.files import write_text


class Origin(NamedTuple):
    """The origin of a cached entry: its word, its time, and the state of its one read."""

    at: int
    word: caches.Add
    nanos: int
    is_delivered: bool = False
    is_postponed: bool = False


class CacheStep(NamedTuple):
    """A step of a short trace: the word, the cache before and after, the origins of entries, and the time."""

    word: caches.Word
    before: caches.Answer
    after: caches.Answer
    added: Mapping[caches.CachedEntry, Origin]
    nanos: int
    limits: caches.Limits

    @property
    def gone(self) -> list[caches.CachedEntry]:
        """The entries that left, the oldest first."""
        gone = (one for one in self.before.kept if one not in self.after.kept)
        return sorted(gone, key=lambda one: self.added[one].at)

    @property
    def target_bytes(self) -> int:
        """The bytes down to which a size pass frees."""
        return int(self.limits.max_size_bytes * self.limits.watermark)


class Promise(NamedTuple):
    """A promise: `keeps` checks a step, `words` are the words of the traces, and `most` is their greatest length."""

    title: str
    source: str
    keeps: Callable[[CacheStep], bool]
    words: tuple[Callable[[int], caches.Word], ...]
    most: int
    limits: caches.Limits = caches.Limits()


def oldest_first(moment: CacheStep) -> bool:
    """No entry leaves for want of room while an older one stays, in any ledger."""
    if not isinstance(moment.word, caches.Add):
        return True
    added = moment.added
    return not any(added[stays].at < added[one].at for one in moment.gone for stays in moment.after.kept)


def expected_stay(moment: CacheStep) -> bool:
    """No entry with an expected read leaves for want of room while one without stays.

    PIP-430 gives an expected entry another round of the queue only so often. A pass in which all entries are expected
    uses these rounds up, and a later pass does not give them back.
    """
    if not isinstance(moment.word, caches.Add):
        return True
    stays = [one for one in moment.before.kept if one in moment.after.kept]
    waits = {one: bool(added.word.expected_reads) for one, added in moment.added.items()}
    return not any(waits[one] and not waits[other] for one in moment.gone for other in stays)


def replays_stay(moment: CacheStep) -> bool:
    """No entry that is kept for a replay leaves for want of room while a delivered one stays."""
    if not isinstance(moment.word, caches.Add):
        return True
    stays = [one for one in moment.before.kept if one in moment.after.kept]
    waits = [one for one in moment.gone if moment.added[one].is_postponed and not moment.added[one].is_delivered]
    return not (waits and any(moment.added[one].is_delivered for one in stays))


def work_is_bounded(moment: CacheStep) -> bool:
    """The periodic task visits the entries that leave and at most one more, for any number of ledgers."""
    return not isinstance(moment.word, caches.Task) or moment.after.visits <= len(moment.gone) + 1


def nothing_old(moment: CacheStep) -> bool:
    """After the periodic task no entry is older than the time to live."""
    if not isinstance(moment.word, caches.Task):
        return True
    return not any(moment.nanos - moment.added[one].nanos > moment.limits.ttl_nanos for one in moment.after.kept)


def within_limit(moment: CacheStep) -> bool:
    """After a write the bytes are within the limit."""
    return sum(moment.after.kept.values()) <= moment.limits.max_size_bytes


def no_more_than_needed(moment: CacheStep) -> bool:
    """Without the youngest entry that a write removes, the bytes would still be above the watermark."""
    if not moment.gone:
        return True
    word = moment.word
    youngest_bytes = moment.before.kept[moment.gone[-1]]
    if isinstance(word, caches.Add) and moment.after.inserted:
        own = caches.CachedEntry(word.cache, word.entry)
        youngest_bytes = youngest_bytes if own in moment.after.kept else word.size_bytes
    return sum(moment.after.kept.values()) + youngest_bytes > moment.target_bytes


def fitting_entry_comes_in(moment: CacheStep) -> bool:
    """A written entry that fits under the watermark is cached after its write.

    Pulsar 4.0 refuses a write that begins with the bytes at the limit, also if its own size pass makes room.
    """
    word = moment.word
    if not isinstance(word, caches.Add) or word.size_bytes > moment.target_bytes:
        return True
    return caches.CachedEntry(word.cache, word.entry) in moment.after.kept


def refused_write_removes_nothing(moment: CacheStep) -> bool:
    """A write of an entry that is cached already makes nothing leave.

    Pulsar 4.0 checks the trigger first, so the second reader of a backlog evicts entries by writing what is there.
    """
    word = moment.word
    if not isinstance(word, caches.Add) or caches.CachedEntry(word.cache, word.entry) not in moment.before.kept:
        return True
    return not moment.gone


def unfitting_entry_pushes_nothing_out(moment: CacheStep) -> bool:
    """An entry that is larger than the limit makes no other entry leave, neither at its write nor at the next.

    PIP-430 takes such an entry, and its pass then frees all that is older, and the entry itself. Pulsar 4.0 keeps it
    above the limit until the next write, whose pass looks at the largest cache first: the entry leaves with all that
    stands at lower positions of its ledger.
    """
    if not isinstance(moment.word, caches.Add):
        return True
    about = [*(moment.added[one].word for one in moment.before.kept), moment.word]
    fitting = [one.word for one in moment.added.values() if _fits(one.word, moment)]
    if all(_fits(word, moment) for word in about) or sum(one.size_bytes for one in fitting) > moment.target_bytes:
        return True
    return not any(_fits(moment.added[one].word, moment) for one in moment.gone)


def _fits(word: caches.Add, moment: CacheStep) -> bool:
    return word.size_bytes <= moment.limits.max_size_bytes


def pass_reaches_the_watermark(moment: CacheStep) -> bool:
    """After a write that begins with the bytes at the limit, what was there before is at most the watermark's share.

    Pulsar 4.0 divides what is to be freed among the largest caches and rounds each share down, so a pass may free too
    little, or nothing. At the default settings a share has millions of bytes, and at most a byte for each of these
    caches is lost.
    """
    if not isinstance(moment.word, caches.Add):
        return True
    before_bytes = sum(moment.before.kept.values())
    stays = sum(size for one, size in moment.before.kept.items() if one in moment.after.kept)
    return before_bytes < moment.limits.max_size_bytes or stays <= moment.target_bytes


def late_pass_frees_no_more(moment: CacheStep) -> bool:
    """Without the youngest entry that a late pass removes, the bytes would still be above the watermark.

    Pulsar 4.0 fixes the amount when a write asks for the pass. If entries leave before another thread runs it, it frees
    too much. That the pass waits for a thread is how a released broker always runs it.
    """
    if not isinstance(moment.word, caches.LatePass) or not moment.gone:
        return True
    return sum(moment.after.kept.values()) + moment.before.kept[moment.gone[-1]] > moment.target_bytes


def parts_are_served(moment: CacheStep) -> bool:
    """A read serves the cached part of its range from the cache."""
    if not isinstance(moment.word, caches.Range):
        return True
    entries = range(moment.word.first, moment.word.last + 1)
    return all(
        entry in moment.after.served
        for entry in entries
        if caches.CachedEntry(moment.word.cache, entry) in moment.before.kept
    )


def _build_adds(
    *sizes: int, expected: Sequence[int | None] = (None,), ledgers: str = "ab"
) -> tuple[Callable[[int], caches.Word], ...]:
    return tuple(
        (lambda at, cache=cache, size=size, count=count: caches.Add(cache, at, size, count))
        for cache in ledgers
        for size in sizes
        for count in expected
    )


PIP: Final = "PIP-430"

PROMISES: Final = (
    Promise("oldest first, over all ledgers", f"{PIP}, goals", oldest_first, _build_adds(1, 4), 6),
    Promise(
        "what readers still expect stays longer", f"{PIP}, expected read count", expected_stay,
        _build_adds(3, 5, expected=(None, 1), ledgers="a"), 6, caches.Limits(10, 0.9),
    ),
    Promise(
        "what is kept for a replay stays longer", f"{PIP}, replay queue of Key_Shared", replays_stay,
        (*(lambda at, size=size: caches.Add("a", at, size, 1) for size in (4, 6)),
         lambda at: caches.Postpone("a", 0), lambda at: caches.Deliver("a", 1)), 6,
    ),
    Promise("a pass does not grow with the number of ledgers", f"{PIP}, goals", work_is_bounded,
            (*_build_adds(1), lambda at: caches.Wait(), lambda at: caches.Task()), 6),
    Promise("nothing outlives its time by long", f"{PIP}, eviction by time", nothing_old,
            (lambda at: caches.Add("a", 0), lambda at: caches.Add("a", 1),
             lambda at: caches.Wait(), lambda at: caches.Task()), 6),
    Promise(
        "a write leaves the bytes within the limit", f"{PIP}, eviction by size", within_limit, _build_adds(1, 4), 6,
    ),
    Promise("no more leaves than has to", f"{PIP}, watermark", no_more_than_needed,
            (*_build_adds(5, ledgers="abcd"), *_build_adds(1, ledgers="a")), 5, caches.Limits(20, 0.8)),
    Promise("an entry that fits comes in", f"{PIP}, eviction by size", fitting_entry_comes_in,
            _build_adds(1, 4, 8), 5, caches.Limits(10, 0.9)),
    Promise("a write of a cached entry removes nothing", f"{PIP}, eviction by size", refused_write_removes_nothing,
            (*_build_adds(4), lambda at: caches.Add("a", 0, 4)), 6),
    Promise("an entry larger than the limit pushes nothing out", "our reading of the limit",
            unfitting_entry_pushes_nothing_out, _build_adds(1, 11, ledgers="a"), 6),
    Promise("a size pass reaches the watermark", f"{PIP}, watermark", pass_reaches_the_watermark,
            (*_build_adds(3, 4, ledgers="abc"), *_build_adds(5, 9, ledgers="a")), 4, caches.Limits(10, 0.9)),
    Promise("a late pass frees no more than it has to", f"{PIP}, eviction by size", late_pass_frees_no_more,
            (*_build_adds(5), lambda at: caches.Clear("a"), lambda at: caches.LatePass()), 6,
            caches.Limits(10, 0.9, late=True)),
    Promise("a range that is cached in part is served in part", "storage reads of 4.2", parts_are_served,
            (*_build_adds(1), lambda at: caches.Range("a", 0, 1)), 4, caches.Limits(1_000)),
)  # fmt: skip


class PromiseResult(NamedTuple):
    """The result of a promise: the shortest trace that breaks it or None, and the number of traces."""

    trace: tuple[caches.Word, ...] | None
    attempts: int


class OpenTrace(NamedTuple):
    """A trace that may be continued."""

    words: tuple[caches.Word, ...]
    before: caches.Answer
    added: Mapping[caches.CachedEntry, Origin]
    nanos: int


def find_shortest_trace(cache: caches.Cache, promise: Promise) -> PromiseResult:
    """Try all short traces, the shortest first, until one breaks the promise."""
    attempts = 0
    open_traces = [OpenTrace((), caches.Answer(cache.start(promise.limits), {}), {}, 0)]
    for _ in range(promise.most):
        longer = []
        for one in open_traces:
            for word in _next_words(one.words, promise):
                attempts += 1
                next_trace, is_kept = _say(cache, promise, one, word)
                if not is_kept:
                    return PromiseResult(next_trace.words, attempts)
                longer.append(next_trace)
        open_traces = longer
    return PromiseResult(None, attempts)


def _say(cache: caches.Cache, promise: Promise, trace: OpenTrace, word: caches.Word) -> tuple[OpenTrace, bool]:
    """Return the trace with one more word, and whether the promise is kept at that word."""
    after = cache.say(trace.before.state, word, promise.limits)
    added = _origins_after(trace, word, after)
    nanos = trace.nanos + (word.nanos if isinstance(word, caches.Wait) else 0)
    is_kept = promise.keeps(CacheStep(word, trace.before, after, added, nanos, promise.limits))
    return OpenTrace((*trace.words, word), after, added, nanos), is_kept


def search_random(cache: caches.Cache, promise: Promise, traces: int, seed: int = 0) -> PromiseResult:
    """Try random traces of up to `LONGEST` words, with four ledgers, more sizes and more limits than the short ones."""
    source = random.Random(seed)
    for attempt in range(traces):
        limits = promise.limits._replace(
            max_size_bytes=source.choice((10, 20, 50)), watermark=source.choice((0.5, 0.8, 0.9))
        )
        wide = promise._replace(words=_widen(promise.words), limits=limits)
        trace = OpenTrace((), caches.Answer(cache.start(limits), {}), {}, 0)
        for _ in range(source.randint(1, LONGEST)):
            word = source.choice(list(_next_words(trace.words, wide)))
            trace, is_kept = _say(cache, wide, trace, word)
            if not is_kept:
                return PromiseResult(trace.words, attempt + 1)
    return PromiseResult(None, traces)


LONGEST: Final = 16
"""The greatest number of words of a random trace."""


def _widen(words: tuple[Callable[[int], caches.Word], ...]) -> tuple[Callable[[int], caches.Word], ...]:
    """Return the words with writes to four ledgers and of several sizes, if the promise writes to two ledgers."""
    adds = [word for word in (make(0) for make in words) if isinstance(word, caches.Add)]
    if len({word.cache for word in adds}) == 1:
        return words
    expected = tuple(dict.fromkeys(word.expected_reads for word in adds))
    others = tuple(make for make in words if not isinstance(make(0), caches.Add))
    return (*_build_adds(1, 3, 5, 9, expected=expected, ledgers="abcd"), *others)


def _origins_after(trace: OpenTrace, word: caches.Word, after: caches.Answer) -> Mapping[caches.CachedEntry, Origin]:
    """Return the origins of the entries after a word; a fetched entry has none."""
    if isinstance(word, caches.Deliver | caches.Postpone):
        return _origins_after_read(trace.added, word)
    own = caches.CachedEntry(word.cache, word.entry) if isinstance(word, caches.Add) else None
    if own is None or own in trace.before.kept or own not in after.kept:
        return trace.added
    assert isinstance(word, caches.Add)
    return {**trace.added, own: Origin(len(trace.words), word, trace.nanos)}


def _origins_after_read(
    added: Mapping[caches.CachedEntry, Origin], word: caches.Deliver | caches.Postpone
) -> Mapping[caches.CachedEntry, Origin]:
    """Return the origins after a delivery or a postponement."""
    one = caches.CachedEntry(word.cache, word.entry)
    if one not in added:
        return added
    read = added[one]
    is_over = isinstance(word, caches.Deliver)
    return {**added, one: read._replace(is_delivered=True) if is_over else read._replace(is_postponed=True)}


def _next_words(words: tuple[caches.Word, ...], promise: Promise) -> Iterator[caches.Word]:
    for make in promise.words:
        first = make(0)
        if isinstance(first, caches.Add):
            yield make(sum(isinstance(word, caches.Add) and word.cache == first.cache for word in words))
        else:
            yield first


def play_trace(cache: caches.Cache, trace: Sequence[caches.Word], limits: caches.Limits) -> list[caches.Answer]:
    """Play a trace on a cache and return its answers."""
    state: Any = cache.start(limits)
    answers = []
    for word in trace:
        answers.append(cache.say(state, word, limits))
        state = answers[-1].state
    return answers


# --- The page

HEAD = """# What each cache of Pulsar gives up

This page is written by `python -m entrycache_dev.predecessors.promises`.

Three references play the same short traces: [pulsar-pip430](../../spec/pulsar-pip430),
[pulsar-legacy](../../spec/pulsar-legacy) (4.0 and before) and [pulsar-segmented](../../spec/pulsar-segmented)
(PIP-174, never merged). Each has its defaults, except for the named limit, watermark and time to live. All traces of
the words of a promise are tried, the shortest first. *Keeps* means that no trace of up to that many words breaks the
promise; longer traces are left open. A test also tries thousands of random traces of up to 16 words, with four ledgers,
more sizes and other limits, on each cache that keeps a promise. The references are models. Each trace by which
pulsar-legacy breaks a promise was played on the released classes of 4.0.8 too, which answer like it at each word, and
conformance runs show the same at large ([PIP-430](../reference/versions.md),
[before](../reference/versions-pulsar-legacy.md)). The visits of a pass are the entries that its rows name, and one more
in each queue or cache where it ends early; a ring has no passes. The
[policy comparison](../../conformance/entrycache_dev/policy-comparison.json) shows the costs at scale.
"""


def render_page() -> str:
    """Render the page."""
    results = {promise.title: [find_shortest_trace(cache, promise) for cache in caches.CACHES] for promise in PROMISES}
    lines = [
        HEAD,
        "| promise | " + " | ".join(cache.system for cache in caches.CACHES) + " |",
        "|---|" + "---|" * len(caches.CACHES),
    ]
    for promise in PROMISES:
        lines.append(f"| {promise.title} | " + " | ".join(map(_verdict, results[promise.title])) + " |")
    for promise in PROMISES:
        lines += ["", *_section(promise, results[promise.title])]
    return "\n".join(lines) + "\n"


def _verdict(broken: PromiseResult) -> str:
    if broken.trace is None:
        return f"keeps ({broken.attempts:,} traces)"
    return f"breaks, {len(broken.trace)} word{'s' * (len(broken.trace) > 1)}"


def _section(promise: Promise, results: list[PromiseResult]) -> Iterator[str]:
    limits = promise.limits
    yield f"## {promise.title[0].upper()}{promise.title[1:]}"
    yield ""
    first, _, more = inspect.cleandoc(promise.keeps.__doc__ or "").partition("\n\n")
    yield f"{first.removesuffix('.')} ({promise.source})."
    yield from [more, ""] if more else []
    settings = f"watermark {limits.watermark}, time to live {limits.ttl_nanos} ns"
    yield f"Limit {limits.max_size_bytes} bytes, {settings}; traces of up to {promise.most} words."
    for cache, broken in zip(caches.CACHES, results, strict=True):
        if broken.trace is not None:
            yield ""
            yield f"Broken by {cache.system}:"
            yield ""
            yield "| word | " + " | ".join(one.system for one in caches.CACHES) + " |"
            yield "|---|" + "---|" * len(caches.CACHES)
            yield from _table(promise, broken.trace)


def _table(promise: Promise, trace: tuple[caches.Word, ...]) -> Iterator[str]:
    columns = [play_trace(cache, trace, promise.limits) for cache in caches.CACHES]
    for at, word in enumerate(trace):
        cells = []
        for column in columns:
            before = column[at - 1].kept if at else {}
            gone = [one for one in before if one not in column[at].kept]
            cell = " ".join(map(_name, column[at].kept)) or "empty"
            cell += f"; leaves: {' '.join(map(_name, gone))}" if gone else ""
            cell += f"; visits {column[at].visits}" if isinstance(word, caches.Task) else ""
            served = f"; served: {' '.join(map(str, column[at].served)) or 'nothing'}"
            cells.append(cell + (served if isinstance(word, caches.Range) else ""))
        yield f"| {_describe_word(word)} | {' | '.join(cells)} |"


def _name(one: caches.CachedEntry) -> str:
    return f"{one.cache}{one.entry}"


def _describe_word(word: caches.Word) -> str:
    match word:
        case caches.Add(cache, entry, size_bytes, expected_reads):
            count = f", {expected_reads} read expected" if expected_reads else ""
            return f"write {cache}{entry}, {size_bytes} bytes{count}"
        case caches.Wait(nanos):
            return f"wait {nanos} ns"
        case caches.Task():
            return "the periodic task"
        case caches.Range(cache, first, last):
            return f"read {cache}{first} to {cache}{last}"
        case caches.Deliver(cache, entry):
            return f"{cache}{entry} is delivered"
        case caches.Postpone(cache, entry):
            return f"{cache}{entry} is kept for a replay"
        case caches.Clear(cache):
            return f"all entries of {cache} are removed"
        case caches.LatePass():
            return "the pass that was asked for runs"


@click.command()
def main() -> None:
    """Write docs/explanation/predecessors.md of a source checkout."""
    root = locate_checkout()
    if root is None:
        raise click.UsageError("the page belongs to a source checkout; expected to run in one")
    write_text(root / "docs" / "explanation/predecessors.md", render_page())


if __name__ == "__main__":
    main()
