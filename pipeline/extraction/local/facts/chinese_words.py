"""The Chinese words that rules turn into facts. Grammar and generic nouns, no names."""

from __future__ import annotations

import re

from pipeline.extraction.local.facts.claim import Aspect
from pipeline.extraction.local.facts.masked import D, N

SUBJECT = rf"(?P<s>{N}|我们|我|咱们|他们|她们|他|她)"
GROUP = (
    rf"(?P<aux>(?:[ ,，]|现在|目前|已经|一直|也|还|都|曾经|曾|以前|之前|过去|原来|不再|不|没有|没|正|刚刚|刚|最近|终于|会|将|"
    rf"打算|真的|非常|很|特别|最|更|比较|十分|超级|超|挺|去年|从|自|起|就|又|{D})*?)"
)
_HAN = r"\u3400-\u9fff"
ORGANIZATION = rf"(?P<o>{N}|[{_HAN}A-Za-z0-9]{{2,14}}?)"
PLACE = rf"(?P<o>{N}|[{_HAN}]{{2,8}})"
THING = rf"(?P<o>[{_HAN}A-Za-z0-9{N[1:-1]}《》、 +.-]{{1,24}})"
QUANTITY = r"(?:(?:一|两|三|四|五|几|\d+)?(?:个|台|部|辆|张|本|把|件|套|只|条|双|份|块|杯|支|瓶|盒|款|幅|束)|一些|了)?"

