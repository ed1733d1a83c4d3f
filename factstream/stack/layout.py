"""Which ports a stack uses, kept in its folder so that the next start uses the same."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from factstream.stack import ports
from factstream.stack.errors import StackError
from factstream.stack.files import write_atomic
from factstream.stack.memory import StackMemory

KAFKA_PORT = 19092
BOLT_PORT = 17687
BROKER_STEP = 10


class StackLayout(BaseModel):
    """Ports by node, and memory caps: the content of `stack.json`."""

    model_config = ConfigDict(frozen=True)

    broker_ports: tuple[int, ...]
    controller_ports: tuple[int, ...]
    bolt_port: int
    memory: StackMemory

    @classmethod
    def choose(
        cls, kafka_port: int | None, bolt_port: int | None, nodes: int, memory: StackMemory
    ) -> StackLayout:
        """None takes the default port when it is free and another one otherwise; 0 takes any free port.

        A port that is given is taken as it is. Node n of a cluster gets the given port plus 10 n;
        controllers take whatever is free.
        """
        taken: set[int] = set()

        def pick(given: int | None, preferred: int) -> int:
            port = given or ports.find_free(preferred if given is None else 0, taken=taken)
            taken.add(port)
            return port

        brokers = tuple(
            pick(kafka_port + BROKER_STEP * n if kafka_port else kafka_port, KAFKA_PORT + BROKER_STEP * n)
            for n in range(nodes)
        )
        bolt = pick(bolt_port, BOLT_PORT)
        controllers = tuple(pick(None, port + 1) for port in brokers)
        return cls(broker_ports=brokers, controller_ports=controllers, bolt_port=bolt, memory=memory)

    @classmethod
    def load(cls, root: Path) -> StackLayout | None:
        """The layout kept in `root`, or None before the first start."""
        try:
            return cls.model_validate_json((root / "stack.json").read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise StackError(f"{root / 'stack.json'} is damaged; delete {root} to start afresh") from error

    def save(self, root: Path) -> None:
        """Keep this layout in `root`."""
        write_atomic(root / "stack.json", self.model_dump_json(indent=2) + "\n")

    @property
    def bootstrap(self) -> str:
        """Kafka's addresses for clients."""
        return ",".join(f"{ports.HOST}:{port}" for port in self.broker_ports)
