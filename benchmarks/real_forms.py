"""Files that other tools write, made with these tools themselves and read by our importer: python benchmarks/real_forms.py

For each tool that is installed (ragas, datasets, langchain-core, deepeval, haystack-ai, llama-index-core): three answers are put into the tool's own
objects, saved by the tool's own function where it has one, and read back by `read_rows`; a file is right where every question, answer and list of
passages comes out as it went in. The passages alone, as the tool's documents ("documents: ..."), are read by `load_collection`. Retrievers and chains of
LangChain, LlamaIndex and Haystack, over our vectors of `mini()` and with or without our ids, are asked by `foreign_system` and must have the nDCG@10 of `VectorStore`. A tool that is not installed is told. None of them is a dependency of the package: the nightly job installs them.
"""
import contextlib, dataclasses, importlib, json, os, sys, tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rag_quality.core import RagQualityError
from rag_quality.data import load_collection, mini
from rag_quality.experiment.foreign import foreign_system
from rag_quality.judge.scorecard import read_rows
from rag_quality.metrics import evaluate
from rag_quality.retrieval import VectorStore

import kept

for name in ("RAGAS_DO_NOT_TRACK", "DEEPEVAL_TELEMETRY_OPT_OUT", "HAYSTACK_TELEMETRY_DISABLED"): os.environ[name] = "YES" if name.startswith("DEEP") else "true"
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

ROWS = [      # of a made-up house; a comma, a line break and quotes, as they break tables
    {"query": "관리비는 언제까지 내나요?", "answer": "매달 25일까지 냅니다.", "contexts": ["관리 규약 제3조(관리비)\n입주자는 매달 25일까지 관리비를 낸다.", "관리 규약 제4조(연체)\n늦으면 하루에 100분의 1을 더한다."]},
    {"query": "반려동물을 키워도 되나요?", "answer": "\"이웃의 동의\"가 있으면, 한 마리까지 됩니다.", "contexts": ["관리 규약 제9조(동물)\n이웃의 동의를 받아 한 마리까지 기를 수 있다."]},
    {"query": "이삿날 승강기 사용료는?", "answer": "5만원입니다.\n미리 냅니다.", "contexts": ["관리 규약 제12조(승강기)\n이사할 때에는 5만원을 미리 낸다."]}]

TEXTS = [t for r in ROWS for t in r["contexts"]]

def written(at, name, text): (at/name).write_text(text, encoding="utf8"); return at/name

def lines(at, name, values): return written(at, name, "".join(json.dumps(v, ensure_ascii=False) + "\n" for v in values))

def kept_documents(make, text, about):
    "The passages as documents of a tool, each told where it came from."
    return [make(**{text: t, about: {"source": f"규약 {n}.pdf"}}) for n, t in enumerate(TEXTS)]

def ragas(at):
    from ragas import EvaluationDataset
    made = EvaluationDataset.from_list([{"user_input": r["query"], "response": r["answer"], "retrieved_contexts": r["contexts"]} for r in ROWS])
    made.to_jsonl(str(at/"set.jsonl")); made.to_csv(str(at/"set.csv")); made.to_hf_dataset().save_to_disk(str(at/"folder"))
    yield from (("to_jsonl", at/"set.jsonl"), ("to_csv", at/"set.csv"), ("save_to_disk of to_hf_dataset", at/"folder"))

def datasets(at):
    from datasets import Dataset, DatasetDict
    made = Dataset.from_list([{"question": r["query"], "answer": r["answer"], "contexts": r["contexts"]} for r in ROWS])
    made.save_to_disk(str(at/"one")); DatasetDict({"train": made.select([0]), "test": made}).save_to_disk(str(at/"dict"))
    made.to_parquet(str(at/"set.parquet")); made.to_json(str(at/"set.jsonl"), force_ascii=False); made.to_csv(str(at/"set.csv"))
    yield from (("save_to_disk", at/"one"), ("DatasetDict.save_to_disk", at/"dict"), ("to_parquet", at/"set.parquet"), ("to_json", at/"set.jsonl"), ("to_csv", at/"set.csv"))

def langchain_core(at):
    from langchain_core.documents import Document
    from langchain_core.load import dumpd
    from langchain_core.messages import AIMessage, HumanMessage
    docs = lambda r: [Document(page_content=t, metadata={"source": "규약.pdf", "page": 1}) for t in r["contexts"]]
    yield "result of a retrieval chain", lines(at, "chain.jsonl", [{"input": r["query"], "context": [d.model_dump() for d in docs(r)], "answer": r["answer"]} for r in ROWS])
    yield "dumpd of a whole result", lines(at, "dumpd.jsonl", [dumpd({"question": r["query"], "source_documents": docs(r), "answer": r["answer"]}) for r in ROWS])
    yield "documents: dumpd", written(at, "dumpd.json", json.dumps([dumpd(d) for d in kept_documents(Document, "page_content", "metadata")]))
    yield "documents: model_dump", lines(at, "kept.jsonl", [d.model_dump() for d in kept_documents(Document, "page_content", "metadata")])
    yield "dumpd of messages", lines(at, "messages.jsonl", [dumpd({"messages": [HumanMessage(r["query"]), AIMessage(r["answer"])], "context": docs(r)}) for r in ROWS])

