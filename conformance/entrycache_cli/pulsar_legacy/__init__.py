"""The commands of `pulsar-legacy`, and its planted faults on their page."""
