import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;

/*
 * A subscription that has acknowledged nothing loses a message of a running broker, as two other subscriptions are
 * deleted. Public client and admin interface only; a topic is unloaded after each message, so that every message has
 * a ledger of its own, as it would have with time.
 *
 * The broker: any one whose namespace public/default retains nothing of what is acknowledged, as is the default. Class
 * path CP: that of the broker, or org.apache.pulsar:pulsar-client-original and pulsar-client-admin-original.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out LostMessageTest.java
 *   java -cp "out:$CP" LostMessageTest pulsar://127.0.0.1:6650 http://127.0.0.1:8080
 *
 * Plays the same twice: d is deleted before a, and, for control, a before d. Prints "conforms" and ends with status 0,
 * or prints what was lost and ends with status 1.
 */
public final class LostMessageTest {
    private static final int MESSAGES = 5;
    private static final long QUIET_MILLIS = 500;
    private static final int SILENCE_SECONDS = 3;

    public static void main(String[] arguments) throws Exception {
        int lost;
        try (PulsarClient client = PulsarClient.builder().serviceUrl(arguments[0]).build();
                PulsarAdmin admin = PulsarAdmin.builder().serviceHttpUrl(arguments[1]).build()) {
            lost = lost(client, admin, "da");
            lost += lost(client, admin, "ad");
        }
        System.out.println(lost == 0 ? "conforms" : "lost: " + lost);
        System.out.flush();
        Runtime.getRuntime().halt(lost == 0 ? 0 : 1);
    }

    /** How many messages f, which has acknowledged nothing, does not receive where d and a are deleted in that order. */
    private static int lost(PulsarClient client, PulsarAdmin admin, String deleted) throws Exception {
        String topic = "persistent://public/default/lost-" + deleted + "-" + System.nanoTime();
        admin.topics().createNonPartitionedTopic(topic);
        for (String name : List.of("a", "b", "c", "d", "e", "f")) {
            admin.topics().createSubscription(topic, name, MessageId.earliest);
        }
        Map<Integer, MessageId> sent = sent(client, admin, topic);

        acknowledge(client, topic, "e", sent.get(3));
        acknowledge(client, topic, "b", sent.get(1));
        acknowledge(client, topic, "d", sent.get(3));
        for (char name : deleted.toCharArray()) {
            admin.topics().deleteSubscription(topic, String.valueOf(name));
            Thread.sleep(QUIET_MILLIS);
        }
        acknowledge(client, topic, "c", sent.get(2));
        for (String name : List.of("e", "b", "c")) {
            acknowledge(client, topic, name, sent.get(4));
        }
        Thread.sleep(QUIET_MILLIS);

        List<String> received = received(client, topic, "f");
        System.out.println((deleted.equals("da") ? "d deleted, then a" : "a deleted, then d")
                + ": f, which has acknowledged nothing, receives " + received);
        return MESSAGES - received.size();
    }

    /** The ids of the messages, a ledger each. A topic loses nothing by being unloaded. */
    private static Map<Integer, MessageId> sent(PulsarClient client, PulsarAdmin admin, String topic) throws Exception {
        Map<Integer, MessageId> sent = new HashMap<>();
        try (Producer<byte[]> producer = client.newProducer().topic(topic).enableBatching(false).create()) {
            for (int i = 1; i <= MESSAGES; i++) {
                sent.put(i, producer.send(("message " + i).getBytes(StandardCharsets.UTF_8)));
                admin.topics().unload(topic);
            }
        }
        return sent;
    }

    /** Acknowledge all messages up to one; the broker has heard it when this returns. */
    private static void acknowledge(PulsarClient client, String topic, String name, MessageId upTo) throws Exception {
        try (Consumer<byte[]> consumer = subscribed(client, topic, name)) {
            consumer.acknowledgeCumulativeAsync(upTo).get();
            Thread.sleep(QUIET_MILLIS);
        }
        Thread.sleep(QUIET_MILLIS);
    }

    private static List<String> received(PulsarClient client, String topic, String name) throws Exception {
        List<String> received = new ArrayList<>();
        try (Consumer<byte[]> consumer = subscribed(client, topic, name)) {
            for (Message<byte[]> message = next(consumer); message != null; message = next(consumer)) {
                received.add(new String(message.getValue(), StandardCharsets.UTF_8));
            }
        }
        return received;
    }

    private static Message<byte[]> next(Consumer<byte[]> consumer) throws Exception {
        return consumer.receive(SILENCE_SECONDS, TimeUnit.SECONDS);
    }

    private static Consumer<byte[]> subscribed(PulsarClient client, String topic, String name) throws Exception {
        return client.newConsumer().topic(topic).subscriptionName(name)
                .subscriptionType(SubscriptionType.Exclusive)
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
                .isAckReceiptEnabled(true).acknowledgmentGroupTime(0, TimeUnit.MILLISECONDS)
                .subscribe();
    }
}
