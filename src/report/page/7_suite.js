// The page of a suite: how many problems passed and how fast, one mark a problem, and the table behind it.

const kSuiteColumns = [["problem", "problem"], ["verdict", "outcome"], ["vs eager", "eager"], ["vs compile", "compile"], ["a call", "seconds"], ["ceiling", "share_of_ceiling"], ["by", "author"], ["tried", "evaluations"], ["time", "spent_seconds"]];
const isSolved = (row) => row.outcome === "passed";
const isCompared = (comparison) => comparison.speedup > 0;

function suiteAnswer(suite, totals) {
  const mean = totals.over_eager;
  const settings = suite.settings;
  const headline = (figure, text, kind = "") => h("div", { class: `headline ${kind}` }, h("b", {}, figure), h("span", {}, text));
  const means = (each) => [`geometric mean over ${plural(each.count, "problem")} that passed`, h("br"), h("em", {}, `median ${times(each.median)}; slowest ${each.slowest} (${times(each.slowest_speedup)}), fastest ${each.fastest} (${times(each.fastest_speedup)})`)];
  return h("section", { class: "answer" },
    h("div", { class: "title" }, h("h1", {}, suite.name), h("p", {}, [plural(totals.problems, "problem"), totals.done < totals.problems ? `${totals.done} done` : null, suite.machine, suite.torch_version ? `PyTorch ${suite.torch_version}` : null].filter(Boolean).join(", "))),
    h("div", { class: "result" },
      mean.count ? headline(times(mean.geometric_mean), ["over eager, ", means(mean)]) : headline("–", "nothing has passed yet", "none"),
      totals.over_compile.count ? headline(times(totals.over_compile.geometric_mean), ["over torch.compile, ", means(totals.over_compile)], "second") : null,
      headline(`${totals.passed} of ${totals.done}`, ["problems have a kernel that passed", h("br"), h("em", {}, `beside PyTorch: ${totals.faster} faster, ${totals.slower} slower, ${totals.unclear} without a clear difference`)], "second")),
    h("div", { class: "fast" }, h("h4", {}, "fast_p: passed, and more than p times as fast as eager"),
      h("div", { class: "bars" }, totals.fast.map((each) => h("div", { class: "passed" }, h("span", {}, each.above === 0 ? "correct" : `p = ${each.above}`), meter(each.share), h("span", {}, percent(each.share))))),
      facts([["search", `${settings.search}, seed ${settings.seed}, ${settings.evaluations ? plural(settings.evaluations, "kernel") : durationText(settings.seconds)} a problem`], ["precision", settings.precision],
        ["scaled to", settings.scale_to], ["compile", totals.compile_over_eager ? `${times(totals.compile_over_eager)} over eager itself, geometric mean` : ""]])));
}

function meter(share) {
  const filled = h("i", {});
  filled.style.width = `${clamp(share, 0, 1) * 100}%`;
  return h("span", { class: "bar" }, filled);
}

// Speedups over eager, the fastest first, each with its interval; what did not pass stands at the end as crosses.
function suitePlot(suite) {
  const timed = suite.rows.filter((row) => isSolved(row) && isCompared(row.eager)).sort((a, b) => b.eager.speedup - a.eager.speedup);
  const failed = suite.rows.filter((row) => !isSolved(row));
  const words = () => `speedups over eager of ${plural(timed.length, "problem")}; ${failed.length} did not pass`;
  return drawing("suite", words, (width) => clamp(width * 0.36, 240, 380), (width, height) => {
    const box = { left: 44, right: width - 12, top: 24, bottom: height - 38 };
    const values = timed.flatMap((row) => [row.eager.interval.low, row.eager.interval.high, row.compile.speedup ? row.eager.speedup / row.compile.speedup : 1]).filter((each) => each > 0);
    const [low, high] = [Math.min(0.5, ...values) * 0.9, Math.max(2, ...values) * 1.1];
    const y = logarithmic(low, high, box.bottom, box.top);
    const x = linear(-0.5, timed.length + failed.length - 0.5, box.left, box.right);
    const ticks = logTicks(low, high).map((tick) => [y(tick), `${tickText(tick)}×`]);
    const marks = timed.map((row, i) => ({ row, x: x(i), y: y(row.eager.speedup) })).concat(failed.map((row, i) => ({ row, x: x(timed.length + i), y: box.bottom - 8 })));
    const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, grid([], ticks, box), axes([], ticks, box, "problems, the fastest first", "over eager"),
      s("line", { class: "baseline", x1: box.left, x2: box.right, y1: y(1), y2: y(1) }),
      s("g", { class: "whiskers" }, timed.map((row, i) => s("line", { x1: x(i), x2: x(i), y1: y(row.eager.interval.low), y2: y(row.eager.interval.high) }))),
      s("g", { class: "compiled" }, timed.filter((row) => isCompared(row.compile)).map((row) => { const at = x(timed.indexOf(row)); const level = y(row.eager.speedup / row.compile.speedup); return s("line", { x1: at - 3.5, x2: at + 3.5, y1: level, y2: level }); })),
      s("g", { class: "dots" }, timed.map((row, i) => s("circle", { cx: x(i), cy: y(row.eager.speedup), r: 3 })), failed.map((row, i) => cross(x(timed.length + i), box.bottom - 8))));
    svg.addEventListener("pointermove", (event) => {
      const at = event.clientX - svg.getBoundingClientRect().left;
      const mark = marks.reduce((found, each) => (Math.abs(each.x - at) < Math.abs((found ? found.x : Infinity) - at) ? each : found), null);
      showTip(mark && Math.abs(mark.x - at) < 14 ? suiteTip(mark.row) : null, event);
    });
    svg.addEventListener("pointerleave", () => showTip(null));
    return svg;
  });
}

