package org.apache.kafka.streams.state.internals;

import entrycache.protocol.MissingPart;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;

/** The parts of a task that a caching store uses: the thread cache and the current record. */
final class Context implements InvocationHandler {
    /** The task of all stores and namespaces. */
    static final TaskId TASK = new TaskId(0, 0);

    /** The configuration that a store on RocksDB reads and that has no default of its own. */
    private static final Map<String, Object> CONFIGS = Map.of("metrics.recording.level", "INFO");

    private final KafkaRun run;

    /** The number of the store among those that the run has opened: one that is opened again is empty. */
    private final int number;

    private ProcessorRecordContext record = new ProcessorRecordContext(
            Values.NO_TIMESTAMP, Values.ABSENT, Values.ABSENT, "", new RecordHeaders());

    private Context(KafkaRun run) {
        this.run = run;
        number = run.opened.size();
    }

    static InternalProcessorContext<?, ?> of(KafkaRun run) {
        return (InternalProcessorContext<?, ?>) Proxy.newProxyInstance(
                Context.class.getClassLoader(), new Class<?>[] {InternalProcessorContext.class}, new Context(run));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] given) {
        switch (method.getName()) {
            case "taskId":
                return TASK;
            case "applicationId":
                return StoreKind.SCOPE;
            case "cache":
                return run.cache;
            case "metrics":
                return run.metrics;
            case "appConfigs":
                return CONFIGS;
            case "stateDir":
                return run.folder(number);
            case "register":
                return null;
            case "registerCacheFlushListener":
                run.cache.addDirtyEntryFlushListener(
                        (String) given[0], (ThreadCache.DirtyEntryFlushListener) given[1]);
                return null;
            case "recordContext":
                return record;
            case "setRecordContext":
                record = (ProcessorRecordContext) given[0];
                return null;
            case "recordMetadata":
                return Optional.ofNullable(record);
            case "headers":
                return record.headers();
            case "offset":
                return record.offset();
            case "currentSystemTimeMs":
                return StandingTime.INSTANCE.milliseconds();
            case "timestamp":
                return record.timestamp();
            case "partition":
                return record.partition();
            case "topic":
                return record.topic();
            case "toString":
                return "context of task " + TASK;
            default:
                throw new MissingPart("the adapter has no " + method);
        }
    }
}
