-- Each begin and end of a read, and each ask, hit, request or delivery that names its read, with what the rows of the read before
-- it show; `done_before` is the delivery of the same entry to the same read before it.
select
  e.*, b.starts and not b.gapped as known,
  case when op = 'READ_DONE' and entry_id is not null then
    max(case when op = 'READ_DONE' then seq end) over
      (partition by e.broker, read_id, ledger_id, entry_id order by seq rows between unbounded preceding and 1 preceding)
  end as done_before,
  max(case when op = 'READ_BEGIN' then seq end) over own as begun_seq,
  max(case when op = 'READ_BEGIN' then cursor end) over own as begun_cursor,
  max(case when op = 'READ_BEGIN' then cache end) over own as begun_cache,
  max(case when op = 'READ_END' then seq end) over own as ended_seq
from events e join brokers b on e.broker = b.broker
where read_id is not null
  and (op in ('READ_BEGIN', 'READ_END', 'ASK', 'HIT') or (op = 'READ_DONE' and cause = 'DELIVERED')
    or (op = 'PERMIT' and cause in ('TAKEN', 'QUEUED', 'REFUSED')))
window own as (partition by e.broker, read_id order by seq rows between unbounded preceding and 1 preceding)
