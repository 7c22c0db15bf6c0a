// The runs, what they have learned and when.
import uPlot from "./uplot/uPlot.esm.js";
import { choices, fill, h, labelled, percent, spaced } from "./dom.js";
import { between, css, hueOf, sharp } from "./colours.js";

const ROW = 20, CHART_HEIGHT = 260;
const STATES = { done: "✓ done", running: "● running", stopped: "❚❚ stopped", failed: "✕ failed", damaged: "✕ damaged" };

export class RunsView {
  constructor(root, desk, link) {
    Object.assign(this, { desk, link });
    this.chart = null;
    this.learned = null;
    this.table = h("table", { className: "runs" });
    this.metric = h("select", { onchange: () => this.select() });
    this.along = h("select", { onchange: () => this.select() });
    this.kind = h("select", { onchange: () => this.select() });
    choices(this.along, [["steps", "environment steps"], ["cpu_seconds", "CPU seconds"]], "steps");
    this.box = h("div", { className: "chart" });
    this.heat = h("div", { className: "heats" });
    this.note = h("p", { className: "note" });
    this.curves = h("div", { className: "curves" },
      h("div", { className: "opener" }, labelled("curves of", this.metric), labelled("against", this.along)), this.note, this.box,
      h("div", { className: "opener" }, labelled("what was learned when", this.kind)), this.heat);
    root.append(h("div", { className: "body" }, h("div", { className: "list" }, this.table), this.curves));
  }

  receive(message) {
    if (message.kind === "runs" || message.kind === "desk") this.fillTable();
    if (message.kind === "learned") {
      this.learned = message;
      this.refresh();
    }
  }

  fillTable() {
    const { desk } = this;
    const key = JSON.stringify([desk.runs, desk.selected]);
    if (key === this.shown) return; // or a click or the focus might be lost
    this.shown = key;
    const focused = document.activeElement?.ariaLabel;
    const every = h("input", { type: "checkbox", "aria-label": "all runs", checked: desk.selected.length > 0 && desk.selected.length >= Math.min(desk.runs.length, 200), onchange: () => this.select(every.checked ? desk.runs.slice(0, 200).map((run) => run.number) : []) });
    const heads = ["run", "state", "progress", "success", "CPU"].map((text) => h("th", { scope: "col", textContent: text, className: ["CPU", "progress"].includes(text) ? "rare" : "" }));
    fill(this.table, h("thead", {}, h("tr", {}, h("th", {}, every), ...heads, h("th"))), h("tbody", {}, ...desk.runs.map((run) => this.row(run))));
    if (focused) [...this.table.querySelectorAll("input")].find((one) => one.ariaLabel === focused)?.focus();
  }

  row(run) {
    const box = h("input", { type: "checkbox", "aria-label": run.name, checked: this.desk.selected.includes(run.number), onchange: () => this.toggle(run.number) });
    const success = run.greedy !== null && run.greedy !== undefined ? `${percent(run.greedy)} greedy` : run.online !== null && run.online !== undefined ? `${percent(run.online)} online` : "–";
    const about = run.task ? h("span", { className: "note", textContent: `${spaced(run.task)} · ${run.method} · seed ${run.seed}` }) : null;
    const note = run.note ? h("span", { className: "note fault", textContent: run.note }) : null;
    const open = run.stages.length ? h("button", { type: "button", textContent: "open", title: "play an episode of its agent", onclick: () => this.open(run) }) : null;
    const seconds = run.seconds === null || run.seconds === undefined ? "–" : `${Math.round(run.seconds)} s`;
    return h("tr", { className: run.state },
      h("td", {}, box), h("td", { className: "who" }, h("span", { textContent: run.name }), about, note),
      h("td", { className: "state", textContent: STATES[run.state] ?? run.state }), h("td", { className: "number rare", textContent: percent(run.progress) }),
      h("td", { className: "number", textContent: success }), h("td", { className: "number rare", textContent: seconds }), h("td", {}, open));
  }

  open(run) {
    this.link.send("show", { view: "episode" });
    this.link.send("play", { side: 0, run: run.number, stage: run.stages[0], seed: 3, epsilon: 0, most: 500 });
  }

  toggle(number) {
    const { selected } = this.desk;
    this.select(selected.includes(number) ? selected.filter((one) => one !== number) : [...selected, number]);
  }

  select(runs = this.desk.selected) {
    this.link.send("select", { runs, metric: this.metric.value || "episode/success", along: this.along.value, heat: this.kind.value || this.desk.heatKinds[0] });
  }

