"""What the command line knows of `pulsar-segmented`."""
