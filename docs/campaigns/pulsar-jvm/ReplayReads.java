package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;

/*
 * Random replays (ManagedCursorImpl.asyncReplayEntries) of positions of one ledger, some cached, some acknowledged, with
 * and without a limit of permits, while storage answers late, out of order, with failures or throws. One thread, no
 * clock: the same seed does the same. Arguments: the first seed, and how many worlds. Prints one JSON object.
 *
 * What is held in each world, once everything that was begun has been answered:
 *   answered  each replay was answered once, and not at all where all of its positions are acknowledged
 *   skipped   what is returned at once are the positions that are acknowledged
 *   entries   a replay that succeeded delivered its other positions, in order, each with its own bytes
 *   bytes     an emptied cache counts 0 bytes, and so does its manager
 *   buffers   no buffer is held by anybody, and none was released once too often
 *   permits   all permits are back
 */
public final class ReplayReads {
    private static final int ENTRIES = 24;
    private static final int EXPECTED = 4;
    private static final long ACKNOWLEDGED = 5;
    private static final String[] MODES = {"late", "throwing storage"};

    private final Random random;
    private final String mode;
    private final LateStorage storage;
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final List<Reader> readers = new ArrayList<>();
    private final List<Entry> held = new ArrayList<>();
    private final Map<String, Integer> broken = new TreeMap<>();
    private final StringBuilder history = new StringBuilder();
    private ReplayedLedger ledger;
    private long limit;

    private ReplayReads(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        random.nextInt();
        mode = MODES[random.nextInt(MODES.length)];
        storage = new LateStorage(random, history, mode.equals("throwing storage"), false);
    }

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Map<String, int[]> told = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        long reads = 0;
        for (long seed = first; seed < first + count; seed++) {
            ReplayReads world = new ReplayReads(seed);
            try {
                world.live();
            } catch (RuntimeException thrown) {
                world.broken.put("throws", 1);
            }
            reads += world.readers.size();
            told.computeIfAbsent("worlds: " + world.mode, key -> new int[1])[0]++;
            for (var one : world.broken.entrySet()) {
                String key = world.mode + ": " + one.getKey();
                told.computeIfAbsent(key, name -> new int[1])[0]++;
                examples.putIfAbsent(key, "seed " + seed + ": " + world.history);
            }
        }
        StringBuilder json = new StringBuilder("{\"first_seed\": " + first + ", \"worlds\": " + count + ", \"reads\": " + reads);
        json.append(", \"met\": {");
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
        limit = random.nextBoolean() ? 0 : new long[] {1_000, 30_000, 200_000}[random.nextInt(3)];
        history.append(limit == 0 ? "no limit" : "limit " + limit);
        ledger = new ReplayedLedger(ENTRIES, ACKNOWLEDGED, limit, this::later);
        int steps = 10 + random.nextInt(30);
        for (int step = 0; step < steps; step++) {
            step();
        }
        for (int rest = 0; rest < 10_000 && (!storage.requests.isEmpty() || !tasks.isEmpty() || !held.isEmpty()); rest++) {
            if (!tasks.isEmpty()) {
                tasks.poll().run();
            } else if (!storage.requests.isEmpty()) {
                storage.answer();
            } else {
                release();
            }
        }
        look();
    }

    private void step() throws Exception {
        switch (random.nextInt(8)) {
            case 0 -> add(random.nextInt(ENTRIES));
            case 1, 2, 3 -> {
                replay();
            }
            case 4, 5 -> {
                if (!storage.requests.isEmpty()) {
                    storage.answer();
                }
            }
            case 6 -> {
                if (!tasks.isEmpty()) {
                    tasks.poll().run();
                }
                if (!held.isEmpty()) {
                    release();
                }
            }
            default -> {
                int to = random.nextInt(ENTRIES);
                history.append("; invalidate before ").append(to);
                ledger.cache.invalidateEntries(PositionFactory.create(1, to));
            }
        }
    }

    private void add(long entry) {
        history.append("; insert ").append(entry);
        EntryImpl added = EntryImpl.create(1, entry, storage.bytes(entry), EXPECTED);
        storage.buffers.get(storage.buffers.size() - 1).release();
        added.setDecreaseReadCountOnRelease(false);
        ledger.cache.insert(added);
        added.release();
    }

    private void replay() {
        Set<Position> positions = new HashSet<>();
        List<Long> wanted = new ArrayList<>();
        Set<Position> skipped = new HashSet<>();
        for (int count = 1 + random.nextInt(6); count > 0; count--) {
            long entry = random.nextInt(ENTRIES);
            Position position = PositionFactory.create(1, entry);
            if (positions.add(position)) {
                if (ledger.acknowledges && entry % ACKNOWLEDGED == 0) {
                    skipped.add(position);
                } else {
                    wanted.add(entry);
                }
            }
        }
        wanted.sort(null);
        history.append("; replay ").append(wanted).append(" and ").append(skipped.size()).append(" acknowledged");
        Reader reader = new Reader(wanted);
        readers.add(reader);
        // a failure closes the handle; it is open again for the next
        ledger.handles.put(1, CompletableFuture.completedFuture(storage.handle()));
        try {
            if (!skipped.equals(new HashSet<>(ledger.cursor.asyncReplayEntries(positions, reader, null, true)))) {
                broken.put("skipped", 1);
            }
        } catch (RuntimeException thrown) {
            broken.put("throws " + thrown.getClass().getSimpleName(), 1);
        }
    }

    private void release() {
        Entry entry = held.remove(random.nextInt(held.size()));
        entry.release();
    }

    /** What holds when everything has been answered and released. */
    private void look() throws Exception {
        for (Reader reader : readers) {
            if (reader.answers != (reader.wanted.isEmpty() ? 0 : 1)) {
                broken.put("answered " + (reader.answers > 1 ? "twice" : "never"), 1);
            }
        }
        ledger.cache.clear();
        if (ledger.cache.getSize() != 0 || ledger.manager.getSize() != 0) {
            broken.put("bytes", 1);
        }
        for (ByteBuf buffer : storage.buffers) {
            if (buffer.refCnt() != 0) {
                broken.put("buffers", 1);
            }
        }
        if (limit > 0 && ledger.manager.getInflightReadsLimiter().getRemainingBytes() != limit) {
            broken.put("permits", 1);
        }
    }

    private void later(Runnable task) {
        tasks.add(() -> {
            try {
                task.run();
            } catch (RuntimeException thrown) {
                history.append("; a task throws ").append(thrown.getClass().getSimpleName());
            }
        });
    }

    private final class Reader implements ReadEntriesCallback {
        private final List<Long> wanted;
        private int answers;

        private Reader(List<Long> wanted) {
            this.wanted = wanted;
        }

        @Override
        public void readEntriesComplete(List<Entry> delivered, Object context) {
            answers++;
            List<Long> found = new ArrayList<>();
            for (Entry entry : delivered) {
                held.add(entry);
                found.add(entry.getEntryId());
                if (entry.getDataBuffer().refCnt() < 1 || entry.getLength() != 10
                        || entry.getDataBuffer().getLong(entry.getDataBuffer().readerIndex()) != entry.getEntryId()) {
                    broken.put("entries: other bytes", 1);
                }
            }
            if (!found.equals(wanted)) {
                broken.put("entries: others", 1);
            }
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException exception, Object context) {
            answers++;
        }
    }
}
