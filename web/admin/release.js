// One seat is taken from whoever has it. A question comes first, since somebody loses a seat.
import { html } from 'htm/preact';
import { faults } from '/static/shared/checks.js';
import { Button, Field, Message, useForm } from '/static/shared/form.js';
import { bad, good } from '/static/shared/reasons.js';
import { callAsOperator } from '/static/admin/overview.js';

const REASONS = { not_reserved: 'releaseFree', not_found: 'releaseUnknown' };

// house: {scheduleId, seats: {total}} as the figures have it now.
export function Release({ token, house, language }) {
  const { say } = language;
  const { scheduleId } = house;
  const isSeat = (text) => /^\d{1,7}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= house.seats.total;
  const form = useForm({ seat: '' }, {
    check: ({ seat }) => faults({ seat: isSeat(seat) ? undefined : 'releaseUnknown' }),
    send: async ({ seat }) => {
      const number = Number(seat);
      if (!window.confirm(say('releaseSure', { seat: number, schedule: scheduleId }))) return null;
      const path = `/api/v1/admin/seats/${number}?scheduleId=${encodeURIComponent(scheduleId)}`;
      const released = await callAsOperator(token, path, { method: 'DELETE' });
      form.clear('seat');
      return good('releaseDone', { name: released.seat.name });
    },
    explain: (refused) => ({
      message: REASONS[refused.reason] ? bad(REASONS[refused.reason]) : bad('resetFailed', { message: refused.message }),
    }),
  });
  return html`
    <section class="panel release" aria-labelledby="release-title">
      <h2 id="release-title">${say('release')}</h2>
      <p>${say('releaseHint')}</p>
      <form ...${form.bind}>
        <${Field} ...${form.field('seat', say)} label=${say('releaseSeat')} autocomplete="off" inputmode="numeric" />
        <${Button} kind="danger" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'releasing' : 'releaseNow')}<//>
        <${Message} message=${form.message} say=${say} />
      </form>
    </section>`;
}
