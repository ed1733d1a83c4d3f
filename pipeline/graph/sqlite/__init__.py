"""The graph in one file: SQLite for rows and full text, numpy for exact cosine. No server is needed."""
