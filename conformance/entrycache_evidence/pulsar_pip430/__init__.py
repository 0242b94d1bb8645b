"""The evidence about `pulsar-pip430`: bounded models, lemmas, contracts, stress runs, and more."""
