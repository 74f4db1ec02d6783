"""Stems of English words."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from snowballstemmer import stemmer

from hitl_tui.meaning.frequencies import frequencies
from hitl_tui.meaning.stems import english_stem


def test_threads_that_stem_at_once_get_the_stems_of_their_own_words() -> None:
    words = [word for word in frequencies("en") if word.isascii() and word.isalpha()][:1500]
    alone = stemmer("english")
    expected = [alone.stemWord(word) for word in words]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            turns = [words[start:] + words[:start] for start in range(0, 800, 100)]
            found = list(threads.map(lambda turn: {word: english_stem.__wrapped__(word) for word in turn}, turns))
    finally:
        sys.setswitchinterval(before)
    for one in found:
        assert [one[word] for word in words] == expected
