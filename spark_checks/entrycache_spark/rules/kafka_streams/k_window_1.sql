-- K-WINDOW-1: a view answers windows or sessions by the segment of their time, then by key, then by time; backward in
-- reverse. The time of a window is its start, that of a session its end.

-- checked
op = 'VIEW_ENTRY' and window_start is not null

-- over stored
op = 'VIEW_ENTRY' and whole and kind <> 'kv' and case when cause = 'BACKWARD' then rises else falls end

-- expected
concat('an entry ', case when cause = 'BACKWARD' then 'before ' else 'after ' end, 'the one before in the order of the store')

-- observed
concat('a VIEW_ENTRY of time ', cast(time as string))

-- seqs
array(entry_seq, seq)

-- sure
not many
