-- S-STATE-2: the ring shows what it holds: an entry keeps its position and its place in its segment, snapshots show
-- each entry once in the order of the inserts, the last one shows all of them, and END shows how many segments are
-- used.

-- checked
op in ('EVICT', 'SNAPSHOT', 'END')

-- needs
entry_id of INSERT ADD
clean life or value.entries=0 of SNAPSHOT END, END
clean value.slots of END

-- over ringed: position and place
op in ('EVICT', 'SNAPSHOT') and whole and (
  is_displaced or (bound <> begun.bound and coalesce(bound <> bound_before, true))
  or (op = 'EVICT' and ticket <> begun.generation) or (op = 'SNAPSHOT' and tail_no <> begun.generation)
)

-- expected
concat(
  begun.cache, ' ', cast(begun.ledger_id as string), ':', cast(begun.entry_id as string), ' at byte ',
  coalesce(cast(begun.bound as string), 'unknown'), ' of turn ', cast(begun.generation as string)
)

-- observed
concat(
  coalesce(cache, 'unknown'), ' ', coalesce(cast(ledger_id as string), 'unknown'), ':',
  coalesce(cast(entry_id as string), 'unknown'), ' at byte ', coalesce(cast(bound as string), 'unknown'), ' of turn ',
  coalesce(cast(coalesce(ticket, tail_no) as string), 'unknown')
)

-- seqs
array(begun.at, seq)

-- over ringed: each entry once, in order
op = 'SNAPSHOT' and whole and (
  (life is not null and (begun.at is null or gone_seq is not null)) or life <= life_shown
)

-- expected
concat('a cached entry behind life ', coalesce(cast(life_shown as string), 'none'))

-- observed
concat('life ', cast(life as string))

-- seqs
array(coalesce(shown_seq, seq), seq)

-- over ringed: the totals of END, and the offsets after the last call
whole and (
  (op = 'END' and (counter(value, 'slots') <> slots_used or (n_shown > 0 and n_shown <> live_in_all)))
  or (op in ('SNAPSHOT', 'END') and is_miswritten)
)

-- expected
concat(cast(live_in_all as string), ' entries in ', coalesce(cast(slots_used as string), 'unknown'), ' segments, offsets of ', cast(manager_shown as string))

-- observed
concat(
  'a snapshot of ', cast(n_shown as string), ', ', coalesce(value, 'no value'), ', manager_bytes ',
  coalesce(cast(manager_bytes as string), 'unknown')
)

-- sure
not many
