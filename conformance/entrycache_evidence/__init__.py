"""The formal evidence about the references: proofs, exhausted models, confirmed contracts and second models.

Each *grade* of evidence has a folder: `induction` (z3), `model_checker` (our explicit-state model checker), `contracts`
of a system (CrossHair) and `tlc` (a second model in TLA+). A folder a system holds its bounded models, lemmas, stress
runs, frame conditions and definitions; `systems` lists them, and `run` carries out what a profile asks for. `rulebook`
holds the texts of the rules, their examples, and the check that text, code and tests agree. `core` holds what all of
these share. The package file imports nothing, so that a command that needs one module does not load all systems.
"""
