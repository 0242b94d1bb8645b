-- K-WINDOW-6: a window or session that has expired is neither written to the underlying store nor forwarded. The stream
-- time is the greatest time of the PUT rows of its store so far.

-- checked
op in ('BELOW', 'FORWARD') and window_start is not null

-- over stored
op in ('BELOW', 'FORWARD') and whole and expired

-- expected
concat('nothing of time ', cast(time as string), ': the stream time is ', cast(stream_time as string))

-- observed
concat('a ', op, ' of life ', coalesce(cast(life as string), 'null'))

-- sure
not many
