"""What calls into other packages do and give: effects on the world, values that differ, things JSON has no form for.

Names are dotted paths in which `()` stands for what a call returned, as in `httpx.Client().post`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.lint.abstract_values import (
    A_SET,
    ClassRef,
    External,
    Given,
    Value,
    external_name,
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FILE_EFFECTS = _names(
    "os.remove os.unlink os.rename os.replace os.mkdir os.rmdir os.removedirs os.renames os.write os.truncate "
    "os.chmod os.chown os.symlink os.link os.mkfifo os.putenv os.utime shutil.rmtree shutil.copy shutil.copy2 "
    "shutil.copyfile shutil.copytree shutil.move shutil.make_archive shutil.unpack_archive shutil.chown "
    "aiofiles.os.remove aiofiles.os.rename aiofiles.os.mkdir os.makedirs shelve.open"
)
_PROCESS_EFFECTS = _names(
    "os.system os.popen os.kill os.killpg os.abort os.startfile subprocess.run subprocess.call subprocess.check_call "
    "subprocess.check_output subprocess.Popen subprocess.getoutput subprocess.getstatusoutput "
    "asyncio.create_subprocess_exec asyncio.create_subprocess_shell pexpect.spawn pexpect.run webbrowser.open "
    "anyio.run_process anyio.open_process sh.Command docker.from_env().containers.run"
)
_PATH_WRITERS = _names(
    "write_text write_bytes unlink rmdir mkdir touch rename replace symlink_to hardlink_to chmod lchmod move copy"
)
_HTTP = r"(?:requests|httpx2?|aiohttp|niquests|urllib3|curl_cffi|requests_async|treq|grequests)"
_HTTP_WRITER = re.compile(rf"{_HTTP}\b.*\.(?:post|put|patch|delete|send)\Z")
_HTTP_OPEN = re.compile(rf"{_HTTP}\b.*\.(?:request|stream)\Z|urllib\.request\.urlopen\Z|urllib3\b.*\.urlopen\Z")
_HTTP_READER = re.compile(rf"{_HTTP}\b.*\.(?:get|head|options)\Z")
_DATABASE = re.compile(
    r"(?:sqlite3|aiosqlite|psycopg2?|psycopg_pool|asyncpg|pymysql|aiomysql|MySQLdb|mysql|sqlalchemy|sqlmodel|duckdb|"
    r"oracledb|pyodbc|databases|clickhouse_connect|snowflake|google\.cloud\.bigquery)\b.*"
    r"\.(execute|executemany|executescript|execute_async|commit|fetch|fetchrow|fetchval|query|command|insert|scalar|"
    r"scalars|exec|flush|copy_records_to_table)\Z"
)
_MAIL = re.compile(
    r"(?:smtplib|aiosmtplib|yagmail|sendgrid|postmarker|resend|mailjet_rest|imaplib|ftplib|paramiko|pysftp|fabric)\b.*"
    r"\.(?:send|sendmail|send_message|quit_and_send|append|store|storbinary|storlines|delete|rename|mkd|rmd|put|"
    r"exec_command|run|sudo|create)\Z"
)
_CLOUD = re.compile(
    r"(?:boto3|aioboto3|botocore|google\.cloud|azure|stripe|twilio|slack_sdk|slack|discord|telegram|github|gitlab|jira|"
    r"kubernetes|docker|pulsar|kafka|confluent_kafka|aiokafka|pika|aio_pika|nats|celery|paho|plaid|paypalrestsdk|square|"
    r"notion_client|hubspot|simple_salesforce|firebase_admin|supabase|web3|openstack|digitalocean|cloudflare)\b.*\."
    r"(?:put|post|create|delete|update|send|publish|upload|copy|start|stop|terminate|run|invoke|charge|capture|refund|"
    r"cancel|transfer|insert|modify|remove|add|set|patch|apply|produce|basic_publish|chat|apply_async|delay|execute|"
    r"upsert_without|merge|close_issue|edit|write)(?:_\w*|[A-Z]\w*)?\Z"
)
_STORES = re.compile(
    r"(?:pymongo|motor|redis|aioredis|valkey|elasticsearch|opensearchpy|cassandra|neo4j|pinecone|chromadb|weaviate|"
    r"qdrant_client)\b.*\."
    r"(?:insert\w*|update\w*|delete\w*|replace_one|bulk\w*|find_one_and_\w+|set\w*|incr\w*|decr\w*|l?push\w*|rpush|"
    r"lpop|rpop|hset|hincrby|sadd|srem|zadd|xadd|publish|expire|index|execute_query|run|execute|add\w*|drop\w*|"
    r"save|append|getset|getdel)\Z"
)
_WRITERS = _names("csv.writer csv.DictWriter subprocess.Popen zipfile.ZipFile tarfile.open tempfile.NamedTemporaryFile")
_WRITING = re.compile(r"(?:.*\.)?(?:write\w*|print|dump|save\w*|copyfileobj|communicate)\Z")
_MODULE_CHANGERS = _names("logging.basicConfig")
_SURE_METHODS = _names(
    "sendmail send_message send_mail send_email send_sms chat_postMessage put_object upload_file upload_fileobj "
    "executemany executescript write_text write_bytes insert_one insert_many update_one update_many delete_one "
    "delete_many replace_one bulk_write basic_publish create_subprocess_exec apply_async"
)
_TELLING_BASE = re.compile(
    r"(?:^|[._])(?:db|database|conn|connection|cur|cursor|engine|tx|transaction|repo|repository|api|client|http|store|"
    r"service|gateway|crm|erp|tracker|ledger|mailer|mail|smtp|slack|bank|payments?|billing|producer|broker|bus|queue|"
    r"mqtt|redis|kafka|cluster|k8s|s3|bucket|storage|registry|notifier|orders|inventory|accounts?|github|jira|robot|"
    r"printer|warehouse|stripe|twilio)\w*(?:\(\))?\Z",
    re.IGNORECASE,
)
_TELLING_METHOD = re.compile(
    r"(?:append_to|bulk_create|save|create|insert|add|delete|remove|send|charge|transfer|publish|notify|post|put|patch|upload|deploy|pay|"
    r"refund|book|reserve|cancel|submit|update|write|enqueue|produce|execute|commit|record|log_to|increment|drop|"
    r"truncate|place|capture|emit|move|print)(?:_\w+)?\Z"
)
_TELLING_FUNCTION = re.compile(
    r"(?:send|charge|transfer|delete|publish|notify|refund|deploy|insert|upload|append_to|drop|wire|terminate|purge|"
    r"email|post|pay|reserve|book|cancel|submit|execute_(?:order|trade|payment|transaction))(?:_\w+)?\Z"
)
_TOOL = re.compile(r"\?(?:.*[._])?tools?(?:_by_name|_map|_registry)?(?:\(\))?(?:\[…?\])?\.a?(?:invoke|run)\Z")
_SAFE_WORD = re.compile(r"(?:upsert|ensure|get_or_create|set_default|idempotent|if_absent|if_missing|dry_run)")
_READING_SQL = re.compile(
    r"\s*(?:--[^\n]*\n\s*)*(?:select|pragma|explain|show|describe|values|begin|savepoint|with)\b", re.I
)
_IDEMPOTENT_SQL = re.compile(
    r"(?:if\s+not\s+exists|on\s+conflict|insert\s+or\s+(?:ignore|replace)|if\s+exists|replace\s+into)", re.I
)

_SELECTS = re.compile(r"(?:sqlalchemy|sqlmodel)\b.*?\.(?:select|exists|union\w*)\(\)")
_LOOKING = re.compile(
    r"(?:git (?:status|diff|log|show|rev-parse|ls-files|describe|blame|remote -v)|ls|cat|which|uname|df|du|ps|echo|"
    r"grep|rg|head|tail|wc|whoami|hostname|date|pwd|stat|id|file|free|uptime|kubectl (?:get|describe|logs)|"
    r"docker (?:ps|images|logs)|terraform (?:plan|show)|\S+ --(?:version|help))(?: |\Z)"
)

_ORM = re.compile(
    r"(?:sqlalchemy|sqlmodel|tortoise|peewee|pony)\b|\?(?:.*[._])?session\w*(?:\(\))?\.commit\Z", re.IGNORECASE
)

_MANAGER = re.compile(r".+\.objects\.(?:a?create|a?bulk_create|a?bulk_update|(?:.+\.)?a?update|(?:.+\.)?a?delete)\Z")

_KEYED = re.compile(r"(?:\?(?:self\.)?store|langgraph\.store\b.*)\.a?(?:put|delete)\Z")

_CLOCK = re.compile(
    r"time\.(?:time|monotonic|perf_counter|process_time|time_ns|monotonic_ns|localtime|gmtime|ctime|strftime)\Z"
    r"|datetime\.(?:datetime\.|date\.)?(?:now|utcnow|today)\Z|(?:pendulum|arrow)\.(?:now|utcnow|today)\Z"
    r"|django\.utils\.timezone\.now\Z|asyncio\.get_(?:running|event)_loop\(\)\.time\Z"
)
_RANDOM = re.compile(
    r"random\..+|secrets\..+|uuid\.uuid[1467]\Z|uuid_utils\..+|os\.urandom\Z|numpy\.random\..+|np\.random\..+|shortuuid\..+"
    r"|ulid\..+|nanoid\..+|faker\..+|Crypto\.Random\..+|tempfile\.mk.+|torch\.rand.*"
)
_OUTSIDE = re.compile(
    r"os\.(?:listdir|scandir|walk|stat|getpid|getloadavg|cpu_count)\Z|os\.path\.(?:exists|isfile|isdir|getmtime|getsize)\Z"
    r"|glob\.i?glob\Z|shutil\.disk_usage\Z|psutil\..+|socket\..+|input\Z|sys\.stdin\..+|open\(\)\.read.*|open\(\)\Z"
    r"|getpass\.getpass\Z|(?:queue|asyncio|multiprocessing)\.\w*Queue\(\)\.(?:get|get_nowait|empty|qsize|full)\Z"
    r"|(?:json|yaml|tomllib|csv|pickle)\.(?:load|safe_load|reader|DictReader)\Z|pandas\.read_\w+\Z|urllib\.request\..+"
    r"|(?:redis|pymongo|motor|boto3|elasticsearch|neo4j)\b.*\.(?:get\w*|find\w*|list\w*|scan\w*|[shlz]?len|llen|smembers|"
    r"lrange|search|describe\w*|read\w*|receive\w*)\Z|feedparser\.parse\Z|imaplib\..+\.(?:search|fetch)\Z"
    r"|subprocess\.(?:run|check_output|getoutput)\Z|paramiko\..+\.exec_command\Z"
)
_PATH_READERS = _names("read_text read_bytes exists is_file is_dir stat iterdir glob rglob walk lstat")
_UNORDERED = re.compile(
    r"os\.(?:listdir|scandir|walk)\Z|glob\.i?glob\Z|random\.(?:sample|choices|permutation)\Z|numpy\.random\.\w+\Z"
    r"|asyncio\.(?:as_completed|wait)\Z|concurrent\.futures\.(?:as_completed|wait)\Z"
    r"|redis\b.*\.smembers\Z|(?:frozen)?set\(\)\.(?:union|difference|intersection|symmetric_difference)\Z"
)
_PATH_UNORDERED = _names("iterdir glob rglob walk")
_MODEL = re.compile(
    r"(?:langchain\w*|langgraph_swarm|openai|anthropic|google\.(?:genai|generativeai)|mistralai|cohere|ollama|litellm|groq|"
    r"together|transformers|vertexai|huggingface_hub|instructor|dspy|crewai|pydantic_ai|llama_index)\b.*"
    r"\.(?:a?invoke|a?stream|a?batch|a?predict|a?generate|agenerate\w*|a?complete|create|parse|generate_content\w*|chat|"
    r"completion|acompletion|generate_text|text_generation|run|run_sync|kickoff|query|__call__|call|a?transform)\Z"
    r"|litellm\.a?completion\Z|ollama\.(?:chat|generate)\Z"
)
_MODEL_HINT = re.compile(
    r"\?(?:.*[._])?(?:llm|model|chat_?model|chain|agent|gpt|claude|gemini|writer_chain|planner|generator|assistant)\w*(?:\(\))?"
    r"\.(?:a?invoke|a?stream|a?predict|a?generate|a?complete|create|run)\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked about a call.

    Args:
        name: dotted.
        first: its first argument, where that is a string that is written out.
        mode: the mode a file is opened with; empty for reading.
        method: HTTP method, of `request(method, …)`; None when it isn't known.
        has_data: `data` is given, of urlopen.
        harmless: an argument says that doing it again changes nothing (`exist_ok=True`).
        first_name: dotted name of what its first argument is, where that is known.
        argv: words of a command that are written out, to the first that isn't.
    """

    name: str
    first: str | None = None
    mode: str = ""
    method: str | None = None
    has_data: bool = False
    harmless: bool = False
    first_name: str = ""
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallEffect:
    """An effect of a call.

    Args:
        certain: the package is known; otherwise the name says so.
        idempotent: why doing it again changes nothing; empty for nothing.
    """

    certain: bool = True
    idempotent: str = ""


