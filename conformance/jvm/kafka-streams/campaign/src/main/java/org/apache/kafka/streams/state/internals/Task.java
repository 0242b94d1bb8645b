package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/** The parts of a task that a caching store uses. */
final class Task {
    private static final TaskId ID = new TaskId(0, 0);

    private Task() {}

    static InternalProcessorContext<?, ?> of(ThreadCache cache, StreamsMetricsImpl metrics) {
        ProcessorRecordContext[] record = {new ProcessorRecordContext(0, 0, 0, "", new RecordHeaders())};
        return (InternalProcessorContext<?, ?>) Proxy.newProxyInstance(
                Task.class.getClassLoader(), new Class<?>[] {InternalProcessorContext.class}, (proxy, method, given) ->
                        switch (method.getName()) {
                            case "taskId" -> ID;
                            case "cache" -> cache;
                            case "metrics" -> metrics;
                            case "appConfigs" -> Map.of();
                            case "register" -> null;
                            case "registerCacheFlushListener" -> {
                                cache.addDirtyEntryFlushListener(
                                        (String) given[0], (ThreadCache.DirtyEntryFlushListener) given[1]);
                                yield null;
                            }
                            case "recordContext" -> record[0];
                            case "setRecordContext" -> {
                                record[0] = (ProcessorRecordContext) given[0];
                                yield null;
                            }
                            case "recordMetadata" -> Optional.of(record[0]);
                            case "headers" -> record[0].headers();
                            case "offset" -> record[0].offset();
                            case "timestamp" -> record[0].timestamp();
                            case "partition" -> record[0].partition();
                            case "topic" -> record[0].topic();
                            default -> throw new UnsupportedOperationException(method.toString());
                        });
    }
}
