"""The evidence about `kafka-streams`: bounded models, lemmas, stress runs, refinement, and a second model."""
