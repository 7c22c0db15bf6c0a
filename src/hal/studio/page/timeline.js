// An episode from left to right: what was pursued, milestones, timeouts, what somebody did to it.
import { css, paintOf, sharp } from "./colours.js";

const HEIGHT = 52, BAR_TOP = 18, BAR_HEIGHT = 18;

export function drawTimeline(canvas, episode, step) {
  const [context, width] = sharp(canvas, HEIGHT);
  const count = episode.steps.length;
  const x = (at) => (at * width) / count;
  context.clearRect(0, 0, width, HEIGHT);
  drawOptions(context, episode, x);
  episode.steps.forEach((one, at) => drawMarks(context, one, x(at), x(1)));
  context.fillStyle = css("--ink");
  context.fillRect(x(step), 0, Math.max(x(1), 2), 4);
  context.fillRect(x(step) + x(0.5) - 1, 0, 2, HEIGHT);
}

function drawOptions(context, episode, x) {
  let start = 0;
  for (let at = 1; at <= episode.steps.length; at++) {
    const isSame = at < episode.steps.length && episode.steps[at].subtask === episode.steps[start].subtask;
    if (isSame) continue;
    const k = episode.subtasks.length ? episode.steps[start].subtask : -1;
    context.fillStyle = k < 0 ? css("--faint") : paintOf(context, k);
    context.fillRect(x(start), BAR_TOP, x(at) - x(start), BAR_HEIGHT);
    start = at;
  }
}

function drawMarks(context, one, left, wide) {
  const middle = left + wide / 2;
  if (one.got !== null) {
    context.fillStyle = css("--ink");
    triangle(context, middle, BAR_TOP - 3, 6, -10);
  }
  if (one.timeout) {
    context.strokeStyle = css("--no");
    context.lineWidth = 2;
    context.beginPath();
    for (const way of [-1, 1]) {
      context.moveTo(middle - 4, BAR_TOP + BAR_HEIGHT + 8 - 4 * way);
      context.lineTo(middle + 4, BAR_TOP + BAR_HEIGHT + 8 + 4 * way);
    }
    context.stroke();
  }
  if (one.by !== "agent" || one.forced) {
    context.fillStyle = css("--accent");
    triangle(context, middle, BAR_TOP + BAR_HEIGHT + 3, 6, 10);
  }
}

function triangle(context, x, y, half, height) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - half, y + height);
  context.lineTo(x + half, y + height);
  context.fill();
}

export function stepAt(canvas, episode, event) {
  const box = canvas.getBoundingClientRect();
  const share = (event.clientX - box.left) / box.width;
  return Math.max(0, Math.min(Math.floor(share * episode.steps.length), episode.steps.length - 1));
}
