-- R-INSERT-1: an entry that is offered at a position the cache does not hold is added, never rejected as a duplicate.
-- It is not accessed, never requeued, and stamped with the present time: not later than the event, and with a virtual
-- clock exactly at its time. (No row says how long before the event a real clock was read.) Later events show that
-- stamp.

-- checked
op = 'INSERT' or (op = 'REJECT' and cause = 'DUPLICATE') or (op = 'SNAPSHOT' and cause = 'OPEN')

-- needs
entry_id of INSERT
entry_id of REJECT DUPLICATE

-- over placed
op = 'REJECT' and cause = 'DUPLICATE' and held_before = 0

-- expected
'INSERT'

-- observed
'REJECT of a position that is not cached'

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure
not many

-- over rows
op = 'INSERT' and (
  accessed or requeues <> 0 or new_stamp_ns > ts_ns or (virtual and new_stamp_ns <> ts_ns)
  or ts_ns - new_stamp_ns > 1000000000
)

-- expected
concat('not accessed, 0 requeues, stamp ', cast(ts_ns as string))

-- observed
concat(
  case when accessed then 'accessed, ' else '' end, coalesce(cast(requeues as string), '0'), ' requeues, stamp ',
  coalesce(cast(new_stamp_ns as string), 'unknown')
)

-- sure: a thread may be held up between reading the clock and the event, though hardly for a second
coalesce(accessed, false) or coalesce(requeues <> 0, false) or new_stamp_ns > ts_ns or virtual

-- over carried
given_op <> 'REQUEUE' and stamp_ns <> given_stamp and coalesce(stamp_ns <> stamp_before, true)

-- expected
concat('stamp ', cast(given_stamp as string))

-- observed
concat('stamp ', cast(stamp_ns as string))

-- seqs
array(given_seq, seq)
