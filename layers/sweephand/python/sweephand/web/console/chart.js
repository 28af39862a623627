// A chart with axes, a unit, zoom and a table behind it, and the small line that stands beside a number.
//
// uPlot draws the chart. A browser loads it with the first chart, so no other screen waits for it.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { loadedOnce } from "./api.js";
import { Table } from "./parts.js";
import { count, inZone, knownZone, lateness, viewerZone } from "./time.js";

const CHART_HEIGHT = 170;
const CHART_FONT = "12px system-ui, -apple-system, 'Segoe UI', sans-serif";

/** The distances of lines on an axis of time, and the lines of a logarithmic one, in milliseconds. */
const TIME_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800, 2592000].map((each) => each * 1000)];
const TIME_LINES = [1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000];
const COUNT_LINES = Array.from({ length: 16 }, (_, power) => 10 ** power);

/** uPlot's class. */
const loadPlotting = loadedOnce(() => import("./vendor/uplot.js").then((module) => module.default));

/**
 * A chart over time. `title` is the question that it answers, and `answer` says in words what it shows. `x` are one
 * or more instants (RFC 3339 or epoch ms), oldest first. A series is `{name, values, kind, tone}`: a value or null
 * for each instant; `bars`, which stand on each other, `line` or `points`; and `good`, `bad`, `warn`, `busy` or
 * `still`. `unit` is `ms` for time spans, or a noun in the plural. `axis` says what the vertical axis shows, by
 * default the unit. `isLog` makes that axis logarithmic. `limit` is a line across: `{value, text}`. `zone` is that of
 * all times. `table` is `{head, rows}`. Without it the table has the instants and the values, newest first.
 */
export function Chart({ title, answer, unit, axis = unit, x, series, zone = viewerZone(), isLog = false, limit = null, table = null }) {
  const [hidden, setHidden] = useState([]);
  const [place, setPlace] = useState(null);
  const [isZoomed, setZoomed] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const box = useRef();
  const plot = useRef(null);
  const latest = useRef(null);
  const times = x.map((each) => new Date(each).getTime());
  const room = roomOf(times, series);
  latest.current = { unit, x: times.map((each) => each + room), room, series, zone, isLog, limit, hidden, setPlace, setZoomed };
  useEffect(() => {
    let isGone = false;
    loadPlotting().then((UPlot) => {
      if (!isGone) plot.current = drawn(UPlot, box.current, latest);
    }).catch(() => setMissing(true));
    return () => {
      isGone = true;
      plot.current?.end();
      plot.current = null;
    };
  }, [JSON.stringify([unit, isLog, zone, series.map(({ name, kind, tone }) => [name, kind, tone])])]);
  useEffect(() => {
    plot.current?.update();
  }, [JSON.stringify([latest.current.x, series.map((each) => each.values), limit, hidden])]);
  const toggle = (name) => setHidden(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  const isRead = place !== null && place < x.length;
  return html`<figure class="chart" aria-label=${title}>
    <figcaption><h3>${title}</h3>${answer ? html`<p>${answer}</p>` : null}</figcaption>
    ${isMissing ? html`<p class="note">The chart could not be loaded. Its table shows the same.</p>` : html`
      <div class="keys">${series.map((each) => html`<button type="button" key=${each.name} class=${`plain key is-${each.tone}`}
          aria-pressed=${!hidden.includes(each.name)} onClick=${() => toggle(each.name)}>${each.name}${
            isRead ? html` <strong>${valueText(each.values[place], unit)}</strong>` : null}</button>`)}
        <span class="soft" aria-live="polite">${isRead ? inZone(x[place], zone) : null}</span>
        <span class="verbs"><button type="button" class="plain" onClick=${() => plot.current?.zoom(0.5)}>Zoom in</button>
          <button type="button" class="plain" disabled=${!isZoomed} onClick=${() => plot.current?.showAll()}>Show all</button></span></div>
      <p class="axis soft">${axis === "ms" ? "time" : axis}</p>
      <div class="plot" ref=${box} tabindex="0" role="application" onKeyDown=${(event) => plot.current?.press(event)}
        aria-label=${`${title} The left and right arrows read values, + and - zoom, Escape shows all.`}></div>`}
    <${Behind} title=${title} isAlone=${isMissing} table=${table} x=${x} series=${series} unit=${unit} zone=${zone} /></figure>`;
}

/** The table behind a chart. Its rows are made when it is opened. */
function Behind({ title, isAlone, table, x, series, unit, zone }) {
  const [isOpen, setOpen] = useState(false);
  const rows = () => table?.rows || x.map((at, place) => [inZone(at, zone), ...series.map((each) => valueText(each.values[place], unit))]).reverse();
  return html`<details class="behind" open=${isOpen || isAlone} onToggle=${(event) => setOpen(event.target.open)}><summary>Show as a table</summary>
    ${isOpen || isAlone ? html`<${Table} label=${title} head=${table?.head || [`Time (${zone})`, ...series.map((each) => each.name)]}>${rows().map((row) => html`
      <tr>${row.map((each) => html`<td>${each}</td>`)}</tr>`)}<//>` : null}</details>`;
}

/** A value of a chart in words. */
function valueText(value, unit) {
  if (value === null || value === undefined) return "–";
  return unit === "ms" ? lateness(Number(value)) : count(value);
}

/** A value at a line of the vertical axis. Those of an axis of time are whole numbers of a unit. */
function lineText(value, unit) {
  if (unit !== "ms") return Number.isInteger(value) ? count(value) : String(value);
  const [size, word] = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1_000, "s"]].find(([each]) => value >= each && value % each === 0) || [1, "ms"];
  return value ? `${value / size} ${word}` : "0";
}

