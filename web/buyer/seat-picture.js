// A house too large for elements: one pixel per seat, enlarged or shrunk to the page. Under it the same in words.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { rowName } from '/static/buyer/house.js';
import { Legend } from '/static/buyer/seat-grid.js';

const SHAPE = 1.6; // width to height
const GAP_FROM = 5; // device pixels per seat
const BLOCKS = 10;
const DRAW_EVERY_MS = 100; // a million seats take some 20 ms

// The page's colours as bytes, whatever way the style sheet writes them.
function pageColours(element) {
  const style = getComputedStyle(element);
  const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const read = (name) => {
    probe.fillStyle = style.getPropertyValue(name);
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  };
  return { free: read('--picture-free'), taken: read('--picture-taken'), mine: read('--mine'), paper: read('--paper') };
}

// How the seats lie on the picture: in order, row after row. A picture's row is not a row of the house when that
// is too long or too short to be seen as one.
function plan(total) {
  const columns = Math.ceil(Math.sqrt(total * SHAPE));
  return { columns, rows: Math.ceil(total / columns) };
}

class Drawing {
  constructor(canvas, house) {
    this.canvas = canvas;
    this.house = house;
    this.mine = null;
    this.waiting = null;
    this.plan = plan(house.total);
    this.small = document.createElement('canvas');
    this.small.width = this.plan.columns;
    this.small.height = this.plan.rows;
    this.pixels = this.small.getContext('2d').createImageData(this.plan.columns, this.plan.rows);
    this.words = new Uint32Array(this.pixels.data.buffer); // a seat is one store
  }

  soon() {
    this.waiting ??= setTimeout(() => {
      this.waiting = null;
      this.draw();
    }, DRAW_EVERY_MS);
  }

  draw() {
    const colours = pageColours(this.canvas);
    this.paintSeats(colours);
    const width = Math.round(this.canvas.clientWidth * devicePixelRatio);
    const scale = width / this.plan.columns;
    const height = Math.round(scale * this.plan.rows);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext('2d');
    context.clearRect(0, 0, width, height);
    context.imageSmoothingEnabled = scale < 1;
    context.drawImage(this.small, 0, 0, width, height);
    if (scale >= GAP_FROM) this.drawGaps(context, scale, colours.paper);
    if (this.mine) this.drawMine(context, scale, colours);
  }

  paintSeats({ free, taken }) {
    const word = (colour) => new Uint32Array(new Uint8ClampedArray(colour).buffer)[0];
    const [freeWord, takenWord] = [word(free), word(taken)];
    for (let id = 1; id <= this.house.total; id++) this.words[id - 1] = this.house.isTaken(id) ? takenWord : freeWord;
    this.small.getContext('2d').putImageData(this.pixels, 0, 0);
  }

  drawGaps(context, scale, paper) {
    context.fillStyle = `rgb(${paper.slice(0, 3).join(' ')})`;
    const gap = Math.max(1, Math.round(scale / 6));
    for (let column = 1; column < this.plan.columns; column++) context.fillRect(Math.round(column * scale), 0, gap, 1e6);
    for (let row = 1; row < this.plan.rows; row++) context.fillRect(0, Math.round(row * scale), 1e6, gap);
  }

  drawMine(context, scale, colours) {
    const { mine } = this;
    const x = (((mine - 1) % this.plan.columns) + 0.5) * scale;
    const y = (Math.floor((mine - 1) / this.plan.columns) + 0.5) * scale;
    const radius = Math.max(scale * 0.7, 7 * devicePixelRatio);
    const inside = (value, size) => Math.min(Math.max(value, radius), size - radius);
    context.beginPath();
    context.arc(inside(x, this.canvas.width), inside(y, this.canvas.height), radius * 0.8, 0, 2 * Math.PI);
    context.fillStyle = `rgb(${colours.mine.slice(0, 3).join(' ')})`;
    context.fill();
    context.lineWidth = radius * 0.3;
    context.strokeStyle = `rgb(${colours.paper.slice(0, 3).join(' ')})`;
    context.stroke();
  }

  seatAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * this.plan.columns);
    const row = Math.floor(((event.clientY - box.top) / box.height) * this.plan.rows);
    const id = row * this.plan.columns + column + 1;
    return column >= 0 && column < this.plan.columns && id >= 1 && id <= this.house.total ? id : null;
  }
}

// Also when the page is resized or changes its colours. Returns a function that ends it.
function keepDrawn(drawing) {
  const soon = () => drawing.soon();
  const resized = new ResizeObserver(soon);
  resized.observe(drawing.canvas.parentElement);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', soon);
  return () => {
    clearTimeout(drawing.waiting);
    resized.disconnect();
    dark.removeEventListener('change', soon);
  };
}

function BlocksInWords({ house, say }) {
  const rowsEach = Math.ceil(house.rows / BLOCKS);
  const blocks = [];
  for (let row = 0; row < house.rows; row += rowsEach) {
    const lastRow = Math.min(row + rowsEach, house.rows) - 1;
    const [first, last] = [house.firstOf(row), house.lastOf(lastRow)];
    blocks.push({ name: { first: rowName(row), last: rowName(lastRow) }, total: last - first + 1, free: house.freeIn(first, last) });
  }
  return html`
    <table>
      <tbody>${blocks.map(({ name, free, total }) => html`
        <tr key=${name.first}><th scope="row">${say('bigHouseBlock', name)}</th><td>${say('freeOf', { free, total })}</td></tr>`)}
      </tbody>
    </table>`;
}

export function SeatPicture({ house, mine, language }) {
  const { say } = language;
  const canvas = useRef();
  const drawing = useRef();
  const [looked, setLooked] = useState(null);
  const [inWords, setInWords] = useState(false);

  useEffect(() => {
    drawing.current = new Drawing(canvas.current, house);
    return keepDrawn(drawing.current);
  }, []);
  useEffect(() => {
    drawing.current.mine = mine;
    drawing.current.soon();
  }, [house.changes, mine]);

  const state = (id) => say(id === mine ? 'mine' : house.isTaken(id) ? 'taken' : 'free');
  const summary = [say('bigHouse', { free: house.remaining, total: house.total }), mine && say('bigHouseMine', { seat: house.label(mine) })];
  return html`
    <div class="picture">
      <canvas ref=${canvas} role="img" aria-label=${summary.filter(Boolean).join(' ')}
        onPointerMove=${(event) => setLooked(drawing.current.seatAt(event))} onPointerLeave=${() => setLooked(null)}></canvas>
    </div>
    <${Legend} mine=${mine} looked=${looked && `${house.label(looked)} · ${state(looked)}`} say=${say} />
    <details class="blocks" onToggle=${(event) => setInWords(event.target.open)}>
      <summary>${say('bigHouseRows')}</summary>
      ${inWords && html`<${BlocksInWords} house=${house} say=${say} />`}
    </details>`;
}
