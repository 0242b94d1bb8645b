"""Traces of `pulsar-pip430`: their recorder, and workloads that make some up."""
