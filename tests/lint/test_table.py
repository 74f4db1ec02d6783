"""What each node does to the world, and where questions stand around it (I6)."""

from __future__ import annotations

from pathlib import Path

from lint_support import checked

from hitl_tui.core.safe_text import cell_width
from hitl_tui.lint.findings import Position
from hitl_tui.wording.lint_report import WIDTH, report_lines, summary

SOURCE = """
    import os
    import httpx
    from langgraph.func import task

    @task
    def kept(): httpx.post("http://x")

    def before(state):
        os.remove("a")
        interrupt("?")

    def after(state):
        interrupt("?")
        os.remove("b")

    def around(state):
        for name in ("a", "b"):
            interrupt(name)
            httpx.post("http://x")

    def never(state):
        os.remove("d")

    def harmless(state):
        kept()
        os.remove("e")  # hitl: idempotent
        os.makedirs("f", exist_ok=True)
        interrupt("?")

    def nothing(state):
        return {}

    builder = StateGraph(State)
    for node in (before, after, around, never, harmless, nothing):
        builder.add_node(node)
    """


def test_a_row_for_each_effect_says_where_it_stands_and_whether_it_happens_again(tmp_path: Path) -> None:
    rows = [row.to_dict() for row in checked(tmp_path, SOURCE).rows]
    assert [(r["node"], r["effect"], r["position"], r["idempotent"], r["verdict"]) for r in rows] == [
        ("before", "os.remove", "before", False, "happens again"),
        ("after", "os.remove", "after", False, "ok"),
        ("around", "httpx.post", "before and after", False, "happens again"),
        ("never", "os.remove", "no interrupt", False, "ok"),
        ("harmless", "httpx.post", "before", "task", "ok"),
        ("harmless", "os.remove", "before", "declared", "ok"),
        ("harmless", "os.makedirs", "before", "by its form", "ok"),
        ("nothing", None, "no interrupt", None, "ok"),
    ]
    assert [r["interrupts"] for r in rows] == [True, True, True, False, True, True, True, False]
    assert {r["graph"] for r in rows} == {"builder"}


def test_findings_and_repeated_rows_are_the_same_effects(tmp_path: Path) -> None:
    report = checked(tmp_path, SOURCE)
    effects = {finding.place for finding in report.findings if finding.rule.id in ("HT006", "HT007")}
    assert effects == {row.effect.place for row in report.rows if row.repeated and row.effect}


def test_a_node_that_breaks_another_rule_is_no_good_node(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        def helper():
            try:
                return interrupt("?")
            except Exception:
                return None

        def one(state):
            helper()

        def two(state):
            helper()

        builder = StateGraph(State).add_node(one).add_node(two).add_node("three", lambda state: {})
        """,
    )
    assert [(row.node, tuple(rule.id for rule in row.rules), row.verdict) for row in report.rows] == [
        ("one", ("HT001",), "fault"),
        ("two", ("HT001",), "fault"),
        ("three", (), "ok"),
    ]
    assert [line.split()[-1] for line in report_lines(report) if line.startswith("  t")] == ["HT001", "ok"]


def test_a_retried_object_is_no_good_node(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import tenacity

        class Ask:
            @tenacity.retry()
            def __call__(self, state):
                return {"name": interrupt("?")}

        builder = StateGraph(State).add_node("ask", Ask())
        """,
    )
    assert [finding.rule.id for finding in report.findings] == ["HT001"]
    assert [(row.node, row.verdict) for row in report.rows] == [("ask", "fault")]


def test_nodes_that_are_added_in_a_loop_are_all_there(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        def ask(state):
            interrupt("?")

        def work(state):
            return {}

        def add(builder, suffix):
            builder.add_node(f"{suffix()}_ask", ask)
            builder.add_node(f"{suffix()}_work", work)

        builder = StateGraph(State)
        for name, function in (("a", ask), ("b", work)):
            builder.add_node(f"node_{name}", function)
        add(builder, lambda: input())
        """,
    )
    assert [(row.node, row.interrupts) for row in report.rows][:2] == [("node_a", True), ("node_b", False)]
    assert [row.interrupts for row in report.rows] == [True, False, True, False]


def test_tools_are_rows_of_their_node_and_subgraphs_follow_their_parent(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        from langchain_core.tools import tool
        from langgraph.prebuilt import ToolNode

        @tool
        def ask(text: str) -> str:
            return interrupt(text)

        def work(state):
            return {}

        inner = StateGraph(MessagesState).add_sequence([("tools", ToolNode([ask])), work])
        outer = StateGraph(MessagesState).add_node("inner", inner.compile())
        """,
    )
    assert [(row.graph, row.node, row.interrupts) for row in report.rows] == [
        ("inner", "tools/ask", True),
        ("inner", "work", False),
        ("outer", "inner", True),
    ]


