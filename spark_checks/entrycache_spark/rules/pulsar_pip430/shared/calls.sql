-- The reads of each call and the entries that it cached, with the fill before; `unasked_seq` is that of a fill without ask.
select
  e.broker, seq, op, cause, cache, ledger_id, entry_id, e.life, expected_reads, call_id, cursor, many,
  max(case when op = 'INSERT' then seq end)
    over (partition by e.broker, call_id order by seq rows between unbounded preceding and 1 preceding) as filled_seq,
  max(case when op = 'INSERT' and ask_id is null then seq end)
    over (partition by e.broker, call_id order by seq rows between unbounded preceding and 1 preceding) as unasked_seq,
  last_value(case when op = 'INSERT' then ledger_id end, true)
    over (partition by e.broker, call_id order by seq rows between unbounded preceding and 1 preceding) as filled_ledger,
  last_value(case when op = 'INSERT' then entry_id end, true)
    over (partition by e.broker, call_id order by seq rows between unbounded preceding and 1 preceding) as filled_entry,
  last_value(case when op = 'INSERT' then expected_reads end, true)
    over (partition by e.broker, call_id order by seq rows between unbounded preceding and 1 preceding) as filled_count
from events e
where call_id is not null and cursor is null
  and ((op = 'INSERT' and cause = 'FILL') or (op in ('HIT', 'MISS') and cause = 'READ'))
