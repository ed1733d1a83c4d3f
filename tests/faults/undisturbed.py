"""What the input becomes without any fault: one group of each variant, handled by one worker in peace."""

from __future__ import annotations

from tests.faults.graph_checks import Expected
from tests.faults.ground import Ground
from tests.faults.load import VARIANTS, histories, last_step
from tests.faults.site import site


async def undisturbed(ground: Ground, events: int) -> list[Expected]:
    """By variant."""
    async with site(ground) as made, made.worker() as worker:
        groups = made.groups(VARIANTS)
        for history in histories(groups, events):
            await made.tell(history)
        await made.until_all_done()
        assert await worker.stopped() == 0
        seen = await made.seen()
    dumps = {dump.group_id: dump for dump in seen.rebuilt}
    return [Expected(dumps[group], last_step(events)) for group in groups]
