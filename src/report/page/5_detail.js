// One kernel: verdict and diagnosis, timing, strategies beside what the code shows, source, difference to its parent, and the exchange
// with the model that wrote it.

const kTabs = [["overview", "Overview"], ["source", "Source"], ["diff", "Diff to parent"], ["exchange", "Exchange"]];

class Detail {
  constructor(run) {
    this.run = run;
    this.tab = "overview";
    this.head = h("div", { class: "detail-head" });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "views of the kernel" });
    this.body = h("div", { class: "detail-body", role: "tabpanel", tabindex: "0" });
    this.box = h("div", { class: "detail", id: "kernel" }, this.head, this.tabs, this.body);
    this.tabs.addEventListener("keydown", (event) => this.key(event));
    run.onSelect(() => this.update());
    this.update();
  }

  get kernel() {
    return this.run.kernels[this.run.selected];
  }

  update() {
    const { kernel, run } = this;
    if (!kernel) {
      this.body.replaceChildren(h("p", { class: "empty" }, "no kernel has been tried yet"));
      return;
    }
    const parent = run.parentOf[kernel.index];
    this.head.replaceChildren(
      h("h3", {}, `Kernel ${kernel.index}`, kernel === run.best ? h("span", { class: "badge best" }, run.nameOfBest) : null,
        h("span", { class: `badge ${isPassed(kernel) ? "passed" : "failed"}` }, kernel.verdict.replaceAll("_", " "))),
      h("p", {}, `${kernel.proposal.origin}, generation ${kernel.proposal.generation}, by ${kernel.author}`,
        kernel.proposal.parents.length ? [", from ", kernel.proposal.parents.map((index, i) => [i ? " and " : "",
          h("button", { type: "button", class: "link", on: { click: () => run.select(index, "detail") } }, `kernel ${index}`)])] : null));
    const usable = kTabs.filter(([name]) => (name !== "diff" || parent) && (name !== "exchange" || run.exchangesOf(kernel).length));
    if (!usable.some(([name]) => name === this.tab)) this.tab = "overview";
    this.tabs.replaceChildren(...usable.map(([name, text]) => h("button", { type: "button", role: "tab", "data-tab": name, tabindex: name === this.tab ? "0" : "-1",
      "aria-selected": String(name === this.tab), on: { click: () => this.show(name) } }, text)));
    this.fill();
  }

  show(name) {
    this.tab = name;
    this.update();
    this.tabs.querySelector("[aria-selected=true]").focus();
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const names = [...this.tabs.children].map((each) => each.dataset.tab);
    this.show(names[(names.indexOf(this.tab) + step + names.length) % names.length]);
  }

  async fill() {
    const { kernel, run, tab } = this;
    const parent = run.parentOf[kernel.index];
    if (tab === "overview") {
      this.body.replaceChildren(...overview(run, kernel).flat());
      return;
    }
    const wanted = `${tab} ${kernel.index}`;
    this.wanted = wanted;
    if (this.shown !== wanted) this.body.replaceChildren(h("p", { class: "empty" }, "reading"));
    let content;
    try {
      const source = tab === "exchange" ? "" : withKnobs(await run.texts.source(kernel.index), kernel.proposal.knobs);
      if (tab === "source") content = source ? sourceView(source) : h("p", { class: "empty" }, "there is no source: the model wrote none");
      else if (tab === "diff") content = diffView(withKnobs(await run.texts.source(parent.index), parent.proposal.knobs), source, parent.index);
      else content = await exchangeView(run, kernel);
    } catch (error) {
      content = h("p", { class: "empty" }, `it could not be read: ${error.message}`);
    }
    // Another one may have been asked for meanwhile.
    if (this.wanted !== wanted || this.tab !== tab || this.kernel !== kernel) return;
    this.shown = wanted;
    this.body.replaceChildren(content);
  }
}

