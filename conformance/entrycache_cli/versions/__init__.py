"""The table of versions: which rules were held to which subject in which version, and with what result.

`records` reads the results of campaigns and conformance runs, `releases` what is pinned and what cannot be had,
`table` puts them together, `page` shows it.
"""
