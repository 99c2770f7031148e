// The pages: one run, the list of runs, two runs side by side.

function runPage(run, isServed) {
  document.title = `${run.run.problem_name}, run ${run.run.id} - Kernelwright`;
  const top = h("div", {});
  // Runs for a GPU that were made before ceilings were kept have no roofline.
  const hasRoofline = !run.isEstimated || Boolean(run.roofline);
  const plots = hasRoofline ? [rooflinePlot(run), progressPlot(run)] : [progressPlot(run)];
  const lineage = new Lineage(run);
  const detail = new Detail(run);
  const below = h("div", { class: "columns three" });
  const winner = h("div", { class: "columns" });
  const update = () => {
    top.replaceChildren(answerView(run, isServed));
    for (const plot of plots) plot.redraw();
    winner.replaceChildren(...[partsPanel(run, isServed), run.isEstimated ? launchesPanel(run) : null].filter(Boolean));
    below.replaceChildren(ledgerPanel(run), failuresPanel(run), costPanel(run));
  };
  update();
  run.onSelect((kernel, from) => {
    // On a narrow page the detail stands below what was clicked.
    if ((from === "plot" || from === "failures") && innerWidth >= 900) return;
    if (from === "failures" || from === "detail") detail.box.scrollIntoView({ block: "nearest" });
  });
  if (!run.kernels.length && !run.run.under_way)
    return { page: h("main", {}, top, panel("Kernels", null, h("p", { class: "empty" }, "none was tried before the search ended"))), refresh: () => (run.kernels.length ? location.reload() : update()), bar: runBar(run, isServed) };
  const page = h("main", {}, top,
    h("div", { class: hasRoofline ? "columns two" : "columns" },
      hasRoofline ? panel("Roofline", run.isEstimated ? `estimates below the ceilings of the data sheet, ${run.run.ceilings.gpu_name}` : run.run.options.timed_on ? `where the kernels stand below the ceilings of ${run.run.options.timed_on}` : "where the kernels stand below this machine's ceilings",
        plots[0].box, plotKey(["kernel", "way to the best", "baseline"])) : null,
      panel("Progress", run.isEstimated ? "speedup of each kernel, in the order of the search" : "brief timings in the order of the search, not confirmed; the winner's is confirmed", plots.at(-1).box, plotKey(["kernel", "way to the best", "best so far", "did not pass"]))),
    h("section", { class: "panel split" }, h("header", {}, h("h2", {}, "Lineage"), h("p", {}, "what each kernel gained (+), lost (−) or turned on the way from its parent")),
      h("div", { class: "columns tree-and-detail" }, lineage.box, detail.box)),
    winner, below);
  const wanted = /^#kernel-(\d+)$/.exec(location.hash);
  if (wanted) run.select(Number(wanted[1]), "address");
  return { page, refresh: () => {
    update();
    lineage.update();
    if (run.selected < 0 && run.kernels.length) run.select(0, "first");
    else if (detail.tab === "overview") detail.update();
  }, bar: runBar(run, isServed) };
}

const runBar = (run, isServed) => topBar([...(isServed ? [["runs", "/"]] : []), [`run ${run.run.id}`, null]], stateBadge(run.run));

const plotKey = (names) => h("p", { class: "key", "aria-hidden": "true" }, names.map((name) => h("span", { class: `key-${name.split(" ")[0]}` }, name)));

function topBar(steps, ...more) {
  return h("nav", { class: "top", "aria-label": "where you are" }, h("b", {}, "Kernelwright"),
    steps.map(([text, to]) => [h("span", { class: "soft", "aria-hidden": "true" }, "/"), to ? h("a", { href: to }, text) : h("span", {}, text)]), more);
}

const kColumns = [["run", "id"], ["problem", "problem_name"], ["search", "search"], ["state", "state"], ["tried", "individuals"], ["vs eager", "speed"], ["vs compile", "compile"], ["ceiling", "share_of_ceiling"], ["time", "elapsed_seconds"], ["when", "created_at"]];

class RunList {
  constructor(runs) {
    this.picked = [];
    this.query = "";
    this.order = ["id", -1];
    this.search = h("input", { type: "search", placeholder: "search problem, class, zone, policy, model, state", "aria-label": "search the runs", on: { input: () => { this.query = this.search.value.toLowerCase(); this.draw(); } } });
    this.compare = h("a", { class: "button", role: "link", "aria-disabled": "true" }, "compare two");
    this.count = h("span", { class: "soft", "aria-live": "polite" });
    // Searches of sub-problems belong to the run that split its problem: they are many, and shown when asked for.
    this.withParts = h("input", { type: "checkbox", on: { change: () => this.draw() } });
    this.partsChoice = h("label", { class: "soft" }, this.withParts, " sub-problems");
    this.table = h("table", { class: "runs" });
    this.page = h("main", {}, h("section", { class: "panel" }, h("header", { class: "list-head" }, h("h1", {}, "Runs"), this.search, this.compare, this.partsChoice, this.count), h("div", { class: "wide" }, this.table)));
    this.take(runs);
  }

