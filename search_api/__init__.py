"""The read side: retrieval, the HTTP service around it, keys, limits, metrics. `app.create_app` puts it together."""
