// Episode and Interfere: one agent's episode, the reasons for its beliefs, and the tools to change it.
import { h } from "./dom.js";
import { Pane } from "./pane.js";
import { Opener } from "./opener.js";
import { Tools } from "./interfere.js";
import { WhyPanel } from "./why.js";

export class EpisodeView {
  constructor(root, desk, link) {
    this.desk = desk;
    this.link = link;
    this.opener = new Opener(desk, link, 0);
    this.pane = new Pane({
      seek: (step) => this.moved(step),
      pick: (milestone) => this.ask(milestone),
      cell: (row, col) => this.tools.cell(row, col),
      item: (item, amount) => this.tools.item(item, amount),
    });
    this.tools = new Tools(this.pane, desk, link);
    this.why = new WhyPanel(this.pane, () => this.ask(this.pane.picked));
    this.empty = h("p", { className: "note", textContent: "Choose a run, then play an episode." });
    this.pane.root.hidden = true;
    this.pane.left.append(this.tools.root);
    this.pane.right.append(this.why.root);
    root.append(this.opener.root, this.empty, this.pane.root);
  }

  receive(message) {
    if (message.kind === "runs" || message.kind === "desk") this.opener.refresh();
    if (message.side !== 0) return;
    if (message.kind === "episode") this.open();
    if (message.kind === "why") this.why.show(message);
    if (message.kind === "rates") this.pane.rates = message.rates;
    if (message.kind === "why" || message.kind === "rates") this.pane.refresh();
  }

  open() {
    const { desk, pane } = this;
    const episode = desk.episodes[0];
    const isOther = pane.episode === null || pane.episode.title !== episode.title || pane.episode.stage !== episode.stage || pane.episode.method !== episode.method;
    if (isOther) {
      pane.rates = null;
      pane.picked = -1;
      this.why.clear();
      this.link.send("rates", { side: 0 });
    }
    this.empty.hidden = true;
    pane.root.hidden = false;
    pane.open(episode, desk.places[0], desk.atlases[0], (step) => `/picture/0/${desk.versions[0]}/${step}`);
    this.tools.open();
    if (pane.picked >= 0) this.ask(pane.picked);
  }

  moved(step) {
    this.desk.places[0] = step;
    this.link.sendSoon("at", { side: 0, step });
    if (this.pane.picked >= 0) this.link.sendSoon("why", { side: 0, step, milestone: this.pane.picked });
  }

  ask(milestone) {
    this.pane.picked = milestone;
    this.link.send("why", { side: 0, step: this.pane.step, milestone });
  }

  refresh() {
    this.opener.refresh();
    this.pane.on.item = this.desk.view === "interfere" && this.pane.episode?.canEdit ? (k, n) => this.tools.item(k, n) : null;
    this.pane.refresh();
    this.tools.refresh();
  }

  key(event) {
    if (this.desk.view === "interfere" && this.tools.key(event)) return true;
    return this.pane.key(event);
  }
}
