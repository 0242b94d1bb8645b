-- K-STORE-2: an entry that a store takes is written to the underlying store in the same call, before it is forwarded. It
-- has the key and the times of the PUT that began its life, and is a deletion if that was one. One call writes it once,
-- unless a flush failed or it was handed over again. A store takes no tombstone of a key that the underlying store lacks,
-- and nothing that has expired; after a forward that throws, it need not have come to an entry.

-- checked
op in ('STORE_OPEN', 'BELOW', 'FORWARD')

-- needs
life of BELOW
call_id of BELOW
life of FORWARD
call_id of FORWARD

-- over stored: an entry that was handed over is not written
op = 'FLUSH' and whole and decided and is_open and put_life = life and last_below is null and lasts and not gave_up
and (put_cause = 'VALUE' or (put_cause = 'DELETE' and below = 'PUT'))

-- expected
'a BELOW of the same life and call'

-- observed
concat('a FLUSH of life ', cast(life as string))

-- sure
not many

-- over stored: an entry is forwarded before it is written
op = 'FORWARD' and whole and is_open and not expired and coalesce(first_below > seq, true)

-- expected
'a BELOW of the same life and call before it'

-- observed
concat('a FORWARD of life ', coalesce(cast(life as string), 'null'))

-- sure
not many

-- over stored: another entry is written than the one that its life began with
op = 'BELOW' and whole and differs

-- expected
'the entry that the PUT of its life shows'

-- observed
concat('a BELOW of life ', cast(life as string))

-- seqs
array(own_seq, seq)

-- sure
not many

-- over stored: an entry is written once more
op = 'BELOW' and whole and decided and life > opened_seq and first_below < seq and handed_rows < 2
and coalesce(failed_seq < life, true)

-- expected
'one BELOW of a life that the call handed over once'

-- observed
concat('a BELOW of life ', cast(life as string), ' once more')

-- seqs
array(first_below, seq)

-- sure
not many

-- over stored: an entry is written that its store cannot hold, or a deletion with a value
op = 'BELOW' and whole and life > opened_seq and (coalesce(is_of_another_kind, false) or deletes_a_value)

-- expected
case when deletes_a_value then 'a deletion without a value' else concat('an entry of a ', kind, ' store') end

-- observed
concat('a BELOW of life ', cast(life as string))

-- seqs
array(opened_seq, seq)

-- sure
not many

-- over stored: a value that decides is not recorded
whole and (
  (op = 'STORE_OPEN' and (store_kind is null or (kind <> 'kv' and retention is null)))
  or (op in ('PUT', 'BELOW') and seq in (keyless_seq, lifeless_seq, causeless_seq, timeless_seq))
)

-- expected
'the value, which decides the rule'

-- observed
concat('a ', op, ' without ', case op when 'STORE_OPEN' then case when store_kind is null then 'store_kind' when kind <> 'kv' and retention is null then 'value.retention' end else unrecorded end)

-- sure
false
