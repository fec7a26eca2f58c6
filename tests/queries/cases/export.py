"""Cases for the statements that give an export its columns."""
