"""A planted exception in each optional step: does the work end, is the step named, is the row counted?

usage: python benchmarks/walls.py [--slice]

Each step that the package puts behind its wall (read from its source: every name given to `attempt`, `Wall` and `failure_of`, and every `Step` of a search)
gets an exception in turn, and evaluate, ask, check, test and judge run over a few articles, queries and answers of hanbit. A step without a plant fails the run, so the list
below cannot rot. With RAG_QUALITY_STRICT=1 the same exceptions come through. `--slice`: one plant of each command.
"""
import argparse, ast, contextlib, io, json, logging, os, sys, tempfile
from importlib import import_module
from pathlib import Path

import rag_quality
from rag_quality.report.answers import check_answers
from rag_quality.answering import Assistant
from rag_quality.persona import run_session
from rag_quality.cli import main as cli
from rag_quality.experiment.components import COMPONENTS, OwnPipeline, Parts, search_steps
from rag_quality.data import Collection, bundled, save_collection
from rag_quality.experiment import pipeline, run_experiment
from rag_quality.judge import LLMJudge
from rag_quality.judge.batch import judge_many
from rag_quality.persona.report import failure_notes, read_session
from rag_quality.report import text_table
from rag_quality.judge.scorecard import OFFLINE_METRICS, score_rows
from rag_quality.semantic_eval import SemanticEvaluator
from rag_quality.experiment.steps import System
from rag_quality.claims.reader import Reader
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.faithfulness.claims import RULES, SOURCE_RULES

ARTICLES = ("HB-201:", "HB-202:", "HB-601:")
ON = frozenset(COMPONENTS)

# step -> (command, what raises); a command may have a variant behind a colon
PLANTS = {
    "typing": ("evaluate", "knowledge.typing:TypedWords.mend"),
    "colloquial": ("evaluate", "colloquial:ColloquialTransformer.transform"),
    "morphology": ("evaluate:ladder", "morphology:MorphologicalExpander.expand"),
    "neighbours": ("evaluate", "retrieval.fusion:MorphemeNeighbours.expand"),
    "campus": ("evaluate:ladder", "knowledge.bank:QueryRewriter.suggest"),
    "campus+regulation": ("evaluate", "knowledge.bank:QueryRewriter.suggest"),
    "hybrid": ("evaluate:ladder", "retrieval.fusion:HybridRetriever.search"),
    "BM25": ("evaluate:words", "retrieval:BM25Index.search"),
    "LLM": ("evaluate:llm", "experiment.components:expansion_texts"),
    "hyde": ("evaluate", "experiment.components:compose_article"),
    "reranker": ("evaluate", "experiment.components:rerank"),
    "corrective": ("ask:all", "grading:CorrectiveRetriever.retrieve"),
    "contextualize": ("ask", "answering:contextualize"),
    "needs_retrieval": ("ask", "answering:needs_retrieval"),
    "talk": ("ask", "answering:talk_answer"),
    "place": ("ask", "answering:answer_place"),
    "which": ("ask", "answering:which_regulation"),
    "asked_article": ("ask", "answering:named_articles"),
    "named": ("ask", "answering:answer_named"),
    "search": ("ask", "experiment.steps:System.search"),
    "reading": ("ask", "grading.context:KnowingScorer.order"),
    "defined": ("ask", "answering:answer_defined"),
    "relevance": ("ask", "grading.context:KnowingScorer.score_context"),
    "terms": ("ask", "answering:with_terms"),
    "answer": ("ask", "answering:generate_answer_with_validation_sync"),
    "answerer": ("ask", "answering.extractive:ExtractiveAnswerer.answer"),
    "extractive": ("ask:broken", "answering.extractive:ExtractiveAnswerer.answer"),
    "finish": ("ask", "answering:finished"),
    "fallback": ("ask", "answering:fallback_answer"),
    "answering": ("ask", "answering:Assistant._asked"),
    "citations": ("ask:bare", "experiment.components:without_citations"),
    "filter": ("check", "faithfulness.filter:HallucinationFilter.filter"),
    "validator": ("check", "faithfulness:FaithfulnessValidator.validate_answer"),
    "validator:flags": ("check", "faithfulness:_flags"),
    "validator:split": ("check", "faithfulness:split_claims"),
    "validator:claims": ("check", "faithfulness:_checked"),
    "validator:claim": ("check", "faithfulness.claims:_one"),
    "validator:fault": ("check", "faithfulness.model:_fault"),
    "validator:references": ("check", "faithfulness.model:claim_references"),
    "validator:reader": ("check:reader", "faithfulness.model:read_claims"),
    "validator:entailment": ("check:models", "faithfulness:join_entailment"),
    "validator:llm": ("check:models", "faithfulness:join_llm"),
    **{f"validator:{name}": ("check", f"faithfulness.claims:{name}") for name in (
        "copied", "cite_signs", "number_signs", "name_signs", "mark_signs", "talk_signs", "state_signs", "bound_numbers", "bound_clauses", "elsewhere_signs", "fault_signs", "compare",
        "absent_contacts", "worked_out", "spelled_out", "told_by_cell", "same_limit", "other_row", "other_role", "other_limit", "other_sign", "other_institution", "other_title", "no_part",
        "dropped_signs")},
    "wording": ("test", "persona.queries:wording"),
    "llm_wording": ("test:llm", "persona.queries:ask_wordings"),
    "ask": ("test", "persona.session:ask"),
    "examine": ("test", "persona.session:Examiner._scored"),
    "fact_check": ("test", "persona.fact_check:key_claims"),
    "regenerate": ("test:refuted", "experiment.components:OwnPipeline.regenerate"),
    "score": ("test", "persona.quality:completeness"),
    "judge": ("judge", "judge:LLMJudge.rules"),
    "rules": ("score", "judge.rules:check_claims"),
    "checker": ("score", "faithfulness:FaithfulnessValidator.validate_answer"),
    "beside": ("score", "judge.rules:beside_reference"),
    **{f"{kind}_context_{name}": ("score:metrics", f"judge.scorecard:{of}_{name}") for kind, of in (("id_based", "id"), ("non_llm", "text")) for name in ("precision", "recall")},
    "semantic": ("semantic", "semantic_eval:PairSimilarity.__call__"),
    "reader": ("semantic:reader", "semantic_eval:_read_against"),
    "differences": ("semantic", "semantic_eval:compare"),
    "remembers": ("test", "persona.simulator:in_force"),
    "context_check": ("test", "persona.simulator:check_turn"),
    "root_cause": ("test:broken", "persona.simulator:root_cause"),
    "follow_up": ("test", "persona.simulator:candidates"),
    "dialogue": ("test", "persona.simulator:MultiTurnSimulator.run"),
    "contributions": ("test:components", "persona.session:_contributions"),
    "diagnosis": ("test", "persona.failures:FailureAnalyzer.diagnose"),
    "plan": ("test", "persona.improve:ImprovementApplier.plan"),
    "report.md": ("test", "persona.session:TestReportGenerator.markdown"),
    "dashboard.html": ("test", "persona.session:dashboard_html"),
}
SLICE = ("reranker", "search", "relevance", "validator:number_signs", "validator:claim", "validator", "context_check", "fact_check", "rules", "reading", "checker")

