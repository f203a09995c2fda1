"""Property tests with Hypothesis over every public function that takes a user's text: nothing raises, and what is promised holds.

usage: python tools/fuzz.py [--examples N] [--only NAME ...] [--seed N]
Without --examples a slice of each (about half a minute of CPU) that is the same on every run; `make fuzz` makes 20,000 of each.
The last line is 'N passed, N failed'; a failure is shown with the smallest text that Hypothesis found.
"""
import argparse, json, logging, math, sys, tempfile, time, traceback, unicodedata
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

import texts as made
from slots import slot
from rag_quality.data.articles import split_articles
from rag_quality.claims.citing import find_citations
from rag_quality.claims import compare
from rag_quality.colloquial import ColloquialTransformer, detect_formality, mask_personal
from rag_quality.knowledge.contextualize import contextualize
from rag_quality.core import DataError, nfc
from rag_quality.data import Collection, bundled
from rag_quality.experiment import pipeline
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.judge.rules import judge_by_rules
from rag_quality.morphology import MorphologicalExpander
from rag_quality.claims.names import find_names
from rag_quality.persona.context import check_context
from rag_quality.claims.polarity import predications
from rag_quality.claims.quantities import find_quantities
from rag_quality.knowledge.questions import analyze_query
from rag_quality.data.files import read_objects
from rag_quality.judge.scorecard import read_rows
from rag_quality.semantic_eval import SemanticEvaluator
from rag_quality.claims.splitting import split_claims
from rag_quality.claims.tables import find_tables
from rag_quality.knowledge.talk import needs_retrieval
from rag_quality.data.files import Problems
from rag_quality.judge.verdicts import JudgeItem

# --- what texts are made of
ODD = st.text(st.characters(codec=None), max_size=6)                                          # any character, lone surrogates too
JAMO = st.text(st.sampled_from("ㄱㄴㄷㅂㅅㅇㅈㅋㅎㅏㅓㅗㅜㅠㅡㅣ\u1100\u1112\u1161\u1175\u11a8\u11ab\u11bc"), min_size=1, max_size=4)
VERB = st.builds(made.glued, st.sampled_from(made.STEMS), st.sampled_from(made.ENDINGS))
NAMED = st.builds(lambda noun, josa: noun + josa, st.sampled_from(made.NOUNS + made.HANJA + made.LATIN), st.sampled_from(("",) + made.JOSA))
ASKED = st.builds(lambda ask, josa: ask + josa, st.sampled_from(made.ASKS), st.sampled_from(("", "", "") + made.JOSA))
AMOUNT = st.builds(lambda n, gap, unit: n + gap + unit, st.sampled_from(made.NUMBERS) | st.integers(-10, 10**13).map(str), st.sampled_from(("", " ")), st.sampled_from(made.UNITS))
CITED = st.sampled_from(made.CITES) | st.builds("제{}조제{}항제{}호".format, st.integers(0, 10**6), st.integers(0, 30), st.integers(0, 30))
OTHER = st.sampled_from(made.CHAT + made.MARKS + made.EMOJI + made.ODD + made.BLOCKS + made.JOSA + made.ENDINGS)
LONG = st.builds(lambda w, n: w * n, st.sampled_from(("가", "아", "휴학", "ㅋ", "(", "1", "a", "제1조", "|", "*", "-", "면 ", "1,")), st.integers(20, 300))
WORD = st.one_of(NAMED, NAMED, VERB, VERB, ASKED, ASKED, AMOUNT, CITED, OTHER, OTHER, JAMO, ODD, LONG)
GAP = st.sampled_from((" ", " ", " ", "", "", "  ", ". ", "? ", ", ", "\n"))

def _twisted(pairs, cut, form):
    "Words and gaps as one text, cut off at its end, composed or decomposed."
    text = "".join(w + g for w, g in pairs)
    text = text[:len(text) - cut] if cut else text
    return unicodedata.normalize("NFD", text) if form == 7 else text.strip() if form < 4 else text

