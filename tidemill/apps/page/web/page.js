// Shows what the receiver tells: live, or the whole run in a report. Everything that came off the air is set as text,
// never as markup.
import { axis, byId, clock, drawBand, drawConstellation, drawEye, drawHistory, drawSpectrum, drawWaterfall, given, momentAt } from "/views.js";

const fixed = (value, digits, unit) => (given(value) ? `${value.toFixed(digits)} ${unit}`.trim() : "–");
const rounded = (value, digits) => Number(value.toFixed(digits)) + 0;  // never -0
const signed = (value, digits, unit) =>
  (given(value) ? (value > 0 ? "+" : "") + fixed(rounded(value, digits), digits, unit) : "–");
// What would command a terminal, or turn the direction of writing, is shown as what it is.
const plain = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  (c) => `\\x${c.codePointAt(0).toString(16).padStart(2, "0")}`);

function element(kind, text, kindOf = "") {
  const made = document.createElement(kind);
  made.textContent = text;
  made.className = kindOf;
  return made;
}

function show(status, totals) {
  const text = {
    modcod: given(status.modcod)
      ? `${status.modcod} ${status.frame}${status.pilots ? ", pilots" : ""}` : "–",
    esn0: fixed(status.esn0_db, 2, "dB"),
    margin: signed(status.margin_db, 2, "dB"),
    offset: signed(status.offset_hz, 0, "Hz"),
    clock: signed(status.clock_ppm, 2, "ppm"),
    rate: fixed(status.info_mbps, 3, "Mb/s"),
    iterations: fixed(status.ldpc_iterations, 1, ""),
    bad: `${totals.frames_bad} of ${totals.frames}`,
    packets: String(status.ts_packets),
    programmes: status.programmes.length ? status.programmes.join(", ") : "–",
    missing: String(status.continuity_errors),
    clipped: String(status.samples_clipped),
  };
  for (const [id, value] of Object.entries(text)) byId(id).textContent = value;
  const nothing = status.modcod ? "no signal any more" : "no signal yet";
  byId("lock").textContent = { searching: nothing, acquiring: "signal, no lock yet", locked: "locked" }[status.phase];
  byId("lock").className = status.lock ? "on" : "off";
}

function showModcods(modcods) {
  const all = Object.values(modcods).reduce((a, b) => a + b, 0);
  const rows = Object.entries(modcods).sort((a, b) => b[1] - a[1]).map(([name, frames]) => {
    const row = document.createElement("tr");
    const bar = element("td", "", "bar");
    const share = element("div", "", "share");
    share.style.width = `${(100 * frames) / all}%`;
    bar.append(share);
    row.append(element("td", name), element("td", String(frames)), bar);
    return row;
  });
  byId("modcods").replaceChildren(...rows);
}

function showServices(services) {
  const rows = services.map((service) => {
    const row = document.createElement("tr");
    row.append(element("td", String(service.number)), element("td", plain(service.name), "name"),
      element("td", service.kbps.toFixed(1)));
    return row;
  });
  byId("services").replaceChildren(...rows);
}

function showBuffer(status) {
  byId("buffer").hidden = !given(status.waiting_s);
  if (!given(status.waiting_s)) return;
  const size = 0.5;
  byId("fill").value = Math.min(1, status.waiting_s / size);
  byId("fill-text").textContent = `${(1000 * status.waiting_s).toFixed(0)} ms wait, ` +
    `${(1000 * status.least_room_s).toFixed(0)} ms of room at the least, ${status.overflows} overflows`;
}

function showStages(stages) {
  const rows = stages.map((stage, i) => {
    const row = element("div", "", "stage");
    const times = element("div", "", "times");
    for (const kind of ["work", "pull", "push"]) {
      const part = element("div", "", kind);
      part.style.width = `${100 * stage[kind]}%`;
      times.append(part);
    }
    const threads = `${stage.threads} thread${stage.threads === 1 ? "" : "s"}`;
    row.append(element("span", `stage ${i + 1}: ${threads}, ${(100 * stage.work).toFixed(0)} % busy`), times);
    return row;
  });
  byId("stages").replaceChildren(...rows);
}

const run = { moments: [], waterfall: [], step: 0, carrier: 0 };

// Of several carriers the one is shown that was chosen.
function showCarriers(carriers, choose) {
  byId("carriers").hidden = carriers.length < 2;
  if (carriers.length < 2) return;
  const all = carriers.map((carrier, i) => {
    const button = element("button", `carrier ${carrier.number}: ${carrier.lock ? carrier.modcod || "locked" : "no lock"}`);
    button.type = "button";
    button.className = carrier.lock ? "on" : "off";
    button.setAttribute("aria-pressed", String(i === run.carrier));
    button.addEventListener("click", () => choose(i));
    return button;
  });
  byId("carriers").replaceChildren(...all);
}

function showBand(now) {
  const shown = now.band.rate_hz > 0 && now.band.spectrum_db.length > 0;
  byId("band-figure").hidden = !shown;
  if (!shown) return;
  byId("band-span").textContent = `${(now.band.rate_hz / 1e3).toFixed(1)} kHz wide`;
  drawBand(now.band, now.carriers);
}

