"""The commands' part of `pulsar-pip430`: a broker's settings, simulations, Java tests, its campaign in the JVM."""
