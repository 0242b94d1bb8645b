package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.protocol.Server;
import java.io.IOException;

/** The process that serves the caches of a Pulsar release with PIP-430. */
public final class Pip430Driver {
    private Pip430Driver() {}

    /** Exits when the input ends, so that no thread of a released class keeps the process alive. */
    public static void main(String[] arguments) throws IOException {
        Server.main(arguments, Pip430Adapter::new);
        System.exit(0);
    }
}