def effect_of(call: Call) -> CallEffect | None:
    """Return what a call does to the world; None for nothing that is known."""
    name, last = call.name, call.name.rpartition(".")[2]
    if last == "open" and _opens(name):
        return CallEffect() if any(letter in call.mode for letter in "wax+") else None
    if name in _FILE_EFFECTS or (is_path(name) and last in _PATH_WRITERS):
        return CallEffect(idempotent="by its form" if call.harmless or last == "touch" else "")
    if name in _PROCESS_EFFECTS and _LOOKING.match(" ".join(call.argv)):
        return None
    if name in _PROCESS_EFFECTS or _HTTP_WRITER.match(name) or _MAIL.match(name):
        return CallEffect()
    if _HTTP_OPEN.match(name):
        writes = call.has_data or (call.method or "GET").upper() not in ("GET", "HEAD", "OPTIONS")
        return CallEffect() if writes else None
    if _DATABASE.match(name):
        return _sql(call, last, certain=True)
    if _CLOUD.match(name) or _STORES.match(name) or name in _MODULE_CHANGERS:
        return CallEffect()
    return _by_name(call, last)


def _opens(name: str) -> bool:
    return name in ("open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "aiofiles.open") or (
        is_path(name) or name.startswith("?")
    )


def writes_on(name: str, given: Given) -> bool:
    """Return whether a call writes into what was opened before; the effect was noted where that was opened."""
    names = [name, *map(external_name, given.all)]
    opened = [head for head, _, _ in (each.rpartition("()") for each in names) if head]
    return bool(_WRITING.match(name)) and any(
        head in _WRITERS or (head.rpartition(".")[2] == "open" and _opens(head)) for head in opened
    )