/** The chart that uPlot draws in `box`, of what `latest.current` has: what its buttons and keys do. */
function drawn(UPlot, box, latest) {
  let zoomed = null;
  const setSpan = (span) => {
    const all = wholeSpan(latest.current);
    const inner = span && { min: Math.max(span.min, all.min), max: Math.min(span.max, all.max) };
    zoomed = inner && inner.min < inner.max && inner.max - inner.min < all.max - all.min ? inner : null;
    plot.setScale("x", zoomed || all);
    latest.current.setZoomed(zoomed !== null);
  };
  const plot = new UPlot(optionsOf(UPlot, box, latest, setSpan), dataOf(latest.current), box);
  const zoom = (factor) => {
    const { min, max } = plot.scales.x;
    const about = latest.current.x[plot.cursor.idx] ?? max;
    const share = (about - min) / (max - min);
    const size = Math.max((max - min) * factor, 10);
    setSpan({ min: about - size * share, max: about + size * (1 - share) });
  };
  const move = (by) => {
    const { min, max } = plot.scales.x;
    const { x } = latest.current;
    const seen = x.filter((each) => each >= min && each <= max);
    const place = seen.indexOf(x[plot.cursor.idx]);
    const next = place < 0 ? (by < 0 ? seen.length - 1 : 0) : Math.min(Math.max(place + by, 0), seen.length - 1);
    if (seen.length) plot.setCursor({ left: plot.valToPos(seen[next], "x"), top: CHART_HEIGHT / 3 });
  };
  const press = (event) => {
    const deed = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), "+": () => zoom(0.5), "-": () => zoom(2), Escape: () => setSpan(null) }[event.key];
    if (!deed || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    deed();
  };
  const resized = new ResizeObserver(() => plot.setSize(sizeOf(box)));
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const recolor = () => plot.redraw(false, true);
  resized.observe(box);
  scheme.addEventListener("change", recolor);
  setSpan(null);
  return {
    zoom,
    press,
    showAll: () => setSpan(null),
    update() {
      plot.setData(dataOf(latest.current), false);
      setSpan(zoomed);
    },
    end() {
      resized.disconnect();
      scheme.removeEventListener("change", recolor);
      plot.destroy();
    },
  };
}

const sizeOf = (box) => ({ width: Math.max(box.clientWidth, 120), height: CHART_HEIGHT });

/** Half the width of a bar. A bar stands for the time that begins at its instant, so it is drawn so far behind it. */
function roomOf(times, series) {
  const whole = times[times.length - 1] - times[0] || 60_000;
  const hasBars = times.length < 2 || series.some((each) => each.kind === "bars");
  return hasBars ? Math.min(whole, ...times.slice(1).map((each, at) => each - times[at]).filter(Boolean)) / 2 : 0;
}

const wholeSpan = ({ x, room }) => ({ min: x[0] - room, max: x[x.length - 1] + room });

/** The series as uPlot draws them: one over the other, so the highest bars come first. */
function inDrawingOrder(series) {
  const bars = series.filter((each) => each.kind === "bars");
  return [...bars.reverse(), ...series.filter((each) => each.kind !== "bars")];
}

