// A new, empty house. The operator types a word, so that it does not happen by a slip.
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { call } from '/static/shared/api.js';

const MOST_SEATS = 1_000_000;

function Field({ name, label, value, onInput, problem, ...more }) {
  return html`
    <div class=${problem ? 'field wrong' : 'field'}>
      <label for=${`reset-${name}`}>${label}</label>
      <input id=${`reset-${name}`} name=${name} value=${value} onInput=${(event) => onInput(event.target.value)} autocomplete="off"
        aria-invalid=${problem ? 'true' : undefined} aria-describedby=${problem ? `reset-${name}-wrong` : undefined} ...${more} />
      ${problem && html`<p class="problem" id=${`reset-${name}-wrong`}>${problem}</p>`}
    </div>`;
}

export function Reset({ token, total, language }) {
  const { say } = language;
  const [count, setCount] = useState(String(total));
  const [typed, setTyped] = useState('');
  const [wrong, setWrong] = useState(null);
  const [message, setMessage] = useState(null);
  const [underWay, setUnderWay] = useState(false);
  const busy = useRef(false);
  const form = useRef();

  const refuse = (field) => {
    setWrong(field);
    form.current.elements[field].focus();
  };
  const submit = async (event) => {
    event.preventDefault();
    if (busy.current) return;
    setMessage(null);
    if (!/^\d{1,7}$/.test(count.trim()) || Number(count) > MOST_SEATS) return refuse('count');
    if (typed.trim().toLowerCase() !== say('confirmWord')) return refuse('word');
    setWrong(null);
    busy.current = true;
    setUnderWay(true);
    try {
      const options = { method: 'POST', headers: { 'X-Admin-Token': token }, body: { seatCount: Number(count) } };
      const { seats } = await call('/api/v1/seats/reset', options);
      setMessage({ tone: 'good', key: 'resetDone', values: { count: seats } });
      setTyped('');
    } catch (refused) {
      setMessage({ tone: 'bad', key: 'resetFailed', values: { message: refused.message } });
    } finally {
      busy.current = false;
      setUnderWay(false);
    }
  };

  return html`
    <section class="panel reset" aria-labelledby="reset-title">
      <h2 id="reset-title">${say('reset')}</h2>
      <p>${say('resetHint')}</p>
      <form ref=${form} onSubmit=${submit} noValidate>
        <${Field} name="count" label=${say('seatCount')} value=${count} onInput=${setCount} inputmode="numeric"
          problem=${wrong === 'count' && say('resetCountWrong')} />
        <${Field} name="word" label=${say('confirm', { word: say('confirmWord') })} value=${typed} onInput=${setTyped}
          autocapitalize="none" spellcheck=${false} problem=${wrong === 'word' && say('resetWordWrong')} />
        <button class="danger" type="submit" aria-disabled=${underWay ? 'true' : undefined}>
          ${say(underWay ? 'resetting' : 'resetNow')}</button>
        <p class=${`message ${message?.tone ?? ''}`} role="status">${message && say(message.key, message.values)}</p>
      </form>
    </section>`;
}
