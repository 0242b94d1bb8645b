"""The record of `pulsar-segmented`: its cases, its form in JSON, and how failures are explained."""
