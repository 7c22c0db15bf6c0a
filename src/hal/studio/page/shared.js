// The page that is given away: an episode with all that the agent believed.
import { spaced } from "./dom.js";
import { loadAtlas } from "./world.js";
import { Pane } from "./pane.js";

async function openShared() {
  const episode = JSON.parse(document.getElementById("data").textContent);
  const pane = new Pane();
  document.getElementById("episode").append(pane.root);
  document.getElementById("about").textContent = `${spaced(episode.title)}, ${episode.method}, ${episode.stage}, seed ${episode.seed}`;
  const atlas = episode.atlas ? await loadAtlas(episode.atlas) : null;
  pane.rates = episode.rates;
  pane.open(episode, episode.step, atlas, (step) => episode.pictures?.[step] ?? null);
  window.addEventListener("resize", () => pane.refresh());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => pane.refresh());
  document.addEventListener("keydown", (event) => {
    if (!event.target.matches("input, select") && pane.key(event)) event.preventDefault();
  });
}

openShared();
