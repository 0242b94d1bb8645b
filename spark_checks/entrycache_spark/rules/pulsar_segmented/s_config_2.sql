-- S-CONFIG-2: a segment has room for trunc(max_size_bytes / segments) bytes, and a turn shows this room.

-- checked
op in ('PASS_BEGIN', 'PASS_END') and named

-- needs
trigger_bytes of PASS_BEGIN TURN
CONFIG.max_size_bytes of PASS_BEGIN TURN

-- over rows
op in ('PASS_BEGIN', 'PASS_END') and named and trigger_bytes <> room_now

-- expected
concat('room for ', cast(room_now as string), ' bytes')

-- observed
concat('trigger_bytes ', cast(trigger_bytes as string))