def is_path(name: str) -> bool:
    """Return whether a dotted name is of a path that a call made."""
    return re.match(r"(?:pathlib\.(?:Posix|Windows)?Path|anyio\.Path)\b[^?]*\(\)", name) is not None


def _sql(call: Call, last: str, *, certain: bool) -> CallEffect | None:
    if last in ("commit", "flush"):  # without an ORM, what it commits is named where it is executed
        return CallEffect(certain) if _ORM.match(call.name) else None
    if _SELECTS.match(call.first_name):
        return None
    if call.first is not None:
        if _READING_SQL.match(call.first) and not re.search(r"\b(?:insert|update|delete)\b", call.first, re.I):
            return None
        return CallEffect(certain, "by its form" if _IDEMPOTENT_SQL.search(call.first) else "")
    return None if last.startswith(("fetch", "scalar", "query")) else CallEffect(certain)


def runs_tool(name: str) -> bool:
    """Return whether a call runs a tool of which nothing but its spelling is known."""
    return bool(_TOOL.match(name))


def _by_name(call: Call, last: str) -> CallEffect | None:
    if _KEYED.match(call.name):
        return CallEffect(idempotent="by its form")
    if (last in _SURE_METHODS and "." in call.name) or runs_tool(call.name):
        return CallEffect(certain=False, idempotent="")
    if not call.name.startswith("?") or _SAFE_WORD.search(last):
        return None
    if (last == "commit" and _ORM.match(call.name)) or _MANAGER.match(call.name):
        return CallEffect(certain=False)
    base = call.name[1:].rpartition(".")[0]
    if not base:
        return CallEffect(certain=False) if _TELLING_FUNCTION.match(last) else None
    if not _TELLING_BASE.search(base) or not _TELLING_METHOD.match(last):
        return None
    return _sql(call, last, certain=False) if last in ("execute", "commit") else CallEffect(certain=False)