  refresh() {
    const { desk, learned } = this;
    if (!learned) return;
    this.curves.hidden = desk.selected.length === 0;
    if (this.curves.hidden || desk.view !== "runs") return;
    const names = learned.metrics.includes(desk.metric) ? learned.metrics : [desk.metric, ...learned.metrics];
    choices(this.metric, names.map((name) => [name, name]), desk.metric);
    choices(this.kind, desk.heatKinds.map((name) => [name, spaced(name)]), desk.heatKind);
    this.along.value = desk.along;
    this.drawChart();
    fill(this.heat, ...learned.heat.map((group) => this.heatOf(group)));
    learned.heat.forEach((group, i) => drawHeat(this.heat.querySelectorAll("canvas")[i], group.rows));
  }

  drawChart() {
    const { curves } = this.learned;
    this.chart?.destroy();
    this.chart = null;
    this.note.textContent = curves.length ? "" : "These runs have no such metric.";
    if (!curves.length) return;
    const joined = uPlot.join(curves.map((one) => [one.along, one.mean, one.low, one.high]));
    const ink = css("--ink"), faint = css("--line");
    const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint }, font: "12px system-ui, sans-serif" };
    const text = (u, value) => (value === null || value === undefined ? "–" : value.toPrecision(3));
    const series = curves.flatMap((one, i) => [
      { label: one.label, stroke: hueOf(i), width: 2, dash: i >= 9 ? [6, 4] : [], value: text, spanGaps: true },
      { label: `${one.label} low`, stroke: "transparent", points: { show: false }, spanGaps: true },
      { label: `${one.label} high`, stroke: "transparent", points: { show: false }, spanGaps: true },
    ]);
    const bands = curves.map((one, i) => ({ series: [3 * i + 3, 3 * i + 2], fill: `${hueOf(i)}33` }));
    this.chart = new uPlot({
      width: Math.max(this.box.clientWidth, 280), height: CHART_HEIGHT, bands,
      scales: { x: { time: false }, y: { range: rangeOf } }, cursor: { drag: { x: true, y: false } },
      axes: [{ ...axis, values: (u, ticks) => ticks.map(short), space: 60 }, { ...axis, size: 56 }],
      series: [{ label: this.desk.along === "steps" ? "steps" : "seconds" }, ...series],
    }, joined, this.box);
    this.box.querySelectorAll(".u-series").forEach((row, i) => { row.hidden = i > 0 && (i - 1) % 3 !== 0; });
  }

  heatOf(group) {
    return h("figure", {}, h("figcaption", { textContent: group.label }), h("canvas", { className: "heat" }));
  }

  key() {
    return false;
  }
}

// Rates from 0 to 1, other metrics as they are.
function rangeOf(u, least, most) {
  if (least === null) return [0, 1];
  if (least >= 0 && most <= 1) return [0, 1];
  const room = 0.05 * (most - least || 1);
  return [least - room, most + room];
}

function short(value) {
  if (Math.abs(value) >= 1e6) return `${+(value / 1e6).toFixed(2)}M`;
  return Math.abs(value) >= 1e3 ? `${+(value / 1e3).toFixed(1)}k` : String(+value.toFixed(2));
}

function drawHeat(canvas, rows) {
  const [context, width, height] = sharp(canvas, ROW * (rows.length + 2) + 6);
  const names = Math.min(Math.max(...rows.map((row) => context.measureText(spaced(row.title)).width)) + 8, width / 2);
  const last = Math.max(...rows.flatMap((row) => row.along));
  const x = (steps) => names + (steps / last) * (width - names);
  context.textBaseline = "middle";
  rows.forEach((row, r) => {
    context.fillStyle = css("--ink");
    context.fillText(spaced(row.title), 0, r * ROW + ROW / 2, names - 6);
    row.values.forEach((value, i) => {
      if (value === null) return;
      const left = x(i ? row.along[i - 1] : 0);
      context.fillStyle = between(Math.max(0, Math.min(value, 1)));
      context.fillRect(left, r * ROW + 1, x(row.along[i]) - left + 0.5, ROW - 2);
    });
  });
  drawScale(context, names, width, height, last);
}

function drawScale(context, left, width, height, last) {
  const top = height - 2 * ROW;
  context.fillStyle = css("--ink");
  context.fillText("0", left, top + 8);
  const end = `${short(last)} steps`;
  context.fillText(end, width - context.measureText(end).width, top + 8);
  const [from, to] = ["0%", "100%"].map((text) => context.measureText(text).width + 6);
  for (let i = 0; i < 40; i++) {
    context.fillStyle = between(i / 39);
    context.fillRect(left + from + i * 3, top + ROW, 3.5, 12);
  }
  context.fillStyle = css("--ink");
  context.fillText("0%", left, top + ROW + 6);
  context.fillText("100%", left + from + 126, top + ROW + 6, to);
}
