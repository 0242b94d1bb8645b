"""The command line: every command, its reports, and the settings of brokers."""
