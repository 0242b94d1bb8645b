-- Each event beside what its position held before it, where nothing is missing since an empty beginning.
select
  * except (held_before, life_before),
  case when whole then coalesce(held_before, 0) end as held_before, case when whole then life_before end as life_before
from over_ringed
where is_placed
