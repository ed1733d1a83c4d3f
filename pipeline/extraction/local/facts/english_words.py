"""The English words that rules turn into facts: verbs with their relation, kin, roles, devices. Grammar, no names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.extraction.local.facts.claim import Aspect
from pipeline.extraction.local.facts.masked import N


@dataclass(frozen=True)
class Verb:
    """A verb with the preposition that its object needs. `named`: the object must be a name."""

    relation: str
    aspect: Aspect
    base: str
    third: str
    past: str
    participle: str
    gerund: str
    prep: str = ""
    named: bool = False


def _regular(base: str) -> tuple[str, str, str, str, str]:
    doubled = {"stop": "stopp", "jog": "jogg", "travel": "travel", "cancel": "cancel"}.get(base, base)
    if base.endswith("e"):
        return base, base + "s", base + "d", base + "d", base[:-1] + "ing"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base, base[:-1] + "ies", base[:-1] + "ied", base[:-1] + "ied", base + "ing"
    third = base + ("es" if base.endswith(("s", "x", "ch", "sh")) else "s")
    return base, third, doubled + "ed", doubled + "ed", doubled + "ing"


_FORMS = {
    "leave": ("leave", "leaves", "left", "left", "leaving"),
    "quit": ("quit", "quits", "quit", "quit", "quitting"),
    "buy": ("buy", "buys", "bought", "bought", "buying"),
    "cancel": ("cancel", "cancels", "cancelled", "cancelled", "cancelling"),
    "sell": ("sell", "sells", "sold", "sold", "selling"),
    "get": ("get", "gets", "got", "got", "getting"),
    "go": ("go", "goes", "went", "been", "going"),
    "prefer": ("prefer", "prefers", "preferred", "preferred", "preferring"),
    "speak": ("speak", "speaks", "spoke", "spoken", "speaking"),
    "run": ("run", "runs", "ran", "run", "running"),
    "lead": ("lead", "leads", "led", "led", "leading"),
    "do": ("do", "does", "did", "done", "doing"),
}


def _verbs() -> list[Verb]:
    state, start, end, event = Aspect.state, Aspect.start, Aspect.end, Aspect.event
    rows: list[tuple[str, Aspect, str, str, bool]] = [
        ("WORKS_AT", state, "work", "(?:at|for)", True),
        ("WORKS_AT", start, "join", "", True),
        ("WORKS_AT", start, "start", "(?:working )?(?:at|for)", True),
        ("WORKS_AT", start, "get", "(?:a|the|my) (?:new )?job (?:at|with)", True),
        ("WORKS_AT", end, "leave", "", True),
        ("WORKS_AT", end, "quit", "", True),
        ("WORKS_AT", end, "resign", "from", True),
        ("WORKS_AT", end, "stop", "working (?:at|for)", True),
        ("LIVES_IN", state, "live", "in", True),
        ("LIVES_IN", start, "move", f"(?:back )?(?:over )?(?:from {N} )?to", True),
        ("LIVES_IN", start, "relocate", f"(?:from {N} )?to", True),
        ("LIVES_IN", end, "move", "(?:away |out )(?:from|of)", True),
        ("LIVES_IN", end, "stop", "living in", True),
        ("LIKES", state, "like", "", False),
        ("LIKES", state, "love", "", False),
        ("LIKES", state, "enjoy", "", False),
        ("LIKES", state, "adore", "", False),
        ("DISLIKES", state, "dislike", "", False),
        ("DISLIKES", state, "hate", "", False),
        ("PREFERS", state, "prefer", "", False),
        ("OWNS", state, "own", "", False),
        ("OWNS", end, "sell", "", False),
        ("BOUGHT", event, "buy", "", False),
        ("BOUGHT", event, "purchase", "", False),
        ("ORDERED", event, "order", "", False),
        ("USES", state, "use", "", False),
        ("USES", end, "stop", "using", False),
        ("PLAYS", state, "play", "", False),
        ("PLAYS", end, "stop", "playing", False),
        ("PRACTISES", state, "practise", "", False),
        ("PRACTISES", state, "practice", "", False),
        ("SPEAKS", state, "speak", "", False),
        ("STUDIES", state, "study", "(?!(?:at|in|for|with|hard)\\b)", False),
        ("STUDIES_AT", state, "study", "at", True),
        ("MARRIED_TO", start, "marry", "", True),
        ("MARRIED_TO", end, "divorce", "", True),
        ("HAS_PLAN", start, "upgrade", "to", False),
        ("HAS_PLAN", start, "subscribe", "to", False),
        ("HAS_PLAN", start, "switch", "to", False),
        ("HAS_PLAN", end, "cancel", "", False),
        ("LEADS", state, "run", "", True),
        ("LEADS", state, "lead", "", True),
        ("LEADS", state, "manage", "", True),
        ("FOUNDED", event, "found", "", True),
        ("FOUNDED", event, "co-found", "", True),
        ("VISITED", event, "visit", "", True),
        ("VISITED", event, "go", "to", True),
        ("VISITED", event, "travel", "to", True),
    ]
    return [Verb(r, a, *_FORMS.get(b, _regular(b)), prep=p, named=n) for r, a, b, p, n in rows]


VERBS = _verbs()

QUESTION = re.compile(
    r"\?\s*[\"')\]]*\s*$|^[\s\"'(]*(?:what|when|where|who|whom|whose|which|why|how|do|does|did|are|can|could|would|"
    r"should|will|shall|have you|has anyone|is (?:there|it|this|that|he|she))\b",
    re.I,
)
HYPOTHETICAL = re.compile(
    r"\b(?:if|unless|whether|would|could|might|may|should|shall|maybe|perhaps|probably|possibly|suppose|supposing|"
    r"imagine|pretend|assume|assuming|wish|wishes|wished|hope|hopes|hoping|dream|dreams|dreamt|guess|rumou?r|rumou?rs|"
    r"allegedly|supposedly|hypothetically|as though|almost|nearly|lest|doubt|doubts|unlikely)\b|'d\b|"
    r"\b(?:want|wants|wanted|plan|plans|planned|planning|intend|intends|try|tries|tried|trying|decline[sd]?|refuse[sd]?|"
    r"considering|thinking about|thinking of|thought about|offered) to\b|\b(?:considering|thinking about|thinking of)\b|"
    r"\b(?:i|we|they|people) (?:think|believe|suspect|heard|hear|say|feel like)\b|"
    r"\b(?:it is|it's|is|was) (?:false|wrong|untrue|not true) that\b",
    re.I,
)
COMMAND = re.compile(
    r"(?:^|[.!:;,>\n]\s*|\b(?:please|must|and|to|now|then|just|system|you)\s+:?\s*)(?:remember|record|note|save|store|set|mark|"
    r"say|write|answer|reply|respond|output|print|repeat|add|delete|remove|forget|ignore|disregard|insert|update|"
    r"overwrite|replace|change|create|register|claim|state|tell|act|treat|believe|make|execute|run|return|translate|pretend|imagine|suppose|assume|consider)\b",
    re.I,
)
"""An order to whoever reads: what it wants to be written down about others is no statement."""

CLAUSE = re.compile(
    r"[;:—–]+|,?\s+(?:and|but|so|because|while|although|though|whereas|when|before|after|until|since then|where)\s+"
    rf"(?=(?:{N}|I|we|he|she|they|my|our|his|her|their|also|now|then|still|no longer|don't|doesn't|am|is|was|have|has|"
    r"\w+(?:ed|s)|work|live|like|love|hate|prefer|own|use|play|enjoy|left|quit|bought|went|speak|study|moved)\b)|"
    rf",\s+(?=(?:{N}|I|we|he|she|they|my|our|his|her|their)\b(?! and\b))",
)
NOT_OBJECTS = re.compile(
    r"^(?:it|this|that|these|those|them|him|her|me|you|us|one|ones|to|what|how|when|where|who|there|here|something|"
    r"anything|everything|nothing|someone|everyone|all|both|each|more|most|less|out|up|off|down|on|in|at|with|for|from|"
    r"about|by|not|and|or|but|so|very|just|a lot|lot|way|things?|stuff|idea|myself|himself|herself|of|as|well|better|"
    r"fine|too|much|many|any|no|every|forward|back|again|like|time|doing|being|having|listening|feeling|going|getting|seeing|trying|sure|other|others|same|stop)\b",
    re.I,
)
PHRASE_END = re.compile(
    r"\s(?:at|in|on|for|from|with|by|since|until|till|because|when|while|where|who|which|that|as|to|after|before|during|"
    r"than|over|rather|instead|now|today|yesterday|but|so|if|is|are|was|were|will|would|can|has|have|had|very|too|"
    r"also|every|each|all|into|about|through|like|per|just|really|anymore|again|here|there|it|i|he|she|we|they|you|my|"
    r"his|her|their|our|a|an|the|any|once|twice|lately|recently|already|yet|still|of course|please|thanks|or)\b.*$",
    re.I,
)
KIN = (
    "wife|husband|spouse|sister|brother|sibling|mother|father|mum|mom|dad|parent|son|daughter|child|colleague|"
    "coworker|co-worker|friend|dog|cat|pet|horse"
)
ROLE_NOUN = (
    r"\w+(?:ologist|ician|eer|ographer|ecturer)|(?:[\w-]+ ){0,2}(?:nurse|ceo|cto|cfo|coo|chef|cook|teacher|student|"
    r"manager|director|head|lead|professor|lawyer|coach|intern|pilot|doctor|dentist|designer|developer|programmer|"
    r"analyst|accountant|auditor|architect|artist|writer|editor|author|journalist|baker|farmer|driver|plumber|painter|"
    r"electrician|carpenter|mechanic|firefighter|officer|consultant|coordinator|administrator|assistant|secretary|"
    r"receptionist|scientist|researcher|postdoc|founder|co-founder|president|maintainer|pharmacist|therapist|"
    r"veterinarian|vet|salesperson|waiter|waitress|barista|photographer|musician|singer|actor|actress|translator|"
    r"librarian|surgeon|judge|principal|supervisor|technician|operator|owner|instructor|tutor)"
)
DEVICES = (
    "printer|laptop|computer|phone|tablet|screen|monitor|router|keyboard|mouse|car|bike|scooter|washing machine|"
    "dishwasher|fridge|app|account|website|internet|wifi|camera|headphones|tv|television|battery|scanner|server|modem|"
    "oven|heater|boiler|watch|speaker|charger|drone|projector"
)
TROUBLE = (
    "ghost image|ghosting|error|stripe|streak|blank page|noise|crash|jam|smudge|blotch|artifact|artefact|flicker|"
    "warning|smoke|leak|static|distortion|smear|wrong colou?r|dead pixel|message|code"
)
HABITS = {
    form: (relation, third)
    for relation, base, third in (
        ("JOGS", "jog", "jogs"),
        ("RUNS", "run", "runs"),
        ("GOES_RUNNING", "go running", "goes running"),
        ("SWIMS", "swim", "swims"),
        ("GOES_SWIMMING", "go swimming", "goes swimming"),
        ("MEDITATES", "meditate", "meditates"),
        ("EXERCISES", "exercise", "exercises"),
        ("HIKES", "hike", "hikes"),
        ("CYCLES", "cycle", "cycles"),
        ("DANCES", "dance", "dances"),
        ("SKIS", "ski", "skis"),
        ("CLIMBS", "climb", "climbs"),
        ("WALKS", "walk", "walks"),
        ("TRAINS", "train", "trains"),
        ("COOKS", "cook", "cooks"),
        ("GOES_TO_THE_GYM", "go to the gym", "goes to the gym"),
        ("WORKS_OUT", "work out", "works out"),
    )
    for form in (base, third)
}
"""Verb form → (relation, third person): habits are facts about one entity, each under its own name."""
