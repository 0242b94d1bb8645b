package entrycache.broker;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClientException;

/** A thread that sends the messages of a plan at its rate, one topic after the other. */
final class Sending extends Thread {
    private final List<Producer<byte[]>> producers;
    private final Plan plan;
    private final AtomicLong sent = new AtomicLong();

    Sending(List<Producer<byte[]>> producers, Plan plan) {
        super("sending");
        setDaemon(true);
        this.producers = producers;
        this.plan = plan;
    }

    @Override
    public void run() {
        long began = System.nanoTime();
        try {
            for (long i = 0; i < plan.messages(); i++) {
                byte[] message = new byte[plan.bytes() + (int) (i * 37 % 64)];
                producers.get((int) (i % producers.size())).newMessage().key("key-" + i % 101).value(message).sendAsync();
                sent.incrementAndGet();
                hold(began, i);
            }
            for (Producer<byte[]> producer : producers) {
                producer.flush();
            }
        } catch (PulsarClientException | InterruptedException e) {
            System.err.println("sending failed: " + e);
        }
    }

    private void hold(long began, long i) throws InterruptedException {
        if (plan.perSecond() > 0 && i % 50 == 0) {
            long due = began + i * 1_000_000_000L / plan.perSecond();
            long left = (due - System.nanoTime()) / 1_000_000;
            if (left > 0) {
                sleep(left);
            }
        }
    }

    /** Waits until that many messages are sent. */
    void await(long count) throws InterruptedException {
        long said = 0;
        while (isAlive() && sent.get() < count) {
            sleep(20);
            if (System.nanoTime() - said > 1_000_000_000L) {
                said = System.nanoTime();
                System.out.println("sent " + sent.get() + " of " + plan.messages());
            }
        }
    }
}
