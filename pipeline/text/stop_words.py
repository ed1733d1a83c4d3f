"""Words that a question is made with and that say nothing of what it is about, folded, in English and Spanish.

Left out on purpose are words that are names or dates as well (may, will, mark).
"""

from __future__ import annotations

from pipeline.text.words import word_set

STOP_WORDS = word_set("""
    a an the of to in on at for from with by about into and or but if so than then as
    is are was were be been being am do does did done doing has have had having would could should can might
    i me my we us our you your he him she her it its they them their his this that these those there here
    what which who whom whose when where why how
    s t d ll re ve m not no yes any some all each other most more
    el la los las un una unos unas lo al del de en con por para sin sobre y o u e que si como pero
    es son era eran fue fueron ser esta estan estaba esto este estos estas ese esa esos esas
    ha han he habia hay tiene yo tu ella ellos ellas nosotros me te se le les nos mi mis su sus
    cual cuales quien quienes cuando donde cuanto cuanta cuantos cuantas
""")
