package org.apache.bookkeeper.mledger.impl.cache;

import io.opentelemetry.api.OpenTelemetry;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import org.apache.pulsar.common.util.collections.ConcurrentLongHashMap;
import sun.misc.Unsafe;

/** The released manager, one cache and one cursor without a broker around them: of their neighbours only what they look at. */
final class ReplayedLedger {
    /** Of ledger 1, which is open for reading and not the current one. */
    private final int entries;
    final RangeEntryCacheManagerImpl manager;
    final RangeEntryCacheImpl cache;
    /** The handles that reads of storage go to, by ledger. */
    final ConcurrentLongHashMap<CompletableFuture<ReadHandle>> handles =
            ConcurrentLongHashMap.<CompletableFuture<ReadHandle>>newBuilder().build();
    /** One that has acknowledged every so manieth entry, where it acknowledges any. */
    ManagedCursorImpl cursor;
    boolean acknowledges;
    private final long each;
    private final Consumer<Runnable> later;

    /** Tasks of the ledger's executor are kept for later. */
    ReplayedLedger(int entries, long each, long limit, Consumer<Runnable> later) throws Exception {
        this.entries = entries;
        this.each = each;
        this.later = later;
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        var factory = (ManagedLedgerFactoryImpl) unsafe.allocateInstance(ManagedLedgerFactoryImpl.class);
        write(factory, "config", new ManagedLedgerFactoryConfig());
        write(factory, "mbean", new ManagedLedgerFactoryMBeanImpl(factory));
        write(factory, "cacheEvictionExecutor", executor(factory, "cacheEvictionExecutor"));
        manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
        write(manager, "inflightReadsLimiter", new InflightReadsLimiter(limit, 1_000, 0, null, OpenTelemetry.noop()));
        var ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, "name", "ledger");
        ManagedLedgerConfig untimed = new ManagedLedgerConfig();
        untimed.setReadEntryTimeoutSeconds(0);
        write(ledger, "config", untimed);
        write(ledger, "factory", factory);
        write(ledger, "ledgers", new ConcurrentSkipListMap<>());
        write(ledger, "executor", executor(ledger, "executor"));
        write(ledger, "mbean", new ManagedLedgerMBeanImpl(ledger));
        cache = (RangeEntryCacheImpl) manager.getEntryCache(ledger);
        openLedger(unsafe, ledger);
        openCursor(unsafe, ledger);
    }

    /** Ledger 1 is open for reading and not the current one. */
    private void openLedger(Unsafe unsafe, ManagedLedgerImpl ledger) throws Exception {
        write(ledger, "entryCache", cache);
        LedgerHandle current = (LedgerHandle) unsafe.allocateInstance(LedgerHandle.class);
        Field id = LedgerHandle.class.getDeclaredField("ledgerId");
        unsafe.putLong(current, unsafe.objectFieldOffset(id), 99);
        write(ledger, "currentLedger", current);
        write(ledger, "ledgerCache", handles);
        write(ledger, "lastConfirmedEntry", PositionFactory.create(1, entries));
        Field ledgers = ManagedLedgerImpl.class.getDeclaredField("ledgers");
        ledgers.setAccessible(true);
        @SuppressWarnings("unchecked")
        var infos = (Map<Long, Object>) ledgers.get(ledger);
        infos.put(1L, info(entries));
        writeLog(ledger);
    }

    /** What is known of ledger 1: a message of Protobuf in one release, of LightProto in another. */
    private static Object info(int entries) throws Exception {
        Class<?> type = ManagedLedgerImpl.class.getMethod("getOptionalLedgerInfo", long.class).getReturnType();
        for (String name : List.of("org.apache.bookkeeper.mledger.proto.MLDataFormats$ManagedLedgerInfo$LedgerInfo",
                "org.apache.bookkeeper.mledger.proto.ManagedLedgerInfo$LedgerInfo")) {
            try {
                Class<?> message = Class.forName(name);
                try {
                    Object builder = message.getMethod("newBuilder").invoke(null);
                    builder.getClass().getMethod("setLedgerId", long.class).invoke(builder, 1L);
                    return builder.getClass().getMethod("build").invoke(builder);
                } catch (NoSuchMethodException light) {
                    Object made = message.getConstructor().newInstance();
                    message.getMethod("setLedgerId", long.class).invoke(made, 1L);
                    message.getMethod("setSize", long.class).invoke(made, 10L * entries);
                    message.getMethod("setEntries", long.class).invoke(made, (long) entries);
                    return made;
                }
            } catch (ClassNotFoundException other) {
                continue;
            }
        }
        throw new IllegalStateException("no " + type);
    }

    /** A cursor that has acknowledged every fifth entry; none in 5.0.1, whose set of them needs classes that are not there. */
    private void openCursor(Unsafe unsafe, ManagedLedgerImpl ledger) throws Exception {
        cursor = (ManagedCursorImpl) unsafe.allocateInstance(ManagedCursorImpl.class);
        write(cursor, "ledger", ledger);
        write(cursor, "name", "cursor");
        write(cursor, "lock", new ReentrantReadWriteLock());
        write(cursor, "markDeletePosition", PositionFactory.create(0, 0));
        write(cursor, "readPosition", PositionFactory.create(2, 0));
        standIn("org/apache/pulsar/common/util/collections/LongBitmap");
        Field field = ManagedCursorImpl.class.getDeclaredField("individualDeletedMessages");
        Object acknowledged = unsafe.allocateInstance(field.getType());
        acknowledges = field.getType().getSimpleName().equals("RangeSetWrapper");
        Field inner = field.getType().getDeclaredField(acknowledges ? "rangeSet" : "rangeBitmapMap");
        write(acknowledged, inner.getName(), Proxy.newProxyInstance(
                inner.getType().getClassLoader(), new Class<?>[] {inner.getType()}, (proxy, method, given) -> {
            return method.getName().equals("contains") ? (Object) ((long) given[1] % each == 0) : null;
        }));
        write(cursor, "individualDeletedMessages", acknowledged);
        writeLog(cursor);
    }

    /** A class of pulsar-common 5.0.1, which Maven Central does not serve: an empty one of its name is enough to load. */
    private static void standIn(String name) throws Exception {
        try {
            Class.forName(name.replace('/', '.'));
        } catch (ClassNotFoundException missing) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0xCAFEBABE);
            out.writeInt(61);
            out.writeShort(5);
            for (String one : List.of(name, "java/lang/Object")) {
                out.writeByte(1);
                out.writeUTF(one);
                out.writeByte(7);
                out.writeShort(one.equals(name) ? 1 : 3);
            }
            for (int word : new int[] {0x0421, 2, 4, 0, 0, 0, 0}) {
                out.writeShort(word);
            }
            MethodHandles.privateLookupIn(ConcurrentLongHashMap.class, MethodHandles.lookup()).defineClass(bytes.toByteArray());
        }
    }

    private static void writeLog(Object owner) throws Exception {
        Field log = owner.getClass().getDeclaredField("log");
        if (!Modifier.isStatic(log.getModifiers())) {
            write(owner, "log", log.getType().getMethod("get", Class.class).invoke(null, owner.getClass()));
        }
    }

    /** Keeps for later what it is given; what evicts runs at once. */
    private Object executor(Object owner, String name) throws Exception {
        Class<?> type = owner.getClass().getDeclaredField(name).getType();
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (given != null && given.length == 1 && given[0] instanceof Runnable task) {
                if (name.equals("cacheEvictionExecutor")) {
                    task.run();
                } else {
                    later.accept(task);
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
}
