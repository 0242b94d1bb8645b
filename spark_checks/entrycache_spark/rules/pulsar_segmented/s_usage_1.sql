-- S-USAGE-1: `bytes_after` is the sum of the sizes of all entries as they were inserted. A row is wrong if its value
-- neither follows from the row before it nor equals the sum since the start. A METRICS or END with other entries or
-- bytes is wrong too. An entry keeps its size as long as it lives.

-- checked
op in ('INSERT', 'EVICT', 'METRICS', 'END')

-- needs
size_bytes of INSERT ADD
clean value.bytes of METRICS, END
clean value.entries of METRICS, END

-- over ringed: the sum
whole and before.at is not null and coalesce(bytes_after <> by_row, true) and bytes_after <> by_sum

-- expected
concat('bytes_after ', cast(by_sum as string))

-- observed
concat('bytes_after ', cast(bytes_after as string))

-- seqs
array(before.at, seq)

-- sure
not many

-- over ringed: the totals of METRICS and END
op in ('METRICS', 'END') and whole and (counter(value, 'bytes') <> by_sum or counter(value, 'entries') <> live_in_all)

-- expected
concat(cast(live_in_all as string), ' entries, ', cast(by_sum as string), ' bytes')

-- observed
coalesce(value, 'no value')

-- sure
not many

-- over ringed: the size of an entry
op in ('HIT', 'EVICT', 'SNAPSHOT') and whole and size_bytes <> begun.size_bytes and coalesce(size_bytes <> size_before, true)

-- expected
concat('size_bytes ', cast(begun.size_bytes as string))

-- observed
concat('size_bytes ', cast(size_bytes as string))

-- seqs
array(begun.at, seq)