def source_of(call: Call) -> str:
    """Return why a call's result may differ another time: `random`, `clock`, `model`, `outside`; empty for nothing."""
    name, last = call.name, call.name.rpartition(".")[2]
    if _CLOCK.match(name):
        return "clock"
    if _RANDOM.match(name):
        return "random"
    if _MODEL.match(name) or _MODEL_HINT.match(name):
        return "model"
    if _OUTSIDE.match(name) or _HTTP_READER.match(name) or _HTTP_OPEN.match(name) or _HTTP_WRITER.match(name):
        return "outside"
    if (_DATABASE.match(name) and last != "commit") or (is_path(name) and last in _PATH_READERS):
        return "outside"
    return ""


def is_unordered(name: str) -> bool:
    """Whether what a call returns comes in an order that isn't fixed."""
    return bool(_UNORDERED.match(name)) or (is_path(name) and name.rpartition(".")[2] in _PATH_UNORDERED)


def keyword_is(node: ast.AST, word: str, value: bool) -> bool:
    """Whether a call is given a keyword argument that is written out as this."""
    return isinstance(node, ast.Call) and any(
        k.arg == word and isinstance(k.value, ast.Constant) and k.value.value is value for k in node.keywords
    )


def is_langgraph(name: str, last: str) -> bool:
    """Whether a dotted name is LangGraph's or LangChain's of that last part, wherever they export it."""
    return name.rpartition(".")[2] == last and name.startswith(("langgraph", "langchain"))


