// What can be given away, as files.
import { fill, h, spaced } from "./dom.js";

export class ShareView {
  constructor(root, desk) {
    this.desk = desk;
    this.list = h("ul", { className: "downloads" });
    root.append(h("h2", { textContent: "Share" }), this.list);
  }

  receive(message) {
    if (message.kind === "episode") this.refresh();
  }

  refresh() {
    const { desk } = this;
    const files = [0, 1].filter((side) => desk.episodes[side]).flatMap((side) => this.filesOf(side));
    const canvases = [["curves", "#runs .u-wrap canvas"], ["heat map", "#runs canvas.heat"], ["map", "#map canvas.map"]];
    const pictures = canvases.map(([name, query]) => [name, document.querySelector(query)]).filter(([, canvas]) => canvas?.width > 300 || canvas?.height > 160);
    const saves = pictures.map(([name, canvas]) => h("li", {}, h("button", { type: "button", textContent: `PNG of the ${name}`, onclick: () => save(canvas, `${name.replace(" ", "-")}.png`) })));
    if (!files.length && !saves.length) files.push(h("li", { className: "note", textContent: "Open an episode first." }));
    fill(this.list, ...files, ...saves);
  }

  filesOf(side) {
    const episode = this.desk.episodes[side];
    const step = Math.min(this.desk.places[side], episode.steps.length - 1);
    const whose = `${spaced(episode.title)}, ${episode.method}, ${episode.stage}, seed ${episode.seed}`;
    const file = (name, text) => {
      const ending = name.split(".").pop();
      const download = `${episode.title}-${episode.seed}.${ending}`.replaceAll(/[^\w.-]/g, "-");
      return h("li", {}, h("a", { href: `/share/${name}?side=${side}&step=${step}`, download, textContent: text }), h("span", { className: "note", textContent: ` ${whose}` }));
    };
    return [
      file("episode.html", "The episode with all beliefs, as one page"),
      file("moment.png", `PNG of step ${step}`),
      file("episode.gif", `GIF from step ${step} on`),
    ];
  }

  key() {
    return false;
  }
}

function save(canvas, name) {
  canvas.toBlob((blob) => {
    const url = URL.createObjectURL(blob);
    h("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
}
