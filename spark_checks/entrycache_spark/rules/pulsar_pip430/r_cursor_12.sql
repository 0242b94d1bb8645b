-- R-CURSOR-12: in the heap container an added entry is cached exactly while its cache has a member. The traces that
-- show R-CURSOR-11 show this rule too.

-- checked
not ranks and ((op = 'INSERT' and cause = 'ADD' and not virtual) or (op = 'SKIP' and cause = 'NOT_WANTED'))

-- needs
CONFIG.evict_by_expected_reads of INSERT ADD, SKIP NOT_WANTED
once cursor of CURSOR_ADD

-- over wanted
not ranks and case when is_add then cache_asks and members = 0 else members > 0 end

-- expected
case when is_add then 'SKIP: no member' else 'INSERT: a member' end

-- observed
concat(op, ' with ', cast(members as string), ' members')

-- sure
known and not many
