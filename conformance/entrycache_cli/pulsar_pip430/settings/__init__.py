"""A broker's cache settings: what each one does in a release, and the configuration that comes out.

`table` lists the settings, `broker_conf` reads a file, `effective` puts both together.
"""