const cross = (x, y) => s("path", { class: "cross", d: `M${x - 3} ${y - 3}l6 6m0 -6l-6 6` });
const suiteTip = (row) => [h("b", {}, row.problem), h("br"), isSolved(row) ? `${times(row.eager.speedup)} (${range(row.eager.interval.low, row.eager.interval.high)}) over eager` : `${row.outcome}: ${row.message.slice(0, 160)}`];

class SuiteTable {
  constructor(suite) {
    this.suite = suite;
    this.order = ["problem", 1];
    this.query = "";
    this.search = h("input", { type: "search", placeholder: "search problem, verdict, zone", "aria-label": "search the problems", on: { input: () => { this.query = this.search.value.toLowerCase(); this.draw(); } } });
    this.count = h("span", { class: "soft", "aria-live": "polite" });
    this.table = h("table", { class: "runs suite" });
    this.box = h("section", { class: "panel" }, h("header", { class: "list-head" }, h("h2", {}, "Problems"), this.search, this.count), h("div", { class: "wide" }, this.table));
    this.draw();
  }

  draw() {
    const [key, way] = this.order;
    const place = new Map(this.suite.problems.map((name, i) => [name, i]));
    const value = (row) => (key === "problem" ? place.get(row.problem) : key === "eager" || key === "compile" ? row[key].speedup : row[key]);
    const shown = this.suite.rows.filter((row) => `${row.problem} ${row.outcome} ${row.zone} ${row.author} ${row.scaling}`.toLowerCase().includes(this.query))
      .sort((a, b) => way * (typeof value(a) === "string" ? value(a).localeCompare(value(b)) : value(a) - value(b)));
    this.table.replaceChildren(h("thead", {}, h("tr", {}, kSuiteColumns.map(([title, name]) => h("th", { "aria-sort": key === name ? (way > 0 ? "ascending" : "descending") : null, class: `col-${name}` },
      h("button", { type: "button", class: "link", on: { click: () => { this.order = [name, key === name ? -way : ["problem", "outcome", "author"].includes(name) ? 1 : -1]; this.draw(); } } }, title))))),
    h("tbody", {}, shown.map((row) => this.row(row))));
    this.count.textContent = this.query ? `${shown.length} of ${plural(this.suite.rows.length, "problem")}` : plural(this.suite.rows.length, "problem");
  }

  row(row) {
    const compared = (each) => (isCompared(each) ? [times(each.speedup), h("span", { class: "soft" }, ` ${range(each.interval.low, each.interval.high)}`)] : "–");
    const remarks = [row.message, row.scaling, isSolved(row) && isCompared(row.eager) && row.eager.interval.high < 1 && row.share_of_ceiling > 0 ? `eager is faster: it reaches ${percent(row.share_of_ceiling / row.eager.speedup)} of the ceiling (${row.zone}), this kernel ${percent(row.share_of_ceiling)}` : row.standing === "slower" ? `torch.compile is faster: the kernel has ${times(row.compile.speedup)} its speed` : ""].filter(Boolean);
    return h("tr", {}, h("td", { class: "col-problem" }, row.kernel ? h("a", { href: row.kernel.split("/").map(encodeURIComponent).join("/") }, row.problem) : row.problem, remarks.map((text) => h("span", { class: "remark" }, text))),
      h("td", { class: "col-outcome" }, h("span", { class: `badge ${isSolved(row) && row.standing !== "slower" ? "passed" : "failed"}` }, row.standing === "slower" ? `${row.outcome}, slower` : row.outcome)), h("td", { class: `col-eager ${row.standing === "faster" ? "won" : ""}` }, compared(row.eager)),
      h("td", { class: "col-compile" }, compared(row.compile)), h("td", { class: "col-seconds" }, secondsText(row.seconds)), h("td", { class: "col-share_of_ceiling" }, isSolved(row) ? percent(row.share_of_ceiling) : "–"),
      h("td", { class: "col-author" }, row.author || "–"), h("td", { class: "col-evaluations" }, row.evaluations), h("td", { class: "col-spent_seconds" }, durationText(row.spent_seconds)));
  }
}

function suitePage({ suite, totals }) {
  document.title = `${suite.name} - Kernelwright`;
  const plot = suitePlot(suite);
  return h("main", {}, suiteAnswer(suite, totals),
    panel("Speedups", "one mark a problem, with its 95% interval", plot.box, plotKey(["kernel", "torch.compile", "baseline (eager)", "did not pass"])),
    new SuiteTable(suite).box,
    suite.skipped.length ? h("p", { class: "soft" }, `not problems: ${suite.skipped.join(", ")}`) : null);
}
