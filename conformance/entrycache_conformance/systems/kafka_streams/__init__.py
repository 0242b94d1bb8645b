"""The record of `kafka-streams`: its cases, its form in JSON, its histories, and how failures are explained."""
