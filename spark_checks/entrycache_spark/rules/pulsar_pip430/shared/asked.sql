-- Each ASK and ANSWER, and each fill or delivery that names its ask, with what the rows of the ask before it show.
-- `given_last` is the last entry that the answer brought, and `count_before`, `entry_before` are those of the fill before.
select
  e.*, b.starts and not b.gapped as known,
  max(case when op = 'ASK' then seq end) over own as asked_seq,
  max(case when op = 'ANSWER' then seq end) over own as answered_seq,
  max(case when op = 'ASK' then cache end) over own as asked_cache,
  max(case when op = 'ASK' then ledger_id end) over own as asked_ledger,
  max(case when op = 'ASK' then entry_id end) over own as asked_first,
  max(case when op = 'ASK' then last_entry_id end) over own as asked_last,
  max(case when op = 'ASK' then cursor end) over own as asked_cursor,
  max(case when op = 'ANSWER' and cause in ('ALL', 'SHORT') then last_entry_id end) over own as given_last,
  max(case when op = 'INSERT' then entry_id end) over own as entry_before,
  min(case when op = 'INSERT' then expected_reads end) over own as count_before
from events e join brokers b on e.broker = b.broker
where ask_id is not null
  and (op in ('ASK', 'ANSWER') or (op = 'INSERT' and cause = 'FILL') or (op = 'READ_DONE' and cause = 'DELIVERED'))
window own as (partition by e.broker, ask_id order by seq rows between unbounded preceding and 1 preceding)
