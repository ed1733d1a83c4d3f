"""What the canary asks of the read side: whether its episode and its fact are found, and what is there of old ones."""

from __future__ import annotations

from pipeline.graph.ledger import CurationStore
from pipeline.graph.search import GraphReader, Method, Scope, SearchPlan
from pipeline.text.analysis import query_terms
from streams.agents.outbox import Sender
from streams.canary.group import canary_group
from streams.curation import publish_curation


class Looking:
    """Searches as a user's search does, and takes old canaries out of the graph and the compacted topics."""

    def __init__(self, reader: GraphReader, store: CurationStore, prefix: str) -> None:
        self._group, self._prefix = canary_group(prefix), prefix
        self._reader = reader
        self._store = store

    async def finds(self, scope: Scope, token: str) -> bool:
        """Whether a search for the token finds something in the scope. Raises Retryable when the graph is away."""
        found = await self._reader.search(
            SearchPlan(
                group_ids=(self._group,),
                scopes=(scope,),
                methods=(Method.bm25,),
                limit=1,
                terms=tuple(query_terms(token)),
            )
        )
        return bool(found.items.get(scope))

    async def clean_up(self, sender: Sender) -> None:
        """Leaves nothing of earlier canaries. Raises Retryable or Fenced; a repeat takes what was left."""
        ledger = await self._store.ledger(self._group)
        if not ledger.episodes:
            return
        await publish_curation(sender, self._prefix, self._group, (), sorted(ledger.episodes))
        await self._store.erase_group(self._group, ledger.lanes, ("erased", "{}"))
        await self._store.drop_marks(self._group)
