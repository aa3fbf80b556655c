// The house as a grid of seats, for up to some thousands. One stop for the Tab key; arrows move within.
import { Component } from 'preact';
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { rowName } from '/static/buyer/house.js';

const AISLE_FROM = 10; // seats in a row
const SMALL_HOUSE = 4; // rows
const CURVE = 0.65; // how far the ends of a row of ten come forward, in seats

// Rows bend around the stage: their ends come forward.
function bend(place, columns) {
  const side = columns > 1 ? (2 * place) / (columns - 1) - 1 : 0;
  return `translateY(calc(var(--seat) * var(--lift) * ${(-side * side).toFixed(3)}))`;
}

const stateOf = (house, id, mine) => (id === mine ? 'mine' : house.isTaken(id) ? 'taken' : 'free');

function Seat({ house, id, place, columns, mine, focused, language }) {
  const { say } = language;
  const state = stateOf(house, id, mine);
  const aisle = columns >= AISLE_FROM && place === Math.floor(columns / 2);
  return html`
    <span class=${`seat ${state}${aisle ? ' after-aisle' : ''}`} role="gridcell" data-seat=${id} tabindex=${focused ? 0 : -1}
      aria-label=${say('seatState', { seat: house.label(id), state: say(state) })}
      style=${{ transform: bend(place, columns) }}><i aria-hidden="true">${state === 'taken' ? '' : place + 1}</i></span>`;
}

class Row extends Component {
  shouldComponentUpdate(next) {
    return ['stamp', 'mine', 'focused', 'language'].some((name) => next[name] !== this.props[name]);
  }

  render({ house, row, columns, mine, focused, language }) {
    const seats = [];
    for (let id = house.firstOf(row); id <= house.lastOf(row); id++) seats.push(id);
    const name = rowName(row);
    return html`
      <div class="row" role="row" aria-label=${language.say('row', { row: name })}>
        <span class="row-name" role="rowheader" style=${{ transform: bend(0, columns) }}>${name}</span>
        ${seats.map((id, place) => html`
          <${Seat} key=${id} house=${house} id=${id} place=${place} columns=${columns} mine=${mine}
            focused=${id === focused} language=${language} />`)}
      </div>`;
  }
}

function move(house, from, key) {
  const last = house.lastOf(house.rowOf(from));
  const moves = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from - house.rowLength,
    ArrowDown: Math.min(from + house.rowLength, house.rowOf(from) < house.rows - 1 ? house.total : from),
    Home: house.firstOf(house.rowOf(from)),
    End: last,
  };
  const to = moves[key];
  return to === undefined ? null : to >= 1 && to <= house.total ? to : from;
}

export function SeatGrid({ house, mine, language }) {
  const { say } = language;
  const grid = useRef();
  const [focused, setFocused] = useState(mine ?? 1);
  const [looked, setLooked] = useState(null);
  useEffect(() => {
    if (mine) setFocused(mine);
  }, [mine]);

  const seatOf = (event) => Number(event.target.closest?.('[data-seat]')?.dataset.seat) || null;
  const onKeyDown = (event) => {
    const to = move(house, focused, event.key);
    if (to === null || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    setFocused(to);
    grid.current.querySelector(`[data-seat="${to}"]`).focus();
  };
  const onFocusIn = (event) => {
    const id = seatOf(event);
    if (id) setFocused(id);
    setLooked(id);
  };

  const columns = Math.min(house.rowLength, house.total);
  const rows = Array.from({ length: house.rows }, (_, row) => row);
  return html`
    <div class="seats" role="grid" ref=${grid} aria-label=${say('seats')} aria-describedby="house-help" aria-readonly="true"
      style=${{
        '--columns': columns + (columns >= AISLE_FROM ? 0.7 : 0),
        '--lift': (CURVE * Math.min(columns, 24)) / 10,
        '--largest': house.rows <= SMALL_HOUSE ? '3.75rem' : '3rem',
      }}
      onKeyDown=${onKeyDown} onFocusIn=${onFocusIn} onFocusOut=${() => setLooked(null)}
      onPointerOver=${(event) => setLooked(seatOf(event))} onPointerLeave=${() => setLooked(null)}>
      ${rows.map((row) => html`
        <${Row} key=${row} house=${house} row=${row} stamp=${house.rowStamp(row)} columns=${columns}
          mine=${mine && house.rowOf(mine) === row ? mine : null} focused=${house.rowOf(focused) === row ? focused : null}
          language=${language} />`)}
    </div>
    <p class="hidden" id="house-help">${say('houseHelp')}</p>
    <${Legend} mine=${mine} looked=${looked && looked <= house.total
      ? `${house.label(looked)} · ${say(stateOf(house, looked, mine))}` : null} say=${say} />`;
}

// What the shapes mean, and the seat under the pointer. Not read out: each seat says it itself.
export function Legend({ mine, looked, say }) {
  return html`
    <p class="legend" aria-hidden="true">
      <span><i class="seat free"></i>${say('free')}</span>
      <span><i class="seat taken"></i>${say('taken')}</span>
      ${mine && html`<span><i class="seat mine"></i>${say('mine')}</span>`}
      <span class="looked">${looked}</span>
    </p>`;
}
