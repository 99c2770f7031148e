// What the run as a whole says: the answer at the top, the ledger, failures, time and cost.

function answerView(run, isServed) {
  const record = run.run;
  const eager = run.comparison("eager");
  const compile = run.comparison("compile");
  const headline = eager ? [eager.speedup, eager.interval] : run.isEstimated && run.best && isTimed(run.best) ? [run.best.speedup, run.best.interval] : null;
  const unconfirmed = !headline && run.best && isTimed(run.best);
  const other = run.confirmed ? run.confirmed.comparisons.find((each) => each !== eager && each !== compile) : null;
  return h("section", { class: "answer" },
    h("div", { class: "title" }, h("h1", {}, record.problem_name), run.confirmed ? h("p", { class: `standing ${record.standing.standing}` }, record.standing.words) : null, h("p", {}, [record.workload_class, `${record.zone} zone`, record.shape].filter(Boolean).join(" · "))),
    h("div", { class: "result" },
      headline ? h("div", { class: `headline ${!run.isEstimated && headline[1].high < 1 ? "slower" : ""}` }, h("b", {}, times(headline[0])), h("span", {}, run.isEstimated ? `over ${run.reference}` : speedWords(headline[1]), h("br"),
        h("em", {}, run.isEstimated ? "an estimate: nothing was timed" : `${range(headline[1].low, headline[1].high)}, 95%`)))
        : unconfirmed ? h("div", { class: "headline none" }, h("b", {}, record.under_way ? "searching" : "not confirmed"), h("span", {}, "a kernel passed the search's brief checks"))
        : h("div", { class: "headline none" }, h("b", {}, record.under_way ? "searching" : "no kernel"), h("span", {}, record.under_way ? "nothing has passed yet" : "has passed")),
      compile ? h("div", { class: "headline second" }, h("b", {}, times(compile.speedup)), h("span", {}, "against torch.compile", h("br"), h("em", {}, `${range(compile.interval.low, compile.interval.high)}, 95%`))) : null,
      other ? h("div", { class: "headline second" }, h("b", {}, times(other.speedup)), h("span", {}, `against ${other.baseline}`)) : null,
      headline || unconfirmed ? callBars(run) : null),
    answerFacts(run, isServed), commandsView(run));
}

// A win is an interval above 1.
const speedWords = ({ low, high }) => (low > 1 ? "faster than PyTorch eager" : high < 1 ? "the speed of PyTorch eager: slower" : "the speed of PyTorch eager: no clear difference");

// How long a call takes, side by side, with the floor that the roofline sets.
function callBars(run) {
  const floor = run.roofline ? run.roofline.floor_seconds : run.run.estimate && run.run.estimate.floor_seconds;
  const rows = [[run.referenceInShort, run.baselineSeconds("eager"), ""], ["torch.compile", run.baselineSeconds("compile"), ""],
    [run.run.winner >= 0 ? "this kernel" : "best so far", run.confirmed ? run.confirmed.seconds : run.best.seconds, "winner"],
    ["the ceiling", floor || 0, "floor"]].filter(([, seconds]) => seconds > 0);
  const most = Math.max(...rows.map(([, seconds]) => seconds));
  return h("div", { class: "calls" }, rows.map(([name, seconds, kind]) => {
    const bar = h("i", {});
    bar.style.width = `${Math.max(0.5, (100 * seconds) / most)}%`;
    return h("div", { class: kind }, h("span", {}, name), h("span", { class: "bar", "aria-hidden": "true" }, bar), h("span", {}, secondsText(seconds)));
  }));
}

