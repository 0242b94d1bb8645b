-- S-CONFIG-1: if the settings do not give the number of segments, a turn shows the room of one of max(2,
-- trunc(max_size_bytes / 2^30)).

-- checked
op in ('PASS_BEGIN', 'PASS_END') and not named

-- needs
trigger_bytes of PASS_BEGIN TURN
CONFIG.max_size_bytes of PASS_BEGIN TURN

-- over rows
op in ('PASS_BEGIN', 'PASS_END') and not named and trigger_bytes <> room_now

-- expected
concat('room for ', cast(room_now as string), ' bytes')

-- observed
concat('trigger_bytes ', cast(trigger_bytes as string))
