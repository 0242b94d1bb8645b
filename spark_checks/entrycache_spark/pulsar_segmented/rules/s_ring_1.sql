-- S-RING-1: an insert that does not fit turns the ring by one segment: turns are numbered one by one, each begins, ends
-- and lets the entry in, with nothing else between, and the segment that becomes current is the one whose turn it is: with
-- N segments that of N turns ago, which is how a ring shows. What fits into a segment is always taken.

-- checked
op in ('PASS_BEGIN', 'PASS_END') or (op = 'SKIP' and cause = 'FULL')

-- needs
pass_id of PASS_BEGIN TURN, PASS_END TURN

-- over ringed: the turn
whole and op = 'PASS_BEGIN' and (
  in_turn or pass_id <> seq or (tail_no <> turn_before + 1 and tail_no <> turns)
  or ticket < 0 or (ticket <> turns - segments_now and coalesce(ticket <> tail_no - segments_now, true))
)

-- expected
concat('turn ', cast(turns as string), ', of the segment of turn ', cast(turns - segments_now as string))

-- observed
concat('turn ', coalesce(cast(tail_no as string), 'unknown'), ', of that of turn ', coalesce(cast(ticket as string), 'none'))

-- sure
not many

-- over ringed: its end
whole and op = 'PASS_END' and (
  not in_turn or pass_id <> edge.pass_id or (tail_no <> turn_now and tail_no <> turns)
  or ticket < 0 or (ticket <> turns - segments_now and coalesce(ticket <> tail_no - segments_now, true))
  or (after.at = seq + 1 and (after.op <> 'INSERT' or after.call_id <> call_id))
)

-- expected
concat('the end of turn ', cast(turns as string), ', and an INSERT behind it')

-- observed
concat('PASS_END of pass ', coalesce(cast(pass_id as string), 'none'), ', then ', coalesce(after.op, 'nothing'))

-- seqs
case when edge.at is null then array(seq) else array(edge.at, seq) end

-- sure
not many

-- over ringed: what stands between, behind, or is not taken
whole and (
  (op not in ('EVICT', 'PASS_END') and in_turn and before.op in ('PASS_BEGIN', 'EVICT') and op <> 'PASS_BEGIN')
  or (op = 'INSERT' and before.op = 'PASS_END' and size_bytes <> edge_size)
  or (op = 'SKIP' and cause = 'FULL' and limit_now > 0 and size_bytes <= room_now)
)

-- expected
case
  when op = 'SKIP' then 'an INSERT: it fits into a segment'
  when in_turn then 'the end of the turn'
  else concat('the entry of ', cast(edge_size as string), ' bytes')
end

-- observed
concat(op, ' of ', coalesce(cast(size_bytes as string), 'unknown'), ' bytes')

-- seqs
case when edge.at is null then array(seq) else array(edge.at, seq) end

-- sure
not many
