"""Sentences that speak to the reader's machine instead of about the world. Pure.

The fence already tells a model that nothing in an episode is an instruction. Should a model obey all the same, what
it "found" in such a sentence is no fact about the world and is left out. The list is closed and looks for the forms
that such texts have; a person who says "forget it" or "please delete my account" is not meant.
"""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"<\|?/?\s*(?:im_start|im_end|system|assistant|message|episode|context|instructions?|tool_call|think)\b"
    r"|</?\w+ [0-9a-f]{8,}>|\[/?(?:INST|SYSTEM|SYS)\]|<<\s*/?SYS\s*>>"
    r"|^\s*#{2,}\s*(?:system|instructions?|instrucciones|系统|指令)"
    r"|^\s*(?:system|sistema|系统|developer)\s*(?:prompt|message|override|提示)?\s*[:：]",
    re.I | re.M,
)
_ANSWER = re.compile(r"[\"'](?:entities|facts|nodes|edges|subject|relation)[\"']\s*:", re.I)
_ENGLISH = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules?|above|previous|everything|guidelines|facts?|data)\b"
    r"|\b(?:mark|set|treat|declare|invalidate|retract|delete|erase|remove|drop)\b.{0,50}\b(?:facts?|entit(?:y|ies)|memor(?:y|ies)|graph|edges?|nodes?|records? of)\b"
    r"|\b(?:extract|output|return|respond|reply|answer|print|emit|produce|add|insert|create|write|record)\b.{0,60}\b(?:json|entit(?:y|ies)|facts?|empty list|relation|nodes?|edges?|the following|schema|graph)\b"
    r"|\byou are (?:now|no longer)\b|\bnew (?:task|instructions?|system prompt)\b|\b(?:system|developer) (?:prompt|mode|message|override)\b"
    r"|\bas an? (?:ai|language model|assistant)\b.{0,40}\b(?:must|should|will)\b|\bend of (?:episode|message|data|document)\b",
    re.I,
)
_SPANISH = re.compile(
    r"\b(?:ignora|ignore|olvida|olvide|descarta|omite)\b.{0,40}\b(?:instrucciones|reglas|anterior(?:es)?|todo|hechos|datos)\b"
    r"|\b(?:marca|marque|invalida|borra|borre|elimina|elimine|anula)\b.{0,50}\b(?:hechos?|entidad(?:es)?|memorias?|grafo|registros?)\b"
    r"|\b(?:extrae|devuelve|responde|contesta|imprime|añade|agrega|inserta|crea|escribe|registra)\b.{0,60}\b(?:json|entidad(?:es)?|hechos?|lista vacía|relaci[óo]n|grafo|siguiente)\b"
    r"|\b(?:ahora eres|ya no eres|nueva tarea|nuevas instrucciones|mensaje del sistema|modo desarrollador|fin del (?:episodio|mensaje))\b",
    re.I,
)
_CHINESE = re.compile(
    r"(?:忽略|无视|忘记|忘掉|覆盖).{0,20}(?:指令|指示|规则|提示|以上|上面|之前|所有|一切|事实)"
    r"|(?:标记|设为|删除|清除|作废|撤销|移除).{0,20}(?:事实|实体|记忆|图谱|记录|数据)"
    r"|(?:事实|实体|记忆|图谱|记录).{0,12}(?:作废|删除|清空|无效)"
    r"|(?:输出|返回|回复|回答|添加|加入|插入|创建|写入|提取|记录).{0,30}(?:JSON|json|实体|事实|空列表|关系|图谱|以下)"
    r"|你现在是|你不再是|新任务|新的指令|新指令|系统提示|系统消息|开发者模式|(?:消息|数据|文档)结束",
)


_ENDING = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|left|leaves|leaving|quit|quits|stopped|stops|ended|ends|over|sold|cancel(?:l?ed|s)?|"
    r"divorced|resigned|retired|fired|used to|former(?:ly)?|ex|until|ya no|dej[óoé]|dejaron|renunci[óé]|vendi[óoé]|vendí|"
    r"termin[óé]|cancel[óé]|divorci[óé]|antes|hasta)\b|不再|离开|离职|辞职|停止|结束|卖掉|取消|离婚|退休|曾经|以前",
    re.I,
)


def tells_an_ending(sentence: str) -> bool:
    """Whether a sentence has a word by which people say that something is over."""
    return bool(_ENDING.search(sentence))


def speaks_to_machine(sentence: str, *, record: bool = False) -> bool:
    """Whether a sentence has the form of an instruction to whoever reads the episode by machine, or of its answer.

    In a `record` (JSON) keys such as "subject" are the author's own and mean nothing of the kind.
    """
    if not record and _ANSWER.search(sentence):
        return True
    return any(pattern.search(sentence) for pattern in (_MARKS, _ENGLISH, _SPANISH, _CHINESE))
