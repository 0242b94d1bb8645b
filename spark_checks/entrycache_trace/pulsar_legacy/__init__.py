"""Traces of `pulsar-legacy`: what their rows say, their recorder, a workload."""
