// Colours come from the style sheet, which has them for light and for dark.

export const NUM_HUES = 9;

const known = new Map(); // to ask the style sheet again and again would lay the page out each time
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => known.clear());

export function css(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return known.get(name);
}

export function hueOf(k) {
  return k < 0 ? css("--faint") : css(`--hue${k % NUM_HUES}`);
}

// Beyond the hues there are, stripes tell one from the other.
export function paintOf(context, k) {
  if (k < NUM_HUES) return hueOf(k);
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.fillStyle = hueOf(k);
  pen.fillRect(0, 0, 6, 6);
  pen.fillStyle = css("--ground");
  pen.fillRect(0, 0, 2, 6);
  return context.createPattern(tile, "repeat");
}

export function swatch(k) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 12;
  canvas.className = "swatch";
  const context = canvas.getContext("2d");
  context.fillStyle = paintOf(context, k);
  context.fillRect(0, 0, 12, 12);
  return canvas;
}

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// A share from 0 to 1 as a colour between two of the style sheet's.
export function between(share, low = "--heat-low", high = "--heat-high") {
  const [from, to] = [channels(css(low)), channels(css(high))];
  return `rgb(${from.map((c, i) => Math.round(c + (to[i] - c) * share)).join(" ")})`;
}

// A canvas as sharp as the screen; returns its context and its size in CSS pixels.
export function sharp(canvas, height) {
  const width = canvas.clientWidth || canvas.parentElement?.clientWidth || 300;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = "12px system-ui, sans-serif";
  return [context, width, height];
}
