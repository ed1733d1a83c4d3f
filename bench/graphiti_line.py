"""The stream of bench/consolidation.py through graphiti-core; run by that bench, in an environment of its own.

    PYTHON bench/graphiti_line.py --bolt URI --same value|statement < orders.json > facts.json

In: {order: [{number, slot, one, subject, relation, value, at, sentence}, …]}. Out: {order: [[source, relation, target,
valid_at, open], …]}. The model is scripted and never errs: it finds the two names and the dated fact of each sentence,
knows the same names and facts when they are shown to it, and says that a fact is contradicted exactly when it is an
older or newer value of the same one-value slot. Which facts are the same is a matter of opinion, so there are two models:
for one it is the same unit and value, whenever it was so; for the other only the same statement. What it is shown, and what comes of its answers, is graphiti's own doing.
The indexes that graphiti makes in the database are dropped at the end, and so is what it stored.
"""

import argparse
import asyncio
import hashlib
import json
import math
import os
import re
import sys
import uuid
from datetime import datetime

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
os.environ["EMBEDDING_DIM"] = "256"

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.nodes import EpisodeType

DIMENSION = 256
SENTENCE = re.compile(r"(Unit \d+) (has state|has seen) (value \d+-\d+)")
LISTED = re.compile(r"'idx': (\d+), 'fact': '([^']*)'")


class Words(EmbedderClient):
    """Hashed words."""

    async def create(self, input_data):
        text = input_data if isinstance(input_data, str) else " ".join(map(str, input_data))
        return embedding(text)

    async def create_batch(self, input_data_list):
        return [embedding(text) for text in input_data_list]


def embedding(text):
    """A unit vector of the words of a text."""
    values = [0.0] * DIMENSION
    for word in re.findall(r"\w+", text.lower()) or [""]:
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        values[int.from_bytes(digest, "little") % DIMENSION] += 1.0
    length = math.sqrt(sum(v * v for v in values))
    return [v / length for v in values]


class AsGiven(CrossEncoderClient):
    """Ranks nothing."""

    async def rank(self, query, passages):
        return [(passage, 1.0) for passage in passages]


class Scripted(LLMClient):
    """Answers about the statement `now`, and counts its calls."""

    def __init__(self, same):
        super().__init__(LLMConfig(api_key="none", model="scripted"), cache=False)
        self.same = same
        self.now = {}
        self.calls = 0

    async def _generate_response(self, messages, response_model=None, max_tokens=0, model_size=None, **more):
        self.calls += 1
        kind = response_model.__name__ if response_model else ""
        prompt = messages[-1].content
        now = self.now
        if kind == "ExtractedEntities":
            names = [now["subject"], now["value"]]
            return {"extracted_entities": [{"name": n, "entity_type_id": 0} for n in names]}
        if kind == "ExtractedEdges":
            edge = {
                "source_entity_name": now["subject"],
                "target_entity_name": now["value"],
                "relation_type": now["relation"],
                "fact": now["sentence"],
                "valid_at": now["at"],
                "invalid_at": None,
            }
            return {"edges": [edge]}
        if kind == "NodeResolutions":
            asked, known = listed(prompt, "ENTITIES"), listed(prompt, "EXISTING ENTITIES")
            number = {e["name"]: e["candidate_id"] for e in known}
            return {
                "entity_resolutions": [
                    {"id": e["id"], "name": e["name"], "duplicate_candidate_id": number.get(e["name"], -1)}
                    for e in asked
                ]
            }
        if kind == "EdgeDuplicate":
            return self.compared(prompt)
        if kind == "EdgeTimestamps":
            return {"valid_at": now["at"], "invalid_at": None}
        if kind == "BatchEdgeTimestamps":
            return {"timestamps": [{"valid_at": now["at"], "invalid_at": None}]}
        if kind == "SummarizedEntities":
            return {"summaries": []}
        raise AssertionError(f"the script knows no answer of the form {kind!r}")

    def compared(self, prompt):
        """Which facts are the same, and which are another value of the same unit's state."""
        mine = SENTENCE.search(self.now["sentence"]).groups()
        same, against = [], []
        for section in ("EXISTING FACTS", "FACT INVALIDATION CANDIDATES"):
            text = re.search(f"<{section}>(.*?)</{section}>", prompt, re.S)[1]
            for number, fact in LISTED.findall(text):
                theirs = SENTENCE.search(fact).groups()
                told = theirs == mine if self.same == "value" else fact == self.now["sentence"]
                if told and section == "EXISTING FACTS":
                    same.append(int(number))
                elif theirs[:2] == mine[:2] and theirs[2] != mine[2] and self.now["one"]:
                    against.append(int(number))
        return {"duplicate_facts": same, "contradicted_facts": against}


def listed(prompt, section):
    """The JSON list of a section of a prompt."""
    return json.loads(re.search(rf"^<{section}>\n(.*?)\n</{section}>", prompt, re.S | re.M)[1])


async def run(graphiti, model, told):
    """One order in a group of its own; the facts that it leaves."""
    group = f"bench-graphiti-{uuid.uuid4().hex}"
    query = graphiti.driver.execute_query
    try:
        for item in told:
            model.now = item
            await graphiti.add_episode(
                name=f"Statement {item['number']}",
                episode_body=item["sentence"],
                source_description="bench",
                reference_time=datetime.fromisoformat(item["at"]),
                source=EpisodeType.text,
                group_id=group,
            )
        records, _, _ = await query(
            "MATCH (a:Entity {group_id: $group})-[r:RELATES_TO]->(b:Entity) "
            "RETURN a.name, r.name, b.name, toString(r.valid_at), r.invalid_at IS NULL AND r.expired_at IS NULL",
            group=group,
        )
        return [list(record.values()) for record in records]
    finally:
        await query("MATCH (n {group_id: $group}) DETACH DELETE n", group=group)


async def indexes(graphiti):
    records, _, _ = await graphiti.driver.execute_query(
        "SHOW INDEXES YIELD name, owningConstraint RETURN name"
    )
    return {record["name"] for record in records}


async def populated(graphiti):
    """Wait for the indexes; one may fail on what others store under the same names, which harms only its speed."""
    for _ in range(300):
        records, _, _ = await graphiti.driver.execute_query(
            "SHOW INDEXES YIELD state WHERE state = 'POPULATING' RETURN count(*) AS count"
        )
        if records[0]["count"] == 0:
            return
        await asyncio.sleep(1)
    raise TimeoutError("the indexes of the database are not populated")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bolt", required=True)
    parser.add_argument("--same", choices=["value", "statement"], required=True)
    options = parser.parse_args()
    orders = json.load(sys.stdin)
    model = Scripted(options.same)
    graphiti = Graphiti(options.bolt, "", "", llm_client=model, embedder=Words(), cross_encoder=AsGiven())
    before = await indexes(graphiti)
    try:
        await graphiti.build_indices_and_constraints()
        await populated(graphiti)
        found = {name: await run(graphiti, model, told) for name, told in orders.items()}
    finally:
        for name in sorted(await indexes(graphiti) - before):
            await graphiti.driver.execute_query(f"DROP INDEX `{name}` IF EXISTS")
        await graphiti.close()
    json.dump({"facts": found, "calls": model.calls}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
