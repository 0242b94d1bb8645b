"""The checker of `kafka-streams`: a rule is clean if its sufficient conditions hold.

`rows` names ops, causes and conditions, `state` holds what is kept of calls, keys and namespaces, `events` is the loop,
and `broker` puts them together.
"""
