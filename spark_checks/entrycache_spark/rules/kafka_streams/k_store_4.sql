-- K-STORE-4: an entry that a store writes to the underlying store is forwarded afterwards, in the same call and as it was
-- written; a store without a listener forwards nothing. It need not be forwarded if its key was written again in the call, if it expires in the call, or after a forward that throws.

-- checked
op in ('STORE_OPEN', 'BELOW', 'FORWARD')

-- needs
life of BELOW
call_id of BELOW
life of FORWARD
call_id of FORWARD

-- over stored
op = 'BELOW' and whole and decided and is_open and listens = 1 and life is not null and coalesce(own_forward < seq, true)
and lasts and not gave_up and coalesce(rewritten_seq < seq, true)

-- expected
'a FORWARD of the same life and call'

-- observed
concat('a BELOW of life ', cast(life as string))

-- sure
not many

-- over stored: a store without a listener forwards an entry
op = 'FORWARD' and whole and life > opened_seq and coalesce(listens = 0, false)

-- expected
'no FORWARD: nobody listens to the store'

-- observed
concat('a FORWARD of life ', cast(life as string))

-- seqs
array(opened_seq, seq)

-- sure
not many

-- over stored: another entry is forwarded than the one that was written
op = 'FORWARD' and whole and life > opened_seq and (
  coalesce(differs, false) or deletes_a_value or coalesce(written_hash <> value_hash, false)
)

-- expected
'the entry that was written'

-- observed
concat('a FORWARD of life ', cast(life as string))

-- seqs
case when written_seq is null then array(seq) else array(written_seq, seq) end

-- sure
not many

-- over stored: a value that decides is not recorded
whole and (
  (op = 'STORE_OPEN' and (store_kind is null or (kind <> 'kv' and retention is null) or listens is null))
  or (op = 'PUT' and seq in (keyless_seq, lifeless_seq, causeless_seq, timeless_seq))
  or (op in ('BELOW', 'FORWARD') and seq in (keyless_seq, causeless_seq, timeless_seq, hashless_seq))
)

-- expected
'the value, which decides the rule'

-- observed
concat('a ', op, ' without ', case op when 'STORE_OPEN' then case when store_kind is null then 'store_kind' when kind <> 'kv' and retention is null then 'value.retention' when listens is null then 'value.listens' end else unrecorded end)

-- sure
false
