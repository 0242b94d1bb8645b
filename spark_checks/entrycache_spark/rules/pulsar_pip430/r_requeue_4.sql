-- R-REQUEUE-4: a requeued entry is stamped with the present time: not later than the event (with a virtual clock
-- exactly at its time), not before the end of the pass before, and later than its stamp before. Later events show that
-- stamp.

-- checked
op = 'REQUEUE'

-- needs
new_stamp_ns or stamp_ns of REQUEUE

-- window: the begin of a time pass may be recorded late, once it does something
with stamped as (
  select
    broker, seq, life, op, ts_ns, stamp_ns, new_stamp_ns, virtual, pass_id,
    max(case when op = 'PASS_BEGIN' then ts_ns end) over (partition by broker, pass_id) as begun_ns,
    max(case when op = 'PASS_END' then ts_ns end)
      over (partition by broker order by seq rows between unbounded preceding and 1 preceding) as ended_ns
  from events
  where (op = 'REQUEUE' and new_stamp_ns is not null) or op in ('PASS_BEGIN', 'PASS_END')
)
select
  broker, seq, life,
  concat('a stamp from ', coalesce(cast(greatest(stamp_ns, ended_ns) as string), 'before'), ' to ', cast(ts_ns as string))
    as expected,
  concat('stamp ', cast(new_stamp_ns as string)) as observed,
  case when pass_id is null then array(seq) else array(pass_id, seq) end as seqs,
  true as sure
from stamped
where op = 'REQUEUE'
  and (
    new_stamp_ns > ts_ns or (virtual and new_stamp_ns <> ts_ns) or new_stamp_ns < ended_ns
    or (new_stamp_ns <= stamp_ns and pass_id is not null and begun_ns > stamp_ns)
  )

-- over carried
given_op = 'REQUEUE' and stamp_ns <> given_stamp and coalesce(stamp_ns <> stamp_before, true)

-- expected
concat('stamp ', cast(given_stamp as string))

-- observed
concat('stamp ', cast(stamp_ns as string))

-- seqs
array(given_seq, seq)
