"""Traces of `kafka-streams`: their recorder, and a workload that makes some up."""
