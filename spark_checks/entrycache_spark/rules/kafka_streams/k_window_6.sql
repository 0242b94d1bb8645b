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

-- over stored: a value that decides is not recorded
whole and (
  (op = 'STORE_OPEN' and (store_kind is null or (kind <> 'kv' and retention is null)))
  or (op in ('PUT', 'BELOW', 'FORWARD') and seq = timeless_seq)
)

-- expected
'the value, which decides the rule'

-- observed
concat('a ', op, ' without ', case op when 'STORE_OPEN' then case when store_kind is null then 'store_kind' when kind <> 'kv' and retention is null then 'value.retention' end else unrecorded end)

-- sure
false
