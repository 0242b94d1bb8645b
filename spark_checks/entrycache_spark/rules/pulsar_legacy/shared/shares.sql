-- Each size pass and each cache, up to three times: at the first and the last entry that the cache removed, and at the
-- end of the pass. `share_bytes`: the bytes to free, the whole amount if the pass names the cache (`of_one`), else its
-- share; `gives`: more than 0; `alone`: no other cache has a share; `tied`: the last chosen cache has as many bytes as
-- one that is not chosen. Only passes that begin and end, and before which every size is known.
with moves as (
  select
    e.broker, seq, op, cache, size_bytes, pass_id, bound, many, b.fresh and e.island = b.first_island as whole,
    case when op = 'INSERT' then coalesce(size_bytes, 0) when op in ('EVICT', 'REMOVE') then - coalesce(size_bytes, 0) else 0 end
      as grown,
    case when op = 'INSERT' then 1 when op in ('EVICT', 'REMOVE') then -1 else 0 end as entered,
    sum(case when op in ('INSERT', 'EVICT', 'REMOVE') and (size_bytes is null or cache is null) then 1 else 0 end)
      over (partition by e.broker order by seq rows between unbounded preceding and current row) as vague
  from events e join brokers b on e.broker = b.broker
  where op in ('INSERT', 'EVICT', 'REMOVE') or (op in ('PASS_BEGIN', 'PASS_END') and cause = 'SIZE')
),
passes as (
  select p.broker, p.seq, p.bound as need, p.cache as named, p.many, n.end_seq
  from moves p join (
    select broker, pass_id, max(seq) as end_seq, max(vague) as vague
    from moves where op = 'PASS_END' and pass_id is not null and whole
    group by broker, pass_id
  ) n on p.broker = n.broker and p.seq = n.pass_id
  where p.op = 'PASS_BEGIN' and p.pass_id = p.seq and p.bound is not null and p.whole and n.vague = 0
),
given as (
  select
    broker, pass_id, cache, count(*) as gave_count, cast(sum(coalesce(size_bytes, 0)) as bigint) as gave_bytes,
    min(seq) as first_seq, max(seq) as last_seq, max_by(coalesce(size_bytes, 0), seq) as last_bytes
  from moves
  where op = 'EVICT' and pass_id is not null and cache is not null
  group by broker, pass_id, cache
),
line as (
  select broker, seq, cache, grown, entered, false as is_mark from moves where entered <> 0 and cache is not null
  union all
  select p.broker, p.seq, c.cache, 0 as grown, 0 as entered, true as is_mark
  from passes p join (select distinct broker, cache from moves where entered <> 0 and cache is not null) c
    on p.broker = c.broker
),
standing as (
  select
    broker, seq, cache, is_mark,
    cast(sum(grown) over upto as bigint) as bytes_at, sum(entered) over upto > 0 as held, sum(entered) over upto as live_at
  from line
  window upto as (partition by broker, cache order by seq rows between unbounded preceding and current row)
),
summed as (
  select
    *,
    cast(sum(case when held then bytes_at else 0 end) over (partition by broker, seq) as bigint) as total_bytes,
    min(case when held then bytes_at end) over (partition by broker, seq) as least_bytes,
    cast(coalesce(
      sum(case when held then bytes_at else 0 end) over (
        partition by broker, seq order by case when held then 0 else 1 end, bytes_at desc, cache
        rows between unbounded preceding and 1 preceding
      ), 0
    ) as bigint) as larger_bytes
  from standing
  where is_mark
),
chosen as (
  select *, held and total_bytes > 0 and larger_bytes < total_bytes div 2 as taken
  from summed
  where coalesce(least_bytes, 0) >= 0
),
shared as (
  select
    *,
    cast(sum(case when taken then bytes_at else 0 end) over (partition by broker, seq) as bigint) as taken_bytes,
    sum(case when taken then 1 else 0 end) over (partition by broker, seq) as n_taken,
    min(case when taken then bytes_at end) over (partition by broker, seq) as last_taken,
    max(case when held and not taken then bytes_at end) over (partition by broker, seq) as first_left
  from chosen
),
judged as (
  select
    s.broker, s.cache, p.many, p.seq as pass_id, p.end_seq, s.bytes_at, s.live_at, p.named is not null as of_one,
    p.named is not null or s.n_taken = 1 as alone,
    coalesce(s.held and s.bytes_at = s.last_taken and s.bytes_at = s.first_left, false) as tied,
    case
      when p.named is not null then case when s.cache = p.named then p.need else 0 end
      when s.taken then
        cast(floor(cast(p.need as double) * (cast(s.bytes_at as double) / cast(s.taken_bytes as double))) as bigint)
      else 0
    end as share_bytes,
    coalesce(g.gave_count, 0) as gave_count, coalesce(g.gave_bytes, 0) as gave_bytes, coalesce(g.last_bytes, 0) as last_bytes,
    g.first_seq, g.last_seq
  from shared s
    join passes p on s.broker = p.broker and s.seq = p.seq
    left join given g on s.broker = g.broker and s.seq = g.pass_id and s.cache = g.cache
)
select
  j.*, w.place, cast(null as bigint) as life,
  case w.place when 'FIRST' then first_seq when 'LAST' then last_seq else end_seq end as seq,
  share_bytes > 0 as gives, gave_count = 0 and live_at > 0 as gave_none,
  gave_bytes < share_bytes and live_at > gave_count as too_little,
  gave_count > 0 and gave_bytes - last_bytes >= share_bytes as too_much
from judged j
  cross join (select 'FIRST' as place union all select 'LAST' as place union all select 'END' as place) w
where w.place = 'END' or gave_count > 0
