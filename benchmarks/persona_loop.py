"""Does the improvement loop put back, by itself, what a pipeline lost with its dictionary? Does it refuse what harms?

usage: python benchmarks/persona_loop.py [--queries N] [--seed S] [--slice]      N: questions a persona (default 30)

The pipeline of rag_quality on data/hanbit as 30_experiment builds it (rewriting, neighbours, hybrid search, evidence of the regulation), in which the dictionary
(synonyms.json) is the only knowledge that is added to a colloquial question: the bank's wordings and the campus vectors have share 0 and nothing of the bank is asked at query time.
"full": with the packaged dictionary; "removed": with no entry; "regained": with the entries that `improve_loop` found, tested and kept.
What the loop may use: questions generated for the ten personas, with the articles that are known to answer them, the colloquial questions of hanbit dev (other families of regulations than test),
and the bank of wordings as the source of meanings. Half of the needs find improvements; of the other half the questions of hanbit dev decide. It never reads the packaged dictionary, and no question of hanbit test. The verdict is the colloquial questions of hanbit test. No language model.
Then: harmful patches are planted; and files are compared byte by byte after apply, reject and a kill (SIGKILL) in between.
"""
import argparse, logging, signal, subprocess, sys, tempfile, time
from functools import lru_cache
from pathlib import Path

import numpy as np

from rag_quality.knowledge import CampusSearch
from rag_quality.colloquial import ColloquialTransformer
from rag_quality.core import bundle_path
from rag_quality.data import bundled
from rag_quality.query_expansion.fusion import RegulationEvidence
from rag_quality.retrieval.fusion import hybrid_of
from rag_quality.metrics import Scores, evaluate
from rag_quality.retrieval.fusion import MorphemeNeighbours
from rag_quality.persona.improve import ImprovementApplier, difference, improve_loop, run_of
from rag_quality.persona.patches import Backups, digest
from rag_quality.persona.queries import QueryGenerator
from rag_quality.persona.personas import Intent3, PersonaQuery
from rag_quality.persona.suggestions import Suggestion, config_file
from rag_quality.retrieval import BM25Index, VectorStore
from rag_quality.experiment.steps import System, campus_step, colloquial_step, neighbour_step
from rag_quality.knowledge.synonyms import Synonyms
from rag_quality.weights import HybridWeightOptimizer

import kept

SHARE = .6      # of the dictionary's words in the search
EMPTY = '{"version": "1.0.0", "prior": 2.0, "entries": []}\n'

class ByDictionary(CampusSearch):
    "The campus search with the dictionary alone: without a word in it, the search as it was."
    def trust(self, query, suggestion): return float(np.clip((.5 - self.coverage_of(query))/.2, 0, 1)) if self.synonyms.lookup(query) else 0.

class Build:
    "make_system: the shared parts once, what a folder of configuration says each time."
    def __init__(self, passages):
        self.passages, self.by = passages, {p.doc_id: p for p in passages}; self.words = BM25Index(passages); self.coverage = lru_cache(maxsize=None)(self.words.coverage)
        self.vectors = VectorStore(passages, "kiwi"); self.steps = [colloquial_step(ColloquialTransformer()), neighbour_step(MorphemeNeighbours(passages))]
        self.known = CampusSearch(self.words, hybrid_of(self.words, self.vectors, weights_for=(.5, .5)), passages, synonyms=Synonyms({"entries": []}), coverage_of=self.coverage)
    def __call__(self, folder) -> System:
        weights = HybridWeightOptimizer(config=config_file("weights", folder), coverage_of=self.coverage)
        hybrid = hybrid_of(self.words, self.vectors, weights_for=weights, normalization=weights.normalization)
        campus = ByDictionary(self.words, hybrid, self.passages, store=self.known.store, rewriter=self.known.rewriter, synonyms=Synonyms(config_file("synonyms", folder)), coverage_of=self.coverage, shares=(.3, 0., 0., SHARE))
        return System("dictionary", [*self.steps, campus_step(campus, RegulationEvidence(campus, self.passages))], self.by)

def scores_of(system, part, register) -> Scores:
    qs = [q for q in part.judged if q.metadata["register"] == register]
    return evaluate({q.query_id: part.qrels[q.query_id] for q in qs}, run_of(system, {q.query_id: q.text for q in qs}), "nDCG@10", units={q.query_id: q.metadata["pair"] for q in qs})

