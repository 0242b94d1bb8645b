-- R-REQUEUE-3: a pass removes an entry only if neither access nor an expected read with budget left keeps it.

-- checked
op = 'EVICT'

-- needs
accessed of EVICT
extend_accessed of EVICT
requeues of EVICT
max_requeues of EVICT

-- window
with had as (
  select
    broker, seq, life, op, accessed, extend_accessed, expected_reads, requeues, max_requeues, pass_id,
    sum(
      case
        when op = 'SNAPSHOT' then requeues
        when op <> 'REQUEUE' or (split_budget and cause = 'ACCESSED') then 0
        else 1
      end
    ) over (partition by broker, life order by seq rows between unbounded preceding and current row) as counted,
    max(case when op in ('INSERT', 'SNAPSHOT') then island end)
      over (partition by broker, life order by seq rows between unbounded preceding and current row) as begin_island,
    island
  from events
  where life is not null and (op in ('INSERT', 'REQUEUE', 'EVICT') or (op = 'SNAPSHOT' and cause = 'OPEN'))
),
judged as (
  select
    *,
    accessed and extend_accessed as touched,
    case when begin_island = island then least(requeues, counted) else requeues end as used
  from had
  where op = 'EVICT'
)
select
  broker, seq, life,
  case when touched then 'REQUEUE ACCESSED' else 'REQUEUE EXPECTED_READS' end as expected,
  case
    when touched then 'EVICT of an accessed entry'
    else concat(
      'EVICT with expected_reads ', cast(expected_reads as string), ' after ', cast(used as string), ' of ',
      cast(max_requeues as string), ' requeues'
    )
  end as observed,
  array(pass_id, seq) as seqs,
  true as sure
from judged
where touched or (expected_reads >= 1 and used < max_requeues)