# names in the source that are no constant: what they stand for
COMPUTED = {"persona.fact_check": "what is given to `_ours`", "experiment.steps": "the names of steps and systems", "faithfulness": "the parts of the validator, see `part`", "answering.loop": "what is given to `note`", "core.wall": "the wall itself", "faithfulness.claims": "the signs and rules by their own names", "judge.scorecard": "the names of the metrics", "persona.session": "the pages of a session"}

def named_steps() -> tuple[set[str], set[str]]:
    "(the names that the source gives to what stands behind the wall, the modules that compute one)."
    found, computed = set(), set()
    for path in Path(rag_quality.__file__).parent.rglob("*.py"):
        module = ".".join(path.relative_to(Path(rag_quality.__file__).parent).with_suffix("").parts).removesuffix(".__init__")
        source = path.read_text(encoding="utf8")
        if "wall import" not in source: continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple) and "tries(of" in ast.unparse(node): found |= {f"validator:{x.elts[0].id.lstrip('_')}" for x in node.iter.elts}
            if not isinstance(node, ast.Call) or not node.args: continue
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
            first = node.args[0]
            if called == "tries" and isinstance(first, ast.Name) and first.id == "rule": found |= {f"validator:{n}" for n in RULES | SOURCE_RULES}; continue
            if called == "tries" and isinstance(first, ast.Name) and first.id != "of": found.add(f"validator:{first.id.lstrip('_')}"); continue
            if called == "part" and isinstance(first, ast.Constant) and module == "faithfulness": found.add(f"validator:{first.value}"); continue
            if called not in ("attempt", "failure_of", "wall", "note", "_ours"): continue
            if isinstance(first, ast.Constant) and isinstance(first.value, str): found.add(first.value)
            elif called in ("attempt", "failure_of"): computed.add(module)
            elif called == "wall" and module not in COMPUTED: computed.add(module)
    return found, computed

