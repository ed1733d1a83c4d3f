"""Who says what in a message: the speaker of the event, or the names that its lines begin with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.model.episode import Episode, Source

ROLES = frozenset(
    [
        "user",
        "assistant",
        "system",
        "tool",
        "human",
        "ai",
        "bot",
        "agent",
        "customer",
        "chatbot",
        "usuario",
        "asistente",
        "sistema",
        "cliente",
        "agente",
        "用户",
        "助手",
        "系统",
        "客服",
        "客户",
        "机器人",
    ]
)
"""Words for a part in a conversation; none of them is a name."""

_LABELS = frozenset(
    [
        "note",
        "notes",
        "ps",
        "re",
        "subject",
        "todo",
        "warning",
        "error",
        "info",
        "debug",
        "update",
        "summary",
        "answer",
        "question",
        "q",
        "a",
        "address",
        "email",
        "username",
        "phone",
        "order",
        "id",
        "url",
        "http",
        "https",
        "ftp",
        "date",
        "time",
        "example",
        "edit",
        "tip",
        "fyi",
        "reminder",
        "remember",
        "important",
        "name",
        "title",
        "from",
        "to",
        "cc",
        "password",
        "message",
        "instructions",
        "instruction",
        "command",
        "output",
        "input",
        "result",
        "hint",
        "caution",
        "nota",
        "importante",
        "asunto",
        "fecha",
        "hora",
        "recordatorio",
        "dirección",
        "correo",
        "pregunta",
        "respuesta",
        "resumen",
        "ejemplo",
        "aviso",
        "nombre",
        "pedido",
        "注意",
        "备注",
        "提示",
        "问题",
        "回答",
        "地址",
        "日期",
        "时间",
        "主题",
        "重要",
        "总结",
        "例如",
        "电话",
        "邮箱",
        "订单",
        "姓名",
        "答",
        "问",
        "另外",
        "比如",
        "系统提示",
    ]
)
_LATIN = r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,3}"
_LINE = re.compile(
    rf"^[ \t]*(?P<name>{_LATIN}|[\u3400-\u9fff·]{{2,8}})[ \t]*(?P<role>[(（][^()（）\n]{{1,30}}[)）])?[ \t]*[:：](?P<text>[ \t]*(?!//)[^\n]*)$"
)
MAX_LINES = 20_000


@dataclass(frozen=True)
class Utterance:
    """What one speaker says; `speaker` None: nobody is named."""

    speaker: str | None
    text: str


def utterances(episode: Episode) -> list[Utterance]:
    """The content of a message or a text by speaker, in order.

    A message without a speaker is split at lines like "Name: text" or "Name (role): text"; a line without a name
    goes on with the speaker before. A name that is only a role has nobody behind it.
    """
    content = episode.content if isinstance(episode.content, str) else episode.text
    if episode.source is not Source.message:
        return [Utterance(None, content)]
    if episode.speaker is not None:
        name = " ".join(episode.speaker.name.split())
        return [Utterance(None if name.casefold() in ROLES else name, content)]
    found: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in content.split("\n", MAX_LINES):
        match = _LINE.match(line.rstrip("\r")) if len(line) < 100_000 else None
        if match and _names(match["name"], bool(match["role"])):
            name = " ".join(match["name"].split())
            found.append((None if name.casefold() in ROLES else name, [match["text"].strip()]))
        else:
            found[-1][1].append(line)
    return [Utterance(speaker, "\n".join(lines)) for speaker, lines in found if speaker or any(lines)]


def _names(words: str, with_role: bool) -> bool:
    """Whether the words before a colon name a speaker, rather than a field or a remark."""
    low = words.casefold()
    if low in ROLES:
        return True
    parts = low.split()
    if low in _LABELS or parts[0] in _LABELS or parts[-1] in _LABELS:
        return False
    if with_role:
        return True
    return all(
        part[0].isupper() or not part[0].isascii() or part in ("de", "la", "van", "von", "del", "da")
        for part in words.split()
    )
