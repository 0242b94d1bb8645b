-- S-RING-4: an entry leaves with its own segment, when that is the oldest one and its turn comes, and never before:
-- once. A turn frees the bytes of that segment, and of no other.

-- checked
op in ('EVICT', 'PASS_END')

-- needs
life of EVICT TURN

-- over ringed: an entry that leaves
op = 'EVICT' and whole and (
  (life is not null and (begun.at is null or gone_seq is not null))
  or (begun.generation <> turn_now - segments_now and begun.generation <> turns - segments_now)
)

-- expected
concat('an entry of turn ', coalesce(cast(turn_now - segments_now as string), 'unknown'))

-- observed
concat(
  'EVICT of life ', coalesce(cast(life as string), 'none'), ', of turn ', coalesce(cast(begun.generation as string), 'unknown'),
  case when gone_seq is null then '' else ', once more' end
)

-- seqs
case when begun.at is null then array(seq) else array(begun.at, seq) end

-- sure
not many

-- over ringed: the freed bytes
op in ('EVICT', 'PASS_END') and whole and is_miswritten

-- expected
concat('offsets of ', cast(manager_shown + wrote as string), ' bytes in all')

-- observed
concat('manager_bytes ', cast(manager_bytes as string))

-- sure
not many
