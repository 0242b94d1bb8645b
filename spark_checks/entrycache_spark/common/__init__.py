"""Types that all parts of an audit share: results, rule files, and the description of a system."""
