"""The record of `pulsar-pip430`: its cases, its form in JSON, its coverage, and how failures are explained."""