def deepeval(at):
    from deepeval.dataset import EvaluationDataset
    from deepeval.test_case import LLMTestCase
    cases = [LLMTestCase(input=r["query"], actual_output=r["answer"], retrieval_context=r["contexts"]) for r in ROWS]
    made = EvaluationDataset()
    for c in cases: made.add_test_case(c)
    for kind in ("json", "csv", "jsonl"):
        try:
            with contextlib.redirect_stdout(sys.stderr): made.save_as(file_type=kind, directory=str(at/kind), include_test_cases=True)
        except (TypeError, ValueError) as e: print(f"  deepeval has no save_as of {kind}: {str(e)[:60]}", file=sys.stderr); continue
        yield f"save_as {kind}", next((at/kind).iterdir())
    yield "model_dump of the cases", lines(at, "cases.jsonl", [c.model_dump(mode="json") for c in cases])

def haystack(at):
    from haystack import Document
    from haystack.dataclasses import ChatMessage, GeneratedAnswer
    docs = lambda r: [Document(content=t, meta={"file_path": "규약.pdf"}, score=.9) for t in r["contexts"]]
    yield "GeneratedAnswer.to_dict", lines(at, "answers.jsonl", [GeneratedAnswer(data=r["answer"], query=r["query"], documents=docs(r), meta={}).to_dict() for r in ROWS])
    yield "documents: to_dict", written(at, "kept.json", json.dumps([d.to_dict() for d in kept_documents(Document, "content", "meta")]))
    yield "pipeline result", lines(at, "pipeline.jsonl", [{"query": r["query"], "retriever": {"documents": [d.to_dict() for d in docs(r)]}, "llm": {"replies": [ChatMessage.from_assistant(r["answer"]).to_dict()]}} for r in ROWS])

def llama_index(at):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.base.response.schema import Response
    from llama_index.core.evaluation import EvaluationResult
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode
    from llama_index.core.storage.docstore import SimpleDocumentStore
    made = [(r, Response(response=r["answer"], source_nodes=[NodeWithScore(node=TextNode(text=t), score=.8) for t in r["contexts"]])) for r in ROWS]
    yield "Response, to_dict of the nodes", lines(at, "responses.jsonl", [{"query": r["query"], "response": a.response, "source_nodes": [n.to_dict() for n in a.source_nodes]} for r, a in made])
    yield "Response as a mapping", lines(at, "asdict.jsonl", [{"query_str": r["query"], **json.loads(json.dumps(dataclasses.asdict(a), default=lambda n: n.to_dict()))} for r, a in made])
    yield "Response beside its QueryBundle", lines(at, "bundle.jsonl", [{"query_bundle": QueryBundle(r["query"]).to_dict(), "response": a.response, "source_nodes": [n.model_dump(mode="json") for n in a.source_nodes]} for r, a in made])
    yield "EvaluationResult.model_dump", lines(at, "evaluated.jsonl", [EvaluationResult(query=r["query"], response=r["answer"], contexts=r["contexts"], passing=True, score=1.).model_dump(mode="json") for r in ROWS])
    yield "messages, model_dump", lines(at, "chat.jsonl", [{"messages": [ChatMessage(role="user", content=r["query"]).model_dump(mode="json"), ChatMessage(role="assistant", content=r["answer"]).model_dump(mode="json")], "source_nodes": [n.to_dict() for n in a.source_nodes]} for r, a in made])
    kept = kept_documents(Document, "text", "metadata")
    yield "documents: to_dict", written(at, "kept.json", json.dumps([d.to_dict() for d in kept]))
    for name, documents in {"docstore of documents": kept, "docstore of documents and their nodes": [*kept, *SentenceSplitter().get_nodes_from_documents(kept)]}.items():
        store = SimpleDocumentStore()
        store.add_documents(documents)
        store.persist(str(at/name/"docstore.json"))
        yield f"documents: persisted {name}", at/name

TOOLS = {"ragas": (ragas, "ragas"), "datasets": (datasets, "datasets"), "langchain-core": (langchain_core, "langchain_core"), "deepeval": (deepeval, "deepeval"), "haystack-ai": (haystack, "haystack"), "llama-index-core": (llama_index, "llama_index.core")}

def read(path):
    "[(question, answer, passages)] of a file, or why it could not be read."
    try: found = read_rows(path)
    except RagQualityError as e: return str(e)[:200]
    return [(r.item.query, r.item.answer, list(r.item.contexts)) for r in found.rows]

def texts(path):
    "The texts of the passages of a file of documents, or why it could not be read."
    try: return [p.text for p in load_collection(path).passages]
    except RagQualityError as e: return str(e)[:200]

