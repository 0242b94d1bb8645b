-- R-STATE-2: each cached entry has one slot, and each slot names the entry that it was given to. A life keeps its
-- position and size. Snapshots show each slot once and by its number, and the last one shows all of them; END shows how
-- many there are. Slots are numbered in order, where they are given and where they are taken. The end of a pass shows
-- how many there have been, and the stamp of the head.

-- checked
(life is not null and op in ('HIT', 'READ_DONE', 'EXPECT', 'REQUEUE', 'EVICT', 'REMOVE', 'SNAPSHOT'))
or op = 'END' or (op = 'PASS_END' and (tail_no is not null or head_no is not null))

-- needs
entry_id of INSERT
clean life or value.entries=0 of SNAPSHOT END, END
clean value.entries of END
clean value.slots of END

-- over carried: the position
(cache <> first_cache and coalesce(cache <> cache_before, true))
or (ledger_id <> first_ledger and coalesce(ledger_id <> ledger_before, true))
or (entry_id <> first_entry and coalesce(entry_id <> entry_before, true))

-- expected
concat(
  'position ', coalesce(first_cache, 'unknown'), ' ', coalesce(cast(first_ledger as string), 'unknown'), ':',
  coalesce(cast(first_entry as string), 'unknown')
)

-- observed
concat(
  'position ', coalesce(cache, 'unknown'), ' ', coalesce(cast(ledger_id as string), 'unknown'), ':',
  coalesce(cast(entry_id as string), 'unknown')
)

-- seqs
array(life, seq)

-- over carried: the size (R-STATE-1 checks it for entries that leave)
op not in ('EVICT', 'REMOVE') and size_bytes <> first_size and coalesce(size_bytes <> size_before, true)

-- expected
concat('size_bytes ', cast(first_size as string))

-- observed
concat('size_bytes ', cast(size_bytes as string))

-- seqs
array(life, seq)

-- over carried: the slot in a snapshot
op = 'SNAPSHOT' and (tail_no <> given_slot or (cause = 'END' and shown_seq is not null))

-- expected
case
  when cause = 'END' and shown_seq is not null then 'one row a slot'
  else concat('slot ', cast(given_slot as string))
end

-- observed
case
  when cause = 'END' and shown_seq is not null then 'a second row'
  else concat('slot ', cast(tail_no as string))
end

-- seqs
array(coalesce(shown_seq, given_seq), seq)

-- over slots: the number of a given slot, and how many the end of a pass shows; with several threads a queue may be
-- ahead of the rows, but it has as many slots as there are rows
(gives or op = 'PASS_END') and (whole or numbered)
and (not whole or tail_no <> n_given) and coalesce(tail_no <> given_number, whole)

-- expected
concat(case when gives then 'slot ' else 'slots given: ' end, cast(case when whole then n_given else given_number end as string))

-- observed
cast(tail_no as string)

-- sure
not many or case when gives then complete and drift <> 0 else in_order end

-- over slots: the number of a taken slot, and how many the end of a pass shows
(takes or op = 'PASS_END') and (whole or numbered) and not unlinked
and (not whole or head_no <> n_taken) and coalesce(head_no <> taken_number, whole)

-- expected
concat(case when takes then 'slot ' else 'slots taken: ' end, cast(case when whole then n_taken else taken_number end as string))

-- observed
cast(head_no as string)

-- over slots: the head whose stamp the end of a pass shows is taken next, or shown first; a slot whose entry has left
-- shows no stamp. Of two passes in a row the one is wrong that the next rows contradict.
op = 'PASS_END' and not unlinked and (
  (next_one.op in ('EVICT', 'REQUEUE', 'SNAPSHOT', 'PASS_END') and stamp_ns <> next_one.stamp_ns
    and not coalesce(next_one.op = 'PASS_END' and stamp_ns = stamp_then, false))
  or (whole and n_given = n_taken and stamp_ns is not null)
)

-- expected
case
  when whole and n_given = n_taken then 'no stamp: no slot is left'
  else concat('stamp ', cast(next_one.stamp_ns as string))
end

-- observed
concat('stamp ', cast(stamp_ns as string))

-- seqs
case when next_one.at is null then array(seq) else array(seq, next_one.at) end

-- window: the totals of END; the snapshot before it is complete if there is one, and no entry came or left after it
with counted as (
  select
    e.broker,
    sum(case when op = 'INSERT' or (is_open and e.life is not null) then 1 when op in ('EVICT', 'REMOVE') then -1 else 0 end)
      as live,
    case
      when max(case when b.numbered then 1 else 0 end) = 1 then
        sum(case
          when op = 'INSERT' or is_open then 1
          when op in ('EVICT', 'TOMBSTONE') or (op = 'REMOVE' and ticket is not null) then -1
          else 0
        end)
    end as slots,
    sum(case when op = 'SNAPSHOT' and cause = 'END' then 1 else 0 end) as n_shown,
    sum(case when op = 'SNAPSHOT' and cause = 'END' and e.life is not null then 1 else 0 end) as n_shown_live,
    min(case when op = 'SNAPSHOT' and cause = 'END' then seq end) as shown_seq,
    max(case when op in ('INSERT', 'REQUEUE', 'EVICT', 'REMOVE', 'TOMBSTONE') then seq end) as changed_seq,
    max(case when op = 'END' then seq end) as seq,
    max(case when op = 'END' then counter(value, 'entries') end) as reported_entries,
    max(case when op = 'END' then counter(value, 'slots') end) as reported_slots
  from (select *, op = 'SNAPSHOT' and cause = 'OPEN' as is_open from events) e join brokers b on e.broker = b.broker
  where b.complete and op in ('INSERT', 'EVICT', 'REMOVE', 'REQUEUE', 'TOMBSTONE', 'SNAPSHOT', 'END')
  group by e.broker
)
select
  broker, seq, cast(null as bigint) as life,
  concat(cast(live as string), ' entries, ', coalesce(cast(slots as string), 'unknown'), ' slots') as expected,
  concat(
    coalesce(cast(reported_entries as string), 'unknown'), ' entries, ', coalesce(cast(reported_slots as string), 'unknown'),
    ' slots; a snapshot of ', cast(n_shown_live as string), ' and ', cast(n_shown as string)
  ) as observed,
  case when shown_seq is null then array(seq) else array(shown_seq, seq) end as seqs,
  true as sure
from counted
where reported_entries <> live or reported_slots <> slots
  or (n_shown > 0 and coalesce(changed_seq < shown_seq, true) and (n_shown_live <> live or n_shown <> slots))
