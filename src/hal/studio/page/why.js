// Why a milestone is held to be possible: nearest known positives, and what the answer rests on.
import { fill, h, number, spaced } from "./dom.js";
import { between } from "./colours.js";
import { drawGrid } from "./pane.js";
import { drawCells, worldCell } from "./world.js";

const MOST_ROWS = 6;

export class WhyPanel {
  constructor(pane, again) {
    this.pane = pane;
    this.again = again;
    this.root = h("section", { className: "why" });
    this.clear();
  }

  clear() {
    fill(this.root, h("h3", { textContent: "Why?" }), h("p", { className: "note", textContent: "Click a milestone to see why it is held to be possible, or not." }));
  }

  show(message) {
    const { episode } = this.pane;
    if (message.step !== this.pane.step || !episode) return;
    const name = spaced(episode.milestones[message.milestone]);
    const head = h("h3", { textContent: `Why ${name}?` });
    if (message.none) {
      fill(this.root, head, h("p", { className: "note", textContent: message.none }));
      return;
    }
    this.pane.influence = message.influences.find((one) => episode.game && one.shape.length === 2) ?? null;
    fill(this.root, head, this.verdict(message), this.gauge(message),
      h("h4", { textContent: "Nearest known positives" }), this.nearest(message),
      h("h4", { textContent: "What the answer rests on" }), ...this.rests(message));
  }

  verdict(message) {
    const { episode, step } = this.pane;
    const truth = episode.truth?.[step][message.milestone];
    const says = message.probability > episode.threshold ? "possible" : "not possible";
    const told = truth === undefined ? "" : ` In truth it is ${truth ? "possible" : "not possible"}.`;
    return h("p", { className: "verdict", textContent: `f(s) = ${number(message.probability)}: ${says}, as the threshold is ${number(episode.threshold)}.${told}` });
  }

  gauge(message) {
    const { distance, margin, known } = message;
    if (distance === null) return h("p", { className: "note", textContent: `The filter has no population: ${known} positives are known.` });
    const words = distance < margin ? "within: a failure here would count as bad luck" : "beyond: a failure here would count as one";
    const most = Math.max(distance, margin) * 1.1 || 1;
    const bar = h("span", { className: "gauge" }, h("span", { className: "reach" }), h("span", { className: "mark" }));
    bar.firstChild.style.width = `${(100 * distance) / most}%`;
    bar.lastChild.style.left = `${(100 * margin) / most}%`;
    return h("div", {}, h("p", { className: "distance", textContent: `Distance of z(s) to the nearest of ${known} known positives ${number(message.nearest[0]?.distance, 3)}; to those that the filter has drawn ${number(distance, 3)}, its margin ${number(margin, 3)}: ${words}.` }), bar);
  }

  nearest(message) {
    if (!message.nearest.length) return h("p", { className: "note", textContent: "None is known." });
    const pictures = message.nearest.map((one) =>
      h("figure", {}, sightOf(one, this.pane.episode, this.pane.atlas), h("figcaption", { textContent: number(one.distance, 3) })));
    return h("div", { className: "nearest" }, ...pictures);
  }

  rests(message) {
    const found = message.influences.flatMap((one) => this.flat(one));
    const rows = found.filter(([, change]) => Math.abs(change) >= 0.005)
      .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, MOST_ROWS)
      .map(([text, change]) => h("tr", {}, h("td", { textContent: text }), h("td", { className: `number ${change < 0 ? "is" : "isnt"}`, textContent: `${change > 0 ? "+" : "−"}${Math.abs(change).toFixed(2)}` })));
    const note = "Change of f(s) if it were empty. In the picture, blue frames speak for the milestone, orange ones against it.";
    const table = rows.length ? h("table", { className: "rests" }, h("tbody", {}, ...rows)) : h("p", { className: "note", textContent: "On nothing alone: no single cell or count changes it." });
    const grids = this.pane.episode.game ? [] : message.influences.filter((one) => one.shape.length === 2).map((one) => this.grid(one));
    return [table, ...grids, h("p", { className: "note", textContent: note })];
  }

  grid(influence) {
    const most = Math.max(...influence.changes.flat().map(Math.abs), 0.02);
    const paint = (change) => between(Math.abs(change) / most, "--panel", change < 0 ? "--yes" : "--no");
    const canvas = drawGrid(h("canvas", { className: "grid" }), influence.changes, paint);
    return h("figure", {}, canvas, h("figcaption", { textContent: influence.part }));
  }

  flat(influence) {
    const { episode, step } = this.pane;
    const one = episode.steps[step];
    if (influence.shape.length === 1) {
      return influence.changes.map((change, i) => [episode.game && influence.kind === "counts" ? `${one.items[i]} × ${spaced(episode.game.items[i])}` : `${influence.part} ${i}`, change]);
    }
    const nested = influence.changes.flatMap((row, r) => [row].flat().map((change, c) => [r, c, change]));
    return nested.flatMap(([r, c, change]) => {
      if (!episode.game) return [[`${influence.part} row ${r + 1}, column ${c + 1}`, change]];
      const side = Math.sqrt(one.grid.length);
      const [row, col] = worldCell(one.agent, influence.shape[0], r, c);
      if (row < 0 || col < 0 || row >= side || col >= side) return [[`beyond the world, row ${row + 1}, column ${col + 1}`, change]];
      const tile = episode.game.tiles[one.grid.charCodeAt(row * side + col) - 48];
      return [[`${spaced(tile)} at row ${row + 1}, column ${col + 1}`, change]];
    });
  }
}

// A single observation: a view of our games, a picture, a grid of codes, or numbers.
export function sightOf(sight, episode, atlas) {
  if (sight.view) {
    const canvas = h("canvas", { className: "view" });
    drawCells(canvas, atlas, episode.game, sight.view, sight.agent);
    const held = sight.items.map((count, k) => (count ? `${count} ${spaced(episode.game.items[k])}` : "")).filter(Boolean);
    return h("div", { className: "sight" }, canvas, h("p", { textContent: held.join(", ") || "empty-handed" }));
  }
  return h("div", { className: "sight" }, ...sight.parts.map((part) => partOf(part)));
}

function partOf(part) {
  if (part.picture) return h("img", { className: "view", src: part.picture, alt: part.name });
  if (part.codes) {
    const most = Math.max(...part.codes.flat(), 1);
    return drawGrid(h("canvas", { className: "view", title: part.name }), part.codes, (code) => between(code / most));
  }
  return h("p", { textContent: `${part.name}: ${part.numbers.map((value) => (Number.isInteger(value) ? value : number(value))).join(" ")}` });
}
