"""The evidence about `pulsar-legacy`: bounded models, lemmas and stress runs."""
