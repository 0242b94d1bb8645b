package entrycache.broker;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * Real clients of a local broker. One consumer reads the tail, one reads it by keys, and some start late and catch up.
 * Some messages are refused and redelivered, and topics are unloaded and deleted while the broker runs.
 *
 * <p>Arguments {@code name=value}; see {@link Plan}. Prints its progress once a second.
 */
public final class Drive {
    private Drive() { }

    /** Sends and receives all messages; exits with status 1 if not all arrived. */
    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (String argument : arguments) {
            String[] pair = argument.split("=", 2);
            options.put(pair[0], pair[1]);
        }
        Plan plan = Plan.of(options);
        boolean all;
        try (PulsarClient client = PulsarClient.builder().serviceUrl(plan.service()).statsInterval(0, TimeUnit.SECONDS)
                .build()) {
            all = run(client, plan, new Admin(plan.web()));
        }
        System.exit(all ? 0 : 1);
    }

    private static boolean run(PulsarClient client, Plan plan, Admin admin) throws Exception {
        List<Subscribers> early = new ArrayList<>();
        List<Subscribers> late = new ArrayList<>();
        List<Producer<byte[]>> producers = new ArrayList<>();
        for (int topic = 0; topic < plan.topics(); topic++) {
            String name = plan.topic(topic);
            boolean byKey = topic == plan.topics() - 1;
            early.add(new Subscribers(client, name, "tail", byKey ? SubscriptionType.Key_Shared : SubscriptionType.Exclusive,
                    byKey ? 2 : 1, plan));
            late.add(new Subscribers(client, name, "late", byKey ? SubscriptionType.Shared : SubscriptionType.Exclusive, 1, plan));
            late.get(topic).subscribeOnly();
            early.get(topic).open();
            producers.add(client.newProducer().topic(name).enableBatching(plan.batches()).blockIfQueueFull(true)
                    .maxPendingMessages(2_000).create());
        }
        Sending sending = new Sending(producers, plan);
        sending.start();
        sending.await(plan.messages() / 3);
        if (plan.unloads()) {
            admin.unload(plan.topic(0));
        }
        sending.await(plan.messages() / 2);
        for (Subscribers each : late) {
            each.open();
        }
        sending.join();
        boolean all = awaited(early, late, plan);
        for (Subscribers each : early) {
            each.close();
        }
        for (Subscribers each : late) {
            each.close();
        }
        for (Producer<byte[]> producer : producers) {
            producer.close();
        }
        if (plan.deletes()) {
            admin.trim(plan.topic(0));
            Thread.sleep(1_000);
            admin.delete(plan.topic(0));
            Thread.sleep(1_500);
        }
        return all;
    }

    private static boolean awaited(List<Subscribers> early, List<Subscribers> late, Plan plan) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(plan.patienceSeconds());
        while (true) {
            long got = 0;
            for (Subscribers each : early) {
                got += each.received();
            }
            for (Subscribers each : late) {
                got += each.received();
            }
            System.out.println("received " + got + " of " + 2 * plan.messages());
            if (got >= 2 * plan.messages()) {
                return true;
            }
            if (System.nanoTime() > deadline) {
                return false;
            }
            Thread.sleep(500);
        }
    }
}
