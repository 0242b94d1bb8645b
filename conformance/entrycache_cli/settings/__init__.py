"""Settings of brokers and clients: files of Java properties, their values, and the effective configuration."""
