-- L-READ-5: a `read` offers the entries that it gets from storage to the cache: each position of its range, ascending,
-- with 100 bytes, also those that are cached. It fills nothing else.

-- checked
op in ('MISS', 'INSERT') and cause in ('READ', 'FILL')

-- needs
entry_id of MISS READ
call_id of MISS READ, INSERT FILL

-- over reads: an offer that does not belong to this read, or of another size
offer and n_singles = 0
and (
  (op = 'INSERT' and cause = 'FILL' and n_misses = 0)
  or (n_misses > 0 and (
    (op = 'INSERT' and cause <> 'FILL') or size_bytes <> 100
    or cache <> first_cache or ledger_id <> first_ledger or entry_id <> first_entry + n_offered - 1
  ))
)

-- expected
coalesce(concat('a fill of 100 bytes of entry ', cast(first_entry + n_offered - 1 as string)), 'no fill without a MISS')

-- observed
concat(
  op, ' of entry ', coalesce(cast(entry_id as string), 'unknown'), ', ', coalesce(cast(size_bytes as string), 'unknown'),
  ' bytes'
)

-- sure
not many and not gapped

-- over reads: more or fewer offers than positions, at the last event of the read
n_misses > 0 and n_singles = 0 and n_offers <> n_misses and seq = last_seq

-- expected
concat(cast(n_misses as string), ' offers')

-- observed
concat(cast(n_offers as string), ' offers')

-- seqs
array(first_seq, seq)

-- sure: if the trace is cut off, the remaining offers may be missing
not many and complete
