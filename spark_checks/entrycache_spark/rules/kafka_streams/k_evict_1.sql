-- K-EVICT-1: an evicted entry is cached, and is the least recently used one of its namespace: no other cached entry was
-- last written or hit before it. FLUSH does not change the order of use. A listener that throws puts an evicted entry
-- back where it was: after such a PUT, which a FLUSH with cause FAILED follows, the order is not known.

-- checked
op = 'EVICT'

-- needs
life of EVICT
key_hash of PUT

-- over streamed
op = 'EVICT' and whole and coalesce(life <> life_shown and life <> life_by_writes, true)

-- expected
case when live then concat('life ', cast(life_by_writes as string)) else 'no EVICT: nothing is cached under this key' end

-- observed
concat('an EVICT of life ', coalesce(cast(life as string), 'null'))

-- seqs
case when seen_seq is null then array(seq) else array(seen_seq, seq) end

-- sure
not many

-- window: each use of an entry lasts until the next event of its key. An eviction is wrong if the use that it ends
-- began after a use that is still going on.
with uses as (
  select
    e.broker, cache, seq, e.life, op, many,
    lead(seq) over (partition by e.broker, cache, key_hash order by seq) as until_seq,
    lead(op) over (partition by e.broker, cache, key_hash order by seq) as until_op,
    lead(e.life) over (partition by e.broker, cache, key_hash order by seq) as until_life
  from events e join brokers b on e.broker = b.broker
  where b.fresh and e.island = b.first_island and op in ('PUT', 'HIT', 'MISS', 'EVICT', 'DELETE', 'REMOVE')
),
lined as (
  select
    broker, seq, many, until_seq, until_op, until_life,
    max(coalesce(until_seq, 9223372036854775807))
      over (partition by broker, cache order by seq rows between unbounded preceding and 1 preceding) as longest
  from uses
  where op in ('PUT', 'HIT')
),
followed as (
  select broker, seq, op, life, lead(op) over line as next_op, lead(cause) over line as next_cause, lead(life) over line as next_life
  from events
  window line as (partition by broker order by seq)
),
put_backs as (
  select broker, min(seq) as put_back_seq
  from followed
  where op = 'PUT' and next_op = 'FLUSH' and next_cause = 'FAILED' and next_life = life
  group by broker
)
select
  lined.broker, until_seq as seq, until_life as life,
  'the least recently used entry of the namespace' as expected,
  concat('an entry used at ', cast(seq as string), '; one used before it is still there') as observed,
  case when longest = 9223372036854775807 then array(seq, until_seq) else array(seq, until_seq, longest) end as seqs,
  not many and coalesce(until_seq < put_back_seq, true) as sure
from lined left join put_backs on lined.broker = put_backs.broker
where until_op = 'EVICT' and longest > until_seq
