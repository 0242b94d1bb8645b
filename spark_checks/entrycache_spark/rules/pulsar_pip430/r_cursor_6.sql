-- R-CURSOR-6: the grace period starts when the cache is created and when a member is removed, and at no other event. It
-- is violated if an entry cached after the end would be within a period counted from a reopening or from `cursor_add`,
-- or if an entry not cached within the period would be outside of one counted from the creation. The traces that show
-- R-CURSOR-11 show this rule too.

-- checked
ranks and ((op = 'INSERT' and cause = 'ADD' and not virtual) or (op = 'SKIP' and cause = 'NOT_WANTED'))

-- needs
CONFIG.evict_by_expected_reads of INSERT ADD, SKIP NOT_WANTED
CONFIG.grace_millis or CONFIG.ttl_nanos of INSERT ADD, SKIP NOT_WANTED
once cursor of CURSOR_ADD

-- over wanted
ranks and members = 0
and case
  when is_add then cache_asks and passed_millis >= grace_millis and since_restart < grace_millis
  else passed_millis < grace_millis and since_opened >= grace_millis
end

-- expected
case when is_add then 'SKIP: the grace period is over' else 'INSERT: the grace period goes on' end

-- observed
concat(
  op, ' ', cast(passed_millis as string), ' of ', cast(grace_millis as string), ' ms after the start of the grace period'
)

-- seqs
array(grace_seq, seq)

-- sure
known and not many and (virtual or abs(passed_millis - grace_millis) > 1)
