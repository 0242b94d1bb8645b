"""The protocol between the suite and an implementation under test: what both sides of the wire agree on.

`system` describes a cache system as a record of parts, `declaration` what a subject offers of it. A `case` is one run
as a JSON object, a history is a run of several threads; `codec`, `strict_json` and `schema` read, write and describe
them. `subject` holds the answers of a subject, `wire` turns cases and answers into lines of JSON. `author` and `server`
are the other end: a class with one method for each operation, and the loop that serves it. `files`, `messages` and
`errors` serve all packages.

This package exports nothing. Other projects import from `entrycache`.
"""
