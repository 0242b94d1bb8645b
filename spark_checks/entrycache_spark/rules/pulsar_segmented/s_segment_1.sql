-- S-SEGMENT-1: an entry is taken by a segment where it ends within its room; where it would end within that of the
-- current one the ring does not turn.

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
