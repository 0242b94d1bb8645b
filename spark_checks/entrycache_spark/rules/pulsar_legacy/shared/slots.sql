-- This system has no removal queue and therefore no slots; the names are those of the first system.
select
  e.*, false as gives, false as takes, false as whole, false as numbered, true as unlinked, false as complete,
  false as in_order, 0 as drift, 0 as n_given, 0 as n_taken, 0 as given_number, 0 as taken_number,
  struct(seq as at, op as op, stamp_ns as stamp_ns) as next_one, stamp_ns as stamp_then
from events e
where false