// What the winner launches on a GPU that is not here, and what limits each launch, by estimates.
const kResources = { issue: "instruction issue", l1: "L1", l2: "L2", fp32: "fp32 units", fp64: "fp64 units", fp16: "fp16 units", integer: "integer units" };
function launchesPanel(run) {
  const { estimate } = run.run;
  if (!estimate) return panel("Launches", "of the winner, by estimates", h("p", { class: "empty" }, "the winner has not been confirmed yet"));
  const shape = (each) => (each || []).join("×");
  return panel("Launches", `of the winner on ${estimate.gpu_name}, by estimates`, h("div", { class: "launches" }, estimate.launches.map((each) => [
    h("p", {}, h("code", {}, each.kernel), each.launches > 1 ? `, ${each.launches} times` : ""),
    facts([["a call", `${secondsText(each.seconds)}, limited by ${each.limiting}`], ["grid, block", `${shape(each.grid)}, ${shape(each.block)}; ${each.waves.toPrecision(2)} waves`],
      ["occupancy", `${percent(each.occupancy)}${each.occupancy_limiter ? `, by ${each.occupancy_limiter}` : ""}`],
      ["resources", each.resources.slice(0, 5).map((part) => `${kResources[part.resource] || part.resource} ${percent(part.share)}`).join(", ")], ["notes", each.notes.join("; ")]])])));
}

// Of a problem of many layers: what it was split into, the longest first. Each was searched in a run of its own.
function partsPanel(run, isServed) {
  const parts = run.run.parts || [];
  if (!parts.length) return null;
  const places = parts.reduce((sum, each) => sum + each.places, 0);
  const most = Math.max(...parts.map((each) => each.share));
  const where = (id) => (id ? (isServed ? h("a", { href: `/runs/${id}` }, `run ${id}`) : `run ${id}`) : h("span", { class: "soft" }, "not searched"));
  const row = (each) => h("tr", {}, h("td", { class: "share" }, meter(each.share / most), percent(each.share)), h("td", {}, each.places), h("td", { class: "operations" }, each.operations),
    h("td", {}, each.speedup ? times(each.speedup) : "–"), h("td", {}, where(each.run)));
  const head = h("thead", {}, h("tr", {}, ["of the time", "places", "operations", "over eager", "searched in"].map((title) => h("th", {}, title))));
  const table = (rows) => h("div", { class: "wide" }, h("table", { class: "parts" }, head.cloneNode(true), h("tbody", {}, rows.map(row))));
  const shown = parts.length > kMostParts + 2 ? kMostParts : parts.length;
  const rest = parts.slice(shown);
  return panel("Sub-problems", `${plural(places, "place")}, ${parts.length} of them distinct: equal ones are one function, called at each place`, table(parts.slice(0, shown)),
    rest.length ? h("details", {}, h("summary", {}, `${rest.length} more, ${percent(rest.reduce((sum, each) => sum + each.share, 0))} of the time`), table(rest)) : null,
    h("p", { class: "soft" }, "Shares are by the roofline; a sub-problem's speedup is a brief timing of its own search, not confirmed. Only the whole is verified and confirmed."));
}
const kMostParts = 10;

