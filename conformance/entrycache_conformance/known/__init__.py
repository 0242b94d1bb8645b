"""Known failures: a TOML file of failures that a run expects, each with its reason.

`entry` reads and writes the file, `running` tells which entries are about a subject, `check` replays them,
`compare` finds them again among what a search has found, `run` does all of it.
"""
