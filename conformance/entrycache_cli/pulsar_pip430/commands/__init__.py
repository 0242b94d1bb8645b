"""Commands about a broker's cache."""
