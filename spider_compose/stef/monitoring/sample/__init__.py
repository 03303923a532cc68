"""A log to try the monitoring on: three simulated agents, two months, one gets worse on a known day."""