  take(runs) {
    this.runs = runs.map((run) => ({ ...run, id: Number(run.id), speed: run.confirmed_speedup ?? 0, text:
      [run.id, run.problem_name, run.problem_file, run.search, run.model, run.dsl, languageName(run.dsl), run.zone, run.workload_class, run.shape, run.precision, run.part_of ? `part of ${run.part_of}` : "", run.under_way ? "running" : run.state].join(" ").toLowerCase() }));
    this.draw();
  }

  draw() {
    const [key, way] = this.order;
    const value = (run) => (key === "compile" ? (run.compile ? run.compile.speedup : 0) : (run[key] ?? 0));
    const words = this.query.split(/\s+/).filter(Boolean);
    this.partsChoice.hidden = !this.runs.some((run) => run.part_of);
    const listed = this.withParts.checked ? this.runs : this.runs.filter((run) => !run.part_of);
    const shown = listed.filter((run) => words.every((word) => run.text.includes(word)))
      .sort((a, b) => way * (typeof value(a) === "string" ? String(value(a)).localeCompare(String(value(b))) : value(a) - value(b)) || b.id - a.id);
    const head = h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "unseen" }, "pick")), kColumns.map(([title, name]) => h("th", { "aria-sort": key === name ? (way > 0 ? "ascending" : "descending") : null, class: `col-${name}` },
      h("button", { type: "button", class: "link", on: { click: () => { this.order = [name, key === name ? -way : ["problem_name", "search", "state"].includes(name) ? 1 : -1]; this.draw(); } } }, title)))));
    this.table.replaceChildren(head, h("tbody", {}, shown.map((run) => this.row(run))));
    this.count.textContent = words.length ? `${shown.length} of ${plural(listed.length, "run")}` : plural(listed.length, "run");
    if (!this.runs.length) this.table.replaceChildren(h("tbody", {}, h("tr", {}, h("td", { class: "empty" }, "no runs yet: kernelwright optimize PROBLEM starts one"))));
    const ready = this.picked.length === 2;
    build(this.compare, { "aria-disabled": String(!ready) }, []);
    if (ready) this.compare.setAttribute("href", `/compare?a=${this.picked[0]}&b=${this.picked[1]}`);
    else this.compare.removeAttribute("href");
  }

  row(run) {
    const pick = h("input", { type: "checkbox", "aria-label": `pick run ${run.id} for comparison`, on: { change: () => {
      this.picked = pick.checked ? [...this.picked, run.id].slice(-2) : this.picked.filter((each) => each !== run.id);
      this.draw();
    } } });
    pick.checked = this.picked.includes(run.id);
    const won = run.standing === "faster";
    return h("tr", {}, h("td", {}, pick), h("td", { class: "col-id" }, h("a", { href: `/runs/${run.id}` }, run.id)),
      h("td", { class: "col-problem_name" }, h("a", { href: `/runs/${run.id}` }, run.problem_name), h("span", { class: "soft" }, ` ${run.part_of ? `part of run ${run.part_of}, ` : ""}${run.workload_class}, ${run.zone}`)),
      h("td", { class: "col-search" }, [run.search, run.dsl, run.model].filter(Boolean).join(", ")), h("td", { class: "col-state" }, stateBadge(run)),
      h("td", { class: "col-individuals" }, run.individuals), h("td", { class: `col-speed ${won ? "won" : ""}` }, run.speed ? times(run.speed) : run.passed ? h("span", { class: "soft" }, "not confirmed") : "–", run.standing === "slower" ? h("span", { class: "soft lost" }, " slower") : null, run.confirmed ? h("span", { class: "soft" }, ` ${range(run.confirmed.low, run.confirmed.high)}`) : run.estimated ? h("span", { class: "soft", title: "over a plain kernel; nothing was timed" }, " estimate") : null),
      h("td", { class: "col-compile" }, run.compile ? times(run.compile.speedup) : "–"), h("td", { class: "col-share_of_ceiling" }, percent(run.share_of_ceiling)),
      h("td", { class: "col-elapsed_seconds" }, durationText(run.elapsed_seconds)), h("td", { class: "col-created_at" }, whenText(run.created_at)));
  }
}

