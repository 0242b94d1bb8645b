"""entrycache_fast.kafka: a fast record cache for stream processors in plain Python.

The cache gathers writes to keys of many namespaces under one limit of bytes. It hands dirty entries to the listener
of their namespace when the namespace is flushed, or when its eldest entry has to leave.

    >>> from entrycache_fast.kafka import CachingStore, ThreadCache
    >>> cache = ThreadCache(max_size_bytes=1_000)
    >>> below = {}
    >>> store = CachingStore(cache, "counts", below, forward=lambda key, value: print(key, value))
    >>> store.put(b"apples", b"1")
    >>> store.put(b"apples", b"2")
    >>> store.get(b"apples"), below
    (b'2', {})
    >>> store.flush()
    b'apples' b'2'
    >>> below
    {b'apples': b'2'}

`WindowStore` and `SessionStore` are such stores of windows and of sessions, which expire. `ThreadCache` may also be
used without stores: `listen` says who gets what is dirty.

They follow the rules of `spec/kafka-streams` and need sortedcontainers, for the order of keys and times.
`docs/reference/fast-caches.md` has every argument.
"""

from entrycache_fast.kafka.cache import ThreadCache, Write, share_bytes
from entrycache_fast.kafka.state import (
    ClosedStoreError,
    Context,
    DirtyEntry,
    DirtyKeyError,
    Entry,
    Header,
    Listener,
    NamespaceCounters,
    NoListenerError,
    Row,
    ThreadCounters,
    Usage,
)
from entrycache_fast.kafka.store import (
    CachingStore,
    Forward,
    ForwardWindow,
    OpenView,
    OpenWindows,
    SessionStore,
    Window,
    WindowStore,
)

__all__ = [
    "CachingStore",
    "ClosedStoreError",
    "Context",
    "DirtyEntry",
    "DirtyKeyError",
    "Entry",
    "Forward",
    "ForwardWindow",
    "Header",
    "Listener",
    "NamespaceCounters",
    "NoListenerError",
    "OpenView",
    "OpenWindows",
    "Row",
    "SessionStore",
    "ThreadCache",
    "ThreadCounters",
    "Usage",
    "Window",
    "WindowStore",
    "Write",
    "share_bytes",
]
