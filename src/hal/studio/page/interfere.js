// The tools of Interfere: another subtask, the keyboard, another world; and undo.
import { fill, h, spaced } from "./dom.js";
import { agentPicture, tilePicture } from "./world.js";

const MOST = 500;
const WAYS = { ArrowLeft: 0, a: 0, ArrowRight: 1, d: 1, ArrowUp: 2, w: 2, ArrowDown: 3, s: 3 };

export class Tools {
  constructor(pane, desk, link) {
    Object.assign(this, { pane, desk, link });
    this.tool = null; // a tile's code, or "agent"
    this.hasKeyboard = false;
    this.root = h("section", { className: "tools" });
  }

  send(name, values = {}) {
    this.link.send(name, { side: 0, ...values });
  }

  open() {
    const { episode } = this.pane;
    if (episode.isOver && this.pane.step === episode.steps.length - 1) this.hasKeyboard = false;
    this.refresh();
  }

  refresh() {
    const { episode, atlas } = this.pane;
    this.root.hidden = this.desk.view !== "interfere" || !episode;
    this.pane.root.classList.toggle("editing", !this.root.hidden && this.tool !== null);
    if (this.root.hidden) return;
    const button = (text, title, onclick, isOn = false) => h("button", { type: "button", textContent: text, title, onclick, ariaPressed: String(isOn) });
    fill(this.root,
      h("div", { className: "row" },
        button(this.hasKeyboard ? "give the keyboard back (k)" : "take the keyboard (k)", "steer the agent yourself", () => this.toggleKeyboard(), this.hasKeyboard),
        button("let the agent go on (g)", "from this state to the end", () => this.goOn()),
        button(`undo (u) ${episode.canUndo || ""}`, "take the last change back", () => this.send("undo"))),
      h("p", { className: "note", hidden: !this.hasKeyboard, textContent: episode.game ? "Arrows or WASD move, space is the first other action, numbers are the rest." : "Numbers are the actions." }),
      h("h4", { textContent: "Do an action" }),
      h("div", { className: "row" }, ...episode.actions.map((name, k) => button(spaced(name), this.keyOf(k), () => this.act(k)))),
      h("h4", { textContent: "Force a subtask", hidden: !episode.subtasks.length }),
      h("div", { className: "row subtasks" }, ...episode.subtasks.map((name, k) => button(spaced(name), "have the agent pursue it from here", () => this.send("force", { step: this.pane.step, subtask: k, most: MOST })))),
      ...(episode.canEdit ? this.palette(atlas) : [h("p", { className: "note", textContent: "The state of this environment cannot be changed." })]));
  }

  palette(atlas) {
    const { game } = this.pane.episode;
    const pick = (tool, picture, title) => {
      const isOn = this.tool === tool;
      return h("button", { type: "button", className: "tile", title, ariaPressed: String(isOn), ariaLabel: title, onclick: () => { this.tool = isOn ? null : tool; this.refresh(); } }, picture);
    };
    const tiles = game.tiles.map((name, code) => pick(code, tilePicture(atlas, code), spaced(name)));
    const doors = game.tiles.some((name) => name.startsWith("open_")) ? " A click on a door opens or closes it." : "";
    const what = this.tool === null ? `Choose a tile or the agent, then click a cell; clicking the agent turns it.${doors}` : "Now click a cell.";
    return [h("h4", { textContent: "Change the world" }), h("div", { className: "row palette" }, pick("agent", agentPicture(atlas, game), "the agent"), ...tiles), h("p", { className: "note", textContent: what })];
  }

  keyOf(action) {
    if (!this.pane.episode.game) return `key ${action}`;
    return ["key ←", "key →", "key ↑", "key ↓", "key space"][action] ?? `key ${action - 4}`;
  }

  toggleKeyboard() {
    this.hasKeyboard = !this.hasKeyboard;
    document.activeElement?.blur();
    this.refresh();
  }

  goOn() {
    this.hasKeyboard = false;
    this.send("go_on", { step: this.pane.step, most: MOST });
  }

  act(action) {
    if (action < this.pane.episode.actions.length) this.send("act", { step: this.pane.step, action });
  }

  cell(row, col) {
    const { episode, step } = this.pane;
    if (this.desk.view !== "interfere" || !episode.canEdit) return;
    const one = episode.steps[step];
    const [agentRow, agentCol, direction] = one.agent;
    const tile = episode.game.tiles[one.grid.charCodeAt(row * Math.sqrt(one.grid.length) + col) - 48];
    const isDoor = tile.endsWith("_door");
    if (this.tool === null && !isDoor) return;
    const isThere = agentRow === row && agentCol === col;
    const edit = { step, what: "tile", row, col, code: 0, amount: 0 };
    if (this.tool === null) edit.what = "door";
    else if (this.tool === "agent") Object.assign(edit, { what: "agent", amount: isThere ? (direction + 1) % 4 : direction });
    else edit.code = this.tool;
    this.send("edit", edit);
  }

  item(code, amount) {
    this.send("edit", { step: this.pane.step, what: "item", row: 0, col: 0, code, amount });
  }

  key(event) {
    const { key } = event;
    if (!this.pane.episode) return false;
    if (this.hasKeyboard) {
      const { game } = this.pane.episode;
      if (game && key in WAYS) return this.acted(WAYS[key]);
      if (game && key === " ") return this.acted(4);
      if (/^[0-9]$/.test(key)) return this.acted(game ? Number(key) + 4 : Number(key));
    }
    const does = { k: () => this.toggleKeyboard(), Escape: () => this.hasKeyboard && this.toggleKeyboard(), g: () => this.goOn(), u: () => this.send("undo") };
    if (!(key in does)) return false;
    does[key]();
    return true;
  }

  acted(action) {
    this.act(action);
    return true;
  }
}
