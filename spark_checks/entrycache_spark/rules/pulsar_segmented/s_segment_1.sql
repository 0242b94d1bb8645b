-- S-SEGMENT-1: a segment takes an entry that ends within its room; if the entry would end within the room of the
-- current one, the ring does not turn.

-- checked
op in ('INSERT', 'PASS_BEGIN')

-- needs
bound of INSERT ADD
CONFIG.max_size_bytes of INSERT ADD

-- over rows
(op = 'INSERT' and limit_now > 0 and size_bytes <= room_now and bound + size_bytes > room_now)
or (op = 'PASS_BEGIN' and bound + size_bytes <= room_now)

-- expected
case when op = 'INSERT' then concat('an end at or before byte ', cast(room_now as string)) else 'no turn: it fits' end

-- observed
concat(op, ' at byte ', cast(bound as string), ' of ', cast(size_bytes as string), ' bytes')
