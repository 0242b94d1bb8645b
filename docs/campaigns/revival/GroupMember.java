package org.apache.kafka.streams.processor.internals;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.errors.DefaultProductionExceptionHandler;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.internals.ThreadCache;

/** What a thread of a member has of the task: an active one or a standby. */
final class GroupMember {
    private final GroupBroker broker;
    private final boolean isExact;
    private final MockConsumer<byte[], byte[]> consumer;
    private final StreamsProducer producer;
    private final StreamsMetricsImpl metrics;
    private final StateDirectory directory;
    private final Time time;
    private final ThreadCache cache;
    private final ThreadCache none;
    private final Set<TopicPartition> inputs;
    StreamTask active;
    StandbyTask standby;

    @SuppressWarnings("unchecked")
    GroupMember(GroupBroker broker, RevivedTasks.Plan plan, Path folder) throws Exception {
        this.broker = broker;
        isExact = plan.isExact();
        TopologyTestDriver driver = new TopologyTestDriver(Shapes.topology(plan).build(), Shapes.config(plan, folder));
        active = (StreamTask) read(driver, TopologyTestDriver.class, "task");
        consumer = (MockConsumer<byte[], byte[]>) read(driver, TopologyTestDriver.class, "consumer");
        producer = (StreamsProducer) read(driver, TopologyTestDriver.class, "testDriverProducer");
        metrics = (StreamsMetricsImpl) read(active, StreamTask.class, "streamsMetrics");
        directory = (StateDirectory) read(driver, TopologyTestDriver.class, "stateDirectory");
        time = (Time) read(driver, TopologyTestDriver.class, "mockWallClockTime");
        cache = active.processorContext.cache();
        none = new ThreadCache(new LogContext(), 0, metrics);
        inputs = new HashSet<>(active.inputPartitions());
        Field sends = StreamsProducer.class.getDeclaredField("producer");
        sends.setAccessible(true);
        sends.set(producer, broker.producer());
        toStandby();
    }

    void process(GroupBroker.Row row) throws Exception {
        TopicPartition from = new TopicPartition(row.topic(), 0);
        active.addRecords(from, List.of(row.consumed()));
        consumer.seek(from, row.offset() + 1);
        try { // TaskManager.addRecordsToTasks; before 4.0 the task asks its consumer
            StreamTask.class.getMethod("updateNextOffsets", TopicPartition.class, OffsetAndMetadata.class)
                    .invoke(active, from, new OffsetAndMetadata(row.offset() + 1, Optional.empty(), ""));
        } catch (NoSuchMethodException older) {
            consumer.seek(from, row.offset() + 1);
        }
        while (active.process(time.milliseconds())) {
            active.maybePunctuateStreamTime();
        }
    }

    void tick() {
        time.sleep(10);
        active.maybePunctuateSystemTime();
    }

    private boolean commitNeeded() throws Exception {
        return (boolean) read(active, StreamTask.class, "commitNeeded");
    }

    private void send(Map<TopicPartition, OffsetAndMetadata> offsets) {
        if (isExact) {
            producer.commitTransaction(offsets, new ConsumerGroupMetadata("campaign"));
        } else {
            broker.committed.putAll(offsets);
        }
    }

    /** TaskExecutor.commitTasksAndMaybeUpdateCommittableOffsets. */
    void commit() throws Exception {
        if (commitNeeded()) {
            send(prepareCommit(active, true));
            active.postCommit(false);
        }
    }

    /** The same where the broker does not answer in time; TaskManager.commit revives what could not be committed. */
    void timeout() {
        prepareCommit(active, true);
        revive(active, isExact);
        start(active);
    }

    /** TaskManager.handleRevocation. */
    void revoke() throws Exception {
        if (commitNeeded()) {
            send(prepareCommit(active, true));
        }
        active.postCommit(true);
        active.suspend();
    }

    /** TaskManager.handleAssignment of a task that it has. */
    void resume() {
        active.resume();
        complete();
    }

    /** TaskManager.handleCorruption. */
    void corrupt() {
        revive(active, true);
        start(active);
    }

    /** TaskManager.closeAndRecycleTasks and StandbyTaskCreator.createStandbyTaskFromActive. */
    void toStandby() throws Exception {
        revoke();
        prepareCommit(active, true);
        active.prepareRecycle();
        active.stateMgr.transitionTaskType(Task.TaskType.STANDBY, new LogContext());
        standby = new StandbyTask(active.id, inputs, active.topology, active.config, metrics, active.stateMgr, directory, none, active.processorContext);
        active = null;
        initialize(standby);
    }

