"""A model endpoint for tests: real HTTP on loopback, OpenAI's API, scripted answers and scripted bad days."""

from tests.model_server.faults import Cut, Drop, Hang, Raw, Status
from tests.model_server.request import RecordedRequest
from tests.model_server.server import ModelServer

__all__ = ["Cut", "Drop", "Hang", "ModelServer", "Raw", "RecordedRequest", "Status"]