TEXT = st.builds(_twisted, st.lists(st.tuples(WORD, GAP), max_size=9), st.sampled_from((0, 0, 0, 1, 2, 3)), st.integers(0, 7))
BOOK = st.lists(st.one_of(st.sampled_from(made.BLOCKS), st.builds("제{}조({}) {}\n".format, st.integers(0, 40), st.sampled_from(made.NOUNS), TEXT), TEXT.map("{}\n".format)), max_size=6).map("".join)
TURNS = st.lists(st.fixed_dictionaries({"user": TEXT, "assistant": TEXT | BOOK}), max_size=4)
CELL = st.one_of(TEXT, st.none(), st.integers(), st.floats(), st.lists(TEXT, max_size=2), st.booleans())

@cache
def parts():
    "The costly objects, made once; a small collection of some 40 articles."
    passages = bundled().passages[::20]
    return {"transformer": ColloquialTransformer(), "expander": MorphologicalExpander(), "validator": FaithfulnessValidator(), "evaluator": SemanticEvaluator(), "passages": passages,
            "system": pipeline(Collection("small", passages))[-1], "ids": {p.doc_id for p in passages}}

TESTS = {}      # name -> (test, examples of a slice)
def checks(n, *strategies):
    def register(f): TESTS[f.__name__] = (f, strategies, n); return f
    return register

def share(x): assert x is None or isinstance(x, (int, float)) and not isinstance(x, bool) and 0 <= x <= 1, f"no share: {x!r}"
def within(spans, text):
    for s in spans: assert 0 <= s.start <= s.end <= len(text), f"{s} is not within {len(text)} characters"

@checks(400, TEXT)
def transform(q):
    r = parts()["transformer"].transform(q)
    assert r.original_query is q and r.was_transformed == (r.transformed_query != q) and (r.method == "rules") == r.was_transformed
    assert r.reasons or r.was_transformed
    share(r.confidence)
    if not r.was_transformed: assert r.transformed_query is q and not r.patterns_matched
    if q.strip(): assert r.transformed_query.strip()
    if detect_formality(q).register == "written": assert not r.was_transformed, "a formal query was changed"
    assert parts()["transformer"].transform(q) == r

@checks(300, TEXT)
def formality(q):
    f = detect_formality(q)
    share(f.score)
    assert f.politeness in ("casual", "polite", "nominal") and f.register == ("written" if f.score >= .5 else "colloquial") and f.reasons
    assert detect_formality(unicodedata.normalize("NFD", nfc(q))) == detect_formality(nfc(q)), "decomposed letters are read otherwise"

@checks(250, TEXT, st.sampled_from(("noun", "full")), st.integers(0, 3))
def expand(q, mode, depth):
    r = parts()["expander"].expand(q, mode=mode, depth=depth)
    assert r.query == q and len(set(r.terms)) == len(r.terms) and set(r.added) <= set(r.terms) and r.reasons.keys() == set(r.terms) == r.weight.keys()
    assert all(t and t == t.strip() for t in r.terms)
    assert all(0 < w <= 1 for w in r.weight.values())
    if not q.strip(): assert r.terms == ()
    if mode == "full": assert len(r.terms) - len(r.added) <= len(nfc(q).split())

@checks(120, TEXT)
def analyze(q):
    a = analyze_query(q)
    assert a.query is q and a.reasons
    share(a.confidence)
    for _, p in a.families: share(p)
    for t in a.types: share(t.probability)
    for _, words in a.personas: assert words and words in nfc(q)
    if not q.strip(): assert a.topic is None and a.query_type is None

@checks(120, TEXT, TURNS)
def contextualized(q, turns):
    alone = contextualize(q)
    assert alone.text is q and alone.used == () and alone.reasons
    r = contextualize(q, turns)
    assert r.reasons and (r.text is q) == (r.used == ()), "carried, and not told what"
    if q.strip(): assert r.text.strip()

