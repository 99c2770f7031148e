// The two plots of a run: where its kernels stand below the machine's ceilings, and how the search came to the best one.

const kDot = 2.6;

function grid(xTicks, yTicks, box) {
  return s("g", { class: "grid" },
    xTicks.map(([x]) => s("line", { x1: x, x2: x, y1: box.top, y2: box.bottom })),
    yTicks.map(([y]) => s("line", { x1: box.left, x2: box.right, y1: y, y2: y })));
}

function axes(xTicks, yTicks, box, xTitle, yTitle) {
  return s("g", { class: "axes" },
    xTicks.map(([x, text]) => s("text", { x, y: box.bottom + 15, "text-anchor": "middle" }, text)),
    yTicks.map(([y, text]) => s("text", { x: box.left - 7, y: y + 3.5, "text-anchor": "end" }, text)),
    s("text", { class: "title", x: box.right, y: box.bottom + 31, "text-anchor": "end" }, xTitle),
    s("text", { class: "title", x: 0, y: box.top - 10 }, yTitle));
}

// Kernels as marks that can be pointed at, clicked and walked through with the arrow keys.
function interactive(run, svg, marks) {
  const ring = s("circle", { class: "ring", r: 6, visibility: "hidden" });
  const place = (kernel) => {
    const mark = marks.find((each) => each.kernel.index === kernel.index);
    build(ring, mark ? { cx: mark.x, cy: mark.y, visibility: "visible" } : { visibility: "hidden" }, []);
  };
  svg.append(ring);
  if (run.kernels[run.selected]) place(run.kernels[run.selected]);
  const nearest = (event) => {
    const bounds = svg.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    let found = null;
    let least = 18 ** 2;
    for (const mark of marks) {
      const distance = (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (distance < least) [found, least] = [mark, distance];
    }
    return found;
  };
  svg.addEventListener("pointermove", (event) => {
    const mark = nearest(event);
    svg.classList.toggle("pointing", mark !== null);
    showTip(mark ? kernelTip(run, mark.kernel) : null, event);
  });
  svg.addEventListener("pointerleave", () => showTip(null));
  svg.addEventListener("click", (event) => {
    const mark = nearest(event);
    if (mark) run.select(mark.kernel.index, "plot");
  });
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step || !marks.length) return;
    event.preventDefault();
    const order = marks.map((each) => each.kernel.index).sort((a, b) => a - b);
    const next = step > 0 ? order.find((index) => index > run.selected) : order.reverse().find((index) => index < run.selected);
    if (next !== undefined) run.select(next, "plot");
  });
  return place;
}

