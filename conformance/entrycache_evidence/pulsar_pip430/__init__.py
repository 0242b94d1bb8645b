"""What is shown of `pulsar-pip430`: small worlds that are exhausted, lemmas that are proved."""
