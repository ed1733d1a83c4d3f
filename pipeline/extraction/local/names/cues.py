"""Closed classes of words that tell what a capitalised name is, for each language written in Latin script.

They are grammar and generic nouns, never names: heads ("Institute"), titles ("Dr"), words that follow ("project"),
prepositions, verbs of saying and doing that only people are the subject of.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cues:
    """Lower-case words by what they tell."""

    stop: frozenset[str]
    organization: frozenset[str]
    place: frozenset[str]
    event: frozenset[str]
    title: frozenset[str]
    project_after: frozenset[str]
    product_after: frozenset[str]
    organization_after: frozenset[str]
    place_after: frozenset[str]
    place_before: frozenset[str]
    organization_before: frozenset[str]
    person_before: frozenset[str]
    determiner: frozenset[str]
    person_verbs: frozenset[str]
    joins: frozenset[str]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ORGANIZATION = """inc ltd limited llc llp plc corp corporation co company gmbh ag bv nv oy ab sl sa srl systems labs lab
laboratory laboratories studio studios institute university college school schools academy trust partners group network
press bank society council committee foundation hospital clinic museum association union agency ministry department
consortium center centre club capital ventures logistics holdings industries technologies technology software solutions
services airlines airways nursery orchard cooperative coop alliance federation bureau office commission brothers sons
media news library archives theatre theater orchestra restaurant bakery hotel pharmacy court party church works
mills farms garden gardens collective chamber authority board insurance telecom energy motors pharma records
"""
_ORGANIZATION_ES = """universidad instituto empresa banco hospital escuela colegio fundación asociación museo ministerio compañía grupo
sociedad laboratorio laboratorios clínica editorial ayuntamiento consejo sindicato biblioteca hotel"""
_PLACE = """street avenue road lane boulevard square river lake mount mountain mountains park island islands city town
village county district bay valley beach coast hill hills forest sea ocean desert bridge airport station republic
kingdom states province"""
_PLACE_ES = """calle avenida plaza río lago monte montaña parque isla ciudad pueblo provincia barrio playa
valle bosque mar puente aeropuerto estación república"""
_EVENT = "conference festival olympics marathon summit cup championship congress fair conferencia maratón cumbre feria"

EN = Cues(
    stop=_set(
        """i i'm i've i'd i'll you your yours he she it we they me my mine him his her hers its our ours us them their
        theirs this that these those here there who whom whose which what when where why how the a an and or but so if
        as at by for from in into of off on onto out over to up with without about after before during since until
        till while because although though unless despite between among through across around against under above
        near both either neither each every all some any no none not only just also too very more most less least many
        much few several other another such same own one two three four five six seven eight nine ten first second
        third last next then now today tomorrow yesterday tonight morning afternoon evening night monday tuesday
        wednesday thursday friday saturday sunday january february march april june july august september october
        november december sept oct nov spring summer autumn fall winter christmas
        easter yes yeah yep no nope ok okay sure thanks thank please sorry hello hi hey bye goodbye good great nice
        well oh ah wow hmm dear welcome congratulations maybe perhaps actually honestly really apparently however
        therefore meanwhile still yet again once always never often usually sometimes recently currently finally
        previously originally instead otherwise overall is are was were be been am do does did have has had can could
        will would shall should may might must let let's don't doesn't didn't isn't aren't wasn't can't won't need
        needs want got get see say said note todo ps re fyi nb etc ceo cfo cto coo vp hr ai pr id url api ui ux sdk
        everyone everything everybody someone something somebody anyone anything nobody nothing people thing things
        looking going having being doing making getting trying working using taking coming quick important currently
        english spanish chinese french german italian japanese american british european asian african god lol omg
        asap eta faq q&a mr mrs ms dr prof sir madam user assistant system human bot am pm utc gmt system: error
        because even ever like unlike per via plus versus vs until rather quite enough almost nearly later earlier
        soon already confirmed promised decided decision agreed compromise"""
    ),
    organization=_set(_ORGANIZATION),
    place=_set(_PLACE),
    event=_set(_EVENT),
    title=_set(
        """mr mrs ms miss dr prof professor sir madam lord lady captain judge president senator king queen prince
        princess ceo cfo cto coo vp director manager founder cofounder engineer developer designer author coordinator
        maintainer auditor entomologist teacher doctor nurse colleague friend sister brother mother father wife husband
        son daughter uncle aunt cousin boss partner neighbor neighbour girlfriend boyfriend student postdoc lead
        researcher scientist artist analyst consultant lawyer accountant editor customer client named called coach"""
    ),
    project_after=_set(
        "project pipeline initiative programme program dashboard engine corridor framework codebase repo"
    ),
    product_after=_set(
        "app application software tool library phone printer model device plan subscription laptop car"
    ),
    organization_after=_set(
        "team company lab group staff consortium journal office firm startup branch paper papers cluster leadership"
    ),
    place_after=_set("district area region neighborhood neighbourhood city town village downtown peninsula"),
    place_before=_set("in near"),
    organization_before=_set("at for"),
    person_before=_set("with told asked met copied copying thanks called told helped and by"),
    determiner=_set("the a an our your my his her their its this that new old"),
    person_verbs=_set(
        """said says say mentioned mentions thinks thought wants wanted asked asks told tells knows knew feels felt loves
        loved likes liked hates hated prefers preferred agreed agrees suggested suggests wrote writes read reads met
        meets spoke speaks talked talks walked walks spent sat sits paired explored debugged reviewed helped worked
        works drafted lives lived moved moves joined joins left quit plays studies studied married goes went visited
        bought hopes hoped promised offered noticed wonders recommended pushed outlined workshopped identified put
        closed traced pulled fixed cooked cooks ate eats drinks drank sleeps slept smiled laughed cried replied
        answered explained believes believed enjoys enjoyed decided decides learned learns teaches taught was's wondered
        who whose she he"""
    ),
    joins=_set("of de la del van von der da di du le"),
)

ES = Cues(
    stop=EN.stop
    | _set(
        """yo tú tu tus él ella ello nosotros nosotras vosotros ustedes usted ellos ellas me te se nos os le les lo la
        los las el un una unos unas mi mis su sus nuestro nuestra nuestros nuestras mío este esta esto estos estas ese
        esa eso esos esas aquel aquella aquí ahí allí quien quién que qué cual cuál cuando cuándo donde dónde como cómo
        por porque para pero y e o u ni si sí no con sin sobre entre desde hasta hacia según durante tras ante bajo
        contra a al de del en es son era eran fue fueron ser estar está están estaba soy estoy hay había he ha han hemos
        muy más menos mucho mucha muchos muchas poco todo toda todos todas otro otra otros otras mismo cada algún
        alguna ningún ninguna nada nadie algo alguien ya aún todavía también tampoco solo sólo hoy ayer mañana anoche
        ahora luego después antes siempre nunca lunes martes miércoles jueves viernes sábado domingo enero febrero
        marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre primavera verano otoño invierno
        navidad hola gracias buenos buenas adiós bien bueno buena vale claro perdón disculpa señor señora sr sra don
        doña quizás quizá tal vez aparentemente actualmente finalmente recientemente además aunque mientras entonces
        sin embargo así dos tres cuatro cinco seis siete ocho nueve diez primero segundo tercero uno usuario asistente
        sistema sección español inglés nota importante recién necesito necesita quiero quiere tengo tiene tenemos
        presenté presentó decisión acordamos dato tarde noche lamentablemente mi hecho prometí"""
    ),
    organization=EN.organization | _set(_ORGANIZATION_ES),
    place=EN.place | _set(_PLACE_ES),
    event=EN.event,
    title=_set(
        """sr sra srta don doña dr dra doctor doctora profesor profesora director directora presidente presidenta jefe
        jefa gerente ingeniero ingeniera fundador fundadora coordinador coordinadora entomólogo entomóloga auditor
        auditora autor autora financiero financiera colega amigo amiga hermano hermana madre padre mamá papá esposo
        esposa marido mujer hijo hija tío tía primo prima novio novia vecino vecina cliente cfo ceo cto llamado llamada
        postdoctorado mantenedor mantenedora operaciones"""
    ),
    project_after=frozenset(),
    product_after=frozenset(),
    organization_after=_set("labs"),
    place_after=frozenset(),
    place_before=_set("hacia"),
    organization_before=_set("para"),
    person_before=_set("con"),
    determiner=_set("el la los las un una nuestro nuestra mi su tu este esta del al"),
    person_verbs=_set(
        """dijo dice mencionó menciona piensa pensó quiere quería preguntó contó sabe siente ama gusta odia prefiere
        prefería sugirió escribió leyó conoció habló caminó pasó exploró revisó ayudó trabajó trabaja vive vivía mudó
        dejó estudia estudió casó fue visitó compró espera prometió ofreció recomendó describió identificó cerró
        explicó cree creía disfruta decidió aprendió enseña respondió estaba se depuró redactó impulsó planteó juega"""
    ),
    joins=_set("de la del los las y"),
)