def test_the_text_keeps_to_the_width_of_a_terminal_and_shows_everything(tmp_path: Path) -> None:
    name = "정산_" * 12
    source = f"""
        import httpx

        def {name}(state):
            httpx.Client(base_url="http://x").post("/a")
            interrupt("?")

        StateGraph(State).add_node("node with a name that is wider than its column", {name})
        """
    lines = list(report_lines(checked(tmp_path, source)))
    assert max(map(cell_width, lines)) <= WIDTH
    table = "".join(line[2:19].strip() for line in lines if line.startswith("  "))
    assert "nodewithanamethatiswiderthanitscolumn" in table.replace(" ", "")
    assert any("AGAIN" in line for line in lines)


def test_nothing_to_check_is_said(tmp_path: Path) -> None:
    report = checked(tmp_path, "x = 1")
    assert list(report_lines(report)) == ["No graph was found in agent.py, and nothing in it that asks."]


def test_a_node_is_called_as_what_its_decorator_wraps(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import functools

        def logged(node):
            @functools.wraps(node)
            def wrapper(state):
                return node(state)
            return wrapper

        @logged
        def ask(state):
            return {"name": interrupt("?")}

        @logged
        def work(state):
            return {}

        StateGraph(State).add_node(ask).add_node(work)
        """,
    )
    assert [(row.node, row.interrupts) for row in report.rows] == [("ask", True), ("work", False)]


def test_an_effect_in_another_module_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "import httpx\nclass Shop:\n    def __init__(self):\n        self.http = httpx.Client()\n"
        "    def reserve(self):\n        return self._send('/reservations')\n"
        "    def _send(self, path):\n        return self.http.post(path)\n"
    )
    source = """
        import shop
        from shop import Shop

        def by_module(state):
            shop.Shop().reserve()
            interrupt("?")

        def by_method(state):
            interrupt("?")
            Shop().reserve()

        StateGraph(State).add_node(by_module).add_node(by_method)
        """
    report = checked(tmp_path, source)
    assert [
        (r["node"], r["effect"], r["file"], r["line"], r["position"]) for r in (x.to_dict() for x in report.rows)
    ] == [
        ("by_module", "httpx.Client.post", "shop.py", 8, "before"),
        ("by_method", "httpx.Client.post", "shop.py", 8, "after"),
    ]
    assert [line.split() for line in report_lines(report) if " by_" in line] == [
        ["by_module", "httpx.Client.post", "shop.py:8", "before", "no", "AGAIN"],
        ["by_method", "httpx.Client.post", "shop.py:8", "after", "no", "ok"],
    ]


def test_tools_that_a_middleware_asks_about_may_ask_and_act_afterwards(tmp_path: Path) -> None:
    source = """
        from langchain.agents import create_agent
        from langchain.agents.middleware import HumanInTheLoopMiddleware
        from langchain_core.tools import tool

        @tool
        def send_mail(to: str) -> str:
            "Send."
            httpx.post("/mails")
            return "sent"

        @tool
        def look(q: str) -> str:
            "Look."
            httpx.post("/looks")
            return "found"

        asks = HumanInTheLoopMiddleware(interrupt_on={"send_mail": True, "look": False})
        graph = create_agent("m", [send_mail, look], middleware=[asks])
        """
    report = checked(tmp_path, source)
    assert [(row.node, row.interrupts, row.position) for row in report.rows] == [
        ("tool send_mail", True, Position.AFTER),
        ("tool look", False, Position.NONE),
    ]
    assert "1 of which may ask" in str(summary(report))


def test_the_table_is_headed_by_the_graph_that_was_asked_for(tmp_path: Path) -> None:
    source = """
        def work(state):
            return {}

        b = StateGraph(State)
        b.add_node(work)
        graph = b.compile()
        static = b.compile(interrupt_before=["work"])
        """
    assert {row.graph for row in checked(tmp_path, source, attribute="graph").rows} == {"graph"}
