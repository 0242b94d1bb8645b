package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.EntryReadCountHandlerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import org.apache.pulsar.common.util.collections.ConcurrentLongHashMap;
import sun.misc.Unsafe;

/*
 * Random reads of one ledger through the released cache while storage answers late, out of order, with
 * failures, with too few entries, or throws, or while a payload processor throws. One thread, no clock: the
 * same seed does the same. Arguments: the first seed, and how many worlds. Prints one JSON object.
 *
 * What is held in each world, once everything that was begun has been answered:
 *   answered  each read was answered once
 *   entries   a read that succeeded delivered its entries, in order, each with its own bytes
 *   counts    the expected reads of an entry never exceed what deliveries left, and lack at most two more: one where
 *             the cache let it go, one for a rejected duplicate (findings of their own; a failed read is a third)
 *   bytes     an emptied cache counts 0 bytes, and so does its manager
 *   buffers   no buffer is held by anybody, and none was released once too often
 *   permits   all permits are back
 */
public final class PendingReads {
    private static final int ENTRIES = 24;
    private static final int EXPECTED = 4;
    private static final String[] MODES = {"late", "short", "throwing processor", "throwing storage"};

    private final Random random;
    private final String mode;
    private final LateStorage storage;
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final List<Reader> readers = new ArrayList<>();
    private final List<Entry> held = new ArrayList<>();
    private final Map<EntryReadCountHandlerImpl, int[]> taken = new IdentityHashMap<>();
    private final Map<String, Integer> broken = new TreeMap<>();
    private final StringBuilder history = new StringBuilder();
    private RangeEntryCacheManagerImpl manager;
    private RangeEntryCacheImpl cache;
    private long limit;

