"""The rules of message-broker entry caches as pure, typed functions.

Each system has a folder of its own. The folder holds `initial(config)`, which returns the empty state, and `step(state,
event, config)`, which returns the next state, the answer and the trace rows. Its folder `laws` holds every MUST of the
system as a check of one step. `rules` lists the ids of all rules; `vocabulary` holds shared names and units.
"""
