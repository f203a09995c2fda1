# rag_quality: `make evaluate` and `make test` do everything from a bare clone (Python 3.11 to 3.13 and make).
# Without make: README.md has the same steps as plain commands.
PYTHON ?=
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
EXTRAS := dev,cpu,font,hwp,pdf,dense,bge,llm,judge,serve
DATA   ?=
MODEL  ?= openai/gpt-4.1-mini
OUT    ?= data/output/llm_batch
EXAMPLES ?= 20000
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup evaluate test test-all changed results warm fuzz lab llm-batch notebooks times readme bench studies coverage docs lock clean

help:  ## 이 목록
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

# not compiled here: of 26,000 files of the extras a run imports a part, and compiles it as it does.
# pip is told to be quiet about its folders; what fails is still told
setup: $(READY)  ## 가상 환경 .venv에 잠근 버전으로 설치 (python3.11–3.13 가운데 있는 것, 또는 PYTHON=이름)
$(READY): pyproject.toml constraints.txt reader/pyproject.toml reader/rag_quality_reader/reader.json
	@python="$(PYTHON)"; [ -n "$$python" ] || python=$$(sh tools/python.sh) || exit 2; \
	echo "$$("$$python" --version) ($$python)"; "$$python" -m venv $(VENV)
	$(BIN)/pip install -qq --upgrade pip setuptools
	PYTHONWARNINGS=ignore $(BIN)/pip install -qq --no-compile --no-build-isolation --editable '.[$(EXTRAS)]' ./reader
	@touch $@

evaluate: $(READY)  ## 한국어 파이프라인의 단계마다 무엇을 얻는지: 함께 든 컬렉션, 또는 DATA=폴더
	$(BIN)/rag-quality evaluate $(if $(DATA),--data "$(DATA)",--by register)

test: $(READY)  ## 올릴 때마다 CI가 하는 검사 (10분쯤)
	$(BIN)/python tools/check.py

test-all: $(READY)  ## 밤마다 CI가 하는 검사: 커버리지, 벤치마크의 모든 조각, 긴 시험까지
	$(BIN)/python tools/check.py --night

changed: $(READY)  ## 바뀐 것이 닿는 노트북만 (BASE=견줄 커밋)
	$(BIN)/python tools/check.py --changed $(BASE)

results: $(READY)  ## 쪽에 적힌 수치(benchmarks/results)를 다시 잼: 둘씩, 긴 것부터 (DATA=자료 폴더면 바깥 자료까지; STALE=1이면 낡은 것만)
	$(BIN)/python benchmarks/run_all.py $(if $(DATA),"$(DATA)") $(if $(STALE),--stale)
	$(BIN)/python benchmarks/run_all.py --slice --keep
	$(BIN)/python tools/pictures.py

warm: $(READY)  ## 함께 든 은행을 읽은 결과를 data/cache에 (은행이나 Kiwi가 바뀌었을 때)
	$(BIN)/python tools/warm.py

fuzz: $(READY)  ## 아무 글이나 넣어 봄: 어떤 글에도 넘어지지 않나
	$(BIN)/python tools/fuzz.py --examples $(EXAMPLES)

lab: $(READY)  ## JupyterLab에서 노트북 열기
	@test -x $(BIN)/jupyter-lab || $(BIN)/pip install -qq --no-compile --no-build-isolation --editable '.[lab]'
	$(BIN)/jupyter lab nbs

notebooks: $(READY)  ## 노트북을 다시 실행해 저장된 출력을 오늘의 코드에 맞추고, 모듈과 README를 내보냄
	$(BIN)/nbdev_export
	$(BIN)/python tools/nb_run.py
	$(BIN)/nbdev_clean
	$(BIN)/nbdev_export
	$(BIN)/python tools/readme.py

times: $(READY)  ## 노트북마다 걸리는 시간을 다시 재어 tools/nb_times.json에 적음 (긴 것부터 돌리려고)
	$(BIN)/python tools/nb_run.py --imported --jobs 2 --times --cells

readme: $(READY)  ## nbs/index.ipynb에서 README.md를 만듦
	$(BIN)/python tools/readme.py

bench: $(READY)  ## 목표마다 수치를 찍음 (DATA=자료 폴더: benchmarks/README.md)
	$(BIN)/python benchmarks/run_all.py $(if $(DATA),"$(DATA)")

studies: $(READY)  ## 긴 연구 노트북을 다시 실행 (RAG_QUALITY_SETS=자료 폴더)
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace nbs/studies/*.ipynb

llm-batch: $(READY)  ## 모델의 모든 일을 배치 파일로, 값을 먼저; 답을 넣고 다시 부르면 표 (MODEL=이름, DATA=폴더, OUT=폴더)
	$(BIN)/python benchmarks/llm_batch.py "$(OUT)" --model "$(MODEL)" $(if $(DATA),--data "$(DATA)")

coverage: $(READY)  ## 노트북이 rag_quality의 몇 %를 실행하나
	$(BIN)/python tools/check.py coverage

docs: $(READY)  ## Quarto 사이트 (quarto가 PATH에 있을 때)
	@if command -v quarto >/dev/null; then $(BIN)/nbdev_docs; \
	else echo "quarto가 PATH에 없어 사이트를 만들지 않았습니다: https://quarto.org"; fi

lock: $(READY)  ## 지금 설치된 버전으로 constraints.txt를 다시 씀
	$(BIN)/python tools/lock.py

clean:  ## 가상 환경과 만든 것을 지움
	rm -rf $(VENV) build dist _docs _proc *.egg-info .coverage*