def search_names(parts:Parts, collection) -> set[str]:
    "The steps of the searches that the package makes."
    ladder = [s.name for system in pipeline(collection) for s in system.steps]
    with_llm = Parts(collection, llm=Silent())
    return {*ladder, *(s.name for s in search_steps(parts, ON)), *(s.name for s in search_steps(with_llm, ON)), *(s.name for s in search_steps(parts, ON - {"query_analysis", "hybrid"}))}

class Silent:
    "Stands for a language model that is never reached."
    model = "silent"
    def ask_json(self, *given, **named): raise AssertionError("not to be asked")
    def ask(self, *given, **named): raise AssertionError("not to be asked")

def broken(name:str):
    "A function by this name that reads past the end; its frame is no part of the package, so the place is that of the caller."
    space = {"__name__": "planted"}
    exec("def planted(*given, **named): return [][9]", space)
    space["planted"].__name__ = name
    return space["planted"]

@contextlib.contextmanager
def planted(target:str, instead=None):
    "The package with this function broken."
    module, _, path = target.partition(":"); *owners, name = path.split("."); owner = import_module(f"rag_quality.{module}")
    for o in owners: owner = getattr(owner, o)
    if not hasattr(owner, name): name = f"_{name}"                     # of its own folder only
    own, was = name in owner.__dict__, owner.__dict__.get(name)        # a method may be inherited
    if not own: getattr(owner, name)                                   # there it must be
    forget()
    setattr(owner, name, instead or broken(name))
    try: yield
    finally:
        if own: setattr(owner, name, was)
        else: delattr(owner, name)
        forget()

def forget() -> None:
    "Verdicts that are remembered would hide what is planted."
    for module, name in (("faithfulness.claims", "_looked_at"), ("faithfulness", "_checked"), ("faithfulness", "_flags")):
        if clear := getattr(getattr(import_module(f"rag_quality.{module}"), name), "cache_clear", None): clear()

