// One episode to go through: its picture, its timeline, what the agent believes.
import { fill, h } from "./dom.js";
import { cellAt, drawCells, drawInfluence, itemPicture } from "./world.js";
import { drawTimeline, stepAt } from "./timeline.js";
import { fillActions, fillBeliefs, sentence } from "./beliefs.js";

const PLAY_MS = 125;

export class Pane {
  // `on` may have: seek(step), pick(milestone), cell(row, col), item(item, change)
  constructor(on = {}) {
    this.on = on;
    this.episode = this.atlas = this.rates = this.influence = null;
    this.step = 0;
    this.picked = -1;
    this.pictureOf = () => null;
    this.timer = null;
    this.build();
  }

  build() {
    this.canvas = h("canvas", { className: "world" });
    this.image = h("img", { className: "world", alt: "what the environment shows", hidden: true });
    this.blank = h("p", { className: "note", textContent: "This environment shows no picture.", hidden: true });
    this.items = h("ul", { className: "items" });
    this.now = h("p", { className: "now" });
    this.timeline = h("canvas", { className: "timeline", tabIndex: 0 });
    this.playButton = h("button", { type: "button", textContent: "▶ play", onclick: () => this.toggle() });
    this.slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "step", oninput: () => this.seek(Number(this.slider.value)) });
    this.table = h("table", { className: "beliefs" });
    this.actions = h("ol", { className: "actions" });
    this.canvas.onclick = (event) => this.on.cell?.(...cellAt(this.canvas, event));
    this.timeline.onpointerdown = (event) => this.drag(event);
    this.timeline.onpointermove = (event) => event.buttons && this.drag(event);
    const button = (text, title, to) => h("button", { type: "button", textContent: text, title, onclick: () => this.seek(to()) });
    this.head = h("div", { className: "head" }, this.now, this.timeline,
      h("p", { className: "legend", textContent: "▼ milestone   ✕ timeout   ▲ interference" }),
      h("div", { className: "controls" },
        button("|◀", "to the start", () => 0),
        button("◀", "a step back", () => this.step - 1),
        this.playButton,
        button("▶", "a step on", () => this.step + 1),
        button("▶|", "to the end", () => Infinity),
        this.slider));
    this.left = h("div", { className: "seen" }, this.canvas, this.image, this.blank, this.items);
    this.right = h("div", { className: "thought" },
      h("h3", { textContent: "Milestones" }), this.table,
      h("h3", { textContent: "Actions, for the present subtask" }), this.actions);
    this.root = h("div", { className: "pane" }, this.head, h("div", { className: "body" }, this.left, this.right));
  }

  drag(event) {
    if (this.episode) this.seek(stepAt(this.timeline, this.episode, event));
  }

  open(episode, step, atlas, pictureOf) {
    Object.assign(this, { episode, atlas, pictureOf, influence: null });
    this.slider.max = String(episode.steps.length - 1);
    this.show(Math.min(step, episode.steps.length - 1));
  }

  seek(step) {
    if (!this.episode) return;
    const last = this.episode.steps.length - 1;
    const to = Math.max(0, Math.min(step, last));
    if (to === this.step) return;
    this.influence = null;
    this.show(to);
    this.on.seek?.(to);
  }

  show(step) {
    this.step = step;
    this.slider.value = String(step);
    const { episode } = this;
    fillBeliefs(this.table, episode, step, this.rates, this.picked, this.on.pick);
    fillActions(this.actions, episode, step);
    this.now.textContent = sentence(episode, step);
    this.drawPicture();
    drawTimeline(this.timeline, episode, step);
  }

  refresh() {
    if (this.episode) this.show(this.step);
  }

  drawPicture() {
    const { episode, step, atlas } = this;
    const one = episode.steps[step];
    const source = episode.game ? null : this.pictureOf(step);
    this.canvas.hidden = !episode.game;
    this.image.hidden = !source;
    this.blank.hidden = Boolean(episode.game || source);
    if (source) this.image.src = source;
    if (!episode.game || !atlas) return fill(this.items);
    const context = drawCells(this.canvas, atlas, episode.game, one.grid, one.agent);
    if (this.influence) drawInfluence(context, one.agent, this.influence, Math.sqrt(one.grid.length));
    fill(this.items, ...this.itemsOf(one));
    return null;
  }

  itemsOf(one) {
    const { game } = this.episode;
    const change = (k, by) => h("button", { type: "button", textContent: by < 0 ? "−" : "+", title: `${by < 0 ? "fewer" : "more"} ${game.items[k]}`, onclick: () => this.on.item(k, one.items[k] + by) });
    return one.items.map((count, k) =>
      h("li", { className: count ? "held" : "", title: game.items[k] },
        itemPicture(this.atlas, game, k),
        h("span", { textContent: String(count) }),
        ...(this.on.item ? [h("span", { className: "change" }, change(k, -1), change(k, 1))] : [])));
  }

  toggle() {
    if (this.timer) return this.pause();
    if (!this.episode) return null;
    if (this.step >= this.episode.steps.length - 1) this.seek(0);
    this.playButton.textContent = "⏸ pause";
    this.timer = setInterval(() => {
      if (this.step >= this.episode.steps.length - 1) this.pause();
      else this.seek(this.step + 1);
    }, PLAY_MS);
    return null;
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.playButton.textContent = "▶ play";
    return null;
  }

  // The next or previous step at which something was collected, or an option timed out.
  event(way) {
    for (let at = this.step + way; at >= 0 && at < this.episode.steps.length; at += way) {
      const one = this.episode.steps[at];
      if (one.got !== null || one.timeout || one.by !== "agent") return at;
    }
    return way > 0 ? Infinity : 0;
  }

  key(event) {
    const far = event.shiftKey ? 10 : 1;
    const moves = {
      ArrowLeft: () => this.step - far, ArrowRight: () => this.step + far,
      Home: () => 0, End: () => Infinity, "[": () => this.event(-1), "]": () => this.event(1),
    };
    if (!this.episode) return false;
    if (event.key === " ") this.toggle();
    else if (event.key in moves) this.seek(moves[event.key]());
    else return false;
    return true;
  }
}

// Codes or shares of a grid as a small picture.
export function drawGrid(canvas, rows, paint) {
  const side = Math.max(4, Math.floor(160 / Math.max(rows.length, rows[0].length)));
  canvas.width = rows[0].length * side;
  canvas.height = rows.length * side;
  const context = canvas.getContext("2d");
  rows.forEach((row, r) => row.forEach((value, c) => {
    context.fillStyle = paint(value);
    context.fillRect(c * side, r * side, side, side);
  }));
  return canvas;
}
