"""The command line: every command, its reports, the settings of brokers, the table of versions."""
