-- The lookups and offers of each call: how many hits, misses (`n_held`: of cached entries), offers and single reads
-- from storage the call has. A lookup has the one before it, an offer has its number.
with questions as (
  select
    e.broker, e.seq, op, cause, e.life, cache, ledger_id, entry_id, size_bytes, call_id, many, by_object, b.complete, b.gapped,
    op in ('HIT', 'MISS') as looks,
    op in ('INSERT', 'REJECT') or (op = 'SKIP' and cause in ('FULL', 'DISABLED')) as offer,
    p.held_before
  from events e
    join brokers b on e.broker = b.broker
    left join (select broker, seq, held_before from over_placed where op = 'MISS') p on e.broker = p.broker and e.seq = p.seq
  where call_id is not null
    and (
      (op in ('HIT', 'MISS') and cause in ('GET', 'READ')) or op in ('INSERT', 'REJECT')
      or (op = 'SKIP' and cause in ('FULL', 'DISABLED', 'NOT_WANTED'))
    )
),
counted as (
  select
    *,
    count(case when op = 'HIT' and cause = 'READ' then 1 end) over whole as n_hits,
    count(case when op = 'MISS' and cause = 'READ' then 1 end) over whole as n_misses,
    count(case when op = 'MISS' and cause = 'READ' and held_before = 1 then 1 end) over whole as n_held,
    count(case when offer then 1 end) over whole as n_offers,
    count(case when op = 'SKIP' and cause = 'NOT_WANTED' then 1 end) over whole as n_singles,
    min(seq) over whole as first_seq, max(seq) over whole as last_seq,
    min(case when op = 'MISS' and cause = 'READ' then seq end) over whole as missed_seq,
    count(case when offer then 1 end)
      over (partition by broker, call_id order by seq rows between unbounded preceding and current row) as n_offered,
    lag(seq) over line as before_seq, lag(cache) over line as cache_before,
    lag(ledger_id) over line as ledger_before, lag(entry_id) over line as entry_before
  from questions
  window
    whole as (partition by broker, call_id),
    line as (partition by broker, call_id, looks, cause order by seq)
)
select
  *,
  case when looks then before_seq end as lookup_before_seq,
  cache = cache_before and (ledger_id > ledger_before or (ledger_id = ledger_before and entry_id > entry_before)) as ascends,
  cache = cache_before and ledger_id = ledger_before and entry_id = entry_before + 1 as follows,
  max(case when seq = missed_seq then cache end) over (partition by broker, call_id) as first_cache,
  max(case when seq = missed_seq then ledger_id end) over (partition by broker, call_id) as first_ledger,
  max(case when seq = missed_seq then entry_id end) over (partition by broker, call_id) as first_entry
from counted
