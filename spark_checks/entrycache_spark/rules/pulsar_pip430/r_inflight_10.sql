-- R-INFLIGHT-10: a read fails only if an ask was not answered in full, or a request for permits was refused, since it
-- began. A read whose first ask or request fails has failed, if it found nothing in the cache. A real broker may fail a read for a
-- reason that no row shows, so only a trace of cases is judged, and of them no read that requests and fails in one call.

-- checked
op = 'READ_END' and virtual

-- needs
read_id of READ_BEGIN, READ_END
call_id of READ_BEGIN

-- window
with lined as (
  select
    e.broker, e.seq, e.op, e.cause, e.cache, e.read_id, e.ask_id, e.call_id, e.many,
    max(case when (op = 'ANSWER' and cause <> 'ALL') or (op = 'PERMIT' and cause = 'REFUSED' and read_id is null) then seq end)
      over (partition by e.broker order by seq rows between unbounded preceding and 1 preceding) as failed_seq,
    max(case when op = 'PERMIT' and cause = 'REFUSED' then seq end)
      over (partition by e.broker, read_id order by seq rows between unbounded preceding and 1 preceding) as refused_seq,
    max(case when op = 'PERMIT' and cause in ('QUEUED', 'TAKEN') then call_id end)
      over (partition by e.broker, read_id order by seq rows between unbounded preceding and 1 preceding) as requested_call,
    min(case when op = 'PERMIT' and read_id is null then 0 else 1 end) over (partition by e.broker) = 1 as names_reads
  from events e join brokers b on e.broker = b.broker
  where virtual and b.starts and not b.gapped and op in ('READ_BEGIN', 'READ_END', 'ASK', 'ANSWER', 'PERMIT', 'HIT')
),
first_ones as (
  select r.broker, r.read_id, a.op, a.ask_id, a.seq
  from lined r join lined a on a.broker = r.broker and a.read_id = r.read_id and a.call_id = r.call_id
  where r.op = 'READ_BEGIN' and (a.op = 'ASK' or (a.op = 'PERMIT' and a.cause = 'REFUSED'))
    and not exists (select 1 from lined h where h.broker = r.broker and h.op = 'HIT' and h.read_id = r.read_id)
),
failures as (
  select f.broker, f.read_id, n.seq
  from first_ones f
  join lined n on n.broker = f.broker and n.op = 'ANSWER' and n.ask_id = f.ask_id and n.cause in ('FAIL', 'BUSY')
  where f.op = 'ASK'
  union all
  select broker, read_id, seq from first_ones where op = 'PERMIT'
),
first_failures as (
  select broker, read_id, min(seq) as failure_seq from failures group by broker, read_id
)
select
  broker, seq, cast(null as bigint) as life, 'an ask or a request that failed' as expected,
  concat('READ_END FAILED of the read of seq ', cast(read_id as string)) as observed,
  array(read_id, seq) as seqs, not many as sure
from lined
where op = 'READ_END' and cause = 'FAILED' and read_id is not null and coalesce(greatest(failed_seq, refused_seq), failed_seq, refused_seq, -1) < read_id
  and names_reads and coalesce(requested_call <> call_id, true)
union all
select
  e.broker, e.seq, cast(null as bigint) as life, 'READ_END FAILED, as its first ask or request' as expected,
  concat('READ_END DONE of the read of seq ', cast(e.read_id as string)) as observed,
  array(f.failure_seq, e.seq) as seqs, not e.many as sure
from lined e join first_failures f on e.broker = f.broker and e.read_id = f.read_id
where e.op = 'READ_END' and e.cause = 'DONE' and e.seq > f.failure_seq
