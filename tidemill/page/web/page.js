// Shows what the receiver tells in its events. Everything that came off the air is set as text, never as markup.

const byId = (id) => document.getElementById(id);
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(name).trim();
const given = (value) => value !== null && value !== undefined;
const fixed = (value, digits, unit) => (given(value) ? `${value.toFixed(digits)} ${unit}`.trim() : "–");
const signed = (value, digits, unit) => (given(value) ? (value > 0 ? "+" : "") + fixed(value, digits, unit) : "–");

function show(status) {
  const text = {
    modcod: given(status.modcod)
      ? `${status.modcod} ${status.frame}${status.pilots ? ", pilots" : ""}` : "–",
    esn0: fixed(status.esn0_db, 2, "dB"),
    margin: signed(status.margin_db, 2, "dB"),
    offset: signed(status.offset_hz, 0, "Hz"),
    clock: signed(status.clock_ppm, 2, "ppm"),
    rate: fixed(status.info_mbps, 3, "Mb/s"),
    iterations: fixed(status.ldpc_iterations, 1, ""),
    bad: `${status.frames_bad} of ${status.frames}`,
    packets: String(status.ts_packets),
    programmes: status.programmes.length ? status.programmes.join(", ") : "–",
    missing: String(status.continuity_errors),
    clipped: String(status.samples_clipped),
  };
  for (const [id, value] of Object.entries(text)) byId(id).textContent = value;
  byId("lock").textContent = { wait: "no signal yet", learn: "signal found", transmit: "locked" }[status.phase];
  byId("lock").className = status.lock ? "on" : "off";
}

function cleared(id) {
  const canvas = byId(id);
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour("--card");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  return { canvas, pen };
}

// I and Q one after the other, around 1 in the mean.
function drawConstellation(points) {
  const { canvas, pen } = cleared("constellation");
  const middle = canvas.width / 2;
  const unit = canvas.width / 3.6;
  pen.strokeStyle = colour("--faint");
  pen.globalAlpha = 0.4;
  pen.beginPath();
  pen.moveTo(0, middle);
  pen.lineTo(canvas.width, middle);
  pen.moveTo(middle, 0);
  pen.lineTo(middle, canvas.height);
  pen.stroke();
  pen.globalAlpha = 0.8;
  pen.fillStyle = colour("--good");
  for (let i = 0; i + 1 < points.length; i += 2) {
    pen.fillRect(middle + points[i] * unit - 1, middle - points[i + 1] * unit - 1, 2.5, 2.5);
  }
  pen.globalAlpha = 1;
}

const between = (value, least, most) => Math.min(1, Math.max(0, (value - least) / (most - least)));

// Power of each bin in dB, from minus to plus half of the rate.
function drawSpectrum(db) {
  const { canvas, pen } = cleared("spectrum");
  const least = Math.min(...db) - 2;
  const most = Math.max(...db) + 2;
  pen.strokeStyle = colour("--good");
  pen.beginPath();
  db.forEach((value, i) => {
    const x = (i / (db.length - 1)) * canvas.width;
    const y = canvas.height * (1 - between(value, least, most));
    if (i === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  });
  pen.stroke();
  pen.fillStyle = colour("--faint");
  pen.fillText(`${most.toFixed(0)} dB`, 4, 12);
  pen.fillText(`${least.toFixed(0)} dB`, 4, canvas.height - 4);
  drawWaterfall(db, least, most);
}

function drawWaterfall(db, least, most) {
  const canvas = byId("waterfall");
  const pen = canvas.getContext("2d");
  pen.drawImage(canvas, 0, 1);
  const width = canvas.width / db.length;
  db.forEach((value, i) => {
    const heat = between(value, least, most);
    pen.fillStyle = `hsl(${240 - 200 * heat} 80% ${8 + 55 * heat}%)`;
    pen.fillRect(i * width, 0, width + 1, 1);
  });
}

const history = [];
const kKeptSeconds = 600;

function drawHistory(status) {
  history.push({ time: status.time_s, margin: status.margin_db, bad: status.frames_bad });
  while (history[0].time < status.time_s - kKeptSeconds) history.shift();
  const { canvas, pen } = cleared("history");
  const margins = history.map((each) => each.margin).filter(given);
  const least = Math.min(0, ...margins) - 0.5;
  const most = Math.max(1, ...margins) + 0.5;
  const x = (each) => canvas.width * (1 - (status.time_s - each.time) / kKeptSeconds);
  const y = (margin) => canvas.height * (1 - between(margin, least, most));
  pen.strokeStyle = colour("--faint");
  pen.beginPath();
  pen.moveTo(0, y(0));
  pen.lineTo(canvas.width, y(0));
  pen.stroke();
  pen.fillStyle = colour("--faint");
  pen.fillText("0 dB", 4, y(0) - 3);
  pen.fillText(`${most.toFixed(1)} dB`, 4, 12);
  for (const each of history) {
    pen.fillStyle = each.bad > 0 ? colour("--bad") : colour("--good");
    if (each.bad > 0) pen.fillRect(x(each) - 1, 0, 2, canvas.height);
    if (given(each.margin)) pen.fillRect(x(each) - 1, y(each.margin) - 1, 2, 2);
  }
}

const events = new EventSource("/events");
events.onopen = () => { byId("gone").hidden = true; };
events.onerror = () => { byId("gone").hidden = false; };
events.onmessage = (message) => {
  const now = JSON.parse(message.data);
  byId("source").textContent = now.source;
  byId("span").textContent = `${(now.input_rate_hz / 1e3).toFixed(1)} kHz wide`;
  show(now.status);
  drawHistory(now.status);
  if (now.constellation.length) drawConstellation(now.constellation);
  if (now.spectrum_db.length) drawSpectrum(now.spectrum_db);
};
