-- K-EVICT-3: an evicted dirty entry is handed over: it has a FLUSH of the same life and call, in any order. It is the
-- first of the entries that are handed over with it.

-- checked
op = 'EVICT' and dirty

-- needs
dirty of EVICT
life of EVICT

-- over streamed
op = 'FLUSH' and whole and is_evicted and op_before = 'FLUSH' and cache = cache_before and call_id = call_before

-- expected
'the evicted entry first'

-- observed
concat('behind that of life ', coalesce(cast(life_before as string), 'null'))

-- seqs
array(seq_before, seq)

-- sure
not many

-- window: a call that was in progress when the trace was cut off may have gone on
with handed as (
  select
    broker, life, call_id, max(case when op = 'EVICT' then seq end) as seq,
    max(case when op = 'FLUSH' then seq end) as flushed_seq
  from events
  where (op = 'EVICT' and dirty) or (op = 'FLUSH' and coalesce(cause, '') <> 'FAILED')
  group by broker, life, call_id
),
last_calls as (
  select broker, max(call_id) as last_call from events group by broker
)
select
  h.broker, h.seq, h.life,
  'a FLUSH of the same life and call' as expected,
  'a dirty EVICT without one' as observed,
  array(h.seq) as seqs,
  not b.gapped and (b.complete or coalesce(h.call_id < l.last_call, false)) as sure
from handed h join brokers b on h.broker = b.broker join last_calls l on h.broker = l.broker
where h.seq is not null and h.flushed_seq is null
