-- S-INSERT-3: an entry that is longer than a segment is not added.

-- checked
op = 'INSERT' or (op = 'SKIP' and cause = 'FULL')

-- needs
size_bytes of INSERT ADD
CONFIG.max_size_bytes of INSERT ADD

-- over rows
op = 'INSERT' and limit_now > 0 and size_bytes > room_now

-- expected
concat('SKIP: a segment has room for ', cast(room_now as string), ' bytes')

-- observed
concat('INSERT of ', cast(size_bytes as string), ' bytes')
