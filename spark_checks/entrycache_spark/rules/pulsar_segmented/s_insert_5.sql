-- S-INSERT-5: an insert of a negative size is refused: it leaves no row and does not turn the ring.

-- checked
op in ('INSERT', 'REJECT', 'SKIP', 'PASS_BEGIN')

-- needs
size_bytes of INSERT ADD

-- over rows
op in ('INSERT', 'REJECT', 'SKIP', 'PASS_BEGIN') and size_bytes < 0

-- expected
'no row: a refusal'

-- observed
concat(op, ' of ', cast(size_bytes as string), ' bytes')
