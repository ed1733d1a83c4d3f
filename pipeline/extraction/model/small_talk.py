"""Messages that state nothing, told by a closed list of words. Pure. What it does not know, it leaves to the model."""

from __future__ import annotations

import re

from pipeline.text.words import word_set

MAX_LENGTH = 80

_WORDS = word_set(
    """
    ok okay k kk thanks thank you ty thx cheers cool great nice perfect awesome good morning afternoon
    evening night hi hello hey bye goodbye see later soon lol haha hahaha wow yay sure alright fine
    welcome no problem np please sorry got it understood noted so much very well done to too all a lot
    the day have there again everyone for your help ah oh hmm mm yes yeah yep nope indeed right exactly
    absolutely vale gracias muchas mil hola buenos buenas días dias tardes noches adiós adios chao hasta
    luego pronto mañana perfecto genial estupendo bien muy de nada por favor perdón lo siento sí si
    claro entendido jaja jajaja igualmente te la todos tu ayuda qué tal
    """
)
_CHINESE = re.compile(
    r"(?:好的?|谢谢(?:你|您|大家)?|多谢|感谢|不客气|没关系|没事|早上好|上午好|中午好|下午好|晚上好|晚安|早安|早|你好|您好|大家好|再见|拜拜|"
    r"嗯+|哦+|啊|呀|吧|哈+|嘿+|了|收到|明白|知道|可以|行|太好|很好|真棒|辛苦|对不起|抱歉|是的?|对)+"
)
_GAP = re.compile(r"[\W_]+")
_AFFIRMS = word_set(
    """
    yes yeah yep nope no right exactly indeed absolutely sure sí si claro ok okay vale fine
    """
)
_AFFIRMS_CHINESE = re.compile(r"是|对|好|可以|行|嗯")


def is_small_talk(text: str, answers_question: bool = False) -> bool:
    """Whether a message is made of greetings, thanks and the like only.

    With `answers_question`, words that may confirm something ("yes", "right") are no small talk.
    """
    if len(text) > MAX_LENGTH or any(c.isdigit() for c in text):
        return False
    words = [word for word in _GAP.split(text.casefold()) if word]
    if answers_question and any(word in _AFFIRMS or _AFFIRMS_CHINESE.search(word) for word in words):
        return False
    return all(word in _WORDS or _CHINESE.fullmatch(word) for word in words)