class Bench:
    "The small runs; each gives (did it end as it should, the failures' steps, how many rows were counted, what a reader sees)."
    def __init__(self, folder:Path):
        self.folder, whole = folder, bundled()
        passages = [p for p in whole.passages if p.doc_id.startswith(ARTICLES)]; ids = {p.doc_id for p in passages}
        asked = [q for q in whole.judged if whole.qrels[q.query_id].keys() <= ids][:12]
        self.collection = Collection("작은 규정집", passages, asked, {q.query_id: whole.qrels[q.query_id] for q in asked})
        article = next(p for p in passages if "제" in p.title and len(p.text) > 80)
        said = ". ".join(x.strip() for x in article.text.replace("\n", " ").split(". ")[:2])
        self.article = article
        self.rows = [{"_id": "바름", "query": "무엇인가?", "answer": f"{said} [{article.title.split('(')[0]}].", "contexts": [article.full_text]},
                     {"_id": "틀림", "query": "무엇인가?", "answer": f"휴학원은 학생지원팀에 99일 안에 내지 않아도 됩니다 [{article.title.split('(')[0]}]. 총장은 모두 허가하여야 합니다.", "contexts": [article.full_text]}]
        self.questions = [asked[0].text, "안녕하세요", f"{article.title.split('(')[0]}가 뭐야?", "화성에 가는 우주선은 언제 떠나나요?", "휴학은 몇 학기까지 되나요?"]
        self.n = 0

    def place(self, name) -> Path: self.n += 1; return self.folder/f"{self.n}_{name}"

    def evaluate(self, kind):
        c = self.collection
        if kind == "ladder": systems = pipeline(c)
        else:
            parts = Parts(c, llm=Silent() if kind == "llm" else None)
            systems = [System("모두", search_steps(parts, ON if kind != "words" else frozenset()), parts.by_id)]
        found = run_experiment(c, systems, measures="nDCG@10")
        failures = [f for noted in found.failures.values() for fs in noted.values() for f in fs]
        return failures, sum(found.n_failed(s.name) for s in systems), text_table(found)

    def ask(self, kind):
        own = OwnPipeline(self.collection, ON - {"citations"} if kind == "bare" else ON if kind == "all" else ON - {"corrective", "reranker", "hyde"})
        if kind == "broken":
            class Theirs:
                def answer(self, query, context): raise RuntimeError("somebody else's")
            own.__dict__["assistant"] = Assistant(self.collection.passages, own.search, answerer=Theirs(), gate=False)
        history = [("user", "휴학은 어떻게 해?"), ("assistant", "휴학원을 냅니다.")]
        answers = [own.answer(q) for q in self.questions] + [own.answer("그럼 언제까지 내?", history)]
        assert all(a.content.strip() for a in answers)
        return [f for a in answers for f in a.failures], sum(bool(a.failures) for a in answers), json.dumps([a.to_dict() for a in answers], ensure_ascii=False)

    def check(self, kind):
        from rag_quality.report.answers import text_of
        from rag_quality.report.check_page import html_of
        said = lambda pairs: [{"entailment": .5, "neutral": .4, "contradiction": .1} for _ in pairs]
        validator = {"models": lambda: FaithfulnessValidator(said, Silent()), "reader": lambda: FaithfulnessValidator(Reader.__new__(Reader))}.get(kind)
        found = check_answers(self.rows, validator=validator() if validator else None)
        assert len(found) == len(self.rows) and "n_failed" in found.to_dict() and html_of(found)
        return [f for r in found.failed for f in r.failures], found.n_failed, text_of(found)

    def test(self, kind):
        target = self.place("세션"); more = {}
        if kind == "llm": more["llm"] = Silent()
        with contextlib.ExitStack() as stack:
            if kind == "broken": stack.enter_context(planted("persona.simulator:check_turn", lambda row: lost(row)))
            if kind == "refuted": stack.enter_context(planted("persona.fact_check:_checked", refuted()))
            if kind == "llm": stack.enter_context(planted("persona.quality:QualityEvaluator.judge", lambda *a: None))
            folder = run_session(self.collection, personas=["freshman"], queries=3, turns=3, seed=7, out=target, root=self.folder, components=kind == "components", **more)
        data = read_session(folder)
        steps = [f for f in data.failures]
        report = (folder/"report.md").read_text(encoding="utf8") + (folder/"dashboard.html").read_text(encoding="utf8")
        assert data.session["status"] == "finished" and data.session["counts"].get("failures", 0) == len(steps)
        return [Row(f) for f in steps], len({f["id"] for f in steps}), report

    def score(self, kind):
        ids = {"retrieved_context_ids": [self.article.doc_id], "reference_context_ids": [self.article.doc_id], "reference_contexts": [self.article.full_text]}
        rows = [r | ids for r in self.rows] if kind == "metrics" else self.rows
        card = score_rows(rows, metrics=list(OFFLINE_METRICS) if kind == "metrics" else None, checker=FaithfulnessValidator().validate_answer)
        return [f for r in card.rows for f in r.failures], card.n_failed, card.text()

    def semantic(self, kind):
        found = SemanticEvaluator(reader=Silent() if kind == "reader" else None).evaluate_many([r["answer"] for r in self.rows], [r["contexts"][0] for r in self.rows])
        failures = [f for r in found for f in r.failures]
        return failures, sum(bool(r.failures) for r in found), " ".join(map(str, failures))

    def judge(self, kind):
        done = judge_many(self.rows, LLMJudge(), out=self.place("판정.jsonl"), concurrency=1)
        errors = [j.error for j in done.judgments if j.error]
        return [Row({"step": "judge", "error_type": e.split(":")[0], "place": e}) for e in errors], done.n_failed, " ".join(errors) + " judge"

class Row:
    def __init__(self, f): self.step, self.error_type, self.place = f["step"], f["error_type"], f["place"]

def lost(row):
    "A check that finds every thread lost."
    from rag_quality.persona.context import ContextCheck
    fields = {"turn": len(row), "kept": False, "reason": "심은 끊김", "kind": "other"}
    return ContextCheck(**{k: v for k, v in fields.items() if k in ContextCheck.__dataclass_fields__})

def refuted():
    "A fact check that refutes every claim."
    from dataclasses import replace
    from rag_quality.persona import fact_check
    real = fact_check._checked
    def checked(*given, **named): found, at = real(*given, **named); return replace(found, passed=False, reason="심은 틀림"), at
    return checked

def tried(bench, step) -> tuple[bool, str]:
    "(is all as it should be, what is not or the place that was named)."
    command, target = PLANTS[step]; name, _, kind = command.partition(":")
    with planted(target):
        try: failures, n, told = getattr(bench, name)(kind)
        except Exception as e: return False, f"ended by {type(e).__name__}: {e}"
    mine = [f for f in failures if f.step == step]
    if not mine: return False, f"not named; seen: {sorted({f.step for f in failures})}"
    if mine[0].error_type != "IndexError" or mine[0].place in ("", "?"): return False, f"type or place: {mine[0].error_type} {mine[0].place}"
    if not n: return False, "no row counted"
    if step not in told.replace("\\_", "_"): return False, "the reader is not told"
    return True, f"{n} counted, {mine[0].place[:60]}"

