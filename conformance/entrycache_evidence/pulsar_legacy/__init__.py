"""What the evidence about `pulsar-legacy` is made with."""
