package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import org.apache.pulsar.common.util.collections.ConcurrentLongHashMap;
import sun.misc.Unsafe;

/*
 * Somebody else holds, or releases once too often, what the released cache holds: a buffer, or the entry itself, which
 * then may be used for another position while the cache still has it. One thread, no clock: the same seed does the
 * same. Arguments: the first seed, and how many worlds. Prints one JSON object.
 *
 * What is held:
 *   answered  each read is answered once
 *   entries   what a read delivers are its entries, each with its own bytes (of whole buffers)
 *   throws    no pass, removal or read throws at its caller
 *   bytes     an emptied cache counts 0 bytes, and so does its manager
 *   buffers   no whole buffer is held by anybody in the end, and none was released once too often
 */
public final class DamagedEntries {
    private static final int ENTRIES = 12;
    private static final String[] MODES = {"kept", "buffer released", "entry released", "entry released and used again"};

    private final Random random;
    private final String mode;
    private final List<ByteBuf> buffers = new ArrayList<>();
    private final Set<ByteBuf> damaged = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<Entry> kept = new ArrayList<>();
    private final Map<String, Integer> broken = new TreeMap<>();
    private final StringBuilder history = new StringBuilder();
    private RangeEntryCacheManagerImpl manager;
    private RangeEntryCacheImpl cache;
    private int steps;

