"""What is shown of `kafka-streams`: small worlds that are exhausted, lemmas that are proved."""
