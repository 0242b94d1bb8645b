-- R-LIMIT-3: a request is granted what it asks for, or the whole limit if it asks for more.

-- checked
op = 'PERMIT' and cause = 'TAKEN' and bound is not null

-- needs
permits of PERMIT TAKEN
CONFIG.max_reads_in_flight_bytes of PERMIT TAKEN

-- over rows
op = 'PERMIT' and cause = 'TAKEN' and bound is not null and permits_now is not null
and permits <> least(bound, permits_now)

-- expected
concat(cast(least(bound, permits_now) as string), ' permits')

-- observed
concat(cast(permits as string), ' permits')
