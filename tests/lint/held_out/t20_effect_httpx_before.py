import httpx
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Purchase(TypedDict):
    sku: str
    quantity: int
    status: str


class Shop:
    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url)

    def buy(self, state: Purchase) -> dict:
        reservation = self.client.post("/reservations", json={"sku": state["sku"]}).json()  # fault: HT006
        if not interrupt({"question": "Buy?", "price": reservation["price"]}):
            return {"status": "cancelled"}
        self.client.post("/orders", json={"reservation": reservation["id"]})
        return {"status": "ordered"}


shop = Shop("https://shop.example")
builder = StateGraph(Purchase)
builder.add_node("buy", shop.buy)
builder.add_edge(START, "buy")
graph = builder.compile()