/** The instants, and the heights of each series. Bars stand on those of the series before. A hidden one has none. */
function dataOf({ x, series, hidden, isLog }) {
  const below = x.map(() => 0);
  const heights = new Map();
  for (const { name, kind, values } of series) {
    heights.set(name, x.map((_, at) => {
      if (values[at] === null || values[at] === undefined || hidden.includes(name)) return null;
      const height = Number(values[at]) + (kind === "bars" ? below[at] : 0);
      if (kind === "bars") below[at] = height;
      return isLog ? Math.max(height, 1) : height;
    }));
  }
  return [x, ...inDrawingOrder(series).map(({ name }) => heights.get(name))];
}

function optionsOf(UPlot, box, latest, setSpan) {
  const { unit, isLog, series, zone } = latest.current;
  const lines = unit === "ms" ? TIME_LINES : COUNT_LINES;
  const style = { font: CHART_FONT, stroke: () => color("--soft"), grid: { stroke: () => color("--line"), width: 1 }, ticks: { show: false } };
  return {
    ...sizeOf(box),
    ms: 1,
    tzDate: (at) => UPlot.tzDate(new Date(at), knownZone(zone)),
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => setSpan(null) } },
    scales: { x: {}, y: { distr: isLog ? 3 : 1, range: (_, least, most) => verticalSpan(least, most, latest.current) } },
    axes: [
      { ...style, size: 26, space: 76, values: (_, instants) => instantTexts(instants, zone) },
      { ...style, size: 58, space: 30, values: (_, values) => values.map((each) => lineText(each, unit)),
        ...(isLog ? { splits: (_, __, least, most) => lines.filter((each) => each >= least && each <= most), filter: (_, values) => values } : { incrs: unit === "ms" ? TIME_STEPS : wholeSteps() }) },
    ],
    series: [{}, ...inDrawingOrder(series).map(({ kind, tone }) => seriesOf(UPlot, kind, `--${tone}-full`))],
    hooks: {
      setCursor: [(plot) => latest.current.setPlace(plot.cursor.idx ?? null)],
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        if (width > 4) setSpan({ min: plot.posToVal(left, "x"), max: plot.posToVal(left + width, "x") });
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }],
      draw: [(plot) => drawLimit(plot, latest.current.limit)],
    },
  };
}

/** Counts have no parts, so neither do the distances of their lines. */
const wholeSteps = () => COUNT_LINES.flatMap((each) => [each, 2 * each, 5 * each]);

function verticalSpan(least, most, { isLog, limit }) {
  const top = Math.max(most ?? 1, limit?.value ?? 0, 1);
  return isLog ? [1, top * 1.5] : [Math.min(least ?? 0, 0), top * 1.08];
}

function seriesOf(UPlot, kind, name) {
  const tone = () => color(name);
  if (kind === "bars") return { fill: tone, stroke: tone, width: 0, paths: UPlot.paths.bars({ size: [0.82, 40] }), points: { show: false } };
  if (kind === "line") return { stroke: tone, width: 2, points: { show: true, size: 4, stroke: tone, fill: tone } };
  return { stroke: tone, paths: () => null, points: { show: true, size: 6, stroke: tone, fill: tone } };
}

/** The times at the lines of the horizontal axis: the day where it changes, seconds only where they differ. */
function instantTexts(instants, zone) {
  const parts = instants.map((each) => inZone(each, zone).split(" "));
  const times = parts.map((each) => each[each.length - 1]);
  const hasSeconds = times.some((each) => !each.endsWith(":00"));
  return times.map((time, at) => {
    const day = `${parts[at][1]} ${parts[at][2]}`;
    return time === "00:00:00" && instants.length > 1 ? day : time.slice(0, hasSeconds ? 8 : 5);
  });
}

function drawLimit(plot, limit) {
  if (!limit) return;
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(limit.value, "y", true));
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = color("--ink");
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = CHART_FONT.replace("12px", `${12 * devicePixelRatio}px`);
  ctx.textAlign = "left";
  ctx.fillText(limit.text, bbox.left + 6 * devicePixelRatio, y - 4 * devicePixelRatio);
  ctx.restore();
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const SPARK = { width: 120, height: 28 };

/** Values over time as a small line without axes, beside the number that says them. Missing ones count as none. */
export function Spark({ values, tone = "busy" }) {
  const most = Math.max(1, ...values);
  const at = (value, place) => `${((SPARK.width * place) / Math.max(values.length - 1, 1)).toFixed(1)},${(SPARK.height - 2 - ((SPARK.height - 4) * (value || 0)) / most).toFixed(1)}`;
  return html`<svg class=${`spark is-${tone}`} viewBox=${`0 0 ${SPARK.width} ${SPARK.height}`} preserveAspectRatio="none" aria-hidden="true">
    <polyline points=${values.map(at).join(" ")} /></svg>`;
}
