"""The evidence about `pulsar-segmented`: bounded models, lemmas, stress runs, refinement, and concurrent reads."""