BROAD_ERRORS: Final = _names(
    "Exception BaseException builtins.Exception builtins.BaseException langgraph.errors.GraphBubbleUp "
    "langgraph.errors.GraphInterrupt"
)
"""What `interrupt()` raises, and what that derives from."""

RETRIES: Final = re.compile(
    r"(?:tenacity|backoff|retrying|retry|stamina|retrying_async|retry_async|funcy|ratelimit|urllib3\.util\.retry|"
    r"aiohttp_retry|opnieuw|redo|pytest_retry)\b(?:.*\.)?"
    r"(?:retry|retry_async|on_exception|retriable|retrying|Retry|Retrying|AsyncRetrying|ignore|silent|retry_call)\Z"
)
"""Decorators and functions that call again after any error, unless they are told after which."""

KEEPS_ORDER: Final = _names(
    "list tuple enumerate zip reversed iter filter map itertools.islice itertools.chain itertools.chain.from_iterable "
    "dict dict.fromkeys copy.copy copy.deepcopy list.copy itertools.product itertools.batched"
)
"""Functions whose result comes in the order of what they are given."""


A_PATH: Final = Message("a Path")
A_DATE: Final = Message("a date or time")
A_DECIMAL: Final = Message("a Decimal")
AN_ARRAY: Final = Message("a numpy array")
A_FRAME: Final = Message("a data frame")
BYTES: Final = Message("bytes")

