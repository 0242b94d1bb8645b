-- L-READ-4: `read` asks for the positions of its range, one after the other in one ledger. The cache serves them all if
-- all are cached, else none.

-- checked
op in ('HIT', 'MISS') and cause = 'READ'

-- needs
entry_id of INSERT
entry_id of HIT READ, MISS READ
call_id of HIT READ, MISS READ

-- over placed: a hit at a position that is not cached
op = 'HIT' and cause = 'READ' and coalesce(held_before = 0 or life <> life_before, false)

-- expected
case when held_before = 1 then concat('life ', cast(life_before as string)) else 'MISS' end

-- observed
concat('HIT of life ', coalesce(cast(life as string), 'none'))

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure
not many

-- over reads: hits and misses in one read; a range read from storage although all of it is cached; a position out of
-- order
op in ('HIT', 'MISS') and cause = 'READ'
and (
  (op = 'MISS' and n_hits > 0)
  or (op = 'MISS' and n_singles = 0 and n_held = n_misses and lookup_before_seq is null)
  or (lookup_before_seq is not null and not coalesce(follows, true))
)

-- expected
case
  when op = 'MISS' and n_hits > 0 then 'all of it from the cache, or all from storage'
  when lookup_before_seq is null then 'HIT: all of it is cached'
  else 'the position behind the one before it'
end

-- observed
concat(op, ' of entry ', coalesce(cast(entry_id as string), 'unknown'))

-- seqs
array(coalesce(lookup_before_seq, seq), seq)

-- sure: of a gapped trace a position may be missing
not many and (not gapped or (op = 'MISS' and n_hits > 0))
