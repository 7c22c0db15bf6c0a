// All contexts of an episode, or of the examples, in two dimensions.
import { choices, fill, h, labelled, percent, spaced } from "./dom.js";
import { NUM_HUES, between, css, hueOf, sharp, swatch } from "./colours.js";
import { sightOf } from "./why.js";

const EDGE = 14, NEAR = 24; // pixels

export class MapView {
  constructor(root, desk, link) {
    Object.assign(this, { desk, link });
    this.map = null;
    this.point = -1;
    this.of = h("select", { "aria-label": "points" });
    this.milestone = h("select", { "aria-label": "milestone" });
    this.colour = h("select", { "aria-label": "colour", onchange: () => this.refresh() });
    choices(this.of, [["episode", "this episode"], ["examples", "the examples"]], "episode");
    choices(this.colour, [["milestone", "milestone"], ["predicted", "predicted affordance"], ["truth", "true affordance"]], "milestone");
    this.of.onchange = this.milestone.onchange = () => this.ask();
    this.button = h("button", { type: "button", className: "main", textContent: "make the map", onclick: () => this.ask() });
    this.canvas = h("canvas", { className: "map", onclick: (event) => this.click(event) });
    this.what = h("p", { className: "note", textContent: "Open an episode, then make its map." });
    this.legend = h("ul", { className: "hues" });
    this.sight = h("div", { className: "looked" });
    const form = h("div", { className: "opener" }, labelled("points of", this.of), labelled("affordance of", this.milestone), labelled("coloured by", this.colour), this.button);
    root.append(form, h("div", { className: "body" }, h("div", { className: "seen" }, this.what, this.canvas, this.legend), this.sight));
  }

  receive(message) {
    if (message.kind === "episode" && message.side === 0) {
      const names = this.desk.episodes[0].milestones;
      choices(this.milestone, names.map((name, k) => [k, spaced(name)]), this.desk.milestone);
      this.map = null;
      if (this.desk.view === "map") this.ask();
    }
    if (message.kind === "map") {
      this.map = message;
      this.point = -1;
      fill(this.sight);
      this.refresh();
    }
    if (message.kind === "sight") this.look(message);
  }

  ask() {
    if (this.desk.episodes[0]) this.link.send("map", { of: this.of.value, milestone: Number(this.milestone.value) });
  }

  refresh() {
    if (!this.map) {
      if (this.desk.episodes[0] && this.desk.view === "map") this.ask();
      return;
    }
    const { map } = this;
    const [context, width, height] = sharp(this.canvas, Math.min(480, Math.max(280, window.innerHeight - 260)));
    context.clearRect(0, 0, width, height);
    this.spots = this.placed(width, height);
    this.spots.forEach(([x, y], i) => this.draw(context, x, y, i, false));
    if (this.point >= 0) this.draw(context, ...this.spots[this.point], this.point, true);
    this.what.textContent = `${map.places.length} states by their ${map.what}; the axes show ${percent(map.shares[0])} and ${percent(map.shares[1])} of the variance.`;
    this.tellHues();
  }

  placed(width, height) {
    const axis = (at, size) => {
      const values = this.map.places.map((place) => place[at]);
      const [least, most] = [Math.min(...values), Math.max(...values)];
      return (value) => EDGE + ((value - least) / (most - least || 1)) * (size - 2 * EDGE);
    };
    const [x, y] = [axis(0, width), axis(1, height)];
    return this.map.places.map((place) => [x(place[0]), height - y(place[1])]);
  }

  draw(context, x, y, i, isChosen) {
    const { map } = this;
    const size = isChosen ? 8 : map.places.length > 500 ? 3 : 5;
    context.beginPath();
    if (map.label[i]) context.arc(x, y, size, 0, 2 * Math.PI);
    else context.rect(x - size, y - size, 2 * size, 2 * size);
    context.fillStyle = this.hue(i);
    context.globalAlpha = isChosen ? 1 : 0.75;
    if (map.label[i]) context.fill();
    context.lineWidth = isChosen ? 3 : 1.2;
    context.strokeStyle = isChosen ? css("--ink") : this.hue(i);
    context.stroke();
    context.globalAlpha = 1;
    if (this.colour.value !== "milestone" || map.milestone[i] < NUM_HUES) return;
    context.fillStyle = css("--ground"); // hollow, where its swatch has stripes
    context.fillRect(x - size / 3, y - size / 3, (2 * size) / 3, (2 * size) / 3);
  }

  hue(i) {
    const { map } = this;
    const by = this.colour.value;
    if (by === "milestone") return hueOf(map.milestone[i]);
    const values = map[by];
    if (!values || values[i] < 0) return css("--faint");
    return by === "truth" ? css(values[i] ? "--yes" : "--no") : between(values[i], "--no", "--yes");
  }

  tellHues() {
    const { map } = this;
    const names = this.desk.episodes[0].milestones;
    const by = this.colour.value;
    const known = [...new Set(map.milestone)].filter((k) => k >= 0).sort((a, b) => a - b);
    const mark = (name) => {
      const span = h("span", { className: "swatch" });
      span.style.background = css(name);
      return span;
    };
    const entries = by === "milestone" ? known.map((k) => [swatch(k), spaced(names[k])])
      : [[mark("--yes"), "possible"], [mark("--no"), "not possible"], [mark("--faint"), "not known"]];
    const shapes = map.of === "examples" ? "discs are positives, squares negatives" : by === "milestone" ? "the milestone that comes next" : `affordance of ${spaced(names[map.about])}`;
    fill(this.legend, ...entries.map(([one, text]) => h("li", {}, one, text)), h("li", { textContent: shapes }));
  }

  click(event) {
    if (!this.map) return;
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const far = this.spots.map(([a, b]) => Math.hypot(a - x, b - y));
    const nearest = far.indexOf(Math.min(...far));
    if (far[nearest] <= NEAR) this.link.send("look", { point: nearest });
  }

  look(message) {
    if (!this.map) return;
    this.point = message.point;
    const names = this.desk.episodes[0].milestones;
    const k = this.map.milestone[message.point];
    const isStep = this.map.of === "episode";
    const kind = this.map.label[message.point] ? "a positive" : "a negative";
    const name = k < 0 ? "nothing more" : spaced(names[k]);
    const words = [isStep ? `step ${message.point}, before ${name}` : `${kind} of ${name}`];
    const predicted = this.map.predicted?.[message.point];
    if (predicted !== undefined) words.push(`f(s) of ${spaced(names[this.map.about])}: ${predicted.toFixed(2)}`);
    const go = isStep ? [h("button", { type: "button", textContent: "show this step", onclick: () => this.goTo(message.point) })] : [];
    fill(this.sight, h("h3", { textContent: words[0] }), ...words.slice(1).map((text) => h("p", { textContent: text })), sightOf(message, this.desk.episodes[0], this.desk.atlases[0]), ...go);
    this.refresh();
  }

  goTo(step) {
    this.desk.places[0] = step;
    this.link.send("at", { side: 0, step });
    this.link.send("show", { view: "episode" });
  }

  key() {
    return false;
  }
}
