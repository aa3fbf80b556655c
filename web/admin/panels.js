// The parts of the operator's page: seats left, attempts per second, history.
import { html } from 'htm/preact';
import { OUTCOMES } from '/static/admin/overview.js';

const WIDTH = 240; // of a sparkline, in its own units
const HEIGHT = 32;
const POINTS = 60;

export function SeatsLeft({ seats, language }) {
  const { say, code } = language;
  const share = seats.total > 0 ? seats.taken / seats.total : 1;
  return html`
    <section class="panel left" aria-labelledby="left-title">
      <h2 id="left-title">${say('seatsLeft')}</h2>
      <p class="figure" data-figure="free">${seats.free.toLocaleString(code)}</p>
      <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="all" width="100" height="4" /><rect class="used" width=${100 * share} height="4" />
      </svg>
      <p>${say('takenOf', { taken: seats.taken, total: seats.total })}</p>
    </section>`;
}

function Sparkline({ values, highest }) {
  const step = WIDTH / (POINTS - 1);
  const start = WIDTH - (values.length - 1) * step;
  const points = values.map((value, index) =>
    `${(start + index * step).toFixed(1)},${(HEIGHT - 1.5 - (value / highest) * (HEIGHT - 3)).toFixed(1)}`);
  if (points.length === 0) return html`<svg class="spark" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true"></svg>`;
  const area = `M${start.toFixed(1)},${HEIGHT} L${points.join(' ')} L${WIDTH},${HEIGHT}Z`;
  return html`
    <svg class="spark" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="area" d=${area} /><polyline class="line" points=${points.join(' ')} />
    </svg>`;
}

// All lines share one scale, so that their heights compare.
export function Attempts({ attempts, rates, language }) {
  const { say, code } = language;
  const highest = Math.max(1, ...rates.flatMap((rate) => Object.values(rate)));
  const now = rates.at(-1);
  const rate = (outcome) => (now?.[outcome] ?? 0).toLocaleString(code, { maximumFractionDigits: now?.[outcome] < 10 ? 1 : 0 });
  return html`
    <section class="panel attempts" aria-labelledby="attempts-title">
      <h2 id="attempts-title">${say('attempts')}</h2>
      <table>
        <thead><tr>
          <th scope="col">${say('outcome')}</th><th scope="col" class="number">${say('perSecond')}</th>
          <th scope="col" class="chart">${say('lastMinute')}</th><th scope="col" class="number">${say('sinceStart')}</th>
        </tr></thead>
        <tbody>${OUTCOMES.map((outcome) => html`
          <tr key=${outcome} class=${`outcome-${outcome}`}>
            <th scope="row">${say(`outcome.${outcome}`)}</th>
            <td class="number">${rate(outcome)}</td>
            <td class="chart"><${Sparkline} values=${rates.map((at) => at[outcome])} highest=${highest} /></td>
            <td class="number" data-total=${outcome}>${(attempts[outcome] ?? 0).toLocaleString(code)}</td>
          </tr>`)}
        </tbody>
      </table>
    </section>`;
}

export function History({ history, language }) {
  const { say, code } = language;
  const time = new Intl.DateTimeFormat(code, { timeStyle: 'medium' });
  const known = (outcome) => ([...OUTCOMES, 'reset'].includes(outcome) ? say(`outcome.${outcome}`) : outcome);
  return html`
    <section class="panel history" aria-labelledby="history-title">
      <h2 id="history-title">${say('history')}</h2>
      ${history.length === 0 ? html`<p>${say('noHistory')}</p>` : html`
      <div class="scroll" tabindex="0" role="region" aria-labelledby="history-title">
        <table>
          <thead><tr>
            <th scope="col">${say('time')}</th><th scope="col">${say('user')}</th><th scope="col" class="number">${say('seat')}</th>
            <th scope="col">${say('outcome')}</th><th scope="col" class="number">${say('sequence')}</th>
          </tr></thead>
          <tbody>${history.map((entry) => html`
            <tr class=${`outcome-${entry.outcome}`}>
              <td><time datetime=${entry.at}>${time.format(new Date(entry.at))}</time></td>
              <td class="user" title=${entry.user}>${entry.user}</td>
              <td class="number">${entry.seat ?? '–'}</td>
              <td><i class="dot" aria-hidden="true"></i>${known(entry.outcome)}</td>
              <td class="number">${entry.sequence ?? '–'}</td>
            </tr>`)}
          </tbody>
        </table>
      </div>`}
    </section>`;
}
