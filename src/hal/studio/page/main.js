// The page: views, keys, and who gets which message.
import { fill, h } from "./dom.js";
import { Link } from "./link.js";
import { loadAtlas } from "./world.js";
import { RunsView } from "./runs.js";
import { EpisodeView } from "./episode.js";
import { CompareView } from "./compare.js";
import { MapView } from "./map.js";
import { ShareView } from "./share.js";

const VIEWS = ["runs", "episode", "interfere", "compare", "map", "share"];
const KEYS = {
  runs: "1–6 views",
  episode: "← → step (shift: 10) · space play · home end · [ ] milestones and timeouts · 1–6 views",
  interfere: "k take the keyboard · g let the agent go on · u undo · ← → step · 1–6 views",
  compare: "← → step both · d first difference · 1–6 views",
  map: "click a point · 1–6 views",
  share: "1–6 views",
};
const BUSY_MS = 150;

const byId = (id) => document.getElementById(id);
const atlases = new Map();

// What is open, as the server has it.
const desk = { runs: [], view: "runs", selected: [], opened: [null, null], places: [0, 0], milestone: 0, episodes: [null, null], atlases: [null, null], versions: [0, 0] };
const link = new Link(receive, (text) => { byId("status").textContent = text; });
const episodeView = new EpisodeView(byId("episode"), desk, link);
const views = {
  runs: new RunsView(byId("runs"), desk, link),
  episode: episodeView,
  interfere: episodeView,
  compare: new CompareView(byId("compare"), desk, link),
  map: new MapView(byId("map"), desk, link),
  share: new ShareView(byId("share"), desk, link),
};
const all = [...new Set(Object.values(views))];
let busyTimer = null;

fill(byId("views"), ...VIEWS.map((view, i) => {
  const button = h("button", { type: "button", title: `key ${i + 1}`, onclick: () => link.send("show", { view }) }, `${view[0].toUpperCase()}${view.slice(1)}`);
  button.dataset.view = view;
  return button;
}));

async function atlasOf(game) {
  if (!atlases.has(game)) atlases.set(game, loadAtlas(`/atlas/${game}`));
  return atlases.get(game);
}

async function receive(message) {
  const { kind } = message;
  if (kind === "busy") return setBusy(true);
  if (kind === "ready") return setBusy(false);
  if (kind === "error") return complain(message.text);
  if (kind === "desk") {
    Object.assign(desk, message);
    complain("");
    turnTo(desk.view);
  }
  if (kind === "runs") desk.runs = message.runs;
  if (kind === "episode") {
    const atlas = message.episode.game ? await atlasOf(message.episode.game.name) : null;
    desk.episodes[message.side] = message.episode;
    desk.atlases[message.side] = atlas;
    desk.versions[message.side] = message.version;
  }
  all.forEach((view) => view.receive(message));
  return null;
}

function setBusy(isBusy) {
  clearTimeout(busyTimer);
  if (isBusy) busyTimer = setTimeout(() => { byId("status").textContent = "working …"; }, BUSY_MS);
  else byId("status").textContent = "";
  document.body.dataset.busy = String(isBusy);
}

function complain(text) {
  byId("error").hidden = !text;
  byId("error").textContent = text;
}

function turnTo(view) {
  document.body.dataset.view = view;
  for (const id of ["runs", "episode", "compare", "map", "share"]) {
    byId(id).hidden = id !== (view === "interfere" ? "episode" : view);
  }
  for (const button of byId("views").children) {
    button.ariaCurrent = button.dataset.view === view ? "page" : null;
  }
  byId("keys").textContent = KEYS[view];
  views[view].refresh();
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("select, input:not([type=range]):not([type=checkbox])");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const isButton = event.target.matches("button, a, input") && [" ", "Enter"].includes(event.key);
  if (isButton) return;
  if (views[desk.view].key(event)) event.preventDefault();
  else if (/^[1-6]$/.test(event.key)) link.send("show", { view: VIEWS[Number(event.key) - 1] });
});
window.addEventListener("resize", () => views[desk.view].refresh());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => views[desk.view].refresh());
