-- S-RING-1: an insert that does not fit turns the ring by one segment. Turns are numbered one by one; each begins, ends
-- and lets the entry in, and no entry leaves outside of one. The oldest segment becomes current: with N segments that
-- of N turns ago. An entry that fits into a segment is always added.

-- as R-STATE-4 of pulsar-pip430

-- checked
op in ('PASS_BEGIN', 'PASS_END', 'EVICT') or (op = 'SKIP' and cause = 'FULL')

-- needs
pass_id of PASS_BEGIN TURN, PASS_END TURN, EVICT TURN

-- over ringed: its number, and that of the segment
whole and op in ('PASS_BEGIN', 'PASS_END') and (
  (tail_no <> turns and tail_no <> case when op = 'PASS_BEGIN' then turn_before + 1 else turn_now end)
  or ticket < 0 or (ticket <> turns - segments_now and coalesce(ticket <> tail_no - segments_now, true))
)

-- expected
concat('turn ', cast(turns as string), ', of the segment of turn ', coalesce(cast(turns - segments_now as string), 'unknown'))

-- observed
concat('turn ', coalesce(cast(tail_no as string), 'unknown'), ', of that of turn ', coalesce(cast(ticket as string), 'none'))

-- sure
not many

-- over ringed: the event after a turn, or an entry that is not added
whole and (
  (op = 'PASS_END' and after.at = seq + 1 and (after.op <> 'INSERT' or after.call_id <> call_id))
  or (op = 'INSERT' and before.op = 'PASS_END' and size_bytes <> turned_bytes)
  or (op = 'SKIP' and cause = 'FULL' and limit_now > 0 and size_bytes <= room_now)
)

-- expected
case
  when op = 'SKIP' then 'an INSERT: it fits into a segment'
  else concat('an INSERT of ', coalesce(cast(turned_bytes as string), 'unknown'), ' bytes')
end

-- observed
case
  when op = 'PASS_END' then concat(after.op, ' behind PASS_END')
  else concat(op, ' of ', coalesce(cast(size_bytes as string), 'unknown'), ' bytes')
end

-- seqs
case when turn_seq is null then array(seq) else array(turn_seq, seq) end

-- sure
not many
