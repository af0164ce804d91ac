"""The first state of the web shop's code, by path. Invented; small enough to read, real enough to be edited."""

from __future__ import annotations

FILES: dict[str, str] = {}

FILES["README.md"] = """# Shop

A small web shop: a Python API, a plain JavaScript front end, SQL migrations.

- `make dev` starts the API on port 8000 and the front end on port 5173
- `make test` runs both test suites
- `docs/` has one page per subject; read `docs/architecture.md` first
"""
FILES["shop/__init__.py"] = '"""The web shop\'s API."""\n'
FILES["shop/cart.py"] = '''"""Carts: items, quantities, totals."""

from dataclasses import dataclass, field


@dataclass
class Item:
    sku: str
    price: float
    quantity: int = 1


@dataclass
class Cart:
    customer_id: str
    items: list[Item] = field(default_factory=list)
    coupon: str | None = None

    def add(self, sku, price, quantity=1):
        self.items.append(Item(sku, price, quantity))

    def remove(self, sku):
        self.items = [i for i in self.items if i.sku != sku]

    def total(self):
        return sum(i.price * i.quantity for i in self.items)
'''
FILES["shop/checkout.py"] = '''"""Checkout: from a cart to an order."""

from shop import inventory, payments
from shop.cart import Cart


class CheckoutError(Exception):
    pass


def place_order(db, cart: Cart, card_token: str):
    if not cart.items:
        raise CheckoutError("cart is empty")
    for item in cart.items:
        inventory.reserve(db, item.sku, item.quantity)
    charge = payments.charge(card_token, cart.total())
    order_id = db.insert("orders", customer=cart.customer_id, total=cart.total(), charge=charge["id"])
    for item in cart.items:
        db.insert("order_items", order=order_id, sku=item.sku, quantity=item.quantity, price=item.price)
    return order_id
'''
FILES["shop/payments.py"] = '''"""Payments: one provider, card tokens only."""

import json
import urllib.request

API = "https://pay.example/v1"


def charge(token, amount):
    body = json.dumps({"token": token, "amount": int(amount * 100)}).encode()
    request = urllib.request.Request(f"{API}/charges", data=body, method="POST")
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def refund(charge_id, amount=None):
    body = json.dumps({"charge": charge_id, "amount": amount}).encode()
    request = urllib.request.Request(f"{API}/refunds", data=body, method="POST")
    with urllib.request.urlopen(request) as response:
        return json.load(response)
'''
FILES["shop/inventory.py"] = '''"""Stock levels and reservations."""


class OutOfStock(Exception):
    pass


def level(db, sku):
    row = db.one("SELECT quantity FROM stock WHERE sku = ?", sku)
    return row["quantity"] if row else 0


def reserve(db, sku, quantity):
    if level(db, sku) < quantity:
        raise OutOfStock(sku)
    db.execute("UPDATE stock SET quantity = quantity - ? WHERE sku = ?", quantity, sku)


def release(db, sku, quantity):
    db.execute("UPDATE stock SET quantity = quantity + ? WHERE sku = ?", quantity, sku)
'''
FILES["shop/search.py"] = '''"""Product search."""


def search(db, text, page=1, size=20):
    rows = db.all("SELECT * FROM products")
    words = text.lower().split()
    hits = [r for r in rows if all(w in r["name"].lower() for w in words)]
    return hits[(page - 1) * size : page * size]
'''
FILES["shop/emails.py"] = '''"""Mails to customers."""

import smtplib
from email.message import EmailMessage

SENDER = "hello@shop.example"


def order_confirmation(order):
    text = f"Thank you for your order {order['id']}. Total: {order['total']} EUR"
    send(order["email"], "Your order", text)


def send(to, subject, text):
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = SENDER, to, subject
    message.set_content(text)
    with smtplib.SMTP("localhost") as smtp:
        smtp.send_message(message)
'''
FILES["shop/auth.py"] = '''"""Login and sessions."""

import hashlib
import secrets

SESSIONS = {}


def hash_password(password):
    return hashlib.sha256(password.encode()).hexdigest()


def login(db, email, password):
    user = db.one("SELECT * FROM users WHERE email = ?", email)
    if user and user["password"] == hash_password(password):
        token = secrets.token_hex(16)
        SESSIONS[token] = user["id"]
        return token
    return None


def current_user(token):
    return SESSIONS.get(token)
'''
FILES["shop/admin.py"] = '''"""Back office: orders, products, reports."""


def orders(db, status=None):
    if status:
        return db.all("SELECT * FROM orders WHERE status = ?", status)
    return db.all("SELECT * FROM orders")


def update_price(db, sku, price):
    db.execute("UPDATE products SET price = ? WHERE sku = ?", price, sku)


def sales_report(db, day):
    total = 0
    for order in db.all("SELECT * FROM orders WHERE day = ?", day):
        for item in db.all("SELECT * FROM order_items WHERE order_id = ?", order["id"]):
            total += item["price"] * item["quantity"]
    return total
'''
FILES["shop/pricing.py"] = '''"""Prices: coupons, taxes, shipping."""

TAX = {"DE": 0.19, "FR": 0.20, "AT": 0.20}
COUPONS = {"WELCOME10": 0.10, "SPRING5": 0.05}


def discount(total, coupon):
    return total * COUPONS.get(coupon, 0)


def tax(total, country):
    return total * TAX[country]


def shipping(total):
    return 0 if total > 50 else 4.9
'''
FILES["shop/api.py"] = '''"""Routes of the API."""

from shop import admin, auth, checkout, search

ROUTES = {}


def route(method, path):
    def register(handler):
        ROUTES[method, path] = handler
        return handler

    return register


@route("GET", "/products")
def products(request):
    return search.search(request.db, request.query.get("q", ""), int(request.query.get("page", 1)))


@route("POST", "/login")
def login(request):
    token = auth.login(request.db, request.body["email"], request.body["password"])
    return {"token": token} if token else (401, {"error": "wrong email or password"})


@route("POST", "/orders")
def order(request):
    return {"id": checkout.place_order(request.db, request.cart, request.body["card"])}


@route("GET", "/admin/orders")
def admin_orders(request):
    return admin.orders(request.db, request.query.get("status"))
'''
FILES["shop/db.py"] = '''"""A thin layer over sqlite3."""

import sqlite3


class Database:
    def __init__(self, path=":memory:"):
        self.connection = sqlite3.connect(path)
        self.connection.row_factory = sqlite3.Row

    def one(self, sql, *values):
        return self.connection.execute(sql, values).fetchone()

    def all(self, sql, *values):
        return self.connection.execute(sql, values).fetchall()

    def execute(self, sql, *values):
        self.connection.execute(sql, values)
        self.connection.commit()

    def insert(self, table, **values):
        names = ", ".join(values)
        marks = ", ".join("?" for _ in values)
        cursor = self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))
        self.connection.commit()
        return cursor.lastrowid
'''
FILES["tests/test_cart.py"] = """from shop.cart import Cart


def test_total():
    cart = Cart("c1")
    cart.add("mug", 7.5, 2)
    assert cart.total() == 15.0


def test_remove():
    cart = Cart("c1")
    cart.add("mug", 7.5)
    cart.remove("mug")
    assert cart.items == []
"""
FILES["tests/test_checkout.py"] = """import pytest

from shop.cart import Cart
from shop.checkout import CheckoutError, place_order


def test_empty_cart(db):
    with pytest.raises(CheckoutError):
        place_order(db, Cart("c1"), "tok_1")
"""
FILES["tests/test_search.py"] = """from shop.search import search


def test_search_finds_all_words(db):
    db.insert("products", sku="mug-red", name="Red Mug", price=7.5)
    assert [r["sku"] for r in search(db, "mug red")] == ["mug-red"]
"""
FILES["web/src/cart.js"] = """import { get, post } from "./api.js";

export function addToCart(cart, sku, quantity = 1) {
  const line = cart.lines.find((l) => l.sku === sku);
  if (line) line.quantity += quantity;
  else cart.lines.push({ sku, quantity });
  return post("/cart", cart);
}

export function cartTotal(cart) {
  return cart.lines.reduce((sum, l) => sum + l.price * l.quantity, 0);
}

export const loadCart = () => get("/cart");
"""
FILES["web/src/api.js"] = """const BASE = "/api";

export async function get(path) {
  const response = await fetch(BASE + path);
  return response.json();
}

export async function post(path, body) {
  const response = await fetch(BASE + path, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}
"""
FILES["web/src/checkout.ts"] = """import { post } from "./api.js";

export interface Address {
  street: string;
  city: string;
  country: string;
}

export async function submitOrder(card: string, address: Address) {
  return post("/orders", { card, address });
}

export function validate(address: Address) {
  return Boolean(address.street && address.city && address.country);
}
"""
FILES["web/src/search.js"] = """import { get } from "./api.js";

export function attachSearch(input, render) {
  input.addEventListener("input", async () => {
    render(await get(`/products?q=${input.value}`));
  });
}
"""
FILES["web/src/login.js"] = """import { post } from "./api.js";

export async function login(form) {
  const answer = await post("/login", { email: form.email.value, password: form.password.value });
  if (answer.token) localStorage.setItem("token", answer.token);
  return Boolean(answer.token);
}
"""
FILES["migrations/001_start.sql"] = """CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, password TEXT);
CREATE TABLE products (sku TEXT PRIMARY KEY, name TEXT, price REAL);
CREATE TABLE stock (sku TEXT PRIMARY KEY, quantity INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL, charge TEXT, day TEXT, status TEXT);
CREATE TABLE order_items (order_id INTEGER, sku TEXT, quantity INTEGER, price REAL);
"""
FILES["docs/architecture.md"] = """# Architecture

Requests come in through `shop/api.py`, which looks up a handler in ROUTES. Handlers call one module per subject
(cart, checkout, payments, inventory, search, auth, admin). Modules talk to the database through `shop/db.py` only.
"""
FILES["docs/deploy.md"] = """# Deploy

`infra/deploy.sh` builds one image and restarts the service. Migrations run by hand before it.
"""
FILES["infra/Dockerfile"] = """FROM python:3.12-slim
COPY . /app
WORKDIR /app
RUN pip install -r requirements.txt
CMD ["python", "-m", "shop"]
"""
FILES["infra/deploy.sh"] = """#!/bin/sh
set -e
docker build -t shop -f infra/Dockerfile .
docker stop shop || true
docker run -d --name shop -p 8000:8000 shop
"""
FILES[".github/workflows/ci.yml"] = """name: ci
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install -r requirements.txt
      - run: pytest
      - run: npm ci && npm test
"""
FILES["requirements.txt"] = "gunicorn==22.0.0\npytest==8.3.4\nruff==0.9.2\n"
FILES["Makefile"] = (
    "test:\n\tpytest -q\n\tnpm test --prefix web\n\nlint:\n\truff check shop tests\n\tnpx tsc --noEmit -p web\n"
)