    /** TaskManager.closeAndRecycleTasks and ActiveTaskCreator.createActiveTaskFromStandby. */
    void toActive() {
        prepareCommit(standby, true);
        standby.suspend();
        standby.postCommit(true);
        standby.prepareRecycle();
        standby.stateMgr.transitionTaskType(Task.TaskType.ACTIVE, new LogContext());
        RecordCollector collector = new RecordCollectorImpl(new LogContext(), standby.id, producer, new DefaultProductionExceptionHandler(), metrics, standby.topology);
        active = new StreamTask(standby.id, inputs, standby.topology, consumer, standby.config, metrics, directory, cache, time,
                standby.stateMgr, collector, (InternalProcessorContext) standby.processorContext, standby.logContext, false);
        standby = null;
        start(active);
    }

    private void start(StreamTask task) {
        initialize(task);
        catchUp();
        complete();
    }

    private void complete() {
        consumer.commitSync(broker.committed);
        active.completeRestoration(partitions -> { });
    }

    private static void initialize(Task task) {
        try {
            task.initializeIfNeeded();
        } catch (TaskCorruptedException error) {
            RevivedTasks.PLAYED.merge("corrupt at start", 1, Integer::sum);
            revive(task, true);
            task.initializeIfNeeded();
        }
    }

    /** TaskManager.closeDirtyAndRevive. */
    private static void revive(Task task, boolean isCorrupt) {
        if (isCorrupt) {
            task.markChangelogAsCorrupted(task.changelogPartitions());
        }
        swallow(() -> prepareCommit(task, false));
        swallow(() -> {
            task.suspend();
            if (isCorrupt) {
                task.postCommit(true);
            }
        });
        task.closeDirty();
        task.revive();
    }

    private static void swallow(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException swallowed) {
            RevivedTasks.PLAYED.merge("swallowed", 1, Integer::sum);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<TopicPartition, OffsetAndMetadata> prepareCommit(Task task, boolean isClean) {
        try {
            try {
                return (Map<TopicPartition, OffsetAndMetadata>) Task.class.getMethod("prepareCommit", boolean.class).invoke(task, isClean);
            } catch (NoSuchMethodException older) {
                return (Map<TopicPartition, OffsetAndMetadata>) Task.class.getMethod("prepareCommit").invoke(task);
            }
        } catch (InvocationTargetException error) {
            throw (RuntimeException) error.getCause();
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** StoreChangelogReader.restore: what is committed in the changelogs and not in the stores yet. */
    void catchUp() {
        ProcessorStateManager manager = manager();
        for (TopicPartition changelog : manager.changelogPartitions()) {
            var store = manager.storeMetadata(changelog);
            long last = store.offset() == null ? -1 : store.offset();
            List<ConsumerRecord<byte[], byte[]>> rows = broker.rows(changelog.topic()).stream().filter(row -> row.offset() > last).map(GroupBroker.Row::consumed).toList();
            if (!rows.isEmpty()) {
                manager.restore(store, rows, OptionalLong.empty());
            }
        }
    }

    private ProcessorStateManager manager() {
        return active != null ? active.stateMgr : standby.stateMgr;
    }

    /** The rows of every store, asked through its cache. */
    @SuppressWarnings("unchecked")
    Map<String, String> holds() {
        Map<String, String> rows = new TreeMap<>();
        for (TopicPartition changelog : manager().changelogPartitions()) {
            StateStore store = manager().storeMetadata(changelog).store();
            try (KeyValueIterator<?, ?> all = store instanceof KeyValueStore<?, ?> table ? table.all()
                    : store instanceof WindowStore<?, ?> windows ? windows.all()
                    : store instanceof SessionStore<?, ?> sessions ? ((SessionStore<String, ?>) sessions).fetch("k0", "k9") : null) {
                while (all != null && all.hasNext()) {
                    var row = all.next();
                    rows.merge(store.name() + " " + row.key, String.valueOf(row.value), (one, other) -> one + ", " + other);
                }
            }
        }
        return rows;
    }

    boolean reads(String topic) {
        return inputs.contains(new TopicPartition(topic, 0));
    }

    /** A harm. */
    void clearCaches() {
        active.stateMgr.recycle();
    }

    void close() throws Exception {
        Task task = active != null ? active : standby;
        task.suspend();
        task.closeDirty();
    }

    private static Object read(Object from, Class<?> type, String name) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(from);
    }
}
