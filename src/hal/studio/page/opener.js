// Which agent, at which moment of its training, in which world: a line of choices.
import { choices, fill, h, labelled } from "./dom.js";

export class Opener {
  constructor(desk, link, side, text = "play episode") {
    Object.assign(this, { desk, link, side });
    this.run = h("select", { onchange: () => { this.isMine = true; this.fillStages(); } });
    this.stage = h("select");
    this.seed = h("input", { type: "number", min: 0, max: 2147483647, value: 3 });
    this.epsilon = h("input", { type: "number", min: 0, max: 1, step: 0.05, value: 0 });
    this.most = h("input", { type: "number", min: 1, max: 2000, value: 500 });
    this.button = h("button", { type: "submit", className: "main", textContent: text });
    this.consent = h("p", { className: "consent", hidden: true });
    this.root = h("form", { className: "opener", onsubmit: (event) => { event.preventDefault(); this.play(); } },
      labelled("agent", this.run), labelled("stage", this.stage), labelled("seed", this.seed),
      labelled("exploration", this.epsilon), labelled("most steps", this.most), this.button, this.consent);
  }

  refresh() {
    const { desk, side } = this;
    const opened = desk.opened[side] ?? desk.opened[0];
    const runs = desk.runs.filter((run) => run.stages.length);
    const before = this.isMine || !opened ? this.run.value : opened[0];
    choices(this.run, runs.map((run) => [run.number, run.name]), before);
    this.fillStages();
  }

  fillStages() {
    const run = this.desk.runs.find((one) => String(one.number) === this.run.value);
    const opened = this.desk.opened[this.side];
    const before = !this.isMine && opened ? opened[1] : this.stage.value;
    choices(this.stage, (run?.stages ?? []).map((stage) => [stage, stage.replace(/^step-0*/, "step ")]), before);
    this.consent.hidden = !run?.isForeign;
    if (run?.isForeign) {
      const agree = h("button", { type: "button", textContent: "import it", onclick: () => this.link.send("agree", { run: run.number }) });
      fill(this.consent, `This run would import ${run.task}. If you know it: `, agree);
    }
  }

  play() {
    if (!this.run.value || !this.stage.value) return;
    this.isMine = false;
    this.link.send("play", {
      side: this.side, run: Number(this.run.value), stage: this.stage.value,
      seed: Number(this.seed.value), epsilon: Number(this.epsilon.value), most: Number(this.most.value),
    });
  }
}
