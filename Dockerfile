FROM python:3.12-slim
RUN useradd --create-home factstream
WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
COPY factstream factstream
COPY pipeline pipeline
COPY streams streams
COPY search_api search_api
RUN pip install --no-cache-dir ".[local]"
USER factstream
ENTRYPOINT ["factstream"]
CMD ["--help"]
