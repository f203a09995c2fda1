# rag_quality: `make evaluate` and `make test` do everything from a bare clone (Python 3.11+ and make).
PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DATA   ?=
EXAMPLES ?= 20000
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup evaluate test lab notebooks readme bench fuzz coverage docs lock clean

help:  ## 이 목록
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(READY)  ## 가상 환경 .venv에 잠근 버전으로 설치
$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON)이(가) 없습니다. 다른 이름이면: make PYTHON=python3 ..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip setuptools wheel
	PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --editable '.[dev,cpu,font,dense,bge,llm,judge]'
	@touch $@

evaluate: $(READY)  ## 한국어 파이프라인의 단계마다 무엇을 얻는지: 함께 든 컬렉션, 또는 DATA=폴더
	$(BIN)/rag-quality evaluate $(if $(DATA),--data "$(DATA)",--by register)

test: $(READY)  ## CI가 하는 모든 검사
	$(BIN)/python tools/check.py

lab: $(READY)  ## JupyterLab에서 노트북 열기
	$(BIN)/jupyter lab nbs

notebooks: $(READY)  ## 노트북을 다시 실행해 저장된 출력을 오늘의 코드에 맞추고, 모듈과 README를 내보냄
	$(BIN)/nbdev_export
	$(BIN)/python tools/nb_run.py
	$(BIN)/nbdev_clean
	$(BIN)/nbdev_export
	$(BIN)/python tools/readme.py

readme: $(READY)  ## nbs/index.ipynb에서 README.md를 만듦
	$(BIN)/python tools/readme.py

bench: $(READY)  ## 목표마다 수치를 찍음 (DATA=자료 폴더: benchmarks/README.md)
	$(BIN)/python benchmarks/run_all.py $(if $(DATA),"$(DATA)")

studies: $(READY)  ## 긴 연구 노트북을 다시 실행 (RAG_QUALITY_SETS=자료 폴더)
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace nbs/studies/*.ipynb

fuzz: $(READY)  ## 함수마다 글 20,000개를 지어 넣어 봄 (EXAMPLES=개수; 몇 시간)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/fuzz.py --examples $(EXAMPLES) --seed $$(date +%j)

coverage: $(READY)  ## 노트북이 rag_quality의 몇 %를 실행하나
	$(BIN)/python tools/check.py coverage

docs: $(READY)  ## Quarto 사이트 (quarto가 PATH에 있을 때)
	@if command -v quarto >/dev/null; then $(BIN)/nbdev_docs; \
	else echo "quarto가 PATH에 없어 사이트를 만들지 않았습니다: https://quarto.org"; fi

lock: $(READY)  ## 지금 설치된 버전으로 constraints.txt를 다시 씀
	$(BIN)/python tools/lock.py

clean:  ## 가상 환경과 만든 것을 지움
	rm -rf $(VENV) build dist _docs _proc *.egg-info .coverage*
