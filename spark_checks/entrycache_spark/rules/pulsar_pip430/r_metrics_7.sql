-- R-METRICS-7: METRICS shows the present bytes of all caches.

-- checked
op = 'METRICS'

-- needs
value.bytes of METRICS

-- over rows
op = 'METRICS' and counter(value, 'bytes') <> coalesce(manager_bytes, bytes_after)

-- expected
concat('bytes ', cast(coalesce(manager_bytes, bytes_after) as string))

-- observed
concat('bytes ', coalesce(cast(counter(value, 'bytes') as string), 'unknown'))

-- sure
not many