// One view that cannot be shown takes no other with it.
function attempt(view) {
  try {
    view();
  } catch (error) {
    console.error(error);
  }
}

function showNow(now) {
  attempt(() => { byId("source").textContent = plain(now.source); });
  attempt(() => { byId("span").textContent = `${(now.input_rate_hz / 1e3).toFixed(1)} kHz wide`; });
  attempt(() => show(now.status, now.totals || now.status));
  attempt(() => showModcods(now.status.modcods));
  attempt(() => showServices(now.status.services || []));
  attempt(() => showBuffer(now.status));
  attempt(() => showStages(now.stages));
  attempt(() => drawHistory(run.moments));
  attempt(() => drawConstellation("turned", now.turned));
  attempt(() => drawConstellation("constellation", now.constellation));
  attempt(() => drawEye(now.eye, now.eye_line));
  attempt(() => { if (now.spectrum_db.length) drawSpectrum(now); });
  attempt(() => drawWaterfall(run.waterfall));
  attempt(() => showBand(now));
}

byId("history").addEventListener("pointermove", (event) => {
  const box = event.target.getBoundingClientRect();
  byId("moment").textContent = momentAt(run.moments, (event.clientX - box.left - 44) / (box.width - 48));
});

function showWhole(whole) {
  const now = { ...whole, ...whole.runs[run.carrier] };
  run.moments = now.moments || [];
  run.waterfall = now.waterfall || [];
  axis.shortest_s = 0;
  showNow(now);
  showCarriers(now.carriers, (i) => { run.carrier = i; showWhole(whole); });
  byId("lock").className = "on";
  byId("lock").textContent = `the whole run: ${clock(now.status.time_s)}`;
  byId("graph").src = `data:image/svg+xml,${encodeURIComponent(whole.graph_svg)}`;
  document.title = "Tidemill: report";
}

async function tell(path, body) {
  const token = location.hash.slice(1);
  const answer = await fetch(path, { method: "POST", body, headers: { "X-Tidemill-Token": token } });
  byId("answer").textContent = (await answer.text()).trim();
}

const sixDigits = (value) => String(Number(value.toPrecision(6)));

function showKnobs(knobs, canSave) {
  byId("controls").hidden = !(location.hash.length > 1 && (knobs.length || canSave));
  byId("save").hidden = !canSave;
  for (const knob of knobs) {
    if (document.getElementsByName(knob.name).length) continue;
    const row = element("label", "", "knob");
    const slider = element("input", "");
    const value = element("output", sixDigits(knob.value));
    const tellValue = () => { value.textContent = sixDigits(Number(slider.value)); };
    Object.assign(slider, { type: "range", name: knob.name, min: knob.least, max: knob.most, step: "any", value: knob.value });
    slider.addEventListener("input", tellValue);
    slider.addEventListener("change", tellValue);
    slider.addEventListener("change", () => tell("/knob", JSON.stringify({ name: knob.name, value: Number(slider.value) })));
    row.append(element("span", knob.name), slider, value);
    byId("knobs").append(row);
  }
}

async function fetchHistory() {
  const carrier = run.carrier;
  const before = await (await fetch(carrier ? `/history/${carrier}` : "/history")).json();
  if (!before.moments || carrier !== run.carrier) return;
  run.moments = before.moments;
  run.waterfall = before.waterfall || [];
}

const kMostMoments = 1400;

async function showEvent(now) {
  if (!now.status) return;
  if (now.step !== run.step) {
    const follows = now.step === run.step + 1 && run.moments.length < kMostMoments;
    run.step = now.step;
    if (follows) run.moments.push(now.moment);
    else await fetchHistory();
    if (now.step % 4 === 1 || !byId("graph").src) byId("graph").src = `/graph.svg?${now.step}`;
  }
  if (now.spectrum_db.length) run.waterfall.push(now.spectrum_db);
  if (run.waterfall.length > 400) run.waterfall.splice(0, 200);
  byId("player").hidden = !now.player.startsWith("udp://");
  Object.assign(byId("player-link"), { textContent: now.player, href: now.player.startsWith("udp://") ? now.player : "#" });
  showKnobs(now.knobs, now.can_save);
  showCarriers(now.carriers, (i) => { if (i !== run.carrier) live(i); });
  showNow(now);
}

let events = null;

function live(carrier) {
  if (events) events.close();
  Object.assign(run, { moments: [], waterfall: [], step: 0, carrier });
  events = new EventSource(carrier ? `/events/${carrier}` : "/events");
  let newest = null;
  events.onopen = () => { byId("gone").hidden = true; };
  events.onerror = () => { byId("gone").hidden = false; };
  // One at a time; of those that come meanwhile the newest is shown.
  events.onmessage = async (message) => {
    const busy = newest !== null;
    newest = message.data;
    if (busy) return;
    while (newest !== null) {
      const text = newest;
      if (carrier === run.carrier) await showEvent(JSON.parse(text));
      if (newest === text) newest = null;
    }
  };
}

byId("save").addEventListener("click", () => tell("/iq", ""));

const recorded = byId("recorded");
if (recorded) showWhole(JSON.parse(recorded.textContent));
else live(0);
