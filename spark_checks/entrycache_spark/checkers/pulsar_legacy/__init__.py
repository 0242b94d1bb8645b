"""The checker of `pulsar-legacy`.

It runs loops of its own, and those of `pulsar-pip430` for the rules that both systems share. `rows` names rules and
settings and holds the rules of rows and offers, `passes` those of passes and shares, `reads` those of reads, and
`broker` puts them together.
"""