function overview(run, kernel) {
  const confirmed = kernel.index === run.run.winner ? run.confirmed : null;
  const parts = [];
  if (!isPassed(kernel)) parts.push(diagnosisView(kernel));
  if (isTimed(kernel)) {
    parts.push(h("div", { class: "numbers" },
      number(times(kernel.speedup), run.isEstimated ? `over ${run.reference}, an estimate` : `over eager, ${range(kernel.interval.low, kernel.interval.high)}${run.timingNote(kernel)}`),
      number(secondsText(kernel.seconds), run.isEstimated ? "a call, an estimate" : "a call"),
      number(percent(kernel.share_of_ceiling), "of the ceiling")));
    if (kernel.ratios && kernel.ratios.length > 1) parts.push(h("h4", {}, `A brief timing, ${plural(kernel.ratios.length, "pair")} of blocks${run.timingNote(kernel)}`), distribution({ ...kernel, name: "" }));
    if (confirmed)
      parts.push(h("h4", {}, "Confirmed with inputs that nothing had seen"), 
        confirmed.comparisons.map((each) => distribution({ ...each, name: `against ${baselineName(each.baseline)}: ${times(each.speedup)}` })));
  }
  const knobs = Object.entries({ ...kernel.knob_defaults, ...kernel.proposal.knobs });
  if (kernel.strategies.length)
    parts.push(h("h4", {}, "Strategies"), h("table", { class: "strategies" }, h("tbody", {}, kernel.strategies.map((each) => h("tr", { class: each.presence },
      h("td", { class: "presence" }, presenceMark(each.presence)), h("td", {}, h("b", {}, each.id), h("span", {}, run.strategyName(each.id)),
        each.evidence ? h("em", {}, each.evidence) : null))))));
  if (knobs.length)
    parts.push(h("h4", {}, "Knobs"), h("p", { class: "chips" }, knobs.map(([name, value]) =>
      h("span", { class: kernel.proposal.knobs[name] !== undefined ? "chip knob set" : "chip knob" }, `${name}=${value}`))));
  const findings = confirmed && run.run.profile.findings.length ? run.run.profile.findings.map((each) => each.text + (each.levers.length ? ` (levers: ${each.levers.join(", ")})` : "")) : kernel.findings;
  if (findings.length) parts.push(h("h4", {}, "What its profile says"), h("ul", {}, findings.map((text) => h("li", {}, text))));
  if (kernel.remarks) parts.push(h("h4", {}, "Remarks"), h("ul", {}, kernel.remarks.map((text) => h("li", {}, text))));
  if (kernel.faults) parts.push(h("h4", {}, "Faults of the model's answers"), h("p", {}, kernel.faults.join(", ")));
  parts.push(h("p", { class: "soft" }, `${durationText(kernel.spent_seconds)} were spent on it.`,
    kernel.duplicate_of >= 0 ? ` Its code is that of kernel ${kernel.duplicate_of}, whose timing counts for both.` : ""));
  return parts;
}

const number = (value, words) => h("div", {}, h("b", {}, value), h("span", {}, words));
const presenceMark = (presence) => h("span", { class: `mark-${presence}` }, { present: "✓ present", struck: "✗ struck", added: "+ added", unknown: "? unknown" }[presence] || presence);

function diagnosisView(kernel) {
  const details = kernel.details;
  if (!details) return h("div", { class: "diagnosis" }, h("p", {}, kernel.diagnosis || "no diagnosis was kept"));
  return h("div", { class: "diagnosis" }, h("p", {}, details.summary), facts([["stage", details.stage], ["where", details.place]]),
    details.evidence.length ? h("ul", {}, details.evidence.map((line) => h("li", {}, h("code", {}, line)))) : null,
    details.hint ? h("p", { class: "hint" }, details.hint) : null);
}

// Speedups within pairs as dots, with the interval and its centre. A pair that was disturbed may be hundreds of times off: what is far from the interval is
// an arrow at the edge, so that the interval can be read.
function distribution({ name, ratios = [], interval, speedup }) {
  const far = 2 * (interval.high - interval.low || 0.02 * speedup);
  const isFar = (ratio) => ratio < interval.low - far || ratio > interval.high + far;
  const beyond = ratios.filter(isFar);
  const all = ratios.filter((ratio) => !isFar(ratio)).concat([interval.low, interval.high]);
  const pad = (Math.max(...all) - Math.min(...all) || 1) * 0.06;
  const [least, most] = [Math.min(...all) - pad, Math.max(...all) + pad];
  const top = name ? 18 : 2;
  const height = top + 46;
  const words = `${name || times(speedup)}, ${range(interval.low, interval.high)}, ${plural(ratios.length, "pair")}${beyond.length ? `, ${beyond.length} of them far off` : ""}`;
  return drawing("distribution", words, height, (width) => {
    const X = linear(least, most, 16, width - 16);
    const ticks = roundTicks(least, most, clamp(width / 80, 3, 7)).filter((tick) => X(tick) > 12 && X(tick) < width - 12);
    const y = top + 14;
    return s("svg", { width, height }, s("g", { class: "grid" }, ticks.map((tick) => s("line", { x1: X(tick), x2: X(tick), y1: top, y2: top + 28 }))),
      s("g", { class: "axes" }, ticks.map((tick) => s("text", { x: X(tick), y: height - 3, "text-anchor": "middle" }, `${tickText(tick)}×`))),
      s("text", { class: "mark", x: 0, y: 12 }, name),
      s("rect", { class: "interval", x: X(interval.low), width: Math.max(1, X(interval.high) - X(interval.low)), y: y - 9, height: 18 }),
      s("g", { class: "dots" }, ratios.map((ratio, k) => {
        const at = y + ((k * 7) % 5) * 3 - 6;
        if (!isFar(ratio)) return s("circle", { cx: X(ratio), cy: at, r: 2.2 });
        return s("path", { class: "beyond", d: ratio < speedup ? `M8,${at - 3}l-6,3l6,3z` : `M${width - 8},${at - 3}l6,3l-6,3z` }, s("title", {}, times(ratio)));
      })),
      s("line", { class: "centre", x1: X(speedup), x2: X(speedup), y1: y - 11, y2: y + 11 }));
  }).box;
}

