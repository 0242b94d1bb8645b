-- L-TRIGGER-3: with `eviction` manual no insert removes anything; a size pass of origin TRIGGER is a call of its own.

-- as R-TRIGGER-4 of pulsar-pip430
