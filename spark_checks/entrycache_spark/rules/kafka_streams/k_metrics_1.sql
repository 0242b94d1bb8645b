-- K-METRICS-1: `bytes_after` is the exact sum of the sizes of all entries. A row is wrong if its value neither follows
-- from the row before it nor equals the sum since the start. An END with other entries or bytes is wrong too, and so is
-- a running total (`manager_bytes`, if it is recorded) that differs from the sum when a call has ended.

-- checked
op in ('PUT', 'EVICT', 'DELETE', 'REMOVE', 'END')

-- needs
size_bytes of PUT
clean value.bytes of END
clean value.entries of END

-- over streamed
whole and (
  (coalesce(bytes_after <> by_row, true) and bytes_after <> by_sum)
  or (op = 'END' and (counter(value, 'bytes') <> by_sum or counter(value, 'entries') <> live_in_all))
)

-- expected
concat('bytes_after ', cast(by_sum as string))

-- observed
case
  when op = 'END' then concat('bytes_after ', cast(bytes_after as string), ', ', coalesce(value, 'no value'))
  else concat('bytes_after ', cast(bytes_after as string))
end

-- seqs
array(coalesce(seq_before, seq), seq)

-- sure
not many

-- over rows: a running total
op = 'END' and manager_bytes <> bytes_after

-- expected
concat('a running total of ', cast(bytes_after as string))

-- observed
concat('one of ', cast(manager_bytes as string))

-- over streamed: a running total when a call has ended
ends_call and op <> 'END' and manager_bytes <> bytes_after

-- expected
concat('a running total of ', cast(bytes_after as string), ' between calls')

-- observed
concat('one of ', cast(manager_bytes as string))

-- sure
not many
