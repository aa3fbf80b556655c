// The ticket: how many seats are left and the button, or the seat that is mine.
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, Field, Message } from '/static/shared/form.js';
import { doorFromHere } from '/static/shared/way-back.js';

const FIELDS = [
  { name: 'userName', words: 'name', type: 'text', autocomplete: 'name', maxlength: 200 },
  { name: 'phone', words: 'phone', type: 'tel', autocomplete: 'tel', hint: 'phoneHint', maxlength: 40 },
];

// The optional fields, folded away. A field that the server refuses is unfolded, marked and focused.
function Details({ details, setDetails, message, say }) {
  const box = useRef();
  const wrong = message?.key === 'reason.validation' ? message.field : null;
  useEffect(() => {
    if (!wrong) return;
    box.current.open = true;
    box.current.querySelector(`[name="${wrong}"]`)?.focus();
  }, [message]);
  const change = (name, value) => setDetails({ ...details, [name]: value });
  return html`
    <details class="details" ref=${box}>
      <summary>${say('details')}</summary>
      ${FIELDS.map(({ name, words, hint, ...input }) => html`
        <${Field} key=${name} name=${name} label=${say(words)} hint=${hint && say(hint)} value=${details[name]} ...${input}
          onInput=${(value) => change(name, value)} problem=${wrong === name && say(`reason.validation.${name}`)} />`)}
    </details>`;
}

function Reserving({ booking, house, live, button, language }) {
  const { say } = language;
  const [details, setDetails] = useState({ userName: '', phone: '' });
  const underWay = booking.underWay !== null;
  // Without a connection the picture may be old: then the server decides.
  const soldOut = house.known && live && house.remaining === 0;
  const submit = (event) => {
    event.preventDefault();
    const given = Object.entries(details).filter(([, value]) => value.trim() !== '');
    booking.reserve(given.length ? Object.fromEntries(given.map(([name, value]) => [name, value.trim()])) : undefined);
  };
  return html`
    <div class="stub">
      ${soldOut
        ? html`<p class="figure word">${say('soldOut')}</p>`
        : html`<p class="figure">${house.known ? house.remaining.toLocaleString(language.code) : '–'}</p>
            <p class="unit">${say('seatsLeft', { count: house.remaining })}
              <span>${house.known && say('ofTotal', { total: house.total })}</span></p>`}
    </div>
    <form class="tear" onSubmit=${submit} noValidate>
      <p class="lead">${say(soldOut ? 'soldOutHint' : 'howItWorks')}</p>
      <${Button} kind="main" type="submit" button=${button} disabled=${underWay || soldOut}>
        ${say(underWay ? 'reserving' : soldOut ? 'soldOut' : 'reserve')}<//>
      <${Message} message=${booking.message} say=${say} />
      ${booking.message?.key === 'reason.stranger' && html`<p><a href=${doorFromHere('/signin')}>${say('signIn')}</a></p>`}
      <${Details} details=${details} setDetails=${setDetails} message=${booking.message} say=${say} />
    </form>`;
}

function GiveBack({ booking, language }) {
  const { say } = language;
  const [asking, setAsking] = useState(false);
  const keep = useRef();
  const ask = useRef();
  const wasAsking = useRef(false);
  // At once: a key that is pressed next must meet what it was meant for.
  useLayoutEffect(() => {
    if (asking) keep.current?.focus();
    else if (wasAsking.current) ask.current?.focus();
    wasAsking.current = asking;
  }, [asking]);
  const underWay = booking.underWay !== null;
  if (!asking) {
    return html`<${Button} kind="quiet" button=${ask} onPress=${() => setAsking(true)}>${say('giveBack')}<//>`;
  }
  const stop = () => underWay || setAsking(false);
  return html`
    <div class="question" role="group" aria-labelledby="give-back-question"
      onKeyDown=${(event) => event.key === 'Escape' && stop()}>
      <p id="give-back-question">${say('giveBackQuestion', { seat: booking.seat.name })}</p>
      <${Button} kind="plain" disabled=${underWay} button=${keep} onPress=${stop}>${say('giveBackNo')}<//>
      <${Button} kind="danger" disabled=${underWay} onPress=${booking.giveBack}>
        ${say(underWay ? 'givingBack' : 'giveBackYes')}<//>
    </div>`;
}

function Mine({ booking, heading, account, language }) {
  const { say } = language;
  const { seat } = booking;
  return html`
    <div class="stub mine">
      <h2 class="unit" ref=${heading} tabindex="-1">${say('yourSeat')} <strong class="figure">${seat.name}</strong></h2>
      ${seat.sequence !== null && html`<p class="turn">${say('yourTurn', { sequence: seat.sequence })}</p>`}
    </div>
    <div class="tear">
      <${Message} message=${booking.message} say=${say} />
      <p class="lead">${say(account ? 'keptByAccount' : 'keptHint')}</p>
      <${GiveBack} key=${seat.id} booking=${booking} language=${language} />
    </div>`;
}

export function Ticket({ booking, house, account, live, language }) {
  const heading = useRef();
  const button = useRef();
  const held = booking.seat?.id ?? null;
  const before = useRef(held);
  // When the ticket changes under the keyboard's focus, the focus goes to what replaced it.
  useLayoutEffect(() => {
    const lost = document.activeElement === document.body || document.activeElement === null;
    if (before.current !== held && lost) (held === null ? button : heading).current?.focus({ preventScroll: true });
    before.current = held;
  }, [held]);
  return html`
    <section class="ticket" aria-label=${language.say(held === null ? 'reserve' : 'yourSeat')}>
      ${held === null
        ? html`<${Reserving} booking=${booking} house=${house} live=${live} button=${button} language=${language} />`
        : html`<${Mine} booking=${booking} heading=${heading} account=${account} language=${language} />`}
    </section>`;
}
