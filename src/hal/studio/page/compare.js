// Two agents, or one at two moments of its training, in the same world side by side.
import { h, spaced } from "./dom.js";
import { Opener } from "./opener.js";
import { Pane } from "./pane.js";

export class CompareView {
  constructor(root, desk, link) {
    Object.assign(this, { desk, link });
    this.openers = [0, 1].map((side) => new Opener(desk, link, side, side ? "play the second" : "play the first"));
    this.panes = [0, 1].map(() => new Pane({ seek: (step) => this.seek(step) }));
    this.shown = ["", ""];
    this.titles = [0, 1].map(() => h("h3"));
    this.verdict = h("p", { className: "verdict" });
    this.button = h("button", { type: "button", textContent: "first difference (d)", onclick: () => this.jump() });
    const sides = [0, 1].map((side) => h("div", { className: "side" }, this.titles[side], this.openers[side].root, this.panes[side].root));
    this.panes.forEach((pane) => { pane.root.hidden = true; });
    root.append(h("div", { className: "row" }, this.button, this.verdict), h("div", { className: "sides" }, ...sides));
  }

  receive(message) {
    if (message.kind === "runs" || message.kind === "desk") this.openers.forEach((opener) => opener.refresh());
    const { side } = message;
    if (message.kind === "rates") {
      this.panes[side].rates = message.rates;
      this.panes[side].refresh();
    }
    if (message.kind !== "episode") return;
    const { desk } = this;
    const pane = this.panes[side];
    pane.root.hidden = false;
    pane.open(desk.episodes[side], Math.min(this.panes[1 - side].step, desk.episodes[side].steps.length - 1), desk.atlases[side], (step) => `/picture/${side}/${desk.versions[side]}/${step}`);
    const { title, method, stage, seed } = desk.episodes[side];
    this.titles[side].textContent = `${spaced(title)}, ${method}, ${stage}, seed ${seed}`;
    this.openers[1 - side].seed.value = String(seed);
    if (this.shown[side] !== `${title} ${method} ${stage}`) {
      this.shown[side] = `${title} ${method} ${stage}`;
      pane.rates = null;
      if (side === 1) this.link.send("rates", { side }); // the episode's view asks for the first
    }
    this.tell();
  }

  // The first step at which they pursue or do something else, or are somewhere else.
  difference() {
    const [one, other] = this.desk.episodes;
    if (!one || !other || one.title !== other.title || one.seed !== other.seed) return null;
    const count = Math.min(one.steps.length, other.steps.length);
    const name = (episode, at) => episode.subtasks[episode.steps[at].subtask];
    for (let at = 0; at < count; at++) {
      const [a, b] = [one.steps[at], other.steps[at]];
      if (a.grid !== b.grid || String(a.agent) !== String(b.agent) || String(a.items) !== String(b.items)) return [at, "they are in other states"];
      if (name(one, at) !== name(other, at)) return [at, `they pursue ${spaced(name(one, at) ?? "the task")} and ${spaced(name(other, at) ?? "the task")}`];
      if (a.next !== b.next) return [at, `they do ${spaced(one.actions[a.next])} and ${spaced(other.actions[b.next])}`];
    }
    return one.steps.length === other.steps.length ? [-1, "they are the same"] : [count - 1, "one of them ends"];
  }

  tell() {
    const found = this.difference();
    this.button.disabled = !found || found[0] < 0;
    const both = this.desk.episodes.every(Boolean);
    if (!found) this.verdict.textContent = both ? "They play in different worlds: take the same task and the same seed." : "Play both in the same world.";
    else this.verdict.textContent = found[0] < 0 ? "They do the same all along." : `They first differ at step ${found[0]}: ${found[1]}.`;
  }

  jump() {
    const found = this.difference();
    if (found && found[0] >= 0) this.seek(found[0]);
  }

  seek(step) {
    this.panes.forEach((pane) => {
      if (pane.episode) pane.show(Math.min(step, pane.episode.steps.length - 1));
    });
  }

  refresh() {
    this.openers.forEach((opener) => opener.refresh());
    this.panes.forEach((pane) => pane.refresh());
    this.tell();
  }

  key(event) {
    if (event.key === "d") {
      this.jump();
      return true;
    }
    const leader = this.panes.reduce((a, b) => ((b.episode?.steps.length ?? 0) > (a.episode?.steps.length ?? 0) ? b : a));
    return leader.key(event);
  }
}
