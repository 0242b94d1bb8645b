-- R-INFLIGHT-13: a read that has not ended waits for an open ask, or for permits. So at the end of a trace in which every
-- ask was answered and nobody waits for permits, every read has ended.

-- checked
op = 'READ_BEGIN'

-- needs
read_id of READ_BEGIN, READ_END

-- window
with totals as (
  select
    e.broker,
    sum(case when op = 'ASK' then 1 when op = 'ANSWER' then -1 else 0 end) as open_asks,
    sum(case when op = 'PERMIT' and cause = 'QUEUED' then 1 when op = 'PERMIT' and ticket is not null then -1 else 0 end)
      as waiting,
    max(case when op = 'END' then seq end) as end_seq
  from events e join brokers b on e.broker = b.broker
  where b.complete
  group by e.broker
),
reads as (
  select
    e.*,
    max(case when op = 'READ_END' then seq end)
      over (partition by broker, read_id order by seq rows between 1 following and unbounded following) as ended_seq
  from events e
  where op in ('READ_BEGIN', 'READ_END') and read_id is not null
)
select
  r.broker, r.seq, cast(null as bigint) as life,
  'READ_END: no ask is open, and nobody waits for permits' as expected,
  'a read that has not ended' as observed,
  array(r.seq, t.end_seq) as seqs,
  true as sure
from reads r join totals t on r.broker = t.broker
where r.op = 'READ_BEGIN' and r.ended_seq is null and t.open_asks = 0 and t.waiting = 0
