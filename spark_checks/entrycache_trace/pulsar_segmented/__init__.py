"""Traces of `pulsar-segmented`: what their rows say, how they are recorded and made up."""
