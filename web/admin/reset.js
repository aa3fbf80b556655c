// A new, empty house. The operator types a word, so that it does not happen by a slip; and names the generation of the
// house that the page showed before the first letter, so that nobody empties what another operator has just opened.
import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { faults } from '/static/shared/checks.js';
import { Button, Field, Message, useForm } from '/static/shared/form.js';
import { bad, good } from '/static/shared/reasons.js';
import { callAsOperator } from '/static/admin/overview.js';

const MOST_SEATS = 1_000_000;

const countFault = (text) => (/^\d{1,7}$/.test(text.trim()) && Number(text) <= MOST_SEATS ? undefined : 'resetCountWrong');

// house: {scheduleId, generation} as the figures have it now; total: seats to begin with.
export function Reset({ token, house, total, language }) {
  const { say } = language;
  const { scheduleId } = house;
  const seen = useRef(house.generation);
  const form = useForm({ count: String(total), word: '' }, {
    check: ({ count, word }) => faults({
      count: countFault(count),
      word: word.trim().toLowerCase() === say('confirmWord') ? undefined : 'resetWordWrong',
    }),
    send: async ({ count }) => {
      const { seats } = await callAsOperator(token, '/api/v1/seats/reset', {
        method: 'POST', body: { scheduleId, seatCount: Number(count), generation: seen.current },
      });
      form.clear('word');
      return good('resetDone', { count: seats });
    },
    explain: (refused) => (refused.reason === 'generation_changed'
      ? { message: bad('resetChanged'), clear: ['word'] }
      : { message: bad('resetFailed', { message: refused.message }) }),
  });
  if (!form.values.word) seen.current = house.generation;
  return html`
    <section class="panel reset" aria-labelledby="reset-title">
      <h2 id="reset-title">${say('reset')}</h2>
      <p>${say('resetHint', { schedule: scheduleId })}</p>
      <form ...${form.bind}>
        <${Field} ...${form.field('count', say)} label=${say('seatCount')} autocomplete="off" inputmode="numeric" />
        <${Field} ...${form.field('word', say)} label=${say('confirm', { word: say('confirmWord') })} autocomplete="off"
          autocapitalize="none" spellcheck=${false} />
        <${Button} kind="danger" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'resetting' : 'resetNow')}<//>
        <${Message} message=${form.message} say=${say} />
      </form>
    </section>`;
}
