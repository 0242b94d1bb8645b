package entrycache.recorder;

/** Rows without a broker: {@code all} has every column and odd texts, {@code many N late} has N rows in small parts. */
public final class RecorderSample {
    private static final String BROKER = "b r\u00f6=k";
    private static Trace trace;

    public static void main(String[] arguments) throws Exception {
        boolean all = arguments[1].equals("all");
        String full = arguments[1].equals("drop") ? "drop" : "block";
        Options options = Options.of(arguments[0] + ",buffers=2,rotate=3000,full=" + full);
        Recording recording = new Recording(options, "pulsar-of-a-sample");
        trace = new Trace(options.buffers(), options.rotateRows(), options.drops());
        Parts parts = new Parts(recording, options.folder(), BROKER, trace);
        recording.brokers.add(new Recording.Broker(BROKER, trace, parts));
        if (all) {
            parts.start();
            all();
        } else {
            boolean late = arguments[1].equals("drop");
            if (!late) {
                parts.start();
            }
            many(Integer.parseInt(arguments[2]));
            if (late) {
                parts.start();
                Thread.sleep(300);
                many(100);
            }
        }
        trace.lock();
        trace.row(Op.END).value("{\"entries\":0,\"bytes\":0,\"slots\":0}");
        trace.end("the sample ended");
        trace.unlock();
        parts.join();
    }

    private static void all() {
        trace.lock();
        for (Op op : Op.ALL) {
            for (Cause cause : Cause.EACH) {
                trace.bytes = Long.MAX_VALUE >> 11;
                Trace row = trace.row(op).cause(cause).origin(Cause.CYCLE).accessed(true).dirty(false).extendAccessed(true)
                        .cache("q\"uote\\ \n \u20ac \ud83d\ude00").cursor("c\t").kind("kv").value("{\"a\": \"b\"}");
                for (Column column : Column.ALL) {
                    row.set(column, column.name().endsWith("REQUEUES") || column == Column.EXPECTED_READS ? -5 : -1L << 52);
                }
            }
        }
        trace.unlock();
    }

    private static void many(int rows) {
        for (int i = 0; i < rows; i++) {
            trace.lock();
            trace.row(Op.MISS).cause(Cause.READ).cache("c").position(1, i);
            if (trace.partIsFull()) {
                trace.endPart();
            }
            trace.unlock();
        }
    }
}
