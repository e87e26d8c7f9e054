// Pictures on canvases: each function draws one of them from what the receiver tells.

export const byId = (id) => document.getElementById(id);
export const given = (value) => value !== null && value !== undefined;
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(name).trim();
const between = (value, least, most) => Math.min(1, Math.max(0, (value - least) / (most - least)));

// A canvas as large as it is shown, cleared; coordinates are its pixels on the page.
function cleared(id) {
  const canvas = byId(id);
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif";
  return { pen, width, height };
}

function line(pen, points, ink) {
  pen.strokeStyle = ink;
  pen.beginPath();
  points.forEach(([x, y], i) => (i === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
  pen.stroke();
}

// I and Q one after the other, in hundredths, around 1 in the mean.
export function drawConstellation(id, points) {
  const { pen, width } = cleared(id);
  const middle = width / 2;
  const unit = width / 3.6;
  line(pen, [[0, middle], [width, middle]], colour("--line"));
  line(pen, [[middle, 0], [middle, width]], colour("--line"));
  pen.fillStyle = colour("--good");
  for (let i = 0; i + 1 < points.length; i += 2) {
    pen.fillRect(middle + points[i] * unit / 100 - 1, middle - points[i + 1] * unit / 100 - 1, 2, 2);
  }
}

// Lines of `count` points each, in hundredths.
export function drawEye(points, count) {
  const { pen, width, height } = cleared("eye");
  const y = (value) => height * (0.5 - value / 400);
  line(pen, [[width / 2, 0], [width / 2, height]], colour("--line"));
  line(pen, [[0, y(0)], [width, y(0)]], colour("--line"));
  pen.globalAlpha = 0.45;
  for (let first = 0; first + count <= points.length; first += count) {
    const trace = points.slice(first, first + count);
    line(pen, trace.map((value, i) => [(i / (count - 1)) * width, y(value)]), colour("--good"));
  }
  pen.globalAlpha = 1;
}

// A root-raised-cosine carrier in dB under its middle, at `f` symbol rates from there.
function mask(f, rolloff) {
  const far = Math.abs(f);
  if (far <= (1 - rolloff) / 2) return 0;
  if (far >= (1 + rolloff) / 2) return -Infinity;
  return 10 * Math.log10(0.5 * (1 + Math.cos((Math.PI / rolloff) * (far - (1 - rolloff) / 2))));
}

export const levels = { least: 0, most: 0 };

// What a spectrum is drawn by: its bins in dB from minus to plus half of the rate, around a middle.
function spectrumAxes(id, db, rate, centre) {
  const { pen, width, height } = cleared(id);
  const most = Math.max(...db) + 3;
  const least = Math.max(Math.min(...db) - 3, most - 60);  // what a filter leaves of noise lies far below
  const y = (value) => height * (1 - between(value, least, most));
  const x = (hz) => ((hz - centre) / rate + 0.5) * width;
  return { pen, width, height, db, rate, centre, least, most, x, y };
}

function drawPower({ pen, width, db, y }) {
  line(pen, db.map((value, i) => [(i / (db.length - 1)) * width, y(value)]), colour("--good"));
}

// A carrier's shape, as high as what is there about its middle.
function drawMask(axes, carrier) {
  const { pen, db, rate, centre, least, most, x, y } = axes;
  const reach = ((1 + carrier.rolloff) / 6) * carrier.symbol_rate_hz;
  const hz = (i) => centre + (i / db.length - 0.5) * rate;
  const inside = db.filter((_, i) => Math.abs(hz(i) - carrier.offset_hz) < Math.max(reach, rate / db.length));
  const top = inside.length ? inside.reduce((a, b) => a + b, 0) / inside.length : most - 3;
  const points = [];
  for (let f = -0.7; f <= 0.7; f += 0.01) {
    points.push([x(carrier.offset_hz + f * carrier.symbol_rate_hz), y(Math.max(least, top + mask(f, carrier.rolloff)))]);
  }
  pen.setLineDash([5, 4]);
  line(pen, points, colour("--mask"));
  pen.setLineDash([]);
}

function drawScales({ pen, width, height, rate, centre, least, most }) {
  pen.fillStyle = colour("--faint");
  pen.fillText(`${most.toFixed(0)} dB`, 4, 12);
  pen.fillText(`${least.toFixed(0)} dB`, 4, height - 4);
  for (const part of [-0.4, -0.2, 0, 0.2, 0.4]) {
    pen.fillText(`${((centre + part * rate) / 1e3).toFixed(0)} kHz`, (part + 0.5) * width - 18, height - 4);
  }
}

// Of the receiver's input.
export function drawSpectrum(now) {
  const axes = spectrumAxes("spectrum", now.spectrum_db, now.input_rate_hz, now.centre_hz);
  Object.assign(levels, { least: axes.least, most: axes.most });
  drawPower(axes);
  if (given(now.status.offset_hz)) drawMask(axes, { ...now, offset_hz: now.status.offset_hz });
  drawScales(axes);
}

// Of all that comes in, with the carriers in it.
export function drawBand(band, carriers) {
  const axes = spectrumAxes("band", band.spectrum_db, band.rate_hz, band.centre_hz);
  drawPower(axes);
  for (const carrier of carriers.filter((each) => given(each.offset_hz))) {
    drawMask(axes, carrier);
    if (!given(carrier.number)) continue;
    axes.pen.fillStyle = colour(carrier.lock ? "--good" : "--bad");
    axes.pen.fillText(String(carrier.number), axes.x(carrier.offset_hz) - 3, 12);
  }
  drawScales(axes);
}

// Spectra from the oldest to the newest, the newest on top, as coloured pixels.
export function drawWaterfall(rows) {
  const canvas = byId("waterfall");
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (!width) return;
  canvas.width = width;
  canvas.height = 150;
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(canvas.width, canvas.height);
  new Uint32Array(image.data.buffer).fill(0xff5a0000);  // where nothing has been yet
  const shown = rows.slice(-canvas.height).reverse();
  shown.forEach((row, y) => {
    row.forEach((value, x) => {
      const heat = between(value, levels.least, levels.most);
      const at = 4 * (y * canvas.width + x);
      image.data[at] = 255 * between(heat, 0.45, 0.95);
      image.data[at + 1] = 255 * between(heat, 0.3, 1.1);
      image.data[at + 2] = 90 + 120 * between(heat, 0, 0.4) - 160 * between(heat, 0.5, 1);
      image.data[at + 3] = 255;
    });
  });
  pen.putImageData(image, 0, 0);
}

export const clock = (seconds) => new Date(1000 * Math.max(0, seconds)).toISOString().slice(seconds < 86400 ? 11 : 8, 19);

const kLanes = { margin: [8, 104], iterations: [134, 50], losses: [196, 38], modcod: [240, 14] };
export const axis = { shortest_s: 20 };  // while it grows; a run that is over has its own length
const kInks = ["#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d", "#666666"];

// Of the time axis.
function ends(moments) {
  const first = moments[0].time_s - (moments.length > 1 ? moments[1].time_s - moments[0].time_s : 0);
  return [first, Math.max(moments[moments.length - 1].time_s, first + Math.max(axis.shortest_s, 1e-3))];
}

// Moments of a reception on one time axis, four lanes below one another.
export function drawHistory(moments) {
  const { pen, width } = cleared("history");
  if (!moments.length) return;
  const left = 44;
  const [first, last] = ends(moments);
  const x = (time) => left + (width - left - 4) * between(time, first, last);
  const values = (name) => moments.map((each) => each[name]).filter(given);
  const lane = (name, least, most) => (value) => kLanes[name][0] + kLanes[name][1] * (1 - between(value, least, most));
  const margins = values("margin_db");
  const low = Math.floor(Math.min(0, ...margins) - 0.2);
  const high = Math.ceil(Math.max(1, ...margins) + 0.2);
  const y = lane("margin", low, high);
  pen.fillStyle = colour("--faint");
  for (const db of new Set([low < -1 ? low : 0, 0, high])) {
    pen.fillText(`${db} dB`, 4, y(db) + 4);
    line(pen, [[left, y(db)], [width, y(db)]], colour("--line"));
  }
  drawLane(pen, moments, x, y, "margin_db", colour("--good"));
  const most = Math.ceil(Math.max(1, ...values("iterations")));
  const turns = lane("iterations", 0, most);
  for (const number of [0, most]) pen.fillText(`${number} it.`, 4, turns(number) + 4);
  drawLane(pen, moments, x, turns, "iterations", colour("--mask"));
  drawLosses(pen, moments, x, lane("losses", 0, 1));
  drawModcods(pen, moments, x, left);
  pen.fillStyle = colour("--faint");
  for (const part of [0, 0.5, 1]) {
    pen.fillText(clock(first + part * (last - first)), left + part * (width - left - 52), 266);
  }
}

function drawLane(pen, moments, x, y, name, ink) {
  let piece = [];
  const finish = () => { if (piece.length) line(pen, piece.length > 1 ? piece : [piece[0], [piece[0][0] + 1, piece[0][1]]], ink); piece = []; };
  for (const each of moments) {
    if (given(each[name])) piece.push([x(each.time_s), y(each[name])]);
    else finish();
  }
  finish();
}

// Red: bad frames; orange: missing packets; grey ground: no lock.
function drawLosses(pen, moments, x, y) {
  pen.fillStyle = colour("--faint");
  pen.fillText("losses", 4, y(0.3));
  const width = Math.max(2, x(moments[moments.length - 1].time_s) - x(moments[Math.max(0, moments.length - 2)].time_s));
  for (const each of moments) {
    const at = x(each.time_s) - width;
    const bar = (part, ink) => { pen.fillStyle = ink; pen.fillRect(at, y(part), width, y(0) - y(part)); };
    if (!each.locked) bar(0.25, colour("--line"));
    if (each.packets_lost > 0) bar(Math.min(1, 0.4 + each.packets_lost / 50), colour("--warn"));
    if (each.overflows > 0) bar(1, colour("--mask"));
    if (each.frames_bad > 0) bar(Math.min(1, 0.3 + each.frames_bad / 50), colour("--bad"));
  }
}

function drawModcods(pen, moments, x, left) {
  const names = [...new Set(moments.map((each) => each.modcod).filter((name) => name))];
  const [top, height] = kLanes.modcod;
  let before = x(ends(moments)[0]);
  for (const each of moments) {
    const at = x(each.time_s);
    if (each.modcod) {
      pen.fillStyle = kInks[names.indexOf(each.modcod) % kInks.length];
      pen.fillRect(before, top, Math.max(1, at - before), height);
    }
    before = at;
  }
  pen.fillStyle = "#fff";
  const newest = moments[moments.length - 1].modcod;
  if (newest) pen.fillText(newest, Math.max(left + 4, x(moments[moments.length - 1].time_s) - 110), top + 11);
}

// The moment that the pointer is at, in words.
export function momentAt(moments, part) {
  if (!moments.length) return "";
  const [first, last] = ends(moments);
  const time = first + part * (last - first);
  const near = moments.reduce((a, b) => (Math.abs(b.time_s - time) < Math.abs(a.time_s - time) ? b : a));
  const margin = given(near.margin_db) ? `${near.margin_db.toFixed(2)} dB over` : "no lock";
  const turns = given(near.iterations) ? `, ${near.iterations.toFixed(1)} iterations` : "";
  return `${clock(near.time_s)}: ${near.modcod} ${margin}${turns}, ${near.frames} frames, ${near.frames_bad} bad, ` +
    `${near.packets_lost} packets missing, ${near.overflows} overflows`;
}
