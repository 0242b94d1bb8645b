-- R-LEDGER-1: with `evict_by_expected_reads` an entry that a managed ledger appends has the number of active cursors as its
-- count. R-CURSOR-6, 11 and 12 say which entries are cached at all. A count that is null is not known. Only a managed
-- ledger reads by cursors, so a cache without READ_BEGIN is not judged: there an op `insert` may name any count. A
-- recorder that records no cursors writes no CURSOR_ADD, so a cache without one is not judged either. With several
-- threads a cursor may come or go between the count and its row, so there the rule decides nothing.

-- checked
ranks and op = 'READ_BEGIN'

-- needs
CONFIG.evict_by_expected_reads of READ_BEGIN

-- over wanted
is_add and ranks and is_managed and expected_reads <> members

-- expected
concat('expected_reads ', cast(members as string), ', the number of active cursors')

-- observed
concat('expected_reads ', cast(expected_reads as string))

-- sure
known and not many