@checks(200, TEXT)
def needs(q):
    n = needs_retrieval(q)
    assert n.reason and n.needed == (n.kind == "question")
    if not q.strip(): assert n.kind == "empty"

@checks(200, TEXT | BOOK)
def masked(q):
    assert mask_personal(mask_personal(q)) == mask_personal(q)

@checks(150, TEXT | BOOK)
def found(text):
    whole = nfc(text)
    for spans in (find_citations(text), find_quantities(text), find_names(text), predications(text)): within(spans, whole)
    for c in find_citations(text): assert c.text == whole[c.start:c.end] and c.key
    for t in find_tables(text): assert t.header or t.rows

@checks(150, TEXT | BOOK)
def claims(text):
    whole, pieces = nfc(text), split_claims(text)
    within(pieces, whole)
    assert all(a.start <= b.start for a, b in zip(pieces, pieces[1:])), "out of order"
    assert all(c.text.strip() for c in pieces)
    if not text.strip(): assert pieces == ()

@checks(150, BOOK, st.none() | TEXT)
def articles(text, name):
    found = split_articles(text, "R", name)
    ids = [p.doc_id for p in found]
    assert all(p.text.strip() and p.doc_id for p in found)
    assert [p.doc_id for p in split_articles(text, "R", name)] == ids
    if not text.strip(): assert not found

@checks(60, TEXT, TEXT)
def similarity(a, b):
    evaluator = parts()["evaluator"]
    share(evaluator.evaluate_similarity(a, b))
    r = evaluator.evaluate(a, b)
    share(r.similarity)
    if not a.strip() or not b.strip(): assert r.similarity == 0
    if nfc(a).strip() and nfc(a) == nfc(b): assert not r.contradictions

@checks(60, TEXT | BOOK)
def itself(text):
    assert not compare(text, text), "a text contradicts itself"

@checks(40, TEXT | BOOK, st.lists(TEXT | BOOK, max_size=3), st.floats(0, 1))
def validate(answer, context, threshold):
    r = parts()["validator"].validate_answer(answer, context, threshold)
    share(r.score), share(r.worst_claim_score)
    within(r.claims, nfc(answer))
    for c in r.claims: share(c.score); assert c.verdict in ("supported", "unsupported", "contradicted") and (c.passage is None or 0 <= c.passage < len(context))
    assert len(r.grounded_claims) + len(r.ungrounded_claims) == len(r.claims)
    if not any(c.strip() for c in context) or not answer.strip(): assert r.score is None and r.claims == ()
    if r.score is None: assert r.reason, "no score, and no reason"

@checks(40, TEXT, TEXT | BOOK, st.lists(TEXT | BOOK, max_size=2), st.none() | TEXT, st.lists(TEXT, max_size=2))
def judge(query, answer, contexts, reference, facts):
    r = judge_by_rules(JudgeItem(query, nfc(answer), tuple(map(nfc, contexts)), reference and nfc(reference), tuple(map(nfc, facts))))
    for criterion, score in (*r.scores.items(), ("overall", r.overall)):
        share(score)
        if score is None and criterion != "overall": assert r.reasons.get(criterion), f"{criterion}: no score, and no reason"
    sources = {"answer": nfc(answer), "reference": reference and nfc(reference), **{f"context:{i}": nfc(c) for i, c in enumerate(contexts)}, **{f"key_fact:{i}": nfc(f) for i, f in enumerate(facts)}}
    for e in r.evidence: assert e.start is None or sources[e.source] is not None and 0 <= e.start <= e.end <= len(sources[e.source]), f"{e} is not within {e.source}"

@checks(60, TURNS)
def dialogue(turns):
    found = check_context(turns)
    assert len(found) == len(turns)
    for c, t in zip(found, turns):
        assert c.kept in (True, False, None) and c.reason and bool(c.kind) == (c.kept is False)
        if not t["assistant"].strip(): assert c.kept is None