let tip = null;
function showTip(text, event) {
  if (!tip) document.body.append((tip = h("div", { class: "tip", "aria-hidden": "true" })));
  tip.hidden = !text;
  if (!text) return;
  tip.replaceChildren(...text);
  const left = clamp(event.clientX + 14, 8, innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 10}px`;
}
const kernelTip = (run, kernel) => [
  h("b", {}, `kernel ${kernel.index}`), ` ${kernel.proposal.origin}`, h("br"),
  isTimed(kernel) ? `${times(kernel.speedup)} (${range(kernel.interval.low, kernel.interval.high)}), ${secondsText(kernel.seconds)}${run.timingNote(kernel)}`
    : isPassed(kernel) ? "passed, not timed" : `${kernel.verdict}: ${firstLine(kernel.diagnosis).slice(0, 120)}`];

// Kernels of one problem have one intensity: they are spread sideways by their order, so that the way up can be seen.
function rooflinePlot(run) {
  let place = () => {};
  const made = drawing("roofline", () => rooflineWords(run), (width) => clamp(width * 0.62, 280, 420), (width, height) => {
    const [svg, placed] = drawRoofline(run, width, height);
    place = placed;
    return svg;
  });
  run.onSelect((kernel) => place(kernel));
  return made;
}

function rooflineWords(run) {
  const roofline = run.roofline;
  if (!roofline) return "no roofline: the machine of this run is not known";
  const best = run.best && isTimed(run.best) ? `; the best kernel reaches ${percent(run.best.share_of_ceiling)} of the ceiling` : "";
  return `Roofline: ${roofline.intensity.toPrecision(2)} FLOP per byte, ${roofline.zone} zone, ridge at ${roofline.ridge.toPrecision(2)}${best}`;
}

function drawRoofline(run, width, height) {
  const roof = run.roofline;
  const box = { left: 46, right: width - 8, top: 26, bottom: height - 36 };
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  if (!roof || !run.problem) {
    svg.append(s("text", { x: 12, y: 40, class: "empty" }, "the machine or the problem of this run is not in the archive"));
    return [svg, () => {}];
  }
  const flops = run.problem.flops || 0;
  const inFlops = flops > 0 && roof.bound_gflops > 0;
  const amount = inFlops ? flops : run.problem.bytes;  // what is counted a second; no FLOPs: bytes
  const rate = (seconds) => amount / seconds / 1e9;
  const shown = run.kernels.filter((each) => isTimed(each) && each.seconds > 0);
  const baselines = ["eager", "compile"].map((name) => [name, run.baselineSeconds(name)]).filter(([, seconds]) => seconds > 0);
  const rates = shown.map((each) => rate(each.seconds)).concat(baselines.map(([, seconds]) => rate(seconds)));
  const roofs = inFlops ? roof.compute.map((each) => each.gflops) : roof.bandwidth.map((each) => each.gbytes);
  const bound = inFlops ? Math.min(roof.bound_gflops, roof.bound_gbytes * roof.intensity) : roof.bound_gbytes;
  const yFrom = Math.min(bound / 4, ...rates) / 1.8;
  const yTo = Math.max(bound, ...(inFlops ? roofs : [roof.bound_gbytes]), ...rates) * 1.7;
  const intensity = inFlops ? roof.intensity : 1;
  const xFrom = Math.min(intensity / 12, (roof.ridge || intensity) / 8);
  const xTo = Math.max(intensity * 12, (roof.ridge || intensity) * 5);
  const X = logarithmic(xFrom, xTo, box.left, box.right);
  const Y = logarithmic(yFrom, yTo, box.bottom, box.top);
  const xTicks = inFlops ? logTicks(xFrom, xTo).map((tick) => [X(tick), tickText(tick)]) : [];
  const yTicks = logTicks(yFrom, yTo).map((tick) => [Y(tick), tickText(tick)]);
  svg.append(grid(xTicks, yTicks, box),
    axes(xTicks, yTicks, box, inFlops ? "FLOP per byte" : "kernels in their order", inFlops ? "GFLOP/s" : "GB/s"));

  const half = clamp((box.right - box.left) * 0.13, 34, 90);
  const middle = clamp(X(intensity), box.left + half + 4, box.right - half - 4);
  const [lines, names] = inFlops ? ceilings(roof, X, Y, box, xFrom, xTo, yFrom, middle - half) : flatCeilings(roof, Y, box, yTo);
  // Inside of the band sideways is time: the roof of this problem is level there, and no kernel seems to stand above it.
  svg.append(s("g", { class: "ceilings" }, lines), s("rect", { class: "band", x: middle - half, y: box.top, width: 2 * half, height: box.bottom - box.top }),
    s("g", { class: "ceilings" }, s("line", { class: "bound", x1: middle - half, x2: middle + half, y1: Y(bound), y2: Y(bound) }), names));

  const last = Math.max(1, run.kernels.length - 1);
  const marks = shown.map((kernel) => ({ kernel, x: middle - half + 6 + (kernel.index / last) * (2 * half - 12), y: Y(rate(kernel.seconds)) }));
  const at = new Map(marks.map((mark) => [mark.kernel.index, mark]));
  const way = run.path.map((each) => at.get(each.index)).filter(Boolean);
  svg.append(s("g", { class: "dots" }, marks.map((mark) => s("circle", { cx: mark.x, cy: mark.y, r: kDot }))));
  svg.append(s("polyline", { class: "way", points: way.map((mark) => `${mark.x},${mark.y}`).join(" ") }));
  svg.append(s("g", { class: "way-dots" }, way.map((mark) => s("circle", { cx: mark.x, cy: mark.y, r: mark.kernel === run.best ? 4.5 : 3 }))));

  const isNarrow = width < 480;
  const labels = baselines.map(([name, seconds]) => ({ at: Y(rate(seconds)), y: Y(rate(seconds)), kind: "baseline",
    text: `${name === "eager" ? run.referenceInShort : isNarrow ? name : "torch.compile"} ${secondsText(seconds)}` }));
  if (run.best && at.has(run.best.index))
    labels.push({ at: at.get(run.best.index).y, y: at.get(run.best.index).y, kind: "winner",
      text: `${run.nameOfBest} ${secondsText(run.best.seconds)}${isNarrow ? "" : `, ${percent(run.best.share_of_ceiling)}`}` });
  const right = box.right - middle - half > Math.min(isNarrow ? 100 : 150, middle - half - box.left);
  // The names of level ceilings stand at the right edge.
  if (!(right && (inFlops ? roof.compute.map((each) => each.gflops) : [bound]).some((level) => Math.abs(Y(level) - 5 - Y(bound)) < 16)))
    labels.push({ at: Y(bound) - (right ? 0 : 9), kind: "ceiling", text: `ceiling ${secondsText(roof.floor_seconds)}` });
  for (const label of spread(labels, 15, box.top + 8, box.bottom - 4)) {
    if (label.kind === "baseline") svg.append(s("line", { class: "baseline", x1: middle - half, x2: middle + half, y1: label.y, y2: label.y }));
    svg.append(s("text", { class: `mark ${label.kind}`, x: right ? middle + half + 7 : middle - half - 7, y: label.at + 3.5,
      "text-anchor": right ? "start" : "end" }, label.text));
  }
  return [svg, interactive(run, svg, marks)];
}

// Bandwidths rise, peaks are level; the two that bound this problem are drawn heavier. Names of rising ones end where the band begins: without their rate, or not at all.
function ceilings(roof, X, Y, box, xFrom, xTo, yFrom, bandFrom) {
  const lines = [];
  const names = [];
  const top = Math.max(...roof.compute.map((each) => each.gflops));
  const slope = Math.atan2(Y(10) - Y(1), X(10) - X(1));
  const nearest = roof.bandwidth.find((each) => Math.abs(Math.log(each.gbytes / roof.bound_gbytes)) <= 0.2);
  const rising = roof.bandwidth.filter((each) => Math.abs(Math.log(each.gbytes / roof.bound_gbytes)) > 0.2).map((each) => ({ ...each, kind: "thin" }));
  rising.push({ name: nearest ? nearest.name : "this problem", gbytes: roof.bound_gbytes, kind: "bound" });
  let above = null;  // the label that was placed last
  rising.sort((a, b) => b.gbytes - a.gbytes);
  for (const [index, each] of rising.entries()) {
    const from = Math.max(xFrom, yFrom / each.gbytes);
    const to = Math.min(xTo, top / each.gbytes);
    if (to <= from) continue;
    lines.push(s("line", { class: each.kind, x1: X(from), y1: Y(each.gbytes * from), x2: X(to), y2: Y(each.gbytes * to) }));
    const lengthOf = (words) => words.length * 6.2 * Math.cos(slope);
    const full = `${each.name} ${rateText(each.gbytes, "B/s")}`;
    // Close below another line: the name stands below its own line, or, where that place is taken too, further along or nowhere.
    const apart = (other) => (other ? (Y(each.gbytes) - Y(other.gbytes)) * Math.cos(slope) : Infinity);
    const distance = apart(above);
    const isBelow = distance < 15;
    const start = above && above.isBelow && distance < 30 ? Math.max(X(from * 1.12), above.end + 6) : X(from * 1.12);
    const text = start < bandFrom && start + lengthOf(full) > bandFrom ? each.name : full;
    const length = lengthOf(text);
    const isCrowded = isBelow && rising[index + 1] && -apart(rising[index + 1]) < 28;
    const isInBand = start < bandFrom && start + length > bandFrom;
    if (each.kind === "thin" && (isCrowded || isInBand || start + length > X(to))) continue;
    names.push(s("text", { class: "ceiling-name", transform: `translate(${start},${Y(each.gbytes * from) + (start - X(from)) * Math.tan(slope) + (isBelow ? 13 : -5)}) rotate(${(slope * 180) / Math.PI})` }, text));
    above = { gbytes: each.gbytes, end: start + length, isBelow };
  }
  for (const each of roof.compute) {
    const isTop = each.gflops >= top * 0.999;
    const from = Math.max(xFrom, each.gflops / (isTop ? roof.bound_gbytes : Math.max(...roof.bandwidth.map((b) => b.gbytes), roof.bound_gbytes)));
    lines.push(s("line", { class: isTop ? "bound" : "thin", x1: X(Math.min(from, xTo)), x2: box.right, y1: Y(each.gflops), y2: Y(each.gflops) }));
    if (Y(each.gflops) < box.bottom - 4)
      names.push(s("text", { x: box.right - 3, y: Y(each.gflops) - 5, "text-anchor": "end" }, `${each.name} ${rateText(each.gflops, "FLOP/s")}`));
  }
  return [lines, names];
}

function flatCeilings(roof, Y, box, yTo) {
  const own = { name: "this problem", gbytes: roof.bound_gbytes };
  const others = roof.bandwidth.filter((each) => Math.abs(Math.log(each.gbytes / own.gbytes)) > 0.2 && each.gbytes < yTo);
  const all = [own, ...others];
  return [all.map((each) => s("line", { class: each === own ? "bound" : "thin", x1: box.left, x2: box.right, y1: Y(each.gbytes), y2: Y(each.gbytes) })),
    all.map((each) => s("text", { x: box.right - 3, y: Y(each.gbytes) - 5, "text-anchor": "end" }, `${each.name} ${rateText(each.gbytes, "B/s")}`))];
}

// Every kernel in its order; the line is the best so far, crosses at the foot are kernels that did not pass.
function progressPlot(run) {
  let place = () => {};
  const words = () => `Speedup over ${plural(run.kernels.length, "evaluation")}` +
    (run.best && isTimed(run.best) ? `: the best is ${times(run.best.speedup)} at evaluation ${run.best.index}` : ": nothing has passed yet");
  const made = drawing("progress", words, (width) => clamp(width * 0.62, 280, 420), (width, height) => {
    const [svg, placed] = drawProgress([{ run, name: "" }], width, height);
    place = placed;
    return svg;
  });
  run.onSelect((kernel) => place(kernel));
  return made;
}

function drawProgress(series, width, height) {
  const isNarrow = width < 460;
  // The names stand right of the plot; crosses have a line a series between the plot and its axis.
  const margin = (isNarrow ? 58 : 86) + (series.length > 1 ? 22 : 0);
  const foot = 14 + 7 * (series.length - 1);
  const box = { left: 46, right: width - margin, top: 26, bottom: height - 36 - foot };
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const most = Math.max(2, ...series.map(({ run }) => run.kernels.length)) - 1;
  const levels = series.flatMap(({ run }) => run.kernels.filter(isTimed).map((each) => each.speedup));
  const compile = series.map(({ run }) => run.compileSpeedup).find((each) => each > 0) || 0;
  const high = Math.max(1.3, compile, ...levels) * 1.06;
  const low = Math.min(1, ...levels, compile || 1);
  const inLogs = high / low > 25;
  const yFrom = inLogs ? low / 1.3 : 0;
  const X = linear(0, most, box.left + 6, box.right - 6);
  const Y = inLogs ? logarithmic(yFrom, high, box.bottom, box.top) : linear(yFrom, high, box.bottom, box.top);
  const xTicks = roundTicks(0, most, clamp(width / 90, 3, 8)).filter(Number.isInteger).map((tick) => [X(tick), tickText(tick)]);
  const yTicks = (inLogs ? logTicks(yFrom, high) : roundTicks(0, high, 5)).map((tick) => [Y(tick), `${tickText(tick)}×`]);
  svg.append(grid([], yTicks, box), s("g", { transform: `translate(0,${foot})` }, axes(xTicks, [], box, "evaluation", "")),
    axes([], yTicks, { ...box, bottom: box.bottom + 999 }, "", series[0].run.isEstimated ? `times faster than ${series[0].run.reference}, estimates` : "times faster than eager"));
  const marks = [];
  const labels = [{ at: Y(1), text: series[0].run.referenceInShort, kind: "baseline", y: Y(1) }];
  if (compile > 0) labels.push({ at: Y(compile), text: isNarrow ? "compile" : "torch.compile", kind: "baseline", y: Y(compile) });
  series.forEach(({ run, name }, number) => {
    const group = s("g", { class: `series series-${number}` });
    let best = 0;
    const steps = [];
    const whiskers = [];
    const dots = [];
    for (const kernel of run.kernels) {
      if (!isTimed(kernel)) {
        if (isPassed(kernel)) continue;
        const [x, y] = [X(kernel.index), box.bottom + 10 + number * 7];
        dots.push(s("path", { class: "cross", d: `M${x - 2.5},${y - 2.5}l5,5m0,-5l-5,5` }));
        marks.push({ kernel, x, y });
        continue;
      }
      const [x, y] = [X(kernel.index), Y(kernel.speedup)];
      marks.push({ kernel, x, y });
      if (kernel.speedup > best) {
        steps.push(best === 0 ? `M${x},${y}` : `H${x}V${y}`);
        best = kernel.speedup;
        whiskers.push(s("line", { x1: x, x2: x, y1: Y(Math.max(kernel.interval.low, yFrom || 0)), y2: Y(Math.min(kernel.interval.high, high)) }));
      }
      dots.push(s("circle", { cx: x, cy: y, r: series.length > 1 ? 1.8 : kDot }));
    }
    if (steps.length) steps.push(`H${X(run.kernels.length - 1)}`);
    group.append(s("g", { class: "dots" }, dots), s("g", { class: "whiskers" }, whiskers), s("path", { class: "best", d: steps.join("") }));
    if (series.length === 1)
      group.append(s("g", { class: "way-dots" }, run.path.filter(isTimed)
        .map((each) => s("circle", { cx: X(each.index), cy: Y(each.speedup), r: each === run.best ? 4.5 : 3 }))));
    if (best > 0) labels.push({ at: Y(best), text: name ? `${name} ${times(best)}` : times(best), kind: series.length > 1 ? `series-${number}` : "winner" });
    svg.append(group);
  });
  for (const label of labels)
    if (label.y !== undefined) svg.append(s("line", { class: "baseline", x1: box.left, x2: box.right, y1: label.y, y2: label.y }));
  for (const label of spread(labels, 14, box.top, box.bottom))
    svg.append(s("text", { class: `mark ${label.kind}`, x: box.right + 5, y: label.at + 3.5 }, label.text));
  return [svg, series.length === 1 ? interactive(series[0].run, svg, marks) : () => {}];
}
