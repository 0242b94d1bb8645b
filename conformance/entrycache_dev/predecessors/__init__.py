"""What each cache of Pulsar gives up: the same little traces through the three references."""
