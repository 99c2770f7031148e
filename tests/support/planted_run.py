"""A search that never took place, written into an archive as the program would have: for pages that show runs of any size and with anything in
them. The numbers are drawn, the records are whole."""

import hashlib
import json
import math
import random
import sqlite3

NOW = "2026-03-01T10:{:02d}:{:02d}.000Z"
STRATEGIES = ["explicit_vectors", "parallel_outer", "fuse_chain", "fuse_row_passes", "multiple_accumulators", "prefetch_ahead", "stream_stores",
              "reciprocal_multiply", "unroll_inner", "balance_rows"]
KNOBS = {"KW_PREFETCH": [128, 256, 512, 1024], "KW_UNROLL": [1, 2, 4, 8]}
FAILURES = [("wrong", "Only the last 1 rows of 96 are wrong."), ("compile_failed", "kernel.cpp:41: 'kw_fma' was not declared in this scope"),
            ("crashed", "It read 64 bytes past the end of input 'x'."), ("timed_out", "A call took more than 10 s."),
            ("imprecise", "The formula is right but was computed at about the precision of bf16.")]
EAGER, FLOPS, BYTES = 13.4e-3, 42e6, 83.9e6
# What a browser would run if any of it reached a page as markup.
SCRIPT = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def source(strategies, length=60):
    body = "\n".join(f"  // {name}\n  for (std::int64_t i = begin; i < end; ++i) acc{k} += x[i] * {k}.5f;" for k, name in enumerate(strategies))
    more = "\n".join(f"inline float helper_{k}(float v) {{ return v * {k}.0f + 0.5f; }}" for k in range(length // 3))
    return ('#include "problem.h"\n#ifndef KW_PREFETCH\n#define KW_PREFETCH 512  // floats ahead\n#endif\n#ifndef KW_UNROLL\n#define KW_UNROLL 2\n#endif\n'
            f'{more}\nextern "C" void kw_kernel(const float* x, const float* weight, float* out) {{\n#pragma omp parallel for\n{body}\n}}\n')


def tensor(name, shape, kind):
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    return {"name": name, "c_name": name, "dtype": "float32", "kind": kind, "shape": shape, "strides": strides, "span": math.prod(shape), "value": 0}


def problem(name):
    return {"name": name, "file": f"problems/{name}.py", "source_hash": hashlib.sha256(name.encode()).hexdigest(), "torch": "2.9.0",
            "inputs": [tensor("x", [8, 1024, 1280], "input")], "parameters": [tensor("weight", [1280], "parameter")],
            "outputs": [tensor("out", [8, 1024, 1280], "output")], "graph": None, "graph_error": "", "flops": FLOPS, "bytes": BYTES, "essential_bytes": BYTES,
            "sensitivity": {"other_input": 1000.0, "zeros": 1000.0, "constant": 1000.0, "telling": True, "note": ""}, "notes": []}


def machine():
    sizes = [(48e3, 210), (1e6, 120), (16e6, 74), (512e6, 46)]
    return {"id": "planted-machine", "cpu_model": "AMD EPYC", "cores": 2, "isas": ["sse2", "avx2", "fma"], "widest_isa": "avx2", "l1d_bytes": 48e3, "l2_bytes": 1e6,
            "l3_bytes": 32e6, "memory_bytes": 16e9, "peaks": [{"isa": isa, "threads": threads, "gflops": peak * threads} for isa, peak in (("sse2", 48.0), ("avx2", 98.0)) for threads in (1, 2)],
            "bandwidth": [{"pattern": "copy", "threads": threads, "working_set_bytes": size, "gbytes_per_second": rate * (threads if size < 1e8 else 1 + 0.2 * (threads - 1))}
                          for size, rate in sizes for threads in (1, 2)], "openmp_region_seconds": 2e-6, "measured_at": NOW.format(0, 0)}


def comparison(baseline, seconds, speedup, rng, pairs=24):
    ratios = [round(speedup * math.exp(rng.gauss(0, 0.05)), 4) for _ in range(pairs)]
    return {"baseline": baseline, "baseline_seconds": seconds, "candidate_seconds": seconds / speedup, "speedup": speedup,
            "interval": {"low": speedup * 0.95, "high": speedup * 1.05}, "pairs": pairs, "calls": pairs * 20, "ratios": ratios}


def individuals(count, rng, hostile, model):
    """An evolution: children of good parents, slowly better, one in eight failing."""
    made = []
    for index in range(count):
        good = sorted((each for each in made if each["verdict"] == "passed"), key=lambda each: -each["speedup"])[:12]
        is_seed = len(good) < 2 or index < 5
        parents = [] if is_seed else [rng.choice(good)["index"]]
        origin = "seed" if is_seed else rng.choice(["mutation", "mutation", "knobs", "knobs", "crossover"])
        if origin == "crossover":
            parents = sorted({parents[0], rng.choice(good)["index"]})
        mother = made[parents[0]] if parents else None
        chosen = set(mother["proposal"]["strategies"]) if mother else set(rng.sample(STRATEGIES, 3))
        knobs = dict(mother["proposal"]["knobs"]) if mother else {}
        if origin == "knobs":
            name = rng.choice(sorted(KNOBS))
            knobs[name] = str(rng.choice(KNOBS[name]))
        elif mother:
            chosen ^= {rng.choice(STRATEGIES)}
            chosen |= {rng.choice(STRATEGIES)}
        by_model = model and origin in ("mutation", "seed") and rng.random() < 0.3
        failed = rng.random() < 0.12 and index > 1
        verdict, diagnosis = rng.choice(FAILURES) if failed else ("passed", "")
        speedup = 0.0 if failed else min(5.2, max(0.4, (mother["speedup"] if mother else 2.6) * math.exp(rng.gauss(0.004, 0.09))))
        ids = sorted(chosen)
        if hostile:
            ids = [f"{SCRIPT}{k}" for k, _ in enumerate(ids)]
            diagnosis = diagnosis and SCRIPT
        seconds = EAGER / speedup if speedup else 0
        each = {"index": index,
                "proposal": {"origin": origin, "strategies": ids, "knobs": knobs, "parents": parents, "island": 0, "generation": index // 8, "effort": 1},
                "kernel": {"source": (SCRIPT if hostile else "") + source(ids, 60 + 40 * (index % 5)), "dsl": "cpp",
                           "knobs": [{"name": "KW_PREFETCH", "standard": 512, "values": KNOBS["KW_PREFETCH"]}, {"name": "KW_UNROLL", "standard": 2, "values": KNOBS["KW_UNROLL"]}],
                           "constraints": [], "claims": ids, "author": "local-model" if by_model else "playbook"},
                "strategies": [{"id": name, "presence": rng.choice(["present"] * 5 + ["unknown", "struck"]), "evidence": "vmovntps in the assembly"} for name in ids],
                "verdict": verdict, "diagnosis": diagnosis, "seconds": seconds, "speedup": speedup, "interval": {"low": speedup * 0.95, "high": speedup * 1.06},
                "share_of_ceiling": 1.65e-3 / seconds if seconds else 0, "assembly_hash": f"{index:064x}", "duplicate_of": -1,
                "findings": ["bandwidth-bound: 62% of the ceiling (levers: stream_stores, prefetch)"] if speedup else [], "spent_seconds": 2 + rng.random() * 3}
        if speedup:
            each["ratios"] = comparison("eager", EAGER, speedup, rng, 8)["ratios"]
        if by_model:
            each["proposal"].update(author="local-model", task="translate")
            each["prompts"] = [f"{index:064x}"]
            if failed:
                each["details"] = {"stage": "compare", "summary": diagnosis, "place": "out[95, 2..208]", "evidence": ["out[95, 2] is 1.07, should be -0.42"],
                                   "hint": "Look at the loop's last iterations.", "pattern": "tail"}
        made.append(each)
    return made


def launch(hostile):
    return {"kernel": SCRIPT if hostile else "kw_rows", "launches": 2, "grid": [1024, 1, 1], "block": [256, 1, 1], "shared_bytes": 4096, "registers": 40, "spill_bytes": 0,
            "seconds": 2e-5, "limiting": "memory", "share_of_speed_of_light": 0.8, "occupancy": 0.75, "occupancy_limiter": "registers", "waves": 1.2,
            "resources": [{"resource": "memory", "seconds": 1.6e-5, "share": 0.8}, {"resource": "fp32", "seconds": 4e-6, "share": 0.2}],
            "notes": ["the last wave is a fifth full"], "counters": {}}


def plant(kw, count=60, *, name="50_rms_norm", seed=7, hostile=False, model=False, state="done", search="evolve", dsl="", parts=(), part_of="", over_eager=0.0):
    """The id of the run; with a `dsl`, one in that language, for a GPU that is not here unless it is opencl; with `parts`, runs that searched its sub-problems. with `over_eager`,
    that speedup is what was confirmed. `kw` makes the archive where there is none."""
    kw("runs")
    rng = random.Random(seed)
    described, place = problem(SCRIPT if hostile else name), machine()
    made = individuals(count, rng, hostile, model)
    best = max((each for each in made if each["speedup"]), key=lambda each: each["speedup"], default=None)
    done = state == "done" and best is not None
    run = {"id": "", "options": {"search": search, "seed": seed, "seconds": 90.0, "evaluations": 0, "islands": 1, "precision": "float32", "threads": 2},
           "problem_file": described["file"], "problem_name": described["name"], "problem_hash": described["source_hash"], "torch_version": described["torch"],
           "machine_id": place["id"], "zone": "memory", "workload_class": "normalisation", "shape": "float32[8,1024,1280] float32[1280] float32[8,1024,1280]",
           "ledger_limit": 0, "lesson_limit": 0, "state": state, "ending": "the time is up" if done else "", "elapsed_seconds": sum(each["spent_seconds"] for each in made) + 14,
           "winner": best["index"] if done else -1, "confirmed": None, "profile": {"findings": [], "method": "assembly"}, "created_at": "", "updated_at": ""}
    if model:
        run["options"]["model"] = "local-model"
    if done:
        spent = run["elapsed_seconds"]
        run["stages"] = {"writing": spent * 0.04, "compiling": spent * 0.31, "reading": spent * 0.05, "verifying": spent * 0.12, "timing": spent * 0.33, "archiving": 0.2, "confirming": 9.5}
        seconds = best["seconds"]
        run["confirmed"] = {"comparisons": [comparison("eager", EAGER, over_eager or best["speedup"] * 0.98, rng), comparison("compile", 4.84e-3, 4.84e-3 / seconds, rng)], "seconds": seconds,
                            "prepare_seconds": 0, "prepare_bytes": 0, "gflops_per_second": FLOPS / seconds / 1e9, "gbytes_per_second": BYTES / seconds / 1e9,
                            "share_of_ceiling": best["share_of_ceiling"], "floor_seconds": 1.65e-3, "zone": "memory", "threads": 2, "notes": ["outputs of 30 timed calls were checked"]}
        run["profile"]["findings"] = [{"kind": "bandwidth_bound", "text": "bandwidth-bound: 62% of the ceiling", "weight": 0.8, "levers": ["stream_stores"]}]
    if part_of:
        run["options"]["part_of"] = part_of
    if parts:
        run["parts"] = [{"part": f"{k:064x}", "operations": SCRIPT if hostile else f"conv2d({k}) -> batch_norm -> relu", "places": k + 1, "share": 2 ** -(k + 1.0), "run": searched_in,
                         "speedup": 1.4 if searched_in else 0} for k, searched_in in enumerate(parts)]
    if dsl == "opencl":
        run["options"]["dsl"] = dsl
    elif dsl:
        run["options"].update(dsl=dsl, machine="a100")
        for each in made:
            each.pop("ratios", None)  # nothing was timed
        run.update(confirmed=None, reference="the plain kernel", reference_seconds=EAGER, ceilings={
            "gpu_name": "NVIDIA A100-SXM4-80GB", "memory_gbytes_per_second": 2039, "l2_gbytes_per_second": 7219.2, "peak_name": "fp32", "peak_gflops": 19500})
        if done:
            run["estimate"] = {"gpu": "a100", "gpu_name": "NVIDIA A100-SXM4-80GB", "seconds": best["seconds"], "limiting": "memory", "share_of_speed_of_light": 0.8,
                               "floor_seconds": 1e-3, "share_of_ceiling": 0.3, "zone": "memory", "launches": [launch(hostile)], "notes": []}
        done = False
    with sqlite3.connect(kw.home / "archive.db") as db:
        db.execute("INSERT OR IGNORE INTO problems VALUES (?, ?, ?, ?, ?, ?)", (described["source_hash"], described["torch"], described["name"], described["file"], json.dumps(described), NOW.format(0, 0)))
        db.execute("INSERT OR IGNORE INTO machines VALUES (?, ?, ?)", (place["id"], json.dumps(place), NOW.format(0, 0)))
        number = db.execute("INSERT INTO runs (problem_hash, torch_version, machine_id, record, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
                            (described["source_hash"], described["torch"], place["id"], json.dumps(run), NOW.format(0, 0), NOW.format(4, 0))).lastrowid
        add_individuals(db, number, made)
        if done:
            conclude(db, number, run, best, made, rng)
        for each in made:
            if "prompts" not in each:
                continue
            exchange = {"id": 0, "purpose": "translator", "provider": "local", "model": "local-model", "prompt_hash": each["prompts"][0],
                        "messages": [{"role": "system", "content": "You write kernels."}, {"role": "user", "content": SCRIPT if hostile else "Write one for this problem."}],
                        "answer": "```cpp\n" + each["kernel"]["source"] + "```", "finish": "stop", "error": "", "input_tokens": 1200, "output_tokens": 700, "seconds": 6.5, "usd": 0.0021,
                        "attempts": 1, "created_at": NOW.format(1, 0)}
            db.execute("INSERT INTO exchanges (run, purpose, record, created_at) VALUES (?, 'translator', ?, ?)", (number, json.dumps(exchange), NOW.format(1, 0)))
    return str(number)


def add_individuals(db, run, made):
    db.executemany("INSERT INTO individuals VALUES (?, ?, ?, ?, ?)", [(run, each["index"], each["verdict"], json.dumps(each), NOW.format(1, 0)) for each in made])


def conclude(db, number, run, best, made, rng):
    for name in best["proposal"]["strategies"] or STRATEGIES:
        for _ in range(rng.randrange(1, 9)):
            entry = {"strategy": name, "zone": "memory", "workload_class": "normalisation", "predicted": 1.3, "measured": math.exp(rng.gauss(0.1, 0.15)), "failed": rng.random() < 0.1,
                     "run": str(number), "individual": best["index"]}
            db.execute("INSERT INTO ledger (run, record) VALUES (?, ?)", (number, json.dumps(entry)))
    text = best["kernel"]["source"]
    verdict = {"verdict": "passed", "checks": [{"distribution": "scaled", "weights": "fresh", "seed": 5, "threads": 2, "passed": True, "outputs": [
        {"output": "out", "max_error": 1.08e-6, "max_error_eager": 9.2e-7, "rms_error": 1e-8, "rms_error_eager": 1e-8, "worst_of_tolerance": 0.05, "wrong_elements": 0, "elements": 10485760}]}] * 18,
        "notes": [], "sandbox": "bubblewrap", "precision": "float32", "repeat": "", "compile_seconds": 1, "run_seconds": 1, "compare_seconds": 1}
    versions = {"compiler": "g++ 12.2.0", "flags": "-O3 -march=native -fopenmp -ffile-prefix-map=/a/folder/that/nobody/has=/another/one", "torch": run["torch_version"], "evaluator": "1"}
    db.execute("INSERT INTO evaluations (key, problem_hash, machine_id, kernel_hash, kernel_source, kernel_file, dsl, knobs, precision, sandbox, threads, versions, verdict, verdict_record, timing, "
               "created_at, updated_at) VALUES (?, ?, ?, ?, ?, 'kernel.cpp', 'cpp', ?, 'float32', 'bubblewrap', 2, ?, 'passed', ?, ?, ?, ?)",
               (f"planted {number}", run["problem_hash"], run["machine_id"], hashlib.sha256(text.encode()).hexdigest(), text, json.dumps(best["proposal"]["knobs"], separators=(",", ":"), sort_keys=True),
                json.dumps(versions), json.dumps(verdict), json.dumps(run["confirmed"]), NOW.format(3, 0), NOW.format(3, 0)))
