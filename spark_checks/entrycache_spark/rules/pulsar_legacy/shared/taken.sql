-- The rows of each pass with the values of its begin, and with the entries that it removed from the same cache before.
with framed as (
  select
    broker, seq, op, cause, cache, e.life, stamp_ns, bound, pass_id, many, ledger_id, entry_id,
    max(case when op = 'PASS_BEGIN' then bound end) over (partition by broker, pass_id) as begun_bound,
    max(case when op = 'PASS_BEGIN' then cache end) over (partition by broker, pass_id) as begun_cache,
    lag(seq) over line as taken_before,
    lag(ledger_id) over line as ledger_before,
    lag(entry_id) over line as entry_before
  from events e
  where pass_id is not null and op in ('PASS_BEGIN', 'EVICT', 'PASS_END')
  window line as (partition by broker, pass_id, cache, op order by seq)
)
select
  *, ledger_id > ledger_before or (ledger_id = ledger_before and entry_id > entry_before) as ascends
from framed
