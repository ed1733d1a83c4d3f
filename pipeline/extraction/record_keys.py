"""What the keys of a JSON record say about its values. Pure: words in, types and relation names out."""

from __future__ import annotations

import re

NAME_KEYS = (
    "name",
    "full_name",
    "display_name",
    "company_name",
    "customer_name",
    "product_name",
    "名称",
    "姓名",
    "nombre",
)
"""Keys whose value is the name of the record itself, best first."""

MAIN_KEYS = (
    *(
        "customer",
        "client",
        "account",
        "company",
        "organization",
        "organisation",
        "employee",
        "user",
        "contact",
    ),
    *(
        "person",
        "lead",
        "patient",
        "supplier",
        "vendor",
        "product",
        "project",
        "order",
        "ticket",
        "device",
        "subject",
    ),
    *("cliente", "empresa", "usuario", "producto", "客户", "公司", "用户", "产品"),
)
"""Keys whose value is what a record without a name of its own is about, best first."""

FROM_KEYS = frozenset({"valid_at", "valid_from", "since", "start_date", "effective_date", "effective_from"})
TO_KEYS = frozenset({"invalid_at", "valid_to", "valid_until", "end_date", "effective_to"})

_TYPES = {
    "Person": "manager owner contact person employee assignee agent author user lead patient rep representative "
    "founder ceo cto cfo director engineer doctor teacher spouse gerente contacto empleado responsable usuario "
    "经理 联系人 负责人 员工 用户 姓名",
    "Organization": "company organization organisation employer vendor supplier team department bank university "
    "school partner manufacturer empresa proveedor organización 公司 供应商 部门 学校",
    "Place": "city country region state address location town street site office branch ciudad país dirección "
    "城市 国家 地址 地区",
    "Product": "product item plan subscription device model sku package tier software producto artículo 产品 套餐 设备",
    "Project": "project proyecto 项目",
    "Event": "event meeting evento 活动 会议",
}
_TYPE_OF_WORD = {word: kind for kind, words in _TYPES.items() for word in words.split()}
_SINGLE = frozenset(
    [
        "manager",
        "owner",
        "assignee",
        "city",
        "country",
        "region",
        "state",
        "address",
        "plan",
        "subscription",
        "tier",
        "role",
        "title",
        "employer",
        "department",
        "ceo",
        "cto",
        "cfo",
        "stage",
        "gerente",
        "responsable",
        "ciudad",
        "país",
        "dirección",
        "经理",
        "负责人",
        "城市",
        "国家",
        "地址",
        "套餐",
        "部门",
    ]
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP = re.compile(r"[^\w]+|_+")


def words(key: str) -> list[str]:
    """A key as lower-case words: "accountManager", "account-manager", "account_manager" → account, manager."""
    return [word for word in _GAP.split(_CAMEL.sub("_", key)) if word for word in [word.lower()]]


def snake(key: str) -> str:
    """A key in the form in which `NAME_KEYS` and the others are written."""
    return "_".join(words(key))


def relation(key: str) -> str:
    """The relation that a key stands for: "account_manager" → ACCOUNT_MANAGER; at most 100 characters."""
    return "_".join(words(key)).upper()[:100] or "HAS"


def type_of(key: str) -> str | None:
    """The type of entity that the last word of a key tells, when it tells one."""
    last = words(key)[-1:]
    return _TYPE_OF_WORD.get(last[0]) if last else None


def single(key: str) -> bool:
    """Whether a record has one such value at a time, so that a new value replaces the old one."""
    last = words(key)[-1:]
    return bool(last) and last[0] in _SINGLE
