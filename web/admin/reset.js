// A new, empty house. The operator types a word, so that it does not happen by a slip.
import { html } from 'htm/preact';
import { faults } from '/static/shared/checks.js';
import { Button, Field, Message, useForm } from '/static/shared/form.js';
import { bad, good } from '/static/shared/reasons.js';
import { callAsOperator } from '/static/admin/overview.js';

const MOST_SEATS = 1_000_000;

const countFault = (text) => (/^\d{1,7}$/.test(text.trim()) && Number(text) <= MOST_SEATS ? undefined : 'resetCountWrong');

export function Reset({ token, total, language }) {
  const { say } = language;
  const form = useForm({ count: String(total), word: '' }, {
    check: ({ count, word }) => faults({
      count: countFault(count),
      word: word.trim().toLowerCase() === say('confirmWord') ? undefined : 'resetWordWrong',
    }),
    send: async ({ count }) => {
      const { seats } = await callAsOperator(token, '/api/v1/seats/reset', { method: 'POST', body: { seatCount: Number(count) } });
      form.clear('word');
      return good('resetDone', { count: seats });
    },
    explain: (refused) => ({ message: bad('resetFailed', { message: refused.message }) }),
  });
  return html`
    <section class="panel reset" aria-labelledby="reset-title">
      <h2 id="reset-title">${say('reset')}</h2>
      <p>${say('resetHint')}</p>
      <form ...${form.bind}>
        <${Field} ...${form.field('count', say)} label=${say('seatCount')} autocomplete="off" inputmode="numeric" />
        <${Field} ...${form.field('word', say)} label=${say('confirm', { word: say('confirmWord') })} autocomplete="off"
          autocapitalize="none" spellcheck=${false} />
        <${Button} kind="danger" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'resetting' : 'resetNow')}<//>
        <${Message} message=${form.message} say=${say} />
      </form>
    </section>`;
}
