"""Real Kafka and Neo4j on loopback, from Python packages alone: no Java, Maven or Docker on the machine."""

from factstream.stack.errors import StackError
from factstream.stack.local_stack import LocalStack
from factstream.stack.memory import StackMemory
from factstream.stack.status import ServerStatus, StackStatus

__all__ = ["LocalStack", "ServerStatus", "StackError", "StackMemory", "StackStatus"]
