"""The record of `pulsar-legacy`: its cases, its form in JSON, and how failures are explained."""
