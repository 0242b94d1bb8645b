-- L-STATE-3: a refused call leaves no event: no size below 0, no amount of 0 or less, no age below 0. (L-READ-4 checks
-- a read over two ledgers, or with reversed bounds.)

-- checked
op in ('INSERT', 'PASS_BEGIN')

-- needs
size_bytes of INSERT
bound of PASS_BEGIN * CALL

-- over rows
(op = 'INSERT' and size_bytes < 0)
or (op = 'PASS_BEGIN' and origin = 'CALL' and ((cause = 'SIZE' and bound <= 0) or (cause = 'TIME' and bound > ts_ns)))

-- expected
case
  when op = 'INSERT' then 'a size of 0 or more'
  when cause = 'SIZE' then 'an amount above 0'
  else concat('a cutoff at or before ', cast(ts_ns as string))
end

-- observed
concat(op, ' ', cast(case when op = 'INSERT' then size_bytes else bound end as string))