def share_of(removed, full, now, *, seed=0, resamples=4000):
    "(share regained, low, high): the ratio of the two mean differences, its percentile bootstrap over needs."
    ids = list(full.per_query["nDCG@10"]); units = sorted({full.units[i] for i in ids}); at = {u: n for n, u in enumerate(units)}; lost, got = np.zeros(len(units)), np.zeros(len(units))
    for i in ids: a, b, c = (s.per_query["nDCG@10"][i] for s in (removed, full, now)); lost[at[full.units[i]]] += b - a; got[at[full.units[i]]] += c - a
    draws = np.random.default_rng(seed).integers(0, len(units), (resamples, len(units))); r = got[draws].sum(1)/lost[draws].sum(1)
    return got.sum()/lost.sum(), *np.percentile(r, [2.5, 97.5])

def dev_questions() -> list[PersonaQuery]:
    "The colloquial questions of hanbit dev, each with the formal wording of its need."
    part = bundled().split("dev"); formal = {q.metadata["pair"]: q.text for q in part.queries if q.metadata["register"] == "formal"}
    return [PersonaQuery(q.query_id, q.text, formal[q.metadata["pair"]], "dev", q.metadata["difficulty"], q.metadata["query_type"], Intent3("", "", ""), relevant=dict(part.qrels[q.query_id])) for q in part.judged if q.metadata["register"] == "colloquial"]

def told(name, m): print(f"  {name:34} {m.before:.3f} → {m.after:.3f}  {m.difference:+.3f} [{m.low:+.3f}, {m.high:+.3f}]  n = {m.n}", flush=True)

def planted():
    "Harmful suggestions: lay words led astray, weights reversed, every entry to one place, a broken entry."
    entry = lambda lay, formal, p=.95: {"op": "add", "path": "/entries/-", "value": {"lay": lay, "formal": formal, "p": p}}
    say = lambda i, kind, why, file, patch: Suggestion(i, kind, "query_analysis", why, file, tuple(patch))
    return [say("H1-synonym", "query_expansion", "규정의 말을 주차로 (휴학 → 주차)", "synonyms.json", [entry(w, "주차") for w in ("휴학", "쉬다", "등록금", "돈", "장학금", "기숙사", "졸업", "수업", "시험", "신청")]),
            say("H2-weights", "code_weight", "무게를 거꾸로", "weights.json", [{"op": "add", "path": "/profiles/tuned", "value": {"colloquial": [0., 1.], "written": [0., 1.], "formality": "register"}}]),
            say("H3-synonym", "query_expansion", "무엇이든 시행일로", "synonyms.json", [entry(w, "시행일") for w in ("성적", "등록금", "졸업", "교수", "장학금", "휴학", "기숙사", "강의", "시험", "연구비")]),
            say("H4-broken", "query_expansion", "꼴이 틀린 항목", "synonyms.json", [{"op": "add", "path": "/entries/-", "value": {"lay": "쉬다"}}])]

def files(folder): return {p.name: digest(p.read_bytes()) for p in Path(folder).iterdir()} if Path(folder).is_dir() else {}

VICTIM = "import sys, time; from rag_quality.persona.improve import ImprovementApplier; from rag_quality.persona.suggestions import Suggestion; a = ImprovementApplier(sys.argv[1], out=sys.argv[2]); s = [Suggestion('', 'synonym', 'query_analysis', '', n, ({'op': 'add', 'path': '/x%d' % i, 'value': i},)) for i in range(400) for n in ('synonyms.json', 'weights.json')]; print('go', flush=True); [a.apply(x) for x in s]; time.sleep(9)"