function answerFacts(run, isServed) {
  const { run: record, machine, evaluation, confirmed } = run;
  const share = confirmed ? confirmed.share_of_ceiling : run.best ? run.best.share_of_ceiling : null;
  const worst = evaluation && evaluation.worst;
  return facts([
    ["verdict", evaluation ? [h("span", { class: `badge ${evaluation.verdict === "passed" ? "passed" : "failed"}` }, evaluation.verdict), ` ${evaluation.checks_passed} of ${evaluation.checks} checks, sandbox ${evaluation.sandbox}`] : record.estimate ? "passed on a virtual GPU, with inputs that nothing had seen" : run.best ? "passed the search's brief checks; not yet confirmed" : null],
    ["error", worst ? `${worst.max_error.toExponential(1)}, eager's own ${worst.max_error_eager.toExponential(1)}` : null],
    ["precision", record.options.precision],
    ["ceiling", share ? `${percent(share)} of the roofline (${record.zone})` : null],
    ["rate", confirmed ? [confirmed.gflops_per_second ? `${rateText(confirmed.gflops_per_second, "FLOP/s")}, ` : "", rateText(confirmed.gbytes_per_second, "B/s")] : null],
    ["prepare", confirmed && confirmed.prepare_seconds ? `${secondsText(confirmed.prepare_seconds)} once, ${bytesText(confirmed.prepare_bytes)}` : null],
    ["memory", confirmed && confirmed.memory_bytes ? `${bytesText(confirmed.memory_bytes)} for outputs and scratch${confirmed.eager_bytes ? `; eager ${bytesText(confirmed.eager_bytes)}` : ""}` : null],
    ["estimate", record.estimate ? `limited by ${record.estimate.limiting}; its busiest unit works at ${percent(record.estimate.share_of_speed_of_light)} of the published rate` : null],
    ["language", languageText(run)],
    ["part of", record.options.part_of ? (isServed ? h("a", { href: `/runs/${record.options.part_of}` }, `run ${record.options.part_of}`) : `run ${record.options.part_of}`) : null],
    ["machine", run.isEstimated ? "a virtual GPU: run and counted, not timed" : record.options.timed_on ? record.options.timed_on : machine ? `${machine.cpu_model}, ${plural(confirmed ? confirmed.threads : record.options.threads || machine.cores, "thread")}` : null],
    ["versions", [`Kernelwright ${run.version}, PyTorch ${record.torch_version}`, evaluation ? `, ${evaluation.compiler}` : ""]],
    ["flags", evaluation ? h("code", {}, ...evaluation.flags.split(" ").flatMap((flag) => [h("span", { class: "whole" }, flag), " "])) : null],
    ["search", `${record.options.search}, seed ${record.options.seed}${record.options.model ? `, with ${record.options.model}` : ""}`],
    ["state", [stateBadge(record), ` ${endingText(run)} in ${durationText(record.elapsed_seconds)}`]],
    ["when", `${whenText(record.created_at)} UTC`],
  ]);
}

const kLanguages = { cpp: "C++", "cuda-c": "CUDA C++", cute: "CUDA C++ with CuTe", triton: "Triton", tilelang: "TileLang", opencl: "OpenCL C" };
const languageName = (dsl) => kLanguages[dsl || "cpp"] || dsl;

function languageText(run) {
  const { estimate, ceilings, options } = run.run;
  const gpu = estimate ? estimate.gpu_name : ceilings ? ceilings.gpu_name : options.machine || "a GPU";
  return run.isEstimated ? `${languageName(options.dsl)}, for ${gpu}` : languageName(options.dsl);
}

function endingText(run) {
  const { ending } = run.run;
  return /\bevaluations? w/.test(ending) ? ending : `${ending ? `${ending}, ` : ""}${plural(run.kernels.length, "evaluation")}`;
}

function stateBadge(record) {
  const state = record.under_way ? "running" : record.state === "running" ? "interrupted" : record.state;
  return h("span", { class: `badge state-${state}` }, state);
}

function commandsView(run) {
  const command = (words, text) => h("div", {}, h("span", {}, words), h("code", {}, text), copyButton(text));
  const { commands } = run;
  return h("div", { class: "commands" }, commands.kernel ? command("the kernel", commands.kernel) : null,
    commands.measure ? command("measure it again", commands.measure) : null, command("search again", commands.search));
}

// Predicted against measured, a line a strategy: the hollow mark promised, the full one is what comparisons gave.
function ledgerRows(run) {
  const rows = new Map();
  for (const entry of run.ledger) {
    if (!rows.has(entry.strategy)) rows.set(entry.strategy, { id: entry.strategy, predicted: entry.predicted, gains: [], failures: 0 });
    const row = rows.get(entry.strategy);
    if (entry.failed) ++row.failures;
    else row.gains.push(Math.log(entry.measured));
  }
  return [...rows.values()].map((row) => {
    const mean = row.gains.reduce((sum, gain) => sum + gain, 0) / Math.max(1, row.gains.length);
    return { ...row, measured: row.gains.length ? Math.exp(mean) : null };
  }).sort((a, b) => (b.measured || 0) - (a.measured || 0));
}

