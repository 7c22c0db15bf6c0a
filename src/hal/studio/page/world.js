// Worlds and views of the package's games, drawn from a strip of tiles, items and agents.
import { css } from "./colours.js";

const TILE = 48;
const FIRST_LETTER = "0".charCodeAt(0);
const STEPS = [[-1, 0], [0, 1], [1, 0], [0, -1]]; // up, right, down, left

export function loadAtlas(source) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = reject;
    image.src = source;
  });
}

export function codesOf(letters) {
  return Array.from(letters, (letter) => letter.charCodeAt(0) - FIRST_LETTER);
}

function drawTile(context, atlas, index, row, col) {
  context.drawImage(atlas, index * TILE, 0, TILE, TILE, col * TILE, row * TILE, TILE, TILE);
}

// Cells `letters` of a square with the agent on one of them.
export function drawCells(canvas, atlas, game, letters, agent) {
  const codes = codesOf(letters);
  const side = Math.round(Math.sqrt(codes.length));
  canvas.width = canvas.height = side * TILE;
  const context = canvas.getContext("2d");
  codes.forEach((code, i) => drawTile(context, atlas, code, Math.floor(i / side), i % side));
  const [row, col, direction] = agent;
  drawTile(context, atlas, game.tiles.length + game.items.length + direction, row, col);
  return context;
}

export function itemPicture(atlas, game, item) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = TILE;
  canvas.className = "item";
  drawTile(canvas.getContext("2d"), atlas, game.tiles.length + item, 0, 0);
  return canvas;
}

export function tilePicture(atlas, tile) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = TILE;
  canvas.className = "item";
  drawTile(canvas.getContext("2d"), atlas, tile, 0, 0);
  return canvas;
}

export function agentPicture(atlas, game) {
  return tilePicture(atlas, game.tiles.length + game.items.length);
}

// Where a cell of the agent's view is in the world.
export function worldCell(agent, side, viewRow, viewCol) {
  const radius = (side - 1) / 2;
  const [row, col, direction] = agent;
  const [up, right] = [STEPS[direction], STEPS[(direction + 1) % 4]];
  const [ahead, aside] = [radius - viewRow, viewCol - radius];
  return [row + up[0] * ahead + right[0] * aside, col + up[1] * ahead + right[1] * aside];
}

// Marks of what cells matter, over a world: what speaks for it and what against.
export function drawInfluence(context, agent, influence, worldSide) {
  const [rows, cols] = influence.shape;
  const most = Math.max(...influence.changes.flat().map(Math.abs), 0.02);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const change = influence.changes[r][c];
      const [row, col] = worldCell(agent, rows, r, c);
      const isInside = row >= 0 && col >= 0 && row < worldSide && col < worldSide;
      if (Math.abs(change) < 0.01 || !isInside) continue;
      context.globalAlpha = 0.25 + (0.6 * Math.abs(change)) / most;
      context.strokeStyle = css(change < 0 ? "--yes" : "--no");
      context.lineWidth = 6;
      context.strokeRect(col * TILE + 4, row * TILE + 4, TILE - 8, TILE - 8);
      context.globalAlpha = 1;
    }
  }
}

export function cellAt(canvas, event) {
  const box = canvas.getBoundingClientRect();
  const scale = canvas.width / box.width / TILE;
  return [
    Math.floor((event.clientY - box.top) * scale),
    Math.floor((event.clientX - box.left) * scale),
  ];
}
