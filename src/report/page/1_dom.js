"use strict";
// Elements, numbers as people read them, and scales. Text only ever becomes a text node: nothing that was archived is parsed as markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}
const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => build(document.createElementNS(SVG_SPACE, tag), attributes, children);

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const known = (value) => typeof value === "number" && Number.isFinite(value);

function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
function scaled(value, units, step) {
  let unit = 0;
  while (Math.abs(value) >= step * 0.9995 && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return `${digits(value)}\u202f${units[unit]}`;
}
const times = (speedup) => (known(speedup) && speedup > 0 ? `${speedup >= 99.5 ? speedup.toFixed(0) : speedup.toFixed(2)}×` : "–");
const range = (low, high) => `${low.toFixed(2)} to ${high.toFixed(2)}`;
const percent = (share) => (!known(share) ? "–" : share > 0 && share < 0.005 ? "<1%" : `${Math.round(share * 100)}%`);
const bytesText = (bytes) => (bytes < 999.5 ? `${Math.round(bytes)}\u202fB` : scaled(bytes, ["B", "kB", "MB", "GB", "TB"], 1000));
const rateText = (giga, unit) => scaled(giga * 1e9, ["", "k", "M", "G", "T", "P"], 1000) + unit;
const countText = (count) => (count < 999.5 ? String(Math.round(count)) : scaled(count, ["", "k", "M", "G", "T", "P"], 1000));
function secondsText(seconds) {
  if (!known(seconds) || seconds <= 0) return "–";
  return seconds >= 0.9995 ? `${seconds.toFixed(2)}\u202fs` : scaled(seconds * 1e9, ["ns", "µs", "ms"], 1000);
}
function durationText(seconds) {
  const whole = Math.round(seconds);
  if (seconds < 10) return `${seconds.toFixed(1)}\u202fs`;
  if (whole < 60) return `${whole}\u202fs`;
  if (whole < 3600) return `${Math.floor(whole / 60)}\u202fmin ${String(whole % 60).padStart(2, "0")}\u202fs`;
  return `${Math.floor(whole / 3600)}\u202fh ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")}\u202fmin`;
}
const whenText = (stamp) => (stamp ? `${stamp.slice(0, 10)} ${stamp.slice(11, 16)}` : "–");
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const firstLine = (text) => (text || "").split("\n", 1)[0];

const linear = (from, to, low, high) => (value) => low + ((value - from) / (to - from || 1)) * (high - low);
const logarithmic = (from, to, low, high) => {
  const place = linear(Math.log(from), Math.log(to), low, high);
  return (value) => place(Math.log(value));
};

// Round numbers that divide an interval into about `count` parts.
function roundTicks(from, to, count) {
  const rough = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999);
  const ticks = [];
  for (let tick = Math.ceil(from / step - 1e-9) * step; tick <= to + step * 1e-6; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}
// 1, 10, 100; with 2 and 5 where there are few of them.
function logTicks(from, to) {
  const decades = [];
  const ticks = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); ++power)
    for (const factor of [1, 2, 5]) {
      const tick = Number((factor * 10 ** power).toPrecision(6));
      if (tick < from || tick > to) continue;
      ticks.push(tick);
      if (factor === 1) decades.push(tick);
    }
  return decades.length >= 3 ? decades : ticks;
}
const tickText = (value) => (value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : String(Number(value.toPrecision(3))));

// Labels that would stand on each other are pushed apart; each is {at, ...}, in place.
function spread(labels, gap, low, high) {
  labels.sort((a, b) => a.at - b.at);
  for (let i = 0; i < labels.length; ++i) labels[i].at = Math.max(labels[i].at, i ? labels[i - 1].at + gap : low);
  for (let i = labels.length - 1, most = high; i >= 0; --i, most -= gap) {
    labels[i].at = Math.min(labels[i].at, most);
    most = Math.min(most, labels[i].at);
  }
  return labels;
}

// Takes what a listener does at most once a frame.
function onceAFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

// A drawing that fills its width: drawn anew whenever that changes, so that its text keeps its size.
function drawing(name, label, height, draw) {
  const box = h("div", { class: `drawing ${name}` });
  let width = 0;
  const redraw = () => {
    if (width > 40) box.replaceChildren(draw(width, typeof height === "function" ? height(width) : height));
    if (box.firstChild) build(box.firstChild, { role: "img", "aria-label": typeof label === "function" ? label() : label }, []);
  };
  const later = onceAFrame(redraw);
  new ResizeObserver((entries) => {
    const now = Math.floor(entries[0].contentRect.width);
    if (now === width) return;
    width = now;
    later();
  }).observe(box);
  return { box, redraw: later };
}

function copyButton(text) {
  const button = h("button", { class: "copy", type: "button", "aria-label": `copy: ${text}` }, "copy");
  button.addEventListener("click", async () => {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const picked = getSelection();
      picked.selectAllChildren(button.parentElement.querySelector("code"));
    }
    button.textContent = done ? "copied" : "selected";
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
  return button;
}

function panel(title, note, ...content) {
  return h("section", { class: "panel" }, h("header", {}, h("h2", {}, title), note ? h("p", {}, note) : null), content);
}

// Facts as a list of names and values; those without a value are left out.
const facts = (rows) =>
  h("dl", { class: "facts" }, rows.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
