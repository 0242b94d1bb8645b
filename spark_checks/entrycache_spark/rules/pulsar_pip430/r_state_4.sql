-- R-STATE-4: no entry leaves by itself. The rows of a pass stand between its PASS_BEGIN and its PASS_END, one pass at a
-- time, of one kind and origin. With one thread no other row stands there.

-- checked
op in ('PASS_BEGIN', 'PASS_END', 'EVICT', 'REQUEUE', 'TOMBSTONE')

-- needs
pass_id of PASS_BEGIN, PASS_END, EVICT, REQUEUE, TOMBSTONE

-- over ordered
case
  when op = 'PASS_BEGIN' then open_pass is not null or coalesce(pass_id <> seq, true)
  when op in ('PASS_END', 'EVICT', 'REQUEUE', 'TOMBSTONE')
    then pass_id is null or coalesce(open_pass <> pass_id, pass_before is not null or whole)
  else not many and op <> 'SNAPSHOT' and open_pass is not null
    and op_before in ('PASS_BEGIN', 'EVICT', 'REQUEUE', 'TOMBSTONE')
end

-- expected
case
  when op = 'PASS_BEGIN' then 'no pass in progress'
  when op in ('PASS_END', 'EVICT', 'REQUEUE', 'TOMBSTONE') then 'a row of the pass in progress'
  else concat('the end of pass ', cast(open_pass as string))
end

-- observed
concat(op, ' of pass ', coalesce(cast(pass_id as string), 'none'))

-- seqs
case when open_pass is null then array(seq) else array(open_pass, seq) end

-- over ordered: the kind and the origin of a pass
op in ('PASS_END', 'EVICT', 'TOMBSTONE') and open_pass = pass_id and (
  (cause <> pass_kind and cause <> kind_before) or (op = 'PASS_END' and origin <> pass_origin)
)

-- expected
concat('a pass ', pass_kind, coalesce(concat(' of origin ', pass_origin), ''))

-- observed
concat(op, ' ', cause, coalesce(concat(' of origin ', origin), ''))

-- seqs
array(open_pass, seq)