def strictly(bench, step) -> tuple[bool, str]:
    "Does the same exception come through where there is no wall?"
    command, target = PLANTS[step]; name, _, kind = command.partition(":")
    os.environ["RAG_QUALITY_STRICT"] = "1"
    try:
        with planted(target): getattr(bench, name)(kind)
    except IndexError: return True, "comes through"
    except Exception as e: return False, f"{type(e).__name__} instead: {e}"
    finally: os.environ["RAG_QUALITY_STRICT"] = "0"
    return False, "strict, and nothing came through"

def commands(bench):
    "The four commands with a plant each: (what, right, why)."
    data, answers, questions = bench.place("자료"), bench.place("답.jsonl"), bench.place("질문.jsonl")
    save_collection(bench.collection, data)
    answers.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in bench.rows), encoding="utf8")
    questions.write_text("\n".join(json.dumps({"_id": str(i), "text": q}, ensure_ascii=False) for i, q in enumerate(bench.questions)), encoding="utf8")
    out = bench.place("나온 답.jsonl")
    for what, target, step, code, argv in (
            ("evaluate", "knowledge.bank:QueryRewriter.suggest", "campus+regulation", 1, ["evaluate", "--data", str(data), "--measures", "nDCG@10"]),
            ("ask", "grading.context:KnowingScorer.score_context", "relevance", 1, ["ask", "--data", str(data), "--queries", str(questions), "--out", str(out)]),
            ("check", "faithfulness.claims:_one", "validator:claim", 1, ["check", "--answers", str(answers)]),
            ("test", "persona.simulator:check_turn", "context_check", 0, ["test", "--data", str(data), "--personas", "freshman", "--queries", "3", "--turns", "3", "--fast", "--out", str(bench.place("시험")), "--root", str(bench.folder)])):
        said = io.StringIO()
        with planted(target), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said): got = cli(argv)
        text = said.getvalue() + (out.read_text(encoding="utf8") if what == "ask" and out.is_file() else "")
        right = got == code and step in text and "n_failed" in text and "Traceback" not in text
        yield f"rag-quality {what}", right, f"rc {got}, {step} named" if right else f"rc {got}: {text[-300:]}"
    said = io.StringIO()
    with planted("judge.scorecard:score_rows"), contextlib.redirect_stderr(said): got = cli(["judge", "--answers", str(answers)])
    line = said.getvalue().strip()
    yield "rag-quality judge (what no wall is for)", got == 3 and len(line.splitlines()) == 1 and "IndexError" in line and "RAG_QUALITY_STRICT" in line, f"rc {got}: {line[:120]}"

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0]); ap.add_argument("--slice", action="store_true"); ap.add_argument("--only", nargs="+", metavar="STEP")
    args = ap.parse_args()
    os.environ["RAG_QUALITY_STRICT"], os.environ["TQDM_DISABLE"] = "0", "1"
    logging.getLogger("rag_quality").setLevel(logging.CRITICAL)
    results = []
    def note(what, right, why): results.append(right); print(f"{'ok  ' if right else 'FAIL'} {what:<42} {why}", flush=True)
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)                                             # the last plan of a session is written below the working folder
        bench = Bench(Path(d)); found, computed = named_steps()
        known = found | search_names(Parts(bench.collection), bench.collection)
        known |= {*OFFLINE_METRICS, "report.md", "dashboard.html"}                              # named by what is computed, see COMPUTED
        ladder = {s.name for system in pipeline(bench.collection)[:4] for s in system.steps}    # BM25 in its variants: one plant for all
        missing, gone = known - PLANTS.keys() - ladder, PLANTS.keys() - known
        note("every optional step has a plant", not missing and not gone and computed <= COMPUTED.keys(), f"{len(PLANTS)} plants; without one: {sorted(missing)}; no longer there: {sorted(gone)}; computed: {sorted(computed - COMPUTED.keys())}")
        chosen = args.only or (SLICE if args.slice else PLANTS)
        clean = [(name, getattr(bench, name)("")) for name in ("evaluate", "ask", "check", "test", "score")]
        for name, (failures, n, _) in clean: note(f"{name}, nothing planted", not failures and not n, f"{n} counted")
        for step in chosen: note(f"{PLANTS[step][0]}: {step}", *tried(bench, step))
        for step in chosen if args.only or args.slice else PLANTS: note(f"strict, {PLANTS[step][0]}: {step}", *strictly(bench, step))
        if not args.only:
            for row in commands(bench): note(*row)
        os.chdir("/")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1

if __name__ == "__main__": sys.exit(main())
