-- S-INSERT-4: with max_size_bytes 0 no entry is added.

-- checked
op = 'INSERT' or (op = 'SKIP' and cause = 'DISABLED')

-- needs
CONFIG.max_size_bytes of INSERT ADD

-- over rows
op = 'INSERT' and limit_now = 0

-- expected
'SKIP: caching is off'

-- observed
'INSERT'
