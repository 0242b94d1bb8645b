"""What is shown of `pulsar-segmented`: small worlds, its fast cache beside them, and a read under way."""
