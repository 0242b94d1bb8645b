package entrycache.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.ConsumerBuilder;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.MessageListener;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;

/** The consumers of one subscription. They refuse some messages once, so that the broker redelivers them. */
final class Subscribers implements MessageListener<byte[]> {
    private final ConsumerBuilder<byte[]> builder;
    private final int consumers;
    private final int refusedPercent;
    private final List<Consumer<byte[]>> open = new ArrayList<>();
    private final AtomicLong received = new AtomicLong();
    private final Set<MessageId> refused = ConcurrentHashMap.newKeySet();

    Subscribers(PulsarClient client, String topic, String name, SubscriptionType type, int consumers, Plan plan) {
        this.consumers = consumers;
        refusedPercent = plan.refusedPercent();
        builder = client.newConsumer().topic(topic).subscriptionName(name).subscriptionType(type).receiverQueueSize(500)
                .negativeAckRedeliveryDelay(300, TimeUnit.MILLISECONDS)
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest);
    }

    /** Creates the subscription and closes its consumer. */
    void subscribeOnly() throws PulsarClientException {
        builder.clone().receiverQueueSize(1).subscribe().close();
    }

    void open() throws PulsarClientException {
        for (int i = 0; i < consumers; i++) {
            open.add(builder.clone().messageListener(this).subscribe());
        }
    }

    @Override
    public void received(Consumer<byte[]> consumer, Message<byte[]> message) {
        MessageId id = message.getMessageId();
        if (refusedPercent > 0 && Math.floorMod(id.hashCode(), 100) < refusedPercent && refused.add(id)) {
            consumer.negativeAcknowledge(message);
        } else {
            received.incrementAndGet();
            consumer.acknowledgeAsync(message);
        }
    }

    long received() {
        return received.get();
    }

    void close() throws PulsarClientException {
        for (Consumer<byte[]> each : open) {
            each.close();
        }
    }
}
