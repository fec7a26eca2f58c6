"""The one declaration of the graph and of the tables that flow between the rooms. No I/O here."""
