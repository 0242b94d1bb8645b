-- L-EXPIRE-1: a time pass removes from its cache the entries at the cutoff or older, from the lowest position up: no
-- younger entry, none of another cache, and at its end no old entry is left in front.

-- checked
op in ('PASS_END', 'EVICT') and cause = 'TIME'

-- needs
bound of PASS_BEGIN TIME
stamp_ns of EVICT TIME
pass_id of EVICT TIME

-- over taken
cause = 'TIME'
and (
  (op = 'EVICT' and (stamp_ns > begun_bound or cache <> begun_cache))
  or (op = 'PASS_END' and (stamp_ns <= coalesce(bound, begun_bound) or bound <> begun_bound or cache <> begun_cache))
)

-- expected
concat(
  case when op = 'EVICT' then 'a stamp at or before ' else 'the head younger than ' end,
  coalesce(cast(begun_bound as string), 'the cutoff'), case when begun_cache is null then '' else concat(', in ', begun_cache) end
)

-- observed
concat('stamp ', coalesce(cast(stamp_ns as string), 'unknown'), ' in ', coalesce(cache, 'no cache'))

-- seqs
array(pass_id, seq)
