package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.ReferenceCountedEntry;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.commons.lang3.tuple.Pair;

/*
 * Two to four threads at one released range cache and its removal queue: put, get, range, remove, clear, passes by
 * time and by size, over keys round the edge of a page and on a second ledger. What each thread does is drawn from the
 * seed; how they interleave is the machine's. A difference prints the seed and what each thread did, in its order.
 * Arguments: the first seed, and how many histories. Prints one JSON object.
 *
 * What is held:
 *   values    a value that is handed out is of its key, whole, and alive while it is held
 *   throws    no call throws
 *   ends      every history ends (60 seconds); the run ends with the first that does not
 *   bytes     what went in is what passes, removals and the last clear say that they took, in entries and in bytes;
 *             the emptied cache counts 0
 *   empty     after the last clear no key is found, and a pass over the queue finds nothing
 *   buffers   every buffer was released by all, and none once too often
 */
public final class CacheThreads {
    private static final int STEPS = 60;
    private static final int SIZE = 10;
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    private final long seed;
    private final int threads;
    private final RangeCacheRemovalQueue queue;
    private final RangeCache cache;
    private final AtomicLong put = new AtomicLong();
    private final AtomicLong removed = new AtomicLong();
    private final AtomicLong removedBytes = new AtomicLong();
    private final Map<String, String> broken = new TreeMap<>();
    private final List<List<ByteBuf>> buffers = new ArrayList<>();
    private final List<StringBuilder> histories = new ArrayList<>();

    private CacheThreads(long seed) {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        this.seed = seed;
        threads = 2 + random.nextInt(3);
        queue = new RangeCacheRemovalQueue(random.nextInt(3), random.nextBoolean());
        cache = new RangeCache(queue);
    }

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Map<String, int[]> told = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        for (long seed = first; seed < first + count; seed++) {
            CacheThreads world = new CacheThreads(seed);
            try {
                world.live();
            } catch (RuntimeException thrown) {
                world.breaks("throws", "at rest " + thrown.getClass().getSimpleName());
            }
            told.computeIfAbsent("histories of " + world.threads + " threads", key -> new int[1])[0]++;
            for (var one : world.broken.entrySet()) {
                told.computeIfAbsent(one.getKey(), name -> new int[1])[0]++;
                examples.putIfAbsent(one.getKey(), "seed " + seed + ": " + one.getValue() + world.histories);
            }
            if (world.broken.containsKey("ends")) {
                break;
            }
        }
        StringBuilder json = new StringBuilder("{\"first_seed\": " + first + ", \"histories\": " + count);
        json.append(", \"steps_a_thread\": ").append(STEPS).append(", \"met\": {");
        String between = "";
        for (var one : told.entrySet()) {
            json.append(between).append('"').append(one.getKey()).append("\": ").append(one.getValue()[0]);
            between = ", ";
        }
        json.append("}, \"examples\": {");
        between = "";
        for (var one : examples.entrySet()) {
            json.append(between).append('"').append(one.getKey()).append("\": \"").append(one.getValue()).append('"');
            between = ", ";
        }
        System.out.println(json.append("}}"));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private void live() throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Future<?>> running = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            histories.add(new StringBuilder());
            buffers.add(new ArrayList<>());
            Random random = new Random(seed * 0x9E3779B97F4A7C15L + thread + 1);
            int own = thread;
            running.add(THREADS.submit(() -> {
                start.await();
                for (int step = 0; step < STEPS; step++) {
                    step(own, random);
                }
                return null;
            }));
        }
        for (Future<?> one : running) {
            try {
                one.get(60, TimeUnit.SECONDS);
            } catch (TimeoutException late) {
                breaks("ends", "");
                return;
            } catch (java.util.concurrent.ExecutionException thrown) {
                breaks("throws", thrown.getCause().toString().replace('"', ' '));
            }
        }
        look();
    }

    private synchronized void breaks(String what, String how) {
        broken.putIfAbsent(what, how);
    }

    private static Position key(Random random) {
        int key = random.nextInt(6);
        return PositionFactory.create(key < 4 ? 1 : 2, key < 4 ? 62 + key : key - 4);
    }

    private void step(int thread, Random random) {
        StringBuilder history = histories.get(thread);
        switch (random.nextInt(12)) {
            case 0, 1, 2, 3 -> {
                Position key = key(random);
                history.append("; put ").append(key);
                ByteBuf buffer = Unpooled.buffer(SIZE).writeLong(key.getLedgerId() * 1_000 + key.getEntryId()).writeShort(7);
                buffers.get(thread).add(buffer);
                EntryImpl entry = EntryImpl.create(key, buffer, random.nextInt(3));
                buffer.release();
                if (cache.put(key, entry, SIZE)) {
                    put.incrementAndGet();
                } else {
                    entry.release();
                }
            }
            case 4, 5, 6 -> {
                Position key = key(random);
                history.append("; get ").append(key);
                ReferenceCountedEntry found = cache.get(key);
                if (found != null) {
                    holds(found, key, random);
                }
            }
            case 7 -> {
                history.append("; range");
                Collection<ReferenceCountedEntry> found =
                        cache.getRange(PositionFactory.create(1, 62), PositionFactory.create(2, 1));
                Position before = PositionFactory.EARLIEST;
                for (ReferenceCountedEntry entry : found) {
                    if (before.compareTo(entry.getPosition()) >= 0) {
                        breaks("values", "out of order");
                    }
                    before = entry.getPosition();
                    holds(entry, before, random);
                }
            }
            case 8 -> {
                Position key = key(random);
                history.append("; remove before ").append(key);
                took(cache.removeRange(PositionFactory.create(1, 62), key, random.nextBoolean()));
            }
            case 9 -> {
                history.append("; clear");
                took(cache.clear());
            }
            case 10 -> {
                history.append("; free");
                took(queue.evictLeastAccessedEntries(1 + random.nextInt(3 * SIZE)));
            }
            default -> {
                history.append("; expire");
                took(queue.evictLEntriesBeforeTimestamp(System.nanoTime()));
            }
        }
        if (random.nextInt(4) == 0) {
            Thread.yield();
        }
    }

    private void holds(ReferenceCountedEntry entry, Position key, Random random) {
        if (random.nextBoolean()) {
            Thread.onSpinWait();
        }
        ByteBuf buffer = entry.getDataBuffer();
        long expected = key.getLedgerId() * 1_000 + key.getEntryId();
        if (!entry.matchesPosition(key) || buffer.refCnt() < 1 || buffer.readableBytes() != SIZE
                || buffer.getLong(buffer.readerIndex()) != expected) {
            breaks("values", "at " + key);
        }
        entry.release();
    }

    private void took(Pair<Integer, Long> pair) {
        removed.addAndGet(pair.getLeft());
        removedBytes.addAndGet(pair.getRight());
    }

    private void look() {
        took(cache.clear());
        if (removed.get() != put.get() || removedBytes.get() != SIZE * put.get() || cache.getSize() != 0) {
            breaks("bytes", put + " put, " + removed + " removed, " + removedBytes + " bytes of them, "
                    + cache.getSize() + " bytes left");
        }
        Pair<Integer, Long> left = queue.evictLEntriesBeforeTimestamp(Long.MAX_VALUE);
        if (cache.getNumberOfEntries() != 0 || left.getLeft() != 0 || !queue.isEmpty()) {
            breaks("empty", "");
        }
        for (List<ByteBuf> made : buffers) {
            for (ByteBuf buffer : made) {
                if (buffer.refCnt() != 0) {
                    breaks("buffers", "");
                }
            }
        }
    }
}
