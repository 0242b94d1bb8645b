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
 * Real clients of a local broker: one that reads the tail, one that reads it by keys, some that come late and catch up,
 * messages that are refused and come again; topics that are unloaded, and deleted, while the broker runs.
 *
 * <p>Arguments {@code name=value}; see {@link Plan}. A line a second says how far it is.
 */
public final class Drive {
    private Drive() { }

    /** Sends and receives all messages; status 1 where not all came. */
    public static void main(String[] arguments) throws Exception {
        Map<String, String> told = new HashMap<>();
        for (String argument : arguments) {
            String[] pair = argument.split("=", 2);
            told.put(pair[0], pair[1]);
        }
        Plan plan = Plan.of(told);
        boolean all;
        try (PulsarClient client = PulsarClient.builder().serviceUrl(plan.service()).statsInterval(0, TimeUnit.SECONDS)
                .build()) {
            all = run(client, plan, new Admin(plan.web()));
        }
        System.exit(all ? 0 : 1);
    }

    private static boolean run(PulsarClient client, Plan plan, Admin admin) throws Exception {
        List<Readers> early = new ArrayList<>();
        List<Readers> late = new ArrayList<>();
        List<Producer<byte[]>> producers = new ArrayList<>();
        for (int topic = 0; topic < plan.topics(); topic++) {
            String name = plan.topic(topic);
            boolean byKey = topic == plan.topics() - 1;
            early.add(new Readers(client, name, "tail", byKey ? SubscriptionType.Key_Shared : SubscriptionType.Exclusive,
                    byKey ? 2 : 1, plan));
            late.add(new Readers(client, name, "late", byKey ? SubscriptionType.Shared : SubscriptionType.Exclusive, 1, plan));
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
        for (Readers each : late) {
            each.open();
        }
        sending.join();
        boolean all = awaited(early, late, plan);
        for (Readers each : early) {
            each.close();
        }
        for (Readers each : late) {
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

    private static boolean awaited(List<Readers> early, List<Readers> late, Plan plan) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(plan.patienceSeconds());
        while (true) {
            long got = 0;
            for (Readers each : early) {
                got += each.received();
            }
            for (Readers each : late) {
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