function comparePage(a, b) {
  document.title = `runs ${a.run.id} and ${b.run.id} - Kernelwright`;
  const runs = [a, b];
  const plot = drawing("progress", "best so far of both runs", (width) => clamp(width * 0.45, 280, 400), (width, height) =>
    drawProgress([{ run: a, name: `run ${a.run.id}` }, { run: b, name: `run ${b.run.id}` }], width, height)[0]);
  const rows = [
    ["problem", (run) => run.run.problem_name], ["shape", (run) => run.run.shape], ["search", (run) => `${run.run.options.search}, seed ${run.run.options.seed}`],
    ["model", (run) => run.run.options.model || "none"], ["language", (run) => languageText(run)], ["precision", (run) => run.run.options.precision], ["machine", (run) => (run.machine ? `${run.machine.cpu_model}, ${run.run.options.threads} threads` : "–")],
    ["PyTorch", (run) => run.run.torch_version], ["state", (run) => (run.run.under_way ? "running" : run.run.state)],
    ["vs eager", (run) => { const c = run.comparison("eager"); return run.isEstimated ? "not timed" : c ? `${times(c.speedup)} (${range(c.interval.low, c.interval.high)})` : run.best ? "not confirmed" : "–"; }],
    ["estimate", (run) => (run.isEstimated && run.best ? `${times(run.best.speedup)} over ${run.reference}, ${run.run.options.dsl}` : "–")],
    ["vs torch.compile", (run) => { const c = run.comparison("compile"); return c ? `${times(c.speedup)} (${range(c.interval.low, c.interval.high)})` : "–"; }],
    ["a call", (run) => secondsText(run.confirmed ? run.confirmed.seconds : run.best ? run.best.seconds : 0)],
    ["of the ceiling", (run) => percent(run.confirmed ? run.confirmed.share_of_ceiling : run.best ? run.best.share_of_ceiling : undefined)],
    ["tried, passed", (run) => `${run.kernels.length}, ${run.kernels.filter(isPassed).length}`], ["time", (run) => durationText(run.run.elapsed_seconds)],
    ["best found at", (run) => (run.best ? `evaluation ${run.best.index}` : "–")],
  ];
  const table = h("table", { class: "compare" }, h("thead", {}, h("tr", {}, h("th", {}), runs.map((run, i) => h("th", { class: `series-${i}` }, h("a", { href: `/runs/${run.run.id}` }, `run ${run.run.id}`))))),
    h("tbody", {}, rows.map(([name, text]) => [name, ...runs.map(text)]).filter(([, left, right]) => left !== "–" || right !== "–")
      .map(([name, left, right]) => h("tr", { class: left === right ? "same" : "" }, h("th", {}, name), h("td", {}, left), h("td", {}, right)))));
  const notes = [];
  if (a.run.problem_hash !== b.run.problem_hash) notes.push("These are different problems: their speedups say nothing about each other.");
  else if (a.isEstimated !== b.isEstimated) notes.push("One was timed and the other estimated: their numbers say nothing about each other.");
  else if (a.run.machine_id !== b.run.machine_id) notes.push("These ran on different machines.");
  const sets = runs.map((run) => new Set(run.best ? realStrategies(run.best) : []));
  const all = [...new Set([...sets[0], ...sets[1]])].sort();
  const mark = (has) => h("td", {}, has ? "✓" : "");
  const strategies = h("table", { class: "compare" }, h("thead", {}, h("tr", {}, h("th", {}, "strategy"), runs.map((run) => h("th", {}, `run ${run.run.id}`)))),
    h("tbody", {}, all.map((id) => h("tr", { class: sets[0].has(id) && sets[1].has(id) ? "same" : "" }, h("th", { title: a.strategyName(id) }, id), mark(sets[0].has(id)), mark(sets[1].has(id))))));
  const diff = h("div", {}, h("p", { class: "empty" }, "reading"));
  if (a.best && b.best)
    Promise.all(runs.map(async (run) => withKnobs(await run.texts.source(run.best.index), run.best.proposal.knobs)))
      .then(([left, right]) => diff.replaceChildren(diffView(left, right, `${a.best.index} of run ${a.run.id}`)))
      .catch((error) => diff.replaceChildren(h("p", { class: "empty" }, `it could not be read: ${error.message}`)));
  return h("main", {}, h("h1", {}, `Run ${a.run.id} and run ${b.run.id}`), notes.map((note) => h("p", { class: "warning" }, note)),
    h("div", { class: "columns two" }, panel("Facts", "what is the same is faint", h("div", { class: "wide" }, table)),
      h("div", { class: "stack" }, panel("Progress", "best so far", plot.box), panel("Strategies of the best kernels", null, strategies))),
    panel("Sources of the best kernels", null, diff));
}
