// Who descends from whom. The best child of a kernel goes on in its parent's lane and the others branch off, so that the winner's way is
// one straight line. Only the rows in sight are in the document: thousands scroll as smoothly as ten.

const kRow = 26;
const kLane = 13;
const kMostLanes = 12;

class Lineage {
  constructor(run) {
    this.run = run;
    this.folded = new Set();
    this.filter = "all";
    this.space = h("div", { class: "space" });
    this.tree = h("div", { class: "tree", role: "tree", tabindex: "0", "aria-label": "lineage of the kernels" }, this.space);
    this.filters = h("div", { class: "choices", role: "group", "aria-label": "which kernels are shown" });
    this.box = h("div", { class: "lineage" }, this.filters, this.tree);
    this.draw = onceAFrame(() => this.drawRows());
    this.tree.addEventListener("scroll", this.draw, { passive: true });
    this.tree.addEventListener("keydown", (event) => this.key(event));
    this.tree.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => {
      if (!this.isShown) this.reveal(run.selected);
      this.isShown = true;
      this.draw();
    }).observe(this.tree);
    run.onSelect((kernel, from) => {
      if (from !== "tree") this.unfoldTo(kernel);
      this.reveal(kernel.index);
      this.drawRows();
    });
    this.update();
  }

  update() {
    const { run } = this;
    const children = run.kernels.map(() => []);
    const roots = [];
    for (const kernel of run.kernels) {
      const parent = run.parentOf[kernel.index];
      (parent ? children[parent.index] : roots).push(kernel);
    }
    // What the best descendant of each reached, for choosing who goes on in the lane.
    const reached = run.kernels.map((each) => (run.onPath.has(each.index) ? Infinity : each.speedup));
    for (let i = run.kernels.length - 1; i >= 0; --i) {
      const parent = run.parentOf[i];
      if (parent) reached[parent.index] = Math.max(reached[parent.index], reached[i]);
    }
    const main = children.map((each) => each.reduce((best, child) => (!best || reached[child.index] > reached[best.index] ? child : best), null));
    Object.assign(this, { children, main, roots: roots.sort((a, b) => reached[b.index] - reached[a.index] || a.index - b.index) });
    this.most = Math.max(1, ...run.kernels.map((each) => each.speedup));
    this.choose();
    this.layout();
  }

  choose() {
    const { run } = this;
    const options = [["all", `all ${run.kernels.length}`], ["path", `the way to the best ${run.path.length}`],
      ["passed", `passed ${run.kernels.filter(isPassed).length}`], ["failed", `failed ${run.kernels.filter((each) => !isPassed(each)).length}`]];
    this.filters.replaceChildren(...options.map(([name, text]) => h("button", { type: "button", "aria-pressed": String(this.filter === name),
      on: { click: () => { this.filter = name; this.choose(); this.layout(); } } }, text)));
  }

  // Rows from top to bottom; each knows which lanes to its left go on below it.
  layout() {
    const rows = [];
    const { run, filter } = this;
    if (filter === "all") {
      // [kernel, lane, lanes that go on to its left, how it joins the row above]
      const waiting = [...this.roots].reverse().map((root) => [root, 0, [], "root"]);
      while (waiting.length) {
        const [kernel, lane, rails, joins] = waiting.pop();
        const all = this.folded.has(kernel.index) ? [] : this.children[kernel.index];
        const main = all.length ? this.main[kernel.index] : null;
        const sides = all.filter((child) => child !== main);
        rows.push({ kernel, lane, rails, joins, goesOn: all.length > 0, isFolded: this.folded.has(kernel.index) });
        if (main) waiting.push([main, lane, rails, "main"]);
        for (const side of sides.reverse()) waiting.push([side, lane + 1, [...rails, true], "side"]);
      }
    } else {
      const chosen = filter === "path" ? run.path : run.kernels.filter((each) => isPassed(each) === (filter === "passed"));
      chosen.forEach((kernel, i) => rows.push({ kernel, lane: 0, rails: [], joins: filter === "path" && i ? "main" : "root",
        goesOn: filter === "path" && i + 1 < chosen.length, isFolded: false }));
    }
    this.rows = rows;
    this.rowOf = new Map(rows.map((row, i) => [row.kernel.index, i]));
    this.lanes = clamp(Math.max(0, ...rows.map((row) => row.lane)), 0, kMostLanes) + 1;
    this.space.style.height = `${rows.length * kRow}px`;
    this.tree.style.setProperty("--rows", rows.length);
    this.reveal(run.selected);
    this.draw();
  }

  drawRows() {
    const first = Math.max(0, Math.floor(this.tree.scrollTop / kRow) - 6);
    const last = Math.min(this.rows.length, Math.ceil((this.tree.scrollTop + this.tree.clientHeight) / kRow) + 6);
    const drawn = [];
    for (let i = first; i < last; ++i) drawn.push(this.row(this.rows[i], i));
    this.space.replaceChildren(...drawn);
    const selected = this.rowOf.get(this.run.selected);
    if (selected >= first && selected < last) this.tree.setAttribute("aria-activedescendant", `row-${this.run.selected}`);
    else this.tree.removeAttribute("aria-activedescendant");
  }

  row(row, place) {
    const { kernel } = row;
    const { run } = this;
    const isBest = kernel === run.best;
    const classes = ["row", run.onPath.has(kernel.index) ? "on-path" : "", kernel.index === run.selected ? "selected" : "", isPassed(kernel) ? "" : "failed"];
    const element = h("div", { class: classes.filter(Boolean).join(" "), id: `row-${kernel.index}`, role: "treeitem", "data-index": kernel.index,
      "aria-level": row.lane + 1, "aria-selected": String(kernel.index === run.selected), "aria-expanded": this.children[kernel.index].length && this.filter === "all" ? String(!row.isFolded) : null,
      "aria-posinset": place + 1, "aria-setsize": this.rows.length },
    this.rails(row, isBest), h("span", { class: "index" }, kernel.index), h("span", { class: "origin" }, originText(kernel)),
    h("span", { class: "change" }, isPassed(kernel) ? changeChips(run, kernel) : [h("b", {}, kernel.verdict.replaceAll("_", " ")), ` ${firstLine(kernel.diagnosis)}`]),
    speedBar(kernel, this.most));
    element.style.top = `${place * kRow}px`;
    return element;
  }

  rails(row, isBest) {
    const lane = Math.min(row.lane, kMostLanes);
    const width = this.lanes * kLane + 8;
    const x = (each) => 9 + Math.min(each, kMostLanes) * kLane;
    const middle = kRow / 2;
    const lines = [];
    row.rails.forEach((goesOn, each) => {
      if (each >= kMostLanes) return;
      if (goesOn) lines.push(`M${x(each)},0V${kRow}`);
    });
    if (row.joins === "main") lines.push(`M${x(lane)},0V${middle}`);
    if (row.joins === "side") lines.push(`M${x(lane - 1)},${middle - 6}Q${x(lane - 1)},${middle} ${x(lane - 1) + 6},${middle}H${x(lane)}`);
    if (row.goesOn) lines.push(`M${x(lane)},${middle}V${kRow}`);
    const y = middle;
    const mark = row.isFolded ? s("path", { class: "dot", d: `M${x(lane) - 4},${y}h8m-4,-4v8` })
      : isPassed(row.kernel) ? s("circle", { class: "dot", cx: x(lane), cy: y, r: isBest ? 5 : 3.4 })
        : s("path", { class: "dot cross", d: `M${x(lane) - 3},${y - 3}l6,6m0,-6l-6,6` });
    return s("svg", { class: "rails", width, height: kRow, "aria-hidden": "true" }, s("path", { class: "rail", d: lines.join("") }), mark);
  }

  click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    const index = Number(row.dataset.index);
    if (event.target.closest(".rails") && this.children[index].length && this.filter === "all" && index === this.run.selected) this.fold(index);
    this.run.select(index, "tree");
  }

  key(event) {
    const place = this.rowOf.get(this.run.selected) ?? 0;
    const page = Math.max(1, Math.floor(this.tree.clientHeight / kRow) - 1);
    const index = this.run.selected;
    const target = { ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + page, PageUp: place - page, Home: 0, End: this.rows.length - 1 }[event.key];
    if (target !== undefined) {
      event.preventDefault();
      const row = this.rows[clamp(target, 0, this.rows.length - 1)];
      if (row) this.run.select(row.kernel.index, "tree");
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      event.preventDefault();
      const isFolded = this.folded.has(index);
      const parent = this.run.parentOf[index];
      if (event.key === "ArrowLeft" && !isFolded && this.children[index].length && this.filter === "all") this.fold(index);
      else if (event.key === "ArrowLeft" && parent && this.rowOf.has(parent.index)) this.run.select(parent.index, "tree");
      else if (event.key === "ArrowRight" && isFolded) this.fold(index);
    } else if (event.key === "Enter") {
      event.preventDefault();
      document.querySelector(".detail [role=tab][aria-selected=true]")?.focus();
    }
  }

  fold(index) {
    if (!this.folded.delete(index)) this.folded.add(index);
    this.layout();
  }
  unfoldTo(kernel) {
    let changed = false;
    for (let each = this.run.parentOf[kernel.index]; each; each = this.run.parentOf[each.index]) changed = this.folded.delete(each.index) || changed;
    if (!this.rowOf.has(kernel.index) && this.filter !== "all") {
      this.filter = "all";
      this.choose();
      changed = true;
    }
    if (changed) this.layout();
  }
  reveal(index) {
    const place = this.rowOf.get(index);
    if (place === undefined) return;
    const { scrollTop, clientHeight } = this.tree;
    if (place * kRow < scrollTop) this.tree.scrollTop = place * kRow;
    else if ((place + 1) * kRow > scrollTop + clientHeight) this.tree.scrollTop = (place + 1) * kRow - clientHeight;
  }
}

const originText = (kernel) => (kernel.proposal.author ? `${kernel.proposal.origin}, model` : kernel.proposal.origin);

function changeChips(run, kernel) {
  const { gained, lost, knobs } = run.changes(kernel);
  const chip = (kind, sign, id) => h("span", { class: `chip ${kind}`, title: run.strategyName(id) }, `${sign}${id}`);
  const chips = [...gained.map((id) => chip("gained", "+", id)), ...lost.map((id) => chip("lost", "−", id)),
    ...knobs.map(([name, from, to]) => h("span", { class: "chip knob" }, `${name} ${from}→${to}`))];
  if (kernel.duplicate_of >= 0) chips.push(h("span", { class: "chip same" }, `same code as ${kernel.duplicate_of}`));
  return chips.length ? chips : h("span", { class: "chip same" }, "no change");
}

function speedBar(kernel, most) {
  const bar = h("i", {});
  bar.style.width = `${isTimed(kernel) ? (100 * kernel.speedup) / most : 0}%`;
  return h("span", { class: "speed" }, h("span", {}, isTimed(kernel) ? times(kernel.speedup) : ""), h("span", { class: "bar", "aria-hidden": "true" }, bar));
}
