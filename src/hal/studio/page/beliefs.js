// What the agent believes at a step, as tables: of milestones, and of actions.
import { fill, h, number, percent, spaced } from "./dom.js";
import { swatch } from "./colours.js";

const HEADS = [
  ["milestone", "what can be collected"],
  ["f(s)", "the probability that it can be collected next"],
  ["true", "whether it can"],
  ["value", "what the meta-controller expects of it"],
  ["success", "how often options that pursue it succeed"],
];

export function fillBeliefs(table, episode, at, rates, picked, onPick) {
  const of = (rows) => (rows ? rows[at] : null);
  const [probability, afforded, truth, values] = ["probability", "afforded", "truth", "values"].map(
    (name) => of(episode[name]),
  );
  const names = episode.subtasks.length ? episode.subtasks : episode.milestones;
  const best = bestOf(values, afforded);
  const pursued = episode.subtasks.length ? episode.steps[at].subtask : -1;
  const rows = names.map((name, k) => {
    const isMilestone = k < episode.milestones.length;
    const isPruned = isMilestone && afforded !== null && !afforded[k];
    const row = h(
      "tr",
      { className: [isPruned && "pruned", k === pursued && "pursued", k === picked && "picked"].filter(Boolean).join(" ") },
      h("th", { scope: "row" }, nameCell(name, k, k === pursued, onPick && isMilestone ? () => onPick(k) : null)),
      probabilityCell(isMilestone && probability ? probability[k] : null, isPruned),
      truthCell(isMilestone && truth ? truth[k] : null, isMilestone && afforded ? afforded[k] : null),
      h("td", { className: k === best ? "number best" : "number", textContent: number(values ? values[k] : null) }),
      h("td", { className: "number", textContent: percent(isMilestone && rates ? rates[k] : null) }),
    );
    row.dataset.milestone = name;
    return row;
  });
  const heads = HEADS.map(([text, title]) => h("th", { scope: "col", textContent: text, title }));
  fill(table, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows));
}

function bestOf(values, afforded) {
  if (!values) return -1;
  const ranks = values.map((v, k) => (v === null || (afforded && k < afforded.length && !afforded[k]) ? -Infinity : v));
  const most = Math.max(...ranks);
  return most === -Infinity ? -1 : ranks.indexOf(most);
}

function nameCell(name, k, isPursued, onClick) {
  const text = `${isPursued ? "▶ " : ""}${spaced(name)}`;
  const inner = onClick ? h("button", { className: "plain", type: "button", textContent: text, title: "why?", onclick: onClick }) : h("span", { textContent: text });
  return h("span", { className: "name" }, swatch(k), inner);
}

function probabilityCell(value, isPruned) {
  if (value === null) return h("td", { className: "number", textContent: "–" });
  const bar = h("span", { className: "bar" }, h("span", { className: isPruned ? "full cut" : "full" }));
  bar.firstChild.style.width = `${100 * value}%`;
  return h("td", { className: "number" }, h("span", { className: "barred" }, bar, h("span", { textContent: number(value) })));
}

function truthCell(truth, afforded) {
  if (truth === null) return h("td", { className: "truth", textContent: "–" });
  const isWrong = afforded !== null && Boolean(afforded) !== Boolean(truth);
  const text = `${truth ? "yes" : "no"}${isWrong ? " ≠" : ""}`;
  const title = isWrong ? "the agent is wrong here" : "";
  return h("td", { className: `truth ${truth ? "is" : "isnt"}${isWrong ? " wrong" : ""}`, textContent: text, title });
}

export function fillActions(element, episode, at) {
  const values = episode.actionValues[at];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const next = episode.steps[at].next;
  const rows = values.map((value, action) => {
    const bar = h("span", { className: "bar" }, h("span", { className: "full" }));
    bar.firstChild.style.width = `${most > least ? (100 * (value - least)) / (most - least) : 0}%`;
    return h(
      "li",
      { className: action === next ? "chosen" : "" },
      h("span", { className: "action", textContent: `${action === next ? "▶ " : ""}${spaced(episode.actions[action])}` }),
      bar,
      h("span", { className: "number", textContent: number(value) }),
    );
  });
  fill(element, ...rows);
}

export function sentence(episode, at) {
  const one = episode.steps[at];
  const words = [`step ${at} of ${episode.steps.length - 1}`];
  if (one.by === "hand") words.push(`by hand: ${spaced(one.did)}`);
  else if (one.by === "edit") words.push("changed by you");
  else if (one.did !== null) words.push(`did ${spaced(one.did)}`);
  if (one.got !== null) words.push(`got ${spaced(episode.milestones[one.got])}`);
  if (one.timeout) words.push("timed out");
  const isEnd = at === episode.steps.length - 1 && episode.isOver;
  if (isEnd) words.push("the episode is over");
  else if (episode.subtasks.length) words.push(`${one.forced ? "is told to pursue" : "pursues"} ${spaced(episode.subtasks[one.subtask])}`);
  return words.join(" · ");
}