def rollbacks(times):
    "(back to the same bytes after apply, after reject, after a kill in between) of so many tries each."
    right = [0, 0, 0]; some = [s for s in planted() if s.id != "H4-broken"]
    for n in range(times):
        with tempfile.TemporaryDirectory() as d:
            folder = Path(d)/"data/config"; folder.mkdir(parents=True); (folder/"synonyms.json").write_text(EMPTY + " "*n); before = files(folder)
            a = ImprovementApplier(folder, out=Path(d)/"out"); a.keep(a.apply(*some[:n % 3 + 1])); a.rollback(); right[0] += files(folder) == before
            a.undo(a.apply(*some[n % 3:])); right[1] += files(folder) == before
            child = subprocess.Popen([sys.executable, "-c", VICTIM, str(folder), str(Path(d)/"out2")], stdout=subprocess.PIPE); child.stdout.readline(); time.sleep(.001 + .013*n)
            child.send_signal(signal.SIGKILL); child.wait(); child.stdout.close(); touched = files(folder) != before
            Backups(folder, Path(d)/"out2/backups/improve").recover(); right[2] += files(folder) == before; print(f"    죽인 뒤: {'고쳐진 채' if touched else '그대로'} → {'처음의 바이트' if files(folder) == before else '다름'}", flush=True) if n < 3 else None
    return right

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter); ap.add_argument("--queries", type=int, default=30); ap.add_argument("--seed", type=int, default=0); ap.add_argument("--slice", action="store_true"); args = ap.parse_args()
    logging.disable(logging.WARNING); start = time.perf_counter(); collection, test = bundled(), bundled().split("test"); test = test.some(6) if args.slice else test; make = Build(collection.passages); n = 3 if args.slice else args.queries
    queries = QueryGenerator(collection).generate_all(None, n, args.seed); print(f"지은 질문 {len(queries)}개 (답이 있는 것 {sum(q.answerable for q in queries)}), {time.perf_counter() - start:.0f}초", flush=True)
    with tempfile.TemporaryDirectory() as d:
        full_dir, folder, out = Path(d)/"full", Path(d)/"data/config", Path(d)/"data/output"
        for p in (full_dir, folder): p.mkdir(parents=True)
        (full_dir/"synonyms.json").write_bytes(bundle_path("config", "synonyms.json").read_bytes()); (folder/"synonyms.json").write_text(EMPTY); before = files(folder)
        full, removed = ({r: scores_of(make(p), test, r) for r in ("colloquial", "formal")} for p in (full_dir, folder))
        found = improve_loop(make, queries, collection, people=dev_questions()[::8 if args.slice else 1], config_dir=folder, out=out, seed=args.seed, extra=planted())
        print(f"찾는 질문 {found.n_train}, 정하는 질문 {found.n_held_out}, {time.perf_counter() - start:.0f}초"); told("정하는 질문 (dev의 구어)", found.difference); told("지키는 질문 (규정의 말)", found.guard)
        for s in found.suggestions: print(f"    {s.id:20} {s.status:9} {s.reason[:88]}  | 고침 {len(s.patch or ())}개")
        now = {r: scores_of(make(folder), test, r) for r in ("colloquial", "formal")}
        print("hanbit test (고를 때 보지 않음), nDCG@10"); told("잃은 것: 사전 있음 → 없음, 구어", difference(full["colloquial"], removed["colloquial"])); told("되찾은 것: 없음 → 한 바퀴 뒤, 구어", difference(removed["colloquial"], now["colloquial"]))
        told("문어", difference(removed["formal"], now["formal"])); share, low, high = share_of(removed["colloquial"], full["colloquial"], now["colloquial"])
        print(f"  되찾은 몫 {share:.2f} [{low:.2f}, {high:.2f}] (목표 0.5 이상): 항목 {len(Synonyms(folder/'synonyms.json').entries)}개, 함께 든 사전은 {len(Synonyms(full_dir/'synonyms.json').entries)}개")
        harmful = [s for s in found.suggestions if s.id[0] == "H"]; print(f"  심은 해로운 제안 {len(harmful)}개 가운데 물리친 것 {sum(s.status == 'rejected' for s in harmful)}개 (목표: 모두)")
        ImprovementApplier(folder, out=out).rollback(); print(f"  남긴 것까지 되돌린 뒤 처음의 바이트: {files(folder) == before}")
    times = 3 if args.slice else 20; right = rollbacks(times); print(f"  되돌리기 (바이트까지): 적용 뒤 {right[0]}/{times}, 물리친 뒤 {right[1]}/{times}, 도중에 죽인 뒤 {right[2]}/{times}; 모두 {time.perf_counter() - start:.0f}초")
    return int(tuple(right) != (times,)*3 or any(s.status != "rejected" for s in harmful))

if __name__ == "__main__": kept.run(main, split="dev, test", seed=0)
