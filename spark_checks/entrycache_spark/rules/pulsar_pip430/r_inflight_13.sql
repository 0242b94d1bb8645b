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

-- over delivered: a row of a read that is not open, or of another cursor or cache than the read
op <> 'READ_DONE' and (
  (op = 'READ_BEGIN' and begun_seq is not null) or (op <> 'READ_BEGIN' and begun_seq is null) or ended_seq is not null
  or cursor <> begun_cursor or cache <> begun_cache
)

-- expected
case
  when op = 'READ_BEGIN' then 'one begin, before the end'
  when begun_seq is null then 'a read that has begun'
  when ended_seq is not null then 'nothing more of a read that has ended'
  else concat('a row of ', coalesce(begun_cache, 'a cache'), ', for ', coalesce(begun_cursor, 'any cursor'))
end

-- observed
concat(op, ' in ', coalesce(cache, 'a cache'), ', for ', coalesce(cursor, 'no cursor'), ', of the read of seq ', cast(read_id as string))

-- seqs
case
  when ended_seq is not null then array(ended_seq, seq) when begun_seq is not null then array(begun_seq, seq)
  else array(seq)
end

-- sure
known and (not many or (op <> 'READ_BEGIN' and begun_seq is not null and ended_seq is null))
