-- R-CURSOR-11: in the active container an added entry is cached exactly while its cache has a member, or during the
-- grace period, in whole milliseconds. Only some traces can show it: a managed ledger asks, an op `insert` does not. So
-- a cached entry is checked only if the clock is real (a broker recorded the trace) or the cache has a SKIP NOT_WANTED
-- of an add. An entry that was not cached (a SKIP NOT_WANTED that is the first event of its call) is always checked.
-- The rule needs the trace from its first event. A call on a real clock is left undecided within a millisecond of the
-- end of the grace period. A recorder that records no cursors writes no CURSOR_ADD. Without any, the members of a cache
-- are unknown, and the rule is inconclusive.

-- checked
ranks and ((op = 'INSERT' and cause = 'ADD' and not virtual) or (op = 'SKIP' and cause = 'NOT_WANTED'))

-- needs
CONFIG.evict_by_expected_reads of INSERT ADD, SKIP NOT_WANTED
CONFIG.grace_millis or CONFIG.ttl_nanos of INSERT ADD, SKIP NOT_WANTED
once cursor of CURSOR_ADD

-- over wanted
ranks
and case
  when is_add then cache_asks and members = 0 and passed_millis >= grace_millis and since_restart >= grace_millis
  else members > 0 or (passed_millis < grace_millis and since_opened < grace_millis)
end

-- expected
case when is_add then 'SKIP: no member, and the grace period is over' else 'INSERT: a member, or the grace period goes on' end

-- observed
concat(
  op, ' with ', cast(members as string), ' members, ', cast(passed_millis as string), ' of ',
  cast(grace_millis as string), ' ms after the start of the grace period'
)

-- seqs
case when grace_seq is null then array(seq) else array(grace_seq, seq) end

-- sure
known and not many and (virtual or members > 0 or abs(passed_millis - grace_millis) > 1)