    private DamagedEntries(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        mode = MODES[random.nextInt(MODES.length)];
    }

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Map<String, int[]> told = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        long steps = 0;
        for (long seed = first; seed < first + count; seed++) {
            DamagedEntries world = new DamagedEntries(seed);
            try {
                world.live();
            } catch (RuntimeException thrown) {
                world.broken.put("throws", 1);
            }
            steps += world.steps;
            told.computeIfAbsent("worlds: " + world.mode, key -> new int[1])[0]++;
            for (var one : world.broken.entrySet()) {
                String key = world.mode + ": " + one.getKey();
                told.computeIfAbsent(key, name -> new int[1])[0]++;
                examples.putIfAbsent(key, "seed " + seed + ": " + world.history);
            }
        }
        StringBuilder json = new StringBuilder("{\"first_seed\": " + first + ", \"worlds\": " + count + ", \"steps\": " + steps);
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
        history.append(mode);
        int last = 8 + random.nextInt(25);
        for (steps = 0; steps < last; steps++) {
            switch (random.nextInt(7)) {
                case 0, 1, 2 -> insert(random.nextInt(ENTRIES));
                case 3, 4 -> {
                    int from = random.nextInt(ENTRIES);
                    read(from, Math.min(ENTRIES - 1, from + random.nextInt(5)));
                }
                case 5 -> {
                    int to = random.nextInt(ENTRIES);
                    history.append("; invalidate before ").append(to);
                    guarded(() -> cache.invalidateEntries(PositionFactory.create(1, to)));
                }
                default -> {
                    history.append("; cycle");
                    guarded(manager::doCacheEviction);
                }
            }
        }
        kept.forEach(Entry::release);
        for (int turn = 0; turn < ENTRIES; turn++) {
            guarded(cache::clear);
            guarded(manager::doCacheEviction);
        }
        if (cache.getSize() != 0 || manager.getSize() != 0) {
            broken.put(cache.getSize() != 0 ? "bytes of the cache" : "bytes of the manager", 1);
        }
        for (ByteBuf buffer : buffers) {
            if (buffer.refCnt() != 0 && !damaged.contains(buffer)) {
                broken.put("buffers", 1);
            }
        }
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException thrown) {
            broken.put("throws", 1);
        }
    }

    private void insert(long position) {
        ByteBuf buffer = bytes(position);
        EntryImpl entry = EntryImpl.create(1, position, buffer, 1);
        buffer.release();
        entry.setDecreaseReadCountOnRelease(false);
        boolean inserted = cache.insert(entry);
        entry.release();
        history.append("; insert ").append(position);
        if (!inserted || random.nextInt(4) != 0) {
            return;
        }
        history.append(" (").append(mode).append(')');
        try {
            EntryImpl cached = cached(position);
            switch (mode) {
                case "kept" -> kept.add(cached);
                case "buffer released" -> {
                    cached.release();
                    damaged.add(buffer);
                    buffer.release();
                }
                case "entry released" -> {
                    cached.release();
                    cached.release();
                }
                default -> {
                    cached.release();
                    cached.release();
                    ByteBuf other = bytes(ENTRIES + 1);
                    kept.add(EntryImpl.create(1, ENTRIES + 1, other, 1));
                    other.release();
                }
            }
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    private EntryImpl cached(long position) throws ReflectiveOperationException {
        Field field = RangeEntryCacheImpl.class.getDeclaredField("entries");
        field.setAccessible(true);
        return (EntryImpl) ((RangeCache) field.get(cache)).get(PositionFactory.create(1, position));
    }

    private ByteBuf bytes(long entry) {
        ByteBuf made = Unpooled.buffer(10);
        made.writeLong(entry).writeShort(7);
        buffers.add(made);
        return made;
    }

    private void read(long first, long last) throws Exception {
        history.append("; read ").append(first).append("..").append(last);
        Reader reader = new Reader(first, last);
        IntSupplier count = () -> 1;
        for (Method method : EntryCache.class.getMethods()) {
            List<Class<?>> types = List.of(method.getParameterTypes());
            if (!method.getName().equals("asyncReadEntry") || !types.contains(IntSupplier.class)) {
                continue;
            }
            method.setAccessible(true);
            try {
                if (types.size() == 6) {
                    method.invoke(cache, storage(), first, last, count, reader, null);
                } else {
                    method.invoke(cache, storage(), first, last, -1L, count, reader, null);
                }
            } catch (InvocationTargetException thrown) {
                broken.put("throws", 1);
            }
            break;
        }
        if (reader.answers != 1) {
            broken.put(reader.answers == 0 ? "answered never" : "answered twice", 1);
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
        var ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, "name", "ledger");
        write(ledger, "config", new ManagedLedgerConfig());
        write(ledger, "factory", factory);
        write(ledger, "ledgers", new ConcurrentSkipListMap<>());
        write(ledger, "ledgerCache", ConcurrentLongHashMap.newBuilder().build());
        write(ledger, "executor", executor(ledger, "executor"));
        write(ledger, "mbean", new ManagedLedgerMBeanImpl(ledger));
        cache = (RangeEntryCacheImpl) manager.getEntryCache(ledger);
    }

    /** Runs what it is given at once. */
    private static Object executor(Object owner, String name) throws Exception {
        Class<?> type = owner.getClass().getDeclaredField(name).getType();
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (given != null && given.length == 1 && given[0] instanceof Runnable task) {
                task.run();
            }
            return method.getReturnType().equals(boolean.class) ? (Object) true : null;
        });
    }

    private static void write(Object owner, String name, Object value) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    /** A ledger handle that answers at once. */
    private ReadHandle storage() {
        return (ReadHandle) Proxy.newProxyInstance(
                ReadHandle.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
            if (method.getName().equals("getId")) {
                return 1L;
            }
            if (!method.getReturnType().equals(CompletableFuture.class)) {
                return method.getReturnType().equals(long.class) ? (Object) 0L : null;
            }
            List<LedgerEntry> found = new ArrayList<>();
            for (long entry = (long) given[0]; entry <= (long) given[1]; entry++) {
                found.add(LedgerEntryImpl.create(1, entry, 10, bytes(entry)));
            }
            return CompletableFuture.completedFuture(LedgerEntriesImpl.create(found));
        });
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
                if (entry.getEntryId() != next++ || entry.getLength() != 10
                        || entry.getDataBuffer().getLong(entry.getDataBuffer().readerIndex()) != entry.getEntryId()) {
                    broken.put("entries", 1);
                }
                entry.release();
            }
            if (next != last + 1) {
                broken.put("entries", 1);
            }
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException exception, Object context) {
            answers++;
        }
    }
}