function ledgerPanel(run) {
  const rows = ledgerRows(run);
  if (!rows.length) return panel("Ledger", null, h("p", { class: "empty" }, run.run.under_way ? "it is written when the run ends" : "no strategy was compared with its absence"));
  const row = 24;
  const height = rows.length * row + 40;
  const made = drawing("ledger", `predicted and measured gains of ${rows.length} strategies`, height, (width) => {
    const names = clamp(width * 0.36, 110, 210);
    const all = rows.flatMap((each) => [each.predicted, each.measured || 1, ...each.gains.map(Math.exp)]);
    const [low, high] = [Math.min(0.8, ...all) / 1.05, Math.max(1.25, ...all) * 1.05];
    const X = logarithmic(low, high, names + 10, width - 44);
    // From 1 outwards, as many as have room.
    const few = [];
    for (const tick of [1, 2, 0.5, 1.5, 5, 0.2, 3, 0.7, 1.2, 0.8, 10, 0.1, 20, 50, 1.1, 0.9, 1.3, 0.6, 1.7])
      if (tick >= low && tick <= high && few.every((other) => Math.abs(X(tick) - X(other)) > 34)) few.push(tick);
    const svg = s("svg", { width, height }, s("g", { class: "grid" }, few.map((tick) => s("line", { class: tick === 1 ? "one" : "", x1: X(tick), x2: X(tick), y1: 8, y2: height - 30 }))),
      s("g", { class: "axes" }, few.map((tick) => s("text", { x: X(tick), y: height - 16, "text-anchor": "middle" }, `${tick}×`)),
        s("text", { class: "title", x: width - 44, y: height - 2, "text-anchor": "end" }, "times faster than without it")));
    rows.forEach((each, i) => {
      const y = 20 + i * row;
      const name = s("text", { class: "name", x: names, y: y + 4, "text-anchor": "end" }, shortened(each.id, names / 6.6), s("title", {}, run.strategyName(each.id)));
      svg.append(name, s("g", { class: "dots faint" }, each.gains.map((gain) => s("circle", { cx: X(Math.exp(gain)), cy: y, r: 2 }))),
        s("line", { class: "gap", x1: X(each.predicted), x2: X(each.measured || each.predicted), y1: y, y2: y }),
        s("circle", { class: "predicted", cx: X(each.predicted), cy: y, r: 4 }),
        each.measured ? s("circle", { class: "measured", cx: X(each.measured), cy: y, r: 4.5 }) : "",
        s("text", { class: "count", x: width - 38, y: y + 4 }, each.failures ? `${each.gains.length}, ${each.failures}✗` : each.gains.length));
    });
    return svg;
  });
  const key = h("p", { class: "key" }, h("span", { class: "predicted" }, "predicted"), h("span", { class: "measured" }, run.isEstimated ? "estimated, mean" : "measured, mean"), h("span", { class: "each" }, "each comparison; how many stands at the right"));
  const table = h("table", { class: "unseen" }, h("caption", {}, "predicted and measured gains"), h("tbody", {}, rows.map((each) =>
    h("tr", {}, h("th", {}, each.id), h("td", {}, times(each.predicted)), h("td", {}, each.measured ? times(each.measured) : "–")))));
  return panel("Ledger", "what each strategy promised and what it gave here", key, made.box, table);
}
const shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`);

function failuresPanel(run) {
  const byVerdict = new Map();
  for (const kernel of run.kernels) byVerdict.set(kernel.verdict, (byVerdict.get(kernel.verdict) || 0) + 1);
  const most = Math.max(1, ...byVerdict.values());
  const verdicts = [...byVerdict].sort((a, b) => (b[0] === "passed") - (a[0] === "passed") || b[1] - a[1]);
  const bars = h("div", { class: "bars" }, verdicts.map(([verdict, count]) => {
    const bar = h("i", {});
    bar.style.width = `${(100 * count) / most}%`;
    return h("div", { class: verdict === "passed" ? "passed" : "failed" }, h("span", {}, verdict.replaceAll("_", " ")), h("span", { class: "bar", "aria-hidden": "true" }, bar), h("span", {}, count));
  }));
  const groups = new Map();
  for (const kernel of run.kernels) {
    if (isPassed(kernel)) continue;
    const key = `${kernel.verdict}\n${firstLine(kernel.diagnosis)}`;
    groups.set(key, (groups.get(key) || []).concat(kernel));
  }
  const list = [...groups.values()].sort((a, b) => b.length - a.length).slice(0, 12);
  return panel("Verdicts", `${plural(run.kernels.length, "kernel")} tried`, bars,
    list.length ? h("ul", { class: "diagnoses" }, list.map((group) => h("li", {},
      h("button", { type: "button", class: "link", on: { click: () => run.select(group[0].index, "failures") } }, `kernel ${group[0].index}`),
      ` ${firstLine(group[0].diagnosis) || group[0].verdict}`, group.length > 1 ? h("span", { class: "soft" }, ` and ${group.length - 1} like it`) : null)))
      : h("p", { class: "soft" }, run.kernels.length ? "nothing failed" : ""));
}

const kStages = { writing: "writing kernels", compiling: "compiling", reading: "reading the code", verifying: "verifying", timing: "timing", archiving: "archiving", confirming: "confirming the winner" };

function costPanel(run) {
  const stages = Object.entries(run.run.stages || {});
  const sum = stages.reduce((all, [, seconds]) => all + seconds, 0);
  const rest = run.run.elapsed_seconds - sum;
  const known = stages.length > 0;
  const rows = known ? [...stages.map(([name, seconds]) => [kStages[name] || name, seconds]), ["the rest: describing, drawing inputs", rest]]
    : byOrigin(run);
  const shown = rows.filter(([, seconds]) => seconds >= 0.05).sort((a, b) => b[1] - a[1]);
  const most = Math.max(0.001, ...shown.map(([, seconds]) => seconds));
  const bars = h("div", { class: "bars time" }, shown.map(([name, seconds]) => {
    const bar = h("i", {});
    bar.style.width = `${(100 * seconds) / most}%`;
    return h("div", {}, h("span", {}, name), h("span", { class: "bar", "aria-hidden": "true" }, bar), h("span", {}, durationText(seconds)));
  }));
  return panel("Time and cost", `${durationText(run.run.elapsed_seconds)} in all${known ? "" : ", by the origin of the kernels"}`, bars, modelTable(run));
}

function byOrigin(run) {
  const spent = new Map();
  for (const kernel of run.kernels) spent.set(kernel.proposal.origin, (spent.get(kernel.proposal.origin) || 0) + kernel.spent_seconds);
  return [...spent];
}

function modelTable(run) {
  if (!run.exchanges.length) return h("p", { class: "soft" }, run.run.options.model ? "the model was not asked" : "no model took part: nothing was paid");
  const roles = new Map();
  for (const each of run.exchanges) {
    const role = roles.get(each.purpose) || { exchanges: 0, input: 0, output: 0, seconds: 0, usd: 0 };
    role.exchanges += 1;
    role.input += each.input_tokens;
    role.output += each.output_tokens;
    role.seconds += each.seconds;
    role.usd += each.usd;
    roles.set(each.purpose, role);
  }
  const titles = ["role", "asked", "tokens in", "out", "time", "cost"];
  return h("table", { class: "roles" }, h("thead", {}, h("tr", {}, titles.map((title) => h("th", {}, title)))),
    h("tbody", {}, [...roles].map(([name, role]) => h("tr", {}, h("th", {}, name), [role.exchanges, countText(role.input), countText(role.output), durationText(role.seconds),
      role.usd ? `$${role.usd.toFixed(3)}` : "–"].map((text) => h("td", {}, text))))));
}