def langchain_retrievers(store, passages, ids):
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
    from langchain_core.vectorstores import InMemoryVectorStore
    class Ours(Embeddings):
        def embed_documents(self, texts): return store.encoder.encode(texts).tolist()
        def embed_query(self, text): return store.encoder.encode([text])[0].tolist()
    made = InMemoryVectorStore(Ours())
    made.add_documents([Document(page_content=p.full_text, metadata={"doc_id": p.doc_id} if ids else {}) for p in passages])
    found = made.as_retriever(search_kwargs={"k": 10})
    yield from (("retriever", found), ("chain", RunnableLambda(str.strip) | found), ("parallel chain", RunnableParallel(context=found, question=RunnablePassthrough())))

def llama_retrievers(store, passages, ids):
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.schema import TextNode
    class Ours(BaseEmbedding):
        def _get_query_embedding(self, query): return store.encoder.encode([query])[0].tolist()
        def _get_text_embedding(self, text): return store.encoder.encode([text])[0].tolist()
        async def _aget_query_embedding(self, query): return self._get_query_embedding(query)
    index = VectorStoreIndex([TextNode(text=p.full_text, **({"id_": p.doc_id} if ids else {})) for p in passages], embed_model=Ours())
    yield from (("retriever", index.as_retriever(similarity_top_k=10)), ("query engine", index.as_query_engine(llm=MockLLM(), similarity_top_k=10)))

def haystack_retrievers(store, passages, ids):
    from haystack import Document, Pipeline, component
    from haystack.components.builders import PromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    @component
    class Ours:
        @component.output_types(embedding=list[float])
        def run(self, text: str): return {"embedding": store.encoder.encode([text])[0].tolist()}
    kept_there = InMemoryDocumentStore(embedding_similarity_function="dot_product")
    kept_there.write_documents([Document(content=p.full_text, embedding=v.tolist(), **({"id": p.doc_id} if ids else {})) for p, v in zip(passages, store.index.vectors)])
    def pipe(prompted):
        made = Pipeline()
        made.add_component("embed", Ours()); made.add_component("find", InMemoryEmbeddingRetriever(kept_there, top_k=10)); made.connect("embed.embedding", "find.query_embedding")
        if prompted: made.add_component("prompt", PromptBuilder("{{documents}} {{question}}", required_variables="*")); made.connect("find.documents", "prompt.documents")
        return made
    yield from (("pipeline", pipe(False)), ("pipeline that goes on to a prompt", pipe(True)))

RETRIEVERS = {"langchain-core": langchain_retrievers, "llama-index-core": llama_retrievers, "haystack-ai": haystack_retrievers}

def measured(absent):
    "{tool: its retrievers that score as ours do}, and those that do not."
    book, right, wrong = mini(), {}, []
    store = VectorStore(book.passages)
    def ndcg(run): return evaluate(book.qrels, run, "nDCG@10").mean("nDCG@10")
    ours = ndcg(store.search_many(book.queries, 10))
    for tool, make in RETRIEVERS.items():
        for ids in (True, False) if tool not in absent else ():
            for kind, retriever in make(store, book.passages, ids):
                name = f"{kind}{'' if ids else ', no ids'}"
                try: got = ndcg(foreign_system(retriever, book).run(book.queries, 10))
                except RagQualityError as e: got = str(e)
                if isinstance(got, float) and abs(got - ours) < 1e-4: right.setdefault(tool, []).append(name)
                else: wrong.append((tool, name, got))
    return ours, right, wrong

def main():
    right, wrong, absent = {}, [], []
    for tool, (make, module) in TOOLS.items():
        try: importlib.import_module(module)
        except ImportError: absent.append(tool); continue
        with tempfile.TemporaryDirectory() as d:
            for form, path in make(Path(d)):
                got, wanted = (texts(path), TEXTS) if form.startswith("documents: ") else (read(path), [(r["query"], r["answer"], r["contexts"]) for r in ROWS])
                if got == wanted: right.setdefault(tool, []).append(form)
                else: wrong.append((tool, form, got if isinstance(got, str) else next(((g, w) for g, w in zip(got, wanted) if g != w), f"{len(got)} rows")))
    for tool, forms in right.items(): print(f"{tool}: {len(forms)} forms read as they were written ({', '.join(forms)})")
    for tool, form, why in wrong: print(f"  -> {tool}, {form}: {str(why)[:400]}")
    print(f"forms read {sum(map(len, right.values()))}, not read {len(wrong)}; not installed: {', '.join(absent) or 'none'}")
    ours, asked, lost = measured(absent)
    for tool, kinds in asked.items(): print(f"{tool}: {len(kinds)} retrievers and chains have the nDCG@10 of ours, {ours:.3f} ({', '.join(kinds)})")
    for tool, kind, got in lost: print(f"  -> {tool}, {kind}: {str(got)[:400]}")
    print(f"retrievers measured {sum(map(len, asked.values()))}, not measured {len(lost)}")
    def which(tool):
        try: return version(tool)
        except PackageNotFoundError: return None
    kept.note(n=len(ROWS), split="made", modules=["rag_quality.data.shapes", "rag_quality.data.passages", "rag_quality.data.files", "rag_quality.experiment.foreign"], tools=right, retrievers=asked, versions={t: which(t) for t in right}, absent=absent)
    assert not wrong and not lost

if __name__ == "__main__": kept.run(main)
