// A run as the page sees it: kernels by index, who descends from whom, what changed on the way, and which one is selected.

const isPassed = (kernel) => kernel.verdict === "passed";
const isTimed = (kernel) => isPassed(kernel) && kernel.speedup > 0;
const realStrategies = (kernel) => kernel.strategies.filter((each) => each.presence !== "struck").map((each) => each.id);
const baselineName = (baseline) => (baseline === "compile" ? "torch.compile" : baseline === "eager" ? "PyTorch eager" : baseline);

class Run {
  constructor(data, texts) {
    this.texts = texts;
    this.listeners = [];
    this.selected = -1;
    this.kernels = [];
    this.take(data);
    this.selected = this.best ? this.best.index : this.kernels.length ? 0 : -1;
  }

  // What was read anew: the records as they are now, and kernels that have come since.
  take(data) {
    const kernels = this.kernels.concat(data.individuals.filter((each) => each.index >= this.kernels.length));
    Object.assign(this, data);
    this.kernels = kernels;
    this.showConfirmed();
    this.strategyRecords = Object.assign(this.strategyRecords || {}, data.strategies);
    this.byPrompt = new Map(this.exchanges.map((each) => [each.prompt_hash, each]));
    this.relate();
  }

  // One number for one kernel: of the winner what was confirmed, not what the search saw.
  showConfirmed() {
    const winner = this.kernels[this.run.winner];
    const eager = this.comparison("eager");
    if (winner && eager) Object.assign(winner, { speedup: eager.speedup, interval: eager.interval, seconds: this.confirmed.seconds, share_of_ceiling: this.confirmed.share_of_ceiling, ratios: [] });
    else if (winner && this.run.estimate && this.run.reference_seconds > 0) Object.assign(winner, { speedup: this.run.reference_seconds / this.run.estimate.seconds, seconds: this.run.estimate.seconds });
  }

  relate() {
    const timed = this.kernels.filter(isTimed);
    this.best = this.kernels[this.run.winner] || timed.reduce((best, each) => (!best || each.speedup > best.speedup ? each : best), null);
    // Of two parents the better one counts, as in the printed lineage; never a later kernel.
    this.parentOf = this.kernels.map((kernel) => {
      let parent = null;
      for (const index of kernel.proposal.parents) {
        const other = index < kernel.index ? this.kernels[index] : null;
        if (other && (!parent || other.speedup > parent.speedup)) parent = other;
      }
      return parent;
    });
    this.path = [];
    for (let kernel = this.best; kernel; kernel = this.parentOf[kernel.index]) this.path.unshift(kernel);
    this.onPath = new Set(this.path.map((each) => each.index));
  }

  get confirmed() {
    return this.run.confirmed;
  }
  // Of a run for a GPU that is not here every time is an estimate, and speedups are over a kernel of its own.
  get isEstimated() {
    return this.run.estimated;
  }
  // A kernel that PyTorch outruns, or may, is no winner.
  get nameOfBest() {
    if (this.run.winner < 0) return "best so far";
    return this.isEstimated || this.run.standing.standing === "faster" ? "winner" : "best kernel";
  }
  isConfirmed(kernel) {
    return kernel.index === this.run.winner && Boolean(this.confirmed || this.run.estimate);
  }
  timingNote(kernel) {
    return this.isEstimated || this.isConfirmed(kernel) ? "" : ", not confirmed";
  }
  get reference() {
    return this.isEstimated ? this.run.reference || "the plain kernel" : "PyTorch eager";
  }
  get referenceInShort() {
    return this.isEstimated ? "plain" : "eager";
  }
  comparison(baseline) {
    return this.confirmed ? this.confirmed.comparisons.find((each) => each.baseline === baseline) : undefined;
  }
  // Of a call of the baseline: as it was confirmed, else as the search saw it.
  baselineSeconds(baseline) {
    const confirmed = this.comparison(baseline);
    if (confirmed) return confirmed.baseline_seconds;
    if (baseline !== "eager") return 0;
    const seen = this.kernels.filter(isTimed).map((each) => each.seconds * each.speedup).sort((a, b) => a - b);
    return seen.length ? seen[Math.floor(seen.length / 2)] : 0;
  }
  // How many times faster than eager torch.compile is.
  get compileSpeedup() {
    const eager = this.baselineSeconds("eager");
    const compile = this.baselineSeconds("compile");
    return eager > 0 && compile > 0 ? eager / compile : 0;
  }