_S, _B, _E, _V = Aspect.state, Aspect.start, Aspect.end, Aspect.event
VERBS: list[tuple[str, Aspect, str]] = [
    ("WORKS_AT", _S, rf"在{ORGANIZATION}(?:工作|上班|任职|就职|打工)(?P<tail>了|过)?"),
    ("WORKS_AT", _S, rf"(?:就职|任职|供职)于{ORGANIZATION}(?P<tail>过)?(?=$|[，,。！! ])"),
    (
        "WORKS_AT",
        _B,
        rf"(?:加入|入职|跳槽到|跳槽去)(?P<tail>了)?{ORGANIZATION}(?:工作|上班)?了?(?=$|[，,。！! ])",
    ),
    ("WORKS_AT", _E, rf"(?:离开|辞去)(?P<tail>了)?{ORGANIZATION}(?:的工作|的职位)(?=$|[，,。！! ]|了)"),
    ("WORKS_AT", _E, rf"离开(?P<tail>了)?(?P<o>{N})(?=$|[，,。！! ])"),
    ("WORKS_AT", _E, rf"从{ORGANIZATION}(?:离职|辞职|退休)(?P<tail>了)?"),
    ("LIVES_IN", _S, rf"(?:住在|居住在|定居在|定居于){PLACE}(?P<tail>过|了)?"),
    ("LIVES_IN", _S, rf"在{PLACE}(?:生活|居住|定居|住)(?P<tail>过|了)?(?=$|[，,。！! ]|{D})"),
    ("LIVES_IN", _B, rf"(?:从{N})?(?:搬到|搬去|搬家到|移居|迁到|搬回)(?P<tail>了)?{PLACE}"),
    ("LIVES_IN", _E, rf"(?:从{PLACE}(?:搬走|搬出来?))(?P<tail>了)?"),
    ("LIKES", _S, rf"(?:喜欢上?|热爱|喜爱|爱(?!人|情|好|上))(?P<tail>过)?{THING}"),
    ("DISLIKES", _S, rf"(?:讨厌|厌恶|受不了)(?P<tail>过)?{THING}"),
    ("PREFERS", _S, rf"(?:更喜欢|偏爱|宁愿用|更爱)(?P<tail>过)?{THING}"),
    ("BOUGHT", _V, rf"(?:买了|购买了|买过|入手了)(?P<tail>){QUANTITY}{THING}"),
    ("ORDERED", _V, rf"(?:订购了|下单了|订了|点了|预订了)(?P<tail>){QUANTITY}{THING}"),
    ("OWNS", _S, rf"(?:拥有|养了|养着)(?P<tail>){QUANTITY}{THING}"),
    ("OWNS", _E, rf"(?:卖了|卖掉了)(?P<tail>){QUANTITY}{THING}"),
    ("USES", _S, rf"(?:使用|在用|用着|用的是)(?P<tail>过)?{QUANTITY}{THING}"),
    (
        "PLAYS",
        _S,
        rf"(?P<verb>[弹打踢拉玩])(?P<tail>过)?(?P<o>钢琴|吉他|小提琴|二胡|古筝|篮球|足球|网球|乒乓球|羽毛球|排球|高尔夫球?|棒球|[{_HAN}]{{0,4}}游戏)",
    ),
    ("PRACTISES", _S, rf"(?:练习|练)(?P<tail>过)?(?P<o>瑜伽|书法|太极拳?|武术|[{_HAN}]{{2,4}})"),
    ("SPEAKS", _S, rf"(?:会说|能说|说得?一?口?流利的)(?P<tail>)(?P<o>[{_HAN}]{{1,3}}[语文话])"),
    ("STUDIES_AT", _S, rf"在{ORGANIZATION}(?:读书|上学|读研|读博|念书|就读)(?P<tail>过|了)?"),
    ("STUDIES_AT", _S, rf"就读于{ORGANIZATION}(?P<tail>过)?(?=$|[，,。！! ])"),
    ("MARRIED_TO", _B, rf"(?:嫁给|娶)(?P<tail>了)?(?P<o>{N})"),
    ("MARRIED_TO", _B, rf"(?:和|跟|与)(?P<o>{N})结婚(?P<tail>了)?"),
    ("MARRIED_TO", _E, rf"(?:和|跟|与)(?P<o>{N})离婚(?P<tail>了)?"),
    ("IS_FROM", _S, rf"(?:来自)(?P<tail>){PLACE}"),
    ("IS_FROM", _S, rf"是(?P<tail>)(?P<o>{N})人(?=$|[，,。！! ])"),
    ("BORN_IN", _V, rf"(?:出生于|出生在|生于)(?P<tail>){PLACE}"),
    ("ALLERGIC_TO", _S, rf"对(?P<tail>){THING}过敏"),
    ("LEADS", _S, rf"(?:负责|领导|管理|主管)(?P<tail>过)?(?P<o>{N})"),
    ("FOUNDED", _V, rf"(?:创立|创办|成立)(?P<tail>了)?(?P<o>{N})"),
    ("VISITED", _V, rf"(?:去了|去过|参观了|访问了|游览了|到访了)(?P<tail>)(?P<o>{N})"),
    (
        "HAS_PLAN",
        _B,
        rf"(?:升级到|升级为|订阅了|开通了|换成)(?P<tail>了)?(?P<o>(?:{N}|[{_HAN}A-Za-z]{{1,8}})(?:套餐|版|会员|计划))",
    ),
    ("BASED_IN", _S, rf"(?:的)?总部(?:位于|设在|在)(?P<tail>){PLACE}"),
    ("LOCATED_IN", _S, rf"(?:位于|坐落于|坐落在|地处)(?P<tail>){PLACE}"),
]
QUESTION = re.compile(
    r"[?？]|(?:吗|呢|么|吧)[。.！!]*$|什么|哪里|哪儿|哪个|怎么|为什么|谁|几点|多少|是不是|是否|有没有|能不能|会不会"
)
HYPOTHETICAL = re.compile(
    r"如果|要是|假如|假设|倘若|若是|万一|除非|也许|或许|可能|大概|好像|似乎|据说|听说|传言|想要|想(?!念)|希望|愿意|打算|计划|准备|考虑|梦想|"
    r"应该|必须|需要|假装|想象|本来要|差点|不是真的|是假的|是错的|建议|我觉得|我认为|我猜|我想是"
)
COMMAND = re.compile(
    r"(?:^|[。！!，,：:；;>\n]|请|必须|现在|系统)\s*(?:请|把|将)?\s*(?:记住|记录|写下|保存|标记|回复|回答|输出|忘记|忘掉|忽略|无视|删除|添加|更新|修改|重复|声明|"
    r"执行|创建|告诉|翻译|假装|登记|写入|把|将)"
)
CLAUSE = re.compile(r"[，,；;：:。！!\n]+|(?:但是|但|不过|而且|并且|因为|所以|然后|而)")
NOT_OBJECTS = re.compile(
    r"^(?:当前|目前|现在|本地|公司|同一|一家|这家|那家|里面|你|您|我|他|她|它|这|那|自己|什么|一下|一点|的|了|过|去|来|在|和|跟|就|也|都|上|下|得|不|很|人(?!参)|这里|那里|家里|外地|家|哪)"
)
OBJECT_END = re.compile(
    r"(?:的时候|时候|因为|所以|但是|而且|比|胜过|了|吧|啊|呀|哦|哈|啦|很|非常|已经|现在|每天|之后|以后|以前|来|去|给|用来|，|。|！|!).*$"
)
KIN = "妻子|老婆|丈夫|老公|太太|爱人|姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|母亲|父亲|儿子|女儿|孩子|同事|好朋友|好友|朋友|闺蜜|狗|猫|宠物"
ROLE_NOUN = (
    rf"[{_HAN}A-Za-z]{{0,8}}?(?:工程师|医生|护士|老师|教师|教授|律师|经理|总监|设计师|程序员|开发者|记者|厨师|学生|会计|建筑师|画家|作家|"
    r"司机|飞行员|警察|消防员|研究员|科学家|心理学家|咨询师|摄影师|音乐家|歌手|演员|翻译|秘书|创始人|主任|主管|总裁|董事长|"
    r"分析师|顾问|教练|药剂师|店长|销售员|服务员|博士后|研究生|大学生|昆虫学家|审计师|协调员|CEO|CTO|CFO)"
)
DEVICES = "打印机|笔记本电脑|电脑|手机|平板|屏幕|显示器|路由器|键盘|鼠标|汽车|车|自行车|洗衣机|冰箱|应用|账户|账号|网络|相机|耳机|电视|电池|扫描仪|服务器|手表|音箱|充电器"
TROUBLE = "重影|鬼影|错误|条纹|空白页|噪音|卡纸|死机|蓝屏|污渍|闪烁|漏水|冒烟"
HABITS = {
    "晨跑": "JOGS",
    "慢跑": "JOGS",
    "跑步": "RUNS",
    "游泳": "SWIMS",
    "冥想": "MEDITATES",
    "健身": "EXERCISES",
    "锻炼": "EXERCISES",
    "骑车": "CYCLES",
    "骑自行车": "CYCLES",
    "跳舞": "DANCES",
    "散步": "WALKS",
    "做饭": "COOKS",
    "爬山": "HIKES",
    "去健身房": "GOES_TO_THE_GYM",
}
OFTEN = r"每天|每晚|每周|每个?月|每年|每个?星期|每个?周末|天天|经常|周末都"
