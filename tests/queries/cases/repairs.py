"""Cases for the statements that repairs read by and write with."""
