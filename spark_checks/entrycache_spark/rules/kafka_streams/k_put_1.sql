-- K-PUT-1: a write begins a life of its own, which ends the key's former one.

-- checked
op = 'PUT'

-- needs
life of PUT

-- over rows
op = 'PUT' and coalesce(life <> seq, true)

-- expected
concat('life ', cast(seq as string))

-- observed
concat('life ', coalesce(cast(life as string), 'null'))