    private PendingReads(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        random.nextInt();
        mode = MODES[random.nextInt(MODES.length)];
        storage = new LateStorage(random, history, mode.equals("throwing storage"), mode.equals("short"));
    }

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Map<String, int[]> told = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        long reads = 0;
        for (long seed = first; seed < first + count; seed++) {
            PendingReads world = new PendingReads(seed);
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
        start();
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
                int from = random.nextInt(ENTRIES);
                read(from, Math.min(ENTRIES - 1, from + random.nextInt(8)));
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
                cache.invalidateEntries(PositionFactory.create(1, to));
            }
        }
    }

    private void add(long entry) {
        history.append("; insert ").append(entry);
        EntryImpl added = EntryImpl.create(1, entry, storage.bytes(entry), EXPECTED);
        storage.buffers.get(storage.buffers.size() - 1).release();
        added.setDecreaseReadCountOnRelease(false);
        cache.insert(added);
        added.release();
    }

    private void read(long first, long last) throws Exception {
        history.append("; read ").append(first).append("..").append(last);
        Reader reader = new Reader(first, last);
        readers.add(reader);
        IntSupplier count = () -> EXPECTED;
        for (Method method : EntryCache.class.getMethods()) {
            List<Class<?>> types = List.of(method.getParameterTypes());
            if (!method.getName().equals("asyncReadEntry") || !types.contains(IntSupplier.class)) {
                continue;
            }
            method.setAccessible(true);
            try {
                if (types.size() == 6) {
                    method.invoke(cache, storage.handle(), first, last, count, reader, null);
                } else {
                    method.invoke(cache, storage.handle(), first, last, -1L, count, reader, null);
                }
            } catch (InvocationTargetException thrown) {
                broken.put("throws " + thrown.getCause().getClass().getSimpleName(), 1);
            }
            return;
        }
    }

    private void release() {
        Entry entry = held.remove(random.nextInt(held.size()));
        var reads = (EntryReadCountHandlerImpl) entry.getReadCountHandler();
        if (reads != null) {
            taken.computeIfAbsent(reads, key -> new int[1])[0]++;
        }
        entry.release();
    }

    /** What holds when everything has been answered and released. */
    private void look() throws Exception {
        for (Reader reader : readers) {
            if (reader.answers != 1) {
                broken.put("answered " + (reader.answers > 1 ? "twice" : "never"), 1);
            }
        }
        for (var one : taken.entrySet()) {
            int left = one.getKey().getExpectedReadCount();
            int most = EXPECTED - one.getValue()[0];
            if (left > Math.max(most, 0) || (left < most - 2 && !storage.hasFailed())) {
                broken.put("counts", 1);
            }
        }
        cache.clear();
        if (cache.getSize() != 0 || manager.getSize() != 0) {
            broken.put("bytes", 1);
        }
        for (ByteBuf buffer : storage.buffers) {
            if (buffer.refCnt() != 0) {
                broken.put("buffers", 1);
            }
        }
        if (limit > 0 && manager.getInflightReadsLimiter().getRemainingBytes() != limit) {
            broken.put("permits", 1);
        }
    }

    /** The released manager and one cache without a broker around them: of their neighbours only what they look at. */
    private void start() throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        var factory = (ManagedLedgerFactoryImpl) unsafe.allocateInstance(ManagedLedgerFactoryImpl.class);
        write(factory, "config", new ManagedLedgerFactoryConfig());
        write(factory, "mbean", new ManagedLedgerFactoryMBeanImpl(factory));
        write(factory, "cacheEvictionExecutor", executor(factory, "cacheEvictionExecutor"));
        manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
        limit = random.nextBoolean() ? 0 : new long[] {1_000, 30_000, 200_000}[random.nextInt(3)];
        write(manager, "inflightReadsLimiter", new InflightReadsLimiter(limit, 1_000, 0, null, OpenTelemetry.noop()));
        history.append(limit == 0 ? "no limit" : "limit " + limit);
        var ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, "name", "ledger");
        write(ledger, "config", new ManagedLedgerConfig());
        write(ledger, "factory", factory);
        write(ledger, "ledgers", new ConcurrentSkipListMap<>());
        write(ledger, "ledgerCache", ConcurrentLongHashMap.newBuilder().build());
        write(ledger, "executor", executor(ledger, "executor"));
        write(ledger, "mbean", new ManagedLedgerMBeanImpl(ledger));
        cache = (RangeEntryCacheImpl) manager.getEntryCache(ledger);
        if (mode.equals("throwing processor")) {
            Field processor = RangeEntryCacheImpl.class.getDeclaredField("interceptor");
            write(cache, "interceptor", Proxy.newProxyInstance(
                    processor.getType().getClassLoader(), new Class<?>[] {processor.getType()}, (proxy, method, given) -> {
                if (method.getName().equals("processPayloadBeforeEntryCache") && random.nextInt(6) == 0) {
                    history.append("; the processor throws");
                    throw new IllegalStateException("payload");
                }
                return null;
            }));
        }
    }

    /** Keeps what it is given until its turn comes; what evicts runs at once. */
    private Object executor(Object owner, String name) throws Exception {
        Class<?> type = owner.getClass().getDeclaredField(name).getType();
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (given != null && given.length == 1 && given[0] instanceof Runnable task) {
                if (name.equals("cacheEvictionExecutor")) {
                    task.run();
                } else {
                    tasks.add(() -> {
                        try {
                            task.run();
                        } catch (RuntimeException thrown) {
                            history.append("; a task throws ").append(thrown.getClass().getSimpleName());
                        }
                    });
                }
            }
            return method.getReturnType().equals(boolean.class) ? (Object) true : null;
        });
    }

    private static void write(Object owner, String name, Object value) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    private final class Reader implements ReadEntriesCallback {
        private final long first;
        private final long last;
        private int answers;

        private Reader(long first, long last) {
            this.first = first;
            this.last = last;
        }

        @Override
        public void readEntriesComplete(List<Entry> delivered, Object context) {
            answers++;
            long next = first;
            for (Entry entry : delivered) {
                if (entry == null) {
                    broken.put("entries: null", 1);
                    continue;
                }
                held.add(entry);
                if (entry.getEntryId() != next && (!mode.equals("short") || entry.getEntryId() < next)) {
                    broken.put("entries: another", 1);
                }
                if (mode.equals("short") && entry.getEntryId() > next) {
                    broken.put("entries: a hole", 1);
                }
                next = entry.getEntryId() + 1;
                if (entry.getDataBuffer().refCnt() < 1 || entry.getLength() != 10
                        || entry.getDataBuffer().getLong(entry.getDataBuffer().readerIndex()) != entry.getEntryId()) {
                    broken.put("entries: other bytes", 1);
                }
            }
            if (next != last + 1 && !mode.equals("short")) {
                broken.put("entries: too few", 1);
            }
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException exception, Object context) {
            answers++;
        }
    }
}
