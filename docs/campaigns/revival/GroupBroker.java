package org.apache.kafka.streams.processor.internals;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.record.TimestampType;

/** A broker of a few lines: topics, transactions and committed offsets. */
final class GroupBroker {
    final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
    private final Map<String, List<Row>> topics = new HashMap<>();
    private final Map<String, Long> ends = new HashMap<>();

    List<Row> rows(String topic) {
        return topics.computeIfAbsent(topic, name -> new ArrayList<>());
    }

    long offset(String topic) {
        return ends.merge(topic, 1L, Long::sum) - 1;
    }

    long next(String topic) {
        OffsetAndMetadata offset = committed.get(new TopicPartition(topic, 0));
        return offset == null ? 0 : offset.offset();
    }

    /** A producer; what a transaction sent is there when it is committed. */
    @SuppressWarnings("unchecked")
    Producer<byte[], byte[]> producer() {
        List<Row> pending = new ArrayList<>();
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        boolean[] isOpen = {false};
        return (Producer<byte[], byte[]>) Proxy.newProxyInstance(Producer.class.getClassLoader(), new Class<?>[] {Producer.class}, (self, method, given) -> {
            switch (method.getName()) {
                case "send":
                    ProducerRecord<byte[], byte[]> sent = (ProducerRecord<byte[], byte[]>) given[0];
                    Row row = new Row(sent.topic(), offset(sent.topic()), sent.timestamp() == null ? 0 : sent.timestamp(), sent.key(), sent.value(), sent.headers());
                    (isOpen[0] ? pending : rows(sent.topic())).add(row);
                    RecordMetadata told = new RecordMetadata(new TopicPartition(sent.topic(), 0), row.offset, 0, row.timestamp, 1, 1);
                    ((Callback) given[1]).onCompletion(told, null);
                    return CompletableFuture.completedFuture(told);
                case "beginTransaction":
                    isOpen[0] = true;
                    return null;
                case "sendOffsetsToTransaction":
                    offsets.putAll((Map<TopicPartition, OffsetAndMetadata>) given[0]);
                    return null;
                case "commitTransaction":
                    pending.forEach(each -> rows(each.topic).add(each));
                    committed.putAll(offsets);
                    // and then as when it is aborted
                case "abortTransaction":
                    pending.clear();
                    offsets.clear();
                    isOpen[0] = false;
                    return null;
                case "partitionsFor":
                    return List.of(new PartitionInfo((String) given[0], 0, Node.noNode(), null, null));
                default:
                    return method.getName().equals("metrics") ? Map.of() : null;
            }
        });
    }

    record Row(String topic, long offset, long timestamp, byte[] key, byte[] value, Headers headers) {
        ConsumerRecord<byte[], byte[]> consumed() {
            return new ConsumerRecord<>(topic, 0, offset, timestamp, TimestampType.CREATE_TIME, key.length, value == null ? -1 : value.length,
                    key, value, headers, Optional.empty());
        }
    }
}