const kWords = /(\/\/[^\n]*|\/\*[^]*?\*\/)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(^[ \t]*#[^\n]*)|\b(alignas|auto|bool|break|case|char|class|const|constexpr|continue|default|double|do|else|enum|extern|false|float|for|if|inline|int|int32_t|int64_t|long|namespace|noexcept|nullptr|operator|restrict|return|short|signed|sizeof|static|static_cast|struct|switch|template|true|typedef|typename|uint32_t|uint64_t|unsigned|using|void|volatile|while|def|import|from|lambda|None|True|False|__global__|__shared__|__device__|__restrict__|__kernel|__global|__local|__constant|__private)\b|\b(\d[\w.]*(?:[eE][+-]?\d+)?)\b/gm;
const kKinds = [null, "comment", "string", "directive", "keyword", "number"];

// [kind, text] of a source, for colours; what is no C++ or Python is shown as it is.
function words(source) {
  const found = [];
  let done = 0;
  for (const match of source.matchAll(kWords)) {
    if (match.index > done) found.push([null, source.slice(done, match.index)]);
    found.push([kKinds[match.slice(1).findIndex((group) => group !== undefined) + 1], match[0]]);
    done = match.index + match[0].length;
  }
  found.push([null, source.slice(done)]);
  return found;
}

function sourceView(source) {
  const lines = source.replace(/\n$/, "").split("\n").length;
  const code = h("code", {}, words(source).map(([kind, text]) => (kind ? h("span", { class: kind }, text) : text)));
  const numbers = Array.from({ length: lines }, (_, i) => i + 1).join("\n");
  return h("div", { class: "source" }, h("pre", { class: "lines", "aria-hidden": "true" }, numbers), h("pre", {}, code), copyButton(source));
}

// Three lines around each change; longer stretches that are the same are folded.
function diffView(before, after, parent) {
  const lines = diffLines(before, after);
  const near = lines.map(() => false);
  lines.forEach(([kind], i) => {
    if (kind !== " ") for (let k = Math.max(0, i - 3); k <= Math.min(lines.length - 1, i + 3); ++k) near[k] = true;
  });
  const changed = (kind) => lines.filter((line) => line[0] === kind).length;
  if (!near.includes(true)) return h("p", { class: "empty" }, `the source is that of kernel ${parent}`);
  const rows = [];
  for (let i = 0; i < lines.length; ++i) {
    if (near[i]) {
      const [kind, text] = lines[i];
      rows.push(h("span", { class: { "+": "added", "-": "removed", " ": "same" }[kind] }, `${kind === "-" ? "−" : kind} ${text}\n`));
    } else if (i === 0 || near[i - 1]) {
      let end = i;
      while (end < lines.length && !near[end]) ++end;
      rows.push(h("span", { class: "folded" }, `  ${plural(end - i, "line")} the same\n`));
    }
  }
  return h("div", {}, h("p", { class: "soft" }, `${changed("+")} lines added, ${changed("-")} removed, from kernel ${parent}`), h("pre", { class: "diff" }, h("code", {}, rows)));
}

async function exchangeView(run, kernel) {
  const exchanges = run.exchangesOf(kernel);
  const texts = await Promise.all(exchanges.map((each) => run.texts.exchange(each.id)));
  return h("div", { class: "exchanges" }, exchanges.map((each, i) => h("details", { open: i === exchanges.length - 1 },
    h("summary", {}, h("b", {}, each.purpose), ` ${each.model}, ${each.input_tokens} tokens in, ${each.output_tokens} out, ${durationText(each.seconds)}${each.usd ? `, $${each.usd.toFixed(4)}` : ""}`),
    texts[i].messages.map((message) => [h("h4", {}, message.role), h("pre", { class: "said" }, message.content)]),
    h("h4", {}, "answer"), h("pre", { class: "said answer" }, texts[i].answer || each.error || "none"))));
}