_KINDS: Final[tuple[tuple[re.Pattern[str], Message], ...]] = (
    (
        re.compile(
            r"(?:datetime\.)?(?:datetime|date|time|timedelta|timezone)(?:\.(?:now|utcnow|today|fromisoformat|fromtimestamp|"
            r"utcfromtimestamp|strptime|combine|min|max|utc|fromordinal))?\(\)(?:\.(?:replace|astimezone|date|time)\(\))*\Z"
            r"|pendulum\.(?:now|today|datetime)\(\)\Z|arrow\.(?:now|utcnow)\(\)\Z|django\.utils\.timezone\.now\(\)\Z"
        ),
        A_DATE,
    ),
    (re.compile(r"decimal\.Decimal\(\)\Z"), A_DECIMAL),
    (re.compile(r"fractions\.Fraction\(\)\Z|complex\(\)\Z"), Message("a number JSON does not have")),
    (re.compile(r"uuid\.(?:uuid\d|UUID)\(\)\Z|uuid_utils\.uuid\d\(\)\Z"), Message("a UUID")),
    (re.compile(r"pathlib\.(?:Pure)?(?:Posix|Windows)?Path(?:\.(?:cwd|home))?\(\)\Z"), A_PATH),
    (re.compile(r"(?:frozen)?set\(\)\Z"), A_SET),
    (
        re.compile(
            r"bytes\(\)\Z|bytearray\(\)\Z|memoryview\(\)\Z|io\.BytesIO\(\)\Z|secrets\.token_bytes\(\)\Z|os\.urandom\(\)\Z"
            r"|base64\.\w+\(\)\Z|hashlib\.\w+\(\)\.digest\(\)\Z|pickle\.dumps\(\)\Z"
        ),
        BYTES,
    ),
    (
        re.compile(
            r"(?:io\.)?open\(\)\Z|pathlib\.Path\(\)\.open\(\)\Z|tempfile\.\w*TemporaryFile\(\)\Z|io\.StringIO\(\)\Z"
        ),
        Message("an open file"),
    ),
    (re.compile(r"re\.(?:compile|match|search|fullmatch)\(\)\Z"), Message("a regular expression or match")),
    (re.compile(r"(?:map|filter|zip|iter|enumerate|reversed|itertools\.\w+)\(\)\Z"), Message("an iterator")),
    (re.compile(r"range\(\)\Z"), Message("a range")),
    (
        re.compile(r"(?:numpy|np)\.(?:array|zeros|ones|arange|linspace|asarray|random\.\w+)\(\)\Z"),
        AN_ARRAY,
    ),
    (re.compile(r"(?:pandas|polars|pd|pl)\.(?:DataFrame|Series|read_\w+)\(\)\Z"), A_FRAME),
    (re.compile(r"(?:threading|asyncio)\.(?:Lock|RLock|Event|Semaphore|Queue)\(\)\Z"), Message("a lock or queue")),
    (re.compile(r"collections\.deque\(\)\Z|deque\(\)\Z"), Message("a deque")),
    (
        re.compile(
            r"(?:sqlite3|psycopg2?|requests|httpx|aiohttp)\.(?:connect|Session|Client|AsyncClient|ClientSession|"
            r"get|post|put|patch|delete|request)\(\)(?:\.(?:cursor|get|post|put|patch|delete|request|execute)\(\))*\Z"
        ),
        Message("a connection or response"),
    ),
    (
        re.compile(r"(?:builtins\.)?(?:ValueError|RuntimeError|Exception|KeyError|TypeError)\(\)\Z"),
        Message("an exception"),
    ),
    (re.compile(r"PIL\.Image\.\w+\(\)\Z|io\.BytesIO\(\)\Z"), Message("an image")),
    (re.compile(r"types\.SimpleNamespace\(\)\Z|object\(\)\Z"), Message("an object")),
)

_PATH_MAKERS: Final = _names(
    "Path with_suffix with_name resolve absolute expanduser parent joinpath relative_to with_stem"
)


def kind_of(name: str) -> Message | None:
    """Return what the result of a call is that JSON has no form for; None for nothing that is known.

    Args:
        name: with `()` at its end.
    """
    if (
        is_path(name)
        and name.endswith(("()", ".parent"))
        and name.rpartition(".")[2].removesuffix("()") in _PATH_MAKERS
    ):
        return A_PATH
    return next((kind for pattern, kind in _KINDS if pattern.match(name)), None)


def retries_any_error(name: str, given: Given) -> bool:
    """Whether a decorator's call calls again after any error."""
    if not RETRIES.match(name):
        return False
    told = [v for v in (*given.args, *given.names.values()) if v.refs]
    names = [external_name(v) for v in told]
    if any(n == "narrow()" for n in names):
        return False
    errors = [n for v in told for n in _error_names(v)]
    return not errors or any(n in BROAD_ERRORS for n in errors)


def lets_questions_through(name: str, given: Given) -> bool:
    """Whether a retry's condition lets a question through."""
    last = name.rpartition(".")[2]
    broad = any(n in BROAD_ERRORS for v in given.all for n in _error_names(v))
    if last in ("retry_if_exception_type",):
        return bool(given.args) and not broad
    if last == "retry_if_not_exception_type":
        return broad
    return last in ("retry_if_result", "retry_if_not_result", "retry_if_exception_message")


def _error_names(value: Value) -> list[str]:
    refs = [ref for v in (value, *(value.items or ())) for ref in v.refs]
    names = [ref.name for ref in refs if isinstance(ref, External)]
    own = [ref.node.name for ref in refs if isinstance(ref, ClassRef)]
    return [n for n in (*names, *own) if re.search(r"(?:Error|Exception|Interrupt|BubbleUp|Timeout)\w*\Z", n)]
