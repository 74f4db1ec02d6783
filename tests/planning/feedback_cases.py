"""Feedback on plans, and the plan that is meant: what a reviewer says, in Korean and English (P1).

A plan is written as `search > analysis > report`: what stands right of a `>` comes after everything left of it,
directly or through others; what stands in one group (`search, search:서초구`) may run at the same time. `name:word`
is a step whose title, task or input has the word. KEPT is for what can't be worked in: the plan stays as it is, and
that is said.
"""

from __future__ import annotations

KEPT = "kept"

FULL = "전세 시세를 조사하고 분석해서 보고서 작성해줘"  # search > analysis > report
FULL_EN = "Find the lease law, analyse the rent increase and write a report"
ONE = "강남구 아파트 시세 조회"  # search
OPS = "run backup-database target=db, then run list-files, then run clean-logs"
TWO = "run clean-logs dir=logs, then run list-files"
OWN = "Find the travel policy and count the working days between 2026-03-02 and 2026-03-13"

CASES: list[tuple[str, str | tuple[str, ...], str]] = [
    # add
    (ONE, "분석도 추가해줘", "search > analysis"),
    (ONE, "보고서로 정리하는 단계도 넣어줘", "search > report"),
    (ONE, "서초구 시세도 검색해줘", "search, search:서초구"),
    (ONE, "마지막에 보고서를 써줘", "search > report"),
    (ONE, "검색하기 전에 데이터베이스 백업부터 해줘 target=db", "backup-database > search"),
    (ONE, "검색 전에 list-files 실행해줘", "list-files > search"),
    (FULL, "송파구 시세도 검색해줘", "search, search:송파구 > analysis > report"),
    (FULL, "다 끝나면 clean-logs 실행해줘", "search > analysis > report > clean-logs"),
    (FULL, "보고서 쓰기 전에 list-files 실행해줘", "search > analysis > list-files > report"),
    (ONE, "add an analysis", "search > analysis"),
    (ONE, "Please also write a report at the end", "search > report"),
    (ONE, "add a search for Seocho prices", "search, search:Seocho"),
    (ONE, "list the files before the search", "list-files > search"),
    (ONE, "back up the database first target=db", "backup-database > search"),
    (FULL_EN, "also look up the deposit rules", "search, search:deposit > analysis > report"),
    (FULL_EN, "run clean-logs at the very end", "search > analysis > report > clean-logs"),
    (FULL_EN, "run list-files before the report", "search > analysis > list-files > report"),
    (FULL_EN, "after the analysis run list-files", "search > analysis > report, list-files"),
    # remove
    (FULL, "보고서는 빼줘", "search > analysis"),
    (FULL, "분석은 필요 없어요", "search > report"),
    (FULL, "분석하고 보고서 둘 다 빼주세요", "search"),
    (FULL, "3번은 삭제해줘", "search > analysis"),
    (OPS, "파일 목록은 안 해도 돼", "backup-database > clean-logs"),
    (OPS, "로그 삭제는 하지 마", "backup-database > list-files"),
    (FULL_EN, "drop the report", "search > analysis"),
    (FULL_EN, "no analysis, please", "search > report"),
    (FULL_EN, "remove step 3", "search > analysis"),
    (FULL_EN, "we don't need the analysis or the report", "search"),
    (OPS, "don't delete the logs", "backup-database > list-files"),
    (OPS, "the list of files is not needed", "backup-database > clean-logs"),
    # order
    (TWO, "list the files first", "list-files > clean-logs"),
    (TWO, "파일 목록 먼저 보여줘", "list-files > clean-logs"),
    (TWO, "list-files 다음에 clean-logs 순서로 해줘", "list-files > clean-logs"),
    (TWO, "로그 정리는 마지막에 해줘", "list-files > clean-logs"),
    (TWO, "first list-files, then clean-logs", "list-files > clean-logs"),
    (TWO, "clean-logs should come last", "list-files > clean-logs"),
    (TWO, "move step 2 before step 1", "list-files > clean-logs"),
    (TWO, "2번을 1번 앞으로 옮겨줘", "list-files > clean-logs"),
    (TWO, "swap the two steps", "list-files > clean-logs"),
    (TWO, "순서를 바꿔줘", "list-files > clean-logs"),
    (OPS, "clean the logs before listing the files", "backup-database > clean-logs > list-files"),
    (OPS, "로그 정리를 파일 목록보다 먼저 해줘", "backup-database > clean-logs > list-files"),
    (OPS, "clean-logs를 list-files 앞에 둬", "backup-database > clean-logs > list-files"),
    (OPS, "do the backup after the cleanup", "list-files > clean-logs > backup-database"),
    (OPS, "백업은 로그 정리 뒤로 옮겨줘", "list-files > clean-logs > backup-database"),
    (OPS, "first clean-logs, then list-files, then backup-database", "clean-logs > list-files > backup-database"),
    (OPS, "clean-logs, list-files, backup-database 순서로 해줘", "clean-logs > list-files > backup-database"),
    (OPS, "run all of them in parallel", "backup-database, list-files, clean-logs"),
    (OPS, "동시에 실행해줘", "backup-database, list-files, clean-logs"),
    (FULL, "보고서를 분석보다 먼저 써줘", "search > report > analysis"),
    (FULL_EN, "write the report before the analysis", "search > report > analysis"),
    # only, keep
    (FULL, "검색만 해줘", "search"),
    (FULL, "분석까지만 해줘", "search > analysis"),
    (FULL, "보고서만 빼줘", "search > analysis"),
    (FULL, "1번만 남겨줘", "search"),
    (OPS, "백업만 하고 나머지는 빼줘", "backup-database"),
    (FULL_EN, "only the search", "search"),
    (FULL_EN, "just the search and the analysis", "search > analysis"),
    (FULL_EN, "keep only step 1", "search"),
    (OPS, "only back up the database", "backup-database"),
    (OPS, "everything except the cleanup", "backup-database > list-files"),
    (OPS, "로그 정리 빼고 다 해줘", "backup-database > list-files"),
    # a team's name, replacing
    (FULL, "document_team은 빼줘", "search > analysis"),
    (FULL_EN, "without the document team", "search > analysis"),
    (ONE, "analysis_team도 추가", "search > analysis"),
    (ONE, "use the vat team instead of the search, amount=300000", "vat"),
    (ONE, "검색 대신 list-files 실행해줘", "list-files"),
    (FULL_EN, "replace the report with list-files", "search > analysis > list-files"),
    (FULL, "보고서 대신 clean-logs를 실행해줘", "search > analysis > clean-logs"),
    (OWN, "leave_days is enough, drop the search", "leave_days"),
    (OWN, "add open_ticket title=Leave at the end", "search > leave_days > open_ticket"),
    # inputs
    (ONE, "서초구로 바꿔줘", "search:서초구"),
    (TWO, "set days=3 in clean-logs", "clean-logs:3 > list-files"),
    (TWO, "1번은 days=7로 바꿔줘", "clean-logs:7 > list-files"),
    # several at once
    (FULL, "보고서는 빼고 서초구 시세도 검색해줘", "search, search:서초구 > analysis"),
    (FULL_EN, "drop the report and add a search for deposit rules", "search, search:deposit > analysis"),
    (OPS, "Skip the listing. Back up after cleaning the logs.", "clean-logs > backup-database"),
    (OPS, "목록은 빼고, 로그 정리를 백업보다 먼저 해줘", "clean-logs > backup-database"),
    # one after the other
    (ONE, ("분석도 추가해줘", "보고서도 추가해줘", "분석은 빼줘"), "search > report"),
    (ONE, ("add an analysis", "add a report", "remove step 2"), "search > report"),
    (ONE, ("add a search for Seocho prices", "remove step 1", "add an analysis"), "search:Seocho > analysis"),
    (FULL, ("보고서는 빼줘", "보고서를 다시 넣어줘"), "search > analysis > report"),
    (TWO, ("list the files first", "clean-logs first"), "clean-logs > list-files"),
    # what can't be worked in
    (ONE, "좋아 보이네", KEPT),
    (ONE, "hmm, I am not sure about this", KEPT),
    (ONE, "보고서는 빼줘", KEPT),
    (FULL_EN, "remove step 9", KEPT),
    (FULL_EN, "remove everything", KEPT),
    (FULL, "분석을 검색보다 먼저 해줘", KEPT),
    (FULL_EN, "do the analysis before the search", KEPT),
    (OPS, "run the deployment pipeline of the other team", KEPT),
]
