-- K-OLD-2: the old values of a key form a chain: `old` is the value of its forward before. After a forward that throws and
-- after a clear, a chain begins anew. A
-- store without old values forwards none.

-- checked
op = 'FORWARD' and old_hash is not null

-- needs
ever value_hash of FORWARD

-- over stored
op = 'FORWARD' and whole and old_values = 1 and coalesce(dropped_seq < forwarded_seq, true) and (
  (forwarded_cause = 'DELETE' and old_hash is not null)
  or (forwarded_cause = 'VALUE' and forwarded_hash is not null and coalesce(old_hash <> forwarded_hash, true))
)

-- expected
case
  when forwarded_cause = 'DELETE' then 'no old value: the forward before was a deletion'
  else concat('the old value ', cast(forwarded_hash as string))
end

-- observed
coalesce(cast(old_hash as string), 'no old value')

-- seqs
array(forwarded_seq, seq)

-- sure
not many

-- over stored: a store without old values
op = 'FORWARD' and whole and life > opened_seq and coalesce(old_values = 0, false) and old_hash is not null

-- expected
'no old value: the store has none'

-- observed
cast(old_hash as string)

-- seqs
array(opened_seq, seq)

-- sure
not many

-- over stored: a value that decides is not recorded
whole and (
  (op = 'STORE_OPEN' and (old_values is null))
  or (op = 'FORWARD' and seq in (keyless_seq, lifeless_seq, causeless_seq, hashless_seq))
)

-- expected
'the value, which decides the rule'

-- observed
concat('a ', op, ' without ', case op when 'STORE_OPEN' then case when old_values is null then 'value.old_values' end else unrecorded end)

-- sure
false