@checks(60, TEXT, st.integers(1, 12))
def search(q, k):
    r = parts()["system"].search(q, k)
    assert r.query == q and len(r.hits) <= k
    scores = [s for _, s in r.hits]
    assert all(math.isfinite(s) for s in scores) and scores == sorted(scores, reverse=True)
    assert {p.doc_id for p, _ in r.hits} <= parts()["ids"] and r.trace

@checks(20, TEXT, TURNS)
def ask(q, turns):
    a = parts()["system"].answer(q, turns)
    share(a.confidence)
    assert a.content.strip() and json.dumps(a.to_dict(q), ensure_ascii=False)
    if not q.strip(): assert a.abstained

def write(rows, kind, torn):
    "A file of rows as a user might hand it over, with a torn line where `torn` says."
    if kind == "jsonl": lines = [json.dumps(r, ensure_ascii=True) for r in rows]; suffix, text = ".jsonl", "\n".join([*lines[:torn], "{\"query\": ", *lines[torn:]] if torn is not None else lines)
    elif kind == "json": suffix, text = ".json", json.dumps(rows, indent=1)
    else: suffix, text = "." + kind, "\n".join((",", "\t")[kind == "tsv"].join(str(v) for v in r.values()) for r in ({"query": "query", "answer": "answer", "contexts": "contexts"}, *rows))
    return suffix, text.encode("utf8", "surrogatepass")

@checks(60, st.lists(st.fixed_dictionaries({"query": CELL, "answer": CELL, "contexts": CELL}), max_size=4), st.sampled_from(("jsonl", "json", "csv", "tsv")), st.none() | st.integers(0, 3), st.binary(max_size=3))
def rows(rows, kind, torn, noise):
    suffix, raw = write(rows, kind, torn)
    with tempfile.NamedTemporaryFile(suffix=suffix) as f:
        f.write(raw + noise); f.flush()
        problems = Problems()
        try: found = list(read_objects(f.name, problems))
        except DataError as e: assert str(e); found = []
        else: assert all(isinstance(p, str) and p for p in problems)
        if kind == "jsonl" and not noise:
            assert len(found) == len(rows) and len(problems) == (torn is not None), "a good row was lost, or a bad one not named"
        try: read = read_rows(f.name)
        except DataError as e: assert str(e)
        else: assert len(read) and len(read) + len(read.bad) >= len(found)

def run(name, examples, number):
    "One property; None, or how it failed."
    test, strategies, least = TESTS[name]
    n = examples or least
    settled = settings(max_examples=n, database=None, deadline=None, derandomize=number is None, suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink], print_blob=False)
    prepared = settled(given(*strategies)(test))
    if number is not None: prepared = seed(number)(prepared)
    try: prepared()
    except BaseException as e:
        if isinstance(e, KeyboardInterrupt): raise
        return e

def told(e, depth=0):
    "An exception, its place in the package and the example."
    for one in getattr(e, "exceptions", (e,)):
        frames = [f for f in traceback.extract_tb(one.__traceback__) if "rag_quality" in f.filename and "tools" not in f.filename]
        print(f"  {type(one).__name__}: {str(one)[:200]}" + (f"\n    in {Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].name}: {(frames[-1].line or '')[:160]}" if frames else ""))
        for note in getattr(one, "__notes__", ()): print("    " + note[:700].replace("\n", "\n    "))

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--examples", type=int, default=0); ap.add_argument("--only", nargs="+", choices=TESTS); ap.add_argument("--seed", type=int)
    args = ap.parse_args()
    logging.getLogger("rag_quality").setLevel(logging.ERROR)
    failed = 0
    for name in args.only or TESTS:
        start = time.process_time()
        with slot(): e = run(name, args.examples, args.seed)
        failed += e is not None
        print(f"{'FAIL' if e is not None else 'ok  '} {name:15} {args.examples or TESTS[name][2]:6,} examples, {time.process_time()-start:.1f} s of CPU", flush=True)
        if e is not None: told(e)
    print(f"{len(args.only or TESTS)-failed} passed, {failed} failed")
    return 1 if failed else 0

if __name__ == "__main__": sys.exit(main())
