-- L-READ-6: a single read misses only entries that are not cached, and does not offer the entry from storage to the
-- cache. (A hit looks like a `read` of one position, L-READ-4. With variant `single_lookup` "object" it always misses,
-- L-READ-7.)

-- checked
op = 'SKIP' and cause = 'NOT_WANTED'

-- needs
entry_id of INSERT
entry_id of MISS READ
call_id of MISS READ, SKIP NOT_WANTED

-- over reads
n_singles > 0 and (
  offer
  or (op = 'MISS' and cause = 'READ' and held_before = 1 and not by_object)
  or (op = 'SKIP' and cause = 'NOT_WANTED' and (
    n_misses <> 1 or size_bytes <> 100
    or cache <> first_cache or ledger_id <> first_ledger or entry_id <> first_entry
  ))
)

-- expected
case when offer then 'no offer' when op = 'MISS' then 'HIT' else 'one MISS before it, there, and 100 bytes' end

-- observed
concat(op, ' of entry ', coalesce(cast(entry_id as string), 'unknown'))

-- seqs
array(first_seq, seq)

-- sure
not many and not gapped