  // {gained, lost, knobs: [[name, from, to]]} from its parent; a first kernel has gained all that it does.
  changes(kernel) {
    const parent = this.parentOf[kernel.index];
    const now = realStrategies(kernel);
    const before = parent ? realStrategies(parent) : [];
    const value = (of, name) => of.proposal.knobs[name] ?? of.knob_defaults[name] ?? "default";
    const names = new Set(Object.keys(kernel.proposal.knobs).concat(parent ? Object.keys(parent.proposal.knobs) : []));
    const knobs = [];
    for (const name of [...names].sort()) {
      const from = parent ? value(parent, name) : (kernel.knob_defaults[name] ?? "default");
      if (from !== value(kernel, name)) knobs.push([name, from, value(kernel, name)]);
    }
    return { gained: now.filter((id) => !before.includes(id)), lost: before.filter((id) => !now.includes(id)), knobs };
  }
  strategyName(id) {
    return this.strategyRecords[id] ? this.strategyRecords[id].name : id;
  }
  exchangesOf(kernel) {
    return (kernel.prompts || []).map((hash) => this.byPrompt.get(hash)).filter(Boolean);
  }

  onSelect(listener) {
    this.listeners.push(listener);
  }
  select(index, from) {
    if (!this.kernels[index]) return;
    this.selected = index;
    for (const listener of this.listeners) listener(this.kernels[index], from);
    // A page that was opened as a file or sent by mail keeps its place, too.
    try {
      history.replaceState(null, "", `#kernel-${index}`);
    } catch { /* some frames forbid it */ }
  }
}

// The knobs' values stand in the source, as in the kernel that is handed over: macros, or in Python constants.
function withKnobs(source, knobs) {
  let guarded = "";
  return source.split("\n").map((line) => {
    const [first, second] = line.trim().split(/\s+/);
    const macro = first === "#define" && second === guarded ? knobs[second] : undefined;
    const constant = second === "=" ? knobs[first] : undefined;
    guarded = first === "#ifndef" ? second : "";
    return macro !== undefined ? `#define ${second} ${macro}` : constant !== undefined ? `${first} = ${constant}` : line;
  }).join("\n");
}

// Long texts of a report stand in the file and are read on the first click; a viewer is asked for each.
class FileTexts {
  async all() {
    this.read = this.read || JSON.parse(document.getElementById("texts").textContent);
    return this.read;
  }
  async source(index) {
    const all = await this.all();
    return all.sources[all.source_of[index]];
  }
  async exchange(id) {
    return (await this.all()).exchanges[id];
  }
}

class ServedTexts {
  constructor(run) {
    this.run = run;
    this.kept = new Map();
  }
  ask(path) {
    if (!this.kept.has(path)) {
      this.kept.set(path, askFor(`/api/runs/${this.run}/${path}`));
      this.kept.get(path).catch(() => this.kept.delete(path));
    }
    return this.kept.get(path);
  }
  async source(index) {
    return (await this.ask(`kernels/${index}`)).source;
  }
  exchange(id) {
    return this.ask(`exchanges/${id}`);
  }
}

async function askFor(path) {
  const answer = await fetch(path);
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error || `the viewer answered ${answer.status}`);
  return json;
}

// Lines that two texts have in common, by Myers' algorithm: a list of [kind, line], kind " ", "-" or "+".
function diffLines(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) ++start;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  const middle = myers(left, right);
  return [...a.slice(0, start).map((line) => [" ", line]), ...middle, ...a.slice(a.length - end).map((line) => [" ", line])];
}

const kMostDifferences = 1200;

function myers(a, b) {
  const steps = [];
  let ends = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, kMostDifferences); ++d) {
    steps.push(ends);
    const next = new Map(ends);
    for (let k = -d; k <= d; k += 2) {
      let x = goesDown(ends, k, d) ? ends.get(k + 1) : ends.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) ++x;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return readBack(a, b, steps);
    }
    ends = next;
  }
  return [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])];
}
const goesDown = (ends, k, d) => k === -d || (k !== d && (ends.get(k - 1) ?? -1) < (ends.get(k + 1) ?? -1));

function readBack(a, b, steps) {
  const lines = [];
  let x = a.length;
  let y = b.length;
  for (let d = steps.length - 1; d >= 0; --d) {
    const k = x - y;
    const from = goesDown(steps[d], k, d) ? k + 1 : k - 1;
    const fromX = d ? steps[d].get(from) : 0;
    const fromY = d ? fromX - from : 0;
    for (; x > fromX && y > fromY; --x, --y) lines.push([" ", a[x - 1]]);
    if (d && x === fromX) lines.push(["+", b[--y]]);
    else if (d) lines.push(["-", a[--x]]);
  }
  return lines.reverse();
}
